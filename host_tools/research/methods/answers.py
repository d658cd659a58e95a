"""The probability of an answer, for the methods that are told the listener's noise and rates."""

import numpy as np

from firmware_py.inference.elementary import normal_cdf
from firmware_py.inference.kernel import CONVERGED, Array, Vector, entry
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
