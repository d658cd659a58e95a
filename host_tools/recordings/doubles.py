"""Sessions that are there twice: copies of a journal, and what a session was before it went on.

A copy may have another name, and lie in a directory that was copied from one device to another: it
is found by what is in it.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from firmware_py.journal import JOURNAL_BYTES_MAX
from firmware_py.platform.data_directory import session_number
from firmware_py.platform.named_file import open_named

T = TypeVar("T")


@dataclass(frozen=True)
class About:
    """What a journal is known by."""

    name: str
    content: str  # digest of the file; "": it is not known
    device: str  # serial number, "": unknown
    session: int | None
    started: str
    finished: bool
    path: str = ""  # of its journal; "": it is in a document

    @property
    def beginning(self) -> tuple[str, int | None, str]:
        """Return what all files of a session have in common."""
        return self.device, self.session, self.started


@dataclass
class Doubles(Generic[T]):
    """Sessions without those that are there twice, and what is to be said of these."""

    kept: list[T] = field(default_factory=list)
    left_out: list[tuple[T, str]] = field(default_factory=list)  # why, in words
    doubted: list[tuple[T, str]] = field(default_factory=list)  # that are kept, and why
    # serial numbers under which a number of a session came twice: of two devices, it seems
    shared_devices: set[str] = field(default_factory=set)


def without_doubles(sessions: Sequence[T], about: Callable[[T], About]) -> Doubles[T]:
    """Leave out what is there twice: a finished one counts, the longer one, one with its own name.

    A journal only grows. So of one session a file that another one begins with was copied before
    that one was whole.
    """
    told = Doubles[T]()
    kept: list[int] = []
    by_content: dict[str, About] = {}
    by_beginning: dict[tuple[str, int | None, str], list[About]] = {}
    by_number: dict[tuple[str, int | None], About] = {}  # of known devices
    places = sorted(range(len(sessions)), key=lambda place: _last(about(sessions[place])))
    for place in places:
        session = about(sessions[place])
        alike = by_beginning.setdefault(session.beginning, [])
        if why := _why_twice(session, by_content.get(session.content), alike):
            told.left_out.append((sessions[place], f"{session.name} is {why}"))
            continue
        other = by_number.get(session.beginning[:2])
        if other is not None:
            told.doubted.append((sessions[place], _doubt(session, other)))
            told.shared_devices.add(session.device)
        kept.append(place)
        alike.append(session)
        if session.content:
            by_content[session.content] = session
        if session.device:  # of an unknown one nobody knows
            by_number.setdefault(session.beginning[:2], session)
    told.kept = [sessions[place] for place in sorted(kept)]
    return told


def _why_twice(session: About, twin: About | None, alike: Sequence[About]) -> str:
    """Return what a session is, "": none of those that are kept."""
    if twin is not None:
        return f"a copy of {twin.name}"
    whole = next((each for each in alike if _was(session, each)), None)
    if whole is None:
        return ""
    return f"{whole.name} before it was {'finished' if whole.finished else 'longer'}"


def _was(session: About, whole: About) -> bool:
    """Return whether a session is an earlier state of another; of a document its word counts."""
    if session.path and whole.path:
        return _begins_with(whole, session)
    return session.device != "" and not session.finished


def _doubt(session: About, other: About) -> str:
    number = f"session {session.session} of device {session.device}"
    if session.started == other.started:
        return f"{session.name} and {other.name} both say that they are {number}, and differ"
    return (
        f"{session.name}, begun {session.started}, and {other.name}, begun {other.started}, both "
        f"say that they are {number}: two devices have one serial number, or it began its numbers "
        "anew"
    )


def _last(session: About) -> tuple[bool, int, bool]:
    own_name = session_number(Path(session.name)) == session.session
    return not session.finished, -_size(session), not own_name


def _size(session: About) -> int:
    try:
        return os.path.getsize(session.path) if session.path else 0
    except OSError:
        return 0


def _begins_with(whole: About, part: About) -> bool:
    """Return whether a journal begins with all whole lines of another one."""
    try:
        with open_named(Path(whole.path)) as longer, open_named(Path(part.path)) as shorter:
            content = shorter.read(JOURNAL_BYTES_MAX)
            size = content.rfind(b"\n") + 1  # what is torn after that is cut off at the next start
            return size > 0 and longer.read(size) == content[:size]
    except OSError:
        return False
