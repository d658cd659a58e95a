"""How people answer: a Thurstone comparison with ties and lapses.

With the difference of the two utilities, D = s (u(first) - u(second)),

P(first) = (1 - l) Phi(D - t) + l_first, P(second) = (1 - l) Phi(-D - t) + l_second,

and the rest is "no difference": a person notes a difference only where it, with its noise, exceeds
t (Glenn & David, Biometrics 16 (1960) 86-109). l is the rate of answers that mean nothing, the sum
of those rates of each answer: some people say the first of what they heard, whatever it was.
"""

import math
from typing import Final

from firmware_py.inference.elementary import INV_SQRT_2PI, exp, normal_cdf
from firmware_py.inference.kernel import kernel
from firmware_py.inference.preference.answer import Answer
from firmware_py.inference.preference.arrays import LAPSES, People

FIRST, SECOND, SAME = range(3)
CODES: Final = {Answer.FIRST: FIRST, Answer.SECOND: SECOND, Answer.SAME: SAME}
ANSWERS: Final = 3
PROBABILITY_MIN: Final = 1e-12


@kernel
def attention(people: People, kind: int) -> float:
    """Return `1 - l` of a kind of people."""
    lapses = people.table[kind, LAPSES:]
    return float(1.0 - lapses[FIRST] - lapses[SECOND] - lapses[SAME])


@kernel
def lapses_to_come(people: People, kind: int, answer: int) -> float:
    """Return the rate of an answer that means nothing, before it is drawn which is heard first."""
    lapses = people.table[kind, LAPSES:]
    return float(lapses[SAME] if answer == SAME else 0.5 * (lapses[FIRST] + lapses[SECOND]))


@kernel
def probability(
    answer: int, difference: float, tie_width: float, attentive: float, lapses: float
) -> float:
    """P(answer | D); `lapses`: the rate of this answer that means nothing."""
    if answer == FIRST:
        meant = normal_cdf(difference - tie_width)
    elif answer == SECOND:
        meant = normal_cdf(-difference - tie_width)
    else:
        meant = 1.0 - normal_cdf(difference - tie_width) - normal_cdf(-difference - tie_width)
    return attentive * meant + lapses


@kernel
def expectation(
    answer: int, mean: float, variance: float, tie_width: float, attentive: float, lapses: float
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
    z = max(attentive * meant + lapses, PROBABILITY_MIN)
    return z, attentive * first / z, attentive * second / z
