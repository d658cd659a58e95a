"""What is known of an ear: its estimator after a replay, or the recorded thresholds alone."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.procedure.results import EarResult

# The mean, with its SD, of a mixture of Gaussians of one component: weight, mean and covariance.
Mixture = tuple[Array, Array, Array]


class KnownThresholds(Protocol):
    """What is known of the thresholds of an ear; `ThresholdEstimator` says each in full."""

    def threshold(self, frequencies_hz: Sequence[float]) -> tuple[Array, Array]:
        """Return mean and SD at these frequencies, dB HL and dB, (m,) each."""

    def joint_threshold(self, frequencies_hz: Sequence[float]) -> Mixture:
        """Return them jointly, as a mixture: weight (c,), mean (c, m), covariance (c, m, m)."""


class RecordedThresholds:
    """The thresholds that a result has, at its own frequencies.

    It does not say how they go together, so they move as one: no band of a mean over frequencies
    can then be too narrow. Where there is no number, a limit stands in its place.

    Parameters
    ----------
    found : EarResult
    """

    def __init__(self, found: EarResult) -> None:
        self._known = {
            each.frequency_hz: (
                each.threshold_db_hl if each.threshold_db_hl is not None else each.limit_db_hl or 0,
                each.sd_db or 0.0,
            )
            for each in found.thresholds
        }

    def threshold(self, frequencies_hz: Sequence[float]) -> tuple[Array, Array]:
        """Return mean and SD at frequencies of the result, dB HL and dB, (m,) each."""
        mean_db_hl, sd_db = zip(*(self._known[int(hz)] for hz in frequencies_hz), strict=True)
        return np.array(mean_db_hl, dtype=np.float64), np.array(sd_db)

    def joint_threshold(self, frequencies_hz: Sequence[float]) -> Mixture:
        """Return a mixture of one component: weight (1,), mean (1, m), covariance (1, m, m)."""
        mean_db_hl, sd_db = self.threshold(frequencies_hz)
        return np.ones(1), mean_db_hl[None], np.outer(sd_db, sd_db)[None]
