"""What is known of earlier sessions: read from their journals, found by number and never by a name.

Nothing is computed again: a result is the one that was recorded. That keeps looking at an old
session quick, and right whatever the present version would find.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware_py.journal import Disk, JournalError, RealDisk, Record, read_journal
from firmware_py.journal.records import HEADER_BYTES_MAX, LineError, decode_line

TAIL_BYTES: Final = 32 * 1024  # a result has at most 12 KiB, and only some notes come after it

COMPLETE: Final = "complete"
UNFINISHED: Final = "unfinished"  # in the place of an outcome
DAMAGED: Final = "damaged"


class ArchiveError(Exception):
    """A session of which nothing can be said, and why."""


@dataclass(frozen=True)
class Entry:
    """One session, at a glance.

    Attributes
    ----------
    outcome : str
        As in its result, or `UNFINISHED`, or `DAMAGED`: its beginning cannot be read.
    started : str
        ISO 8601.
    ears, identifier : str
        "" where unknown or not told.
    """

    outcome: str
    started: str = ""
    ears: str = ""
    identifier: str = ""


@dataclass(frozen=True)
class Found:
    """The recorded result of a session, and the header of its journal."""

    result: dict[str, Any]
    header: Record

    @property
    def calibration(self) -> dict[str, Any] | None:
        """Return the record of the calibration under which it was found."""
        calibration = self.header.get("calibration")
        return calibration if isinstance(calibration, dict) else None


@dataclass(frozen=True)
class Ends:
    """The beginning and the end of a journal.

    Attributes
    ----------
    header : dict
        Its first record.
    result : dict or None
        As recorded; None: there is none near the end.
    """

    header: Record
    result: dict[str, Any] | None


def read_ends(path: Path, disk: Disk | None = None) -> Ends:
    """Read the beginning and the end of a journal, whatever its size.

    The records between are not checked: `recorded_result` does that. The file system is the
    machine's own by default, here and below.

    Raises
    ------
    OSError
        It cannot be read.
    LineError
        Its first line is no header.
    """
    disk = disk or RealDisk()
    handle = disk.open(path, writable=False)
    try:
        head = disk.read(handle, 0, HEADER_BYTES_MAX)
        line = head[: head.find(b"\n") + 1]
        header = decode_line(line, 0, "").record
        tail_at = max(len(line), disk.size(handle) - TAIL_BYTES)
        tail = disk.read(handle, tail_at, TAIL_BYTES)
    finally:
        disk.close(handle)
    results = (_result(line) for line in reversed(tail.splitlines()))
    return Ends(header, next(filter(None, results), None))


def glance(path: Path, disk: Disk | None = None) -> Entry:
    """Look at the beginning and the end of a journal, whatever its size."""
    try:
        ends = read_ends(path, disk)
    except (OSError, LineError):
        return Entry(DAMAGED)
    header, result = ends.header, ends.result or {}
    person = header.get("person")
    settings = header.get("settings")
    return Entry(
        _text(result.get("outcome")) or UNFINISHED,
        _text(header.get("started")),
        _text(settings.get("ears") if isinstance(settings, dict) else None),
        _text(person.get("identifier") if isinstance(person, dict) else None),
    )


def recorded_result(path: Path, disk: Disk | None = None) -> Found:
    """Read a whole journal, with every check, and return its result.

    Raises
    ------
    ArchiveError
        If there is none, or the journal cannot be read or is damaged.
    """
    try:
        recovered = read_journal(path, disk=disk)
    except JournalError as error:
        raise ArchiveError(str(error)) from None
    for record in reversed(recovered.records):
        action = record.get("action")
        if isinstance(action, dict) and action.get("what") == "finish":
            result = action.get("result")
            if isinstance(result, dict) and isinstance(result.get("ears"), list):
                return Found(result, recovered.header)
    raise ArchiveError("it was not finished, so it has no result")


def _result(line: bytes) -> dict[str, Any] | None:
    """Return the result that a line tells, None if it tells none."""
    if b'"finish"' not in line:
        return None
    try:
        result = json.loads(line)["action"]["result"]
    except (ValueError, TypeError, KeyError):
        return None
    return result if isinstance(result, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
