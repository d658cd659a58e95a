"""The probability of an answer, and what an answer says of a threshold that is Gaussian."""

import math

import numpy as np

from firmware_py.inference.elementary import log, normal_cdf
from firmware_py.inference.kernel import CONVERGED, Array, Vector, entry, kernel
from firmware_py.inference.likelihood import log_normal_cdf, ratio
from host_tools.research.methods.interface import Task


def probability_heard(z: Array, task: Task) -> Array:
    """Return the chance that a tone z SDs above threshold is answered, lapses included.

    P = a + (1 - a - b) Phi(z), with a the false alarm rate and b the lapse rate.
    """
    p = np.empty(z.shape)
    _heard(
        z.size, np.ascontiguousarray(z).ravel(), task.false_alarm_rate, task.lapse_rate, p.ravel()
    )
    return p


@entry
def _heard(n: int, z: Vector, false_alarm_rate: float, lapse_rate: float, p: Vector) -> int:
    """Write a + (1 - a - b) Phi(z) of n numbers."""
    for i in range(n):
        p[i] = false_alarm_rate + (1.0 - false_alarm_rate - lapse_rate) * normal_cdf(z[i])
    return CONVERGED


@kernel
def answer_moments(
    sign: float, mean: float, variance: float, guess: float, honest: float, out: Array
) -> int:
    """Write log Z, its derivative by the mean, and that squared less twice that by the variance.

    Z = g + q Phi(y mean/s), s^2 = variance, the noise in it: y is the sign, g a guess, q honest.
    With r = phi/Phi at z = y mean/s, and p the part of q Phi in Z, the derivatives are y r p/s and
    r p (r p + z)/s^2.
    """
    s = math.sqrt(variance)
    z = sign * mean / s
    out[0] = log_normal_cdf(z) + log(honest)
    part = 1.0
    if guess > 0.0:
        p = honest * normal_cdf(z)
        out[0] = log(guess + p)
        part = p / (guess + p)
    rp = part * ratio(z)
    out[1] = sign * rp / s
    out[2] = rp * (rp + z) / (s * s)
    return CONVERGED
