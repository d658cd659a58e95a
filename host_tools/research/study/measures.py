"""The measures of all tables: errors, coverage, and what is usual and late, of what is known."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from host_tools.research.methods.interface import Array
from host_tools.research.study.sessions import Row

WITHIN_DB: Final = (5.0, 10.0)
SPREAD: Final = ("mean_db", "sd_db", "mean_absolute_db", "within_5_db", "within_10_db")


def weighted_quantiles(values: Array, weight: Array, at: tuple[float, ...]) -> Array:
    """Return the smallest values at or below which lies at least such a share of the weight."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    # The tolerance is for the rounding of the sum.
    index = np.searchsorted(below, np.array(at) * below[-1] * (1.0 - 1e-12))
    quantiles: Array = values[order][np.minimum(index, len(values) - 1)]
    return quantiles


def median_and_late(values: Sequence[float]) -> dict[str, float | None]:
    """Return median and 95th percentile; None: there are no values."""
    if not values:
        return {"median": None, "p95": None}
    median, p95 = np.percentile(values, (50, 95)).tolist()
    return {"median": median, "p95": p95}


def error_and_coverage(errors_db: Sequence[float], covered: Sequence[bool]) -> Row:
    """Return RMSE, bias and the share whose band holds the truth; None: there are none."""
    if not errors_db:
        return {"count": 0, "rmse_db": None, "bias_db": None, "covered_95": None}
    errors = np.array(errors_db)
    return {
        "count": len(errors_db),
        "rmse_db": float(np.sqrt(np.mean(errors**2))),
        "bias_db": float(errors.mean()),
        "covered_95": sum(covered) / len(covered) if covered else None,
    }


def spread_of(differences_db: Sequence[Array], weight: Array) -> Row:
    """Return what differences are, each with the weight of its ear, (n,); NaN is left out."""
    values = np.concatenate([np.empty(0), *differences_db])
    weights = np.repeat(weight, [len(each) for each in differences_db])
    known = ~np.isnan(values)
    values, weights = values[known], weights[known]
    if not len(values):
        return {"pairs": 0, **dict.fromkeys(SPREAD)}
    weights = weights / np.sum(weights)

    def mean(of: Array) -> float:
        return float(np.sum(weights * of))

    middle = mean(values)
    within = [mean((np.abs(values) <= limit_db).astype(float)) for limit_db in WITHIN_DB]
    variance = mean((values - middle) ** 2)
    measured = middle, math.sqrt(variance), mean(np.abs(values)), *within
    return {"pairs": len(values), **dict(zip(SPREAD, measured, strict=True))}


def mean_known(weight: Array, values: Sequence[Array]) -> float | None:
    """Return the mean of all numbers, those of a test with its weight; None: there are none."""
    known = [each[~np.isnan(each)] for each in values]
    count = float(np.sum(weight * [len(each) for each in known]))
    total = float(np.sum(weight * [float(np.sum(each)) for each in known]))
    return total / count if count else None


def mean_of_known(values: Sequence[float] | Array) -> float:
    """Return the mean of all numbers; NaN: there are none."""
    all_of_them = np.array(values, dtype=float)
    known = all_of_them[~np.isnan(all_of_them)]
    return float(np.mean(known)) if len(known) else math.nan


def root_mean_square(errors_db: Sequence[Array]) -> float:
    """Return that of all numbers; NaN: there are none."""
    return math.sqrt(mean_of_known(np.concatenate([*errors_db, [math.nan]]) ** 2))
