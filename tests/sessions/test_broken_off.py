"""When a session was, of one that was broken off and gone on with."""

from typing import Final

import pytest

from firmware_py.sessions.broken_off import Course
from firmware_py.sessions.session_course import Input
from firmware_py.sessions.session_record import BoardMark, SessionHeader
from firmware_py.terms.calibration_states import CALIBRATED, OVERDUE
from firmware_py.terms.events import Paused, TimePassed
from firmware_py.terms.person import Person
from firmware_py.terms.reasons import Code, Reasons, reason
from firmware_py.terms.settings import Settings
from tests.calibration.calibrations import MADE, on_file

STARTED = "2026-01-02T10:00:00+00:00"
MINUTE_US = 60_000_000


WHO: Final = (reason(Code.WAITS_CLOCK),)


def course(*resumed: str, why: Reasons = ()) -> Course:
    """Return that of a session of three minutes between its breaks."""
    header = SessionHeader(1, STARTED, Settings(), Person(), on_file().judge(MADE))
    inputs = [Input(1, 3 * MINUTE_US, TimePassed(), BoardMark(), None)]
    for place, when in enumerate(resumed):
        at_us = inputs[-1].at_us
        inputs.append(Input(2 + 2 * place, at_us, Paused(why), BoardMark(), when))
        inputs.append(Input(3 + 2 * place, at_us + 3 * MINUTE_US, TimePassed(), BoardMark(), None))
    return Course.of(header, inputs)


def test_each_break_is_dated_from_where_it_was_gone_on_with() -> None:
    found = course("2026-01-03T09:00:00+00:00", "2027-02-01T09:00:00+00:00", why=WHO)
    assert [(each.left, each.resumed) for each in found.breaks] == [
        ("2026-01-02T10:03:00+00:00", "2026-01-03T09:00:00+00:00"),
        ("2026-01-03T09:03:00+00:00", "2027-02-01T09:00:00+00:00"),
    ]
    assert [each.at for each in found.waits] == [each.resumed for each in found.breaks]
    assert found.ended == "2027-02-01T09:03:00+00:00"
    assert found.begun == [STARTED, *(each.resumed for each in found.breaks)]


def test_a_clock_that_was_set_back_says_nothing_of_a_break() -> None:
    (found,) = course("1970-01-01T00:00:05+00:00").breaks
    assert found.left == ""


@pytest.mark.parametrize(
    ("resumed", "state"),
    [((), CALIBRATED), (("2026-03-01T09:00:00+00:00",), CALIBRATED)]
    + [((day,), OVERDUE) for day in ("2028-01-01T09:00:00+00:00", "1970-01-01T00:00:05+00:00")],
)
def test_a_calibration_is_judged_on_the_last_day(resumed: tuple[str, ...], state: str) -> None:
    assert course(*resumed).calibration(on_file().judge(MADE)).state == state
