"""Threshold curves that may be: a mixture of Gaussians over the thresholds at some frequencies."""

import math
from typing import NamedTuple

import numpy as np

from firmware_py.inference.kernel import Array


def mean_over(mean_db: Array, covariance_db2: Array) -> tuple[float, float]:
    """Return mean and SD of the mean over m frequencies, (m,) and (m, m), summed in one order."""
    count = len(mean_db)
    variance = sum(covariance_db2.ravel().tolist()) / count**2
    return sum(mean_db.tolist()) / count, math.sqrt(variance)


class Curves(NamedTuple):
    """A mixture of c Gaussians over the thresholds at m frequencies, dB HL.

    Sums over Gaussians are written out, in one order: the same bits on every machine.
    """

    weight: Array  # (c,), of each Gaussian
    mean_db_hl: Array  # (c, m)
    covariance_db2: Array  # (c, m, m)

    def or_else(self, others: "Curves", share: float) -> "Curves":
        """Return a mixture of these, with such a share, and of others."""
        weights = share * self.weight, (1.0 - share) * others.weight
        return Curves(
            np.concatenate(weights),
            np.concatenate([self.mean_db_hl, others.mean_db_hl]),
            np.concatenate([self.covariance_db2, others.covariance_db2]),
        )

    def moments(self) -> tuple[Array, Array]:
        """Return mean and covariance of the whole mixture."""
        weight = (self.weight / sum(self.weight.tolist())).tolist()
        mean_db_hl: Array = np.zeros(self.mean_db_hl.shape[1])
        for share, mean in zip(weight, self.mean_db_hl, strict=True):
            mean_db_hl += share * mean
        covariance_db2 = np.zeros((len(mean_db_hl), len(mean_db_hl)))
        for share, mean, own_db2 in zip(weight, self.mean_db_hl, self.covariance_db2, strict=True):
            off_db = mean - mean_db_hl
            covariance_db2 += share * (own_db2 + np.multiply.outer(off_db, off_db))
        return mean_db_hl, covariance_db2

    def strongest(self, count: int) -> "Curves":
        """Return so many Gaussians: those of the largest weights, and the others as one."""
        weight = self.weight.tolist()
        order = sorted(range(len(weight)), key=lambda i: -weight[i])
        if len(order) <= count:
            return self
        kept, others = order[: count - 1], order[count - 1 :]
        mean_db_hl, covariance_db2 = Curves(*(part[others] for part in self)).moments()
        return Curves(
            np.append(self.weight[kept], sum(weight[i] for i in others)),
            np.concatenate([self.mean_db_hl[kept], mean_db_hl[None]]),
            np.concatenate([self.covariance_db2[kept], covariance_db2[None]]),
        )
