"""What air tells of bone: against sums by chance, and against what an estimator is given."""

import math

import numpy as np
import pytest

from firmware_py.inference.curves import Curves
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.mixture.bone_prior import (
    BEST_MEAN_DB_HL,
    SKULL_SD_DB,
    SKULL_SHAPE_SD_DB,
    better_cochlea,
    cochlea,
    felt_share,
    other_side,
    people,
    prior_of,
)
from firmware_py.inference.mixture.gap_prior import GapClass, GapPrior, shipped_gap_prior
from firmware_py.inference.mixture.population_prior import shipped_prior

KNOTS_HZ = (250.0, 500.0, 750.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0)
DRAWS = 400_000


def curves(*parts: tuple[float, float, float]) -> Curves:
    """Flat curves of weight, level and SD, whose neighbours are alike."""
    shape = np.exp(-0.2 * np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0))))
    return Curves(
        np.array([weight for weight, _, _ in parts]),
        np.array([np.full(8, level) for _, level, _ in parts]),
        np.array([sd**2 * shape for *_, sd in parts]),
    )


def one_class(gap_db: float, sd_db: float) -> GapPrior:
    covariance = tuple(map(tuple, (sd_db**2 * np.eye(8)).tolist()))
    found = GapClass("one", 1.0, (gap_db,) * 8, covariance)
    return GapPrior(KNOTS_HZ, (found,), {})


def test_of_one_class_bone_is_air_less_the_gap() -> None:
    air = curves((1.0, 60.0, 3.0))
    weight, mean_db_hl, covariance_db2 = cochlea(air, KNOTS_HZ, one_class(20.0, 4.0))

    np.testing.assert_allclose(mean_db_hl, 40.0 * np.ones((1, 8)))
    np.testing.assert_allclose(covariance_db2[0], air.covariance_db2[0] + 16.0 * np.eye(8))
    assert weight[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("parts", "found_db_hl", "sd_db"),
    [
        (((1.0, 55.0, 7.0),), 55.0, 3.0),  # heard: hardly more than 10 dB above
        (((1.0, 95.0, 7.0),), 58.0, 3.0),  # felt: no such cochlea is expected
        (((0.7, 90.0, 7.0), (0.3, 50.0, 8.0)), 48.0, 4.0),  # a loss of the inner ear, or mixed
        (((0.7, 90.0, 7.0), (0.3, 30.0, 8.0)), 30.0, 4.0),  # below all that is felt
    ],
)  # fmt: skip
def test_what_was_felt_is_told_from_what_was_heard_by_air_and_level(
    parts: tuple[tuple[float, float, float], ...], found_db_hl: float, sd_db: float
) -> None:
    """Against draws: cochlea and skin, of which the lower one answers, near what was found."""
    seed = 64
    random = np.random.default_rng(seed)
    weight, mean, sd = (np.array(each) for each in zip(*parts, strict=True))
    which = random.choice(len(parts), size=10 * DRAWS, p=weight)
    heard = mean[which] + sd[which] * random.standard_normal(len(which))
    felt = 60.0 + 8.0 * random.standard_normal(len(which))
    off = (found_db_hl - np.minimum(heard, felt)) / sd_db
    likely = np.exp(-0.5 * off**2)
    wanted = float((likely * ((felt < heard) & (heard > felt + 10.0))).sum() / likely.sum())

    found = felt_share(curves(*parts), 1, found_db_hl, sd_db, felt_db_hl=60.0)
    assert found == pytest.approx(wanted, abs=0.02), f"seed {seed}"


def test_a_gap_that_no_cochlea_could_have_counts_for_little() -> None:
    """Of good ears by air the largest gap would leave 50 dB less than anybody hears."""
    classes = [c.name for c in shipped_gap_prior().classes]
    good, poor = (
        cochlea(curves((1.0, level, 3.0)), KNOTS_HZ).weight.tolist() for level in (5.0, 70.0)
    )
    largest = classes.index("largest")
    assert good[largest] / sum(good) < 1e-6
    assert poor[largest] / sum(poor) == pytest.approx(0.01, rel=0.05)


def test_where_all_was_heard_at_the_lowest_level_no_better_cochlea_is_expected_than_there_is() -> (
    None
):
    """By air -27 dB HL; the mean over the frequencies is moved, and the shape of the curve kept."""
    level, slope = -27.0, np.linspace(-6.0, 6.0, 8)
    air = curves((1.0, level, 8.0))
    air = air._replace(mean_db_hl=air.mean_db_hl + slope)
    found = cochlea(air, KNOTS_HZ, one_class(3.0, 4.0))
    np.testing.assert_allclose(found.mean_db_hl[0], BEST_MEAN_DB_HL + slope - 3.0)
    np.testing.assert_allclose(
        found.covariance_db2[0], air.covariance_db2[0] + 16.0 * np.eye(8)
    )  # who hears so well is as likely as before
    good = cochlea(curves((1.0, BEST_MEAN_DB_HL + 0.5, 8.0)), KNOTS_HZ, one_class(3.0, 4.0))
    np.testing.assert_allclose(good.mean_db_hl, BEST_MEAN_DB_HL - 2.5)


@pytest.mark.parametrize(("own", "other"), [(40.0, 40.0), (40.0, 47.0), (60.0, 10.0)])
def test_without_noise_it_is_the_better_of_both_ears(own: float, other: float) -> None:
    """Means and SDs as of the smaller of two ears that are drawn; gaps of both correlate by half.

    What the skull takes away is added to the other one.
    Of two Gaussians the smaller is none: their sum is one, so the SD may be off by little.
    """
    gaps = one_class(10.0, 6.0)
    air, other_air = curves((1.0, own, 4.0)), curves((1.0, other, 4.0))
    mean_db_hl, covariance_db2 = better_cochlea(air, other_air, KNOTS_HZ, gaps).moments()

    rng = np.random.default_rng(1)
    shared, first, second = rng.standard_normal((3, DRAWS))
    root = math.sqrt(0.5)
    ears = [
        level + 4.0 * rng.standard_normal(DRAWS) - 10.0 - 6.0 * (root * shared + root * each)
        for level, each in ((own, first), (other, second))
    ]
    ears[1] += math.hypot(SKULL_SD_DB, SKULL_SHAPE_SD_DB) * rng.standard_normal(DRAWS)
    smaller = np.minimum(*ears)
    np.testing.assert_allclose(mean_db_hl, smaller.mean(), atol=0.05)
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariance_db2)), smaller.std(), rtol=0.01)


def test_the_other_side_is_as_sure_as_the_skull_lets_it_be() -> None:
    bone = curves((1.0, 30.0, 2.0))
    side = other_side(bone)
    np.testing.assert_array_equal(side.mean_db_hl, bone.mean_db_hl)
    assert np.sqrt(side.covariance_db2[0, 3, 3]) == pytest.approx(math.sqrt(4.0 + 24.5))


def test_the_strongest_have_the_moments_of_all() -> None:
    many = curves((0.5, 30.0, 3.0), (0.2, 50.0, 4.0), (0.2, 20.0, 6.0), (0.1, 70.0, 2.0))
    few = many.strongest(2)
    assert [len(few.weight), float(few.weight[0])] == [2, 0.5]
    for found, expected in zip(few.moments(), many.moments(), strict=True):
        np.testing.assert_allclose(found, expected)


def test_an_estimator_begins_with_what_it_is_told() -> None:
    """The same as one that is made with this prior, to the bit, answers and `reset` included."""
    told = ThresholdEstimator(frequency_range_hz=(250.0, 4000.0))
    expected = curves((0.8, 40.0, 5.0), (0.2, 20.0, 9.0))
    like = shipped_prior().condition(None, None).within(250.0, 4000.0)
    made = ThresholdEstimator(
        frequency_range_hz=(250.0, 4000.0), prior=prior_of(expected, like)
    )  # fmt: skip
    told.observe(1000.0, 90.0, False)
    told.reset()
    told.expect_threshold(expected)
    assert told.knots_hz == KNOTS_HZ
    mean_db_hl, covariance_db2 = expected.moments()
    np.testing.assert_allclose(told.threshold(KNOTS_HZ)[0], mean_db_hl)
    np.testing.assert_allclose(told.threshold(KNOTS_HZ)[1], np.sqrt(np.diagonal(covariance_db2)))
    for level_db_hl, heard in ((38.0, True), (30.0, False), (25.0, True)):
        assert told.next_stimulus() == made.next_stimulus()
        for each in (told, made):
            each.observe(1000.0, level_db_hl, heard)
    for found, wanted in zip(told.threshold(KNOTS_HZ), made.threshold(KNOTS_HZ), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_what_no_estimator_can_begin_with_is_refused() -> None:
    expected = people(None, None, (500.0, 1000.0))
    estimator = ThresholdEstimator(frequency_range_hz=(500.0, 1000.0))
    with pytest.raises(ValueError, match="expect_threshold of 2 frequencies after 0 answers; allo"):
        estimator.expect_threshold(expected)  # there is a knot between them
    estimator.observe(1000.0, 40.0, True)
    with pytest.raises(ValueError, match="of 3 frequencies after 1 answers"):
        estimator.expect_threshold(people(None, None, (500.0, 750.0, 1000.0)))
    with pytest.raises(ValueError, match="allowed are 0"):
        ThresholdEstimator("gp-pta-2015").expect_threshold(expected)


def test_curves_of_the_better_ear_keep_a_covariance() -> None:
    made = better_cochlea(
        curves((0.7, 50.0, 3.0), (0.3, 62.0, 9.0)), curves((1.0, 45.0, 2.0)), KNOTS_HZ
    )
    for covariance_db2 in made.covariance_db2:
        np.testing.assert_array_equal(covariance_db2, covariance_db2.T)
        np.linalg.cholesky(covariance_db2)
    assert made.weight.sum() == pytest.approx(1.0, abs=1e-3)
