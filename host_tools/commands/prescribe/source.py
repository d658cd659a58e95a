"""What every prescription is made from: a recorded session, or rows of a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from device.hearing_aid.whose import Whose
from firmware_py.findings.rows import Row
from host_tools.commands.prescribe.gap_part import GapPart
from host_tools.commands.prescribe.taken import Taken
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import RecordedSession


class NothingToPrescribeError(HostError):
    """An ear, or a session, of which too little is known; why in words."""


@dataclass(frozen=True)
class Source:
    """Where thresholds are from; it gives those of an ear when asked."""

    place: str  # what it is in, for refusals
    name: str  # what a fit says that it is from
    ears: Sequence[str]  # "left", "right" or both
    # the thresholds of an ear, and what bone conduction tells of it (None: nothing);
    # `NothingToPrescribeError` if nothing follows
    take: Callable[[str], tuple[Taken, GapPart | None]]
    whose: Whose  # with the tone generators of all of its ears
    # `which`, `known`: as JSON values, which it is, and what is known of it as a whole
    which: Mapping[str, Any]
    known: Mapping[str, Any] = field(default_factory=dict)
    headline: str = ""  # whose it is, for the screen; "": it does not tell
    said: Sequence[Row] = ()  # what has to be known of it
    advice: str = ""  # what can be done where a rule lacks a frequency, to end a sentence
    session: RecordedSession | None = None  # None: it is a table, and there is no paper of it
