"""The mean threshold PTA4, and the grade of hearing loss by the WHO, with how sure they are.

PTA4 is the mean of the thresholds at 500, 1000, 2000 and 4000 Hz. The posterior of these four
together is a mixture of Gaussians, so that of their mean is one as well, in closed form, with all
that the four share. The grades are those of the World Report on Hearing (WHO 2021), by the PTA4 of
the better ear; the ears were measured apart, so the smaller of two has P(min > x) = P(a > x)
P(b > x).

Grades are those of clinical thresholds, for which the WHO made them; the mean is of 50 % points as
the thresholds are (`convention.py`).

A threshold that lies beyond a limit counts as that limit, so that mean and grades are bounds: what
is known of other people does not stand for what nobody heard. They are bounds as well where a
threshold perhaps lies beyond the limit, or the other ear may have heard the tones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from firmware_py.procedure.level import Spread
from firmware_py.procedure.outcomes import Bound, Outcome
from firmware_py.procedure.reading import Kind, Reading, read
from firmware_py.procedure.results import (
    GRADES,
    PTA4_FREQUENCIES_HZ,
    EarResult,
    MeanThreshold,
    SessionResult,
)
from firmware_py.procedure.route import Route
from firmware_py.procedure.statements import may_compare, may_conclude

if TYPE_CHECKING:  # who only reads what was found needs no kernels
    from firmware_py.inference.estimator import ThresholdEstimator

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
assert len(GRADES_DB_HL) == GRADES
# A unilateral loss: the better ear has the first grade, the worse one this or a poorer one.
UNILATERAL_FROM: Final = "moderate"
LEVEL_DIGITS: Final = 4  # of what is recorded: machines differ in the last bits
SHARE_DIGITS: Final = 4
LEAST_SHARE: Final = 0.005  # of a grade that is named
SURE: Final = 0.99  # a grade of a bound that is so likely, with all beyond it, is one


def pta4_posterior(
    estimator: "ThresholdEstimator", constant_db_hl: Mapping[int, float] | None = None
) -> Spread:
    """Return the posterior of the mean of the four thresholds.

    Parameters
    ----------
    estimator : ThresholdEstimator
    constant_db_hl : mapping, optional
        By frequency, what stands in the place of a threshold.
    """
    constants = constant_db_hl or {}
    others_hz = [float(f) for f in PTA4_FREQUENCIES_HZ if f not in constants]
    count, sum_db_hl = len(PTA4_FREQUENCIES_HZ), sum(constants.values())
    if not others_hz:
        return Spread(((1.0, sum_db_hl / count, 0.0),))
    weight, mean_db_hl, covariance_db2 = estimator.joint_threshold(others_hz)
    means = ((mean_db_hl.sum(axis=1) + sum_db_hl) / count).tolist()
    sds = (np.sqrt(covariance_db2.sum(axis=(1, 2))) / count).tolist()
    parts = zip(weight.tolist(), means, sds, strict=True)
    return Spread(tuple(part for part in parts if part[0] > 0.0))


def shares_of(spread: Spread) -> list[float]:
    """Return how likely each grade is."""
    beyond = [*(spread.above(from_db_hl) for from_db_hl in GRADES_DB_HL.values()), 0.0]
    return [max(more - less, 0.0) for more, less in pairwise(beyond)]


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
        _within_limits(level_db_hl, found),
        None if bound == Bound.AT_MOST else _within_limits(min(low_db_hl, level_db_hl), found),
        None if bound == Bound.AT_LEAST else _within_limits(max(high_db_hl, level_db_hl), found),
        bound,
        tuple(round(share, SHARE_DIGITS) for share in shares_of(clinical)),
        tuple(f for f, each in four.items() if _is_beyond(each)),
        tuple(f for f, each in four.items() if each.kind == Kind.INFERRED),
        tuple(f for f, each in four.items() if each.doubtful),
    )


def mean_higher(found: EarResult, by_db: float) -> MeanThreshold | None:
    """Return the mean threshold of an ear whose thresholds are so much higher.

    Limits in it are levels that were played, and stay; so do its grades.
    """
    if found.pta4 is None:
        return None
    _, constant_db_hl = _bound_of(_four(found))
    by_db *= _part_of(len(constant_db_hl))
    low_db_hl, high_db_hl = found.pta4.low_db_hl, found.pta4.high_db_hl
    return replace(
        found.pta4,
        level_db_hl=_within_limits(found.pta4.level_db_hl + by_db, found),
        low_db_hl=None if low_db_hl is None else _within_limits(low_db_hl + by_db, found),
        high_db_hl=None if high_db_hl is None else _within_limits(high_db_hl + by_db, found),
    )


def _part_of(constants: int) -> float:
    """Return how far the mean moves, where these of the four stay."""
    return 1.0 - constants / len(PTA4_FREQUENCIES_HZ)


def _within_limits(db_hl: float, found: EarResult) -> float:
    """Return a mean level within the limits of the four."""
    limits = [t for t in found.thresholds if t.frequency_hz in PTA4_FREQUENCIES_HZ]
    floor_db_hl = _mean([t.floor_db_hl for t in limits], -inf)
    ceiling_db_hl = _mean([t.ceiling_db_hl for t in limits], inf)
    return round(min(max(db_hl, floor_db_hl), ceiling_db_hl), LEVEL_DIGITS)


def outside_hz(found: EarResult) -> list[int]:
    """Return which of the four frequencies were not in the test."""
    return [f for f in PTA4_FREQUENCIES_HZ if f not in {t.frequency_hz for t in found.thresholds}]


def _four(found: EarResult) -> dict[int, Reading]:
    return {
        t.frequency_hz: read(t) for t in found.thresholds if t.frequency_hz in PTA4_FREQUENCIES_HZ
    }


def _is_beyond(reading: Reading) -> bool:
    return reading.limit != Bound.NONE or reading.kind == Kind.PERHAPS_ABOVE


def _bound_of(four: Mapping[int, Reading]) -> tuple[Bound, dict[int, float]]:
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


def _mean(limits_db_hl: Iterable[float | None], unknown_db_hl: float) -> float:
    known = [unknown_db_hl if each is None else each for each in limits_db_hl]
    return sum(known) / len(known)


@dataclass(frozen=True)
class PersonGrade:
    """The grade of a person: that of the better ear, which only both ears together tell."""

    ear: str  # the better one: with the lower mean threshold
    bound: Bound
    shares: tuple[float, ...]  # how likely each grade is, the best first; of a bound, its own
    inferred: bool  # a threshold in it was not asked
    # how likely the loss is unilateral; None: too little to be named, or a bound leaves that open
    unilateral: float | None


def person_grade(result: SessionResult) -> PersonGrade | None:
    """Return the grade of the better ear; None: an ear has no mean, or they are not comparable."""
    by_air = [ear for ear in result.ears if ear.route == Route(ear.route.ear)]
    ears = [ear for ear in by_air if ear.pta4 is not None]
    if len(ears) < 2 or not all(may_compare(one, other) for one, other in pairwise(ears)):
        return None
    known = {ear.route.ear: ear.pta4 for ear in ears if ear.pta4 is not None}
    better, worse = sorted(known, key=lambda ear: known[ear].level_db_hl)
    bound, above = _of_better(known[better], known[worse])
    shares = tuple(max(more - less, 0.0) for more, less in pairwise([*above, 0.0]))
    return PersonGrade(
        better,
        bound,
        tuple(round(share, SHARE_DIGITS) for share in shares),
        any(mean.inferred_hz for mean in known.values()),
        _unilateral(known[better], known[worse]),
    )


def _of_better(better: MeanThreshold, worse: MeanThreshold) -> tuple[Bound, list[float]]:
    """Return what the better ear's grade is, and how likely each grade or a poorer one is."""
    if worse.bound == Bound.AT_MOST:  # so is the better one of both, whatever the other is
        bound = Bound.AT_MOST
        if better.bound == Bound.AT_LEAST:
            return bound, _beyond(worse)
    else:
        bound = better.bound
        # Who may be worse than it seems leaves the other the better one.
        near = better.high_db_hl is None or worse.level_db_hl <= better.high_db_hl
        if worse.bound == Bound.AT_LEAST and near and bound == Bound.NONE:
            bound = Bound.AT_LEAST
    both = zip(_beyond(better), _beyond(worse), strict=True)
    return bound, [one * other for one, other in both]


def _beyond(mean: MeanThreshold) -> list[float]:
    """Return how likely each grade or a poorer one is."""
    return [*accumulate(reversed(mean.shares))][::-1]


def _unilateral(better: MeanThreshold, worse: MeanThreshold) -> float | None:
    if better.bound == Bound.AT_LEAST or worse.bound == Bound.AT_MOST:
        return None
    loss = [*GRADES_DB_HL].index(UNILATERAL_FROM)
    sides = ((better, better.shares[:1]), (worse, worse.shares[loss:]))
    if any(mean.bound != Bound.NONE and sum(shares) <= SURE for mean, shares in sides):
        return None  # the bound does not decide it
    pairs = ((better, worse), (worse, better))
    share = sum(normal.shares[0] * sum(other.shares[loss:]) for normal, other in pairs)
    return round(share, SHARE_DIGITS) if share >= LEAST_SHARE else None


def grades_told(bound: Bound, shares: Iterable[float]) -> dict[str, float | None]:
    """Return how likely each grade is; of a bound, that it is this one or one beyond it.

    Beyond are the poorer ones (at least), or the better ones (at most). None: the bound leaves it
    open, for it is told only where it is sure.
    """
    each = [*shares]
    if bound == Bound.NONE:
        return {name: min(share, 1.0) for name, share in zip(GRADES_DB_HL, each, strict=True)}
    poorer = [*accumulate(reversed(each))][::-1]
    beyond = poorer if bound == Bound.AT_LEAST else accumulate(each)
    told = zip(GRADES_DB_HL, beyond, strict=True)
    return {name: min(share, 1.0) if share > SURE else None for name, share in told}


def grades_said(bound: Bound, shares: Iterable[float]) -> list[tuple[str, float]]:
    """Return the grades that are named: the possible ones, the likeliest first.

    Of a bound it is one, the last that is sure: at least this grade, or at most.
    """
    told = grades_told(bound, shares).items()
    said = [(name, share) for name, share in told if share is not None and share >= LEAST_SHARE]
    if bound == Bound.NONE:
        return sorted(said, key=lambda each: each[1], reverse=True)
    return said[-1:] if bound == Bound.AT_LEAST else said[:1]
