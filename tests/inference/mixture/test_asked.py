"""Inference among the unknowns that were asked about, against all of them at once."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from firmware_py import ThresholdEstimator
from firmware_py.inference.mixture.arrays import Gaussian, Tones
from firmware_py.inference.mixture.asked import (
    NOBODY,
    Asked,
    among_asked,
    extend,
    find_asked,
    make_component,
    whole_size,
)
from tests.inference.mixture.mixture_state import scratch_for
from tests.inference.mixture.population import KNOTS_HZ, POPULATION
from tests.inference.models import mixture_of
from tests.reference import FloatArray

SEED = 20261126
KNOTS = 5
UNKNOWNS = 12  # knots, bends, and what fills up


def _room(n: int) -> Asked:
    cube = (1, UNKNOWNS, UNKNOWNS)
    places, unknowns = np.zeros((2, n), np.int64), np.zeros((2, UNKNOWNS), np.int64)
    made = np.zeros((1, 1), np.int64)
    return Asked(*places, *unknowns, *made, *np.zeros((3, *cube)), *np.zeros((1, 1)))


def _tones(left: list[int], fraction: list[float]) -> Tones:
    n = len(left)
    u = np.array(fraction)
    bow_db = np.where(u > 0.0, 2.0, 0.0)
    at = np.array(left, np.int64)
    bend = np.where(u > 0.0, KNOTS + at, NOBODY)
    return Tones(at, bend, np.ones(n, np.int64), u, bow_db, np.ones(n), np.zeros(n))


def _rows(tones: Tones) -> FloatArray:
    """Return what each tone sees of all unknowns, written down as `Places` says."""
    n = len(tones.left)
    rows, at = np.zeros((n, UNKNOWNS)), np.arange(n)
    rows[at, tones.left] += 1.0 - tones.fraction
    off = tones.fraction > 0.0
    rows[at[off], tones.left[off] + 1] += tones.fraction[off]
    rows[at[off], tones.bend[off]] += tones.bow_db[off]
    return rows


PLACES = st.lists(
    st.tuples(st.integers(0, KNOTS - 2), st.sampled_from([0.0, 0.0, 0.25, 0.9])),
    min_size=1, max_size=9,
)  # fmt: skip


@given(PLACES, st.integers(0, 2**32 - 1))
def test_the_posterior_of_all_follows_from_that_of_the_asked(
    places: list[tuple[int, float]], seed: int
) -> None:
    """Known sites: a linear regression over all unknowns has the same mean and covariance."""
    rng = np.random.default_rng(seed)
    tones = _tones(*map(list, zip(*places, strict=True)))
    n, asked = len(places), _room(len(places))
    size = find_asked(n, tones, asked)
    a = rng.normal(size=(UNKNOWNS, UNKNOWNS))
    prior_db2 = a @ a.T + 0.5 * np.eye(UNKNOWNS)
    scratch = scratch_for(UNKNOWNS, n)
    make_component(size, 0, prior_db2, asked, scratch.product, scratch.column)

    rows, tau, nu = _rows(tones), rng.uniform(0.0, 2.0, n), rng.normal(size=n)
    expected_db2 = np.linalg.inv(np.linalg.inv(prior_db2) + rows.T @ (tau[:, np.newaxis] * rows))
    expected = expected_db2 @ rows.T @ nu

    assert size == whole_size(size)
    of_asked = np.flatnonzero(asked.unknown[:size] != NOBODY)
    assert_array_equal(asked.unknown[of_asked], np.flatnonzero(rows.any(axis=0)))
    near = np.zeros((n, size))
    near[:, of_asked] = rows[:, asked.unknown[of_asked]]
    among_db2 = np.linalg.inv(
        asked.precision[0, :size, :size] + near.T @ (tau[:, np.newaxis] * near)
    )
    among = Gaussian(scratch.mean, scratch.covariance)
    among.covariance[:size, :size], among.mean[:size] = among_db2, among_db2 @ near.T @ nu
    found = Gaussian(np.zeros(UNKNOWNS), np.zeros((UNKNOWNS, UNKNOWNS)))
    extend(size, 0, asked, among, found, scratch.column)

    scale = float(np.linalg.cond(prior_db2)) * 1e-12
    assert_allclose(found.mean, expected, rtol=1e-9, atol=scale)
    assert_allclose(found.covariance, expected_db2, rtol=1e-9, atol=scale)
    among_tones = among_asked(tones, asked)
    for i in range(n):
        assert asked.unknown[among_tones.left[i]] == tones.left[i]
        if tones.fraction[i] > 0.0:
            assert asked.unknown[among_tones.left[i] + 1] == tones.left[i] + 1
            assert asked.unknown[among_tones.bend[i]] == tones.bend[i]


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
