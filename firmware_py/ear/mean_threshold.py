"""The mean threshold PTA4 of an ear, with how likely each grade of hearing loss is by it.

PTA4 is the mean of the thresholds at 500, 1000, 2000 and 4000 Hz. The posterior of these four
together is a mixture of Gaussians, so that of their mean is one as well, in closed form, with all
that the four share. It needs the estimator, so the test itself finds it, and its result has it.

Grades are those of clinical thresholds, for which the WHO made them (World Report on Hearing,
2021); the mean is of 50 % points as the thresholds are.

A threshold that lies beyond a limit counts as that limit, so that mean and grades are bounds: what
is known of other people does not stand for what nobody heard. They are bounds as well where a
threshold perhaps lies beyond the limit, or the other ear may have heard the tones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Final

from firmware_py.terms.level import Spread
from firmware_py.terms.outcomes import Bound, Outcome
from firmware_py.terms.results import (
    GRADES,
    PTA4_FREQUENCIES_HZ,
    EarResult,
    MeanThreshold,
    ThresholdResult,
)
from firmware_py.terms.route import LOWEST_DB_HL
from firmware_py.terms.shown_threshold import Kind, ShownThreshold, as_shown
from firmware_py.terms.verdicts import may_conclude

if TYPE_CHECKING:  # who only reads what was found needs no kernels
    from firmware_py.inference.estimator import ThresholdEstimator

# Each from this mean threshold on, dB HL.
GRADES_DB_HL: Final = {
    "normal": -inf, "mild": 20.0, "moderate": 35.0, "moderately severe": 50.0, "severe": 65.0,
    "profound": 80.0, "complete": 95.0,
}  # fmt: skip
assert len(GRADES_DB_HL) == GRADES
LEVEL_DIGITS: Final = 4  # of what is recorded: machines differ in the last bits
SHARE_DIGITS: Final = 4


def pta4_posterior(
    estimator: "ThresholdEstimator", constant_db_hl: Mapping[int, float] | None = None
) -> Spread:
    """Return the posterior of the mean of the four thresholds; some may be constants instead."""
    constants = constant_db_hl or {}
    others_hz = [float(f) for f in PTA4_FREQUENCIES_HZ if f not in constants]
    count, sum_db_hl = len(PTA4_FREQUENCIES_HZ), sum(constants.values())
    if not others_hz:
        return Spread(((1.0, sum_db_hl / count, 0.0),))
    weight, mean_db_hl, covariance_db2 = estimator.joint_threshold(others_hz)
    means = ((mean_db_hl.sum(axis=1) + sum_db_hl) / count).tolist()
    sds = (covariance_db2.sum(axis=(1, 2)) ** 0.5 / count).tolist()
    parts = zip(weight.tolist(), means, sds, strict=True)
    return Spread(tuple(part for part in parts if part[0] > 0.0))


def shares_of(spread: Spread) -> list[float]:
    beyond = [*(spread.above(from_db_hl) for from_db_hl in GRADES_DB_HL.values()), 0.0]
    return [max(more - less, 0.0) for more, less in pairwise(beyond)]


def shares_with(found: EarResult, sd_db: float, below_db: float) -> tuple[float, ...]:
    """Return how likely each grade is, if the mean of an ear has this SD; as it is recorded.

    `below_db`: how far thresholds lie below clinical ones, of which the grades are.
    """
    assert found.pta4 is not None, "it has a mean"
    _, constant_db_hl = _bound_of(_four(found))
    spread = Spread(((1.0, found.pta4.level_db_hl, sd_db),))
    clinical = spread.shift(_part_of(len(constant_db_hl)) * below_db)
    return _rounded(shares_of(clinical))


def mean_threshold(found: EarResult, estimator: "ThresholdEstimator") -> MeanThreshold | None:
    """Return the mean threshold of an ear; None: it is not known, or nothing may follow."""
    four = _four(found)
    known = may_conclude(found) and found.outcome != Outcome.UNRELIABLE
    if not known or outside_hz(found) or estimator.trial_count == 0:
        return None
    bound, constant_db_hl = _bound_of(four)
    spread = pta4_posterior(estimator, constant_db_hl)
    level_db_hl = spread.mean_db
    low_db_hl, high_db_hl = spread.band_db()
    clinical = spread.shift(_part_of(len(constant_db_hl)) * found.clinical_offset_db)
    return MeanThreshold(
        within_limits(level_db_hl, found),
        None if bound == Bound.AT_MOST else within_limits(min(low_db_hl, level_db_hl), found),
        None if bound == Bound.AT_LEAST else within_limits(max(high_db_hl, level_db_hl), found),
        bound,
        _rounded(shares_of(clinical)),
        tuple(f for f, each in four.items() if _is_beyond(each)),
        tuple(f for f, each in four.items() if each.kind == Kind.INFERRED),
        tuple(f for f, each in four.items() if each.doubtful),
    )


def _rounded(shares: Iterable[float]) -> tuple[float, ...]:
    return tuple(round(share, SHARE_DIGITS) for share in shares)


def mean_higher(found: EarResult, by_db: float) -> MeanThreshold | None:
    """Return a mean of thresholds so much higher; limits in it, and its grades, stay."""
    if found.pta4 is None:
        return None
    _, constant_db_hl = _bound_of(_four(found))
    by_db *= _part_of(len(constant_db_hl))
    low_db_hl, high_db_hl = found.pta4.low_db_hl, found.pta4.high_db_hl
    return replace(
        found.pta4,
        level_db_hl=within_limits(found.pta4.level_db_hl + by_db, found),
        low_db_hl=None if low_db_hl is None else within_limits(low_db_hl + by_db, found),
        high_db_hl=None if high_db_hl is None else within_limits(high_db_hl + by_db, found),
    )


def _part_of(constants: int) -> float:
    return 1.0 - constants / len(PTA4_FREQUENCIES_HZ)


def within_limits(db_hl: float, found: EarResult) -> float:
    """Return a mean level within the limits of the four, where these are known.

    What lies below a floor may be as low as any threshold.
    """
    four = [t for t in found.thresholds if t.frequency_hz in PTA4_FREQUENCIES_HZ]
    floors = [-inf if t.floor_db_hl is None else _lowest_db_hl(t) for t in four]
    ceilings = [inf if t.ceiling_db_hl is None else t.ceiling_db_hl for t in four]
    within_db_hl = min(max(db_hl, sum(floors) / len(four)), sum(ceilings) / len(four))
    return round(within_db_hl, LEVEL_DIGITS)


def _lowest_db_hl(found: ThresholdResult) -> float:
    floor_db_hl = found.floor_db_hl or 0.0
    below = as_shown(found).limit == Bound.AT_MOST
    return min(floor_db_hl, LOWEST_DB_HL) if below else floor_db_hl


def outside_hz(found: EarResult) -> list[int]:
    return [f for f in PTA4_FREQUENCIES_HZ if f not in {t.frequency_hz for t in found.thresholds}]


def _four(found: EarResult) -> dict[int, ShownThreshold]:
    return {
        t.frequency_hz: as_shown(t)
        for t in found.thresholds
        if t.frequency_hz in PTA4_FREQUENCIES_HZ
    }


def _is_beyond(reading: ShownThreshold) -> bool:
    return reading.limit != Bound.NONE or reading.kind == Kind.PERHAPS_ABOVE


def _bound_of(four: Mapping[int, ShownThreshold]) -> tuple[Bound, dict[int, float]]:
    """Return what the mean is by what the four are, and the limits that stand for thresholds."""
    found = {each.bound for each in four.values()}
    bound = next((each for each in (Bound.AT_LEAST, Bound.AT_MOST) if each in found), Bound.NONE)
    # Of an ear with both, what lies below the floor keeps its posterior: the mean is no less.
    constant_db_hl = {
        f: each.level_db_hl
        for f, each in four.items()
        if each.limit == bound != Bound.NONE and each.level_db_hl is not None
    }
    return bound, constant_db_hl
