"""What a session says of itself in its journal: the header, and the result at the end.

Whoever reads a journal has both checked here.
"""

import datetime
import platform
from dataclasses import dataclass
from typing import Any, Final, Self

from firmware_py import __version__
from firmware_py.calibration.file import CalibrationError
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.journal import Record
from firmware_py.procedure.person import Person
from firmware_py.procedure.results import ResultError, SessionResult, shown
from firmware_py.procedure.settings import BOTH, LEFT, RIGHT, SettingError, Settings

FINISH: Final = "finish"  # the action whose record has the result


class SessionRecordError(ValueError):
    """A header or a result that no session wrote; the message has the record and the field."""


@dataclass(frozen=True)
class SessionHeader:
    """The first record of a session's journal."""

    session: int  # its number
    settings: Settings  # of the test
    person: Person  # who was tested
    calibration: CalibrationInForce  # as it was judged when the session began
    started: str  # date and time of day with the zone, ISO 8601, for people
    # `firmware`, `python`: versions
    firmware: str = __version__
    python: str = platform.python_version()

    def to_record(self) -> Record:
        """Return it as JSON values."""
        return {
            "firmware": self.firmware,
            "python": self.python,
            "session": self.session,
            "settings": self.settings.as_record(),
            "person": self.person.as_record(),
            "calibration": self.calibration.as_record(),
            "seed": self.settings.seed,
            "started": self.started,
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
            return cls(
                _session_number(record["session"]),
                _settings(record["settings"]),
                Person.from_record(record["person"]),
                _calibration(record["calibration"]),
                _started(record["started"]),
                _text("firmware", record["firmware"]),
                _text("python", record["python"]),
            )
        except KeyError as error:
            raise SessionRecordError(f"the header has no {error.args[0]!r}") from None
        except (SettingError, SessionRecordError) as error:
            raise SessionRecordError(f"the header: {error}") from None

    def result_of(self, number: int, action: object) -> SessionResult | None:
        """Return the result that the action of a record tells; None: it is another action.

        Parameters
        ----------
        number : int
            Of the record, for the message.
        action : object
            JSON values.

        Raises
        ------
        SessionRecordError
            If it is no result that this session can have.
        """
        if not isinstance(action, dict) or action.get("what") != FINISH:
            return None
        try:
            result = SessionResult.from_record(action.get("result"))
        except ResultError as error:
            raise SessionRecordError(f"record {number}: {error}") from None
        tested = {LEFT, RIGHT} if self.settings.ears == BOTH else {self.settings.ears}
        if result.by_ear.keys() != tested:
            told, allowed = (", ".join(sorted(ears)) for ears in (result.by_ear, tested))
            raise SessionRecordError(f"record {number}: result.ears are {told}; allowed {allowed}")
        return result


def _session_number(value: object) -> int:
    if type(value) is not int or value < 1:
        raise SessionRecordError(f"session is {shown(value)}; allowed are whole numbers from 1 on")
    return value


def _settings(value: Any) -> Settings:
    if not isinstance(value, dict):
        raise SessionRecordError(f"settings is {shown(value)}; allowed is an object")
    for name in Settings.__dataclass_fields__:
        if name not in value:
            raise SessionRecordError(f"settings has no {name!r}")
    return Settings.from_record(value)


def _calibration(value: Any) -> CalibrationInForce:
    try:
        in_force = CalibrationInForce.from_record(value)
    except CalibrationError as error:
        raise SessionRecordError(f"calibration: {error}") from None
    _text("calibration", in_force.headline)
    return in_force


def _started(value: object) -> str:
    text = _text("started", value)
    try:
        zone = datetime.datetime.fromisoformat(text).tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise SessionRecordError(f"started is {text!r}; allowed is a time with its zone, ISO 8601")
    return text


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise SessionRecordError(f"{name} is {shown(value)}; allowed is a text that can be printed")
    return value
