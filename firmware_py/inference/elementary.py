"""Elementary and special functions with the same bits on every machine.

The C library's `erfc`, and in the last bit its `exp` and `log`, differ between machines. These are
made of additions, multiplications, divisions and square roots only, which IEEE 754 fixes to the
bit. Their error against exact values is stated and tested (tests/inference/test_elementary.py).

Arguments must be numbers in the stated domain. Outside it, at infinity and at NaN nothing is raised
and the result means nothing (`exp` alone keeps to its limits). The estimator accepts no such number
and the kernels compute none.
"""

import math
from typing import Final

import numpy as np

from firmware_py.inference.kernel import entry, kernel

SQRT_HALF: Final = math.sqrt(0.5)
SQRT_2_OVER_PI: Final = math.sqrt(2.0 / math.pi)
INV_SQRT_2PI: Final = 1.0 / math.sqrt(2.0 * math.pi)
LOG_2: Final = math.log(2.0)

# ln 2 in two parts: the high one has 32 trailing zero bits, so that an integer times it is exact.
_LN2_HIGH: Final = 6.93147180369123816490e-01
_LN2_LOW: Final = 1.90821492927058770002e-10
_INV_LN2: Final = 1.0 / math.log(2.0)

_EXP_LOW: Final = -708.0  # exp() is 0 below: subnormal results are of no use to a likelihood
_EXP_HIGH: Final = 709.0
_ROUND_TO_INTEGER: Final = 1.5 * 2.0**52  # adding it leaves no bits for a fraction

_EXP_COEFFICIENTS: Final = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))
_ATANH_COEFFICIENTS: Final = tuple(1.0 / (2 * k + 1) for k in range(10, 0, -1))

# (1 + 2t) exp(t^2) erfc(t) as a polynomial in u = (t - 3)/(t + 3), t >= 0: its Chebyshev series,
# computed with 60 digits and written in powers of u, even and odd powers apart (highest first).
# The form of the expansion is that of Shepherd & Laframboise, Math. Comp. 36 (1981) 249-253.
_ERFCX_CENTRE: Final = 3.0
_ERFCX_EVEN: Final = (
    -1.881936630944858e-10,
    2.0626322959832455e-09,
    -1.1734464137789657e-08,
    4.6950946691614734e-08,
    -1.4683175494120584e-07,
    3.603910925712771e-07,
    -7.33143259743597e-07,
    4.949988662264347e-06,
    -0.00010515990108729849,
    0.0018886903716907627,
    -0.023770514919506852,
    -0.11927366341528023,
    -0.04756229435345109,
    1.2530080582697296,
)
_ERFCX_ODD: Final = (
    -3.451497487664328e-11,
    1.2019719440135793e-09,
    -1.3906145791730994e-08,
    1.0277997488271058e-07,
    -6.175617678992323e-07,
    3.473024167841533e-06,
    -2.0100843094844725e-05,
    0.0001250994355712812,
    -0.0007798322884823084,
    0.0025293918180474668,
    0.06830802734384515,
    0.12964515870276475,
    -0.1356211061245812,
)


@entry
def exp(x: float) -> float:
    """`e**x`; 0 below -708, e**709 above 709. The relative error is below 3e-16 between them.

    Without a branch, so that loops over it can be vectorised.
    """
    bounded = min(max(x, _EXP_LOW), _EXP_HIGH)
    shifted = bounded * _INV_LN2 + _ROUND_TO_INTEGER
    k = shifted - _ROUND_TO_INTEGER
    r = (bounded - k * _LN2_HIGH) - k * _LN2_LOW
    p = 0.0
    for c in _EXP_COEFFICIENTS:
        p = p * r + c
    # The low bits of `shifted` are the integer k: moved to the exponent they are 2**k.
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return p * power if x >= _EXP_LOW else 0.0


@entry
def log(x: float) -> float:
    """`log x` of a normal positive x. Error below 1 unit in the last place."""
    bits = np.float64(x).view(np.int64)
    k = (bits >> 52) - 1023
    m = np.int64((bits & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)
    if m > 1.4142135623730951:
        m = 0.5 * m
        k = k + 1
    f = m - 1.0
    s = f / (2.0 + f)
    s2 = s * s
    p = 0.0
    for c in _ATANH_COEFFICIENTS:
        p = p * s2 + c
    # log m = 2 s (1 + s2 p), with 2 s = f - s f written as f less something small: f is exact.
    half = 0.5 * f * f
    correction = half - (s * (half + 2.0 * s2 * p) + k * _LN2_LOW)
    return k * _LN2_HIGH - (correction - f)


@kernel
def log1p(x: float) -> float:
    """`log(1 + x)` for x > -1, exact for tiny x too. Relative error below 5e-16."""
    u = 1.0 + x
    if u == 1.0:
        return x
    return log(u) * (x / (u - 1.0))


@kernel
def erfcx(t: float) -> float:
    """`exp(t**2) erfc(t)` for finite t >= 0. Relative error below 1e-15."""
    u = (t - _ERFCX_CENTRE) / (t + _ERFCX_CENTRE)
    u2 = u * u
    even = 0.0
    for c in _ERFCX_EVEN:
        even = even * u2 + c
    odd = 0.0
    for c in _ERFCX_ODD:
        odd = odd * u2 + c
    return (even + u * odd) / (1.0 + 2.0 * t)


@kernel
def erfc(t: float) -> float:
    """`erfc t`, the complementary error function, 0 beyond t = 26.6. Relative error below 2e-13.

    Most of it comes from rounding t**2 far out; up to t = 1 it is below 1e-15.
    """
    if t < 0.0:
        return 2.0 - erfcx(-t) * exp(-t * t)
    return erfcx(t) * exp(-t * t)


@entry
def normal_cdf(z: float) -> float:
    """`Phi(z)`, the standard normal distribution function, 0 below -37.6.

    Relative error below 5e-13 far out on the left, and below 2e-15 from -1 on.
    """
    return 0.5 * erfc(-z * SQRT_HALF)


@kernel
def binary_entropy(p: float) -> float:
    """`-p log2 p - (1 - p) log2(1 - p)`, without loss of digits for p near 0."""
    q = min(p, 1.0 - p)
    if q <= 0.0:
        return 0.0
    return -(q * log(q) + (1.0 - q) * log1p(-q)) / LOG_2
