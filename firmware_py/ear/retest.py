"""The retest: one ascent at 1 kHz, to see if its threshold comes out again.

The ascent goes on to the first tone that was surely heard. The threshold lies in the middle between
where silence ended and where being sure began. This is what the estimator means by it, too; without
an unsure answer the two are one.
"""

import math
from typing import Final

from firmware_py.ear.levels import Levels
from firmware_py.ear.model_checks import RETEST_IMPROBABLE, ascent_probability
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.model import Hyperparameters
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import Presentation

RETEST_START_DB: Final = -10.0  # relative to the threshold found
RETEST_STEP_DB: Final = 5.0
RETEST_TONES_MAX: Final = 6
RETEST_REPEATABLE_DB: Final = 5.0
RETEST_ACCEPTED_DB: Final = 10.0


class Retest:
    """The retest of one ear, whose threshold at 1 kHz was found to be `threshold_db_hl`.

    `sd_db` and `listener` are what was believed with it: what the retest is compared with.
    """

    def __init__(
        self, threshold_db_hl: float, levels: Levels, sd_db: float, listener: Hyperparameters
    ) -> None:
        self._levels = levels
        self._threshold_db_hl = threshold_db_hl
        self._sd_db = sd_db
        self._listener = listener
        self._asked_db_hl: list[float] = []
        self._heard = False  # the last of them
        self._audible_db_hl: float | None = None  # where silence ended
        self.difference_db: float | None = None  # set at the end

    @property
    def over(self) -> bool:
        return self.difference_db is not None

    @property
    def verdict(self) -> str:
        """Return what `told` has of a doubt, "" if the threshold came out again."""
        told = self.told
        return told if told in ("rejected", "doubtful") else ""

    @property
    def told(self) -> str:
        """Return the verdict as it is told: without a doubt "repeatable", or "scattered".

        That is a large difference, but no larger than the answers of this listener scatter.
        """
        difference_db = self.difference_db or 0.0
        if abs(difference_db) <= RETEST_REPEATABLE_DB:
            return "repeatable"
        # Never surely heard, it would have ended later still.
        levels_db_hl = [*self._asked_db_hl, *([] if self._heard else [math.inf])]
        before = self._threshold_db_hl, self._sd_db, self._listener
        if ascent_probability(levels_db_hl, difference_db > 0.0, *before) > RETEST_IMPROBABLE:
            return "scattered"
        return "rejected" if abs(difference_db) > RETEST_ACCEPTED_DB else "doubtful"

    def tone(self) -> Presentation:
        # The start first: in another order the sum may differ by a bit.
        start_db_hl = self._threshold_db_hl + RETEST_START_DB
        level_db_hl = start_db_hl + len(self._asked_db_hl) * RETEST_STEP_DB
        return self._levels.tone(Purpose.RETEST, self._levels.route.kind.familiar_hz, level_db_hl)

    def take_answer(self, level_db_hl: float, heard: bool | None) -> None:
        """Find where silence ends and where being sure begins, each halfway between two levels."""
        below_db_hl = (self._asked_db_hl or [level_db_hl - RETEST_STEP_DB])[-1]
        crossed_db_hl = 0.5 * (below_db_hl + level_db_hl)
        self._asked_db_hl.append(level_db_hl)
        self._heard = heard is True
        if heard is not False and self._audible_db_hl is None:
            self._audible_db_hl = crossed_db_hl
        at_limit = level_db_hl >= self._levels.limit_db_hl(self._levels.route.kind.familiar_hz)
        if heard:
            self._end(crossed_db_hl)
        elif at_limit or len(self._asked_db_hl) >= RETEST_TONES_MAX:
            self._end(level_db_hl + 0.5 * RETEST_STEP_DB)

    def _end(self, sure_db_hl: float) -> None:
        audible_db_hl = sure_db_hl if self._audible_db_hl is None else self._audible_db_hl
        self.difference_db = 0.5 * (audible_db_hl + sure_db_hl) - self._threshold_db_hl


def retest_of(estimator: ThresholdEstimator, levels: Levels) -> Retest | None:
    frequency_hz = levels.route.kind.familiar_hz
    mean_db_hl, sd_db = (each.item() for each in estimator.threshold([frequency_hz]))
    if levels.side(frequency_hz, mean_db_hl) != Outcome.MEASURED:
        return None
    return Retest(mean_db_hl, levels, sd_db, estimator.hyperparameters)
