"""The air-bone gap of an ear by all that both routes told of it.

Gap = air - bone. Of a class of gaps (`gap_prior.py`) with mean m and covariance G, an ear whose air
threshold is known as N(a, A) is expected to hear bone at a - m, with covariance A + G. What bone
told, N(b, B), tells of air as well: with K = A (A + G)^-1 the gap is a + K (b - a + m) - b, with
covariance A - K A + (K - I) B (K - I)^T. The classes are weighed by how well each expects b. The
errors of air and bone are no independent ones: a shape that air left open is open for both.

b has air in its prior. It counts as a measurement here, which it is where tones told much more.

Sums are written out, in one order: the same bits on every machine.
"""

from collections.abc import Sequence

import numpy as np

from firmware_py.inference.curves import Curves
from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import CONVERGED, Array
from firmware_py.inference.linear_algebra import cholesky, solve
from firmware_py.inference.mixture.bone_prior import classes_at
from firmware_py.inference.mixture.gap_prior import GapPrior


def gap_of(
    air: Curves, bone: Curves, frequencies_hz: Sequence[float], gaps: GapPrior | None = None
) -> Curves:
    """Return the gap at m frequencies: a Gaussian for each class of gaps, dB.

    `air`, `bone`: the joint posteriors at these frequencies, which are knots of the prior of gaps
    (by default of that which is shipped).
    """
    (air_db_hl, air_db2), (bone_db_hl, bone_db2) = air.moments(), bone.moments()
    found = []
    for weight, mean_db, class_db2 in classes_at(gaps, frequencies_hz):
        surprise_db = bone_db_hl - air_db_hl + mean_db
        told = _transposed_solution(air_db2 + class_db2, air_db2)  # K
        gap_db = air_db_hl + _product(told, surprise_db) - bone_db_hl
        off = told - np.eye(len(gap_db))
        gap_db2 = air_db2 - _product(told, air_db2) + _product(_product(off, bone_db2), off.T)
        log_weight = log(weight) + _log_density(surprise_db, air_db2 + class_db2 + bone_db2)
        found.append((log_weight, gap_db, 0.5 * (gap_db2 + gap_db2.T)))
    largest = max(log_weight for log_weight, *_ in found)
    weights = [exp(log_weight - largest) for log_weight, *_ in found]
    return Curves(
        np.array(weights) / sum(weights),
        np.array([gap_db for _, gap_db, _ in found]),
        np.array([gap_db2 for *_, gap_db2 in found]),
    )


def _product(a: Array, b: Array) -> Array:
    """Return the product of a matrix and a matrix or a vector."""
    found: Array = np.zeros((len(a), *b.shape[1:]))
    for k in range(len(b)):
        found += np.multiply.outer(a[:, k], b[k])
    return found


def _factor(a: Array) -> Array:
    factor = np.array(a)
    if cholesky(len(factor), factor) != CONVERGED:
        raise ValueError("a covariance of gaps is not positive definite")
    return factor


def _transposed_solution(a: Array, b: Array) -> Array:
    """Return b a^-1 of two symmetric matrices."""
    factor, found = _factor(a), []
    for row in np.array(b):
        solve(len(a), factor, row)
        found.append(row)
    return np.array(found)


def _log_density(off: Array, covariance: Array) -> float:
    """Return the log density of a Gaussian, but for a constant."""
    factor, solved = _factor(covariance), np.array(off)
    solve(len(off), factor, solved)
    square: float = sum((off * solved).tolist())
    roots: list[float] = np.diagonal(factor).tolist()
    return -0.5 * square - sum(map(log, roots))
