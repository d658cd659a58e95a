"""What a session says in its journal: the header, what went in, what came out, and the result.

Whoever reads a journal has all of it checked here, once and for all commands: what is refused here
is refused by everyone, and what is not goes through the procedure.
"""

import datetime
import platform
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from firmware_py import __version__
from firmware_py.calibration.file import CalibrationError
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.journal import Record
from firmware_py.journal.records import HEADER_KEYS
from firmware_py.platform.data_directory import SESSION_NUMBER_MAX
from firmware_py.procedure.events import (
    Action,
    BoardReady,
    Event,
    Result,
    Started,
    board_us,
    event_from_record,
)
from firmware_py.procedure.person import Person
from firmware_py.procedure.printable import shown
from firmware_py.procedure.record_checks import ResultError
from firmware_py.procedure.results import SessionResult
from firmware_py.procedure.route import LEFT, RIGHT
from firmware_py.procedure.settings import BOTH, SettingError, Settings

if TYPE_CHECKING:  # who only reads what was found needs no kernels
    from firmware_py.procedure.hearing import HearingTest


class Procedure(Protocol):
    """What a session runs: a pure state machine, such as a hearing test."""

    @property
    def outcome(self) -> str:
        """Return how it ended, "" if it did not."""

    def handle(self, now_us: int, event: Event) -> list[Action]:
        """Take in one event at a time of the session, and say what to do."""


Test_co = TypeVar("Test_co", bound=Procedure, covariant=True)
Found_co = TypeVar("Found_co", bound=Result, covariant=True)

DATE_CHARACTERS: Final = 10  # of a time in ISO 8601
FINISH: Final = "finish"  # the action whose record has the result
SPEED_LIMITS: Final = (0.1, 1000.0)  # of the clock of a session, in that of the world


class SessionRecordError(ValueError):
    """A record that no session wrote; the message has record, field, value, and the rule."""


@dataclass(frozen=True)
class BoardMark:
    """Up to which event of which boot of the board everything is in the journal.

    `us`: the latest time of that boot that it has; it is told by the events, not by itself.
    """

    boot: str = ""
    event: int = 0
    us: int = 0

    def later(self, event: Event) -> Self:
        """Return the same after an event has told the board's time, or none."""
        return replace(self, us=max(self.us, board_us(event)))


class Header(Protocol[Test_co, Found_co]):
    """The first record of a journal: all that a procedure begins from."""

    @property
    def session(self) -> int:
        """Return the number of the session."""

    @property
    def started(self) -> str:
        """Return date and time of day when it began."""

    def to_record(self) -> Record:
        """Return it as JSON values."""

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Check what `to_record` wrote, and take it; `SessionRecordError` if it is not that."""

    def new_test(self) -> Test_co:
        """Return the procedure, before its first event."""

    def event_from_record(self, record: object) -> Event:
        """Return the event of an input; `ValueError` if this procedure takes no such event."""

    def result_of(self, number: int, action: object) -> Found_co | None:
        """Return the result that the action of a record tells; None: it is another action."""


@dataclass(frozen=True)
class SessionHeader:
    """The first record of the journal of a hearing test."""

    session: int  # its number
    settings: Settings  # of the test
    person: Person  # who was tested
    calibration: CalibrationInForce  # as it was judged when the session began
    started: str  # date and time of day with the zone, ISO 8601
    device: str = ""  # serial number of the fitting device; "": unknown
    tone_generator: str = ""  # that it is begun with, by its name and serial number
    # How many times faster than the world its clock ran; None: as that of an emulated board.
    speed: float | None = 1.0
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
            "started": self.started,
            "device": self.device,
            "tone_generator": self.tone_generator,
            "speed": self.speed,
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
            if "procedure" in record:
                raise SessionRecordError(
                    f"procedure is {shown(record['procedure'])}, and a hearing test has none"
                )
            header = cls(
                checked_number(record["session"]),
                _settings(record["settings"]),
                Person.from_record(record["person"]),
                _calibration(record["calibration"]),
                checked_start(record["started"]),
                checked_text("device", record["device"]),
                checked_text("tone_generator", record["tone_generator"]),
                _speed(record["speed"]),
                checked_text("firmware", record["firmware"]),
                checked_text("python", record["python"]),
            )
            header.person.check_use(header.settings)
            header.check_calibration()
            check_keys(record, header.to_record())
            return header
        except KeyError as error:
            raise SessionRecordError(f"the header has no {error.args[0]!r}") from None
        except (SettingError, SessionRecordError) as error:
            raise SessionRecordError(f"the header: {error}") from None

    def check_calibration(self) -> None:
        """Refuse a calibration of another board, or of another day.

        Raises
        ------
        SessionRecordError
        """
        if self.calibration.calibration is None:
            return
        self._check_board("tone_generator", self.tone_generator)
        if self.started[:DATE_CHARACTERS] != self.calibration.judged_on:
            raise SessionRecordError(
                f"calibration was judged on {self.calibration.judged_on}, and started is "
                f"{self.started}; allowed is the same day"
            )

    def _check_board(self, place: str, board: str) -> None:
        """Refuse a board that the calibration is not of."""
        if not self.calibration.is_of(board):
            raise SessionRecordError(
                f"calibration is {self.calibration.state} and {place} is {shown(board)}: it is not "
                "of that tone generator"
            )

    def new_test(self) -> "HearingTest":
        """Return the hearing test, before its first event.

        Raises
        ------
        SettingError
            If there can be no such test of this person.
        """
        from firmware_py.procedure.hearing import HearingTest

        calibration = self.calibration
        return HearingTest(
            self.settings, self.person, calibration.highest_db_hl, calibration.earphones
        )

    def event_from_record(self, record: object) -> Event:
        """Return the event of an input; `ValueError` if a hearing test takes no such event."""
        event = event_from_record(record)
        if isinstance(event, Started | BoardReady):
            self._check_board("its board", event.board)
        return event

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
        wanted_hz = self.settings.audiogram_hz
        for place, ear in enumerate(result.ears):
            told_hz = [each.frequency_hz for each in ear.thresholds]
            if told_hz != wanted_hz:
                raise SessionRecordError(
                    f"record {number}: result.ears[{place}].thresholds are of {told_hz} Hz; "
                    f"allowed are {wanted_hz}, each one once"
                )
        return result


def check_keys(record: Record, known: Iterable[str]) -> None:
    """Refuse what a header has besides what it is known to have, and the journal's own keys.

    Raises
    ------
    SessionRecordError
    """
    for name, value in record.items():
        if name not in {*known, *HEADER_KEYS}:
            raise SessionRecordError(
                f"{name} is {shown(value)}, and a header of this kind has no such field"
            )


def checked_number(value: object) -> int:
    """Return the number of a session; `SessionRecordError` if it is none."""
    if type(value) is not int or not 1 <= value <= SESSION_NUMBER_MAX:
        raise SessionRecordError(
            f"session is {shown(value)}; allowed are whole numbers from 1 to {SESSION_NUMBER_MAX}"
        )
    return value


def _speed(value: object) -> float | None:
    low, high = SPEED_LIMITS
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or (number and low <= value <= high):  # type: ignore[operator]
        return value  # type: ignore[return-value]
    raise SessionRecordError(
        f"speed is {shown(value)}; allowed are numbers from {low:g} to {high:g}, and null"
    )


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
    checked_text("calibration", in_force.headline)
    return in_force


def checked_start(value: object) -> str:
    """Return when a session began; `SessionRecordError` if that is no time."""
    text = checked_text("started", value)
    try:
        time = datetime.datetime.fromisoformat(text)
    except ValueError:
        time = None
    # Python takes other forms as well, and in them whatever stands between date and time.
    if time is None or time.tzinfo is None or time.isoformat() != text:
        raise SessionRecordError(
            f"started is {shown(text)}; allowed is a time with its zone, ISO 8601"
        )
    return text


def checked_text(name: str, value: object) -> str:
    """Return a text that can be printed; `SessionRecordError` if it is none."""
    if not isinstance(value, str) or not value.isprintable():
        raise SessionRecordError(f"{name} is {shown(value)}; allowed is a text that can be printed")
    return value
