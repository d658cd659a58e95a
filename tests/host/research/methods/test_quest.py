"""QUEST: its psychometric function, its posterior against SciPy, where it places the next tone."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from host_tools.research.methods.interface import Array, Task
from host_tools.research.methods.per_frequency import (
    PRIOR_SD_DB,
    Quest,
    prior_mean_db_hl,
    probability_heard,
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


def test_its_slope_is_that_of_a_response_noise_of_3_2_db() -> None:
    # The logarithm of a Weibull variable has the SD of the (minimum) Gumbel distribution.
    sd_db = 20.0 * math.log10(math.e) * stats.gumbel_l.std() / BETA

    assert sd_db == pytest.approx(3.2, abs=0.05)


@pytest.mark.parametrize("tones", [0, 1, 8, 40])
def test_the_posterior_is_that_of_a_dense_integration(tones: int) -> None:
    quest = Quest(Task())
    noisy = Listener(SLOPING.frequencies_hz, SLOPING.thresholds_db_hl, 3.0, 0.02, 0.02)
    answered = measure(quest, noisy, tones)

    mean_db_hl, sd_db = quest.threshold(quest.frequencies_hz)

    expected = [dense_moments(answered, f) for f in quest.frequencies_hz]
    assert mean_db_hl == pytest.approx([mean for mean, _ in expected], abs=0.03)
    assert sd_db == pytest.approx([sd for _, sd in expected], abs=0.03)


def test_answers_that_contradict_each_other_leave_a_posterior() -> None:
    quest = Quest(Task(audiogram_frequencies_hz=(1000.0,)))
    for _ in range(200):
        quest.observe(1000.0, 120.0, False)
        quest.observe(1000.0, -10.0, True)

    assert np.all(np.isfinite(quest.threshold([1000.0])))


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
