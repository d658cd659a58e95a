"""The prior mean: a straight line through the mean of the standard audiograms (paper, sec. 6)."""

from functools import cache
from math import fsum
from typing import Any, NamedTuple

from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from firmware_py.inference.scales import scale_named


class MeanLine(NamedTuple):
    """m(x) = intercept + slope x: in dB HL, and dB per unit of the scale."""

    intercept_db_hl: float
    slope: float

    def at(self, x: Any) -> Any:
        """Return m(x) of a number or an array."""
        return self.intercept_db_hl + self.slope * x


@cache
def mean_line(scale_name: str) -> MeanLine:
    """Return the prior mean on a scale.

    Ordinary least squares on the mean of the ten standard audiograms at their ten frequencies.
    `fsum` rounds once, so the line has the same bits everywhere.
    """
    warp = scale_named(scale_name).warp
    x = [warp(float(frequency_hz)) for frequency_hz in FREQUENCIES_HZ]
    audiograms = STANDARD_AUDIOGRAMS_DB_HL.values()
    y = [fsum(column) / len(column) for column in zip(*audiograms, strict=True)]
    x_mean = fsum(x) / len(x)
    y_mean = fsum(y) / len(y)
    covariance = fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    slope = covariance / fsum((a - x_mean) * (a - x_mean) for a in x)
    return MeanLine(y_mean - slope * x_mean, slope)
