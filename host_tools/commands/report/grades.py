"""The mean threshold PTA4, and the grade of hearing loss by the WHO, with how sure they are.

PTA4 is the mean of the thresholds at 500, 1000, 2000 and 4000 Hz. The posterior of these four
together is a mixture of Gaussians, so that of their mean is one as well, in closed form, with all
that the four share. The grades are those of the World Report on Hearing (WHO 2021), by the PTA4 of
the better ear; the ears were measured apart, so the smaller of two has P(min > x) = P(a > x)
P(b > x).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import NormalDist
from typing import Final

import numpy as np

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure.audiogram import BAND_PROBABILITY
from host_tools.pta4 import PTA4_FREQUENCIES_HZ

# Each from this mean threshold on, dB HL.
GRADES_DB_HL: Final = {
    "normal": -inf,
    "mild": 20.0,
    "moderate": 35.0,
    "moderately severe": 50.0,
    "severe": 65.0,
    "profound": 80.0,
    "complete": 95.0,
}
# A unilateral loss: the better ear below the first, the worse one from the second on.
UNILATERAL_DB_HL: Final = (20.0, 35.0)
_BISECTIONS: Final = 60
_REACH_SDS: Final = 40.0  # further from every Gaussian there is nothing

# Of a level in dB HL: how likely the quantity lies above it.
Above = Callable[[float], float]


@dataclass(frozen=True)
class Spread:
    """The posterior of one quantity in dB HL: a mixture of Gaussians."""

    parts: tuple[tuple[float, NormalDist], ...]

    @property
    def mean_db_hl(self) -> float:
        """Return the mean."""
        return sum(weight * part.mean for weight, part in self.parts)

    def above(self, level_db_hl: float) -> float:
        """Return how likely it lies above a level."""
        if level_db_hl == -inf:
            return 1.0
        return sum(weight * (1.0 - part.cdf(level_db_hl)) for weight, part in self.parts)

    def quantile_db_hl(self, share: float) -> float:
        """Return the level below which it lies with this probability, by bisection."""
        low = min(part.mean - _REACH_SDS * part.stdev for _, part in self.parts)
        high = max(part.mean + _REACH_SDS * part.stdev for _, part in self.parts)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.above(middle) < 1.0 - share else (middle, high)
        return 0.5 * (low + high)

    def band_db_hl(self) -> tuple[float, float]:
        """Return the central 95 % band."""
        tail = 0.5 * (1.0 - BAND_PROBABILITY)
        return self.quantile_db_hl(tail), self.quantile_db_hl(1.0 - tail)


def pta4_posterior(estimator: ThresholdEstimator) -> Spread:
    """Return the posterior of the mean of the four thresholds."""
    weight, mean_db_hl, covariance_db2 = estimator.joint_threshold(PTA4_FREQUENCIES_HZ)
    means = mean_db_hl.mean(axis=1).tolist()
    sds = np.sqrt(covariance_db2.mean(axis=(1, 2))).tolist()
    parts = zip(weight.tolist(), map(NormalDist, means, sds), strict=True)
    return Spread(tuple((share, part) for share, part in parts if share > 0.0))


def grade_probabilities(above: Above) -> dict[str, float]:
    """Return how likely each grade is."""
    beyond = [*(above(from_db_hl) for from_db_hl in GRADES_DB_HL.values()), 0.0]
    each = (max(more - less, 0.0) for more, less in pairwise(beyond))
    return dict(zip(GRADES_DB_HL, each, strict=True))


def better_above(one: Spread, other: Spread) -> Above:
    """Return how likely the better of two ears lies above a level."""
    return lambda level_db_hl: one.above(level_db_hl) * other.above(level_db_hl)


def unilateral_probability(one: Spread, other: Spread) -> float:
    """Return how likely one ear hears normally and the other has a loss that counts."""
    normal_db_hl, loss_db_hl = UNILATERAL_DB_HL
    return sum(
        (1.0 - better.above(normal_db_hl)) * worse.above(loss_db_hl)
        for better, worse in ((one, other), (other, one))
    )
