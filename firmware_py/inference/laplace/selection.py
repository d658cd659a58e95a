"""Which tone to ask next: bits per second, the bits by the BALD objective of the paper (eq. 17).

BALD(x, h) = H2(Phi((h - mu) / sqrt(sigma**2 + s**2)))
             - C / sqrt(s**2 + C**2) exp(-(h - mu)**2 / (2 (s**2 + C**2))),
C = sigma sqrt(pi ln 2 / 2), with mu(x), s(x) the posterior mean and SD of the threshold. For a
given x the information has one maximum over h, at h = mu, and falls on both sides; within limits
the best allowed level is therefore the one nearest to mu. (The paper proves it for an approximation
of this expression; where s is small the expression itself dips below 0 far from mu, see `bald`.)

That is the paper's choice, where all tones take the same time. Where an answer and a silence do not
(`rate`), the best level has no closed form. It lies beyond the allowed level nearest to mu, on the
side of the cheaper answer: on the other both the information is less and the time more. The rate
has one maximum there, too (tested against brute force), which golden sections find.
"""

import math
from typing import Final

from firmware_py.inference.elementary import binary_entropy, exp, normal_cdf
from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED, Vector, entry, kernel
from firmware_py.inference.rate import Seconds, expected_seconds

HALF_PI_LN2: Final = 0.5 * math.pi * math.log(2.0)

# Beyond so many SDs of the answer nearly nothing is told, however cheap it is.
REACH_SDS: Final = 4.0
GOLDEN: Final = 0.5 * (math.sqrt(5.0) - 1.0)
SECTIONS: Final = 20  # to within 7e-5 of the reach


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


@kernel
def seconds_of(
    mean_db_hl: float, sd_db: float, level_db_hl: float, noise_db: float, seconds: Seconds
) -> float:
    """T = P t_answered + (1 - P) t_silent, P = Phi(d / sqrt(sigma**2 + s**2)), d = h - mu."""
    spread_db = math.sqrt(noise_db * noise_db + sd_db * sd_db)
    return expected_seconds(normal_cdf((level_db_hl - mean_db_hl) / spread_db), seconds)


@kernel
def bits_per_second(
    mean_db_hl: float, sd_db: float, level_db_hl: float, noise_db: float, seconds: Seconds
) -> float:
    """BALD / T: information about the threshold expected of a second spent on this tone."""
    taken = seconds_of(mean_db_hl, sd_db, level_db_hl, noise_db, seconds)
    return bald(mean_db_hl, sd_db, level_db_hl, noise_db) / taken


@kernel
def best_level(
    mean_db_hl: float, sd_db: float, noise_db: float, low_db_hl: float, high_db_hl: float,
    seconds: Seconds,
) -> float:  # fmt: skip
    """`argmax BALD(h) / T(h)` over the allowed levels of one candidate."""
    nearest = min(max(mean_db_hl, low_db_hl), high_db_hl)
    if seconds.answered == seconds.silent:
        return nearest
    reach = REACH_SDS * math.sqrt(noise_db * noise_db + sd_db * sd_db)
    if seconds.answered < seconds.silent:
        far = max(min(mean_db_hl + reach, high_db_hl), nearest)
    else:
        far = min(max(mean_db_hl - reach, low_db_hl), nearest)
    near = nearest
    for _ in range(SECTIONS):
        nearer, farther = far - GOLDEN * (far - near), near + GOLDEN * (far - near)
        # Where both are 0 the maximum is nearer.
        if bits_per_second(mean_db_hl, sd_db, nearer, noise_db, seconds) >= bits_per_second(
            mean_db_hl, sd_db, farther, noise_db, seconds
        ):
            far = farther
        else:
            near = nearer
    if bits_per_second(mean_db_hl, sd_db, near, noise_db, seconds) >= bits_per_second(
        mean_db_hl, sd_db, far, noise_db, seconds
    ):
        return near
    return far


@entry
def select(
    mean_db_hl: Vector, sd_db: Vector, noise_db: float, weight: Vector, level_min_db_hl: Vector,
    level_max_db_hl: Vector, seconds: Seconds, choice: Vector,
) -> int:  # fmt: skip
    """`argmax weight(x) BALD(x, h) / T(x, h)`: the best candidate and its best allowed level.

    Parameters
    ----------
    mean_db_hl, sd_db : the posterior at each candidate.
    noise_db : response noise.
    weight : factor on the objective of each; 0 forbids a candidate.
    level_min_db_hl, level_max_db_hl : lowest and highest allowed level at each candidate.
    seconds : what a presentation takes.
    choice : (CHOICE_ENTRIES,) out: index of the candidate, level in dB HL, information in bits (not
        weighted), expected seconds.
    """
    best = -1.0
    for j in range(len(weight)):
        if weight[j] <= 0.0:
            continue
        level = best_level(
            mean_db_hl[j], sd_db[j], noise_db, level_min_db_hl[j], level_max_db_hl[j], seconds
        )
        bits = bald(mean_db_hl[j], sd_db[j], level, noise_db)
        taken = seconds_of(mean_db_hl[j], sd_db[j], level, noise_db, seconds)
        if weight[j] * (bits / taken) > best:
            best = weight[j] * (bits / taken)
            choice[0] = j
            choice[1] = level
            choice[2] = bits
            choice[3] = taken
    return CONVERGED if best >= 0.0 else NONE_ALLOWED
