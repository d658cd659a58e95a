"""Attention that wanders, against the sum over all ways of wandering."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from firmware_py import ThresholdEstimator
from firmware_py.inference.mixture.arrays import Wandering
from firmware_py.inference.mixture.wandering import (
    PROBABILITY_MIN,
    attending_probability,
    chance,
    follow_attention,
    rate_of,
)
from tests.inference.mixture.population import POPULATION
from tests.reference import FloatArray
from tests.reference_mixture import AWAY_AT_THE_START, RETURNS, WANDERS_OFF, log_of_wanderer

SEED = 20260701


def _all_ways(p: FloatArray, by_chance: float) -> tuple[FloatArray, float, float]:
    """Return for each answer how likely the others make it that one was away then.

    Also the same for the next answer, which has no answer of its own yet, and the log probability
    of all answers.
    """
    n = len(p)
    away_without, total_without = np.zeros(n), np.zeros(n)
    away_next = everything = 0.0
    for away in itertools.product((False, True), repeat=n + 1):
        weight = AWAY_AT_THE_START if away[0] else 1.0 - AWAY_AT_THE_START
        for before, after in itertools.pairwise(away):
            leaves = RETURNS if before else WANDERS_OFF
            weight *= leaves if before != after else 1.0 - leaves
        given = np.where(away[:n], by_chance, p)
        everything += weight * np.prod(given)
        away_next += weight * np.prod(given) * away[n]
        for i in range(n):
            others = weight * np.prod(np.delete(given, i))
            total_without[i] += others
            away_without[i] += others * away[i]
    return away_without / total_without, away_next / everything, float(np.log(everything))


@pytest.mark.parametrize("by_chance", [0.5, 1.0 / 3.0])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_recursions_sum_over_all_ways_of_wandering(n: int, by_chance: float) -> None:
    rng = np.random.default_rng([SEED, n])
    for _ in range(5):
        p = rng.choice([1e-4, 0.02, 0.3, 0.97], n) * rng.uniform(0.9, 1.0, n)
        wandering = Wandering(np.full(n + 1, np.nan), p, np.full(n, np.nan))
        follow_attention(n, by_chance, wandering)
        without, of_next, log_p = _all_ways(p, by_chance)
        assert_allclose(wandering.away[:n], without, rtol=1e-11)
        assert wandering.away[n] == pytest.approx(of_next, rel=1e-11)
        half_width_db = 0.0 if by_chance == 0.5 else 1.0
        found = log_of_wanderer([np.array([value]) for value in p], half_width_db)
        assert found[0] == pytest.approx(log_p, rel=1e-12)


def test_long_runs_neither_overflow_nor_vanish() -> None:
    for value in (1e-4, 0.999):
        wandering = Wandering(np.full(1025, np.nan), *np.full((2, 1024), value))
        follow_attention(1024, 0.5, wandering)
        assert np.all((wandering.away > 0.0) & (wandering.away < 1.0))
        assert (wandering.away[512] > 0.5) == (value < 0.5)


@pytest.mark.parametrize("wandering", [0.0, 0.02, 0.5, 0.99])
@pytest.mark.parametrize("half_width_db", [0.0, 2.0])
def test_rates_of_one_answer_mix_attention_and_chance(
    wandering: float, half_width_db: float
) -> None:
    by_chance = chance(half_width_db)
    assert by_chance == (1.0 / 3.0 if half_width_db else 0.5)
    rate = rate_of(wandering, by_chance, 0.02)
    assert rate == pytest.approx((1.0 - wandering) * 0.02 + wandering * by_chance, rel=1e-14)
    for p in (0.001, 0.4, 0.99):
        mixed = (1.0 - wandering) * p + wandering * by_chance
        assert attending_probability(wandering, by_chance, mixed) == pytest.approx(
            max(p, PROBABILITY_MIN), rel=1e-9
        )
    # Rounding, or another hypothesis, may ask for less than nothing.
    assert attending_probability(0.5, by_chance, 0.1) == PROBABILITY_MIN


def test_who_is_told_to_lapse_at_a_rate_does_not_wander() -> None:
    for told in ({"lapse_rate": 0.02}, {"false_alarm_rate": 0.02}):
        estimator = ThresholdEstimator(prior=POPULATION, **told)  # type: ignore[arg-type]
        for _ in range(4):
            estimator.observe(1000.0, 110.0, False)
        assert_allclose(estimator.attended, 1.0, rtol=0.0, atol=0.0)
    for profile in ("annealed-laplace", "gp-pta-2015"):
        other = ThresholdEstimator(profile)
        other.observe(1000.0, 40.0, True)
        assert_allclose(other.attended, [1.0])


def test_answers_that_the_others_contradict_are_thought_to_be_unattended() -> None:
    """Of someone whose threshold is known well, five loud tones in a row go unheard."""
    estimator = ThresholdEstimator(prior=POPULATION)
    for _ in range(5):
        for frequency_hz in (500.0, 1000.0, 2000.0):
            estimator.observe(frequency_hz, 20.0, True)
            estimator.observe(frequency_hz, 5.0, False)
    before = estimator.attended.copy()
    for frequency_hz in (1000.0, 2000.0, 500.0, 1000.0, 2000.0):
        estimator.observe(frequency_hz, 70.0, False)
    attended = estimator.attended
    (mean_db_hl,), _ = estimator.threshold([1000.0])

    assert len(attended) == estimator.trial_count == 35
    assert np.all((attended >= 0.0) & (attended <= 1.0))
    assert np.min(before) > 0.5
    assert np.max(attended[-4:]) < 0.5
    assert mean_db_hl == pytest.approx(12.5, abs=5.0)
    estimator.reset()
    assert len(estimator.attended) == 0
