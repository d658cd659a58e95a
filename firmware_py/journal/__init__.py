"""The append-only record of a session: write, read, recover, check.  See ``README.md``."""

from firmware_py.journal.disk import Disk as Disk
from firmware_py.journal.errors import JournalDamagedError as JournalDamagedError
from firmware_py.journal.errors import JournalError as JournalError
from firmware_py.journal.errors import JournalExistsError as JournalExistsError
from firmware_py.journal.errors import JournalLockedError as JournalLockedError
from firmware_py.journal.errors import JournalNewerError as JournalNewerError
from firmware_py.journal.errors import JournalReadError as JournalReadError
from firmware_py.journal.errors import JournalRecordError as JournalRecordError
from firmware_py.journal.errors import JournalUnstartedError as JournalUnstartedError
from firmware_py.journal.errors import JournalWriteError as JournalWriteError
from firmware_py.journal.reader import check_format as check_format
from firmware_py.journal.reader import is_unbroken as is_unbroken
from firmware_py.journal.reader import read_journal as read_journal
from firmware_py.journal.records import FORMAT_VERSION as FORMAT_VERSION
from firmware_py.journal.records import HEADER_BYTES_MAX as HEADER_BYTES_MAX
from firmware_py.journal.records import JOURNAL_BYTES_MAX as JOURNAL_BYTES_MAX
from firmware_py.journal.records import RECORD_BYTES_MAX as RECORD_BYTES_MAX
from firmware_py.journal.recovered import Record as Record
from firmware_py.journal.recovered import Recovered as Recovered
from firmware_py.journal.recovered import is_recovery_note as is_recovery_note
from firmware_py.journal.recovered import recorder_of as recorder_of
from firmware_py.journal.seal import SECRET_BYTES as SECRET_BYTES
from firmware_py.journal.seal import SealKey as SealKey
from firmware_py.journal.seal import first_broken as first_broken
from firmware_py.journal.writer import JournalWriter as JournalWriter
