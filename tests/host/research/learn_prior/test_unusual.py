"""Ears that a table does not have: components added by the rules, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.population_prior import PopulationPrior
from host_tools.research.learn_prior.fill import (
    DECIMALS,
    WEIGHT_DECIMALS,
    round_numbers,
    rounded_weights,
)
from host_tools.research.learn_prior.unusual import with_unusual_ears
from tests.budget import examples
from tests.inference.mixture.population import POPULATION, moments

# The knots of the population are 125, 250, 500, 1000, 2000, 3000, 4000, 6000 and 8000 Hz.
FREE = [3, 4, 5, 6, 7]
WEIGHT = 0.32


def last_components(
    prior: PopulationPrior, count: int = 2 + len(FREE)
) -> tuple[Array, Array, Array]:
    last = prior.components[-count:]
    return (
        np.array([c.weight for c in last]), np.array([c.mean_db_hl for c in last]),
        np.array([c.covariance_db2 for c in last]),
    )  # fmt: skip


def average_of(prior: PopulationPrior, samples: int) -> tuple[Array, Array]:
    """Return mean and covariance of many ears of a mixture, and not by a formula."""
    rng = np.random.default_rng(20261122)
    weight, mean, covariance = moments(prior)
    counts = rng.multinomial(samples, weight)
    ears = np.vstack([
        rng.multivariate_normal(m, c, n)
        for m, c, n in zip(mean, covariance, counts, strict=True)
    ])  # fmt: skip
    return ears.mean(axis=0), np.cov(ears.T)


def test_weights_are_together_1_and_the_others_keep_their_proportions() -> None:
    found = with_unusual_ears(POPULATION, WEIGHT)
    weights, _, _ = last_components(found)
    assert sum(c.weight for c in found.components) == pytest.approx(1.0, abs=1e-12)
    assert weights[0] == pytest.approx(0.12, abs=1e-6)
    assert weights[1] == pytest.approx(0.05, abs=1e-6)
    assert weights[2:] == pytest.approx(np.full(5, 0.15 / 5), abs=1e-6)
    for before, after in zip(POPULATION.components, found.components, strict=False):
        assert after.weight == pytest.approx((1.0 - WEIGHT) * before.weight, abs=2e-6)
        assert replace(after, weight=before.weight) == before
    assert len(found.components) == len(POPULATION.components) + 7
    assert PopulationPrior.from_json(found.to_json(), "x") == found


def test_an_ear_of_any_shape_is_smooth_over_octaves_and_rough_from_knot_to_knot() -> None:
    _, means, covariances = last_components(with_unusual_ears(POPULATION, WEIGHT))
    assert means[0].tolist() == [40.0] * 9
    np.testing.assert_allclose(np.diag(covariances[0]), 35.0**2 + 15.0**2)
    # Of 1.4 octaves' length: 1 and 2 kHz are an octave apart, 500 Hz and 8 kHz four.
    assert covariances[0][3, 4] == pytest.approx(35.0**2 * np.exp(-0.5 / 1.4**2), abs=1e-3)
    assert covariances[0][2, 8] == pytest.approx(35.0**2 * np.exp(-8.0 / 1.4**2), abs=1e-3)


def test_the_second_is_the_average_ear_whose_lowest_octaves_are_free_together() -> None:
    _, means, covariances = last_components(with_unusual_ears(POPULATION, WEIGHT))
    mean, covariance = average_of(POPULATION, 400_000)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(means[1], mean, atol=0.01 * sd.max())
    # Wholly at 125 and 250 Hz, half at 500 Hz, and no more from 1 kHz on.
    freedom_db = 35.0 * np.array([1.0, 1.0, 0.5, *[0.0] * 6])
    np.testing.assert_allclose(
        covariances[1] - np.outer(freedom_db, freedom_db), covariance, atol=0.02 * sd.max() ** 2
    )


def test_the_others_are_the_average_ear_with_one_threshold_free() -> None:
    _, means, covariances = last_components(with_unusual_ears(POPULATION, WEIGHT))
    mean, covariance = average_of(POPULATION, 400_000)
    sd = np.sqrt(np.diag(covariance))
    for k, found_mean, found in zip(FREE, means[2:], covariances[2:], strict=True):
        np.testing.assert_allclose(found_mean, mean, atol=0.01 * sd.max())
        fixed = found.copy()
        fixed[k, k] -= 40.0**2
        np.testing.assert_allclose(fixed, covariance, atol=0.02 * sd.max() ** 2)
    # They differ from each other in nothing but the knot.
    for k, found in zip(FREE[1:], covariances[3:], strict=True):
        moved = covariances[2].copy()
        moved[FREE[0], FREE[0]] -= 1600.0
        moved[k, k] += 1600.0
        np.testing.assert_allclose(found, moved, atol=1e-9)


def test_unusual_ears_are_of_people_of_all_ages_and_sexes() -> None:
    found = with_unusual_ears(POPULATION, WEIGHT).components[-7:]
    age = 0.5 * 35.0 + 0.25 * 68.0 + 0.15 * 50.0 + 0.1 * 60.0
    spread = 0.5 * 35.0**2 + 0.25 * 68.0**2 + 0.15 * 50.0**2 + 0.1 * 60.0**2 - age**2
    for c in found:
        assert c.age_mean_years == pytest.approx(age, abs=1e-3)
        assert c.age_sd_years == pytest.approx(np.sqrt(100.0 + spread), abs=1e-3)
        assert c.share_female == pytest.approx(0.3 + 0.125 + 0.015 + 0.05, abs=1e-3)
        assert set(c.age_covariance) == {0.0}
    # So age and sex move their weight, and not their thresholds.
    old = with_unusual_ears(POPULATION, WEIGHT).condition(90.0, "M").components[-7:]
    for c, told in zip(found, old, strict=True):
        assert told.mean_db_hl == c.mean_db_hl


def test_weight_0_gives_the_prior_as_it_is() -> None:
    assert with_unusual_ears(POPULATION, 0.0) is POPULATION


def test_where_no_knot_can_be_free_an_ear_of_any_shape_has_the_weight_of_these() -> None:
    low = POPULATION.within(125.0, 500.0)
    found = with_unusual_ears(low, 0.2)
    weights, means, _ = last_components(found, 2)
    assert len(found.components) == len(low.components) + 2
    assert weights == pytest.approx([0.2 * 27 / 32, 0.2 * 5 / 32], abs=1e-6)
    assert means[0].tolist() == [40.0, 40.0, 40.0]


def test_an_outermost_knot_is_not_free() -> None:
    """There the curve ends: nobody could tell a notch from a slope."""
    part = POPULATION.within(1000.0, 4000.0)
    found = with_unusual_ears(part, WEIGHT)
    # One of any shape and two free ones: a prior from 1 kHz on has no lowest octaves.
    assert len(found.components) == len(part.components) + 3
    _, _, covariances = last_components(found, 2)
    moved = np.diag(covariances[1]) - np.diag(covariances[0])
    np.testing.assert_allclose(moved, [0.0, -1600.0, 1600.0, 0.0], atol=1e-9)  # 2 and 3 kHz


@settings(max_examples=examples(40))
@given(st.floats(1e-4, 0.99), st.integers(1, 4))
def test_any_weight_makes_a_prior(weight: float, components: int) -> None:
    total = sum(c.weight for c in POPULATION.components[:components])
    some = tuple(replace(c, weight=c.weight / total) for c in POPULATION.components[:components])
    found = with_unusual_ears(replace(POPULATION, components=some), weight)
    assert PopulationPrior.from_json(found.to_json(), "x") == found
    weights, _, covariances = last_components(found)
    assert weights.sum() == pytest.approx(weight, abs=1e-5)
    assert np.linalg.eigvalsh(covariances).min() > 0.0


@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=40))
def test_rounded_weights_are_together_1(parts: list[float]) -> None:
    weights = np.array(parts) / sum(parts)
    found = rounded_weights(weights)
    assert sum(found) == pytest.approx(1.0, abs=1e-12)
    assert found == [round(w, WEIGHT_DECIMALS) for w in found]
    off = np.abs(weights - found) * 10.0**WEIGHT_DECIMALS
    more = np.flatnonzero(off > 0.5 + 1e-6)
    # What is left over goes to one of the largest.
    assert len(more) <= 1
    assert np.all(off <= 0.5 * len(weights) + 1e-6)
    assert np.all(weights[more] >= weights.max() - 2e-6)


def test_numbers_are_rounded_without_a_negative_0() -> None:
    found = round_numbers(np.array([1.23456, -0.0001, 2.0]))
    assert found == (1.235, 0.0, 2.0)
    assert str(found[1]) == "0.0"
    assert DECIMALS == 3
