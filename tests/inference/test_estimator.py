"""The estimator as an object: what it promises, refuses and remembers."""

import inspect
import math
import os
import re
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from firmware_py import ThresholdEstimator
from firmware_py.inference.estimator import InferenceError, TrialLimitError
from firmware_py.inference.kernel import CONVERGED, NOT_CONVERGED, NOT_POSITIVE_DEFINITE
from firmware_py.inference.laplace import hyperparameters
from firmware_py.inference.library import JIT, VARIABLE
from firmware_py.inference.mixture import model as mixture_model
from firmware_py.inference.mixture.population_prior import shipped_prior
from firmware_py.inference.record import Record
from firmware_py.inference.stories import Stories
from firmware_py.inference.thresholds import Thresholds
from firmware_py.inference.trial_time import TrialTime
from tests import reference
from tests.budget import quick
from tests.inference.laplace.laplace_state import RELATIVE
from tests.inference.listeners import Answer, listener, session
from tests.inference.mixture.population import POPULATION
from tests.inference.models import PAPER, PROFILES, laplace_of, length_and_sd_of, mixture_of
from tests.inference.test_copies_and_threads import look_at
from tests.reference import AUDIOGRAM_FREQUENCIES_HZ, FloatArray, Scale

SCALES: list[Scale] = ["bark", "traunmuller", "mel", "log2"]
NAN, INFINITE = math.nan, math.inf

# The kinds of listeners of "default": attentive ones of five noises; who misses some; presses too
# easily; misses many; is hardly there.
SHARE = np.r_[0.78 * np.array([0.2, 0.24, 0.22, 0.2, 0.14]), 0.07, 0.07, 0.05, 0.03]
NOISE_DB = np.array([1.0, 1.8, 3.2, 5.7, 10.0, 3.0, 3.0, 3.0, 3.0])
LAPSE_RATE = np.array([0.01, 0.01, 0.01, 0.01, 0.01, 0.06, 0.02, 0.16, 0.15])
FALSE_ALARM_RATE = np.array([0.01, 0.01, 0.01, 0.01, 0.01, 0.02, 0.08, 0.03, 0.15])
# And their half widths, where there is a second button, with their shares.
DEAD_ZONES = (
    (0.5, 0.22), (2.0, 0.22), (3.5, 0.17), (6.0, 0.15), (9.0, 0.1), (13.0, 0.07), (18.0, 0.07),
)  # fmt: skip


def _after(
    trials: int, profile: str, who: tuple[str, int] = ("S1", 9), **options: Any
) -> ThresholdEstimator:
    estimator = ThresholdEstimator(profile, **options)
    for _ in session(estimator, listener(*who), trials):
        pass
    return estimator


# --- before the first answer ---------------------------------------------------------------------


def test_the_paper_starts_from_its_prior() -> None:
    estimator = ThresholdEstimator(PAPER)
    mean_db_hl, sds_db = estimator.threshold([125.0, 1000.0, 8000.0])
    intercept_db_hl, slope = reference.prior_mean_line()

    x = reference.warp([125.0, 1000.0, 8000.0])
    assert_allclose(mean_db_hl, intercept_db_hl + slope * x, rtol=1e-13)
    assert_allclose(sds_db, 12.0, rtol=1e-14)
    assert (estimator.trial_count, estimator.log_evidence) == (0, 0.0)
    assert estimator.profile == PAPER
    expected = {
        "length": 4.0, "sd_db": 12.0, "response_noise_db": 2.0,
        "lapse_rate": 0.0, "false_alarm_rate": 0.0, "unsure_half_width_db": 0.0,
    }  # fmt: skip
    assert asdict(estimator.hyperparameters) == pytest.approx(expected, rel=1e-14)


def test_default_starts_from_the_population() -> None:
    estimator, prior = ThresholdEstimator(), shipped_prior()
    at = [i for i, f in enumerate(prior.knots_hz) if 125.0 <= f <= 8000.0]
    frequencies_hz = [prior.knots_hz[i] for i in at]
    weight = np.array([c.weight for c in prior.components])
    weight /= weight.sum()
    means = np.array([c.mean_db_hl for c in prior.components])[:, at]
    variances = np.array([np.diag(c.covariance_db2) for c in prior.components])[:, at]
    mean_db_hl, sd_db = estimator.threshold(frequencies_hz)
    found = estimator.hyperparameters

    assert estimator.candidate_frequencies_hz == tuple(frequencies_hz)
    assert_allclose(mean_db_hl, weight @ means, rtol=1e-12)
    assert_allclose(sd_db**2, weight @ (variances + (means - mean_db_hl) ** 2), rtol=1e-12)
    assert estimator.trial_count == 0
    assert estimator.log_evidence == pytest.approx(0.0, abs=1e-14)
    assert (found.length, found.sd_db) == (None, None)
    # The means over the listeners thought possible.
    assert found.response_noise_db == pytest.approx(SHARE @ NOISE_DB)
    assert found.lapse_rate == pytest.approx(SHARE @ LAPSE_RATE)
    assert found.false_alarm_rate == pytest.approx(SHARE @ FALSE_ALARM_RATE)


@pytest.mark.parametrize("profile", PROFILES)
def test_candidates_are_whole_hertz_and_evenly_spread_on_the_scale(profile: str) -> None:
    for scale in SCALES:
        candidates = 128 if profile == "default" else None
        estimator = ThresholdEstimator(profile, scale=scale, candidates=candidates)
        candidates_hz = np.array(estimator.candidate_frequencies_hz)
        assert (candidates_hz[0], candidates_hz[-1]) == (125.0, 8000.0)
        assert_array_equal(candidates_hz, np.round(candidates_hz))
        spacing = np.diff(reference.warp(candidates_hz, scale))
        assert np.max(spacing) <= 1.5 * np.median(spacing)


@pytest.mark.parametrize("profile", PROFILES)
def test_number_of_candidates_is_as_told_where_there_are_so_many_whole_hertz(profile: str) -> None:
    assert len(ThresholdEstimator(profile, candidates=2).candidate_frequencies_hz) == 2
    assert len(ThresholdEstimator(profile, candidates=128).candidate_frequencies_hz) == 128
    narrow = ThresholdEstimator(profile, frequency_range_hz=(1000.0, 1003.5), candidates=128)
    assert narrow.candidate_frequencies_hz == (1000.0, 1001.0, 1002.0, 1003.0, 1003.5)


# --- what it reports -----------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
def test_posterior_is_that_of_the_reference_at_its_hyperparameters(scale: Scale) -> None:
    estimator = ThresholdEstimator(PAPER, scale=scale)
    intercept_db_hl, slope = reference.prior_mean_line(scale)
    answers: list[Answer] = []
    for answer in session(estimator, listener("N6", seed=10), 40):
        answers.append(answer)
        if len(answers) % 8 != 1:
            continue
        frequency_hz, level_db_hl, heard = (np.array(v) for v in zip(*answers, strict=True))
        found = estimator.hyperparameters
        expected = reference.laplace(
            reference.warp(frequency_hz, scale), level_db_hl, heard,
            lambda x: intercept_db_hl + slope * x,
            *length_and_sd_of(estimator), found.response_noise_db,
        )  # fmt: skip
        asked_hz = [125.0, 300.0, 1000.0, 3333.3, 8000.0]
        predicted = expected.predict(reference.warp(asked_hz, scale))
        assert_allclose(estimator.threshold(asked_hz), predicted, rtol=RELATIVE)
        assert estimator.log_evidence == pytest.approx(expected.log_evidence, rel=RELATIVE)


@pytest.mark.parametrize("profile", PROFILES)
def test_joint_posterior_has_the_means_and_sds_of_the_threshold(profile: str) -> None:
    estimator = _after(15, profile)
    frequencies_hz = [125.0, 700.0, 1000.0, 1100.0, 5000.0, 8000.0]
    weight, mean_db_hl, covariance_db2 = estimator.joint_threshold(frequencies_hz)
    total_db_hl = weight @ mean_db_hl
    variances_db2 = np.diagonal(covariance_db2, axis1=1, axis2=2)
    expected = estimator.threshold(frequencies_hz)

    assert weight.sum() == pytest.approx(1.0, rel=1e-12)
    assert_allclose(total_db_hl, expected[0], rtol=1e-9)
    spread_db2 = weight @ (variances_db2 + (mean_db_hl - total_db_hl) ** 2)
    assert_allclose(np.sqrt(spread_db2), expected[1], rtol=1e-9)
    assert np.linalg.eigvalsh(covariance_db2).min() > -1e-9


@pytest.mark.parametrize("trials", [20, 50])  # fewer than the basis has functions, and more
def test_joint_posterior_is_that_of_the_gaussian_process(trials: int) -> None:
    estimator = _after(trials, PAPER)
    length, sd_db = length_and_sd_of(estimator)
    answers = list(session(ThresholdEstimator(PAPER), listener("S1", seed=9), trials))
    x = reference.warp([answer[0] for answer in answers])
    x_star = reference.warp([400.0, 1000.0, 2500.0])
    mode_db_hl, _ = estimator.threshold([answer[0] for answer in answers])
    noise_db = estimator.hyperparameters.response_noise_db
    label = np.array([1.0 if answer[2] else -1.0 for answer in answers])
    z = label * (np.array([answer[1] for answer in answers]) - mode_db_hl) / noise_db

    def covariance(a: FloatArray, b: FloatArray) -> FloatArray:
        return reference.kernel(a, b, length, sd_db)

    noise = np.diag(noise_db**2 / reference.weight(z))
    gain = np.linalg.solve(covariance(x, x) + noise, covariance(x, x_star))
    expected = covariance(x_star, x_star) - covariance(x_star, x) @ gain
    _, _, found = estimator.joint_threshold([400.0, 1000.0, 2500.0])
    assert_allclose(found[0], expected, rtol=1e-5, atol=1e-6)


def test_band_is_the_central_part_of_the_normal_distribution() -> None:
    estimator = _after(15, PAPER)
    mean_db_hl, sd_db = estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)
    for probability in (0.5, 0.68, 0.95, 0.999):
        low_db_hl, high_db_hl = estimator.threshold_band(AUDIOGRAM_FREQUENCIES_HZ, probability)
        expected = stats.norm.interval(probability, mean_db_hl, sd_db)
        assert_allclose((low_db_hl, high_db_hl), expected, rtol=1e-12)
    assert_array_equal(estimator.threshold_band([1000.0]), estimator.threshold_band([1000.0], 0.95))


def test_probability_heard_is_a_half_at_the_threshold_and_rises() -> None:
    estimator = _after(15, PAPER)
    (mean_db_hl,), (sd_db,) = estimator.threshold([1000.0])
    spread_db = math.hypot(sd_db, estimator.hyperparameters.response_noise_db)
    levels_db_hl = np.linspace(-30.0, 130.0, 81)
    p = [estimator.probability_heard(1000.0, float(h)) for h in levels_db_hl]

    assert estimator.probability_heard(1000.0, mean_db_hl) == pytest.approx(0.5, rel=1e-15)
    assert_allclose(p, stats.norm.cdf(levels_db_hl, mean_db_hl, spread_db), rtol=1e-11)
    assert np.all(np.diff(p) >= 0.0)


@pytest.mark.parametrize("profile", PROFILES)
def test_asking_changes_nothing(profile: str) -> None:
    asked, left_alone = _after(10, profile), _after(10, profile)
    for _ in range(3):
        asked.threshold([500.0])
        asked.threshold_band([500.0])
        asked.probability_heard(500.0, 30.0)
        asked.next_stimulus(level_max_db_hl=0.0)
        assert asked.next_stimulus().information_bits == left_alone.next_stimulus().information_bits
    assert asked.next_stimulus() == left_alone.next_stimulus()
    assert look_at(asked) == look_at(left_alone)


@pytest.mark.parametrize("profile", PROFILES)
def test_results_are_the_callers_own(profile: str) -> None:
    estimator = _after(5, profile)
    mean_db_hl, _ = estimator.threshold([1000.0])
    kept = mean_db_hl.copy()
    estimator.observe(1000.0, 90.0, False)
    assert_array_equal(mean_db_hl, kept)
    mean_db_hl[:] = 0.0
    assert estimator.threshold([1000.0])[0][0] != 0.0


@pytest.mark.parametrize("profile", PROFILES)
def test_weights_of_the_profile_are_replaced_not_multiplied(profile: str) -> None:
    everywhere = ThresholdEstimator(profile, frequency_weight=[(1000.0, 1.0)])
    half = ThresholdEstimator(profile, frequency_weight=[(1000.0, 0.5)])
    assert everywhere.next_stimulus() == half.next_stimulus()
    if profile != "default":
        assert everywhere.next_stimulus().frequency_hz == 125.0
    steep = ThresholdEstimator(profile, frequency_weight=[(1000.0, 1e-3), (8000.0, 1e3)])
    assert steep.next_stimulus().frequency_hz == 8000.0


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("trials", quick([0, 15], 15))
@pytest.mark.parametrize("time", [None, TrialTime(1.4, 2.0)])
def test_the_next_stimulus_makes_the_most_of_the_objective(
    profile: str, trials: int, time: TrialTime | None
) -> None:
    estimator = _after(trials, profile, frequency_weight=[(250.0, 0.5), (4000.0, 1.0)])
    tone = estimator.next_stimulus(time=time)
    j = estimator.candidate_frequencies_hz.index(tone.frequency_hz)
    x = float(reference.warp(tone.frequency_hz))
    weight = float(np.interp(x, reference.warp([250.0, 4000.0]), [0.5, 1.0]))
    whole_db = estimator.objective(range(-10, 121), time)

    assert whole_db.shape == (len(estimator.candidate_frequencies_hz), 131)
    (chosen,) = estimator.objective([tone.level_db_hl], time)[j]
    taken = 1.0 if time is None else tone.seconds
    assert chosen == pytest.approx(weight * tone.information_bits / taken, rel=1e-12)
    assert whole_db.max() <= chosen * (1.0 + 1e-9)
    assert whole_db[j, round(tone.level_db_hl) + 10] > 0.9 * chosen


@pytest.mark.parametrize("profile", PROFILES)
def test_a_tone_takes_longer_where_nobody_answers(profile: str) -> None:
    """By the model's probability of an answer: between the two times, and only if they are told."""
    time = TrialTime(answered_s=1.0, silent_s=3.0)
    for count in (0, 6, 12):
        estimator = _after(count, profile)
        tone = estimator.next_stimulus(time=time)
        pressed = estimator.probability_heard(tone.frequency_hz, tone.level_db_hl)
        assert tone.seconds == pytest.approx(3.0 - 2.0 * pressed, rel=1e-9)
        assert math.isnan(estimator.next_stimulus().seconds)


@pytest.mark.parametrize("name", ["answered_s", "silent_s"])
@pytest.mark.parametrize("value", [0.0, -1.0, 0.009, 100.1, math.inf, math.nan, True, "1", None])
def test_times_are_positive_and_finite(name: str, value: Any) -> None:
    told = {"answered_s": 1.4, "silent_s": 2.0, name: value}
    with pytest.raises(ValueError, match=_show(name, value, "allowed is 0.01 to 100")):
        TrialTime(**told)


# --- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_reset_is_as_good_as_new(profile: str) -> None:
    used, new = _after(30, profile), ThresholdEstimator(profile)
    for answered in (True, False):
        used.observe_silence(answered)
    used.reset()
    assert used.trial_count == 0
    assert look_at(used) == look_at(new)
    one, other = (session(estimator, listener("N2", seed=11), 25) for estimator in (used, new))
    for first, second in zip(one, other, strict=True):
        assert first == second
        assert look_at(used) == look_at(new)


@pytest.mark.parametrize("profile", PROFILES)
def test_room_for_more_trials_changes_no_bit(profile: str) -> None:
    small, large = _after(12, profile, max_trials=12), _after(12, profile, max_trials=300)
    assert look_at(small) == look_at(large)


@pytest.mark.parametrize("profile", PROFILES)
def test_one_trial_too_many_is_refused_and_changes_nothing(profile: str) -> None:
    estimator = _after(7, profile, max_trials=7)
    before = look_at(estimator)
    for _ in range(2):
        with pytest.raises(TrialLimitError, match=r"answer 8 does not fit.*max_trials = 7"):
            estimator.observe(1000.0, 40.0, True)
    assert estimator.trial_count == 7
    assert look_at(estimator) == before
    estimator.reset()
    estimator.observe(1000.0, 40.0, True)


def _arrays(estimator: ThresholdEstimator) -> dict[Any, Any]:
    if estimator.profile == "default":
        return dict(enumerate(mixture_of(estimator).workspace.arrays()))
    model = laplace_of(estimator)
    own = {name: v for name, v in vars(model).items() if isinstance(v, np.ndarray)}
    # Neither holds what is inferred; both are small, and fixed with the profile and the range.
    del own["candidates_hz"], own["_box"]
    return {**dict(enumerate(model.workspace.arrays())), **own, **model.curve._asdict()}


@pytest.mark.parametrize("profile", PROFILES)
def test_workspace_is_allocated_once(profile: str) -> None:
    estimator = ThresholdEstimator(profile, max_trials=64)
    bytes_before = estimator.memory_bytes
    places = {name: v.ctypes.data for name, v in _arrays(estimator).items()}
    for _ in session(estimator, listener("N7", seed=12), 64):
        estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)
        assert estimator.memory_bytes == bytes_before
    estimator.reset()

    assert estimator.memory_bytes == bytes_before
    assert {name: v.ctypes.data for name, v in _arrays(estimator).items()} == places
    beside = Stories(1).nbytes + Record({}, 64).nbytes
    assert bytes_before == beside + sum(v.nbytes for v in _arrays(estimator).values())


@pytest.mark.skipif(
    os.environ.get(VARIABLE, "").startswith(JIT),
    reason="Numba keeps objects of its own of the calls; the kernels are those of the library",
)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_session_leaves_no_memory_behind(profile: str) -> None:
    estimator = _after(40, profile)
    estimator.reset()
    # Numba keeps something of the first call of a kernel; some are called of moved tones only.
    estimator.objective([40.0])
    hears = listener("S3", seed=13)
    tracemalloc.start()
    try:
        for _ in session(estimator, hears, 5):
            pass
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in session(estimator, hears, 100):
            pass
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # A single matrix of 100 trials would be 80,000 bytes.
    assert after - before < 2_000
    assert peak - before < 16_000


# --- scales --------------------------------------------------------------------------------------


# --- what is refused -----------------------------------------------------------------------------

# argument, value, what the message says is allowed
ALL_REFUSE: list[tuple[str, Any, str]] = [
    *(("max_trials", v, "whole numbers from 1 to 1024")
      for v in (0, -1, 1025, 10.0, "10", None, True, NAN)),
    *(("response_noise_db", v, "0.1 to 30")
      for v in (0.0, 0.0999, 30.1, -2.0, NAN, INFINITE, "2", True, [2.0], 10**400)),
    *(("response_noise_db", v, "(frequency_hz, response_noise_db) pairs of rising frequency")
      for v in ([], [3.0], "ab", [(1000.0,)], [(1000.0, 1.0, 2.0)], [(1000.0, 0.05)],
                [(1000.0, 30.5)], [(1000.0, NAN)], [(NAN, 2.0)], [(10.0, 2.0)], [(30000.0, 2.0)],
                [(1000.0, 1.0), (1000.0, 2.0)], [(2000.0, 1.0), (1000.0, 2.0)],
                [(1000.0, "1")], [(1000.0, True)], {1000.0: 1.0})),
    *(("unsure_half_width_db", v, "allowed is 0 to 20")
      for v in (-0.1, 20.1, NAN, INFINITE, "2", True, [2.0])),
    *(("level_limits_db_hl", v, "allowed is (low, high) with -30 <= low < high <= 130")
      for v in ((10.0, 10.0), (50.0, 20.0), (-31.0, 100.0), (0.0, 131.0), (0.0,), (0.0, 1.0, 2.0),
                (NAN, 50.0), (0.0, INFINITE), 50.0, None, "ab", ("0", "50"))),
    *(("frequency_range_hz", v, "allowed is (low, high) with 20 <= low < high <= 20000")
      for v in ((1000.0, 1000.0), (8000.0, 125.0), (19.9, 8000.0), (125.0, 20000.1), (0.0, 8000.0),
                (125.0, NAN), 1000.0, None)),
    *(("scale", v, "bark, traunmuller, mel, log2") for v in ("erb", "", None, 1)),
    *(("frequency_weight", v, "(frequency_hz, weight) pairs of rising frequency from 20 to 20000")
      for v in ([], 3.0, [3.0], "ab", [(1000.0,)], [(1000.0, 1.0, 2.0)], [(1000.0, -0.1)],
                [(1000.0, NAN)], [(1000.0, INFINITE)], [(1000.0, 1.000001e6)], [(10.0, 1.0)],
                [(1000.0, 0.0)], [(1000.0, 1.0), (1000.0, 2.0)], [(2000.0, 1.0), (1000.0, 2.0)],
                [(1000.0, "1")], {1000.0: 1.0})),
    *(("candidates", v, "whole numbers from 2 to 512") for v in (1, 0, 513, 64.0, "64", True)),
]  # fmt: skip
DEFAULT_REFUSES: list[tuple[str, Any, str]] = [
    *(("lapse_rate", v, "allowed is 0 to 0.45") for v in (-0.1, 0.46, 1.0, NAN, "0", True)),
    *(("false_alarm_rate", v, "allowed is 0 to 0.45")
      for v in (-1e-9, 0.4501, 1, NAN, "", False, [0.1])),
    *(("age_years", v, "allowed is 0 to 120") for v in (-1, 120.5, NAN, "45", True, [45.0])),
    *(("sex", v, "allowed are 'F', 'M' and None")
      for v in ("f", "m", "", 0, "FM", "female", True, ["F"])),
    *(("prior", v, "allowed are a PopulationPrior, as of") for v in (0, {"a": 1}, object)),
]  # fmt: skip
LAPLACE_REFUSES: list[tuple[str, Any, str]] = [
    *(("lapse_rate", v, "allowed is None or 0") for v in (0.02, -0.1, 1.0, NAN, "0", False)),
    *(("false_alarm_rate", v, "allowed is None or 0") for v in (0.01, 1, NAN, "", [0.0])),
    *(("age_years", v, "allowed is None") for v in (0, 45.0, "45")),
    *(("sex", v, "allowed is None") for v in ("F", "f", "m", "", 0)),
    *(("prior", v, "allowed is None") for v in (shipped_prior(), 0)),
    *(("unsure_half_width_db", v, "allowed is 0") for v in (0.5, 20.0, None)),
    *(("response_noise_db", v, "allowed is None or a number")
      for v in ([(1000.0, 2.0)], ((250.0, 2.0), (4000.0, 3.0)))),
]  # fmt: skip
CONSTRUCTOR_REFUSES: list[tuple[str, str, Any, str]] = [
    *((profile, *row) for profile in PROFILES for row in ALL_REFUSE),
    *(("default", *row) for row in DEFAULT_REFUSES),
    *((PAPER, *row) for row in LAPLACE_REFUSES),
]


def _show(name: str, value: Any, allowed: str) -> str:
    """Return the start of the message and what it must say further on, for pytest.raises."""
    return f"^{name} is {re.escape(repr(value))};.*{re.escape(allowed)}"


def test_constructor_says_what_is_wrong_and_what_is_allowed() -> None:
    for profile, name, value, allowed in CONSTRUCTOR_REFUSES:
        with pytest.raises(ValueError, match=_show(name, value, allowed)):
            ThresholdEstimator(profile, **{name: value})


@pytest.mark.parametrize("value", ["GP-PTA-2015", "", None, ["default"], 1])
def test_profiles_are_named(value: Any) -> None:
    allowed = "default, gp-pta-2015"
    with pytest.raises(ValueError, match=_show("profile", value, allowed)):
        ThresholdEstimator(value)


def test_with_two_buttons_false_alarms_are_half_as_many() -> None:
    """Each is pressed at this rate."""
    told: dict[str, Any] = {"unsure_half_width_db": 2.0, "lapse_rate": 0.45}
    with pytest.raises(ValueError, match=r"false_alarm_rate is 0\.23; allowed is 0 to 0\.225"):
        ThresholdEstimator(false_alarm_rate=0.23, **told)
    ThresholdEstimator(false_alarm_rate=0.225, **told).observe(1000.0, 40.0, None)


def test_every_argument_of_the_constructor_is_in_that_table() -> None:
    arguments = set(inspect.signature(ThresholdEstimator).parameters)
    assert {row[1] for row in CONSTRUCTOR_REFUSES} | {"profile"} == arguments


@pytest.mark.parametrize("profile", PROFILES)
def test_weight_that_leaves_nothing_of_the_range_is_refused(profile: str) -> None:
    """There would be no tone to ask."""
    with pytest.raises(
        ValueError, match=r"frequency_weight is .* leave something of 1000 to 2000 Hz"
    ):
        ThresholdEstimator(
            profile,
            frequency_range_hz=(1000.0, 2000.0),
            frequency_weight=[(125.0, 1.0), (500.0, 0.0), (3000.0, 0.0), (8000.0, 1.0)],
        )


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_allowed_is_taken(profile: str) -> None:
    ThresholdEstimator(
        profile,
        max_trials=np.int64(3),  # type: ignore[arg-type]
        response_noise_db=np.float32(2.5),  # type: ignore[arg-type]
        lapse_rate=0.0,
        false_alarm_rate=0,
        level_limits_db_hl=[0, 100],  # type: ignore[arg-type]
        frequency_range_hz=np.array([250, 6000]),  # type: ignore[arg-type]
        frequency_weight=((20, 0), (20000, 1e6)),
        candidates=2,
        unsure_half_width_db=0,
        age_years=None,
        sex=None,
        prior=None,
    ).observe(np.float64(250.0), 100, np.True_)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "told",
    [
        {"lapse_rate": 0, "false_alarm_rate": np.float32(0.45)},
        {"lapse_rate": 0.45, "false_alarm_rate": 0.45},
        {"age_years": 0}, {"age_years": np.int64(120)}, {"age_years": 67.5, "sex": "M"},
        {"sex": "F"}, {"prior": None, "sex": "M"},
        {"response_noise_db": np.array([[250.0, 2.0], [4000.0, 3.0]])},
        {"response_noise_db": [(20, 30), (20000, 0.1)]},
        {"response_noise_db": ((1000.0, 2.0),)},
        {"unsure_half_width_db": 20}, {"unsure_half_width_db": np.float64(0.01)},
        {"unsure_half_width_db": None},
        {"frequency_range_hz": (20.0, 20000.0)}, {"frequency_range_hz": (17000.0, 18000.0)},
        {"frequency_range_hz": (20.0, 60.0)}, {"frequency_range_hz": (1100.0, 1101.0)},
    ],
    ids=str,
)  # fmt: skip
def test_what_default_may_be_told(told: dict[str, Any]) -> None:
    estimator = ThresholdEstimator(**{"prior": POPULATION, **told})
    for frequency_hz in estimator.frequency_range_hz:
        for heard in (True, False):
            estimator.observe(frequency_hz, 40.0, heard)
    tone = estimator.next_stimulus()
    low_hz, high_hz = estimator.frequency_range_hz
    (mean_db_hl, _), (sd_db, _) = estimator.threshold([low_hz, high_hz])

    assert low_hz <= tone.frequency_hz <= high_hz
    assert math.isfinite(mean_db_hl)
    assert 0.0 < sd_db < 100.0


Call = Callable[[ThresholdEstimator], object]
CALLS_REFUSED: list[tuple[str, Any, str, Call]] = [
    *(("frequency_hz", v, "allowed is 125 to 8000",
       lambda e, v=v: e.observe(v, 40.0, True)) for v in (124.9, 8000.1, NAN, "1000", None, True)),
    *(("level_db_hl", v, "allowed is -10 to 120",
       lambda e, v=v: e.observe(1000.0, v, True)) for v in (-10.1, 120.1, NAN, -INFINITE, "40")),
    *(("heard", v, "allowed are True and False",
       lambda e, v=v: e.observe(1000.0, 40.0, v)) for v in (1, 0, -1, 1.0, None, "yes")),
    *(("answered", v, "allowed are True and False",
       lambda e, v=v: e.observe_silence(v)) for v in (1, 0, None, "yes", 1.0)),
    *(("level_max_db_hl", v, "allowed is -10 to inf",
       lambda e, v=v: e.next_stimulus(v)) for v in (-10.1, NAN, "40", True)),
    *(("level_min_db_hl", v, "allowed is -inf to inf",
       lambda e, v=v: e.next_stimulus(level_min_db_hl=v)) for v in (NAN, "40", True)),
    *(("exclude_hz", v, "allowed is a collection of numbers from 20 to 20000",
       lambda e, v=v: e.next_stimulus(exclude_hz=v)) for v in (1000.0, None, "1000")),
    *(("exclude_hz", v, "allowed is 20 to 20000",
       lambda e, v=v: e.next_stimulus(exclude_hz=[1000.0, v])) for v in (0.0, NAN, "1000")),
    *(("frequencies_hz", v, "allowed is a sequence of numbers from 125 to 8000",
       lambda e, v=v: e.threshold(v)) for v in (True, None, {1000.0}, "1000", np.array(5.0))),
    *(("frequencies_hz", v, "allowed is 125 to 8000",
       lambda e, v=v: e.threshold(v)) for v in (124.9, 8001, NAN)),
    *(("frequencies_hz", v, "allowed is a sequence of numbers from 125 to 8000",
       lambda e, v=v: e.threshold_band(v)) for v in (True, None, "1000")),
    *(("half_width_db", v, "allowed is 0.1 to 100",
       lambda e, v=v: e.done(v)) for v in (0.0, -1.0, 101.0, NAN, "5", True, None)),
    *(("max_trials", v, "allowed are whole numbers from 1 to 9",
       lambda e, v=v: e.done(max_trials=v)) for v in (0, 10, 5.0, "5", True)),
    *(("ax", v, "allowed are axes of Matplotlib, or None",
       lambda e, v=v: e.plot(v)) for v in (3, "ax")),
    *(("frequencies_hz", v, "allowed is 125 to 8000",
       lambda e, v=v: e.threshold([1000.0, v])) for v in (124.9, 8001.0, NAN, "1000", [1000.0])),
    ("frequencies_hz", 1000.0, "sequence of numbers", lambda e: e.joint_threshold(1000.0)),  # type: ignore[arg-type]
    *(("time", v, "allowed is a TrialTime, or None",
       lambda e, v=v: e.next_stimulus(time=v)) for v in (1.7, (1.4, 2.0), "1.7")),
    *(("strides_db", v, "0 to 100",
       lambda e, v=v: e.next_stimulus(strides_db=[v])) for v in (-1.0, 101.0, NAN, "5", True)),
    ("time", 1.7, "allowed is a TrialTime, or None", lambda e: e.objective([40.0], 1.7)),  # type: ignore[arg-type]
    *(("levels_db_hl", v, "allowed is a sequence of numbers from -30 to 130",
       lambda e, v=v: e.objective(v)) for v in (40.0, None, "40")),
    *(("levels_db_hl", v, "allowed is -30 to 130",
       lambda e, v=v: e.objective([0.0, v])) for v in (-30.1, 130.1, NAN)),
    *(("probability", v, "allowed is 1e-06 to 0.999999",
       lambda e, v=v: e.threshold_band([1000.0], v)) for v in (0.0, 1.0, 95, NAN, "0.9", None)),
    *(("frequency_hz", v, "allowed is 125 to 8000",
       lambda e, v=v: e.probability_heard(v, 40.0)) for v in (100.0, 9000.0, NAN, [1000.0])),
    *(("level_db_hl", v, "allowed is -30 to 130",
       lambda e, v=v: e.probability_heard(1000.0, v)) for v in (-30.1, 130.1, NAN, None)),
]  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
def test_calls_say_what_is_wrong_and_change_nothing(profile: str) -> None:
    estimator = _after(4, profile, max_trials=9)
    before = look_at(estimator)
    for name, value, allowed, call in CALLS_REFUSED:
        error = TypeError if name in ("heard", "answered") else ValueError
        with pytest.raises(error, match=_show(name, value, allowed)):
            call(estimator)
        assert estimator.trial_count == 4
        assert look_at(estimator) == before


def test_every_argument_of_every_method_is_in_that_table() -> None:
    own = {**vars(Thresholds), **vars(ThresholdEstimator)}
    public = [v for name, v in own.items() if not name.startswith("_")]
    methods = [inspect.signature(method) for method in public if callable(method)]
    arguments = {name for method in methods for name in method.parameters} - {"self"}
    assert {row[0] for row in CALLS_REFUSED} == arguments


@pytest.mark.parametrize("profile", PROFILES)
def test_limits_of_this_estimator_are_the_ones_named(profile: str) -> None:
    estimator = ThresholdEstimator(
        profile, level_limits_db_hl=(0.0, 80.0), frequency_range_hz=(250.0, 6000.0)
    )
    with pytest.raises(ValueError, match="level_db_hl is 81; allowed is 0 to 80"):
        estimator.observe(1000.0, 81, True)
    with pytest.raises(ValueError, match=r"frequency_hz is 8000\.0; allowed is 250 to 6000"):
        estimator.observe(8000.0, 40.0, True)


@pytest.mark.parametrize(
    ("profile", "told", "later", "module", "name", "status", "within_db"),
    [
        (PAPER, {}, 1, hyperparameters, "fit", NOT_CONVERGED, lambda sd_db: 0.05),
        # Another way to the same posterior: as close as the sweeps come to it. Nothing told, the
        # sweeps see what was found of attention an answer before, so one more answer is needed.
        *(
            ("default", told, later, mixture_model, "infer", NOT_POSITIVE_DEFINITE,
             lambda sd_db: 0.03 * sd_db)
            for told, later in (({"lapse_rate": 0.02, "false_alarm_rate": 0.02}, 1), ({}, 2))
        ),
    ],
    ids=[PAPER, "default, told", "default"],
)  # fmt: skip
def test_posterior_that_is_not_found_is_said_aloud(
    monkeypatch: pytest.MonkeyPatch, profile: str, told: dict[str, Any], later: int, module: Any,
    name: str, status: int, within_db: Callable[[FloatArray], FloatArray],
) -> None:  # fmt: skip
    estimator, untroubled = _after(3, profile, **told), _after(3, profile, **told)
    monkeypatch.setattr(module, name, lambda *_: status)
    words = rf"posterior of 4 answers was not found \(status {status}\)"
    with pytest.raises(InferenceError, match=words):
        estimator.observe(1000.0, 40.0, True)
    monkeypatch.undo()

    # The answer was kept all the same, and the later ones found the posterior of all.
    untroubled.observe(1000.0, 40.0, True)
    for n in range(later):
        for either in (estimator, untroubled):
            either.observe(1000.0, 42.0 + 2.0 * n, True)
    assert estimator.trial_count == 4 + later
    expected = np.array(untroubled.threshold(AUDIOGRAM_FREQUENCIES_HZ))
    off_db = np.abs(np.array(estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)) - expected)
    assert np.all(off_db <= within_db(expected[1]))


def test_an_answer_off_the_knots_whose_posterior_is_not_found_is_kept_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bends are taken in with it: what came before is asked for again first, and may fail."""
    told: dict[str, Any] = {"lapse_rate": 0.02, "false_alarm_rate": 0.02}
    estimator, untroubled = _after(3, "default", **told), _after(3, "default", **told)
    monkeypatch.setattr(mixture_model, "infer", lambda *_: NOT_POSITIVE_DEFINITE)
    with pytest.raises(InferenceError, match="posterior of 4 answers was not found"):
        estimator.observe(1225.0, 40.0, True)
    monkeypatch.undo()

    untroubled.observe(1225.0, 40.0, True)
    for either in (estimator, untroubled):
        either.observe(1000.0, 42.0, True)
    expected = np.array(untroubled.threshold([1225.0, *AUDIOGRAM_FREQUENCIES_HZ]))
    off_db = np.abs(np.array(estimator.threshold([1225.0, *AUDIOGRAM_FREQUENCIES_HZ])) - expected)
    assert np.all(off_db <= 0.03 * expected[1])


def test_posterior_that_has_not_settled_is_no_error_but_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    estimator = _after(3, "default")
    assert estimator.converged
    monkeypatch.setattr(mixture_model, "infer", lambda *_: NOT_CONVERGED)
    estimator.observe(1000.0, 40.0, True)
    assert not estimator.converged
    monkeypatch.setattr(mixture_model, "infer", lambda *_: CONVERGED)
    estimator.observe(1000.0, 40.0, True)
    assert estimator.converged
    monkeypatch.setattr(mixture_model, "infer", lambda *_: NOT_CONVERGED)
    estimator.observe(1000.0, 40.0, True)
    estimator.reset()
    assert estimator.converged


# --- the unsure, and silence ---------------------------------------------------------------------


def test_unsure_is_an_answer_where_there_is_a_dead_zone() -> None:
    estimator = ThresholdEstimator(unsure_half_width_db=3.0)
    _, (before_db,) = estimator.threshold([1000.0])
    for _ in range(4):
        estimator.observe(1000.0, 55.0, None)
    (mean_db_hl,), (sd_db,) = estimator.threshold([1000.0])
    assert estimator.trial_count == 4
    assert mean_db_hl == pytest.approx(55.0, abs=4.0)
    assert sd_db < 0.5 * before_db
    for wrong in (1, 0, "unsure", -1.0):
        with pytest.raises(TypeError, match="allowed are True and False, and None for unsure"):
            estimator.observe(1000.0, 40.0, wrong)  # type: ignore[arg-type]


def test_unsure_answers_tell_how_wide_the_dead_zone_is() -> None:
    """And that there are none: a button that is not pressed is no wide dead zone."""
    usual_db = ThresholdEstimator(unsure_half_width_db=None).hyperparameters.unsure_half_width_db
    found_db = []
    for edge_db in (0.0, 3.0, 7.0):
        estimator = ThresholdEstimator(unsure_half_width_db=None, max_trials=40)
        for above_db in (-12.0, -9.0, -6.0, -2.0, 2.0, 6.0, 9.0, 12.0):
            for frequency_hz in (500.0, 1000.0, 2000.0):
                unsure = abs(above_db) < edge_db
                estimator.observe(frequency_hz, 40.0 + above_db, None if unsure else above_db > 0.0)
        found_db.append(estimator.hyperparameters.unsure_half_width_db)
    print(f"\nusual {usual_db:.1f} dB; found of 0, 3 and 7 dB: {np.round(found_db, 1)}")
    assert usual_db == pytest.approx(sum(width * share for width, share in DEAD_ZONES))
    for width_db, low_db, high_db in zip(found_db, (0.0, 2.5, 5.5), (1.5, 5.0, 10.0), strict=True):
        assert low_db < width_db < high_db


@pytest.mark.parametrize("unsure_half_width_db", [0.0, 2.0, None])
def test_silence_tells_of_the_listener(unsure_half_width_db: float | None) -> None:
    """By Bayes' rule over the kinds of listeners: false alarms are as likely as their rates say."""
    estimator = ThresholdEstimator(unsure_half_width_db=unsure_half_width_db)
    presses = 1.0 if unsure_half_width_db == 0.0 else 2.0
    usual_db = estimator.hyperparameters.unsure_half_width_db
    share, rate = SHARE, FALSE_ALARM_RATE
    mean_before, _ = estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)
    log_evidence = 0.0
    for answered in (True, False, False, np.True_):
        p = presses * rate if answered else 1.0 - presses * rate
        log_evidence += math.log(share @ p)
        share = share * p / (share @ p)
        estimator.observe_silence(answered)  # type: ignore[arg-type]
        found = estimator.hyperparameters
        assert found.false_alarm_rate == pytest.approx(share @ rate, rel=1e-12)
        assert found.lapse_rate == pytest.approx(share @ LAPSE_RATE, rel=1e-12)
        assert found.response_noise_db == pytest.approx(share @ NOISE_DB, rel=1e-12)
        assert found.unsure_half_width_db == pytest.approx(usual_db, rel=1e-12)
        assert estimator.log_evidence == pytest.approx(log_evidence, rel=1e-12)
    assert estimator.trial_count == 0
    assert_allclose(estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)[0], mean_before, rtol=1e-12)


def test_silence_is_nothing_to_the_others() -> None:
    estimator = _after(5, PAPER)
    before = look_at(estimator)
    estimator.observe_silence(True)
    assert look_at(estimator) == before


# --- age, sex, noise over frequency --------------------------------------------------------------


def test_age_and_sex_are_those_of_the_conditioned_prior() -> None:
    told = _after(8, "default", age_years=71.0, sex="M")
    prior = shipped_prior().condition(71.0, "M")
    assert look_at(told) == look_at(_after(8, "default", prior=prior))
    assert look_at(told) != look_at(_after(8, "default"))


def test_noise_curve_is_the_noise_at_its_frequencies() -> None:
    """A tone knows its own noise only: three estimators agree where their noises do."""
    curve = [(500.0, 2.0), (2000.0, 6.0)]
    curved = ThresholdEstimator(response_noise_db=curve)
    for frequency_hz, noise_db in ((250.0, 2.0), (500.0, 2.0), (1000.0, 4.0), (4000.0, 6.0)):
        constant = ThresholdEstimator(response_noise_db=noise_db)
        curved.reset()
        for estimator in (curved, constant):
            estimator.observe(frequency_hz, 40.0, True)
            estimator.observe(frequency_hz, 30.0, False)
        expected = constant.threshold(AUDIOGRAM_FREQUENCIES_HZ)
        assert_allclose(curved.threshold(AUDIOGRAM_FREQUENCIES_HZ), expected, rtol=1e-12)
        assert curved.log_evidence == pytest.approx(constant.log_evidence, rel=1e-12)
        for level_db_hl in (20.0, 35.0, 50.0):
            heard = constant.probability_heard(frequency_hz, level_db_hl)
            assert curved.probability_heard(frequency_hz, level_db_hl) == pytest.approx(heard)


@pytest.mark.parametrize("profile", PROFILES)
def test_nothing_to_predict_is_no_error(profile: str) -> None:
    estimator = ThresholdEstimator(profile)
    for pair in (estimator.threshold([]), estimator.threshold_band([])):
        assert pair[0].shape == pair[1].shape == (0,)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("max_trials", [1, 2, 1024])
def test_smallest_and_largest_workspace(max_trials: int, profile: str) -> None:
    estimator = ThresholdEstimator(profile, max_trials=max_trials)
    (before_db_hl,), _ = estimator.threshold([1000.0])
    estimator.observe(1000.0, 40.0, True)
    assert estimator.threshold([1000.0])[0][0] < min(before_db_hl, 52.0)
    assert estimator.trial_count == 1


@pytest.mark.parametrize("profile", PROFILES)
def test_many_frequencies_give_what_each_gives_alone(profile: str) -> None:
    estimator = _after(12, profile)
    frequencies_hz = np.exp(np.linspace(np.log(125.1), np.log(7999.0), 300))
    alone = np.hstack([estimator.threshold([f]) for f in frequencies_hz])
    assert_array_equal(estimator.threshold(frequencies_hz), alone)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_same_frequency_twice_is_one_threshold(profile: str) -> None:
    _, _, covariance_db2 = _after(15, profile).joint_threshold([700.0, 700.0])
    assert_allclose(covariance_db2, covariance_db2[:, :1, :1] * np.ones((2, 2)), rtol=1e-9)
