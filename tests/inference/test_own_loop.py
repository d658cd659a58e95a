"""The estimator in somebody's own loop: when it is done, what it tells, and how it is kept."""

import builtins
import copy
import json
import math
import random
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import firmware_py
from firmware_py import PopulationPrior, PriorError, ThresholdEstimator
from firmware_py.inference import enough
from firmware_py.inference.estimator import InferenceError
from firmware_py.inference.kernel import NOT_CONVERGED
from firmware_py.inference.mixture.model import MixtureModel
from firmware_py.inference.mixture.population_prior import shipped_prior
from firmware_py.inference.profiles import PROFILES
from firmware_py.inference.record import Answer
from firmware_py.terms.route import BY_AIR
from firmware_py.terms.settings import Settings
from tests.inference.test_copies_and_threads import ANSWERS, estimator_given, look_at

# Of the curve that answers: 20 dB HL at 250 Hz, 10 dB more an octave.
THRESHOLD_250_DB_HL, SLOPE_DB = 20.0, 10.0


def hears(frequency_hz: float, level_db_hl: float) -> bool:
    return level_db_hl > THRESHOLD_250_DB_HL + SLOPE_DB * math.log2(frequency_hz / 250.0)


def measure(estimator: ThresholdEstimator, **wanted: Any) -> ThresholdEstimator:
    chance = random.Random(5)
    while not estimator.done(**wanted):
        tone = estimator.next_stimulus()
        heard = hears(tone.frequency_hz, tone.level_db_hl + chance.gauss(0.0, 2.0))
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)
    return estimator


def widest_of_wanted(estimator: ThresholdEstimator, half_width_db: float) -> float:
    """Return the widest band of the device's frequencies as a part of the one wanted there."""
    at = [f for f in BY_AIR.frequencies_hz if f not in BY_AIR.inter_octave_hz]
    low, high = estimator.threshold_band(at, 0.95)
    wanted = [BY_AIR.wider_at_hz.get(f, 1.0) * half_width_db for f in at]
    return float(np.max((high - low) / 2.0 / wanted))


# --- when it is done -----------------------------------------------------------------------------


def test_it_asks_the_frequencies_and_widths_of_the_device() -> None:
    settings = Settings()
    kept = [f for f in BY_AIR.frequencies_hz if f not in BY_AIR.inter_octave_hz]
    assert list(enough.FREQUENCIES_HZ) == kept
    assert settings.stop_half_width_db == enough.HALF_WIDTH_DB
    assert settings.tones_min == enough.ANSWERS_MIN
    for frequency_hz in kept:
        wanted_db = settings.wanted_half_width_db(BY_AIR, frequency_hz)
        assert enough.wanted_half_width_db(frequency_hz, enough.HALF_WIDTH_DB) == wanted_db


def test_it_ends_with_the_first_answer_that_makes_all_bands_narrow() -> None:
    estimator = measure(ThresholdEstimator(), half_width_db=8.0)
    told = estimator.answers
    before = ThresholdEstimator()
    for each in told[:-1]:
        before.observe(each.frequency_hz or 0.0, each.level_db_hl or 0.0, each.heard)

    assert enough.ANSWERS_MIN < len(told) < estimator.max_trials
    assert widest_of_wanted(estimator, 8.0) <= 1.0 < widest_of_wanted(before, 8.0)
    assert not before.done(8.0)
    assert not estimator.done(0.5 * widest_of_wanted(estimator, 8.0) * 8.0)


def test_eight_answers_are_the_least() -> None:
    assert measure(ThresholdEstimator(), half_width_db=100.0).trial_count == 8


def test_so_many_answers_are_enough_in_any_case() -> None:
    estimator = measure(ThresholdEstimator(max_trials=12), half_width_db=0.1, max_trials=9)
    assert estimator.trial_count == 9
    assert measure(estimator, half_width_db=0.1).trial_count == 12


def test_a_threshold_beyond_the_levels_keeps_nobody_waiting() -> None:
    """At 8 kHz nothing is heard up to 60 dB HL: its band never becomes narrow."""
    estimator = ThresholdEstimator(level_limits_db_hl=(-10.0, 60.0))
    chance = random.Random(7)
    while not estimator.done():
        tone = estimator.next_stimulus()
        level_db_hl = tone.level_db_hl + chance.gauss(0.0, 2.0)
        heard = tone.frequency_hz < 7000.0 and level_db_hl > 30.0
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)

    low_db_hl, high_db_hl = estimator.threshold_band(8000)
    assert high_db_hl - low_db_hl > 2.0 * enough.HALF_WIDTH_DB
    assert estimator.trial_count < 68


@pytest.mark.parametrize(("heard", "level_db_hl"), [(False, 120.0), (True, -10.0)])
def test_nothing_heard_or_all_is_known_after_six_tones_at_the_end(
    heard: bool, level_db_hl: float
) -> None:
    estimator = ThresholdEstimator()
    ends = []
    for frequency_hz in (1000.0, 2000.0, 4000.0, 500.0, 1000.0, 2000.0):
        estimator.observe(frequency_hz, 0.5 * (level_db_hl + 55.0), heard)
        ends.append(estimator.done())
    for frequency_hz in (1000.0, 2000.0, 4000.0, 500.0, 1000.0, 2000.0):
        estimator.observe(frequency_hz, level_db_hl, heard)
        ends.append(estimator.done())

    assert ends == [False] * 11 + [True]


def test_a_range_without_frequencies_of_an_audiogram_is_judged_at_its_own() -> None:
    estimator = measure(ThresholdEstimator(frequency_range_hz=(1100.0, 1400.0)))
    half_widths_db = np.subtract(*estimator.threshold_band([1100.0, 1400.0])[::-1]) / 2.0
    assert 0.0 < max(half_widths_db) <= enough.HALF_WIDTH_DB
    assert estimator.trial_count < 40


# --- what it tells -------------------------------------------------------------------------------


def test_answers_are_those_given_in_their_order() -> None:
    estimator = ThresholdEstimator(unsure_half_width_db=3.0, max_trials=3)
    estimator.observe(1000, 40, True)
    estimator.observe_silence(True)
    estimator.observe(2000.0, 30.0, None)
    estimator.observe_silence(False)
    estimator.observe(500.0, 20.0, False)
    given = (
        Answer(1000.0, 40.0, True), Answer(None, None, True), Answer(2000.0, 30.0, None),
        Answer(None, None, False), Answer(500.0, 20.0, False),
    )  # fmt: skip

    assert estimator.answers == copy.copy(estimator).answers == given
    estimator.reset()
    assert len(estimator.answers) == 0


def test_there_is_room_for_as_many_silences_as_tones() -> None:
    estimator = ThresholdEstimator(max_trials=2)
    for answered in (True, False, True):
        estimator.observe_silence(answered)
    estimator.observe(1000.0, 40.0, True)

    assert [each.heard for each in estimator.answers] == [True, False, True]
    assert estimator.answers[-1].frequency_hz == 1000.0
    with pytest.raises(ValueError, match="to_dict after 1 silences more than max_trials"):
        estimator.to_dict()


def test_one_frequency_gives_floats() -> None:
    estimator = estimator_given(ANSWERS)
    one: tuple[Any, ...] = (1000, 1000.0, np.float64(1000.0), np.int64(1000))
    for frequency_hz in one:
        for ask in (estimator.threshold, estimator.threshold_band):
            several = [float(each[0]) for each in ask([1000.0])]
            assert list(ask(frequency_hz)) == several
            assert [type(each) for each in ask(frequency_hz)] == [float, float]


def test_it_shows_profile_answers_and_pta4() -> None:
    estimator = estimator_given(ANSWERS)
    shown = re.fullmatch(
        r"<ThresholdEstimator 'default', 6 of 32 answers, PTA4 (.+) ± (.+) dB HL \(95 %\)>",
        repr(estimator),
    )
    curves = estimator.joint_threshold([500.0, 1000.0, 2000.0, 4000.0])
    draws = np.random.default_rng(3)
    places = draws.choice(len(curves.weight), 20_000, p=curves.weight)
    drawn = [draws.multivariate_normal(curves.mean_db_hl[k], curves.covariance_db2[k],
                                       int(sum(places == k))).mean(axis=1)
             for k in range(len(curves.weight))]  # fmt: skip
    pta4 = np.concatenate(drawn)

    assert shown is not None
    assert float(shown[1]) == pytest.approx(pta4.mean(), abs=0.5)
    assert float(shown[2]) == pytest.approx(1.96 * pta4.std(), rel=0.05)
    narrow = ThresholdEstimator(frequency_range_hz=(1000.0, 2000.0))
    assert repr(narrow) == "<ThresholdEstimator 'default', 0 of 128 answers>"


def test_what_is_exported_is_there() -> None:
    for name in firmware_py.__all__:
        assert getattr(firmware_py, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Estimator'"):
        _ = firmware_py.Estimator


# --- the picture ---------------------------------------------------------------------------------


def test_it_draws_an_audiogram() -> None:
    from matplotlib.figure import Figure

    estimator = estimator_given(ANSWERS)
    estimator.observe_silence(False)
    ax = Figure().subplots()
    assert estimator.plot(ax) is ax
    (line,) = ax.get_lines()
    at = [float(f) for f in np.asarray(line.get_xdata())]
    points = {
        str(each.get_label()): sorted(np.asarray(each.get_offsets()).tolist())
        for each in ax.collections[1:]
    }

    assert_array_equal(np.asarray(line.get_ydata()), estimator.threshold(at)[0])
    assert (at[0], at[-1]) == (125.0, 8000.0)
    top, bottom = ax.get_ylim()[::-1]
    assert (top, bottom) == (-10.0, 120.0)
    assert points == {
        "heard": sorted([f, level] for f, level, heard in ANSWERS if heard),
        "not heard": sorted([f, level] for f, level, heard in ANSWERS if not heard),
    }


def test_without_matplotlib_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    really = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return really(name, *rest)

    for name in [each for each in sys.modules if each.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'gp-pta\[report\]'"):
        ThresholdEstimator().plot()


# --- its prior -----------------------------------------------------------------------------------


def test_prior_is_taken_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    prior = shipped_prior().condition(80.0, "M")
    path.write_text(prior.to_json(), encoding="utf-8")
    wanted = ThresholdEstimator(prior=prior).threshold([500.0, 4000.0])

    for given in (path, str(path)):
        assert_array_equal(ThresholdEstimator(prior=given).threshold([500.0, 4000.0]), wanted)
    assert PopulationPrior.from_dict(json.loads(prior.to_json()), "x") == prior


def test_file_that_is_no_prior_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(PriorError, match=r"mine\.json: is not JSON"):
        ThresholdEstimator(prior=path)
    path.write_text('{"format": "another"}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine\.json: format is 'another'"):
        ThresholdEstimator(prior=str(path))
    with pytest.raises(FileNotFoundError, match="none"):
        ThresholdEstimator(prior=tmp_path / "none.json")


# --- kept and made again -------------------------------------------------------------------------

ARGUMENTS: dict[str, dict[str, Any]] = {
    "default": {"age_years": 67, "sex": "F", "response_noise_db": [(250, 2), (4000.0, 4.0)],
                "unsure_half_width_db": None, "prior": shipped_prior().condition(50.0, None)},
    "gp-pta-2015": {"frequency_range_hz": (250.0, 8000.0), "scale": "mel", "candidates": 20,
                    "response_noise_db": 12, "level_limits_db_hl": (0, 100),
                    "frequency_weight": [(1000.0, 2.0)]},
}  # fmt: skip


@pytest.mark.parametrize("profile", PROFILES)
def test_made_again_it_is_the_same_to_the_last_bit(profile: str) -> None:
    estimator = ThresholdEstimator(profile, max_trials=32, **ARGUMENTS[profile])
    for place, (frequency_hz, level_db_hl, heard) in enumerate(ANSWERS):
        estimator.observe(frequency_hz, level_db_hl, heard)
        if place % 2:
            estimator.observe_silence(place == 3)
    again = ThresholdEstimator.from_dict(json.loads(json.dumps(estimator.to_dict())))

    assert look_at(again) == look_at(estimator)
    assert again.stories == estimator.stories
    assert again.answers == estimator.answers
    assert again.to_dict() == estimator.to_dict()


def test_what_was_expected_is_expected_again() -> None:
    other = estimator_given(ANSWERS)
    estimator = ThresholdEstimator(max_trials=16)
    estimator.expect_listener(other)
    estimator.expect_threshold(other.curves_at_knots())
    estimator.observe(1000.0, 30.0, True)
    estimator.reset()  # it forgets the answers only
    estimator.observe(2000.0, 30.0, True)
    again = ThresholdEstimator.from_dict(json.loads(json.dumps(estimator.to_dict())))

    assert look_at(again) == look_at(estimator)
    plain = ThresholdEstimator(max_trials=16)
    plain.observe(2000.0, 30.0, True)
    assert look_at(again) != look_at(plain)


def test_expected_shares_are_as_many_as_there_are_kinds() -> None:
    estimator = ThresholdEstimator()
    kinds = len(estimator.listener_shares)
    with pytest.raises(ValueError, match=f"expect_shares of 2 kinds.*allowed are {kinds}"):
        estimator.expect_shares([0.5, 0.5])
    with pytest.raises(ValueError, match=r"shares is 2\.0; allowed is 0 to 1"):
        estimator.expect_shares([2.0] * kinds)


def change(saved: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    return {**saved, place: value}


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("format", "gp-pta estimator 1", "format is 'gp-pta estimator 1'; allowed is 'gp-pta est"),
        ("surplus", 1, "does not know surplus; allowed are exactly format, arguments"),
        ("arguments", 3, "arguments is 3; allowed are names with values"),
        ("arguments", {"profil": "default"}, "arguments: .*unexpected keyword argument 'profil'"),
        ("arguments", {"max_trials": 0}, "max_trials is 0; allowed are whole numbers"),
        ("arguments", {"prior": {}}, "arguments, prior: format is None"),
        ("answers", "no", "answers is 'no'; allowed is a list"),
        ("answers", [[1000.0, 40.0]], r"answers, row 1: is \[1000.0, 40.0\]; allowed is"),
        ("answers", [[1e3, 40.0, 1]], "answers, row 1: heard is 1; allowed are True and"),
        ("answers", [[1e3, 999.0, True]], r"answers, row 1: level_db_hl is 999\.0"),
        ("answers", [[None, None, None]], "answers, row 1: answered is None"),
        ("answers", [[1e3, 40.0, True]] * 33, "answers, row 33: answer 33 does not fit"),
        ("expected_shares", [0.5], "expect_shares of 1 kinds"),
        ("expected_shares", 3, "shares is 3; allowed is a sequence"),
        ("expected_curves", {"weight": [1.0]}, "expected_curves: "),
        ("expected_curves", "x", "expected_curves: "),
        ("log_evidence", -1.0, r"log_evidence is -1\.0; these answers have -.*another one"),
        ("log_evidence", "x", "log_evidence is 'x'"),
    ],
)
def test_what_was_not_kept_by_it_is_refused(place: str, value: Any, message: str) -> None:
    saved = estimator_given(ANSWERS).to_dict()
    with pytest.raises(ValueError, match=message):
        ThresholdEstimator.from_dict(change(saved, place, value))


@pytest.mark.parametrize("value", [None, [], "text", {}])
def test_what_is_none_of_it_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="format is None; allowed is 'gp-pta estimator 2'"):
        ThresholdEstimator.from_dict(value)


def test_another_evidence_is_taken_if_nobody_asks() -> None:
    saved = estimator_given(ANSWERS).to_dict()
    again = ThresholdEstimator.from_dict(change(saved, "log_evidence", None))
    assert look_at(again) == look_at(estimator_given(ANSWERS))


def test_an_answer_whose_posterior_was_not_found_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def observe(self: Any, n: int, *_: Any) -> int:
        return NOT_CONVERGED

    estimator = ThresholdEstimator()
    monkeypatch.setattr(MixtureModel, "observe", observe)
    with pytest.raises(InferenceError):
        estimator.observe(1000.0, 40.0, True)

    assert ThresholdEstimator.from_dict(estimator.to_dict()).answers == estimator.answers
