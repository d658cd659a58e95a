"""PTA4, its band and its grades are those of the joint posterior, as sampling finds them.

Where a threshold is a bound they are bounds as well.
"""

from itertools import product
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from firmware_py import ThresholdEstimator
from firmware_py.ear.mean_threshold import GRADES_DB_HL, mean_threshold, pta4_posterior, shares_of
from firmware_py.findings.grades import SURE, PersonGrade, grades_said, grades_told, person_grade
from firmware_py.findings.result_json import result_as_json as finished_result
from firmware_py.findings.whole_band import USUAL
from firmware_py.terms.level import Spread
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome
from firmware_py.terms.results import (
    PTA4_FREQUENCIES_HZ,
    EarResult,
    MeanThreshold,
    SessionResult,
    ThresholdResult,
)
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from tests.inference.listeners import listener, session
from tests.reference import FloatArray
from tests.session.driver import run_left_ear, two_ears

SAMPLES = 200_000
EDGES_DB_HL = [-np.inf, 20.0, 35.0, 50.0, 65.0, 80.0, 95.0, np.inf]  # WHO 2021
FLOOR_DB_HL: Final = -10.0
CEILING_DB_HL: Final = 100.0
NAMES: Final = [*GRADES_DB_HL]


def after(audiogram: str, trials: int) -> ThresholdEstimator:
    estimator = ThresholdEstimator()
    for _ in session(estimator, listener(audiogram, seed=2), trials):
        pass
    return estimator


def draw_thresholds(estimator: ThresholdEstimator, seed: int) -> FloatArray:
    """Draw the four thresholds from their joint posterior."""
    rng = np.random.default_rng(seed)
    weight, mean, covariance = estimator.joint_threshold([float(f) for f in PTA4_FREQUENCIES_HZ])
    counts = rng.multinomial(SAMPLES, weight / weight.sum())
    parts = zip(mean, covariance, counts, strict=True)
    found: FloatArray = np.concatenate([rng.multivariate_normal(*part) for part in parts])
    return found


@pytest.mark.parametrize(("audiogram", "trials"), [("N3", 6), ("N6", 15)])
def test_pta4_is_the_mean_of_four_thresholds_that_vary_together(
    audiogram: str, trials: int
) -> None:
    estimator = after(audiogram, trials)
    spread, draws = pta4_posterior(estimator), draw_thresholds(estimator, 1)
    sample = draws.mean(axis=1)
    mean_db_hl, sd_db = estimator.threshold([float(f) for f in PTA4_FREQUENCIES_HZ])
    independent_sd_db = float(np.sqrt(np.sum(sd_db**2))) / 4.0

    assert spread.mean_db == pytest.approx(float(mean_db_hl.mean()), rel=1e-9)
    assert spread.mean_db == pytest.approx(sample.mean(), abs=0.1)
    assert spread.band_db() == pytest.approx(np.quantile(sample, [0.025, 0.975]), abs=0.25)
    assert sample.std() > 1.15 * independent_sd_db  # neighbours share their errors
    expected = np.histogram(sample, EDGES_DB_HL)[0] / SAMPLES
    assert shares_of(spread) == pytest.approx(expected, abs=0.005)
    # A limit in the place of one of them: the others vary together as before.
    draws[:, 3] = 100.0
    limited = pta4_posterior(estimator, {4000: 100.0})
    band = np.quantile(draws.mean(axis=1), [0.025, 0.975])
    assert limited.mean_db == pytest.approx(draws.mean(), abs=0.1)
    assert limited.band_db() == pytest.approx(band, abs=0.25)


def test_one_gaussian_has_the_quantiles_of_scipy() -> None:
    spread, shares = Spread(((1.0, 42.0, 3.0),)), (0.001, 0.025, 0.5, 0.975)
    expected_db = stats.norm.ppf(shares, 42.0, 3.0)
    assert [*map(spread.quantile_db, shares)] == pytest.approx(expected_db, abs=1e-6)


@pytest.mark.parametrize(
    ("pta4_db_hl", "grade"),
    [
        (19.9, "normal"), (20.1, "mild"), (34.9, "mild"), (35.1, "moderate"), (49.9, "moderate"),
        (50.1, "moderately severe"), (64.9, "moderately severe"), (65.1, "severe"),
        (79.9, "severe"), (80.1, "profound"), (94.9, "profound"), (95.1, "complete"),
    ],
)  # fmt: skip
def test_grades_begin_where_the_who_has_them(pta4_db_hl: float, grade: str) -> None:
    for sd_db in (0.01, 0.0):
        shares = shares_of(Spread(((1.0, pta4_db_hl, sd_db),)))
        assert shares[NAMES.index(grade)] == pytest.approx(1.0)
        assert sum(shares) == pytest.approx(1.0)


def threshold_at(mark: str, masking: str = "none", level_db_hl: float = 40.0) -> dict[str, Any]:
    numbers = (level_db_hl, 3.0, level_db_hl - 6.0, level_db_hl + 6.0)
    limit = {"no-response": CEILING_DB_HL, "hears-all": FLOOR_DB_HL, "incomplete": CEILING_DB_HL}
    names = ("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl")
    told = dict(zip(names, (None,) * 4 if mark in limit else numbers, strict=True))
    return {
        "mark": Outcome(mark), **told, "limit_db_hl": limit.get(mark),
        "masking": MaskingMark(masking),
    }  # fmt: skip


KINDS: Final = {
    "measured": threshold_at("measured"), "doubtful": threshold_at("measured", "uncertain"),
    "above": threshold_at("no-response"), "perhaps above": threshold_at("incomplete"),
    "at most": threshold_at("hears-all"), "inferred": threshold_at("inferred"),
    "inferred above": threshold_at("inferred", level_db_hl=131.0),
    "inferred below": threshold_at("inferred", level_db_hl=-17.0),
}  # fmt: skip
AT_LEAST: Final = {"doubtful", "above", "perhaps above", "inferred above"}
AT_MOST: Final = {"at most", "inferred below"}
N3 = after("N3", 6)


def an_ear(ear: str, *thresholds: ThresholdResult, **more: Any) -> EarResult:
    fixed = (Outcome.MEASURED, (), thresholds, 30, 15, 0, 0, 0, 0, None, 0.0)
    return EarResult(Route(ear), *fixed, **more)


def the_mean(*kinds: str) -> MeanThreshold:
    thresholds = (
        ThresholdResult(f, **KINDS[kind], floor_db_hl=FLOOR_DB_HL, ceiling_db_hl=CEILING_DB_HL)
        for f, kind in zip(PTA4_FREQUENCIES_HZ, kinds, strict=True)
    )
    mean = mean_threshold(an_ear("left", *thresholds), N3)
    assert mean is not None
    return mean


@pytest.mark.parametrize(
    "kinds", [(a, b, "measured", "measured") for a, b in product(KINDS, KINDS)]
)
def test_doubt_and_limits_reach_mean_band_and_grade(kinds: tuple[str, ...]) -> None:
    mean = the_mean(*kinds)
    bound = Bound.AT_MOST if AT_MOST & {*kinds} else Bound.NONE
    bound = Bound.AT_LEAST if AT_LEAST & {*kinds} else bound

    assert mean.bound == bound
    assert (mean.low_db_hl is None) == (bound == Bound.AT_MOST)
    assert (mean.high_db_hl is None) == (bound == Bound.AT_LEAST)
    low_db_hl = FLOOR_DB_HL if mean.low_db_hl is None else mean.low_db_hl
    high_db_hl = CEILING_DB_HL if mean.high_db_hl is None else mean.high_db_hl
    assert FLOOR_DB_HL <= low_db_hl <= mean.level_db_hl <= high_db_hl <= CEILING_DB_HL
    grade = max(name for name, edge in enumerate(EDGES_DB_HL[:-1]) if mean.level_db_hl >= edge)
    assert [name for name, _ in grades_said(mean.bound, mean.shares)], "a grade is said"
    share = grades_told(mean.bound, mean.shares)[NAMES[grade]]
    if bound == Bound.NONE:
        assert share is not None
        assert share > 0.1
    else:
        assert share is None or share > SURE
    at = zip(PTA4_FREQUENCIES_HZ, kinds, strict=True)
    assert mean.doubtful_hz == tuple(f for f, kind in at if kind == "doubtful")


def test_four_limits_are_the_mean_and_nothing_is_said_beyond_them() -> None:
    deaf, keen = the_mean(*["above"] * 4), the_mean(*["at most"] * 4)

    assert (deaf.level_db_hl, deaf.low_db_hl, deaf.high_db_hl) == (100.0, 100.0, None)
    assert grades_said(deaf.bound, deaf.shares) == [("complete", 1.0)]
    assert (keen.level_db_hl, keen.low_db_hl, keen.high_db_hl) == (-10.0, None, -10.0)
    assert grades_said(keen.bound, keen.shares) == [("normal", 1.0)]


def grade_of(result: SessionResult) -> PersonGrade:
    person = person_grade(result)
    assert person is not None
    return person


def test_one_ear_alone_has_a_grade_that_is_a_bound_and_the_person_none() -> None:
    alone = run_left_ear(two_ears(left=60.0, right=10.0)).test.result()
    told = finished_result(alone, Settings(), uncertainty=USUAL)

    assert told["grade"] is None
    assert told["ears"][0]["pta4"]["bound"] == "at-least"
    assert [name for name, _ in told["ears"][0]["pta4"]["said"]][-1] == "moderately severe"


def a_person(*means: MeanThreshold) -> SessionResult:
    ears = zip(("left", "right"), means, strict=True)
    found = [an_ear(ear, pta4=mean) for ear, mean in ears]
    return SessionResult("complete", found, 60, 0, None, ())


def a_mean(level_db_hl: float, sd_db: float, bound: Bound = Bound.NONE) -> MeanThreshold:
    spread = Spread(((1.0, level_db_hl, sd_db),))
    low_db_hl, high_db_hl = spread.band_db()
    low = None if bound == Bound.AT_MOST else low_db_hl
    high = None if bound == Bound.AT_LEAST else high_db_hl
    return MeanThreshold(level_db_hl, low, high, bound, tuple(shares_of(spread)))


def test_the_better_ear_is_the_smaller_of_two() -> None:
    chance = np.random.default_rng(3)
    smaller = np.minimum(chance.normal(33.0, 4.0, SAMPLES), chance.normal(37.0, 6.0, SAMPLES))
    person = grade_of(a_person(a_mean(33.0, 4.0), a_mean(37.0, 6.0)))
    expected = np.histogram(smaller, EDGES_DB_HL)[0] / SAMPLES
    assert [*person.shares] == pytest.approx(expected, abs=0.005)
    assert (person.ear, person.bound) == ("left", Bound.NONE)


def test_a_unilateral_loss_is_one_normal_ear_and_one_with_35_db() -> None:
    chance = np.random.default_rng(3)
    a, b = chance.normal(17.0, 4.0, SAMPLES), chance.normal(38.0, 5.0, SAMPLES)
    share = np.mean((np.minimum(a, b) < 20.0) & (np.maximum(a, b) >= 35.0))
    means = a_mean(17.0, 4.0), a_mean(38.0, 5.0)

    for pair in (means, means[::-1]):
        assert grade_of(a_person(*pair)).unilateral == pytest.approx(share, abs=0.005)


def test_no_unilateral_loss_is_told_where_a_bound_leaves_it_open() -> None:
    for sure_db_hl, told in ((33.0, False), (60.0, True)):
        worse = a_mean(sure_db_hl, 4.0, Bound.AT_LEAST)
        found = grade_of(a_person(a_mean(10.0, 3.0), worse)).unilateral
        assert (found is not None) == told


BOUNDS = st.sampled_from([*Bound])
MEANS = st.builds(a_mean, st.floats(-10.0, 100.0), st.floats(0.5, 10.0), BOUNDS)


@given(MEANS, MEANS)
def test_the_grade_of_a_person_is_a_bound_on_the_right_side(
    one: MeanThreshold, other: MeanThreshold
) -> None:
    person = grade_of(a_person(one, other))
    better, worse = sorted((one, other), key=lambda mean: mean.level_db_hl)
    assume(better.level_db_hl < worse.level_db_hl)
    if Bound.AT_MOST in (better.bound, worse.bound):
        assert person.bound == Bound.AT_MOST or better.bound == Bound.AT_LEAST
    assert sum(person.shares) == pytest.approx(1.0, abs=0.002)
    if person.bound == Bound.AT_LEAST:
        assert Bound.AT_LEAST in (better.bound, worse.bound)
    if person.bound == Bound.NONE:
        assert better.bound == Bound.NONE


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (Bound.NONE, [("moderate", 0.5), ("severe", 0.25), ("mild", 0.25)]),
        (Bound.AT_LEAST, [("mild", 1.0)]),
        (Bound.AT_MOST, [("severe", 1.0)]),
    ],
)
def test_of_a_bound_the_last_grade_is_said_that_is_sure(
    bound: Bound, said: list[tuple[str, float]]
) -> None:
    found = grades_said(bound, (0.0, 0.25, 0.5, 0.0, 0.25, 0.0, 0.0))
    assert sorted(found) == sorted(said)
    assert found[0] == said[0]
