"""The estimator as an object: what it promises, refuses and remembers."""

import inspect
import math
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from firmware_py import Stimulus, ThresholdEstimator
from firmware_py.inference import hyperparameters
from firmware_py.inference.estimator import InferenceError, TrialLimitError
from firmware_py.inference.kernel import NOT_CONVERGED
from tests import reference
from tests.inference.laplace_state import RELATIVE
from tests.inference.listeners import AUDIOGRAMS, Answer, listener, rmse_db, session
from tests.reference import AUDIOGRAM_FREQUENCIES_HZ, FloatArray, Scale

SCALES: list[Scale] = ["bark", "traunmuller", "mel", "log2"]
NAN, INFINITE = math.nan, math.inf


def _after(trials: int, profile: str = "default", **options: Any) -> ThresholdEstimator:
    estimator = ThresholdEstimator(profile, **options)
    for _ in session(estimator, listener("S1", seed=9), trials):
        pass
    return estimator


# --- before the first answer ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "sd_db", "noise_db"),
    [("default", math.hypot(12.0, 28.0), 20.0), ("gp-pta-2015", 12.0, 2.0)],
)
def test_it_starts_from_the_prior(profile: str, sd_db: float, noise_db: float) -> None:
    estimator = ThresholdEstimator(profile)
    mean_db_hl, sds_db = estimator.threshold([125.0, 1000.0, 8000.0])
    intercept_db_hl, slope = reference.prior_mean_line()

    x = reference.warp([125.0, 1000.0, 8000.0])
    assert_allclose(mean_db_hl, intercept_db_hl + slope * x, rtol=1e-13)
    assert_allclose(sds_db, sd_db, rtol=1e-14)
    assert (estimator.trial_count, estimator.log_evidence) == (0, 0.0)
    assert estimator.profile == profile
    expected = {"length": 4.0, "sd_db": 12.0, "response_noise_db": noise_db}
    assert asdict(estimator.hyperparameters) == pytest.approx(expected, rel=1e-14)


def test_candidates_are_whole_hertz_and_evenly_spread_on_the_scale() -> None:
    for scale in SCALES:
        estimator = ThresholdEstimator(scale=scale)
        candidates_hz = np.array(estimator.candidate_frequencies_hz)
        assert (candidates_hz[0], candidates_hz[-1]) == (125.0, 8000.0)
        assert_array_equal(candidates_hz, np.round(candidates_hz))
        spacing = np.diff(reference.warp(candidates_hz, scale))
        assert np.max(spacing) <= 1.5 * np.median(spacing)


def test_number_of_candidates_is_as_told_where_there_are_so_many_whole_hertz() -> None:
    assert len(ThresholdEstimator(candidates=2).candidate_frequencies_hz) == 2
    assert len(ThresholdEstimator(candidates=128).candidate_frequencies_hz) == 128
    narrow = ThresholdEstimator(frequency_range_hz=(1000.0, 1003.5), candidates=128)
    assert narrow.candidate_frequencies_hz == (1000.0, 1001.0, 1002.0, 1003.0, 1003.5)


# --- what it reports -----------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("profile", ["default", "gp-pta-2015"])
def test_posterior_is_that_of_the_reference_at_its_hyperparameters(
    profile: str, scale: Scale
) -> None:
    estimator = ThresholdEstimator(profile, scale=scale)
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
            found.length, found.sd_db, found.response_noise_db,
            28.0 if profile == "default" else 0.0,
        )  # fmt: skip
        asked_hz = [125.0, 300.0, 1000.0, 3333.3, 8000.0]
        mean_db_hl, sd_db = expected.predict(reference.warp(asked_hz, scale))
        assert_allclose(estimator.threshold(asked_hz)[0], mean_db_hl, rtol=RELATIVE)
        assert_allclose(estimator.threshold(asked_hz)[1], sd_db, rtol=RELATIVE)
        assert estimator.log_evidence == pytest.approx(expected.log_evidence, rel=RELATIVE)


def test_band_is_the_central_part_of_the_normal_distribution() -> None:
    estimator = _after(15)
    mean_db_hl, sd_db = estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)
    for probability in (0.5, 0.68, 0.95, 0.999):
        low_db_hl, high_db_hl = estimator.threshold_band(AUDIOGRAM_FREQUENCIES_HZ, probability)
        expected = stats.norm.interval(probability, mean_db_hl, sd_db)
        assert_allclose((low_db_hl, high_db_hl), expected, rtol=1e-12)
    assert_array_equal(estimator.threshold_band([1000.0]), estimator.threshold_band([1000.0], 0.95))


def test_probability_heard_is_a_half_at_the_threshold_and_rises() -> None:
    estimator = _after(15)
    (mean_db_hl,), (sd_db,) = estimator.threshold([1000.0])
    spread_db = math.hypot(sd_db, estimator.hyperparameters.response_noise_db)
    levels_db_hl = np.linspace(-30.0, 130.0, 81)
    p = [estimator.probability_heard(1000.0, float(h)) for h in levels_db_hl]

    assert estimator.probability_heard(1000.0, mean_db_hl) == pytest.approx(0.5, rel=1e-15)
    assert_allclose(p, stats.norm.cdf(levels_db_hl, mean_db_hl, spread_db), rtol=1e-11)
    assert np.all(np.diff(p) >= 0.0)


def test_many_frequencies_give_what_each_gives_alone() -> None:
    estimator = _after(12)
    frequencies_hz = np.exp(np.linspace(np.log(125.1), np.log(7999.0), 300))
    together = estimator.threshold(frequencies_hz)
    alone = [estimator.threshold([f]) for f in frequencies_hz]
    assert_array_equal(together[0], [mean[0] for mean, _ in alone])
    assert_array_equal(together[1], [sd[0] for _, sd in alone])


def test_asking_changes_nothing() -> None:
    asked, left_alone = _after(10), _after(10)
    for _ in range(3):
        asked.threshold([500.0])
        asked.threshold_band([500.0])
        asked.probability_heard(500.0, 30.0)
        asked.next_stimulus(level_max_db_hl=0.0)
        assert asked.information_bits == left_alone.information_bits
    assert asked.next_stimulus() == left_alone.next_stimulus()
    assert _everything(asked) == _everything(left_alone)


def test_results_are_the_callers_own() -> None:
    estimator = _after(5)
    mean_db_hl, _ = estimator.threshold([1000.0])
    kept = mean_db_hl.copy()
    estimator.observe(1000.0, 90.0, False)
    assert_array_equal(mean_db_hl, kept)
    mean_db_hl[:] = 0.0
    assert estimator.threshold([1000.0])[0][0] != 0.0


def test_nothing_to_predict_is_no_error() -> None:
    mean_db_hl, sd_db = ThresholdEstimator().threshold([])
    assert mean_db_hl.shape == sd_db.shape == (0,)


def test_stimulus_is_plain_floats() -> None:
    tone = _after(3).next_stimulus()
    assert isinstance(tone, Stimulus)
    assert (type(tone.frequency_hz), type(tone.level_db_hl)) == (float, float)


def test_noise_is_annealed_by_default_and_constant_in_the_paper() -> None:
    default, paper = ThresholdEstimator(), ThresholdEstimator("gp-pta-2015")
    for n in range(30):
        expected = max(2.0, 20.0 * 0.85**n)
        found = default.hyperparameters.response_noise_db
        assert found == pytest.approx(expected, rel=1e-14)
        assert paper.hyperparameters.response_noise_db == 2.0
        for estimator in (default, paper):
            estimator.observe(1000.0, 30.0 + n, n > 15)


def test_profile_names_of_weight_are_replaced_not_multiplied() -> None:
    everywhere = ThresholdEstimator(frequency_weight=[(1000.0, 1.0)])
    half = ThresholdEstimator(frequency_weight=[(1000.0, 0.5)])
    assert everywhere.next_stimulus() == half.next_stimulus()
    assert everywhere.next_stimulus().frequency_hz == 125.0


# --- memory --------------------------------------------------------------------------------------


def _everything(estimator: ThresholdEstimator) -> list[bytes]:
    """All that a session may depend on, to the last bit."""
    tone = estimator.next_stimulus()
    numbers = [
        tone.frequency_hz, tone.level_db_hl, estimator.information_bits, estimator.log_evidence,
        *asdict(estimator.hyperparameters).values(),
    ]  # fmt: skip
    return [np.array(numbers).tobytes(), *(v.tobytes() for v in estimator.threshold([125.0, 1e3]))]


def test_reset_is_as_good_as_new() -> None:
    for profile in ("default", "gp-pta-2015"):
        used, new = _after(30, profile), ThresholdEstimator(profile)
        used.reset()
        assert used.trial_count == 0
        assert _everything(used) == _everything(new)
        one, other = (session(estimator, listener("N2", seed=11), 25) for estimator in (used, new))
        for first, second in zip(one, other, strict=True):
            assert first == second
            assert _everything(used) == _everything(new)


def test_room_for_more_trials_changes_no_bit() -> None:
    small, large = _after(12, max_trials=12), _after(12, max_trials=300)
    assert _everything(small) == _everything(large)


def test_one_trial_too_many_is_refused_and_changes_nothing() -> None:
    estimator = _after(7, max_trials=7)
    before = _everything(estimator)
    for _ in range(2):
        with pytest.raises(TrialLimitError, match=r"answer 8 does not fit.*max_trials = 7"):
            estimator.observe(1000.0, 40.0, True)
    assert estimator.trial_count == 7
    assert _everything(estimator) == before
    estimator.reset()
    estimator.observe(1000.0, 40.0, True)


def test_workspace_is_allocated_once() -> None:
    estimator = ThresholdEstimator(max_trials=64)
    bytes_before = estimator.memory_bytes
    places = {name: v.ctypes.data for name, v in vars(estimator._workspace).items()}
    for _ in session(estimator, listener("N7", seed=12), 64):
        estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)
        assert estimator.memory_bytes == bytes_before
    estimator.reset()

    assert estimator.memory_bytes == bytes_before
    assert {name: v.ctypes.data for name, v in vars(estimator._workspace).items()} == places
    assert bytes_before == sum(v.nbytes for v in vars(estimator._workspace).values())


def test_a_session_leaves_no_memory_behind() -> None:
    estimator = _after(40)
    estimator.reset()
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


@pytest.mark.parametrize("max_trials", [1, 2, 1024])
def test_smallest_and_largest_workspace(max_trials: int) -> None:
    estimator = ThresholdEstimator(max_trials=max_trials)
    estimator.observe(1000.0, 40.0, True)
    assert estimator.threshold([1000.0])[0][0] < 52.0
    assert estimator.trial_count == 1


# --- scales --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", SCALES)
def test_thresholds_are_found_on_every_scale(scale: Scale) -> None:
    errors_db = []
    for audiogram in AUDIOGRAMS:
        estimator = ThresholdEstimator(scale=scale)
        for _ in session(estimator, listener(audiogram, seed=14), 30):
            pass
        errors_db.append(rmse_db(estimator, audiogram))
    assert np.mean(errors_db) <= 2.5


def test_scale_hardly_matters_to_what_the_answers_say() -> None:
    answers = list(session(ThresholdEstimator(), listener("N3", seed=15), 40))
    found: list[FloatArray] = []
    for scale in SCALES:
        estimator = ThresholdEstimator(scale=scale)
        for answer in answers:
            estimator.observe(*answer)
        found.append(estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)[0])
    assert np.max(np.ptp(found, axis=0)) <= 6.0
    assert np.mean(np.ptp(found, axis=0)) <= 2.0


# --- what is refused -----------------------------------------------------------------------------

# argument, value, what the message says is allowed
CONSTRUCTOR_REFUSES: list[tuple[str, Any, str]] = [
    ("profile", "GP-PTA-2015", "default, gp-pta-2015"),
    ("profile", None, "default, gp-pta-2015"),
    ("profile", ["default"], "default, gp-pta-2015"),
    *(("max_trials", v, "whole numbers from 1 to 1024")
      for v in (0, -1, 1025, 10.0, "10", None, True, NAN)),
    *(("response_noise_db", v, "0.1 to 30")
      for v in (0.0, 0.0999, 30.1, -2.0, NAN, INFINITE, "2", True, [2.0], 10**400)),
    *(("lapse_rate", v, "allowed are None and 0") for v in (0.02, -0.1, 1.0, NAN, "0")),
    *(("false_alarm_rate", v, "allowed are None and 0") for v in (0.01, 1, NAN, "")),
    *(("age_years", v, "allowed is None") for v in (0, 45.0, "45")),
    *(("sex", v, "allowed is None") for v in ("f", "m", "", 0)),
    *(("level_limits_db_hl", v, "allowed is (low, high) with -30 <= low < high <= 130")
      for v in ((10.0, 10.0), (50.0, 20.0), (-31.0, 100.0), (0.0, 131.0), (0.0,), (0.0, 1.0, 2.0),
                (NAN, 50.0), (0.0, INFINITE), 50.0, None, "ab", ("0", "50"))),
    *(("frequency_range_hz", v, "allowed is (low, high) with 20 <= low < high <= 20000")
      for v in ((1000.0, 1000.0), (8000.0, 125.0), (19.9, 8000.0), (125.0, 20000.1), (0.0, 8000.0),
                (125.0, NAN), 1000.0, None)),
    *(("scale", v, "bark, traunmuller, mel, log2") for v in ("erb", "", None, 1)),
    *(("frequency_weight", v, "(frequency_hz, weight) pairs of rising frequency from 20 to 20000")
      for v in ([], 3.0, [3.0], "ab", [(1000.0,)], [(1000.0, 1.0, 2.0)], [(1000.0, -0.1)],
                [(1000.0, NAN)], [(1000.0, INFINITE)], [(1000.0, 1e7)], [(10.0, 1.0)],
                [(1000.0, 0.0)], [(1000.0, 1.0), (1000.0, 2.0)], [(2000.0, 1.0), (1000.0, 2.0)],
                [(1000.0, "1")], {1000.0: 1.0})),
    *(("candidates", v, "whole numbers from 2 to 512") for v in (1, 0, 513, 64.0, None, True)),
]  # fmt: skip


def _shown(name: str, value: Any, allowed: str) -> str:
    """Return the start of the message and what it must say further on, for pytest.raises."""
    import re

    return f"^{name} is {re.escape(repr(value))};.*{re.escape(allowed)}"


def _named(row: tuple[str, Any, str]) -> str:
    return f"{row[0]}={row[1]!r}"[:40]


@pytest.mark.parametrize("row", CONSTRUCTOR_REFUSES, ids=_named)
def test_constructor_says_what_is_wrong_and_what_is_allowed(row: tuple[str, Any, str]) -> None:
    name, value, allowed = row
    with pytest.raises(ValueError, match=_shown(name, value, allowed)):
        ThresholdEstimator(**{name: value})


def test_every_argument_of_the_constructor_is_in_that_table() -> None:
    arguments = set(inspect.signature(ThresholdEstimator).parameters)
    assert {name for name, _, _ in CONSTRUCTOR_REFUSES} == arguments


def test_weight_that_leaves_nothing_of_the_range_is_refused() -> None:
    """There would be no tone to ask."""
    with pytest.raises(
        ValueError, match=r"frequency_weight is .* leave something of 1000 to 2000 Hz"
    ):
        ThresholdEstimator(
            frequency_range_hz=(1000.0, 2000.0),
            frequency_weight=[(125.0, 1.0), (500.0, 0.0), (3000.0, 0.0), (8000.0, 1.0)],
        )


def test_what_is_allowed_is_taken() -> None:
    ThresholdEstimator(
        "default",
        max_trials=np.int64(3),  # type: ignore[arg-type]
        response_noise_db=np.float32(2.5),  # type: ignore[arg-type]
        lapse_rate=0.0,
        false_alarm_rate=0,
        level_limits_db_hl=[0, 100],  # type: ignore[arg-type]
        frequency_range_hz=np.array([250, 6000]),  # type: ignore[arg-type]
        frequency_weight=((20, 0), (20000, 1)),
        candidates=2,
    ).observe(np.float64(250.0), 100, np.True_)  # type: ignore[arg-type]


Call = Callable[[ThresholdEstimator], object]
CALLS_REFUSED: list[tuple[str, Any, str, Call]] = [
    *(("frequency_hz", v, "allowed is 125 to 8000",
       lambda e, v=v: e.observe(v, 40.0, True)) for v in (124.9, 8000.1, NAN, "1000", None, True)),
    *(("level_db_hl", v, "allowed is -10 to 120",
       lambda e, v=v: e.observe(1000.0, v, True)) for v in (-10.1, 120.1, NAN, -INFINITE, "40")),
    *(("heard", v, "allowed are True and False",
       lambda e, v=v: e.observe(1000.0, 40.0, v)) for v in (1, 0, -1, 1.0, None, "yes")),
    *(("level_max_db_hl", v, "allowed is -10 to inf",
       lambda e, v=v: e.next_stimulus(v)) for v in (-10.1, NAN, "40", True)),
    *(("exclude_hz", v, "allowed is a collection of numbers from 20 to 20000",
       lambda e, v=v: e.next_stimulus(exclude_hz=v)) for v in (1000.0, None, "1000")),
    *(("exclude_hz", v, "allowed is 20 to 20000",
       lambda e, v=v: e.next_stimulus(exclude_hz=[1000.0, v])) for v in (0.0, NAN, "1000")),
    *(("frequencies_hz", v, "allowed is a sequence of numbers from 125 to 8000",
       lambda e, v=v: e.threshold(v)) for v in (1000.0, None, {1000.0}, "1000", np.array(5.0))),
    *(("frequencies_hz", v, "allowed is 125 to 8000",
       lambda e, v=v: e.threshold([1000.0, v])) for v in (124.9, 8001.0, NAN, "1000", [1000.0])),
    ("frequencies_hz", 1000.0, "sequence of numbers", lambda e: e.threshold_band(1000.0)),  # type: ignore[arg-type]
    *(("probability", v, "allowed is 1e-06 to 0.999999",
       lambda e, v=v: e.threshold_band([1000.0], v)) for v in (0.0, 1.0, 95, NAN, "0.9", None)),
    *(("frequency_hz", v, "allowed is 125 to 8000",
       lambda e, v=v: e.probability_heard(v, 40.0)) for v in (100.0, 9000.0, NAN, [1000.0])),
    *(("level_db_hl", v, "allowed is -30 to 130",
       lambda e, v=v: e.probability_heard(1000.0, v)) for v in (-30.1, 130.1, NAN, None)),
]  # fmt: skip


@pytest.mark.parametrize("row", CALLS_REFUSED, ids=lambda row: f"{row[0]}={row[1]!r}"[:40])
def test_calls_say_what_is_wrong_and_change_nothing(row: tuple[str, Any, str, Call]) -> None:
    name, value, allowed, call = row
    estimator = _after(4, max_trials=9)
    before = _everything(estimator)
    error = TypeError if name == "heard" else ValueError
    with pytest.raises(error, match=_shown(name, value, allowed)):
        call(estimator)
    assert estimator.trial_count == 4
    assert _everything(estimator) == before


def test_every_argument_of_every_method_is_in_that_table() -> None:
    methods: list[Callable[..., Any]] = [
        ThresholdEstimator.observe,
        ThresholdEstimator.next_stimulus,
        ThresholdEstimator.threshold,
        ThresholdEstimator.threshold_band,
        ThresholdEstimator.probability_heard,
    ]
    arguments = {name for m in methods for name in inspect.signature(m).parameters} - {"self"}
    assert {row[0] for row in CALLS_REFUSED} == arguments
    public = {name for name in vars(ThresholdEstimator) if not name.startswith("_")}
    callables = {name for name in public if callable(vars(ThresholdEstimator)[name])}
    assert callables == {m.__name__ for m in methods} | {"reset"}


def test_limits_of_this_estimator_are_the_ones_named() -> None:
    estimator = ThresholdEstimator(
        level_limits_db_hl=(0.0, 80.0), frequency_range_hz=(250.0, 6000.0)
    )
    with pytest.raises(ValueError, match="level_db_hl is 81; allowed is 0 to 80"):
        estimator.observe(1000.0, 81, True)
    with pytest.raises(ValueError, match=r"frequency_hz is 8000\.0; allowed is 250 to 6000"):
        estimator.observe(8000.0, 40.0, True)


def test_posterior_that_is_not_found_is_said_aloud(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = _after(3)
    monkeypatch.setattr(hyperparameters, "fit", lambda *_: NOT_CONVERGED)
    with pytest.raises(InferenceError, match=r"posterior of 4 answers was not found \(status 1\)"):
        estimator.observe(1000.0, 40.0, True)
    monkeypatch.undo()
    estimator.observe(1000.0, 42.0, True)

    # The answer was kept all the same, and the next one found the posterior of all five.
    untroubled = _after(3)
    untroubled.observe(1000.0, 40.0, True)
    untroubled.observe(1000.0, 42.0, True)
    assert estimator.trial_count == 5
    for found, expected in zip(
        estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ),
        untroubled.threshold(AUDIOGRAM_FREQUENCIES_HZ),
        strict=True,
    ):
        assert_allclose(found, expected, atol=0.05)
