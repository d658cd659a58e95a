"""What a tuning says in its journal, `tuning-000001.journal`."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from firmware_py import __version__
from firmware_py.journal import Record
from firmware_py.procedure.events import Event, event_from_record
from firmware_py.procedure.printable import shown
from firmware_py.procedure.record_checks import ResultError
from firmware_py.procedure.tuning.events import KINDS
from firmware_py.procedure.tuning.result import TuningResult
from firmware_py.procedure.tuning.settings import TuningSettings
from firmware_py.procedure.tuning.tuning import Tuning
from firmware_py.sessions.identity import Identity, kind_and_name
from firmware_py.sessions.session import Replay, Session, Watcher, replay_from
from firmware_py.sessions.session_record import (
    FINISH,
    SessionRecordError,
    check_keys,
    checked_number,
    checked_start,
    checked_text,
)

PROCEDURE: Final = "tuning"  # in the place where a journal of a hearing test says nothing


@dataclass(frozen=True)
class TuningHeader:
    """The first record of the journal of a tuning."""

    session: int  # its number, among tunings
    settings: TuningSettings
    aid: str  # name and version of the engine
    identifier: str | None  # who was asked
    started: str  # date and time of day with the zone, ISO 8601
    device: str = ""  # serial number of the fitting device; "": unknown
    # `firmware`, `python`: versions
    firmware: str = __version__
    python: str = platform.python_version()

    def to_record(self) -> Record:
        """Return it as JSON values."""
        return {
            "procedure": PROCEDURE,
            "firmware": self.firmware,
            "python": self.python,
            "session": self.session,
            "settings": self.settings.as_record(),
            "aid": self.aid,
            "identifier": self.identifier,
            "started": self.started,
            "device": self.device,
        }

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Check what `to_record` wrote, and take it; the journal's own keys may stand beside.

        Raises
        ------
        SessionRecordError
            If a field is missing, or has a value that it cannot have.
        """
        try:
            if record["procedure"] != PROCEDURE:
                raise SessionRecordError(
                    f"procedure is {shown(record['procedure'])}; allowed is {PROCEDURE}"
                )
            identifier = record["identifier"]
            header = cls(
                checked_number(record["session"]),
                TuningSettings.from_record(record["settings"]),
                checked_text("aid", record["aid"]),
                None if identifier is None else checked_text("identifier", identifier),
                checked_start(record["started"]),
                checked_text("device", record["device"]),
                checked_text("firmware", record["firmware"]),
                checked_text("python", record["python"]),
            )
            check_keys(record, header.to_record())
            return header
        except KeyError as error:
            raise SessionRecordError(f"the header has no {error.args[0]!r}") from None
        except (ResultError, SessionRecordError) as error:
            raise SessionRecordError(f"the header: {error}") from None

    def new_test(self) -> Tuning:
        """Return the tuning, before its first event."""
        return Tuning(self.settings)

    def event_from_record(self, record: object) -> Event:
        """Return the event of an input; `ValueError` if a tuning takes no such event."""
        return event_from_record(record, KINDS)

    def result_of(self, number: int, action: object) -> TuningResult | None:
        """Return the result that the action of a record tells; None: it is another action.

        Raises
        ------
        SessionRecordError
            If it is no result that a tuning can have.
        """
        if not isinstance(action, dict) or action.get("what") != FINISH:
            return None
        try:
            return TuningResult.from_record(action.get("result"))
        except ResultError as error:
            raise SessionRecordError(f"record {number}: {error}") from None


TuningReplay = Replay[TuningHeader, Tuning, TuningResult]
TuningSession = Session[TuningHeader, Tuning]


def replay_tuning(records: Sequence[Record], watch: Watcher | None = None) -> TuningReplay:
    """Feed the journal of a tuning through the procedure; see `session.replay_from`."""
    state: TuningReplay = replay_from(TuningHeader.from_record, records, watch)
    return state


def is_tuning(header: dict[str, Any]) -> bool:
    """Return whether this is the header of a tuning, of whatever version."""
    return header.get("procedure") == PROCEDURE


def identity_of_tuning(header: TuningHeader, board: str = "") -> Identity:
    """Return who and what a tuning is of; `board`: which one, with its button, answered last."""
    kind, name = kind_and_name(board)
    return Identity(
        identifier=header.identifier,
        device=header.device or None,
        board_kind=kind,
        board=name,
        aid=header.aid,
        fit=header.settings.fit,
    )
