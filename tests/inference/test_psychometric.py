"""What an answer says, against quadrature and finite differences."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import log_ndtr
from scipy.stats import norm

from firmware_py.inference.psychometric import HEARD, SILENT, UNSURE, expected_answer
from tests.budget import quick
from tests.reference_mixture import Listener, probability

ANSWERS = (HEARD, UNSURE, SILENT)
RATES = [(1e-4, 1e-4), (0.01, 0.01), (0.15, 0.15), (0.45, 0.2), (0.0, 0.0)]

margins = st.floats(-200.0, 200.0)
sds = st.floats(0.1, 80.0)
lapse_rates = st.floats(0.0, 0.45)
false_alarm_rates = st.floats(0.0, 0.22)
half_widths = st.sampled_from([0.0, 0.01, 1.0, 6.0, 20.0])


@pytest.mark.parametrize("noise_db", quick([0.1, 1.7, 6.0, 30.0], 0.1, 6.0))
@pytest.mark.parametrize("sd_db", quick([0.05, 2.0, 40.0], 2.0, 40.0))
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("half_width_db", [0.0, 3.0])
def test_expectation_over_a_normal_threshold_by_quadrature(
    noise_db: float, sd_db: float, rates: tuple[float, float], half_width_db: float
) -> None:
    listener = Listener(noise_db, *rates)
    spread_db = math.hypot(noise_db, sd_db)
    mean_db_hl = 40.0
    for answer in ANSWERS if half_width_db else (HEARD, SILENT):
        for level_db_hl in mean_db_hl + spread_db * np.array([-6.0, -1.3, 0.0, 0.4, 2.5]):

            def integrand(u: float, h: float = level_db_hl, answer: int = answer) -> float:
                g = np.array(mean_db_hl + sd_db * u)
                p = probability(answer, h, g, noise_db, listener, half_width_db)
                return float(p) * math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)

            # Where the probit has its steps, quad must be told.
            steps = [level_db_hl + s * half_width_db + t * 8.0 * noise_db - mean_db_hl
                     for s in (-1, 1) for t in (-1, 0, 1)]  # fmt: skip
            points = sorted({float(np.clip(s / sd_db, -9.9, 9.9)) for s in steps})
            expected, _ = integrate.quad(
                integrand, -10.0, 10.0, points=points, epsabs=1e-13, epsrel=1e-11, limit=400
            )
            found, _, _ = expected_answer(
                answer, level_db_hl - mean_db_hl, spread_db, *rates, half_width_db
            )
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.sampled_from(ANSWERS), margins, sds, lapse_rates, false_alarm_rates, half_widths)
def test_derivatives_by_the_mean_against_differences(
    answer: int, margin_db: float, sd_db: float, lapse: float, false_alarm: float, d: float
) -> None:
    if answer == UNSURE and d == 0.0:
        return

    def p(shift_db: float) -> float:  # the mean up is the margin down
        return expected_answer(answer, margin_db - shift_db, sd_db, lapse, false_alarm, d)[0]

    _, slope, curvature = expected_answer(answer, margin_db, sd_db, lapse, false_alarm, d)
    e = 1e-3 * sd_db
    # Two step lengths, Richardson once: what is left is of the order of e**4.
    first = [(p(s * e) - p(-s * e)) / (2.0 * s * e) for s in (1, 2)]
    second = [(p(s * e) - 2.0 * p(0.0) + p(-s * e)) / (s * e) ** 2 for s in (1, 2)]
    assert slope * sd_db == pytest.approx((4.0 * first[0] - first[1]) / 3.0 * sd_db, abs=2e-11)
    assert curvature * sd_db**2 == pytest.approx(
        (4.0 * second[0] - second[1]) / 3.0 * sd_db**2, abs=5e-9
    )


def test_deep_tails_are_finite_and_right() -> None:
    """Far beyond what levels allow, and down to where a normal has no number left."""
    for answer, z, (lapse, false_alarm), d in itertools.product(
        ANSWERS, [-1e6, -40.0, -20.0, -8.0, 8.0, 20.0, 40.0, 1e6], RATES, [0.0, 5.0]
    ):
        for sd_db in (0.1, 5.0, 100.0):
            found = expected_answer(answer, z * sd_db, sd_db, lapse, false_alarm, d)
            assert np.all(np.isfinite(found))
            assert 0.0 <= found[0] <= 1.0
    for z in (-8.0, -20.0, -35.0):
        p, slope, curvature = expected_answer(HEARD, z * 3.0, 3.0, 0.0, 0.0, 0.0)
        assert np.log(p) == pytest.approx(float(log_ndtr(z)), rel=1e-12)
        assert slope * 3.0 == pytest.approx(-norm.pdf(z), rel=1e-12)
        assert curvature * 9.0 == pytest.approx(-z * norm.pdf(z), rel=1e-12)
        mirrored = expected_answer(SILENT, -z * 3.0, 3.0, 0.0, 0.0, 0.0)
        assert mirrored[0] == pytest.approx(p, rel=1e-14)


def test_without_a_dead_zone_there_is_no_unsure_answer() -> None:
    for margin_db in (-30.0, 0.0, 3.0):
        p, slope, curvature = expected_answer(UNSURE, margin_db, 2.0, 0.02, 0.03, 0.0)
        assert (p, slope, curvature) == (0.03, 0.0, 0.0)
