"""The squared exponential kernel over an interval as a product of few functions.

Mehler's formula, with Hermite polynomials H_k and any t between 0 and 1, splits it into
exp(-(x - x')**2 / (2 l**2)) = sum_k phi_k(x) phi_k(x'), where

phi_k(x) = (1 - t**2)**(1/4) (t / 2)**(k/2) H_k(u) exp(-u**2 t / (1 + t)) / sqrt(k!),
u = (x - centre) sqrt((1 - t**2) / (2 t)) / l.

On an interval the sum ends early: with t by its half width in lengths, some 30 functions are exact
to rounding where the interval is ten lengths wide, 20 for five. They follow from one another by
the recursion of the Hermite polynomials, with one exponential each x; and so does their derivative
with respect to log l, because t may be held: the sum does not depend on it.
"""

import math
from typing import Final

from firmware_py.inference.elementary import exp
from firmware_py.inference.kernel import CONVERGED, Matrix, Vector, kernel
from firmware_py.inference.laplace.arrays import Covariance, Interval

# Functions that are smaller than this everywhere, squared and of the variance, are left out: less
# than the rounding of the sum of the others.
TAIL: Final = 1e-16
# t is near the one of the fewest functions if it is r / (r + this) for a half width of r lengths.
_HALF_WIDTH_OF_HALF: Final = 12.0


@kernel
def warp(length: float, half_width: float) -> tuple[float, float]:
    """`t = r / (r + 12)` for a half width of r lengths, and u / (x - centre)."""
    ratio = half_width / length
    t = ratio / (ratio + _HALF_WIDTH_OF_HALF)
    return t, math.sqrt((1.0 - t * t) / (2.0 * t)) / length


@kernel
def functions_needed(length: float, half_width: float, most: int) -> int:
    """`min k: phi_k(x)**2 < TAIL` on the whole interval; 0 if that is above `most`.

    The last functions are largest at the ends of the interval. One may be 0 there, but not two in
    succession, and the first ones rise.
    """
    t, scale = warp(length, half_width)
    u = scale * half_width
    before = 0.0
    value = math.sqrt(math.sqrt(1.0 - t * t)) * exp(-t / (1.0 + t) * u * u)
    total = 0.0
    for k in range(most):
        total += value * value
        if total > 0.5 and before * before + value * value < TAIL:
            return k - 1
        after = math.sqrt(2.0 * t / (k + 1)) * u * value - t * math.sqrt(k / (k + 1)) * before
        before, value = value, after
    return 0


@kernel
def evaluate_functions(
    x: Vector, functions: int, covariance: Covariance, interval: Interval, phi: Matrix
) -> int:
    """`s phi_k(x_j)` is written to phi[k, j], for k below `functions`."""
    t, scale = warp(covariance.length, interval.half_width)
    first = covariance.sd_db * math.sqrt(math.sqrt(1.0 - t * t))
    decay = -t / (1.0 + t)
    for j in range(len(x)):
        u = scale * (x[j] - interval.centre)
        phi[0, j] = first * exp(decay * u * u)
    for k in range(functions - 1):
        now, after, before = phi[k], phi[k + 1], phi[max(k - 1, 0)]
        rise, fall = math.sqrt(2.0 * t / (k + 1)) * scale, t * math.sqrt(k / (k + 1))
        for j in range(len(x)):
            after[j] = rise * (x[j] - interval.centre) * now[j] - fall * before[j]
    return CONVERGED


@kernel
def differentiate_functions(
    x: Vector, functions: int, length: float, interval: Interval, phi: Matrix, slope: Matrix
) -> int:
    """-u d phi_k / du = d phi_k(x_j) / d log l is written to slope[k, j]; phi as evaluated."""
    t, scale = warp(length, interval.half_width)
    for k in range(functions):
        now, before, out = phi[k], phi[max(k - 1, 0)], slope[k]
        decay, rise = 2.0 * t / (1.0 + t) * scale * scale, math.sqrt(2.0 * t * k) * scale
        for j in range(len(x)):
            d = x[j] - interval.centre
            out[j] = d * (decay * d * now[j] - rise * before[j])
    return CONVERGED
