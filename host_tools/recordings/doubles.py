"""Sessions that are there twice: copies of a journal, and what a session was before it went on.

A copy may have another name, and lie in a directory that was copied from one device to another: it
is found by what is in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from firmware_py.journal import is_unbroken
from firmware_py.journal.records import LineError
from firmware_py.platform.data_directory import session_number
from firmware_py.sessions.archive import Ends, read_ends, read_whole
from firmware_py.sessions.session_record import SessionRecordError

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


def without_doubles(sessions: Sequence[T], about: Callable[[T], About]) -> Doubles[T]:
    """Leave out what is there twice: a finished one counts, then one with its own name."""
    told = Doubles[T]()
    kept: list[int] = []
    by_content: dict[str, About] = {}
    by_beginning: dict[tuple[str, int | None, str], About] = {}  # of known devices
    places = sorted(range(len(sessions)), key=lambda place: _last(about(sessions[place])))
    for place in places:
        session = about(sessions[place])
        twin, same = by_content.get(session.content), by_beginning.get(session.beginning)
        if twin is not None:
            told.left_out.append((sessions[place], f"{session.name} is a copy of {twin.name}"))
            continue
        if same is not None and not session.finished:
            words = f"{session.name} is {same.name} before it was finished"
            told.left_out.append((sessions[place], words))
            continue
        if same is not None:
            told.doubted.append(
                f"{session.name} and {same.name} both say that they are session "
                f"{session.session} of device {session.device}, and differ"
            )
        kept.append(place)
        by_content[session.content] = session
        if session.device:  # of an unknown one nobody knows
            by_beginning.setdefault(session.beginning, session)
    told.kept = [sessions[place] for place in sorted(kept)]
    return told


def _last(session: About) -> tuple[bool, bool]:
    return not session.finished, session_number(Path(session.name)) != session.session


def ends_of(path: Path) -> Ends:
    """Return the beginning and the end of a journal, and check every line between.

    Errors are an `OSError` if it cannot be read, a `JournalError` if it is none or damaged, and a
    `SessionRecordError` if header or result are not those of a session.
    """
    try:
        ends = read_ends(path)
        if is_unbroken(path):
            return ends
    except (LineError, SessionRecordError):
        pass  # reading all of it tells what is wrong
    return read_whole(path)
