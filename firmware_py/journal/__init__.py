"""The append-only record of a session: write, read, recover, check.  See ``README.md``."""

from firmware_py.journal.disk import Disk, RealDisk
from firmware_py.journal.errors import (
    JournalDamagedError,
    JournalError,
    JournalExistsError,
    JournalLockedError,
    JournalReadError,
    JournalRecordError,
    JournalUnstartedError,
    JournalWriteError,
)
from firmware_py.journal.reader import is_unbroken, read_journal
from firmware_py.journal.records import (
    FORMAT_VERSION,
    HEADER_BYTES_MAX,
    JOURNAL_BYTES_MAX,
    RECORD_BYTES_MAX,
)
from firmware_py.journal.recovered import Record, Recovered, is_recovery_note
from firmware_py.journal.seal import SECRET_BYTES, SealKey, first_broken
from firmware_py.journal.writer import JournalWriter

__all__ = [
    "FORMAT_VERSION",
    "HEADER_BYTES_MAX",
    "JOURNAL_BYTES_MAX",
    "RECORD_BYTES_MAX",
    "SECRET_BYTES",
    "Disk",
    "JournalDamagedError",
    "JournalError",
    "JournalExistsError",
    "JournalLockedError",
    "JournalReadError",
    "JournalRecordError",
    "JournalUnstartedError",
    "JournalWriteError",
    "JournalWriter",
    "RealDisk",
    "Record",
    "Recovered",
    "SealKey",
    "first_broken",
    "is_recovery_note",
    "is_unbroken",
    "read_journal",
]
