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


def record_with(**values: Any) -> dict[str, Any]:
    """Return the record of a result so far with other values of the first ear."""
    record = HearingTest(Settings()).result().to_record()
    record["ears"][0] |= values
    return record


def refused(record: dict[str, Any], place: str) -> None:
    with pytest.raises(ResultError, match=rf"^result\.{place}"):
        SessionResult.from_record(record, so_far=True)


def test_a_result_so_far_is_the_same_after_its_record_and_is_no_end() -> None:
    result = HearingTest(Settings()).result()
    assert SessionResult.from_record(result.to_record(), so_far=True) == result
    with pytest.raises(ResultError, match=r"^result\.outcome is ''; allowed are complete, "):
        SessionResult.from_record(result.to_record())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "40", 10**400])
@pytest.mark.parametrize("name", [f.name for f in fields(ThresholdResult)])
def test_what_is_no_number_is_refused(name: str, value: Any) -> None:
    record = record_with()
    record["ears"][1]["thresholds"][9][name] = value
    refused(record, rf"ears\[1\]\.thresholds\[9\]\.{name} is ")


FOUND: dict[str, Any] = {
    "frequency_hz": 750, "mark": "inferred", "threshold_db_hl": 20.0, "sd_db": 3.0,
    "low_db_hl": 14.0, "high_db_hl": 26.0, "limit_db_hl": None, "masking": None,
    "air_bone_gap_db": None, "floor_db_hl": -10.0, "ceiling_db_hl": 100.0,
}  # fmt: skip
NUMBERS = ("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl")


def test_an_inferred_threshold_has_numbers_and_nothing_that_only_a_tone_can_tell() -> None:
    result = SessionResult.from_record(record_with(thresholds=[FOUND]), so_far=True)
    assert result.ears[0].thresholds[0].mark == Outcome.INFERRED


# What an ear may not have, by the place that is named.
OF_A_THRESHOLD: list[tuple[dict[str, Any], str]] = [
    *(({name: None}, f"{name} is None; allowed is a number of a mark inferred$")
      for name in NUMBERS),
    *(({name: value}, f"{name} is .*; allowed is null of a mark inferred$") for name, value in
      [("limit_db_hl", 100.0), ("masking", "masked"), ("masking", "none"),
       ("air_bone_gap_db", 20.0)]),
    ({"mark": "incomplete"}, "threshold_db_hl is 20.0; allowed is null of a mark incomplete$"),
    ({"mark": "no-response", **dict.fromkeys(NUMBERS)},
     "limit_db_hl is None; allowed is a number of a mark no-response$"),
    ({"low_db_hl": 26.5}, "high_db_hl is 26.0; allowed is low_db_hl, 26.5, and more$"),
]  # fmt: skip
CONFIRMED: dict[str, Any] = {
    "frequency_hz": 1000, "threshold_db_hl": 25.0, "mark": "measured", "tones": 8
}  # fmt: skip
OF_CONFIRMED: list[tuple[list[Any], str]] = [
    ([CONFIRMED | {"threshold_db_hl": None}], r"\[0\]\.threshold_db_hl is None"),
    ([CONFIRMED | {"mark": "incomplete"}], r"\[0\]\.threshold_db_hl is 25\.0"),
    ([CONFIRMED | {"mark": "inferred"}], r"\[0\]\.mark is 'inferred'"),
    ([CONFIRMED | {"frequency_hz": 1100}], r"\[0\]\.frequency_hz is 1100"),
    ([CONFIRMED | {"tones": -1}], r"\[0\]\.tones is -1"),
    ([CONFIRMED, CONFIRMED], r"\[1\]\.frequency_hz is 1000"),
    ([25.0], r"\[0\] is 25\.0"),
]


@pytest.mark.parametrize(
    ("values", "place"),
    [
        *(({"thresholds": [FOUND | of]}, rf"thresholds\[0\]\.{at}") for of, at in OF_A_THRESHOLD),
        *(({"confirmed": of}, f"confirmed{at}") for of, at in OF_CONFIRMED),
        ({"outcome": "inferred"}, "outcome is 'inferred'; allowed"),
        ({"verdict": "good"}, "verdict is 'good'; allowed are valid, not-judged, doubtful, "),
    ],
)
def test_what_no_ear_can_have_is_refused(values: dict[str, Any], place: str) -> None:
    refused(record_with(**values), rf"ears\[0\]\.{place}")


def test_a_confirmed_threshold_is_the_same_after_its_record() -> None:
    silent = CONFIRMED | {"frequency_hz": 4000, "threshold_db_hl": None, "mark": "no-response"}
    record = record_with(confirmed=[CONFIRMED, silent])
    assert SessionResult.from_record(record, so_far=True).to_record() == record


@pytest.mark.parametrize("names", [("verdict",), ("boards",), ("verdict", "reasons", "tones")])
def test_a_record_that_lacks_anything_is_refused(names: tuple[str, ...]) -> None:
    record = record_with()
    for name in names:
        del record["ears"][0][name]
    refused(record, r"ears\[0\] is .*; allowed is an object of ear, ")
