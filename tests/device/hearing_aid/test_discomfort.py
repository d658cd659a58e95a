"""A person's own levels of discomfort, against plain conditioning and against draws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from device.hearing_aid.discomfort import LEARNED, NOISE_DB, conditioned, doubts, own_levels
from device.hearing_aid.limits import MEASURED_HZ, Reason, field_db_spl, limits
from device.hearing_aid.prescription import fit_of_thresholds
from device.speech import FloatArray
from firmware_py.terms.discomfort import levels_of_words

AT_HZ = np.array(MEASURED_HZ)
CENTERS_HZ = np.array((250.0, 500.0, 1000.0, 2000.0, 3000.0, 4000.0, 8000.0))
SLOPING = np.array((20.0, 30.0, 55.0, 70.0))
EARS = {"right": SLOPING[np.newaxis], "left": SLOPING[np.newaxis] + 5.0}


def means_db_hl(thresholds_db_hl: FloatArray) -> FloatArray:
    """Return the levels that the model expects of an ear, one by one."""
    mean = float(np.mean(thresholds_db_hl))
    return np.array(
        [
            base + rise * max(threshold - 50.0, 0.0) + LEARNED.mean_share * mean
            for base, rise, threshold in zip(
                LEARNED.base_db_hl, LEARNED.rise, thresholds_db_hl, strict=True
            )
        ]
    )


def test_most_of_how_people_differ_is_one_number_and_both_ears_have_it() -> None:
    shares = np.linalg.eigvalsh(LEARNED.covariance_db2(2))
    assert shares.min() > 0.0
    assert shares[-1] / shares.sum() == pytest.approx(0.81, abs=0.01)


def test_levels_of_both_ears_are_plain_conditioning_of_one_gaussian() -> None:
    told = {"right": levels_of_words("1000:80"), "left": levels_of_words("500:90;4000:105")}
    own = own_levels(EARS, told)

    joint = LEARNED.covariance_db2(2)
    prior = np.concatenate([means_db_hl(each[0]) for each in EARS.values()])
    places, levels = [1, 4, 7], np.array((80.0, 90.0, 105.0))
    gain = joint[:, places] @ np.linalg.inv(joint[np.ix_(places, places)] + 25.0 * np.eye(3))
    mean = prior + gain @ (levels - prior[places])
    sd = np.sqrt(np.diag(joint - gain @ joint[places]))
    assert_allclose(np.concatenate([own[ear].mean_db_hl for ear in EARS]), mean)
    assert_allclose(np.concatenate([own[ear].sd_db for ear in EARS]), sd)


def test_a_level_between_two_frequencies_is_one_of_both() -> None:
    told = {"right": levels_of_words("3000:70")}
    own = own_levels(EARS, told)["right"]
    share = np.log2(1.5)
    row = np.array((0.0, 0.0, 1.0 - share, share, 0.0, 0.0, 0.0, 0.0))
    joint = LEARNED.covariance_db2(2)
    prior = np.concatenate([means_db_hl(each[0]) for each in EARS.values()])
    gain = joint @ row / (row @ joint @ row + NOISE_DB**2)
    assert_allclose(own.mean_db_hl, (prior + gain * (70.0 - row @ prior))[:4])


@pytest.mark.parametrize("bounds_db_hl", [(110.0,), (110.0, 110.0), (85.0, 110.0, 100.0)])
def test_none_up_to_a_level_is_a_bound_as_draws_that_are_weighed_have_it(
    bounds_db_hl: tuple[float, ...],
) -> None:
    joint, mean = LEARNED.covariance_db2(1), means_db_hl(SLOPING)
    levels = np.array((92.0, *bounds_db_hl))
    above = np.array([False, *[True] * len(bounds_db_hl)])
    rows = np.eye(4)[: len(levels)]
    found, spread = conditioned(mean, joint, rows, levels, above)

    random = np.random.default_rng(1)
    draws = random.multivariate_normal(mean, joint, 400_000)
    over = (draws[:, : len(levels)] - levels) / NOISE_DB
    weight = norm.pdf(over[:, 0]) * norm.cdf(over[:, above]).prod(axis=1)
    true_mean = np.average(draws, axis=0, weights=weight)
    true_sd = np.sqrt(np.average((draws - true_mean) ** 2, axis=0, weights=weight))
    assert_allclose(found, true_mean, atol=0.1)
    assert_allclose(np.sqrt(np.diag(spread)), true_sd, atol=0.1)


def test_unsure_thresholds_make_the_levels_less_sure_and_no_level_tells_nothing() -> None:
    random = np.random.default_rng(2)
    unsure = {"right": SLOPING + 10.0 * random.standard_normal((4000, 4))}
    told = {"right": levels_of_words("500:90")}
    sure_sd = own_levels({"right": EARS["right"]}, told)["right"].sd_db
    assert np.all(own_levels(unsure, told)["right"].sd_db > sure_sd)
    assert own_levels(EARS, {}) == {}
    assert own_levels({"right": EARS["right"]}, {"left": levels_of_words("500:90")}) == {}


@pytest.mark.parametrize(
    ("words", "code"),
    [("4000:70", "below-threshold"), ("4000:75", ""), ("500:>130", ""), ("500:75", ""),
     ("500:130", "")],
)  # fmt: skip
def test_a_level_at_the_threshold_is_asked_about(words: str, code: str) -> None:
    found = [*doubts({"right": SLOPING}, {"right": levels_of_words(words)})]
    assert [each.code for each in found] == [code] * bool(code)


def test_a_level_40_db_above_what_is_expected_is_asked_about() -> None:
    (doubt,) = doubts({"right": np.full(4, -10.0)}, {"right": levels_of_words("500:130")})
    assert doubt.code == "unusual"
    assert doubt.than_db_hl == pytest.approx(means_db_hl(np.full(4, -10.0))[0])


@pytest.mark.parametrize(("level", "is_louder"), [("1000:110", True), ("1000:70", False)])
def test_a_fit_of_measured_levels_lets_out_what_follows_from_them(
    level: str, is_louder: bool
) -> None:
    told = {"right": levels_of_words(level)}
    thresholds_db_hl = np.interp(np.log2(CENTERS_HZ), np.log2(AT_HZ), SLOPING)
    own = own_levels({"right": EARS["right"]}, told)["right"]
    few_db_hl = own.limit_db_hl(CENTERS_HZ)
    assert_allclose(few_db_hl[[1, 2, 3, 5]], own.mean_db_hl - 1.2816 * own.sd_db)
    assert (few_db_hl[0], few_db_hl[-1]) == (few_db_hl[1], few_db_hl[-2])

    within = limits(CENTERS_HZ, thresholds_db_hl, own_db_hl=few_db_hl)
    assert_allclose(within.discomfort_db_spl, few_db_hl + field_db_spl(CENTERS_HZ))
    told_db_hl = {"right": [*thresholds_db_hl]}
    fit = fit_of_thresholds([*CENTERS_HZ], told_db_hl, own_db_hl={"right": few_db_hl})
    output = np.array([band.output_max_db_spl for band in fit.ears[0].bands])
    assert_allclose(output, within.output_max_db_spl)
    assert np.all(output <= few_db_hl + field_db_spl(CENTERS_HZ) + 0.051)
    of_others = fit_of_thresholds([*CENTERS_HZ], told_db_hl).ears[0].bands
    more_db = output - [band.output_max_db_spl for band in of_others]
    assert np.all(more_db >= 0.0) if is_louder else np.all(more_db < 0.0)
    assert Reason.OWN in {within.why_output(k) for k in range(len(CENTERS_HZ))}
    assert all(each.why_output(2) == Reason.DISCOMFORT
               for each in [limits(CENTERS_HZ, thresholds_db_hl)])  # fmt: skip
