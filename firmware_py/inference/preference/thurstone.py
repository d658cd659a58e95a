"""How people answer: a Thurstone comparison with ties and lapses.

With the difference of the two utilities, D = s (u(first) - u(second)),

P(first) = (1 - l) Phi(D - t) + l / 3, P(second) = (1 - l) Phi(-D - t) + l / 3,

and the rest is "no difference": a person notes a difference only where it, with its noise, exceeds
t (Glenn & David, Biometrics 16 (1960) 86-109). l is the rate of answers that mean nothing.
"""

import math
from typing import Final

from firmware_py.inference.elementary import INV_SQRT_2PI, exp, normal_cdf
from firmware_py.inference.kernel import kernel
from firmware_py.inference.preference.answer import Answer

FIRST, SECOND, SAME = range(3)
CODES: Final = {Answer.FIRST: FIRST, Answer.SECOND: SECOND, Answer.SAME: SAME}
ANSWERS: Final = 3
PROBABILITY_MIN: Final = 1e-12


@kernel
def probability(answer: int, difference: float, tie_width: float, lapse_rate: float) -> float:
    """P(answer | D)."""
    if answer == FIRST:
        meant = normal_cdf(difference - tie_width)
    elif answer == SECOND:
        meant = normal_cdf(-difference - tie_width)
    else:
        meant = 1.0 - normal_cdf(difference - tie_width) - normal_cdf(-difference - tie_width)
    return (1.0 - lapse_rate) * meant + lapse_rate / ANSWERS


@kernel
def expectation(
    answer: int, mean: float, variance: float, tie_width: float, lapse_rate: float
) -> tuple[float, float, float]:
    """Z = E[P(answer | D)] for D ~ N(mean, variance), and its derivatives by the mean, over Z.

    Returns Z, Z' / Z and Z'' / Z. With q = 1 / sqrt(1 + variance), E[Phi(D - t)] = Phi(q (mean -
    t)), and the derivatives of that are q phi(z) and -q**2 z phi(z).
    """
    q = 1.0 / math.sqrt(1.0 + variance)
    upper = q * (mean - tie_width)
    lower = q * (-mean - tie_width)
    bell_upper = INV_SQRT_2PI * exp(-0.5 * upper * upper)
    bell_lower = INV_SQRT_2PI * exp(-0.5 * lower * lower)
    if answer == FIRST:
        meant, first, second = normal_cdf(upper), q * bell_upper, -q * q * upper * bell_upper
    elif answer == SECOND:
        meant, first, second = normal_cdf(lower), -q * bell_lower, -q * q * lower * bell_lower
    else:
        meant = 1.0 - normal_cdf(upper) - normal_cdf(lower)
        first = q * (bell_lower - bell_upper)
        second = q * q * (upper * bell_upper + lower * bell_lower)
    attentive = 1.0 - lapse_rate
    z = max(attentive * meant + lapse_rate / ANSWERS, PROBABILITY_MIN)
    return z, attentive * first / z, attentive * second / z
