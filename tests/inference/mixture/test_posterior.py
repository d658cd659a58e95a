"""From hypotheses to what is said: weights, moments, quantiles, between the knots and beyond."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats
from scipy.special import logsumexp

from firmware_py import ThresholdEstimator
from firmware_py.inference.kernel import CONVERGED, NOT_POSITIVE_DEFINITE
from firmware_py.inference.mixture.arrays import LISTENER_ENTRIES, Mixture, Places, Prior
from firmware_py.inference.mixture.asked import whole_size
from firmware_py.inference.mixture.population_prior import Component, PopulationPrior
from firmware_py.inference.mixture.posterior import check_prior, sum_out_listeners, weigh
from firmware_py.inference.mixture.prediction import quantile
from tests.inference.mixture.mixture_state import (
    SimulatedEar,
    between_db2,
    hypotheses_of,
    scratch_for,
    session_with,
    twin,
    unknowns_of,
)
from tests.inference.mixture.population import KNOTS_HZ, POPULATION
from tests.inference.models import mixture_of
from tests.reference import FloatArray
from tests.reference_mixture import Listener, row_of

SEED = 20260501
ANSWERS = session_with(
    SimulatedEar(np.random.default_rng(SEED), Listener(3.0, 0.03, 0.03)), 9
)  # fmt: skip
# Knots, between them, and beyond the outermost.
ASKED_HZ = [60.0, 110.0, 125.0, 180.0, 250.0, 999.0, 1000.0, 1400.0, 5000.0, 8000.0, 11000.0]


def _after() -> ThresholdEstimator:
    return twin(ANSWERS, frequency_range_hz=(50.0, 16000.0)).estimator


def _components_at(
    estimator: ThresholdEstimator, frequency_hz: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, means and SDs of all hypotheses at a frequency, by dense algebra.

    They are those before any tone off the knots: the bend is as it was.
    """
    weight, mean, covariance = hypotheses_of(estimator)
    b = row_of(frequency_hz, np.array(KNOTS_HZ))
    variance = np.einsum("i,hij,j->h", b, covariance, b) + between_db2(frequency_hz, POPULATION)
    return weight, mean @ b, np.sqrt(variance)


def test_mean_and_sd_are_those_of_all_hypotheses() -> None:
    estimator = _after()
    mean_db_hl, sd_db = estimator.threshold(ASKED_HZ)
    for i, frequency_hz in enumerate(ASKED_HZ):
        weight, mean, sd = _components_at(estimator, frequency_hz)
        expected = weight @ mean
        variance = weight @ (sd**2 + (mean - expected) ** 2)
        assert mean_db_hl[i] == pytest.approx(expected, rel=1e-11)
        assert sd_db[i] == pytest.approx(math.sqrt(variance), rel=1e-11)


@pytest.mark.parametrize("probability_", [0.5, 0.95, 0.999])
def test_band_is_between_quantiles_of_the_mixture(probability_: float) -> None:
    """One Gaussian a component, the listeners summed out by their moments; brentq on its cdf."""
    estimator = _after()
    w, told = mixture_of(estimator).workspace, slice(unknowns_of(estimator))
    low_db_hl, high_db_hl = estimator.posterior_band(ASKED_HZ, probability_)
    for i, frequency_hz in enumerate(ASKED_HZ):
        b = row_of(frequency_hz, np.array(KNOTS_HZ))
        mean = w.mixture.mean_db_hl[:, told] @ b
        variance = np.einsum("i,kij,j->k", b, w.mixture.covariance[:, told, told], b)
        sd = np.sqrt(variance + between_db2(frequency_hz, POPULATION))

        def below(x: float, mean: FloatArray = mean, sd: FloatArray = sd) -> float:
            return float(w.mixture.weight @ stats.norm.cdf(x, mean, sd))

        for found, share in (
            (low_db_hl[i], 0.5 - 0.5 * probability_), (high_db_hl[i], 0.5 + 0.5 * probability_)
        ):  # fmt: skip
            expected = optimize.brentq(lambda x: below(x) - share, -2000.0, 2000.0, xtol=1e-12)  # noqa: B023
            assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("share", [5e-7, 1e-4, 0.025, 0.5, 0.9, 0.999, 1.0 - 5e-7])
def test_quantile_of_a_rare_component_far_away(share: float) -> None:
    """Most of the weight within a decibel, a thousandth of it forty decibels off."""
    weight = np.array([0.999, 0.001])
    mean, sd = np.array([10.0, 50.0]), np.array([0.4, 0.6])
    point_mean = weight @ mean
    point_sd = math.sqrt(weight @ (sd**2 + (mean - point_mean) ** 2))
    found = np.zeros(1)
    quantile(
        share, Places(np.zeros(1, np.int64), np.full(1, -1), np.zeros(1), np.zeros(1)),
        Mixture(weight, mean[:, np.newaxis], (sd**2)[:, np.newaxis, np.newaxis]),
        np.array([point_mean]), np.array([point_sd]), found,
    )  # fmt: skip
    expected = optimize.brentq(
        lambda x: float(weight @ stats.norm.cdf(x, mean, sd)) - share, -100.0, 200.0, xtol=1e-13
    )
    # Between the components next to nothing lies, and the distribution function is flat.
    assert float(weight @ stats.norm.cdf(found[0], mean, sd)) == pytest.approx(share, abs=1e-12)
    if share != 0.999:
        assert found[0] == pytest.approx(expected, abs=1e-6)


def test_weights_are_prior_times_evidence() -> None:
    rng = np.random.default_rng([SEED, 1])
    for components, listeners in ((1, 1), (4, 1), (3, 12), (15, 9)):
        log_component = np.log(rng.dirichlet(np.ones(components)))
        log_listener = np.log(rng.dirichlet(np.ones(listeners)))
        for size in (1.0, 30.0, 3000.0):
            log_evidence = rng.normal(-size, size, components * listeners)
            weight = np.full(components * listeners, np.nan)
            total = weigh(log_component, log_listener, log_evidence, weight)
            logs = (log_listener[:, np.newaxis] + log_component).ravel() + log_evidence
            assert total == pytest.approx(float(logsumexp(logs)), rel=1e-12)
            assert_allclose(weight, np.exp(logs - logsumexp(logs)), rtol=1e-9, atol=1e-290)


def test_summing_out_listeners_keeps_the_moments() -> None:
    rng = np.random.default_rng([SEED, 2])
    knots, components, listeners = 4, 3, 5
    count = components * listeners
    weight = rng.dirichlet(np.ones(count))
    weight[1::components] = 0.0  # a component without any weight left
    listener = rng.uniform(0.0, 5.0, (listeners, LISTENER_ENTRIES))
    prior_mean, mean = rng.normal(size=(components, knots)), rng.normal(size=(count, knots)) * 5.0
    a = rng.normal(size=(count, knots, knots))
    covariance = a @ a.transpose(0, 2, 1)
    found = Mixture(
        *(np.full((components, *shape), np.nan) for shape in ((), (knots,), (knots, knots)))
    )
    found_listener = np.full(LISTENER_ENTRIES, 9.0)
    status = sum_out_listeners(
        listener, weight, prior_mean, mean, covariance, found, found_listener
    )
    by_listener = weight.reshape(listeners, components)

    assert status == CONVERGED
    assert_allclose(found.weight, by_listener.sum(axis=0), rtol=1e-14)
    assert_allclose(found_listener, by_listener.sum(axis=1) @ listener, rtol=1e-13)
    for k in range(components):
        share = by_listener[:, k] / by_listener[:, k].sum() if k != 1 else np.full(5, 0.2)
        own = slice(k, None, components)
        expected = share @ mean[own]
        off = mean[own] - expected
        second = np.einsum("g,gij->ij", share, covariance[own])
        second += np.einsum("g,gi,gj->ij", share, off, off)
        assert_allclose(found.mean_db_hl[k], prior_mean[k] + expected, rtol=1e-12)
        assert_allclose(found.covariance[k], second, rtol=1e-12, atol=1e-12)


def test_a_prior_with_a_covariance_that_is_none_is_noticed() -> None:
    rng = np.random.default_rng([SEED, 3])
    a = rng.normal(size=(2, 5, 5))
    covariance = a @ a.transpose(0, 2, 1) + 0.1 * np.eye(5)
    prior = Prior(np.zeros(2), np.zeros((2, 5)), covariance)
    assert check_prior(prior, scratch_for(5, 1)) == CONVERGED
    covariance[1, 2, 2] = -1.0
    assert check_prior(prior, scratch_for(5, 1)) == NOT_POSITIVE_DEFINITE


@pytest.mark.parametrize(
    "told", [{}, {"response_noise_db": 2.0, "lapse_rate": 0.02, "false_alarm_rate": 0.02}]
)
def test_what_fills_up_stays_as_the_prior_has_it(told: dict[str, Any]) -> None:
    """An unknown that nothing depends on, so that there are whole lanes: no answer tells of it."""
    estimator = ThresholdEstimator(prior=POPULATION, **told)
    w = mixture_of(estimator).workspace
    filled = w.prior.covariance.shape[1]
    assert filled == whole_size(filled) > len(KNOTS_HZ)
    rng = np.random.default_rng(SEED)
    for _ in range(12):
        frequency_hz = float(rng.choice(KNOTS_HZ))
        estimator.observe(frequency_hz, float(rng.uniform(0.0, 60.0)), bool(rng.random() < 0.5))
    w = mixture_of(estimator).workspace
    for k in range(len(KNOTS_HZ), filled):
        assert np.all(w.mixture.mean_db_hl[:, k] == 0.0)
        assert_allclose(w.mixture.covariance[:, k, k], 1.0, rtol=1e-12)
        others = [a for a in range(filled) if a != k]
        assert_allclose(w.mixture.covariance[:, k, others], 0.0, atol=1e-12)


def test_prior_of_one_component_and_one_listener_is_a_gaussian() -> None:
    one: Component = POPULATION.components[2]
    prior = PopulationPrior(KNOTS_HZ, POPULATION.between_knots_sd_db, (one,), {})
    estimator = ThresholdEstimator(
        prior=prior, response_noise_db=2.0, lapse_rate=0.0, false_alarm_rate=0.0
    )
    mean_db_hl, sd_db = estimator.threshold(KNOTS_HZ)
    low_db_hl, high_db_hl = estimator.threshold_band(KNOTS_HZ, 0.9)
    assert_allclose(mean_db_hl, one.mean_db_hl, rtol=1e-14)
    assert_allclose(sd_db, np.sqrt(np.diag(one.covariance_db2)), rtol=1e-14)
    expected = stats.norm.interval(0.9, mean_db_hl, sd_db)
    assert_allclose((low_db_hl, high_db_hl), expected, rtol=1e-9)
    p = estimator.probability_heard(1000.0, 20.0)
    at = KNOTS_HZ.index(1000.0)
    z = (20.0 - mean_db_hl[at]) / math.hypot(sd_db[at], 2.0)
    assert p == pytest.approx(1e-4 + (1.0 - 2e-4) * stats.norm.cdf(z), rel=1e-9)
