"""Reading a journal: the good records, and a verdict on what follows them."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn

from firmware_py.journal.disk import Disk
from firmware_py.journal.errors import (
    JournalDamagedError,
    JournalNewerError,
    JournalReadError,
    JournalUnstartedError,
    system_reason,
)
from firmware_py.journal.records import (
    FORMAT_VERSION,
    HEADER_BYTES_MAX,
    JOURNAL_BYTES_MAX,
    TAIL,
    TAIL_BYTES,
    UNSYNCED_BYTES_MAX,
    LineError,
    chained_crc,
    decode_line,
    line_bytes_max,
)
from firmware_py.journal.recovered import Record, Recovered, format_of, recorder_of
from firmware_py.terms.printable import show

HEADER_START: Final = b'{"n": 0, "synced": 0, "kind": "header", "journal": '
_VERSION: Final = re.compile(re.escape(HEADER_START) + rb"(\d{1,9})[,}]")
READ: Final = f"this version reads formats 1 to {FORMAT_VERSION}"

_LATER_RECORD: Final = re.compile(
    # A record starts after a newline, or after a byte that was one: inside a record no
    # object stands one byte behind a `"}`, and a quote within a string has a backslash.
    rb'(?:\A|\n|"\}.)\{"n": (\d{1,18}), "synced": (\d{1,18}), "kind": ',
    re.DOTALL,
)


def read_journal(path: str | os.PathLike[str], *, disk: Disk | None = None) -> Recovered:
    """Read a journal and leave it as it is; a writer may have it open.

    What is wrong is a `JournalReadError`, or one below it: `JournalNewerError`,
    `JournalUnstartedError`, and `JournalDamagedError`, which has the good records.
    """
    disk = disk or Disk()
    path = Path(path)
    try:
        handle = disk.open(path, writable=False)
    except OSError as error:
        raise JournalReadError(path, f"cannot be opened: {system_reason(error)}") from error
    try:
        return scan(disk, handle, path)
    finally:
        disk.close(handle)


def is_unbroken(path: Path) -> bool:
    """Return whether every line's CRC continues that of the line before; it may raise ``OSError``.

    A quick look and no verdict: what is wrong, if something is, `read_journal` tells.
    """
    crc = ""
    with os.fdopen(Disk().open(path, writable=False), "rb") as file:
        if os.fstat(file.fileno()).st_size > JOURNAL_BYTES_MAX:
            return False
        while line := file.readline(HEADER_BYTES_MAX):
            tail = TAIL.search(line, max(0, len(line) - TAIL_BYTES))
            if tail is None or chained_crc(crc, line[: tail.start()]) != tail[1].decode():
                return False
            crc = tail[1].decode()
    return crc != ""


def scan(disk: Disk, handle: int, path: Path) -> Recovered:
    """Read an open journal; errors as of `read_journal`."""
    try:
        return _scan(disk, handle, path)
    except OSError as error:
        raise JournalReadError(path, f"cannot be read: {system_reason(error)}") from error


def _scan(disk: Disk, handle: int, path: Path) -> Recovered:
    size = disk.size(handle)  # a writer may lengthen the file meanwhile
    if size > JOURNAL_BYTES_MAX:
        raise JournalReadError(path, f"has {size} bytes; a journal has at most {JOURNAL_BYTES_MAX}")
    records: list[Record] = []
    offset, crc = 0, ""
    while offset < size:
        line = _line_at(disk, handle, offset, min(line_bytes_max(len(records)), size - offset))
        try:
            record, crc = decode_line(line, len(records), crc)
        except LineError as error:
            good = Recovered(path, tuple(records), offset, crc)
            tail = disk.read(handle, offset, min(size - offset, UNSYNCED_BYTES_MAX))
            return _judge(good, tail, size - offset, error)
        if not records:
            check_format(path, record)
        records.append(record)
        offset += len(line)
    if not records:
        raise JournalUnstartedError(path, "is empty; no header was ever recorded in it")
    return Recovered(path, tuple(records), offset, crc)


def _line_at(disk: Disk, handle: int, offset: int, bytes_max: int) -> bytes:
    chunk = disk.read(handle, offset, bytes_max)
    end = chunk.find(b"\n")
    return chunk if end < 0 else chunk[: end + 1]


def check_format(path: Path, header: Record) -> None:
    """Refuse a header of a format that this version does not read; errors as of `read_journal`."""
    version = format_of(header)
    if version > FORMAT_VERSION:
        raise JournalNewerError(path, f"was recorded by {recorder_of(header)}; {READ}")
    if version < 1:
        told = show(header.get("journal"))
        raise JournalReadError(path, f"has journal format version {told}; {READ}")


def _judge(good: Recovered, tail: bytes, torn_bytes: int, error: LineError) -> Recovered:
    """Tell a torn end, which is returned, from damage, which is raised.

    The bad line and all after it have `torn_bytes`; `tail` is as much of them as a torn end can
    reach.
    """
    proof = _proof_of_damage(tail, torn_bytes, len(good.records), error)
    if not good.records:
        _refuse_header(good.path, tail, proof, error)
    if proof:
        raise JournalDamagedError(good.path, len(good.records) + 1, good.good_bytes, proof, good)
    return replace(good, torn_bytes=torn_bytes)


def _proof_of_damage(tail: bytes, torn_bytes: int, number: int, error: LineError) -> str:
    """Return why the bytes from record `number` on are no torn end; empty if they may be one.

    A power cut tears nothing but the lines of one last write.  So a record further on that was
    appended when record `number` was on the disk already proves that this was changed later.
    """
    if error.misplaced:
        return str(error)
    for later in _LATER_RECORD.finditer(tail):
        later_number, synced = int(later[1]), int(later[2])
        if number < synced <= later_number:
            return (
                f"{error}; record {later_number} follows, appended when {synced} records "
                "were on the disk"
            )
    if torn_bytes > UNSYNCED_BYTES_MAX:
        return (
            f"{error}; {torn_bytes} bytes follow from there, and a power cut leaves at most "
            f"{UNSYNCED_BYTES_MAX}"
        )
    return ""


def _refuse_header(path: Path, tail: bytes, proof: str, error: LineError) -> NoReturn:
    version = _VERSION.match(tail)
    if version and not 1 <= int(version[1]) <= FORMAT_VERSION:
        kind = JournalNewerError if int(version[1]) else JournalReadError
        told = f"has journal format version {int(version[1])}, or a damaged header"
        raise kind(path, f"{told}; {READ}")
    if not (error.misplaced or tail.startswith(HEADER_START[: len(tail)])) and any(tail):
        raise JournalReadError(path, f"is no journal: line 1: {error}")
    if proof:
        raise JournalDamagedError(path, 1, 0, proof, None)
    raise JournalUnstartedError(
        path, f"has a torn header, so nothing after it was ever recorded: line 1: {error}"
    )
