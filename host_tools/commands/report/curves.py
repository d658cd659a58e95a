"""The posterior over frequency, as it is drawn."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.threshold_estimates import BAND_PROBABILITY

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


def curve_of(ear: EarTest, above_db: float = 0.0) -> Curve:
    """Return the present posterior of an ear, within the levels that it could be asked.

    It is that of thresholds so much above 50 % points.
    """
    estimator = ear.estimator
    at_hz = frequencies_hz(estimator.frequency_range_hz)
    limits_db_hl = ear.levels.limits_db_hl(at_hz)
    levels_db_hl = estimator.threshold(at_hz)[0], *estimator.threshold_band(at_hz, BAND_PROBABILITY)
    floor_db_hl = ear.levels.floor_db_hl
    return Curve(*(np.clip(each + above_db, floor_db_hl, limits_db_hl) for each in levels_db_hl))
