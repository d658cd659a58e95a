"""What goes into a hearing test and what comes out, each with its form in the journal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Self, dataclass_transform

from firmware_py.terms.discomfort_levels import DiscomfortLevels, levels_at
from firmware_py.terms.outcomes import UNSURE, SessionOutcome, Why
from firmware_py.terms.reasons import WORDS, Code, Reason, Reasons, as_json, reason, reasons_at
from firmware_py.terms.record_checks import (
    ROOM_LEVEL_LIMITS_DB,
    Check,
    number,
    object_of,
    one_of,
    refusal,
    several,
    switch,
    whole,
)
from firmware_py.terms.route import BY_AIR, LEFT, RIGHT, Route

HEARD_BUTTON: Final = 1
# Who may have heard the equipment: the operator, the listener's other ear, or nobody.
OPERATOR: Final = "operator"
OTHER_EAR: Final = "other-ear"
NOBODY: Final = "nobody"
HEARERS: Final = (OPERATOR, OTHER_EAR, NOBODY)
# In which ear a listener heard a tone.
NAMED: Final = (LEFT, RIGHT, UNSURE)
UNSURE_BUTTON: Final = 2  # "perhaps": where there is a second button
RoomLevels = tuple[float, ...]


@dataclass_transform(frozen_default=True)
class _Named:
    """What has a name of its own, `WHAT`: each kind is a frozen dataclass, known by its name."""

    WHAT: ClassVar[str] = ""
    KINDS: ClassVar[dict[str, Any]] = {}  # by their names

    def __init_subclass__(cls, what: str = "") -> None:
        cls.WHAT = what
        if what:
            cls.KINDS[what] = cls
        dataclass(frozen=True)(cls)


class Event(_Named):
    """What goes into a test."""

    KINDS: ClassVar[dict[str, type["Event"]]] = {}


class Result:
    """What came of a test: a dataclass whose fields say what they may be (`record_checks`)."""

    outcome: str  # "": it is not over, and this is the result so far

    def to_record(self) -> dict[str, Any]:
        record: dict[str, Any] = as_json(self)
        return record

    @classmethod
    def from_record(cls, record: object, *, so_far: bool = False) -> Self:
        """Check what `to_record` wrote, and take it, or raise a `ResultError`.

        `so_far`: it may not be over yet.
        """
        found: Self = object_of(cls)("result", record)
        if not found.outcome and not so_far:
            raise refusal("result.outcome", found.outcome, f"are {', '.join(SessionOutcome)}")
        return found


class Action(_Named):
    """What comes out of a test."""


class RecordedAction(Action):
    """An action for the journal: it reaches the listener, or it is the result."""


class Started(Event, what="started"):
    """The operator starts the test."""

    can_mask: bool = False  # the tone generator has masking noise
    board: str = ""  # which one it is: its name and its serial number


class TimePassed(Event, what="time"):
    """The time asked for by the last `Wait` has come."""


class ToneStarted(Event, what="tone-on"):
    """The board began tone `number`, at `onset_us` of its own time."""

    number: int
    onset_us: int


class ToneEnded(Event, what="tone-off"):
    """The board ended tone `number`; `cut`: before its time."""

    number: int
    offset_us: int
    cut: bool


class _ButtonMoved(Event):
    """What happened to a button, at `at_us` of the board's time."""

    at_us: int
    button: int = HEARD_BUTTON

    def __post_init__(self) -> None:
        if self.button not in (HEARD_BUTTON, UNSURE_BUTTON):
            raise refusal("button", self.button, f"are {HEARD_BUTTON} and {UNSURE_BUTTON}")


class ButtonPressed(_ButtonMoved, what="button-down"):
    """The listener pressed a button."""


class ButtonReleased(_ButtonMoved, what="button-up"):
    """The listener released a button."""


class BoardTime(Event, what="board-time"):
    """The board's time; every press before it has been told."""

    at_us: int


class Continued(Event, what="continued"):
    """The operator goes on with a paused test, or after a check."""


class EquipmentHeard(Event, what="equipment-heard"):
    """The operator says who hears the tones of an ear in which nothing was heard."""

    by: str

    def __post_init__(self) -> None:
        one_of(*HEARERS)("by", self.by)


class EarNamed(Event, what="ear-named"):
    """The operator says in which ear the listener heard a clear tone."""

    named: str

    def __post_init__(self) -> None:
        one_of(*NAMED)("named", self.named)


class RoomTold(Event, what="room-told"):
    """The operator tells the noise of the room: `terms/room.py` makes it of what was told."""

    levels_db_spl: RoomLevels  # of third octaves at `BY_AIR.calibrated_hz`
    dba: float
    spectrum: str
    uncertainty_db: float

    def __post_init__(self) -> None:
        one_of(*WORDS["spectrum"])("spectrum", self.spectrum)


class RoomHeard(Event, what="room-heard"):
    """The board's microphone heard this noise, around the tone that ends now."""

    levels_db_spl: RoomLevels


class DiscomfortTold(Event, what="discomfort-told"):
    """The operator tells from which levels on tones are uncomfortable, as somebody measured it.

    They are all that is known of the ear: what was told of it before counts no more.
    """

    ear: str
    levels: DiscomfortLevels
    source: str = ""  # who measured them; "": it was not told
    day: str = ""

    def __post_init__(self) -> None:
        one_of(LEFT, RIGHT)("ear", self.ear)

    @property
    def words(self) -> str:
        return " ".join([self.ear, *(level.words for level in self.levels)])

    @property
    def about(self) -> str:
        return ", ".join(filter(None, (self.source, self.day)))


class Explained(Event):
    """What happened, and why."""

    why: Reasons = ()

    @classmethod
    def by(cls, code: Code, **parts: Any) -> Self:
        return cls((reason(code, **parts),))


class Paused(Explained, what="paused"):
    """The operator pauses the test; or it waits for the operator's word, and `why`."""


class Aborted(Explained, what="aborted"):
    """The operator ends the test, or nothing can go on."""


class BoardLost(Explained, what="board-lost"):
    """The tone generator does not answer, or its port is gone."""


class BoardDisbelieved(BoardLost, what="board-disbelieved"):
    """The tone generator told what cannot be true: nothing it tells of a tone under way counts."""


class BoardReady(Event, what="board-ready"):
    """The tone generator answers (again), or the firmware was started again."""

    tone_known: bool  # it will still tell what became of the tone that was under way
    can_mask: bool = False  # none plays now
    board: str = ""  # see `Started`


class NoiseRefused(Explained, what="noise-refused"):
    """The tone generator refused the last `Mask`."""

    def __post_init__(self) -> None:
        if not self.why:
            raise refusal("why", [], "is a list of 1 reason, what the refusal said")


class NoiseEnded(Event, what="noise-ended"):
    """The tone generator refused the last `Play`: the noise that belongs to it ended by itself."""


class Play(RecordedAction, what="play"):
    """Present this tone; a press ends it where the board can, else the `Silence` that follows."""

    number: int
    route: Route
    frequency_hz: float
    level_db_hl: float
    on_ms: int
    off_ms: int
    pulses: int
    rise_ms: int
    press_ms: int  # after the onset, from when on a press ends it
    press_buttons: int  # of which, a bit for each button
    why: Why | None = None


class Mask(RecordedAction, what="mask"):
    """Play noise by the route that masks the one under test, and `why`, until told otherwise."""

    number: int  # of the presentation it is for
    route: Route
    frequency_hz: float
    level_db_hl: float  # effective masking level
    why: Reason


class Unmask(RecordedAction, what="unmask"):
    """End the noise."""


class Silence(RecordedAction, what="silence"):
    """End tone and noise at once."""


class AskBoardTime(Action):
    """Ask the board for its time, to be sure that there was no press."""


class Wait(Action):
    """Send `TimePassed` at this time; it replaces the wait before it."""

    until_us: int


class Finish(RecordedAction, what="finish"):
    """The test is over, with this result."""

    result: Result


def board_us(event: Event) -> int:
    match event:
        case ToneStarted(_, us) | ToneEnded(_, us, _) | _ButtonMoved(us, _) | BoardTime(us):
            return us
    return 0


def as_record(what: Event | RecordedAction) -> dict[str, Any]:
    """Return an event or an action as JSON values, its name under "what"."""
    return {"what": what.WHAT, **as_json(what)}


def records_of(actions: Iterable[Action]) -> list[dict[str, Any]]:
    return [as_record(action) for action in actions if isinstance(action, RecordedAction)]


def event_from_record(record: object, kinds: Mapping[str, type[Event]] = Event.KINDS) -> Event:
    """Return the event that `as_record` wrote, one of these kinds, or raise a `ValueError`."""
    what = record.get("what") if isinstance(record, dict) else None
    kind = kinds.get(what) if isinstance(what, str) else None
    if kind is None or not isinstance(record, dict):
        raise refusal("event", record, f"is an object whose what is one of {', '.join(kinds)}")
    values = {name: value for name, value in record.items() if name != "what"}
    checks = {field.name: CHECKS[field.type] for field in fields(kind)}
    if values.keys() != checks.keys():
        raise refusal("event", record, f"is an object of {', '.join(['what', *checks])}")
    try:
        return kind(**{name: check(name, values[name]) for name, check in checks.items()})
    except ValueError as error:
        raise ValueError(f"event.{error}") from None


NUMBER_MAX: Final = 2**63 - 1  # of the wire
TEXT_CHARACTERS_MAX: Final = 64  # of a tone generator's name with its serial number, and of words


def _text(place: str, value: object) -> object:
    if type(value) is not str or len(value) > TEXT_CHARACTERS_MAX or not value.isprintable():
        allowed = f"is a text of at most {TEXT_CHARACTERS_MAX} characters that can be printed"
        raise refusal(place, value, allowed)
    return value


# What a field of an event may be, by its type; a number there is a level or a difference in dB.
DB_MAX: Final = 140.0
_DB: Final = number(-DB_MAX, DB_MAX, "dB")
_ROOM_DB: Final = number(*ROOM_LEVEL_LIMITS_DB, "dB")
CHECKS: Final[dict[Any, Check]] = {
    bool: switch, int: whole(0, NUMBER_MAX), str: _text, Reasons: reasons_at, float: _DB,
    DiscomfortLevels: levels_at,
    RoomLevels: several(_ROOM_DB, len(BY_AIR.calibrated_hz), len(BY_AIR.calibrated_hz)),
}  # fmt: skip
