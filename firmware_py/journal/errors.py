"""The errors of the journal."""

import errno
from pathlib import Path

from firmware_py.journal.recovered import Recovered


class JournalError(Exception):
    """Anything the journal refuses or cannot do."""


class JournalRecordError(JournalError):
    """A record cannot be written as a line; nothing was written and the journal goes on."""


class JournalExistsError(JournalError):
    """A journal is to be created where something stands already."""


class JournalLockedError(JournalError):
    """Another writer has the journal open."""


class JournalReadError(JournalError):
    """A file cannot be read as a journal."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


class JournalNewerError(JournalReadError):
    """A journal of a format that only a later version knows; it is left as it is."""


class JournalUnstartedError(JournalReadError):
    """The file is empty or its header is torn: a crash came before ``create`` returned.

    No record after the header was ever recorded in it, so it may be moved away.
    """


class JournalDamagedError(JournalReadError):
    """A journal was changed after it was written; recovery leaves it as it is.

    The first bad line is `line_number`, counted from 1. `good` has all records before it; None: the
    header itself is damaged.
    """

    def __init__(
        self, path: Path, line_number: int, byte_offset: int, reason: str, good: Recovered | None
    ) -> None:
        super().__init__(path, f"damaged at line {line_number} (byte {byte_offset}): {reason}")
        self.line_number = line_number
        self.byte_offset = byte_offset
        self.reason = reason
        self.good = good


class JournalWriteError(JournalError):
    """Something could not be written; the writer that says so is of no further use."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


def system_reason(error: OSError) -> str:
    """Return what the system said, as ``No space left on device (ENOSPC)``."""
    if error.errno is None:
        return str(error)
    return f"{error.strerror} ({errno.errorcode.get(error.errno, error.errno)})"


def records_named(numbers: range) -> str:
    """Return ``record 5``, ``records 5 to 7`` or ``no record``."""
    if not numbers:
        return "no record"
    if len(numbers) == 1:
        return f"record {numbers[0]}"
    return f"records {numbers[0]} to {numbers[-1]}"
