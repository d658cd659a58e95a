"""The newest journal of a kind: of a session that goes on, or of one that is over."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic

from firmware_py.journal import (
    JournalDamagedError,
    JournalReadError,
    JournalUnstartedError,
    Recovered,
    read_journal,
)
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory, session_number
from firmware_py.platform.own_prior import FindPrior, find_beside
from firmware_py.sessions.replay import Replay, ReplayError, replay_from
from firmware_py.sessions.session import Session
from firmware_py.sessions.session_course import inputs_and_outputs, result_in
from firmware_py.sessions.session_record import First, SessionRecordError, Test, not_finished


@dataclass(frozen=True)
class Recorded(Generic[First]):
    """A session as its journal has it."""

    header: First
    result: Any  # None: it is unfinished, and cannot go on here


@dataclass(frozen=True)
class Newest(Generic[First, Test]):
    """What the newest journal holds, and what is wrong with journals, in words.

    One of `session`, which goes on, `finished` and `recorded` is there, or none could be read.
    """

    wrong: list[str]
    session: Session[First, Test] | None = None
    finished: Replay[First, Test, Any] | None = None
    # it does not come out here, or cannot go on: what was recorded stands
    recorded: Recorded[First] | None = None


def load_newest(data: DataDirectory, kind: type[First], clock: SteadyClock) -> Newest[First, Any]:
    """Read the newest journal; one that is damaged, or is not what its name says, is left as it is.

    A journal that was never begun holds nothing; the one before it is the newest then. `clock` is
    that of an unfinished session that is gone on with. `JournalWriteError` if the disk fails,
    `DataDirectoryError` if the directory cannot be read any more.
    """
    wrong: list[str] = []
    for path in data.newest_first(kind.KIND):
        try:
            newest = _load_patiently(data, path, kind, clock)
            return replace(newest, wrong=[*wrong, *newest.wrong])
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


def _load_patiently(
    data: DataDirectory, path: Path, kind: type[First], clock: SteadyClock
) -> Newest[First, Any]:
    try:
        return _load(data, path, kind, clock)
    except JournalReadError as error:
        if not isinstance(error.__cause__, OSError):
            raise
    return _load(data, path, kind, clock)  # a card that fails to read once often reads then


def _load(
    data: DataDirectory, path: Path, kind: type[First], clock: SteadyClock
) -> Newest[First, Any]:
    recovered = read_journal(path, disk=data.disk)
    header = kind.from_record(recovered.header)
    if header.session != session_number(path):  # it is of another session, of another person
        raise SessionRecordError(f"its header is that of {kind.KIND} {header.session}")
    if recovered.complete and not recovered.torn_bytes:
        return _load_finished(kind, header, recovered, find_beside(path.parent, data.disk))
    if not header.replays_here:
        words = f"{path.name}, begun {header.started}: {not_finished(header)}; it is left as it is"
        return Newest([words], recorded=Recorded(header, None))
    session: Session[First, Any]
    session, torn_bytes = Session.resume(path, kind, clock, data.seal_key, disk=data.disk)
    cut = (
        f"{path.name} had a torn end of {torn_bytes} bytes: cut off, and kept beside it; "
        "all records before it are good"
    )
    return Newest([cut] if torn_bytes else [], session)


def _load_finished(
    kind: type[First], header: First, recovered: Recovered, find_prior: FindPrior
) -> Newest[First, Any]:
    wrong: list[str] = []
    try:
        state: Replay[First, Any, Any] = replay_from(kind, recovered.records, None, find_prior)
        if not state.differences:
            return Newest([], finished=state)
        if not header.is_of_another_version:
            wrong.append(
                f"{recovered.path.name}: does not replay to what it records "
                f"({len(state.differences)} outputs differ); its result is told as it was recorded"
            )
    except ReplayError:
        if not header.is_of_another_version:
            raise
    result = result_in(inputs_and_outputs(header, recovered.records))
    if result is None:
        raise SessionRecordError("it ended without a result")
    return Newest(wrong, recorded=Recorded(header, result))
