"""The exact posterior of a wish at some thousand points, drawn where EP says that it is.

One Gaussian for each kind of people is too narrow where an answer may have been a lapse. A wish has
few dimensions, so the exact posterior can be had by importance sampling: points of a product of
logistic distributions, whose tails are longer than a Gaussian's, laid about the mean and along the
covariance that expectation propagation found, and weighed by prior and likelihood over all kinds.
"""

import math
from typing import Final

import numpy as np

from firmware_py.inference.elementary import exp, log, log1p
from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Matrix,
    Vector,
    entry,
    kernel,
)
from firmware_py.inference.linear_algebra import cholesky
from firmware_py.inference.preference.arrays import (
    LAPSES,
    SENSITIVITY,
    TIE_WIDTH,
    Comparisons,
    People,
    Sample,
    Space,
    StandardPoints,
    Wishes,
)
from firmware_py.inference.preference.thurstone import attention, probability

POINTS: Final = 2048
# The SD of a standard logistic distribution is pi / sqrt(3); points lie this many SDs wider.
SPREAD: Final = 1.4 * math.sqrt(3.0) / math.pi
KIND_MIN: Final = 1e-4  # posterior probability of a kind of people that is looked at


def _golden_ratio(d: int) -> float:
    """Return the root of x**(d + 1) = x + 1 by halving: a library's power has bits of its own."""
    low, high = 1.0, 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        power = 1.0
        for _ in range(d + 1):
            power *= middle
        low, high = (middle, high) if power < middle + 1.0 else (low, middle)
    return low


def standard_points(d: int) -> StandardPoints:
    """Return `POINTS` points.

    An additive recurrence fills the cube evenly (the sequence of the generalised golden ratio).
    """
    golden = _golden_ratio(d)
    points, log_density = np.zeros((POINTS, d)), np.zeros(POINTS)
    step = 1.0
    for j in range(d):
        step /= golden
        for i in range(POINTS):
            u = (0.5 + (i + 1) * step) % 1.0
            u = min(max(u, 1e-9), 1.0 - 1e-9)
            z = log(u) - log1p(-u)
            points[i, j] = z
            log_density[i] -= abs(z) + 2.0 * log1p(exp(-abs(z)))
    return StandardPoints(points, log_density)


@kernel
def log_likelihood(
    n: int, asked: Comparisons, people: People, kinds: Vector, wish: Vector
) -> float:
    """Log probability of all answers for somebody with this wish, of any kind.

    `kinds`: the prior shares of those that are looked at; 0 of the others.
    """
    total = 0.0
    for kind in range(len(kinds)):
        product = kinds[kind]
        if product == 0.0:
            continue
        s, width = people.table[kind, SENSITIVITY], people.table[kind, TIE_WIDTH]
        attentive = attention(people, kind)
        for a in range(n):
            difference = -asked.offset[a]
            for i in range(len(wish)):
                difference += asked.slope[a, i] * wish[i]
            lapses = people.table[kind, LAPSES + asked.heard[a]]
            product *= probability(asked.answer[a], s * difference, width, attentive, lapses)
        total += product
    return log(max(total, 1e-300))


@kernel
def moments(wish: Matrix, weight: Vector, mean: Vector, covariance: Matrix) -> int:
    """Compute mean and covariance of weighted points."""
    d = len(mean)
    for i in range(d):
        mean[i] = 0.0
        for p in range(len(weight)):
            mean[i] += weight[p] * wish[p, i]
    for i in range(d):
        for j in range(d):
            covariance[i, j] = 0.0
            for p in range(len(weight)):
                covariance[i, j] += weight[p] * (wish[p, i] - mean[i]) * (wish[p, j] - mean[j])
    return CONVERGED


@entry
def weigh_points(
    n: int, asked: Comparisons, people: People, space: Space, wishes: Wishes,
    points: StandardPoints, centre: Vector, factor: Matrix, kinds: Vector, sample: Sample,
) -> int:  # fmt: skip
    """Lay the points and weigh them.

    Parameters
    ----------
    n, asked, people, space, wishes : as `infer_wish` left them.
    points : of `standard_points`.
    centre : (d,) the mean by EP. factor : (d, d) in: the covariance by EP; out: its factor.
    kinds : (k,) scratch.
    sample : out.

    Returns
    -------
    status : CONVERGED or NOT_POSITIVE_DEFINITE.
    """
    d, wish, weight = len(centre), sample.wish, sample.weight
    if cholesky(d, factor) != CONVERGED:
        return NOT_POSITIVE_DEFINITE
    for kind in range(len(kinds)):
        looked_at = wishes.weight[kind] >= KIND_MIN
        kinds[kind] = exp(people.log_share[kind]) if looked_at else 0.0
    highest = -math.inf
    for p in range(len(weight)):
        prior = 0.0
        for i in range(d):
            wish[p, i] = centre[i]
            for j in range(i + 1):  # the factor is upper: C = U'U
                wish[p, i] += SPREAD * factor[j, i] * points.point[p, j]
            prior -= 0.5 * space.prior_precision[i] * wish[p, i] * wish[p, i]
        weight[p] = prior - points.log_density[p] + log_likelihood(n, asked, people, kinds, wish[p])
        highest = max(highest, weight[p])
    total = 0.0
    for p in range(len(weight)):
        weight[p] = exp(weight[p] - highest)
        total += weight[p]
    for p in range(len(weight)):
        weight[p] /= total
    moments(wish, weight, sample.mean, sample.covariance)
    return CONVERGED
