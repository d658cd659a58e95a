"""A result is the same after a journal, and a number in it is one."""

import math
from dataclasses import fields
from typing import Any

import pytest

from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.results import ResultError, SessionResult, ThresholdResult
from firmware_py.procedure.settings import Settings


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
