"""The response model: log Phi and its three derivatives, from z = -1e4 to 1e4."""

import numpy as np
import pytest
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
