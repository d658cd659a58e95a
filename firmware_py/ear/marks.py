"""What was asked near a frequency, and what may be said of its threshold by that.

A number that no tone was asked for is `inferred`, however narrow its band: it comes from other
frequencies and other people. This module is the one place where that is decided.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from firmware_py.ear.levels import Levels, near
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.presentation import Observation, Presentation

THIRD_OCTAVE: Final = 1.0 / 3.0  # so far a tone is still asked at a frequency
ROUNDING_OCTAVES: Final = 1e-9
NEAR: Final = 2.0 ** (THIRD_OCTAVE + ROUNDING_OCTAVES)
# So many silences below a threshold are no accident: one may be. Where air told of the ear before,
# that would have to be an accident of both.
SILENT_BELOW_MIN: Final = 2
SILENT_BELOW_AIR_MIN: Final = 1
# Answers against a threshold, by so much and so often, leave it unmeasured: one may be an accident.
AGAINST_DB: Final = 10.0
AGAINST_TONES: Final = 2
MOVED_DB: Final = 5.0  # of a tone with noise that is missed, above one that was heard without it


def is_at(frequency_hz: float, tone_hz: float) -> bool:
    return frequency_hz / NEAR <= tone_hz <= frequency_hz * NEAR


class Marks:
    """What the answers of one ear that count show near a frequency."""

    def __init__(self, levels: Levels, answers: Sequence[Observation]) -> None:
        self._levels = levels
        self._asked = [each for each in answers if each.presentation.is_asked]
        follows_air = levels.route.kind.follows_air
        # Silences below a threshold that it takes.
        self.silent_below_min = SILENT_BELOW_AIR_MIN if follows_air else SILENT_BELOW_MIN

    def near(self, frequency_hz: float) -> list[Observation]:
        low_hz, high_hz = frequency_hz / NEAR, frequency_hz * NEAR  # once, not for each tone
        return [each for each in self._asked if low_hz <= each.presentation.frequency_hz <= high_hz]

    def all_silent_at_limit(self) -> Counter[float]:
        """Return, by frequency, how often the loudest tone that may be asked was not heard."""
        return Counter(
            tone.frequency_hz
            for tone in (each.presentation for each in self._asked if each.heard is False)
            if tone.level_db_hl >= self._levels.limit_db_hl(tone.frequency_hz)
            and not self._levels.is_out_of_reach(tone.frequency_hz)
        )

    def all_heard_at_floor(self) -> Counter[float]:
        return Counter(
            each.presentation.frequency_hz
            for each in self._asked
            if each.heard is True and self._is_at_floor(each.presentation)
        )

    def _is_at_floor(self, tone: Presentation) -> bool:
        at_floor = tone.level_db_hl <= self._levels.floor_db_hl(tone.frequency_hz)
        return at_floor and not self._levels.is_out_of_reach(tone.frequency_hz)

    def moves_with_noise(self) -> bool:
        """Return whether noise in the other ear silenced a tone that was heard softer without it.

        Then the other ear answers, and who contradicts himself attends all the same.
        """
        heard = [each for each in self._asked if each.heard is True]
        silent = [each for each in self._asked if each.heard is False]
        return any(
            masked.presentation.level_db_hl >= plain.presentation.level_db_hl + MOVED_DB
            and near(plain.presentation.frequency_hz, [masked.presentation.frequency_hz])
            for masked in silent
            if masked.cover.noise_db_hl is not None
            for plain in heard
            if plain.cover.noise_db_hl is None
        )

    def mark(
        self, frequency_hz: float, side: Outcome, low_db_hl: float, high_db_hl: float
    ) -> Outcome:
        if self._levels.is_out_of_reach(frequency_hz):
            return Outcome.INFERRED
        tones = self.near(frequency_hz)
        above, below = answers_above(tones, low_db_hl), silent_below(tones, high_db_hl)
        beyond = side in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE)
        if silent_at(tones, self._levels.limit_db_hl(frequency_hz)) and (beyond or not above):
            sure = side == Outcome.NO_RESPONSE
            return Outcome.NO_RESPONSE if sure else Outcome.INCOMPLETE
        at_floor = heard_at(tones, self._levels.floor_db_hl(frequency_hz))
        if at_floor and (side == Outcome.HEARS_ALL or not below):
            return Outcome.HEARS_ALL
        asked = above and len(below) >= self.silent_below_min and side != Outcome.HEARS_ALL
        if asked and not _contradict(tones, 0.5 * (low_db_hl + high_db_hl)):
            return Outcome.INCOMPLETE if beyond else Outcome.MEASURED
        return Outcome.INFERRED


def answers_above(tones: Sequence[Observation], low_db_hl: float) -> list[Observation]:
    """Return the tones that were heard, or perhaps, at this level or above it."""
    return [o for o in tones if o.heard is not False and o.presentation.level_db_hl >= low_db_hl]


def silent_below(tones: Sequence[Observation], high_db_hl: float) -> list[Observation]:
    """Return the tones that were not surely heard, at this level or below it."""
    return [o for o in tones if o.heard is not True and o.presentation.level_db_hl <= high_db_hl]


def silent_at(tones: Sequence[Observation], limit_db_hl: float) -> int:
    return sum(o.heard is False and o.presentation.level_db_hl >= limit_db_hl for o in tones)


def heard_at(tones: Sequence[Observation], floor_db_hl: float) -> int:
    return sum(o.heard is True and o.presentation.level_db_hl <= floor_db_hl for o in tones)


def _contradict(tones: Sequence[Observation], middle_db_hl: float) -> bool:
    """Return whether tones were not heard well above the middle of a band, or heard well below."""
    against = [
        each.presentation.level_db_hl - middle_db_hl
        for each in tones
        if (each.heard is False) == (each.presentation.level_db_hl > middle_db_hl)
    ]
    unheard = sum(above_db >= AGAINST_DB for above_db in against)
    heard = sum(above_db <= -AGAINST_DB for above_db in against)
    return max(unheard, heard) >= AGAINST_TONES
