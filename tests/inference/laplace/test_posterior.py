"""Laplace's approximation at given hyperparameters against the SciPy reference, and its basis."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from firmware_py.inference.kernel import CONVERGED
from firmware_py.inference.laplace.arrays import Covariance, Interval
from firmware_py.inference.laplace.basis import (
    differentiate_functions,
    evaluate_functions,
    functions_needed,
)
from tests import reference
from tests.inference.laplace.laplace_state import (
    RELATIVE,
    DataSet,
    State,
    random_data_set,
    rounding_of,
    run_kernels,
)
from tests.reference import FloatArray, Posterior, Scale
from tests.test_reference import CASES, PREDICT_AT, Case

SCALES: list[Scale] = ["bark", "traunmuller", "mel", "log2"]
KINDS = [
    "random", "consistent", "repeated tones", "one frequency", "contradictory", "noise of its own",
]  # fmt: skip
SIZES = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 128]
PREDICTED_HZ = np.array([125.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0])


def _agrees(data: DataSet) -> None:
    x_star = np.r_[reference.warp(PREDICTED_HZ, data.scale), data.x[:3]]
    expected = data.posterior()
    state = run_kernels(data, x_star)
    _agree(data, x_star, state, expected)
    if state.rank > 0:
        _agree(data, x_star, run_kernels(data, x_star, dense=True), expected)


def _agree(data: DataSet, x_star: FloatArray, state: State, expected: Posterior) -> None:
    mean_db_hl, sd_db = expected.predict(x_star)
    rounding = rounding_of(data, expected, x_star)
    # A mode near 0 is as well known as the others beside it.
    size_db = np.max(np.abs(expected.mode_db))

    assert state.status == CONVERGED
    difference_db = np.abs(state.mode_db - expected.mode_db)
    assert np.all(difference_db <= RELATIVE * size_db + rounding.mode_db + 1e-200)
    assert abs(state.log_evidence - expected.log_evidence) <= (
        RELATIVE * abs(expected.log_evidence) + rounding.log_evidence
    )
    difference = np.abs(state.gradient - expected.gradient)
    size = np.max(np.abs(expected.gradient))
    assert np.all(difference <= RELATIVE * size + rounding.gradient)
    difference_db = np.abs(state.mean_db_hl - mean_db_hl)
    assert np.all(difference_db <= RELATIVE * np.abs(mean_db_hl) + rounding.mean_db_hl)
    assert_allclose(state.sd_db, sd_db, rtol=RELATIVE)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_the_reference(kind: str, scale: Scale) -> None:
    rng = np.random.default_rng([KINDS.index(kind), SCALES.index(scale)])
    for trials in SIZES:
        _agrees(random_data_set(rng, trials, kind, scale))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_60_digits(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases, some far out on a cliff, that mpmath has computed for the reference."""
    monkeypatch.setattr(reference, "prior_mean_line", lambda scale: (32.0, 2.5))
    noise_db = np.full(len(case.x), case.response_noise_db)
    data = DataSet(
        "bark", np.array(case.x), np.array(case.level_db_hl), np.array(case.heard),
        case.length, case.sd_db, noise_db,
    )  # fmt: skip
    state = run_kernels(data, np.array(PREDICT_AT))

    assert state.status == CONVERGED
    assert_allclose(state.mode_db, case.mode_db, rtol=1e-9, atol=1e-200)
    assert_allclose(state.log_evidence, case.log_evidence, rtol=1e-9, atol=1e-14)
    size = float(np.max(np.abs(case.gradient)))
    assert_allclose(state.gradient, case.gradient, rtol=1e-9, atol=1e-9 * size + 1e-14)
    assert_allclose(state.mean_db_hl, case.mean_db_hl, rtol=1e-9)
    assert_allclose(state.sd_db, case.predicted_sd_db, rtol=1e-9)


def test_warm_start_ends_where_a_cold_one_does() -> None:
    """A start from elsewhere with wild weights changes nothing."""
    rng = np.random.default_rng(20260105)
    for kind in KINDS:
        data = random_data_set(rng, 30, kind, "bark")._replace(noise_db=np.full(30, 2.0))
        cold = run_kernels(data, np.zeros(1))
        a_wild = rng.normal(size=30) * 10.0
        warm = run_kernels(data, np.zeros(1), a_start=a_wild)
        assert warm.status == CONVERGED
        assert_allclose(warm.mode_db, cold.mode_db, rtol=1e-8, atol=1e-8)
        assert_allclose(warm.log_evidence, cold.log_evidence, rtol=1e-9)


# --- the basis of the squared exponential: few functions, and exact ---


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
