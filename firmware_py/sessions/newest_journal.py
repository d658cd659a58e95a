"""The newest journal: of a test that goes on, or of one that is over."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from firmware_py.journal import (
    JournalDamagedError,
    JournalReadError,
    JournalUnstartedError,
    read_journal,
)
from firmware_py.platform.data_directory import DataDirectory, session_number
from firmware_py.sessions.session import HearingReplay, HearingSession, ReplayError, Session, replay
from firmware_py.sessions.session_record import SessionHeader, SessionRecordError


@dataclass(frozen=True)
class Newest:
    """What the newest journal holds, and what is wrong with journals, in words.

    Either `session` goes on, or `finished` is over, or neither could be read.
    """

    wrong: list[str]
    session: HearingSession | None = None
    finished: HearingReplay | None = None


def load_newest(data: DataDirectory, now: datetime.datetime) -> Newest:
    """Read the newest journal; one that is damaged, or is not what its name says, is left as it is.

    A journal that was never begun holds nothing; the one before it is the newest then.

    Parameters
    ----------
    data : DataDirectory
        Where the journals are.
    now : datetime
        With its zone: when an unfinished session is gone on with.

    Raises
    ------
    JournalWriteError
        If the disk fails.
    DataDirectoryError
        If the data directory cannot be read any more.
    """
    wrong: list[str] = []
    for path in reversed(data.journals()):
        try:
            newest = _load_patiently(data, path, now)
            return Newest([*wrong, *newest.wrong], newest.session, newest.finished)
        except JournalUnstartedError:
            wrong.append(f"{path.name} was never begun: nothing had been recorded")
            continue
        except JournalDamagedError as error:
            good = len(error.good.records) if error.good else 0
            words = f"{error}; its first {good} records are good"
        except JournalReadError as error:
            words = str(error)
        except (ReplayError, SessionRecordError) as error:
            words = f"{path.name}: {error}"
        return Newest([*wrong, f"{words}; it is left as it is"])
    return Newest(wrong)


def _load_patiently(data: DataDirectory, path: Path, now: datetime.datetime) -> Newest:
    try:
        return _load(data, path, now)
    except JournalReadError as error:
        if not isinstance(error.__cause__, OSError):
            raise
    return _load(data, path, now)  # a card that fails to read once often reads then


def _load(data: DataDirectory, path: Path, now: datetime.datetime) -> Newest:
    recovered = read_journal(path, disk=data.disk)
    _check_name(path, SessionHeader.from_record(recovered.header))
    if recovered.complete and not recovered.torn_bytes:
        return Newest([], finished=replay(recovered.records))
    session, torn_bytes = Session.resume(
        path, data.seal_key, disk=data.disk, replay=replay, now=now
    )
    wrong = []
    if torn_bytes:
        wrong.append(
            f"{path.name} had a torn end of {torn_bytes} bytes: cut off, and kept beside it; "
            "all records before it are good"
        )
    return Newest(wrong, session)


def _check_name(path: Path, header: SessionHeader) -> None:
    """Raise `SessionRecordError` if the journal is that of another session, of another person."""
    if header.session != session_number(path):
        raise SessionRecordError(f"its header is that of session {header.session}")
