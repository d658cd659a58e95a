"""What was asked near a frequency, and what may be said of its threshold by that.

A number that no tone was asked for is `inferred`, however narrow its band: it comes from other
frequencies and other people. This module is the one place where that is decided.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from firmware_py.ear.levels import Levels, near
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.presentation import Observation

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
    """Return whether a tone was asked at a frequency: within a third of an octave."""
    return frequency_hz / NEAR <= tone_hz <= frequency_hz * NEAR


class Marks:
    """What the answers of one ear that count show near a frequency.

    Attributes
    ----------
    silent_below_min : int
        Silences below a threshold that it takes.
    """

    def __init__(self, levels: Levels, answers: Sequence[Observation]) -> None:
        self._levels = levels
        self._answers = answers
        follows_air = levels.route.kind.follows_air
        self.silent_below_min = SILENT_BELOW_AIR_MIN if follows_air else SILENT_BELOW_MIN

    def near(self, frequency_hz: float) -> list[Observation]:
        """Return the tones within a third of an octave of a frequency."""
        low_hz, high_hz = frequency_hz / NEAR, frequency_hz * NEAR  # once, not for each tone
        return [
            each
            for each in self._answers
            if low_hz <= each.presentation.frequency_hz <= high_hz and each.presentation.is_asked
        ]

    def answers_above(self, frequency_hz: float, low_db_hl: float) -> int:
        """Return how many tones were heard, at the lower end of the band or above it."""
        return _answers_above(self.near(frequency_hz), low_db_hl)

    def silent_below(self, frequency_hz: float, high_db_hl: float) -> int:
        """Return how many tones were not heard, at the upper end of the band or below it."""
        return _silent_below(self.near(frequency_hz), high_db_hl)

    def silent_at_limit(self, frequency_hz: float) -> int:
        """Return how often the loudest tone that may be asked there was not heard."""
        return _times_silent_at(self.near(frequency_hz), self._levels.limit_db_hl(frequency_hz))

    def times_heard_at_limit(self, frequency_hz: float) -> int:
        """Return how often the loudest tone that may be asked there was heard."""
        limit_db_hl = self._levels.limit_db_hl(frequency_hz)
        return sum(
            each.heard is not False and each.presentation.level_db_hl >= limit_db_hl
            for each in self.near(frequency_hz)
        )

    def times_heard_at_floor(self, frequency_hz: float) -> int:
        """Return how often the softest tone was heard there."""
        return _times_heard_at(self.near(frequency_hz), self._levels.floor_db_hl)

    def all_silent_at_limit(self) -> Counter[float]:
        """Return, by frequency, how often the loudest tone that may be asked was not heard."""
        return Counter(
            each.presentation.frequency_hz
            for each in self._answers
            if each.heard is False
            and each.presentation.is_asked
            and each.presentation.level_db_hl
            >= self._levels.limit_db_hl(each.presentation.frequency_hz)
        )

    def all_heard_at_floor(self) -> Counter[float]:
        """Return, by frequency, how often the softest tone was heard."""
        return Counter(
            each.presentation.frequency_hz
            for each in self._answers
            if each.heard is True
            and each.presentation.level_db_hl <= self._levels.floor_db_hl
            and each.presentation.is_asked
        )

    def moves_with_noise(self) -> bool:
        """Return whether noise in the other ear silenced a tone that was heard softer without it.

        Then the other ear answers, and who contradicts himself attends all the same.
        """
        tones = [each for each in self._answers if each.presentation.is_asked]
        plain = [each for each in tones if each.heard is True and each.cover.noise_db_hl is None]
        return any(
            masked.presentation.level_db_hl >= each.presentation.level_db_hl + MOVED_DB
            and near(each.presentation.frequency_hz, [masked.presentation.frequency_hz])
            for masked in tones
            if masked.heard is False and masked.cover.noise_db_hl is not None
            for each in plain
        )

    def mark(
        self, frequency_hz: float, side: Outcome, low_db_hl: float, high_db_hl: float
    ) -> Outcome:
        """Return the mark of a frequency.

        Parameters
        ----------
        frequency_hz : float
        side : Outcome
            Where all answers together say that its threshold lies: within the limits (`MEASURED`),
            beyond one (`NO_RESPONSE`, `HEARS_ALL`), or perhaps above (`INCOMPLETE`).
        low_db_hl, high_db_hl : float
            Its 95 % band.
        """
        tones = self.near(frequency_hz)
        above, below = _answers_above(tones, low_db_hl), _silent_below(tones, high_db_hl)
        silent = _times_silent_at(tones, self._levels.limit_db_hl(frequency_hz))
        at_floor = _times_heard_at(tones, self._levels.floor_db_hl)
        beyond = side in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE)
        if silent and (beyond or not above):
            sure = side == Outcome.NO_RESPONSE
            return Outcome.NO_RESPONSE if sure else Outcome.INCOMPLETE
        if at_floor and (side == Outcome.HEARS_ALL or not below):
            return Outcome.HEARS_ALL
        asked = above and below >= self.silent_below_min and side != Outcome.HEARS_ALL
        if asked and not _contradict(tones, 0.5 * (low_db_hl + high_db_hl)):
            return Outcome.INCOMPLETE if beyond else Outcome.MEASURED
        return Outcome.INFERRED


def _answers_above(tones: Sequence[Observation], low_db_hl: float) -> int:
    return sum(
        each.heard is not False and each.presentation.level_db_hl >= low_db_hl for each in tones
    )


def _silent_below(tones: Sequence[Observation], high_db_hl: float) -> int:
    return sum(
        each.heard is not True and each.presentation.level_db_hl <= high_db_hl for each in tones
    )


def _times_silent_at(tones: Sequence[Observation], limit_db_hl: float) -> int:
    return sum(
        each.heard is False and each.presentation.level_db_hl >= limit_db_hl for each in tones
    )


def _times_heard_at(tones: Sequence[Observation], floor_db_hl: float) -> int:
    return sum(
        each.heard is True and each.presentation.level_db_hl <= floor_db_hl for each in tones
    )


def _contradict(tones: Sequence[Observation], middle_db_hl: float) -> bool:
    """Return whether tones were answered against a threshold in the middle of its band.

    They were not heard well above it, or heard well below it.
    """
    against = [
        each.presentation.level_db_hl - middle_db_hl
        for each in tones
        if (each.heard is False) == (each.presentation.level_db_hl > middle_db_hl)
    ]
    unheard = sum(above_db >= AGAINST_DB for above_db in against)
    heard = sum(above_db <= -AGAINST_DB for above_db in against)
    return max(unheard, heard) >= AGAINST_TONES
