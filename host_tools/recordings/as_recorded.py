"""What is known of an ear: its estimator after a replay, or the recorded thresholds alone."""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.terms.results import EarResult

# Of Gaussians: weight, mean and covariance of each.
Mixture = tuple[Array, Array, Array]
# By so much the SDs of a result are taken wider. It does not say how its thresholds go together, so
# they are taken as independent; neighbours are not quite. The mean of four is then no surer, nor is
# a difference, than after a replay of the golden sessions (`tests/host/recordings`).
WIDER: Final = 1.15


class KnownThresholds(Protocol):
    """What is known of the thresholds of an ear; `ThresholdEstimator` says each in full."""

    def threshold(self, frequencies_hz: Sequence[float]) -> tuple[Array, Array]:
        """Return mean and SD at these frequencies, dB HL and dB, (m,) each."""

    def joint_threshold(self, frequencies_hz: Sequence[float]) -> Mixture:
        """Return them jointly, as a mixture: weight (c,), mean (c, m), covariance (c, m, m)."""


class RecordedThresholds:
    """The thresholds of a result, at its own frequencies; a limit where there is no number."""

    def __init__(self, found: EarResult) -> None:
        self._known = {
            each.frequency_hz: (
                each.threshold_db_hl if each.threshold_db_hl is not None else each.limit_db_hl or 0,
                each.sd_db or 0.0,
            )
            for each in found.thresholds
        }

    def threshold(self, frequencies_hz: Sequence[float]) -> tuple[Array, Array]:
        mean_db_hl, sd_db = zip(*(self._known[int(hz)] for hz in frequencies_hz), strict=True)
        return np.array(mean_db_hl, dtype=np.float64), np.array(sd_db)

    def joint_threshold(self, frequencies_hz: Sequence[float]) -> Mixture:
        mean_db_hl, sd_db = self.threshold(frequencies_hz)
        return np.ones(1), mean_db_hl[None], np.diag(np.square(WIDER * sd_db))[None]
