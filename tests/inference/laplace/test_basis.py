"""The basis of the squared exponential: few functions, and exact."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from firmware_py.inference.laplace.arrays import Covariance, Interval
from firmware_py.inference.laplace.basis import (
    differentiate_functions,
    evaluate_functions,
    functions_needed,
)
from tests import reference
from tests.reference import FloatArray

LENGTHS_BARK = [1.5, 2.0, 3.0, 4.0, 7.0, 12.0, 40.0]
LOW, HIGH = reference.warp([125.0, 8000.0])
INTERVAL = Interval(0.5 * (LOW + HIGH), 0.5 * (HIGH - LOW))
MOST = 70  # functions, at 1.5 Bark


def _functions(x: FloatArray, length: float, sd_db: float = 1.0) -> FloatArray:
    count = functions_needed(length, INTERVAL.half_width, 200)
    phi = np.full((count, len(x)), np.nan)
    evaluate_functions(x, count, Covariance(length, sd_db), INTERVAL, phi)
    return phi


@pytest.mark.parametrize("length", [0.5, *LENGTHS_BARK])
def test_products_of_functions_sum_to_the_kernel(length: float) -> None:
    x = np.linspace(LOW, HIGH, 101)
    phi = _functions(x, length, sd_db=12.0)
    assert_allclose(phi.T @ phi, reference.kernel(x, x, length, 12.0), rtol=0.0, atol=144.0 * 5e-14)


@pytest.mark.parametrize("length", [0.5, *LENGTHS_BARK])
def test_slope_is_that_of_the_kernel(length: float) -> None:
    """By log length, K has the derivative K d**2 / l**2."""
    x = np.linspace(LOW, HIGH, 101)
    phi = _functions(x, length)
    slope = np.full_like(phi, np.nan)
    differentiate_functions(x, len(phi), length, INTERVAL, phi, slope)
    d = np.subtract.outer(x, x) / length
    expected = reference.kernel(x, x, length, 1.0) * d**2
    assert_allclose(slope.T @ phi + phi.T @ slope, expected, rtol=0.0, atol=1e-13)


def test_functions_are_few_and_fewer_for_longer_lengths() -> None:
    counts = [functions_needed(length, INTERVAL.half_width, MOST) for length in LENGTHS_BARK]
    assert counts == sorted(counts, reverse=True)
    assert 0 < counts[0] <= MOST
    assert counts[3] <= 28  # at 4 Bark, where the search begins
    assert functions_needed(1.5, INTERVAL.half_width, counts[0] - 1) == 0
