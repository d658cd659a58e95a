"""What is known of one ear at the audiogram frequencies."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from firmware_py.ear.levels import Levels
from firmware_py.ear.marks import Marks, answers_above, silent_below
from firmware_py.inference import enough
from firmware_py.inference.between import step_db
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.presentation import Observation
from firmware_py.terms.reasons import Reason
from firmware_py.terms.settings import Settings

if TYPE_CHECKING:  # who only reads what was found needs no kernels
    from firmware_py.ear.belief import Belief
    from firmware_py.ear.evidence import Evidence

BAND_PROBABILITY: Final = enough.BAND_PROBABILITY
MEASURED_HALF_WIDTH_DB: Final = 20.0  # of what is told to be measured
DEPENDS_DB: Final = 6.0  # what a threshold depends on moves it by more
NOTHING_DB: Final = 100.0  # a tone so much softer, unheard, or louder, heard, tells nothing
ROUGH: Final = 2.0  # a factor on the band that is wanted, where a rough one will do


@dataclass(frozen=True)
class Estimate:
    """What is known of the threshold at an audiogram frequency, with its 95 % band.

    `side` is where all answers of the ear together say that it lies: within the limits
    (`MEASURED`), beyond one (`NO_RESPONSE`, `HEARS_ALL`), or perhaps above (`INCOMPLETE`). `mark`
    is what may be said of it, by what was asked there.
    """

    frequency_hz: int
    side: Outcome
    mark: Outcome
    mean_db_hl: float
    sd_db: float
    low_db_hl: float
    high_db_hl: float

    @property
    def half_width_db(self) -> float:
        return 0.5 * (self.high_db_hl - self.low_db_hl)


@dataclass(frozen=True)
class Unmasked:
    """What was found without noise at a frequency where no noise keeps the other ear from it."""

    found: Estimate
    why: Reason | None  # why it is uncertain whose it is; None: both ears would explain the same


class ThresholdEstimates:
    """The estimator's thresholds at the audiogram frequencies within the range of the test."""

    def __init__(self, settings: Settings, belief: "Belief", levels: Levels) -> None:
        self._settings = settings
        self._belief = belief
        self.frequencies_hz = tuple(settings.in_range(levels.frequencies_hz))
        self.estimator = belief.estimator
        self.levels = levels
        # By frequency, of an ear that is asked again with noise: what is left as it was without.
        self.unmasked: dict[int, Unmasked] = {}
        self.is_rough = False  # nothing that is said depends on it: bands may be wide
        # with what follows from it, and the room it was in
        self._estimated: tuple[Evidence, object, tuple[Estimate, ...]] | None = None

    @property
    def marks(self) -> Marks:
        return Marks(self.levels, self._belief.evidence.observations)

    def estimates(self) -> tuple[Estimate, ...]:
        """Return what is known at each frequency; computed once between two answers."""
        evidence, room = self._belief.evidence, self.levels.room_db_hl
        if self._estimated is None or self._estimated[:2] != (evidence, room):
            asked_hz, marks = self.frequencies_hz, self.marks
            mean_db_hl, sd_db = (each.tolist() for each in self.estimator.threshold(asked_hz))
            sides, (low_db_hl, high_db_hl) = self._sides(mean_db_hl), self.bands(asked_hz)
            found = map(marks.mark, asked_hz, sides, low_db_hl, high_db_hl)
            figures = (asked_hz, sides, found, mean_db_hl, sd_db, low_db_hl, high_db_hl)
            self._estimated = evidence, room, tuple(map(Estimate, *figures))
        return self._estimated[2]

    def told_estimates(self) -> list[Estimate]:
        """Return what is told of each frequency: by all answers, or by those without noise only.

        What has so wide a band as no measurement has is told as a supposition.
        """
        told = [
            self.unmasked[each.frequency_hz].found if self.is_unmasked(each) else each
            for each in self.estimates()
        ]
        return [
            replace(each, mark=Outcome.INFERRED)
            if each.mark == Outcome.MEASURED and each.half_width_db > MEASURED_HALF_WIDTH_DB
            else each
            for each in told
        ]

    def is_unmasked(self, estimate: Estimate) -> bool:
        """Return whether what was heard near a frequency was heard without noise only."""
        return estimate.mark == Outcome.INFERRED and estimate.frequency_hz in self.unmasked

    @cached_property
    def _looked_at(self) -> dict[float, int]:
        """Return places of the audiogram's frequencies, and of a next tone's if chosen by bands."""
        frequencies_hz: list[float] = [*self.frequencies_hz]
        if self._settings.honest:
            frequencies_hz += self.estimator.candidate_frequencies_hz
        return {f: place for place, f in enumerate(dict.fromkeys(frequencies_hz))}

    def bands(self, frequencies_hz: Iterable[float]) -> tuple[list[float], list[float]]:
        ends_db_hl = self.estimator.posterior_band([*self._looked_at], BAND_PROBABILITY)
        low_db_hl, high_db_hl = (each.tolist() for each in ends_db_hl)
        places = [self._looked_at[f] for f in frequencies_hz]
        return [low_db_hl[place] for place in places], [high_db_hl[place] for place in places]

    def widest(self) -> Estimate:
        return max(self.deciding_estimates(), key=self.width_of_wanted)

    def deciding_estimates(self) -> list[Estimate]:
        """Return the estimates whose bands decide if an ear ends: within the limits.

        If none is, all. 750 and 1500 Hz are looked at only where they are measured, as is what is
        left out.
        """
        others_hz = (*self.levels.route.kind.inter_octave_hz, *self.levels.left_out_hz)
        known, measured = [*self.estimates()], Outcome.MEASURED
        known = [e for e in known if e.mark == measured or e.frequency_hz not in others_hz] or known
        inside = (measured, Outcome.INCOMPLETE)
        return [e for e in known if e.mark == measured or e.side in inside] or known

    def silent_up_to_limits_hz(self) -> list[int]:
        """Return where nothing was heard, if surely all bands which decide lie beyond a limit."""
        deciding = self.deciding_estimates()
        if any(each.side != Outcome.NO_RESPONSE for each in deciding):
            return []
        return [each.frequency_hz for each in deciding if each.mark == Outcome.NO_RESPONSE]

    def wanted_half_width_db(self, frequency_hz: float) -> float:
        factor = ROUGH if self.is_rough else 1.0
        return factor * self._settings.wanted_half_width_db(self.levels.route.kind, frequency_hz)

    def settled_hz(self) -> list[float]:
        candidates_hz = self.estimator.candidate_frequencies_hz
        return [
            f
            for f, low, high in zip(candidates_hz, *self.bands(candidates_hz), strict=True)
            if high - self._heard_from(f, low) <= 2.0 * self.wanted_half_width_db(f)
        ]

    def width_of_wanted(self, estimate: Estimate) -> float:
        return self.half_width_db(estimate) / self.wanted_half_width_db(estimate.frequency_hz)

    def half_width_db(self, estimate: Estimate) -> float:
        """Return half of what more tones can make narrower: none below the floor of a room."""
        low_db_hl = self._heard_from(estimate.frequency_hz, estimate.low_db_hl)
        return 0.5 * (estimate.high_db_hl - low_db_hl)

    def _heard_from(self, frequency_hz: float, low_db_hl: float) -> float:
        if not self.levels.room_db_hl:
            return low_db_hl
        return max(low_db_hl, self.levels.floor_db_hl(frequency_hz))

    def on_one_answer(self, *, heard: bool) -> list[Estimate]:
        """Return the measured thresholds that would be others without one of the answers.

        That is the answer next to it of those above that were heard, or of the silences below. By
        bone it would have to be an accident of both routes, but where air tells hardly anything.
        """
        kind = self.levels.route.kind
        alone_hz = kind.where_calibrated_hz if kind.follows_air else self.frequencies_hz
        if not {*alone_hz} & {*self.frequencies_hz}:
            return []
        measured = [e for e in self.estimates() if e.mark == Outcome.MEASURED]
        known = [(e, self._alone(e, heard)) for e in measured if e.frequency_hz in alone_hz]
        return [e for e, answer in known if answer is not None and self._moves(e, answer)]

    def _alone(self, estimate: Estimate, heard: bool) -> Observation | None:
        """Return the answer of a side next to a threshold, if no other one would keep it there.

        Without it a threshold hardly moves further than halfway to the next one.
        """

        def off_db(answer: Observation) -> float:
            return abs(answer.presentation.level_db_hl - estimate.mean_db_hl)

        tones = self.marks.near(estimate.frequency_hz)
        low_db_hl, high_db_hl = estimate.low_db_hl, estimate.high_db_hl
        side = answers_above(tones, low_db_hl) if heard else silent_below(tones, high_db_hl)
        nearest, *others = sorted(side, key=off_db)
        return None if any(off_db(each) <= 2.0 * DEPENDS_DB for each in others) else nearest

    def _moves(self, estimate: Estimate, answer: Observation) -> bool:
        """Return whether a threshold would be another one without an answer.

        The other answers are inferred anew: the cavity of an answer tells less than half of it, for
        without the answer the sites of the others are others.
        """
        nothing_db = NOTHING_DB if answer.heard is False else -NOTHING_DB
        softer_db = [nothing_db * (e is answer) for e in self._belief.evidence.tones]
        none, at_hz = [0.0] * len(softer_db), [estimate.frequency_hz]
        (without_db_hl,) = self.estimator.threshold_otherwise(softer_db, none, at_hz)
        return bool(abs(without_db_hl - estimate.mean_db_hl) > DEPENDS_DB)

    def common_mark(self) -> Outcome | None:
        """Return the mark of the ear if no threshold, asked or inferred, lies within the limits."""
        estimates = self.estimates()
        for found in ({e.mark for e in estimates}, {e.side for e in estimates}):
            if found <= {Outcome.NO_RESPONSE, Outcome.INCOMPLETE}:
                return Outcome.INCOMPLETE if Outcome.INCOMPLETE in found else Outcome.NO_RESPONSE
            if found == {Outcome.HEARS_ALL}:
                return Outcome.HEARS_ALL
        return None

    def common_side(self) -> Outcome | None:
        """Return on which side of the limits all means lie, None if they differ."""
        mean_db_hl, _ = self.estimator.threshold(self.frequencies_hz)
        sides = {*map(self.levels.side, self.frequencies_hz, mean_db_hl.tolist())}
        return sides.pop() if len(sides) == 1 else None

    def _sides(self, mean_db_hl: Sequence[float]) -> list[Outcome]:
        """Return where each threshold lies, by all answers of the ear.

        A threshold at the floor or below is not told apart from lower ones, and being wrong by a
        few dB there harms nobody. To say that there is no response has to be sure.
        """
        sides = list(map(self.levels.side, self.frequencies_hz, mean_db_hl))
        if Outcome.NO_RESPONSE not in sides:
            return sides
        # What each lies above with the probability that no response needs.
        both = 1.0 - 2.0 * (1.0 - enough.NO_RESPONSE_PROBABILITY)
        above_db_hl, _ = self.estimator.posterior_band(self.frequencies_hz, both)
        limits_db_hl = self.levels.limits_db_hl(self.frequencies_hz)
        return [
            Outcome.INCOMPLETE if side == Outcome.NO_RESPONSE and above < limit else side
            for side, above, limit in zip(sides, above_db_hl, limits_db_hl, strict=True)
        ]


def suppose(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the estimates, by rising frequency, the `INFERRED` with a band for what lies between.

    Each end moves out by the step to the neighbour on its side (`between.step_db`). Neighbours are
    the next that were asked; with one only there is no step.
    """
    return [
        _wider(each, _next(estimates[:i][::-1]), _next(estimates[i + 1 :]))
        if each.mark == Outcome.INFERRED
        else each
        for i, each in enumerate(estimates)
    ]


def _next(estimates: Sequence[Estimate]) -> Estimate | None:
    return next((each for each in estimates if each.mark != Outcome.INFERRED), None)


def _wider(between: Estimate, below: Estimate | None, above: Estimate | None) -> Estimate:
    if below is None or above is None:
        return between
    mean_db_hl = between.mean_db_hl
    to_low_db, to_high_db = step_db(mean_db_hl, below.mean_db_hl, above.mean_db_hl)
    fall_db = mean_db_hl - between.low_db_hl + to_low_db
    rise_db = between.high_db_hl - mean_db_hl + to_high_db
    factor = 0.5 * (fall_db + rise_db) / between.half_width_db
    return replace(
        between,
        sd_db=between.sd_db * factor,
        low_db_hl=mean_db_hl - fall_db,
        high_db_hl=mean_db_hl + rise_db,
    )
