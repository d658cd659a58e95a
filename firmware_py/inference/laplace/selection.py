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
from firmware_py.inference.kernel import (
    CONVERGED,
    F8,
    I8,
    NONE_ALLOWED,
    VECTOR,
    Array,
    entry,
    kernel,
)

HALF_PI_LN2: Final = 0.5 * math.pi * math.log(2.0)


@kernel
def binary_entropy_of_normal(z: float) -> float:
    """Return H2(Phi(z)) in bits, without loss in the tails."""
    return binary_entropy(normal_cdf(-abs(z)))  # the smaller of the two probabilities


@kernel
def bald(mean_db_hl: float, sd_db: float, level_db_hl: float, noise_db: float) -> float:
    """Return the information about the threshold expected from one answer, in bits.

    Houlsby's exponential stands for an entropy and is a little too large far from mu, where the
    difference would be negative; it is 0 there.
    """
    d = level_db_hl - mean_db_hl
    variance = sd_db * sd_db
    c2 = noise_db * noise_db * HALF_PI_LN2
    total = binary_entropy_of_normal(d / math.sqrt(noise_db * noise_db + variance))
    expected = math.sqrt(c2 / (variance + c2)) * exp(-0.5 * d * d / (variance + c2))
    return max(total - expected, 0.0)


@entry(I8, I8, VECTOR, VECTOR, F8, VECTOR, F8, VECTOR, VECTOR)
def select(
    points: int,
    mean_db_hl: Array,
    sd_db: Array,
    noise_db: float,
    weight: Array,
    level_min_db_hl: float,
    level_max_db_hl: Array,
    choice: Array,
) -> int:
    """Find the stimulus of the largest weighted objective over x and the allowed levels.

    Parameters
    ----------
    points, mean_db_hl, sd_db : candidates and the posterior there.
    noise_db : response noise.
    weight : (points,) factor on the objective; 0 forbids a candidate.
    level_min_db_hl, level_max_db_hl : lowest allowed level, and (points,) the highest at each.
    choice : (3,) out: index of the candidate, level in dB HL, information in bits (not weighted).
    """
    best = -1.0
    for j in range(points):
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
