"""The response model: log Phi and its three derivatives, from z = -1e4 to 1e4."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from firmware_py.inference.likelihood import differences, log_normal_cdf, probit, ratio
from tests import reference
from tests.reference import FloatArray
from tests.test_reference import LIKELIHOOD, SMALLEST_NORMAL


def _probit(
    z: FloatArray, label: FloatArray | float = 1.0, noise_db: FloatArray | float = 1.0,
    f_db_max: float = 0.0,
) -> list[FloatArray]:  # fmt: skip
    """Evaluate the kernel where the margin is z: log P and its derivatives by f."""
    n = len(z)
    label, noise_db = np.full(n, label), np.full(n, noise_db)
    f_db = np.linspace(-f_db_max, f_db_max, n)
    residual_db = f_db + label * noise_db * z
    outputs = [np.full(n, np.nan) for _ in range(4)]
    assert probit(n, residual_db, label, f_db, noise_db, *outputs) == 0
    return outputs


def test_hard_numbers() -> None:
    z, *expected = np.array(LIKELIHOOD).T
    log_p, gradient, weight, third = _probit(z)
    found = [log_p, -gradient, weight, -third]
    assert_allclose(found, expected, rtol=1e-10, atol=SMALLEST_NORMAL)


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1e4, -37.5), (-37.5, -5.01), (-5.01, -4.99), (-4.99, 0.0), (0.0, 37.5), (37.5, 1e4)],
)
def test_all_derivatives_in_both_tails(low: float, high: float) -> None:
    z = np.linspace(low, high, 2001)
    log_p, gradient, weight, third = _probit(z)
    assert_allclose(log_p, reference.log_phi(z), rtol=1e-10, atol=SMALLEST_NORMAL)
    assert_allclose(-gradient, reference.phi_ratio(z), rtol=1e-10, atol=SMALLEST_NORMAL)
    assert_allclose(weight, reference.weight(z), rtol=1e-10, atol=SMALLEST_NORMAL)
    assert_allclose(-third, reference.third(z), rtol=1e-10, atol=SMALLEST_NORMAL)


def test_the_same_function_of_a_single_number() -> None:
    for z in (-1e4, -38.0, -5.0, -1.0, -0.0, 0.0, 5e-324, 1.0, 38.0, 1e4):
        r = ratio(z)
        s, t = differences(z, r)
        assert log_normal_cdf(z) == pytest.approx(
            float(reference.log_phi(z)), rel=1e-12, abs=1e-300
        )
        assert r == pytest.approx(float(reference.phi_ratio(z)), rel=1e-12, abs=1e-300)
        assert r * s == pytest.approx(float(reference.weight(z)), rel=1e-12, abs=1e-300)
        assert r * t == pytest.approx(float(reference.third(z)), rel=1e-10, abs=1e-300)


def test_labels_and_noise_scale_the_derivatives() -> None:
    """d/df of log Phi(y (h - f)/sigma): the signs that the paper's appendix has the other way."""
    z = np.linspace(-6.0, 6.0, 25)
    label = np.where(np.arange(25) % 2 == 0, 1.0, -1.0)
    noise_db = np.linspace(0.5, 20.0, 25)
    log_p, gradient, weight, third = _probit(z, label, noise_db, 3.0)

    slope = label / noise_db
    assert_allclose(log_p, reference.log_phi(z), rtol=1e-11)
    assert_allclose(gradient, -slope * reference.phi_ratio(z), rtol=1e-11)
    assert_allclose(weight, slope**2 * reference.weight(z), rtol=1e-11)
    assert_allclose(third, -(slope**3) * reference.third(z), rtol=1e-11)


@pytest.mark.parametrize("label", [1.0, -1.0])
def test_each_derivative_is_that_of_the_one_before(label: float) -> None:
    e = 1e-4
    f_db = np.linspace(-25.0, 25.0, 201)
    n = len(f_db)
    ones = np.ones(n)

    def at(shift_db: float) -> list[FloatArray]:
        outputs = [np.zeros(n) for _ in range(4)]
        probit(n, 3.0 * ones, label * ones, f_db + shift_db, 2.5 * ones, *outputs)
        return outputs

    def slope(column: int) -> FloatArray:
        """Central differences, Richardson once."""
        d = [(at(h)[column] - at(-h)[column]) / (2.0 * h) for h in (e, e / 2.0)]
        return np.asarray((4.0 * d[1] - d[0]) / 3.0)

    _, gradient, weight, third = at(0.0)
    assert_allclose(gradient, slope(0), rtol=1e-7, atol=1e-9)
    assert_allclose(-weight, slope(1), rtol=1e-7, atol=1e-9)
    assert_allclose(third, -slope(2), rtol=1e-6, atol=1e-9)


@given(st.floats(-1e4, 1e4))
def test_weight_lies_between_0_and_1_and_the_rest_is_finite(z: float) -> None:
    log_p, gradient, weight, third = (float(v[0]) for v in _probit(np.array([z]), f_db_max=3.0))
    assert np.isfinite([log_p, gradient, weight, third]).all()
    assert log_p <= 0.0
    assert gradient <= 0.0
    assert 0.0 <= weight <= 1.0


@given(st.floats(-1e4, 1e4), st.floats(1e-9, 1.0))
def test_log_probability_rises_with_the_margin(z: float, step: float) -> None:
    assert log_normal_cdf(z + step) >= log_normal_cdf(z) - 2e-16 * abs(log_normal_cdf(z))
