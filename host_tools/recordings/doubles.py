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
    content: str  # digest of the file
    device: str  # serial number, "": unknown
    session: int | None
    started: str
    finished: bool
    path: str = ""  # of its journal; "": it is in a document

    @property
    def beginning(self) -> tuple[str, int | None, str]:
        """Return what a session of a known device is told from all others by."""
        return self.device, self.session, self.started


@dataclass
class Doubles(Generic[T]):
    """Sessions without those that are there twice, and what is to be said of these."""

    kept: list[T] = field(default_factory=list)
    left_out: list[tuple[T, str]] = field(default_factory=list)  # why, in words
    doubted: list[str] = field(default_factory=list)  # that are kept
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
    # of known devices
    by_beginning: dict[tuple[str, int | None, str], About] = {}
    by_number: dict[tuple[str, int | None], About] = {}
    places = sorted(range(len(sessions)), key=lambda place: _last(about(sessions[place])))
    for place in places:
        session = about(sessions[place])
        twin, same = by_content.get(session.content), by_beginning.get(session.beginning)
        other = by_number.get(session.beginning[:2])
        if twin is not None:
            told.left_out.append((sessions[place], f"{session.name} is a copy of {twin.name}"))
            continue
        if same is not None and (not session.finished or _begins_with(same, session)):
            words = f"{session.name} is {same.name} before it was finished"
            told.left_out.append((sessions[place], words))
            continue
        if same is not None:
            told.doubted.append(
                f"{session.name} and {same.name} both say that they are session "
                f"{session.session} of device {session.device}, and differ"
            )
        elif other is not None:
            told.doubted.append(
                f"{session.name}, begun {session.started}, and {other.name}, begun "
                f"{other.started}, both say that they are session {session.session} of device "
                f"{session.device}: two devices have one serial number, or it began its numbers "
                "anew"
            )
        if other is not None:
            told.shared_devices.add(session.device)
        kept.append(place)
        by_content[session.content] = session
        if session.device:  # of an unknown one nobody knows
            by_beginning.setdefault(session.beginning, session)
            by_number.setdefault(session.beginning[:2], session)
    told.kept = [sessions[place] for place in sorted(kept)]
    return told


def _last(session: About) -> tuple[bool, int, bool]:
    own_name = session_number(Path(session.name)) == session.session
    return not session.finished, -_size(session), not own_name


def _size(session: About) -> int:
    try:
        return os.path.getsize(session.path) if session.path else 0
    except OSError:
        return 0


def _begins_with(whole: About, part: About) -> bool:
    """Return whether a journal begins with all of another one."""
    if not (whole.path and part.path):
        return False
    try:
        with open_named(Path(whole.path)) as longer, open_named(Path(part.path)) as shorter:
            content = shorter.read(JOURNAL_BYTES_MAX)
            return longer.read(len(content)) == content
    except OSError:
        return False
