"""A number in dB that may be a bound, a band, inferred or in doubt, and what may be said of it.

`Level` is the one class of such numbers: thresholds, gaps and differences are computed with it, and
what is open stays open. A probability is told of a number, never of a bound that leaves it open.
`Spread` is the posterior of a quantity that is more than one Gaussian.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, hypot, inf, sqrt
from typing import Final, Self

from firmware_py.inference.enough import BAND_PROBABILITY
from firmware_py.terms.outcomes import Bound

_BISECTIONS: Final = 60
_REACH_SDS: Final = 40.0  # further from every Gaussian there is nothing


@dataclass(frozen=True)
class Spread:
    """The posterior of one quantity in dB: a mixture of Gaussians."""

    parts: tuple[tuple[float, float, float], ...]  # weight, mean and SD of each; SD 0: a constant

    @property
    def mean_db(self) -> float:
        return sum(weight * mean for weight, mean, _ in self.parts)

    def above(self, level_db: float) -> float:
        if level_db == -inf:
            return 1.0
        return sum(weight * _above(mean, sd, level_db) for weight, mean, sd in self.parts)

    def shift(self, by_db: float) -> "Spread":
        return Spread(tuple((weight, mean + by_db, sd) for weight, mean, sd in self.parts))

    def quantile_db(self, share: float) -> float:
        """Return the level below which it lies with this probability, by bisection."""
        low = min(mean - _REACH_SDS * sd for _, mean, sd in self.parts)
        high = max(mean + _REACH_SDS * sd for _, mean, sd in self.parts)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.above(middle) < 1.0 - share else (middle, high)
        return 0.5 * (low + high)

    def band_db(self) -> tuple[float, float]:
        tail = 0.5 * (1.0 - BAND_PROBABILITY)
        return self.quantile_db(tail), self.quantile_db(1.0 - tail)


def _above(mean_db: float, sd_db: float, level_db: float) -> float:
    if sd_db == 0.0:
        return float(mean_db >= level_db)
    return 0.5 * erfc((level_db - mean_db) / (sqrt(2.0) * sd_db))


@dataclass(frozen=True)
class Level:
    """A number in dB, or what it is at least, at most, or between."""

    # `low_db`, `high_db`: the ends of a band that it lies in; the same of a number
    low_db: float
    high_db: float
    # `open_below`, `open_above`: it may as well be anything below, or above
    open_below: bool = False
    open_above: bool = False
    sd_db: float = 0.0  # the error of either end
    inferred: bool = False  # nothing was asked for it
    doubtful: bool = False  # the other ear may have heard what was asked

    @classmethod
    def at(
        cls, db: float, sd_db: float = 0.0, *, open_below: bool = False, open_above: bool = False
    ) -> Self:
        return cls(db, db, open_below, open_above, sd_db)

    @classmethod
    def mean(cls, levels: Sequence["Level"]) -> Self:
        """Return the mean, open where any is; SDs are taken as those of one common error."""
        count = len(levels)
        return cls(
            sum(each.low_db for each in levels) / count,
            sum(each.high_db for each in levels) / count,
            any(each.open_below for each in levels), any(each.open_above for each in levels),
            sum(each.sd_db for each in levels) / count,
            any(each.inferred for each in levels), any(each.doubtful for each in levels),
        )  # fmt: skip

    def minus(self, other: "Level") -> "Level":
        """Return the difference, in `[low - other.high, high - other.low]`; errors independent.

        Open above is what one is open above, or the other below; open below the reverse.
        """
        return Level(
            self.low_db - other.high_db, self.high_db - other.low_db,
            self.open_below or other.open_above, self.open_above or other.open_below,
            hypot(self.sd_db, other.sd_db),
            self.inferred or other.inferred, self.doubtful or other.doubtful,
        )  # fmt: skip

    def within(self, floor_db: float, ceiling_db: float) -> "Level":
        """Return what of it lies within limits; open where it went on beyond one of them."""
        ends_db = self.low_db, self.high_db
        low_db, high_db = (min(max(each, floor_db), ceiling_db) for each in ends_db)
        below = self.open_below or self.low_db < floor_db
        above = self.open_above or self.high_db > ceiling_db
        return Level(low_db, high_db, below, above, self.sd_db, self.inferred, self.doubtful)

    @property
    def bound(self) -> Bound | None:
        """Return what it is of its number; None: it may lie on either side, so it says nothing."""
        if self.open_below and self.open_above:
            return None
        if self.open_above:
            return Bound.AT_LEAST
        return Bound.AT_MOST if self.open_below else Bound.NONE

    @property
    def most_db(self) -> float:
        return inf if self.open_above else self.high_db

    def probability_at_least(self, level_db: float) -> float | None:
        """Return how likely it is a level or more: `1 - Phi((level - end) / sd)` of either end.

        None: the ends do not agree, as those of a bound that leaves it open.
        """
        least, most = self.probabilities_at_least(level_db)
        return least if least == most else None

    def probabilities_at_least(self, level_db: float) -> tuple[float, float]:
        """Return how likely it is a level or more at least, and at most."""
        least = 0.0 if self.open_below else _above(self.low_db, self.sd_db, level_db)
        most = 1.0 if self.open_above else _above(self.high_db, self.sd_db, level_db)
        return least, most
