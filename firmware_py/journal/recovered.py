"""What a journal holds, as its reader returns it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from firmware_py.terms.printable import printable

Record: TypeAlias = dict[str, Any]
FIRMWARE_LETTERS_MAX: Final = 64  # of the version that recorded a journal, in a sentence


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a journal holds."""

    path: Path  # the file
    # all good records; record `n` is ``records[n]``, the header is ``records[0]``
    records: tuple[Record, ...]
    # the size of the lines read, which do not include the notes that ``resume`` adds
    good_bytes: int
    crc: str  # the CRC of the last line read
    # how many bytes follow those lines; on return from ``resume`` they have been cut off
    torn_bytes: int = 0

    @property
    def header(self) -> Record:
        return self.records[0]

    @property
    def format(self) -> int:
        return format_of(self.header)

    @property
    def complete(self) -> bool:
        """Whether an "end" record is there, with at most notes of recoveries behind it."""
        for record in reversed(self.records):
            if not is_recovery_note(record):
                return bool(record["kind"] == "end")
        return False


def format_of(header: Mapping[str, object]) -> int:
    version = header.get("journal")
    return version if type(version) is int else 0


def recorder_of(header: Mapping[str, object]) -> str:
    """Say which version recorded a journal, and in which format, as ``0.1.0 (format 1)``."""
    firmware = header.get("firmware")
    name = printable(firmware) if isinstance(firmware, str) and firmware else "an unnamed version"
    return f"{name[:FIRMWARE_LETTERS_MAX]} (format {format_of(header)})"


def is_recovery_note(record: Mapping[str, object]) -> bool:
    """Return whether a record is the note of a recovery about bytes it cut off."""
    return record.get("kind") == "note" and record.get("what") == "recovered"
