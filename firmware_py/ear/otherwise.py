"""Whether what was set up stayed so, and a press was an answer to the ear.

Each story has a few variants, and a variant says of every answer what the tone or the listener was
in place of what is believed: the earphone moved, and from a tone on what is played is softer;
something else than the ear tells of tones, anywhere or near one pitch; a faint tone is noticed only
above the one before. The evidence of the same answers by a variant, over that by the ear alone,
times the share of sessions in which such a thing happens, are its odds.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.kernel import Array
from firmware_py.inference.stories import Story
from firmware_py.terms.presentation import Observation

# Shares of sessions, as the stories of `inference/stories.py` have them.
LOG_SHARE: Final = {
    Story.MOVED: log(0.1), Story.PITCH: log(0.06), Story.CUE: log(0.14), Story.RISING: log(0.0001),
}  # fmt: skip

# An earphone that moves is heard less, or better, at all frequencies; or leaks at those below an
# edge; or its tube bends, above one.
EDGES_HZ: Final = (700.0, 1400.0, 2800.0)
EVERYWHERE_HZ: Final = (0.0, math.inf)
REGIONS_HZ: Final = (
    EVERYWHERE_HZ, *((0.0, edge) for edge in EDGES_HZ), *((edge, math.inf) for edge in EDGES_HZ)
)  # fmt: skip
SHARE_EVERYWHERE: Final = 0.4  # of what moves
SHARE_BETTER: Final = 0.2
MOVED_SD_DB: Final = 10.0
SIZES_DB: Final = (8.0, 14.0)  # beside the one that the sites tell
SIZE_MIN_DB: Final = 8.0
SIZE_MAX_DB: Final = 18.0
SIZES_MIN: Final = -0.5  # nats: of a place where its own size is worth less, no other is tried
WIDTH_DB: Final = 3.0  # over so much of a size the evidence is as good
NEIGHBOURS: Final = 8  # tones before and after one, where it may as well have moved
PLACES_MAX: Final = 2  # that are looked at, of a region and a direction
WORSE_MAX: Final = 6.0  # nats, of the second against the first
GAIN_MIN: Final = -0.5  # a region that gains less by the sites is not looked at
TONES_MIN: Final = 3  # before it moved; and one less after
# A vibrator slips as often as it sits too weakly from the first tone on: air tells what it should
# find. By each of these sizes as often.
LOG_SHARE_SLIPPED: Final = log(0.05)
SHARE_FROM_THE_FIRST: Final = 0.5
SLIPS_DB: Final = (8.0, 12.0, 16.0)
# What the skull takes away on the way to the other cochlea, or noise, looks the same.
SKULL_DB: Final = (0.0, 4.0, 8.0, 12.0)
LOG_ODDS_MAX: Final = 100.0

PITCHES_HZ: Final = (500.0, 1000.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0)
PITCH_OCTAVES: Final = 0.5
PITCH_SHARES: Final = (0.5, 0.8)
CUE_SHARES: Final = (0.3, 0.6)
RISING_DB: Final = (6.0, 10.0)


@dataclass(frozen=True, eq=False)
class Otherwise:
    """What may have been otherwise, and the log of its odds against the ear alone."""

    story: Story
    log_odds: float
    softer: Array  # each tone, than played, dB
    pressed_unheard: Array  # which share of such tones, at each
    began: int = 0  # tones before it
    softer_db: float = 0.0  # than played, since then
    region_hz: tuple[float, float] = EVERYWHERE_HZ
    share: float = 0.0  # of unheard tones that are answered

    @property
    def pitch_hz(self) -> int:
        low_hz, high_hz = self.region_hz
        return round(math.sqrt(low_hz * high_hz))

    def holds(self, frequency_hz: float) -> bool:
        low_hz, high_hz = self.region_hz
        return low_hz <= frequency_hz < high_hz


def probability_of(stories: Sequence[Otherwise]) -> float:
    """Return how probable all of them are together, against the ear alone."""
    odds = sum(exp(min(each.log_odds, LOG_ODDS_MAX)) for each in stories)
    return odds / (1.0 + odds)


class Explanations:
    """All that may have been otherwise in the answers of one ear."""

    def __init__(self, estimator: ThresholdEstimator, tones: Sequence[Observation]) -> None:
        self._estimator = estimator
        self._frequency_hz = np.array([each.presentation.frequency_hz for each in tones])
        self._level_db_hl = np.array([each.presentation.level_db_hl for each in tones])
        self._none = np.zeros(len(tones))
        # The fixed point that is reached from the sites there are, where nothing is otherwise.
        self._usual = self._log_ratio(self._none, self._none) if len(tones) else 0.0

    def all(self, *, by_bone: bool = False, across: bool = False) -> list[Otherwise]:
        """Return the most probable variant of each story, with the odds of all its variants.

        Of a vibrator: that it slipped, or sat too weakly; `across`: the other
        cochlea hears it, or there is noise.
        """
        if not len(self._none):
            return []
        if by_bone:
            return [self._slipped(across)] if len(self._none) >= TONES_MIN else []
        return [self._moved(), self._pitch(), self._cue(), self._rising()]

    def _log_ratio(self, softer_db: Array, pressed_unheard: Array) -> float:
        return self._estimator.log_ratio_otherwise(softer_db, pressed_unheard)

    def _among(self, region_hz: tuple[float, float]) -> Array:
        low_hz, high_hz = region_hz
        return ((low_hz <= self._frequency_hz) & (self._frequency_hz < high_hz)).astype(float)

    def _slipped(self, across: bool) -> Otherwise:
        """Return how a vibrator slipped: all is softer since then, at every frequency."""
        n, found = len(self._none), []
        usual = 0.0
        if across:
            everywhere = np.ones(n)
            ratios = [self._log_ratio(by_db * everywhere, self._none) for by_db in SKULL_DB]
            usual = max(*ratios) - self._usual
        for began in range(n - TONES_MIN + 2):
            since = (np.arange(n) >= began).astype(float)
            later = (1.0 - SHARE_FROM_THE_FIRST) / (n - TONES_MIN + 1)
            share = SHARE_FROM_THE_FIRST if began == 0 else later
            for by_db in SLIPS_DB:
                variant = self._variant(
                    Story.MOVED, by_db * since, self._none, began=began, softer_db=by_db
                )
                found.append((variant, log(share / len(SLIPS_DB))))
        slipped = _together(Story.MOVED, found, LOG_SHARE_SLIPPED)
        return replace(slipped, log_odds=slipped.log_odds - usual)

    def _moved(self) -> Otherwise:
        among = np.array([self._among(region) for region in REGIONS_HZ])
        gain, shift_db = self._estimator.gain_by_shifts(among, MOVED_SD_DB)
        found = []
        for row, region_hz in enumerate(REGIONS_HZ):
            share = SHARE_EVERYWHERE if row == 0 else (1.0 - SHARE_EVERYWHERE) / (len(among) - 1)
            if row > 0 and among[row].all():
                continue
            for sign in (1.0, -1.0):
                part = 1.0 - SHARE_BETTER if sign > 0.0 else SHARE_BETTER
                moved = self._moved_in(region_hz, sign, among[row], gain[row], shift_db[row])
                found += [(variant, log(share * part)) for variant in moved]
        if not found:
            return Otherwise(Story.MOVED, -math.inf, self._none, self._none)
        return _together(Story.MOVED, found)

    def _moved_in(
        self, region_hz: tuple[float, float], sign: float, among: Array, gain: Array,
        shift_db: Array,
    ) -> Iterator[Otherwise]:  # fmt: skip
        """Yield the best places of a move in one direction, each with its neighbours' odds."""
        n = len(gain)
        after = among[::-1].cumsum()[::-1]
        for k in _best_places(np.where(
            (after >= TONES_MIN - 1) & (n - after >= TONES_MIN) & (sign * shift_db > 0.0),
            gain, -math.inf,
        )):  # fmt: skip
            own_db = min(max(round(abs(float(shift_db[k]))), SIZE_MIN_DB), SIZE_MAX_DB)
            since = among * (np.arange(n) >= k)
            odds = {own_db: self._of_size(sign * own_db, since)}
            if odds[own_db] >= SIZES_MIN:
                odds |= {each: self._of_size(sign * each, since) for each in SIZES_DB}
            size_db = sign * max(odds, key=lambda size: odds[size])
            places = range(max(k - NEIGHBOURS, 0), min(k + NEIGHBOURS + 1, n))
            near = [float(gain[j] - gain[k]) for j in places if sign * shift_db[j] > 0.0]
            width = sum(exp(min(each, 0.0)) for each in near) / n
            log_odds = max(odds.values()) + log(width)
            yield Otherwise(
                Story.MOVED, log_odds, size_db * since, self._none, k, size_db, region_hz
            )

    def _of_size(self, by_db: float, since: Array) -> float:
        prior = log(WIDTH_DB / MOVED_SD_DB) - 0.5 * (by_db / MOVED_SD_DB) ** 2
        return self._log_ratio(by_db * since, self._none) - self._usual + prior

    def _pitch(self) -> Otherwise:
        found = []
        for pitch_hz in PITCHES_HZ:
            octave = 2.0**PITCH_OCTAVES
            region_hz = pitch_hz / octave, pitch_hz * octave
            found += self._pressed(Story.PITCH, PITCH_SHARES, region_hz)
        return _together(Story.PITCH, _alike(found))

    def _cue(self) -> Otherwise:
        return _together(Story.CUE, _alike(self._pressed(Story.CUE, CUE_SHARES, EVERYWHERE_HZ)))

    def _pressed(
        self, story: Story, shares: Iterable[float], region_hz: tuple[float, float]
    ) -> list[Otherwise]:
        among = self._among(region_hz)
        return [
            self._variant(story, self._none, each * among, region_hz=region_hz, share=each)
            for each in shares
        ]

    def _rising(self) -> Otherwise:
        mean_db_hl, _ = self._estimator.threshold(self._frequency_hz.tolist())
        above_db = self._level_db_hl - mean_db_hl
        softer = np.concatenate([[0.0], (above_db[1:] <= above_db[:-1]).astype(float)])
        found = [
            self._variant(Story.RISING, by_db * softer, self._none, softer_db=by_db)
            for by_db in RISING_DB
        ]
        return _together(Story.RISING, _alike(found))

    def _variant(
        self, story: Story, softer: Array, pressed_unheard: Array, **what: Any
    ) -> Otherwise:
        log_odds = self._log_ratio(softer, pressed_unheard) - self._usual
        return Otherwise(story, log_odds, softer, pressed_unheard, **what)


def _alike(found: Sequence[Otherwise]) -> list[tuple[Otherwise, float]]:
    """Return variants that are equally frequent."""
    return [(each, -log(len(found))) for each in found]


def _best_places(gain: Array) -> list[int]:
    """Return the places that gain most, not near one another."""
    places: list[int] = []
    most = gain.max(initial=-math.inf)
    for k in np.argsort(-gain, kind="stable").tolist():
        if len(places) == PLACES_MAX or gain[k] < max(most - WORSE_MAX, GAIN_MIN):
            break
        if all(abs(k - place) > NEIGHBOURS // 2 for place in places):
            places.append(k)
    return places


def _together(
    story: Story, found: Sequence[tuple[Otherwise, float]], log_share: float | None = None
) -> Otherwise:
    """Return the most probable variant, with the odds of all and the story's own share."""
    logs = [each.log_odds + share for each, share in found]
    most = max(logs)
    best, _ = found[logs.index(most)]
    log_odds = (
        (LOG_SHARE[story] if log_share is None else log_share)
        + most
        + log(sum(exp(each - most) for each in logs))
    )
    return replace(best, log_odds=log_odds)
