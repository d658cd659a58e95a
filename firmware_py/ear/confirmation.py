"""Chosen frequencies once more by the classical rule, which owes nothing to the estimator.

R. Carhart and J. F. Jerger, "Preferred method for clinical determination of pure-tone thresholds",
J. Speech Hear. Disord. 24 (1959) 330-345; American Speech-Language-Hearing Association, "Guidelines
for manual pure-tone threshold audiometry" (2005): 10 dB down after a tone that was heard, 5 dB up
after another; the threshold is the lowest level heard in at least half of its ascents, and twice.

An unsure answer counts as not heard. The answers are not given to the estimator.
"""

from collections.abc import Sequence
from typing import Final

from firmware_py.ear.caps import CONFIRM_TONES_MAX
from firmware_py.ear.levels import Levels
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.results import ConfirmedThreshold

UP_DB: Final = 5.0
DOWN_DB: Final = 10.0
ABOVE_DB: Final = 10.0  # the first tone is so much above the threshold that the estimator found
HEARD_IN_ASCENTS: Final = 2  # at a level, and in half of its ascents, makes it the threshold
SILENT_AT_LIMIT: Final = 2  # in a row


class Ascents:
    """The classical rule at one frequency, from its first level on.

    A tone belongs to an ascent if the one before it was not heard, or if there is no lower level.
    Tones below the first level only lead up to it, where more than a step at a time is not allowed;
    if one of them is heard, the rule begins there.
    """

    def __init__(self, frequency_hz: int, start_db_hl: float, levels: Levels) -> None:
        self.frequency_hz = frequency_hz
        self._levels = levels
        wanted_db_hl = UP_DB * round(start_db_hl / UP_DB)
        self._level_db_hl = levels.within_db_hl(frequency_hz, wanted_db_hl)
        self._tones = 0
        self._rising = False
        self._silent_at_limit = 0
        self._ascents: list[tuple[float, bool]] = []  # level, and if it was heard there
        self._outcome: Outcome | None = None
        self._threshold_db_hl: float | None = None

    @property
    def over(self) -> bool:
        return self._outcome is not None

    def tone(self) -> Presentation:
        return self._levels.tone(Purpose.CONFIRM, self.frequency_hz, self._level_db_hl)

    def take_answer(self, level_db_hl: float, heard: bool | None) -> None:
        """Take an answer at the level that was played; None: the listener was unsure."""
        self._tones += 1
        # What is played is rounded to a step; only a tone that had to be softer is so much below.
        leads_up = level_db_hl <= self._level_db_hl - 0.5 * UP_DB
        if leads_up and heard:
            self._level_db_hl = level_db_hl
        if heard or not leads_up:
            self._judge(level_db_hl, heard is True)
        if self._outcome is None and self._tones >= CONFIRM_TONES_MAX:
            self._outcome = Outcome.INCOMPLETE

    def result(self) -> ConfirmedThreshold:
        mark = self._outcome or Outcome.INCOMPLETE
        threshold_db_hl = self._threshold_db_hl if mark == Outcome.MEASURED else None
        return ConfirmedThreshold(self.frequency_hz, threshold_db_hl, mark, self._tones)

    def _judge(self, played_db_hl: float, heard: bool) -> None:
        level_db_hl = self._level_db_hl
        at_floor = level_db_hl <= self._levels.floor_db_hl(self.frequency_hz)
        if self._rising or at_floor:
            self._ascents.append((level_db_hl, heard))
            if heard and self._settles(level_db_hl):
                self._threshold_db_hl = played_db_hl
                self._outcome = Outcome.HEARS_ALL if at_floor else Outcome.MEASURED
        silent = not heard and level_db_hl >= self._levels.limit_db_hl(self.frequency_hz)
        self._silent_at_limit = self._silent_at_limit + 1 if silent else 0
        if self._silent_at_limit >= SILENT_AT_LIMIT:
            self._outcome = Outcome.NO_RESPONSE
        wanted_db_hl = level_db_hl + (-DOWN_DB if heard else UP_DB)
        self._level_db_hl = self._levels.within_db_hl(self.frequency_hz, wanted_db_hl)
        self._rising = not heard

    def _settles(self, level_db_hl: float) -> bool:
        answers = [heard for level, heard in self._ascents if level == level_db_hl]
        return sum(answers) >= HEARD_IN_ASCENTS and 2 * sum(answers) >= len(answers)


class Confirmation:
    """The chosen frequencies of one ear, one after the other, each from what was found there."""

    def __init__(
        self, chosen_hz: Sequence[int], estimator: ThresholdEstimator, levels: Levels
    ) -> None:
        found = zip(chosen_hz, estimator.threshold(chosen_hz)[0].tolist(), strict=True)
        self._runs = [Ascents(f, mean_db_hl + ABOVE_DB, levels) for f, mean_db_hl in found]
        self._number = 0  # of the frequency under way

    @property
    def over(self) -> bool:
        return self._number >= len(self._runs)

    def tone(self) -> Presentation:
        return self._runs[self._number].tone()

    def take_answer(self, level_db_hl: float, heard: bool | None) -> None:
        run = self._runs[self._number]
        run.take_answer(level_db_hl, heard)
        self._number += run.over

    def results(self) -> tuple[ConfirmedThreshold, ...]:
        begun = [run.result() for run in self._runs[: self._number + 1]]
        return tuple(result for result in begun if result.tones)
