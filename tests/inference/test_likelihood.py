"""The response model: log Phi and its three derivatives, from z = -1e4 to 1e4."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from firmware_py.inference.likelihood import differences, log_normal_cdf, probit, ratio
from tests import reference
from tests.reference import FloatArray

SMALLEST_NORMAL = 1e-300  # below it a double has no 1e-10 to offer

# z, log Phi, r = phi/Phi, r (r + z), d3 log Phi / dz3, by mpmath at 60 digits
HARD_NUMBERS = np.array([
    (-1e4, -50000010.12927891, 10000.000099999997, 0.9999999900000006, 1.99999976000003e-12),
    (-100, -5005.524208694205, 100.00999800099926, 0.9999000599500517, 1.997602995862343e-06),
    (-10, -53.23128515051247, 10.098093233962512, 0.9905546221743438, 0.0017864003921165069),
    (-5, -15.064998393988725, 5.186503967125842, 0.9673035653828878, 0.0108257645063567),
    (-1, -1.8410216450092636, 1.525135276160981, 0.8009023344296512, 0.11693119540604884),
    (0, -0.6931471805599453, 0.7978845608028654, 0.6366197723675814, 0.21801361414499015),
    (1, -0.17275377902344988, 0.2875999709391784, 0.3703137142233946, 0.2957181701822712),
    (10, -7.619853024160525e-24, 7.694598626706419e-23, 7.694598626706419e-22,
     7.617652640439355e-21),
    (37, -5.725571222524577e-300, 2.1200065515246056e-298, 7.84402424064104e-297,
     2.9001689624856606e-295),
    (1e4, 0.0, 0.0, 0.0, 0.0),
])  # fmt: skip


def _probit(
    z: FloatArray, label: FloatArray | float = 1.0, noise_db: FloatArray | float = 1.0
) -> list[FloatArray]:
    """Evaluate the kernel where the margin is z: log P and its derivatives by f."""
    n = len(z)
    label, noise_db = np.full(n, label), np.full(n, noise_db)
    f_db = np.linspace(-3.0, 3.0, n)
    residual_db = f_db + label * noise_db * z
    outputs = [np.full(n, np.nan) for _ in range(4)]
    assert probit(n, residual_db, label, f_db, noise_db, *outputs) == 0
    return outputs


def test_hard_numbers() -> None:
    z = HARD_NUMBERS[:, 0]
    label, noise_db = np.ones_like(z), np.ones_like(z)
    log_p, gradient, weight, third = (np.zeros_like(z) for _ in range(4))
    probit(len(z), z, label, np.zeros_like(z), noise_db, log_p, gradient, weight, third)

    found = np.column_stack([log_p, -gradient, weight, -third])
    assert_allclose(found, HARD_NUMBERS[:, 1:], rtol=1e-10, atol=SMALLEST_NORMAL)


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1e4, -37.5), (-37.5, -5.01), (-5.01, -4.99), (-4.99, 0.0), (0.0, 37.5), (37.5, 1e4)],
)
def test_all_derivatives_in_both_tails(low: float, high: float) -> None:
    z = np.linspace(low, high, 2001)
    label, noise_db = np.ones_like(z), np.ones_like(z)
    log_p, gradient, weight, third = (np.zeros_like(z) for _ in range(4))
    probit(len(z), z, label, np.zeros_like(z), noise_db, log_p, gradient, weight, third)

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
    log_p, gradient, weight, third = _probit(z, label, noise_db)

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
    log_p, gradient, weight, third = (float(v[0]) for v in _probit(np.array([z])))
    assert np.isfinite([log_p, gradient, weight, third]).all()
    assert log_p <= 0.0
    assert gradient <= 0.0
    assert 0.0 <= weight <= 1.0


@given(st.floats(-1e4, 1e4), st.floats(1e-9, 1.0))
def test_log_probability_rises_with_the_margin(z: float, step: float) -> None:
    assert log_normal_cdf(z + step) >= log_normal_cdf(z) - 2e-16 * abs(log_normal_cdf(z))
