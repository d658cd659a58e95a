"""The mean threshold PTA4, and the grade of hearing loss by the WHO, with how sure they are.

PTA4 is the mean of the thresholds at 500, 1000, 2000 and 4000 Hz. The posterior of these four
together is a mixture of Gaussians, so that of their mean is one as well, in closed form, with all
that the four share. The grades are those of the World Report on Hearing (WHO 2021), by the PTA4 of
the better ear; the ears were measured apart, so the smaller of two has P(min > x) = P(a > x)
P(b > x).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import erfc, inf, sqrt
from typing import Final

import numpy as np

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure.audiogram import BAND_PROBABILITY
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.pta4 import PTA4_FREQUENCIES_HZ, pta4_of
from firmware_py.procedure.reading import Kind, read
from firmware_py.procedure.results import EarResult
from firmware_py.procedure.statements import may_compare, may_conclude

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
BEYOND: Final = (Kind.ABOVE, Kind.AT_MOST, Kind.PERHAPS_ABOVE)
_BISECTIONS: Final = 60
_REACH_SDS: Final = 40.0  # further from every Gaussian there is nothing

# Of a level in dB HL: how likely the quantity lies above it.
Above = Callable[[float], float]


@dataclass(frozen=True)
class Spread:
    """The posterior of one quantity in dB HL: a mixture of Gaussians."""

    parts: tuple[tuple[float, float, float], ...]  # weight, mean and SD of each

    @property
    def mean_db_hl(self) -> float:
        """Return the mean."""
        return sum(weight * mean for weight, mean, _ in self.parts)

    def above(self, level_db_hl: float) -> float:
        """Return how likely it lies above a level."""
        if level_db_hl == -inf:
            return 1.0
        return sum(
            weight * 0.5 * erfc((level_db_hl - mean) / (sqrt(2.0) * sd))
            for weight, mean, sd in self.parts
        )

    def quantile_db_hl(self, share: float) -> float:
        """Return the level below which it lies with this probability, by bisection."""
        low = min(mean - _REACH_SDS * sd for _, mean, sd in self.parts)
        high = max(mean + _REACH_SDS * sd for _, mean, sd in self.parts)
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
    parts = zip(weight.tolist(), means, sds, strict=True)
    return Spread(tuple(part for part in parts if part[0] > 0.0))


def grade_probabilities(above: Above) -> dict[str, float]:
    """Return how likely each grade is."""
    beyond = [*(above(from_db_hl) for from_db_hl in GRADES_DB_HL.values()), 0.0]
    each = (max(more - less, 0.0) for more, less in pairwise(beyond))
    return dict(zip(GRADES_DB_HL, each, strict=True))


def grade_bounds(grades: Mapping[str, float]) -> dict[str, float]:
    """Return how likely each grade or a worse one is, by how likely each is."""
    names = list(GRADES_DB_HL)
    return {name: sum(grades[worse] for worse in names[i:]) for i, name in enumerate(names)}


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


@dataclass(frozen=True)
class MeanThreshold:
    """PTA4 with its 95 % band, and how likely each grade is."""

    mean_db_hl: float
    low_db_hl: float
    high_db_hl: float
    grades: dict[str, float]
    # of the four, those that lie beyond a limit, surely or perhaps: there the posterior goes by
    # what is known of other people
    beyond_hz: list[int]
    # with the limits in the place of what was not heard at them; None: all was heard
    at_least_db_hl: float | None
    inferred_hz: list[int]  # of the four, those that no tone was asked for
    # of the four, those that the other ear may have heard: the mean and the grade are bounds, and
    # the ear hears no better
    doubtful_hz: list[int]


@dataclass(frozen=True)
class BetterEar:
    """The grade of a person: that of the better ear."""

    ear: str  # with the lower mean threshold
    both_ears: bool  # False: only this one has a mean threshold, the other may be better
    grades: dict[str, float]
    unilateral: float | None  # how likely the loss is unilateral; None unless both ears are known
    at_least: bool  # the grades are bounds: the other one may have heard some of this ear's tones


@dataclass(frozen=True)
class MeanThresholds:
    """The mean thresholds of a session."""

    ears: dict[str, MeanThreshold | None]  # None: an ear has none
    # None: no ear has one, or they may not be compared
    better_ear: BetterEar | None


def mean_thresholds(found: Iterable[EarResult], tests: Mapping[str, EarTest]) -> MeanThresholds:
    """Return the mean thresholds of the ears of a session.

    Parameters
    ----------
    found : iterable of EarResult
    tests : mapping
        The test of each ear after its last answer.
    """
    found, ears = [*found], dict[str, MeanThreshold | None]()
    spreads: dict[str, Spread] = {}
    for ear in found:
        spread = _spread(ear, tests[ear.ear].estimator)
        ears[ear.ear] = None
        if spread is not None:
            ears[ear.ear], spreads[ear.ear] = _mean_threshold(ear, spread), spread
    known = [ear for ear in found if ear.ear in spreads]
    comparable = all(may_compare(one, other) for one, other in pairwise(known))
    return MeanThresholds(ears, _better_ear(spreads, ears) if comparable else None)


def outside_hz(estimator: ThresholdEstimator) -> list[float]:
    """Return which of the four frequencies were not in the test."""
    low_hz, high_hz = estimator.frequency_range_hz
    return [f for f in PTA4_FREQUENCIES_HZ if not low_hz <= f <= high_hz]


def _spread(found: EarResult, estimator: ThresholdEstimator) -> Spread | None:
    unknown = (
        not may_conclude(found)
        or found.outcome == Outcome.UNRELIABLE
        or estimator.trial_count == 0
        or outside_hz(estimator)
    )
    return None if unknown else pta4_posterior(estimator)


def _mean_threshold(found: EarResult, spread: Spread) -> MeanThreshold:
    four = {
        t.frequency_hz: read(t) for t in found.thresholds if t.frequency_hz in PTA4_FREQUENCIES_HZ
    }
    average = pta4_of(found)
    beyond = any(reading.kind == Kind.ABOVE for reading in four.values())
    return MeanThreshold(
        spread.mean_db_hl,
        *spread.band_db_hl(),
        grade_probabilities(spread.above),
        [f for f, reading in four.items() if reading.kind in BEYOND],
        average.db_hl if average is not None and beyond else None,
        [f for f, reading in four.items() if reading.kind == Kind.INFERRED],
        [f for f, reading in four.items() if reading.doubtful],
    )


def _better_ear(
    known: Mapping[str, Spread], means: Mapping[str, MeanThreshold | None]
) -> BetterEar | None:
    if not known:
        return None
    better = min(known, key=lambda ear: known[ear].mean_db_hl)
    both = len(known) > 1
    above = better_above(*known.values()) if both else known[better].above
    unilateral = unilateral_probability(*known.values()) if both else None
    mean = means[better]
    at_least = mean is not None and bool(mean.doubtful_hz)
    return BetterEar(better, both, grade_probabilities(above), unilateral, at_least)
