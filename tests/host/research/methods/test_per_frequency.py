"""QUEST against SciPy, and what it shares with Barthelmé-Mamassian: frequencies, prior, grid."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from host_tools.research.methods.interface import Array, Task
from host_tools.research.methods.per_frequency import (
    PRIOR_SD_DB,
    Quest,
    frequencies_to_measure,
    normal_prior,
    prior_mean_db_hl,
    probability_heard,
    threshold_grid_db_hl,
)
from tests.host.research.methods.listening import SLOPING, Answered, Listener, measure

BETA, DELTA, GAMMA = 3.5, 0.01, 0.01


def weibull(amplitude_ratio: Array) -> Array:
    """Watson & Pelli's function of the ratio of two amplitudes, by SciPy's distribution."""
    cdf = stats.weibull_min.cdf(amplitude_ratio, BETA)
    return DELTA * GAMMA + (1.0 - DELTA) * (GAMMA + (1.0 - GAMMA) * cdf)


# The ratio to its scale at which the Weibull function is 1/2.
HALF = optimize.brentq(lambda ratio: weibull(ratio) - 0.5, 0.1, 2.0)


def p_heard(level_db_hl: float, threshold_db_hl: Array) -> Array:
    return weibull(HALF * 10.0 ** ((level_db_hl - threshold_db_hl) / 20.0))


def dense_moments(answered: list[Answered], frequency_hz: float) -> tuple[float, float]:
    """Posterior mean and SD by integration over a grid ten times as fine as the method's."""
    threshold_db_hl = np.linspace(-30.0, 140.0, 8501)
    density = stats.norm.pdf(threshold_db_hl, prior_mean_db_hl(frequency_hz), PRIOR_SD_DB)
    for tone in answered:
        if tone.frequency_hz == frequency_hz:
            p = p_heard(tone.level_db_hl, threshold_db_hl)
            density = density * (p if tone.heard else 1.0 - p)
    density = density / integrate.simpson(density, x=threshold_db_hl)
    mean = integrate.simpson(density * threshold_db_hl, x=threshold_db_hl)
    variance = integrate.simpson(density * (threshold_db_hl - mean) ** 2, x=threshold_db_hl)
    return float(mean), math.sqrt(variance)


def test_the_psychometric_function_is_the_weibull_of_amplitudes() -> None:
    above_db = np.linspace(-40.0, 40.0, 33)

    assert probability_heard(0.0) == pytest.approx(0.5)
    assert probability_heard(above_db) == pytest.approx(
        weibull(HALF * 10.0 ** (above_db / 20.0)), abs=1e-12
    )
    assert probability_heard(-300.0) == pytest.approx(GAMMA)
    assert probability_heard(300.0) == pytest.approx(1.0 - DELTA * (1.0 - GAMMA))


@pytest.mark.parametrize("tones", [0, 1, 8, 40])
def test_the_posterior_is_that_of_a_dense_integration(tones: int) -> None:
    quest = Quest(Task())
    noisy = Listener(SLOPING.frequencies_hz, SLOPING.thresholds_db_hl, 3.0, 0.02, 0.02)
    answered = measure(quest, noisy, tones)

    mean_db_hl, sd_db = quest.threshold(quest.frequencies_hz)

    expected = [dense_moments(answered, f) for f in quest.frequencies_hz]
    assert mean_db_hl == pytest.approx([mean for mean, _ in expected], abs=0.03)
    assert sd_db == pytest.approx([sd for _, sd in expected], abs=0.03)


# Where the next tone is


def test_the_frequency_with_the_largest_sd_is_next() -> None:
    quest = Quest(Task())
    clear = 0
    for _ in range(40):
        sd_db = quest.threshold(quest.frequencies_hz)[1]
        stimulus = quest.next_stimulus()
        if np.diff(np.sort(sd_db))[-1] > 0.5:  # beyond what the limits of level take off
            clear += 1
            assert stimulus.frequency_hz == quest.frequencies_hz[int(np.argmax(sd_db))]
        measure(quest, SLOPING, 1)
    assert clear > 5


# What it shares with Barthelmé-Mamassian


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


def test_a_frequency_that_is_not_measured_is_refused() -> None:
    quest = Quest(Task(audiogram_frequencies_hz=(500.0, 1000.0)))
    with pytest.raises(ValueError, match="frequency_hz is 2000; allowed are 500, 1000 Hz"):
        quest.observe(2000.0, 30.0, True)
