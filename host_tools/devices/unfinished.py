"""What is unfinished in a directory, and whose, before a command starts anything there.

A firmware goes on with what is unfinished. So a command looks first: a simulated listener would
finish the test of a person, and one person the tuning of another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware_py.journal import JournalError, JournalUnstartedError, Record, read_journal
from firmware_py.platform.data_directory import JOURNAL_NAME, SESSION, TUNING, session_number
from firmware_py.sessions.identity import Identity, Meeting, Rule, differences
from firmware_py.sessions.session_course import Input, inputs_and_outputs
from firmware_py.sessions.session_record import Header, SessionHeader, SessionRecordError
from firmware_py.terms.events import BoardReady, Started
from firmware_py.terms.printable import show
from firmware_py.tuning.tuning_record import TuningHeader
from host_tools.devices.device_answers import told_pairs
from host_tools.errors import HostError

# Kinds of tone generators, as the firmware names them.
SIMULATED_KIND: Final = "sim"
CARD_KIND: Final = "card"
NO_KIND: Final = "emulated"  # an emulated Pico cannot be told from a real one: it goes on with none
WHAT_TO_DO: Final = "finish it there as it began, or name another directory; nothing was touched"

# In the answer that says where a session is: it waits for the operator, who knows who sits there.
WAITS: Final = " check=identity "


@dataclass(frozen=True)
class Unfinished:
    """A session that is unfinished."""

    path: Path
    kind: str  # SESSION or TUNING
    started: str  # ISO 8601
    identity: Identity

    @property
    def words(self) -> str:
        who = "nobody named" if self.identity.identifier is None else self.identity.identifier
        board = "none yet" if self.identity.board is None else show(self.identity.board)
        return (
            f"{self.kind} {session_number(self.path)} of {who}, begun {self.started}, tone "
            f"generator {board}"
        )

    @property
    def of_somebody(self) -> bool:
        who = self.identity
        return any(each is not None for each in (who.identifier, who.sex, who.born_year))

    def refusal(self, why: str) -> HostError:
        return HostError(
            f"{str(self.path.parent)!r} has an unfinished {self.kind}: {self.words}; {why}; "
            f"{WHAT_TO_DO}"
        )


def find_unfinished(directory: Path, kind: str) -> Unfinished | None:
    """Return the newest session of a kind, SESSION or TUNING, if it is unfinished."""
    named = [path for path in directory.glob(f"{kind}-*.journal") if path.is_file()]
    journals = [path for path in named if JOURNAL_NAME.fullmatch(path.name)]
    for path in sorted(journals, key=session_number, reverse=True):
        try:
            recovered = read_journal(path)
            return None if recovered.complete else _look_at(path, kind, recovered.records)
        except JournalUnstartedError:
            continue
        except (JournalError, SessionRecordError):
            return None  # no firmware goes on with it
    return None


def check_unfinished(directory: Path | None, board_kind: str, tell: Callable[[str], None]) -> None:
    """Refuse a directory, if any, with what began with another kind of tone generator.

    `tell` is told what is gone on with.
    """
    for kind in (SESSION, TUNING) if directory is not None else ():
        assert directory is not None
        found = find_unfinished(directory, kind)
        if found is None:
            continue
        check_board_kind(found, board_kind)
        tell(f"unfinished in {directory}: {found.words}")


def check_board_kind(found: Unfinished, board_kind: str) -> None:
    """Refuse what began with another kind of tone generator."""
    kinds = differences(Meeting.RESUME, found.identity, Identity(board_kind=board_kind))
    if kinds or (found.identity.board is None and found.of_somebody):
        raise found.refusal(f"here it would be {show(board_kind)}")


def check_tuning(directory: Path | None, whose: Identity, tell: Callable[[str], None]) -> None:
    """Refuse a directory, if any, with an unfinished test, or the tuning of somebody else.

    `whose`: of person and fit that are to be tuned, at this computer. `tell` is told what is gone
    on with.
    """
    if directory is None:
        return
    test = find_unfinished(directory, SESSION)
    if test is not None:
        raise test.refusal("one session is under way at a time")
    found = find_unfinished(directory, TUNING)
    if found is None:
        return
    check_board_kind(found, CARD_KIND)
    for each in differences(Meeting.TUNE, found.identity, whose):
        if each.rule == Rule.REFUSED:
            raise found.refusal(each.words)
    tell(f"unfinished in {directory}: {found.words}")


def waiting_words(state: str) -> str:
    """Say what the operator is to do, from the answer that says where a session is."""
    return f"{why_of(state)} If so, --go-on goes on with it; nothing was played"


def why_of(state: str) -> str:
    """Return why a session waits, from the answer that says where it is."""
    return told_pairs("SESS:STAT?", state)["why"]


def _look_at(path: Path, kind: str, records: Sequence[Record]) -> Unfinished | None:
    """Return what is unfinished; None: only another version goes on with it."""
    of_kind: type[Header[Any, Any]] = TuningHeader if kind == TUNING else SessionHeader
    header = of_kind.from_record(records[0])
    if not header.replays_here:
        return None
    return Unfinished(path, kind, header.started, header.identity(_board(header, records)))


def _board(header: Header[Any, Any], records: Sequence[Record]) -> str:
    """Return the tone generator that answered last; "": none did, or it is unknown."""
    board = header.first_board
    for told in inputs_and_outputs(header, records):
        if isinstance(told, Input) and isinstance(told.event, Started | BoardReady):
            board = told.event.board
    return board
