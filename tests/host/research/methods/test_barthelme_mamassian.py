"""Barthelmé & Mamassian's method: its posterior and its next tone against brute force."""

import itertools

import numpy as np
import pytest
from scipy import stats

from host_tools.research.methods.barthelme_mamassian import (
    LAPSE_FACTORS,
    LAPSE_PROBABILITIES,
    RATE_MIN,
    SPREAD_FACTORS,
    SPREAD_PROBABILITIES,
    BarthelmeMamassian,
)
from host_tools.research.methods.interface import Array, Task
from host_tools.research.methods.per_frequency import PRIOR_SD_DB, prior_mean_db_hl
from tests.budget import quick
from tests.host.research.methods.listening import Answered, Listener, measure

TASK = Task(
    response_noise_db=3.0,
    lapse_rate=0.02,
    false_alarm_rate=0.03,
    level_limits_db_hl=(0.0, 60.0),
    audiogram_frequencies_hz=(500, 1000, 4000),
)
NOISY = Listener([500.0, 1000.0, 4000.0], [12.0, 33.0, 55.0], 3.0, 0.02, 0.03)


class BruteForce:
    """The posterior at one frequency: all sets of parameters, one by one, and Bayes' rule."""

    def __init__(self, task: Task, frequency_hz: float) -> None:
        low, high = task.level_limits_db_hl
        self.false_alarm_rate = task.false_alarm_rate
        rows, prior = [], []
        for threshold_db_hl in np.arange(low - 20.0, high + 20.5):
            density = stats.norm.pdf(threshold_db_hl, prior_mean_db_hl(frequency_hz), PRIOR_SD_DB)
            spreads = zip(SPREAD_FACTORS, SPREAD_PROBABILITIES, strict=True)
            lapses = zip(LAPSE_FACTORS, LAPSE_PROBABILITIES, strict=True)
            for (spread, p_spread), (lapse, p_lapse) in itertools.product(spreads, lapses):
                rows.append(
                    (
                        threshold_db_hl,
                        task.response_noise_db * spread,
                        max(task.lapse_rate * lapse, RATE_MIN),
                    )
                )
                prior.append(density * p_spread * p_lapse)
        self.threshold_db_hl, self.spread_db, self.lapse_rate = np.array(rows).T
        self.weight = np.array(prior) / sum(prior)

    def p_answer(self, level_db_hl: float, heard: bool) -> Array:
        cdf = stats.norm.cdf(level_db_hl, self.threshold_db_hl, self.spread_db)
        p = self.false_alarm_rate + (1.0 - self.false_alarm_rate - self.lapse_rate) * cdf
        return p if heard else 1.0 - p

    def observe(self, answered: list[Answered]) -> None:
        for tone in answered:
            self.weight = self.weight * self.p_answer(tone.level_db_hl, tone.heard)
            self.weight = self.weight / self.weight.sum()

    def moments(self) -> tuple[float, float]:
        mean = np.average(self.threshold_db_hl, weights=self.weight)
        variance = np.average((self.threshold_db_hl - mean) ** 2, weights=self.weight)
        return float(mean), float(variance)

    def expected_variance_db2(self, level_db_hl: float) -> float:
        """Over both answers: its probability times the variance after it."""
        before, expected = self.weight, 0.0
        for heard in (True, False):
            probability = float((before * self.p_answer(level_db_hl, heard)).sum())
            self.observe([Answered(0.0, level_db_hl, heard)])
            expected += probability * self.moments()[1]
            self.weight = before
        return expected


@pytest.fixture(params=quick([0, 1, 12, 45], 0, 12), ids=lambda tones: f"{tones}-tones")
def measurement(
    request: pytest.FixtureRequest,
) -> tuple[BarthelmeMamassian, dict[float, BruteForce]]:
    method = BarthelmeMamassian(TASK)
    answered = measure(method, NOISY, request.param)
    brute = {f: BruteForce(TASK, f) for f in method.frequencies_hz}
    for frequency_hz, posterior in brute.items():
        posterior.observe([tone for tone in answered if tone.frequency_hz == frequency_hz])
    return method, brute


def test_the_posterior_is_that_of_brute_force(
    measurement: tuple[BarthelmeMamassian, dict[float, BruteForce]],
) -> None:
    method, brute = measurement

    mean_db_hl, sd_db = method.threshold(list(brute))

    expected = [posterior.moments() for posterior in brute.values()]
    assert mean_db_hl == pytest.approx([mean for mean, _ in expected], abs=1e-8)
    assert sd_db**2 == pytest.approx([variance for _, variance in expected], rel=1e-8)


def test_the_next_tone_is_that_of_brute_force(
    measurement: tuple[BarthelmeMamassian, dict[float, BruteForce]],
) -> None:
    method, brute = measurement
    variance_db2 = {f: posterior.moments()[1] for f, posterior in brute.items()}
    totals_db2 = {
        (frequency_hz, level_db_hl): posterior.expected_variance_db2(level_db_hl)
        + sum(other for f, other in variance_db2.items() if f != frequency_hz)
        for frequency_hz, posterior in brute.items()
        for level_db_hl in np.arange(0.0, 60.5)
    }

    stimulus = method.next_stimulus()

    assert len(totals_db2) == 3 * 61
    asked_db2 = totals_db2[(stimulus.frequency_hz, stimulus.level_db_hl)]
    assert asked_db2 == pytest.approx(min(totals_db2.values()), rel=1e-9)
    assert asked_db2 < np.median(list(totals_db2.values()))


def test_the_levels_are_whole_db_and_both_limits() -> None:
    method = BarthelmeMamassian(Task(level_limits_db_hl=(-3.5, 5.2)))

    assert method.levels_db_hl.tolist() == [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5, 5.2]


@pytest.mark.parametrize("rate", [0.0, 0.45])
def test_answers_that_contradict_each_other_leave_a_posterior(rate: float) -> None:
    method = BarthelmeMamassian(
        Task(0.1, lapse_rate=rate, false_alarm_rate=rate, audiogram_frequencies_hz=(1000.0,))
    )
    for heard, level_db_hl in [(False, 110.0)] * 150 + [(True, -10.0)] * 150:
        method.observe(1000.0, level_db_hl, heard)

    mean_db_hl, sd_db = method.threshold([1000.0])

    assert np.all(np.isfinite([mean_db_hl, sd_db]))
    assert -30.0 < mean_db_hl[0] < 140.0
    assert sd_db[0] > 0.0
