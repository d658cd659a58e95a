"""What QUEST and Barthelmé-Mamassian share: frequencies, prior, grid, and where they come to."""

import numpy as np
import pytest
from scipy import stats

from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from host_tools.research.methods.interface import Task
from host_tools.research.methods.per_frequency import (
    PRIOR_SD_DB,
    frequencies_to_measure,
    normal_prior,
    prior_mean_db_hl,
    threshold_grid_db_hl,
)


@pytest.mark.parametrize(
    ("wanted_hz", "order_hz"),
    [
        (
            (250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000),
            (1000, 2000, 3000, 4000, 6000, 8000, 500, 250),
        ),
        ((500, 2000, 4000), (2000, 4000, 500)),
        ((250, 500), (500, 250)),
        ((375, 750), (750, 375)),
    ],
)
def test_the_conventional_frequencies_come_in_clinical_order(
    wanted_hz: tuple[float, ...], order_hz: tuple[float, ...]
) -> None:
    assert frequencies_to_measure(Task(audiogram_frequencies_hz=wanted_hz)) == order_hz


def test_the_prior_mean_is_the_regression_line_of_the_standard_audiograms_in_bark() -> None:
    bark = 6.0 * np.arcsinh(np.array(FREQUENCIES_HZ) / 600.0)
    mean_db_hl = np.mean(list(STANDARD_AUDIOGRAMS_DB_HL.values()), axis=0)
    line = np.polynomial.Polynomial.fit(bark, mean_db_hl, 1)

    for frequency_hz in (125.0, 1000.0, 8000.0):
        expected = line(6.0 * np.arcsinh(frequency_hz / 600.0))
        assert prior_mean_db_hl(frequency_hz) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mean_db_hl", [40.0, -400.0])
def test_the_prior_is_normal_even_far_from_the_grid(mean_db_hl: float) -> None:
    grid = threshold_grid_db_hl(Task(), 0.5)
    log_density = stats.norm.logpdf(grid, mean_db_hl, PRIOR_SD_DB)
    expected = np.exp(log_density - log_density.max())

    prior = normal_prior(grid, mean_db_hl)

    assert prior == pytest.approx(expected / expected.sum(), rel=1e-9, abs=1e-300)


def test_the_grid_reaches_20_db_beyond_both_limits() -> None:
    grid = threshold_grid_db_hl(Task(level_limits_db_hl=(-10.0, 100.0)), 0.3)

    assert grid[0] == -30.0
    assert 120.0 <= grid[-1] < 120.3
    assert np.diff(grid) == pytest.approx(0.3)
