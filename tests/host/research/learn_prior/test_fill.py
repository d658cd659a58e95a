"""From measured frequencies to knots: the rules, by hand; and whether bands are honest."""

import math

import numpy as np
import pytest
from scipy import stats

from firmware_py.inference.laplace.standard_audiograms import STANDARD_AUDIOGRAMS_DB_HL
from firmware_py.inference.mixture.population_prior import PopulationPrior
from host_tools.research.learn_prior.checking import at_frequencies, bands
from host_tools.research.learn_prior.em import Mixture
from host_tools.research.learn_prior.fill import (
    KNOTS_HZ,
    fill_in,
    prior_of,
    roughness,
    standard_gaussian,
)
from host_tools.research.learn_prior.picture import QUANTILES, curves, quantiles
from tests.host.research.methods.listening import population

FREQUENCIES_HZ = np.array([500.0, 1000.0, 2000.0, 4000.0])
MEAN = np.array([[20.0, 30.0, 30.0, 50.0, 60.0]])
COVARIANCE = np.diag([100.0, 150.0, 200.0, 250.0, 144.0])
COVARIANCE[0, 1] = COVARIANCE[1, 0] = 80.0
COVARIANCE[3, 4] = COVARIANCE[4, 3] = 60.0  # 4 kHz and age
ONE = Mixture(np.ones(1), MEAN, COVARIANCE[None], np.array([0.4]))


def test_roughness_is_the_mean_square_of_what_is_left_out() -> None:
    rough = roughness(ONE, FREQUENCIES_HZ)

    # 1 kHz - (500 Hz + 2 kHz)/2: mean 5, variance 150 + 25 + 50 - 80; a gap of 2 octaves.
    at_1_khz = (25.0 + 145.0) / 2.0**1.5
    at_2_khz = (100.0 + 200.0 + 150.0 / 4 + 250.0 / 4) / 2.0**1.5
    np.testing.assert_allclose(rough.inner_db2[0], [at_1_khz, at_2_khz])
    np.testing.assert_allclose(rough.low_db2, [100.0 + 100.0 + 150.0 - 160.0])
    np.testing.assert_allclose(rough.high_db2, [400.0 + 200.0 + 250.0])
    # Half way between 1 and 2 kHz, and flat beyond.
    middle = 0.5 * (at_1_khz + at_2_khz)
    np.testing.assert_allclose(rough.middle_db2(1000.0, 2000.0), [middle])
    np.testing.assert_allclose(rough.middle_db2(125.0, 500.0), [at_1_khz * 2.0**1.5])


def test_knots_are_filled_by_the_rules() -> None:
    knots_hz = np.array([125.0, 250.0, 500.0, 1000.0, 1500.0, 2000.0, 4000.0, 8000.0])
    rough = roughness(ONE, FREQUENCIES_HZ)

    mean, covariance, age = (values[0] for values in fill_in(ONE, FREQUENCIES_HZ, knots_hz))

    np.testing.assert_allclose(mean, [20.0, 20.0, 20.0, 30.0, 30.0, 30.0, 50.0, 50.0])
    np.testing.assert_allclose(age, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 60.0, 60.0])
    measured = [2, 3, 5, 6]
    np.testing.assert_allclose(covariance[np.ix_(measured, measured)], COVARIANCE[:4, :4])
    # Outside: 190 dB² an octave downwards, 850 upwards; the two low knots share the first octave.
    np.testing.assert_allclose(np.diag(covariance)[[0, 1, 7]], [480.0, 290.0, 1100.0])
    assert covariance[0, 1] == pytest.approx(290.0)
    assert covariance[0, 3] == pytest.approx(80.0)
    # Between: the line, and the deviation.
    u = math.log2(1.5)
    deviation = 4.0 * u * (1.0 - u) * rough.middle_db2(1000.0, 2000.0)[0]
    line = (1.0 - u) ** 2 * 150.0 + u**2 * 200.0
    assert covariance[4, 4] == pytest.approx(line + deviation)
    assert covariance[4, 5] == pytest.approx(u * 200.0)


def test_two_knots_in_a_gap_deviate_as_a_bridge() -> None:
    knots_hz = np.array([500.0, 1000.0, 2000.0, 2500.0, 3000.0, 4000.0])
    sd2 = roughness(ONE, FREQUENCIES_HZ).middle_db2(2000.0, 4000.0)[0]
    u, v = math.log2(1.25), math.log2(1.5)

    covariance = fill_in(ONE, FREQUENCIES_HZ, knots_hz)[1][0]

    line = (1 - u) * (1 - v) * 200.0 + u * v * 250.0
    assert covariance[3, 4] == pytest.approx(line + 4.0 * sd2 * u * (1.0 - v))


def test_the_standard_audiograms_have_their_own_mean_and_spread() -> None:
    knots_hz = np.array([125.0, 250.0, 500.0, 6000.0, 12000.0])
    columns = np.array([[c[0], c[2], c[9]] for c in STANDARD_AUDIOGRAMS_DB_HL.values()])

    mean, covariance = standard_gaussian(knots_hz, 60.0, 90.0)

    np.testing.assert_allclose(mean[[1, 2, 3]], columns.mean(axis=0))
    np.testing.assert_allclose(mean[[0, 4]], columns.mean(axis=0)[[0, 2]])
    spread = np.cov(columns.T)
    np.testing.assert_allclose(np.diag(covariance)[1:4], np.diag(spread) + 9.0 + 1.0)
    apart = 6.0 * (math.asinh(500 / 600) - math.asinh(250 / 600)) / 5.0
    assert covariance[1, 2] == pytest.approx(spread[0, 1] + 9.0 * math.exp(-(apart**2) / 2))
    assert covariance[0, 0] == pytest.approx(spread[0, 0] + 10.0 + 0.4 * 60.0)
    assert covariance[4, 4] == pytest.approx(spread[2, 2] + 10.0 + 0.4 * 90.0)


def test_a_prior_is_one_and_reads_back() -> None:
    two = Mixture(
        np.array([0.3, 0.7]),
        np.concatenate([MEAN, MEAN + 20.0]),
        np.stack([COVARIANCE, 2.0 * COVARIANCE]),
        np.array([0.2, 0.6]),
    )

    prior = prior_of(two, FREQUENCIES_HZ, 0.25, {"file": "x"})

    assert PopulationPrior.from_json(prior.to_json(), "x") == prior
    assert [c.weight for c in prior.components] == [0.225, 0.525, 0.25]
    assert prior.knots_hz == KNOTS_HZ
    standard = prior.components[-1]
    assert standard.share_female == pytest.approx(0.3 * 0.2 + 0.7 * 0.6, abs=1e-3)
    assert standard.age_mean_years == pytest.approx(0.3 * 60 + 0.7 * 80, abs=1e-3)
    assert standard.age_sd_years**2 == pytest.approx(0.3 * 144 + 0.7 * 288 + 0.21 * 20**2, rel=1e-4)
    assert len(prior_of(two, FREQUENCIES_HZ, 0.0, {}).components) == 2
    again = at_frequencies(prior, FREQUENCIES_HZ)
    np.testing.assert_allclose(again.covariance[0], COVARIANCE)
    np.testing.assert_allclose(again.mean[1], MEAN[0] + 20.0)


def test_quantiles_are_those_of_the_mixture() -> None:
    prior = prior_of(ONE, FREQUENCIES_HZ, 0.25, {})
    at = np.array([1000.0, 1234.5])
    mean, variance = curves(prior, at)
    weight = [c.weight for c in prior.components]

    found = quantiles(prior, at)

    for share, levels in zip(QUANTILES, found, strict=True):
        below = weight @ stats.norm.cdf(levels, mean, np.sqrt(variance))
        np.testing.assert_allclose(below, share, atol=1e-6)


@pytest.mark.parametrize(("narrower", "expected"), [(1.0, 0.95), (4.0, 0.69)])
def test_bands_that_are_too_narrow_are_noticed(narrower: float, expected: float) -> None:
    """Half the SD holds 67 %, and a little more as the rounding's share is not halved."""
    levels = np.random.default_rng(2).multivariate_normal(MEAN[0], COVARIANCE, 4000)[:, :4]
    told = Mixture(ONE.weight, ONE.mean, ONE.covariance / narrower, ONE.share_female)

    lines = bands(population(5.0 * np.round(levels / 5.0)), told)

    ears = [line["ears"] for line in lines]
    within = np.average([line["within_95"] for line in lines], weights=ears)
    assert sum(ears) == 4000
    assert within == pytest.approx(expected, abs=0.015)
