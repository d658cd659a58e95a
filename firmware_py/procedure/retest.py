"""The retest: one ascent at 1 kHz, to see if its threshold comes out again.

The ascent goes on to the first tone that was surely heard. The threshold lies in the middle between
where silence ended and where being sure began. This is what the estimator means by it, too; without
an unsure answer the two are one.
"""

from typing import Final

from firmware_py.procedure.levels import Levels
from firmware_py.procedure.outcomes import Purpose
from firmware_py.procedure.presentation import Presentation
from firmware_py.procedure.settings import FAMILIAR_FREQUENCY_HZ

RETEST_START_DB: Final = -10.0  # relative to the threshold found
RETEST_STEP_DB: Final = 5.0
RETEST_TONES_MAX: Final = 6


class Retest:
    """The retest of one ear, whose threshold at 1 kHz was found to be `threshold_db_hl`."""

    def __init__(self, threshold_db_hl: float, levels: Levels) -> None:
        self._levels = levels
        self._threshold_db_hl = threshold_db_hl
        self._tones = 0
        self._below_db_hl: float | None = None  # the level before
        self._audible_db_hl: float | None = None  # where silence ended
        self.difference_db: float | None = None  # set at the end

    @property
    def over(self) -> bool:
        """Return whether the ascent has ended."""
        return self.difference_db is not None

    def tone(self) -> Presentation:
        """Return the next tone."""
        # The start first: in another order the sum may differ by a bit.
        start_db_hl = self._threshold_db_hl + RETEST_START_DB
        level_db_hl = start_db_hl + self._tones * RETEST_STEP_DB
        return self._levels.tone(Purpose.RETEST, FAMILIAR_FREQUENCY_HZ, level_db_hl)

    def answered(self, level_db_hl: float, heard: bool | None) -> None:
        """Find where silence ends and where being sure begins, each halfway between two levels."""
        self._tones += 1
        below = self._below_db_hl
        crossed_db_hl = 0.5 * (
            (level_db_hl - RETEST_STEP_DB if below is None else below) + level_db_hl
        )
        if heard is not False and self._audible_db_hl is None:
            self._audible_db_hl = crossed_db_hl
        at_limit = level_db_hl >= self._levels.limit_db_hl(FAMILIAR_FREQUENCY_HZ)
        if heard:
            self._end(crossed_db_hl)
        elif at_limit or self._tones >= RETEST_TONES_MAX:
            self._end(level_db_hl + 0.5 * RETEST_STEP_DB)
        self._below_db_hl = level_db_hl

    def _end(self, sure_db_hl: float) -> None:
        audible_db_hl = sure_db_hl if self._audible_db_hl is None else self._audible_db_hl
        self.difference_db = 0.5 * (audible_db_hl + sure_db_hl) - self._threshold_db_hl
