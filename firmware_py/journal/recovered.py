"""What a journal holds, as its reader returns it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]


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
        """Record 0."""
        return self.records[0]

    @property
    def complete(self) -> bool:
        """Whether an "end" record is there, with at most notes of recoveries behind it."""
        for record in reversed(self.records):
            if not is_recovery_note(record):
                return bool(record["kind"] == "end")
        return False


def is_recovery_note(record: Mapping[str, object]) -> bool:
    """Return whether a record is the note of a recovery about bytes it cut off."""
    return record.get("kind") == "note" and record.get("what") == "recovered"
