"""The posterior over frequency, as it is drawn."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.kernel import Array
from firmware_py.procedure.audiogram import BAND_PROBABILITY

POINTS_PER_OCTAVE: Final = 8  # audiogram frequencies of whole octaves are among them


@dataclass(frozen=True)
class Curve:
    """Mean and 95 % band of the threshold, dB HL, at the frequencies of `frequencies_hz`."""

    mean_db_hl: Array
    low_db_hl: Array
    high_db_hl: Array


def frequencies_hz(range_hz: tuple[float, float]) -> list[float]:
    """Return the frequencies of a curve."""
    low_hz, high_hz = range_hz
    count = max(round(POINTS_PER_OCTAVE * np.log2(high_hz / low_hz)), 1) + 1
    inner = np.geomspace(low_hz, high_hz, count)[1:-1].tolist()
    return [low_hz, *inner, high_hz]


def curve_of(estimator: ThresholdEstimator) -> Curve:
    """Return the present posterior of an ear."""
    at = frequencies_hz(estimator.frequency_range_hz)
    mean_db_hl, _ = estimator.threshold(at)
    return Curve(mean_db_hl, *estimator.threshold_band(at, BAND_PROBABILITY))
