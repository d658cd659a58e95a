"""What a session says in its journal: the header, what went in, what came out, and the result.

Whoever reads a journal has all of it checked here, once and for all commands: what is refused here
is refused by everyone, and what is not goes through the procedure. What a field of a header may be
stands beside the field.
"""

import platform
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Generic, Protocol, Self, TypeVar

from firmware_py.calibration.fields import CalibrationError
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.calibration.simulated import BOARD_NAME
from firmware_py.journal import FORMAT_VERSION, Record, recorder_of
from firmware_py.journal.records import HEADER_KEYS
from firmware_py.platform.data_directory import SESSION, SESSION_NUMBER_MAX
from firmware_py.platform.own_prior import DIGEST, FindPrior, find_none
from firmware_py.platform.version import full_version
from firmware_py.sessions.earlier_formats import (
    EarlierSettings,
    header_today,
    recorded_settings,
    replay_words,
    result_today,
)
from firmware_py.sessions.identity import Identity
from firmware_py.sessions.start_time import start
from firmware_py.terms.events import (
    Action,
    BoardReady,
    Event,
    Result,
    Started,
    board_us,
    event_from_record,
)
from firmware_py.terms.person import Person
from firmware_py.terms.printable import show
from firmware_py.terms.reasons import Reasons
from firmware_py.terms.record_checks import (
    ResultError,
    checks_of,
    number_or_none,
    refusal,
    text,
    whole,
)
from firmware_py.terms.results import SessionResult
from firmware_py.terms.settings import SettingError, Settings

if TYPE_CHECKING:  # who only reads what was found needs no kernels
    from firmware_py.session.hearing import HearingTest


class Procedure(Protocol):
    """What a session runs: a pure state machine, such as a hearing test."""

    @property
    def state(self) -> str:
        """Return where it is: "ready" until it is started, "paused" until the operator's word."""

    @property
    def waits_why(self) -> Reasons:
        """Return why it is paused, and waits for the operator's word; nothing: it does not."""

    @property
    def board(self) -> str:
        """Return the tone generator that answered last; "": unknown."""

    @property
    def outcome(self) -> str:
        """Return how it ended, "" if it did not."""

    def handle(self, now_us: int, event: Event) -> list[Action]:
        """Take in one event at a time of the session, and say what to do."""


Test_co = TypeVar("Test_co", bound=Procedure, covariant=True)
Found_co = TypeVar("Found_co", bound=Result, covariant=True)

DATE_CHARACTERS: Final = 10  # of a time in ISO 8601
NO_PROCEDURE: Final = ", and a hearing test has none"
FINISH: Final = "finish"  # the action whose record has the result


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
        us = board_us(event)
        return replace(self, us=us) if us > self.us else self


@dataclass(frozen=True)
class Header(Generic[Test_co, Found_co]):
    """The first record of a journal: all that a procedure begins from."""

    KIND: ClassVar[str]  # of journal: how its name begins
    PROCEDURE: ClassVar[str] = ""  # "": a journal of this kind says nothing of it
    EVENTS: ClassVar[Mapping[str, type[Event]]] = Event.KINDS  # that it may have, by their names
    RESULT: ClassVar[type[Result]]
    # Fields that a record has only where there is something to say: else it is of the old form.
    RARE: ClassVar[tuple[str, ...]] = ()

    session: Annotated[int, whole(1, SESSION_NUMBER_MAX)]  # its number, among those of its kind
    started: Annotated[str, start]  # date and time of day
    _: KW_ONLY
    device: Annotated[str, text] = ""  # serial number of the fitting device; "": unknown
    # `firmware`, `python`: versions
    firmware: Annotated[str, text] = field(default_factory=full_version)
    python: Annotated[str, text] = platform.python_version()
    journal: Annotated[int, whole(1, FORMAT_VERSION)] = FORMAT_VERSION  # the format of all records

    def to_record(self) -> Record:
        """Return it as JSON values of today's format; the journal itself writes which that is."""
        values = {name: getattr(self, name) for name in checks_of(type(self))}
        del values["journal"]
        values = {n: value for n, value in values.items() if value or n not in self.RARE}
        record = {
            name: value.as_record() if hasattr(value, "as_record") else value
            for name, value in values.items()
        }
        return {"procedure": self.PROCEDURE, **record} if self.PROCEDURE else record

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Check what `to_record` wrote, of any format, and take it; the journal's keys may stay."""
        try:
            version = whole(1, FORMAT_VERSION)("journal", record.get("journal", FORMAT_VERSION))
            record = header_today({**record, "journal": version}, version)
            told = record.get("procedure", "")
            if told != cls.PROCEDURE:
                allowed = f"; allowed is {cls.PROCEDURE}" if cls.PROCEDURE else NO_PROCEDURE
                raise SessionRecordError(f"procedure is {show(told)}{allowed}")
            checks = checks_of(cls)
            told = [name for name in checks if name in record or name not in cls.RARE]
            header = cls(**{name: checks[name](name, record[name]) for name in told})
            header.check()
            for name in record.keys() - header.to_record().keys() - HEADER_KEYS:
                raise SessionRecordError(
                    f"{name} is {show(record[name])}, and a header of this kind has no such field"
                )
            return header
        except KeyError as error:
            raise SessionRecordError(f"the header has no {error.args[0]!r}") from None
        except (ResultError, SettingError, SessionRecordError) as error:
            raise SessionRecordError(f"the header: {error}") from None

    def check(self) -> None:
        """Refuse fields that do not go together; `ValueError` as of `from_record`."""

    def new_test(self, find_prior: FindPrior = find_none) -> Test_co:
        """Return the procedure, before its first event; `find_prior` has priors by their names."""
        raise NotImplementedError

    def identity(self, board: str = "") -> Identity:
        """Return who and what the session is of; `board`: which one answered last."""
        raise NotImplementedError

    @property
    def first_board(self) -> str:
        return ""

    @property
    def is_earlier(self) -> bool:
        return self.journal != FORMAT_VERSION

    @property
    def gone(self) -> str:
        return ""

    @property
    def replays_here(self) -> bool:
        """Return whether this version replays it, and goes on with it; others are only read."""
        return not (self.is_earlier or self.gone)

    @property
    def replay_words(self) -> str:
        """Say what is gone that it has, and which version replays it."""
        words = replay_words({"firmware": self.firmware, "journal": self.journal})
        return f"{self.gone}; {words}" if self.gone else words

    @property
    def is_of_another_version(self) -> bool:
        """Return whether another version recorded it, of which this one may differ in a replay."""
        return self.firmware != full_version() or not self.replays_here

    @property
    def recorded_by(self) -> str:
        return recorder_of({"firmware": self.firmware, "journal": self.journal})

    def event_from_record(self, record: object) -> Event:
        """Return the event of an input; `ValueError` if this procedure takes no such event."""
        return event_from_record(record, self.EVENTS)

    def result_of(self, number: int, action: object) -> Found_co | None:
        """Return the result that the action of record `number` tells; None: it is another one."""
        if not isinstance(action, dict) or action.get("what") != FINISH:
            return None
        try:
            told = result_today(action.get("result"), self.journal)
            result: Any = self.RESULT.from_record(told)
            self.check_result(result)
        except ResultError as error:
            raise SessionRecordError(f"record {number}: {error}") from None
        found: Found_co = result
        return found

    def check_result(self, result: Any) -> None:
        """Refuse a result of another session than this; `ResultError`."""


First = TypeVar("First", bound=Header[Any, Any])  # the first record
Test = TypeVar("Test", bound=Procedure)


def _calibration(place: str, value: Any) -> CalibrationInForce:
    try:
        in_force = CalibrationInForce.from_record(value)
    except CalibrationError as error:
        raise SessionRecordError(f"{place}: {error}") from None
    text(place, in_force.headline)
    return in_force


def _person(_place: str, value: Any) -> Person:
    return Person.from_record(value)


def _digest(place: str, value: Any) -> str:
    if not isinstance(value, str) or not DIGEST.fullmatch(value):
        raise refusal(place, value, "is a SHA-256, 64 hexadecimal digits")
    return value


@dataclass(frozen=True)
class SessionHeader(Header["HearingTest", SessionResult]):
    """The first record of the journal of a hearing test."""

    KIND = SESSION
    RESULT = SessionResult
    RARE = ("prior",)

    settings: Annotated[Settings, recorded_settings]  # of the test
    person: Annotated[Person, _person]  # who was tested
    # as it was judged when the session began
    calibration: Annotated[CalibrationInForce, _calibration]
    _: KW_ONLY
    tone_generator: Annotated[str, text] = ""  # that it is begun with, by name and serial number
    # How many times faster than the world its clock ran; None: as that of an emulated board.
    speed: Annotated[float | None, number_or_none(0.1, 1000.0, "")] = 1.0
    # SHA-256 of the file of a prior that somebody brought, kept beside; "": the one that ships
    prior: Annotated[str, _digest] = ""

    @property
    def gone(self) -> str:
        return self.settings.gone if isinstance(self.settings, EarlierSettings) else ""

    def check(self) -> None:
        """Refuse a calibration of another board or day, and a person whom the test cannot use."""
        self.person.check_use(self.settings)
        if self.calibration.calibration is None:
            return
        self._check_board("tone_generator", self.tone_generator)
        if self.started[:DATE_CHARACTERS] != self.calibration.judged_on:
            raise SessionRecordError(
                f"calibration was judged on {self.calibration.judged_on}, and started is "
                f"{self.started}; allowed is the same day"
            )

    def _check_board(self, place: str, board: str) -> None:
        if self.is_earlier and not board:
            return
        if not self.calibration.is_of(board):
            raise SessionRecordError(
                f"calibration is {self.calibration.state} and {place} is {show(board)}: it is not "
                "of that tone generator"
            )

    def new_test(self, find_prior: FindPrior = find_none) -> "HearingTest":
        """Return the hearing test, before its first event.

        `SettingError` if there can be no such test of this person, or with this calibration.
        """
        from firmware_py.session.hearing import HearingTest

        calibration = self.calibration
        for route in self.settings.tested_routes:
            if lacking := calibration.lacks(route):
                raise SettingError(lacking)
        prior = find_prior(self.prior) if self.prior else None
        return HearingTest(
            self.settings, self.person, calibration.highest_db_hl, calibration.earphones, prior,
            calibration.audiogram_hz,
        )  # fmt: skip

    def identity(self, board: str = "") -> Identity:
        by_bone = any(route.by_bone for route in self.settings.tested_routes)
        return Identity.of_test(
            self.person, self.started, self.device, self.calibration, board, by_bone=by_bone
        )

    @property
    def first_board(self) -> str:
        return self.tone_generator

    def is_simulated(self, result: SessionResult) -> bool | None:
        """Return whether a program answered in the place of a listener, or not in real time.

        None: nothing in the record says so, for its format names no tone generator.

        An emulated board calls itself as a real one does; it is known by the clock, which is its
        own.
        """
        boards = [self.tone_generator, *(board for ear in result.ears for board in ear.boards)]
        if self.is_earlier and not any(boards):
            return None
        return self.speed is None or BOARD_NAME in {each.partition(" ")[0] for each in boards}

    def event_from_record(self, record: object) -> Event:
        event = super().event_from_record(record)
        if isinstance(event, Started | BoardReady):
            self._check_board("its board", event.board)
        return event

    def check_result(self, result: SessionResult) -> None:
        tested = {*self.settings.tested_routes}
        if result.by_route.keys() != tested:
            told, allowed = (
                ", ".join(sorted(map(str, each))) for each in (result.by_route, tested)
            )
            raise ResultError(f"result.ears are {told}; allowed {allowed}")
        for place, ear in enumerate(result.ears):
            wanted_hz = self.settings.in_range(self.calibration.audiogram_hz(ear.route))
            told_hz = [each.frequency_hz for each in ear.thresholds]
            if told_hz != wanted_hz:
                raise ResultError(
                    f"result.ears[{place}].thresholds are of {told_hz} Hz; "
                    f"allowed are {wanted_hz}, each one once"
                )


def not_finished(header: Header[Any, Any]) -> str:
    """Say that a session has no result, and of one that is only read who can go on with it."""
    words = "it was not finished, so it has no result"
    if header.replays_here:
        return words
    return f"{words}; only the version that began it can go on with it: {header.recorded_by}"
