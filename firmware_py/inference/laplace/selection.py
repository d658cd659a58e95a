"""Which tone to ask next: the BALD objective of the paper (equation 17), in bits.

BALD(x, h) = H2(Phi((h - mu) / sqrt(sigma**2 + s**2)))
             - C / sqrt(s**2 + C**2) exp(-(h - mu)**2 / (2 (s**2 + C**2))),
C = sigma sqrt(pi ln 2 / 2), with mu(x), s(x) the posterior mean and SD of the threshold. For a
given x the information has one maximum over h, at h = mu, and falls on both sides; within limits
the best allowed level is therefore the one nearest to mu. (The paper proves it for an approximation
of this expression; where s is small the expression itself dips below 0 far from mu, see `bald`.)
"""

import math
from typing import Final

from firmware_py.inference.elementary import binary_entropy, exp, normal_cdf
from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED, Vector, entry, kernel

HALF_PI_LN2: Final = 0.5 * math.pi * math.log(2.0)


@kernel
def binary_entropy_of_normal(z: float) -> float:
    """H2(Phi(z)) in bits, without loss in the tails."""
    return binary_entropy(normal_cdf(-abs(z)))  # the smaller of the two probabilities


@kernel
def bald(mean_db_hl: float, sd_db: float, level_db_hl: float, noise_db: float) -> float:
    """H2(Phi(d / sqrt(sigma**2 + s**2))) - C / sqrt(s**2 + C**2) exp(-d**2 / (2 (s**2 + C**2))).

    That is the information about the threshold expected from one answer, in bits, d = h - mu.
    Houlsby's exponential approximates an entropy and is a little too large far from mu, where the
    difference would be negative: there the result is 0.
    """
    d = level_db_hl - mean_db_hl
    variance = sd_db * sd_db
    c2 = noise_db * noise_db * HALF_PI_LN2
    total = binary_entropy_of_normal(d / math.sqrt(noise_db * noise_db + variance))
    expected = math.sqrt(c2 / (variance + c2)) * exp(-0.5 * d * d / (variance + c2))
    return max(total - expected, 0.0)


@entry
def select(
    mean_db_hl: Vector, sd_db: Vector, noise_db: float, weight: Vector, level_min_db_hl: float,
    level_max_db_hl: Vector, choice: Vector,
) -> int:  # fmt: skip
    """`argmax weight(x) BALD(x, h)` over x and h: the best candidate and its best allowed level.

    Parameters
    ----------
    mean_db_hl, sd_db : the posterior at each candidate.
    noise_db : response noise.
    weight : factor on the objective of each; 0 forbids a candidate.
    level_min_db_hl, level_max_db_hl : lowest allowed level, and the highest at each candidate.
    choice : (3,) out: index of the candidate, level in dB HL, information in bits (not weighted).
    """
    best = -1.0
    for j in range(len(weight)):
        if weight[j] <= 0.0:
            continue
        level = min(max(mean_db_hl[j], level_min_db_hl), level_max_db_hl[j])
        bits = bald(mean_db_hl[j], sd_db[j], level, noise_db)
        if weight[j] * bits > best:
            best = weight[j] * bits
            choice[0] = j
            choice[1] = level
            choice[2] = bits
    return CONVERGED if best >= 0.0 else NONE_ALLOWED
