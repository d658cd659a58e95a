"""One record, one line: encoding, decoding and the limits of both.  Nothing here touches a file.

The form of a line is in ``README.md`` of this room.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Final, NoReturn

from firmware_py.journal.errors import JournalRecordError
from firmware_py.journal.recovered import Record
from firmware_py.terms.printable import show

FORMAT_VERSION: Final = 3
"""Of the journals that are written; those of every format before are read (``FORMATS.md``)."""

RECORD_BYTES_MAX: Final = 24576
"""A record's line with its newline: 36 thresholds with bands and marks, and many words of a
result; far above any event, and a bound for the reader."""

HEADER_BYTES_MAX: Final = 64 * 1024
"""The header's line with its newline: configuration and calibration tables of a whole device."""

UNSYNCED_BYTES_MAX: Final = 64 * 1024
"""Lines written at once, hence the most that a power cut can leave torn at the end of a file."""

JOURNAL_BYTES_MAX: Final = 16 * 1024 * 1024
"""A whole journal: some hundred tests, or hours of a button pressed without end.  It bounds what a
reader keeps in memory."""

NESTING_MAX: Final = 32
"""Objects and lists inside each other: well below the recursion limit of any JSON reader."""

RESERVED_KEYS: Final = frozenset({"n", "synced", "seal", "crc"})
"""Keys the journal writes itself."""

HEADER_KEYS: Final = frozenset({"kind", "journal", "seal_key"})
"""Keys of the header that the journal writes itself, besides."""

HEAD: Final = re.compile(rb'\{"n": (0|[1-9]\d{0,17}), "synced": (0|[1-9]\d{0,17}), "kind": ')
TAIL: Final = re.compile(rb', "crc": "([0-9a-f]{8})"\}\n\Z')
TAIL_BYTES: Final = len(', "crc": "00000000"}\n')

assert HEADER_BYTES_MAX <= UNSYNCED_BYTES_MAX, "a header is written at once"
assert UNSYNCED_BYTES_MAX < JOURNAL_BYTES_MAX, "a journal is of many writes"
assert RECORD_BYTES_MAX <= HEADER_BYTES_MAX, "the reader's longest line is a header"


class LineError(Exception):
    """A line is not the record that belongs in its place; `misplaced`: it is another one."""

    def __init__(self, reason: str, *, misplaced: bool = False) -> None:
        super().__init__(reason)
        self.misplaced = misplaced


def line_bytes_max(number: int) -> int:
    return HEADER_BYTES_MAX if number == 0 else RECORD_BYTES_MAX


def chained_crc(previous_crc: str, body: bytes) -> str:
    """Return the CRC-32 of the previous record's CRC text and a line's body, as 8 hex digits."""
    return f"{zlib.crc32(body, zlib.crc32(previous_crc.encode('ascii'))):08x}"


def encode_line(
    number: int,
    synced: int,
    record: Mapping[str, object],
    previous_crc: str,
    seal: Callable[[bytes], str] | None = None,
) -> tuple[bytes, str]:
    """Return the line of a record and its CRC; `JournalRecordError` if it cannot be written.

    A record has JSON values: None, bool, int, finite float, str, list, dict with str keys.
    Subclasses come back as the plain type; tuples are refused, for they would come back as lists.
    `synced` records are known to be on the disk now. The CRC before the header is empty. `seal`
    returns the seal of a line's body, which the line then carries.
    """
    try:
        _check_keys(record)
        _check_values(record, values_max=line_bytes_max(number))
        whole = {"n": number, "synced": synced, "kind": record["kind"], **record}
        text = json.dumps(whole, ensure_ascii=False, allow_nan=False)
        body = text[:-1].encode("utf-8")
    except (ValueError, _RefusedError) as error:
        raise JournalRecordError(f"record {number} cannot be journalled: {error}") from None
    if seal is not None:
        body += f', "seal": "{seal(body)}"'.encode("ascii")
    crc = chained_crc(previous_crc, body)
    line = body + f', "crc": "{crc}"}}\n'.encode("ascii")
    if len(line) > line_bytes_max(number):
        raise JournalRecordError(
            f"record {number} of kind {record['kind']!r} cannot be journalled: its line has "
            f"{len(line)} bytes; at most {line_bytes_max(number)} are allowed"
        )
    return line, crc


def decode_line(line: bytes, number: int, previous_crc: str) -> tuple[Record, str]:
    """Return the record of a line that must be record `number`, and its CRC.

    The message of a `LineError` says what else the line is. The CRC before the header is empty.
    """
    head, crc = _frame(line, number)
    found = chained_crc(previous_crc, line[:-TAIL_BYTES])
    if found != crc:
        raise LineError(f"its CRC is {crc}, its bytes after the line before give {found}")
    record = _parse(line)
    synced = int(head[2])
    if synced > number:
        raise LineError(f'"synced" is {synced}; at most its own number {number} is possible')
    if (record["kind"] == "header") != (number == 0):
        kind = show(record["kind"])
        raise LineError(f"record {number} is of kind {kind}; only record 0 is a header")
    return record, crc


def _frame(line: bytes, number: int) -> tuple[re.Match[bytes], str]:
    if not line.endswith(b"\n"):
        if len(line) >= line_bytes_max(number):
            raise LineError(f"no newline within {line_bytes_max(number)} bytes, the most allowed")
        raise LineError("the file ends within the line")
    head = HEAD.match(line)
    if head is None:
        raise LineError('it does not start as a record: {"n": N, "synced": N, "kind": ...')
    tail = TAIL.search(line, len(line) - TAIL_BYTES)
    if tail is None:
        raise LineError('it does not end as a record: , "crc": "8 hex digits, lower case"}')
    if int(head[1]) != number:
        raise LineError(
            f"it is record {int(head[1])} where record {number} belongs; "
            "a line is missing, repeated or out of order",
            misplaced=True,
        )
    return head, tail[1].decode("ascii")


def _parse(line: bytes) -> Record:
    """Return the caller's record out of a line whose CRC is right."""
    try:
        whole: Record = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise LineError(f"its CRC is right but it is no JSON: {error}") from None
    return {key: value for key, value in whole.items() if key not in RESERVED_KEYS}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


class _RefusedError(Exception):
    """What is wrong with a record."""


def _check_keys(record: Mapping[str, object]) -> None:
    kind = record.get("kind")
    if not isinstance(kind, str) or not kind:
        raise _RefusedError(f'"kind" is {kind!r}; it must be a string that is not empty')
    taken = sorted(RESERVED_KEYS & record.keys())
    if taken:
        raise _RefusedError(f'the key "{taken[0]}" is written by the journal itself; use another')


def _check_values(record: Mapping[str, object], values_max: int) -> None:
    """Refuse whatever would not come back equal; look at no more than `values_max` values."""
    pending: list[tuple[str, object, int]] = [
        (_checked_key(key, "the record"), value, 1) for key, value in record.items()
    ]
    seen = 0
    while pending:
        place, value, depth = pending.pop()
        seen += 1
        if seen + len(pending) > values_max:  # each takes a byte at least
            raise _RefusedError(f"it holds more values than its {values_max} bytes at most can")
        if depth > NESTING_MAX:
            raise _RefusedError(f"more than {NESTING_MAX} objects and lists inside each other")
        if isinstance(value, dict):
            keyed = [(_checked_key(key, place), item) for key, item in value.items()]
            pending += [(f"{place}.{key}", item, depth + 1) for key, item in keyed]
        elif isinstance(value, list):
            pending += [(f"{place}[{i}]", item, depth + 1) for i, item in enumerate(value)]
        else:
            _check_scalar(value, place)


def _checked_key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise _RefusedError(f"a key in {place} is {key!r}; keys must be strings")
    return key


def _check_scalar(value: object, place: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise _RefusedError(f'"{place}" is {value!r}; only finite numbers are allowed')
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise _RefusedError(
            f'"{place}" is of type {type(value).__name__}; allowed are None, bool, int, '
            "float, str, list and dict"
        )
