"""What the most informative tone is: the objective that a test is given, and the climb to it.

An objective of one's own is a class made of `Objective`, with another `choose` or `worth`, and its
place in `objective_of`. Nothing else moves the level of its tone: the stride where answers disagree
with belief is its `strides_db`, and `best_within_reach` is the climb.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from firmware_py.ear.levels import Levels
from firmware_py.inference.estimator import Stimulus, ThresholdEstimator
from firmware_py.inference.trial_time import TrialTime
from firmware_py.terms.settings import STEP_UP_MAX_DB, Settings

# Who is as the prior believes is asked no more tones by them; see `inference.mixture.stride`.
STRIDES_DB: Final = (5.0, 10.0, 15.0)


@dataclass(frozen=True)
class Objective:
    """The most information from the answer: BALD (Houlsby et al. 2011), as in the paper.

    With the `time` of a presentation it is the most information per second: a tone that is not
    heard takes longer. `strides_db`: how far the level goes at least after two, three ... equal
    answers in a row at a frequency, where belief follows them slowly; none: it stays as it is.
    """

    time: TrialTime | None = None
    strides_db: tuple[float, ...] = STRIDES_DB

    def choose(
        self,
        estimator: ThresholdEstimator,
        allowed_db_hl: Sequence[float] | None = None,
        excluded_hz: Collection[float] = (),
    ) -> Stimulus:
        """Return the best tone; `allowed_db_hl`: the highest level at each candidate frequency."""
        return estimator.next_stimulus(allowed_db_hl, excluded_hz, self.time, self.strides_db)

    def worth(self, stimulus: Stimulus) -> float:
        """Return what a tone is worth, in bits or bits per second."""
        return stimulus.information_bits / (1.0 if self.time is None else stimulus.seconds)


BITS: Final = Objective()


def objective_of(settings: Settings, time: TrialTime) -> Objective:
    return Objective(time) if settings.per_second else BITS


def best_within_reach(
    objective: Objective,
    estimator: ThresholdEstimator,
    levels: Levels,
    excluded_hz: Collection[float],
) -> Stimulus:
    """Return the best tone now, or the first of the climb to one that is worth more.

    What a tone above its ceiling is worth is divided by the number of tones it takes to get there.
    Without that, nothing is asked at the foot of a steep loss.
    """
    candidates_hz = estimator.candidate_frequencies_hz
    allowed_db_hl = [levels.ceiling_db_hl(f) for f in candidates_hz]
    now = objective.choose(estimator, allowed_db_hl, excluded_hz)
    wanted = objective.choose(estimator, levels.limits_db_hl(candidates_hz), excluded_hz)
    above_db = wanted.level_db_hl - levels.ceiling_db_hl(wanted.frequency_hz)
    tones = 1 + math.ceil(max(above_db, 0.0) / STEP_UP_MAX_DB)
    share = replace(wanted, information_bits=wanted.information_bits / tones)
    return share if objective.worth(share) > objective.worth(now) else now
