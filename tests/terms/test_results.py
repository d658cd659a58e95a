"""A result is the same after a journal, and a number in it is one."""

import math
from dataclasses import fields
from typing import Any

import pytest

from firmware_py.session.hearing import HearingTest
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.record_checks import ResultError
from firmware_py.terms.results import SessionResult, ThresholdResult
from firmware_py.terms.settings import Settings


def test_a_result_so_far_is_the_same_after_its_record_and_is_no_end() -> None:
    result = HearingTest(Settings()).result()
    assert SessionResult.from_record(result.to_record(), so_far=True) == result
    with pytest.raises(ResultError, match=r"^result\.outcome is ''; allowed are complete, "):
        SessionResult.from_record(result.to_record())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "40", 10**400])
@pytest.mark.parametrize("name", [f.name for f in fields(ThresholdResult)])
def test_what_is_no_number_is_refused(name: str, value: Any) -> None:
    record = HearingTest(Settings()).result().to_record()
    record["ears"][1]["thresholds"][9][name] = value
    place = rf"^result\.ears\[1\]\.thresholds\[9\]\.{name} is "
    with pytest.raises(ResultError, match=place):
        SessionResult.from_record(record, so_far=True)


FOUND: dict[str, Any] = {
    "frequency_hz": 750, "mark": "inferred", "threshold_db_hl": 20.0, "sd_db": 3.0,
    "low_db_hl": 14.0, "high_db_hl": 26.0, "limit_db_hl": None, "masking": None,
    "air_bone_gap_db": None,
    "floor_db_hl": -10.0,
    "ceiling_db_hl": 100.0,
}  # fmt: skip


def _with_threshold(**values: Any) -> dict[str, Any]:
    record = HearingTest(Settings()).result().to_record()
    record["ears"][0]["thresholds"][2] = FOUND | values
    return record


def test_an_inferred_threshold_has_numbers_and_nothing_that_only_a_tone_can_tell() -> None:
    result = SessionResult.from_record(_with_threshold(), so_far=True)
    assert result.ears[0].thresholds[2].mark == Outcome.INFERRED


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("threshold_db_hl", None, "is a number of a mark inferred"),
        ("high_db_hl", None, "is a number of a mark inferred"),
        ("limit_db_hl", 100.0, "is null of a mark inferred"),
        ("masking", "masked", "is null of a mark inferred"),
        ("masking", "none", "is null of a mark inferred"),
        ("air_bone_gap_db", 20.0, "is null of a mark inferred"),
    ],
)
def test_an_inferred_threshold_with_more_or_less_is_refused(
    name: str, value: Any, allowed: str
) -> None:
    place = rf"^result\.ears\[0\]\.thresholds\[2\]\.{name} is .*; allowed {allowed}$"
    with pytest.raises(ResultError, match=place):
        SessionResult.from_record(_with_threshold(**{name: value}), so_far=True)


def test_no_ear_is_inferred() -> None:
    record = HearingTest(Settings()).result().to_record()
    record["ears"][0]["outcome"] = "inferred"
    with pytest.raises(ResultError, match=r"^result\.ears\[0\]\.outcome is 'inferred'; allowed"):
        SessionResult.from_record(record, so_far=True)


CONFIRMED: dict[str, Any] = {
    "frequency_hz": 1000, "threshold_db_hl": 25.0, "mark": "measured", "tones": 8
}  # fmt: skip


def _with_confirmed(*confirmed: dict[str, Any]) -> dict[str, Any]:
    record = HearingTest(Settings()).result().to_record()
    record["ears"][0]["confirmed"] = list(confirmed)
    return record


def test_a_confirmed_threshold_is_the_same_after_its_record() -> None:
    silent = CONFIRMED | {"frequency_hz": 4000, "threshold_db_hl": None, "mark": "no-response"}
    record = _with_confirmed(CONFIRMED, silent)
    assert SessionResult.from_record(record, so_far=True).to_record() == record


@pytest.mark.parametrize(
    ("confirmed", "place"),
    [
        ([CONFIRMED | {"threshold_db_hl": None}], r"\[0\]\.threshold_db_hl is None"),
        ([CONFIRMED | {"mark": "incomplete"}], r"\[0\]\.threshold_db_hl is 25\.0"),
        ([CONFIRMED | {"mark": "inferred"}], r"\[0\]\.mark is 'inferred'"),
        ([CONFIRMED | {"frequency_hz": 1100}], r"\[0\]\.frequency_hz is 1100"),
        ([CONFIRMED | {"tones": -1}], r"\[0\]\.tones is -1"),
        ([CONFIRMED, CONFIRMED], r"\[1\]\.frequency_hz is 1000"),
        ([25.0], r"\[0\] is 25\.0"),
    ],
)
def test_a_confirmed_threshold_that_cannot_be_is_refused(confirmed: list[Any], place: str) -> None:
    with pytest.raises(ResultError, match=rf"^result\.ears\[0\]\.confirmed{place}"):
        SessionResult.from_record(_with_confirmed(*confirmed), so_far=True)


def _lacking(*names: str) -> dict[str, Any]:
    record = HearingTest(Settings()).result().to_record()
    for ear in record["ears"]:
        for name in names:
            del ear[name]
    return record


@pytest.mark.parametrize("names", [("verdict",), ("boards",), ("verdict", "reasons", "tones")])
def test_a_record_that_lacks_anything_is_refused(names: tuple[str, ...]) -> None:
    place = r"^result\.ears\[0\] is .*; allowed is an object of ear, "
    with pytest.raises(ResultError, match=place):
        SessionResult.from_record(_lacking(*names), so_far=True)


def test_a_verdict_that_there_is_none_of_is_refused() -> None:
    record = HearingTest(Settings()).result().to_record()
    record["ears"][0]["verdict"] = "good"
    place = r"^result\.ears\[0\]\.verdict is 'good'; allowed are valid, not-judged, doubtful, "
    with pytest.raises(ResultError, match=place):
        SessionResult.from_record(record, so_far=True)
