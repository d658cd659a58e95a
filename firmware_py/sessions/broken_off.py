"""When a session was broken off and gone on with, why it waited, and what was told beside it.

A session that was gone on with on another day was made on several days, and whoever tells when it
was says all of them.
"""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from firmware_py.calibration.in_force import CalibrationInForce, CalibrationOnFile
from firmware_py.sessions.noise_played import noise_played
from firmware_py.sessions.session_course import Input, Output
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.events import DiscomfortTold, Paused
from firmware_py.terms.reasons import Reasons


@dataclass(frozen=True)
class BrokenOff:
    """The firmware had ended, and the session was gone on with; both times in ISO 8601."""

    left: str  # when the last input before it came; "": the clock does not say
    resumed: str  # "": the format does not say


@dataclass(frozen=True)
class Waited:
    """The session waited for the operator's word."""

    at: str  # ISO 8601
    why: Reasons


@dataclass
class Course:
    """When a session was."""

    started: str
    ended: str  # the last input
    breaks: list[BrokenOff] = field(default_factory=list)
    waits: list[Waited] = field(default_factory=list)
    seconds: float = 0.0  # how long it took, without the breaks
    discomfort: dict[str, DiscomfortTold] = field(default_factory=dict)  # by ear, as told last
    noise: list[dict[str, Any]] = field(default_factory=list)  # `noise_played`
    # Of each run of the firmware: the time of the session at which it began, and the clock's.
    runs: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def of(cls, header: SessionHeader, told: Iterable[Input | Output[Any]]) -> "Course":
        course = cls(header.started, header.started, runs=[(0, header.started)])
        last_us, told = 0, [*told]
        # Earlier formats have other actions.
        course.noise = [] if header.is_earlier else noise_played(told)
        inputs = [each for each in told if isinstance(each, Input)]
        for each in inputs:
            if each.resumed is not None:
                course.breaks.append(_break_of(course._clock(last_us), each.resumed))
            if each.resumed:
                course.runs.append((last_us, each.resumed))
            last_us = each.at_us
            if isinstance(each.event, DiscomfortTold):
                course.discomfort[each.event.ear] = each.event
            if isinstance(each.event, Paused) and each.event.why:
                waited = Waited(course._clock(last_us), each.event.why)
                course.waits.append(waited)
        if inputs:
            course.seconds = last_us / 1e6
            course.ended = course._clock(last_us)
        return course

    def _clock(self, us: int) -> str:
        """Return what the clock of the last run says at a time of the session."""
        since_us, since = self.runs[-1]
        return _later(since, us - since_us)

    def calibration(self, at_start: CalibrationInForce) -> CalibrationInForce:
        """Return a calibration as it was on the last day: one may have been due meanwhile."""
        made = at_start.calibration
        if made is None or not self.breaks:
            return at_start
        last_day = datetime.datetime.fromisoformat(self.ended).date()
        return CalibrationOnFile(made).judge(last_day)

    @property
    def begun(self) -> list[str]:
        return [self.started, *(each.resumed for each in self.breaks if each.resumed)]


def _break_of(left: str, resumed: str) -> BrokenOff:
    """Return a break; a clock that went back in it says nothing of when it began."""
    if not resumed:
        return BrokenOff(left, resumed)
    one, other = map(datetime.datetime.fromisoformat, (left, resumed))
    return BrokenOff(left if one <= other else "", resumed)


def _later(since: str, us: int) -> str:
    try:
        time = datetime.datetime.fromisoformat(since) + datetime.timedelta(microseconds=us)
    except OverflowError:
        return since
    return time.isoformat(timespec="seconds")
