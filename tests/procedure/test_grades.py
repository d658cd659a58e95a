"""PTA4, its band and its grades are those of the joint posterior, as sampling finds them."""

import numpy as np
import pytest
from scipy import stats

from firmware_py import ThresholdEstimator
from firmware_py.procedure.grades import (
    GRADES_DB_HL,
    Spread,
    better_above,
    grade_bounds,
    grade_probabilities,
    mean_thresholds,
    pta4_posterior,
    unilateral_probability,
)
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.pta4 import PTA4_FREQUENCIES_HZ, pta4_of
from firmware_py.procedure.settings import Settings
from tests.inference.listeners import listener, session
from tests.procedure.driver import finished, left, two_ears
from tests.reference import FloatArray

SAMPLES = 200_000
EDGES_DB_HL = [-np.inf, 20.0, 35.0, 50.0, 65.0, 80.0, 95.0, np.inf]  # WHO 2021


def after(audiogram: str, trials: int) -> ThresholdEstimator:
    estimator = ThresholdEstimator()
    for _ in session(estimator, listener(audiogram, seed=2), trials):
        pass
    return estimator


def sampled_pta4(estimator: ThresholdEstimator, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    weight, mean, covariance = estimator.joint_threshold(PTA4_FREQUENCIES_HZ)
    counts = rng.multinomial(SAMPLES, weight / weight.sum())
    draws = [
        rng.multivariate_normal(m, c, size)
        for size, m, c in zip(counts, mean, covariance, strict=True)
    ]
    sampled: FloatArray = np.concatenate(draws).mean(axis=1)
    return sampled


@pytest.mark.parametrize(("audiogram", "trials"), [("N3", 6), ("N6", 15)])
def test_pta4_is_the_mean_of_four_thresholds_that_vary_together(
    audiogram: str, trials: int
) -> None:
    estimator = after(audiogram, trials)
    spread, sample = pta4_posterior(estimator), sampled_pta4(estimator, 1)
    mean_db_hl, sd_db = estimator.threshold(PTA4_FREQUENCIES_HZ)
    independent_sd_db = float(np.sqrt(np.sum(sd_db**2))) / 4.0

    assert spread.mean_db_hl == pytest.approx(float(mean_db_hl.mean()), rel=1e-9)
    assert spread.mean_db_hl == pytest.approx(sample.mean(), abs=0.1)
    assert spread.band_db_hl() == pytest.approx(np.quantile(sample, [0.025, 0.975]), abs=0.25)
    assert sample.std() > 1.15 * independent_sd_db  # neighbours share their errors
    expected = np.histogram(sample, EDGES_DB_HL)[0] / SAMPLES
    assert [*grade_probabilities(spread.above).values()] == pytest.approx(expected, abs=0.005)


def test_the_better_ear_is_the_smaller_of_two() -> None:
    one, other = after("N3", 6), after("N4", 6)
    smaller = np.minimum(sampled_pta4(one, 1), np.random.default_rng(3).permutation(
        sampled_pta4(other, 2)
    ))  # fmt: skip
    found = grade_probabilities(better_above(pta4_posterior(one), pta4_posterior(other)))

    expected = np.histogram(smaller, EDGES_DB_HL)[0] / SAMPLES
    assert [*found.values()] == pytest.approx(expected, abs=0.005)


def test_one_gaussian_has_the_quantiles_of_scipy() -> None:
    spread = Spread(((1.0, 42.0, 3.0),))
    for share in (0.001, 0.025, 0.5, 0.975):
        assert spread.quantile_db_hl(share) == pytest.approx(
            float(stats.norm.ppf(share, 42.0, 3.0)), abs=1e-6
        )


@pytest.mark.parametrize(
    ("pta4_db_hl", "grade"),
    [
        (19.9, "normal"), (20.1, "mild"), (34.9, "mild"), (35.1, "moderate"), (49.9, "moderate"),
        (50.1, "moderately severe"), (64.9, "moderately severe"), (65.1, "severe"),
        (79.9, "severe"), (80.1, "profound"), (94.9, "profound"), (95.1, "complete"),
    ],
)  # fmt: skip
def test_grades_begin_where_the_who_has_them(pta4_db_hl: float, grade: str) -> None:
    sure = Spread(((1.0, pta4_db_hl, 0.01),))
    assert grade_probabilities(sure.above)[grade] == pytest.approx(1.0)


def test_grades_add_up_and_an_edge_is_shared() -> None:
    found = grade_probabilities(Spread(((1.0, 35.0, 4.0),)).above)
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["mild"] == pytest.approx(found["moderate"], abs=1e-3)
    assert [*found] == [*GRADES_DB_HL]


def test_a_unilateral_loss_is_one_normal_ear_and_one_with_35_db() -> None:
    one = Spread(((0.7, 15.0, 4.0), (0.3, 30.0, 6.0)))
    other = Spread(((1.0, 38.0, 5.0),))
    chance = np.random.default_rng(3)
    mean = np.where(chance.random(200_000) < 0.7, 15.0, 30.0)
    a = chance.normal(mean, np.where(mean == 15.0, 4.0, 6.0))
    b = chance.normal(38.0, 5.0, 200_000)
    share = np.mean((np.minimum(a, b) < 20.0) & (np.maximum(a, b) >= 35.0))

    assert unilateral_probability(one, other) == pytest.approx(share, abs=0.005)
    assert unilateral_probability(other, one) == unilateral_probability(one, other)


def test_what_the_other_ear_may_have_heard_makes_mean_and_grade_a_bound() -> None:
    poor = finished(Settings(masking="off"), two_ears(left=60.0, right=10.0))
    result = poor.test.result()
    means = mean_thresholds(result.ears, poor.test.ears)
    worse, better = means.ears["left"], means.ears["right"]
    assert worse is not None
    assert better is not None
    assert means.better_ear is not None
    asked_hz = {
        t.frequency_hz for t in result.by_ear["left"].thresholds if t.mark == Outcome.MEASURED
    }
    assert worse.doubtful_hz == [f for f in PTA4_FREQUENCIES_HZ if f in asked_hz]
    assert worse.at_least_db_hl is None, "that is of limits"
    assert better.doubtful_hz == []
    assert not means.better_ear.at_least
    average = pta4_of(result.by_ear["left"])
    assert average is not None
    assert average.at_least


def test_one_ear_alone_has_a_grade_that_is_a_bound() -> None:
    alone = left(two_ears(left=60.0, right=10.0))
    means = mean_thresholds(alone.test.result().ears, alone.test.ears)

    assert means.better_ear is not None
    assert means.better_ear.at_least


def test_a_bound_is_as_likely_as_all_that_is_worse_together() -> None:
    grades = dict.fromkeys(GRADES_DB_HL, 0.0) | {"mild": 0.25, "moderate": 0.5, "severe": 0.25}

    assert [*grade_bounds(grades).values()] == [1.0, 1.0, 0.75, 0.25, 0.25, 0.0, 0.0]
