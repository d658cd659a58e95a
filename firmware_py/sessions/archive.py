"""Earlier sessions, as their journals recorded them: header and result, found by number.

Nothing is computed again. So it is quick to look at an old session, and its result is the one that
was found then, whatever this version would find.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_py.journal import (
    Disk,
    JournalError,
    JournalNewerError,
    JournalReadError,
    check_format,
    read_journal,
)
from firmware_py.journal.records import HEADER_BYTES_MAX, LineError, decode_line
from firmware_py.sessions.broken_off import Course
from firmware_py.sessions.session_course import inputs_and_outputs, result_in
from firmware_py.sessions.session_record import SessionHeader, SessionRecordError, not_finished
from firmware_py.terms.outcomes import DAMAGED, NEWER, UNFINISHED
from firmware_py.terms.results import SessionResult

TAIL_BYTES: Final = 64 * 1024  # a result has at most 32 KiB, and only some notes come after it


class ArchiveError(Exception):
    """A session of which nothing can be said, and why."""


class ForeignError(ArchiveError):
    """A journal with a record that no session wrote."""


class UnfinishedError(ArchiveError):
    """A session that has no result yet; `goes_on`: this version can go on with it."""

    def __init__(self, header: SessionHeader) -> None:
        self.goes_on = header.replays_here
        super().__init__(not_finished(header))


@dataclass(frozen=True)
class Entry:
    """One session, at a glance."""

    # as in its result, or `UNFINISHED`; or `DAMAGED`, `NEWER`: header or result cannot be read
    outcome: str
    started: str = ""  # ISO 8601
    # `ears`, `identifier`: "" where unknown or not told
    ears: str = ""
    identifier: str = ""
    session: int = 0  # its number by its header


@dataclass(frozen=True)
class Ends:
    """The beginning and the end of a session's journal; without a result it is not finished."""

    header: SessionHeader
    result: SessionResult | None
    course: Course | None = None  # None: the records between were not read


@dataclass(frozen=True)
class FinishedSession(Ends):
    """The same of a session that is finished."""

    result: SessionResult


def read_ends(path: Path, disk: Disk | None = None) -> Ends:
    """Read the beginning and the end of a journal, whatever its size; `read_whole` checks the rest.

    `LineError` if its first line is no header, `JournalNewerError` if only a later version knows
    its format, `SessionRecordError` if header or result are not those of a session.
    """
    disk = disk or Disk()
    handle = disk.open(path, writable=False)
    try:
        head = disk.read(handle, 0, HEADER_BYTES_MAX)
        line = head[: head.find(b"\n") + 1]
        first, _ = decode_line(line, 0, "")
        check_format(path, first)
        header = SessionHeader.from_record(first)
        tail_at = max(len(line), disk.size(handle) - TAIL_BYTES)
        tail = disk.read(handle, tail_at, TAIL_BYTES)
    finally:
        disk.close(handle)
    results = (_result(header, line) for line in reversed(tail.splitlines()))
    return Ends(header, next(filter(None, results), None))


def glance(path: Path, disk: Disk | None = None) -> Entry:
    try:
        ends = read_ends(path, disk)
    except JournalNewerError:
        return Entry(NEWER)
    except (OSError, JournalReadError, LineError, SessionRecordError):
        return Entry(DAMAGED)
    header, result = ends.header, ends.result
    return Entry(
        result.outcome if result else UNFINISHED,
        header.started,
        header.settings.ears,
        header.person.identifier or "",
        header.session,
    )


def read_whole(path: Path, disk: Disk | None = None) -> Ends:
    """Read a whole journal, with every check, and return its beginning and its end."""
    recovered = read_journal(path, disk=disk)
    header = SessionHeader.from_record(recovered.header)
    told = [*inputs_and_outputs(header, recovered.records)]
    return Ends(header, result_in(told), Course.of(header, told))


def recorded_ends(path: Path, disk: Disk | None = None) -> Ends:
    """Return what `read_whole` reads; `ForeignError` if it says what no session wrote."""
    try:
        return read_whole(path, disk)
    except JournalError as error:
        raise ArchiveError(str(error)) from None
    except SessionRecordError as error:
        raise ForeignError(f"{path}: {error}") from None


def recorded_result(path: Path, disk: Disk | None = None) -> FinishedSession:
    """Return what `recorded_ends` reads; `UnfinishedError` if there is no result."""
    return require_result(recorded_ends(path, disk))


def require_result(ends: Ends) -> FinishedSession:
    if ends.result is not None:
        return FinishedSession(ends.header, ends.result, ends.course)
    raise UnfinishedError(ends.header)


def _result(header: SessionHeader, line: bytes) -> SessionResult | None:
    if b'"finish"' not in line:
        return None
    try:
        record = json.loads(line)
        number, action = record["n"], record["action"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return header.result_of(number, action)
