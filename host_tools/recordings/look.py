"""A quick look at a journal: its ends, if all lines between are intact."""

from pathlib import Path

from firmware_py.journal import is_unbroken
from firmware_py.journal.records import LineError
from firmware_py.sessions.archive import Ends, read_ends, read_whole
from firmware_py.sessions.session_record import SessionRecordError


def ends_of(path: Path) -> Ends:
    """Return the beginning and the end of a journal, and check every line between.

    Raises
    ------
    OSError
        It cannot be read.
    JournalError
        It is no journal, or damaged.
    SessionRecordError
        Header or result are not those of a session.
    """
    try:
        ends = read_ends(path)
        if is_unbroken(path):
            return ends
    except (LineError, SessionRecordError):
        pass  # reading all of it tells what is wrong
    return read_whole(path)
