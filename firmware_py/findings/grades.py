"""The grade of hearing loss of a person by the WHO, with how sure it is.

The grades are those of the World Report on Hearing (WHO 2021), by the PTA4 of the better ear
(`ear/mean_threshold.py`), and how sure it is by the band of the whole (`Uncertainty.graded` of
`whole_band.py`): a record has the shares by the answers alone. The smaller of two ears has
P(min > x) = P(a > x) P(b > x), as if all that is uncertain of one were apart from the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from firmware_py.ear.mean_threshold import GRADES_DB_HL, SHARE_DIGITS
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.results import MeanThreshold, SessionResult
from firmware_py.terms.route import Route
from firmware_py.terms.verdicts import may_compare

# A unilateral loss: the better ear has the first grade, the worse one this or a poorer one.
UNILATERAL_FROM: Final = "moderate"
LEAST_SHARE: Final = 0.005  # of a grade that is named
SURE: Final = 0.99  # a grade of a bound that is so likely, with all beyond it, is one


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
        better, bound, tuple(round(share, SHARE_DIGITS) for share in shares),
        any(mean.inferred_hz for mean in known.values()),
        _unilateral(known[better], known[worse]),
    )  # fmt: skip


def _of_better(better: MeanThreshold, worse: MeanThreshold) -> tuple[Bound, list[float]]:
    if worse.bound == Bound.AT_MOST:  # so is the better one of both, whatever the other is
        bound = Bound.AT_MOST
        if better.bound == Bound.AT_LEAST:
            return bound, _or_poorer(worse.shares)
    else:
        bound = better.bound
        # Who may be worse than it seems leaves the other the better one.
        near = better.high_db_hl is None or worse.level_db_hl <= better.high_db_hl
        if worse.bound == Bound.AT_LEAST and near and bound == Bound.NONE:
            bound = Bound.AT_LEAST
    both = zip(_or_poorer(better.shares), _or_poorer(worse.shares), strict=True)
    return bound, [one * other for one, other in both]


def _or_poorer(shares: Sequence[float]) -> list[float]:
    return [*accumulate(reversed(shares))][::-1]


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


def grades_told(bound: Bound, shares: Sequence[float]) -> dict[str, float | None]:
    """Return how likely each grade is; of a bound, that it is this one or one beyond it.

    Beyond are the poorer ones (at least), or the better ones (at most). None: the bound leaves it
    open, for it is told only where it is sure.
    """
    if bound == Bound.NONE:
        return {name: min(share, 1.0) for name, share in zip(GRADES_DB_HL, shares, strict=True)}
    beyond = _or_poorer(shares) if bound == Bound.AT_LEAST else accumulate(shares)
    told = zip(GRADES_DB_HL, beyond, strict=True)
    return {name: min(share, 1.0) if share > SURE else None for name, share in told}


def grades_said(bound: Bound, shares: Sequence[float]) -> list[tuple[str, float]]:
    """Return the grades that are named: the possible ones, the likeliest first.

    Of a bound it is one, the last that is sure: at least this grade, or at most.
    """
    told = grades_told(bound, shares).items()
    said = [(name, share) for name, share in told if share is not None and share >= LEAST_SHARE]
    if bound == Bound.NONE:
        return sorted(said, key=lambda each: each[1], reverse=True)
    return said[-1:] if bound == Bound.AT_LEAST else said[:1]
