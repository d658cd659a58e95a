"""What the client of the wire has to say: every notice is of one of these classes."""

from dataclasses import dataclass
from typing import Any, Final

from firmware_py.link.messages import EVENTS, WIRE_VERSION, FieldError, read


@dataclass(frozen=True)
class Greeted:
    """A conversation has begun: who the board is, the last tone it knows, if it has noise.

    Events up to `event` are not told any more: they are recorded already, or were before this host
    met the board.
    """

    board: str
    version: str
    boot: str
    tone_id: str
    serial: str
    can_mask: bool = False
    event: int = 0

    @property
    def name(self) -> str:
        """Return which board it is: what it calls itself, and its serial number."""
        return f"{self.board} {self.serial}".strip()


@dataclass(frozen=True)
class Refused:
    """The board refused a command; `code` and `name` as on the wire page."""

    verb: str
    code: str
    name: str


@dataclass(frozen=True)
class ToneStarted:
    """The board began a tone at `at_us` of its own time; `event` is the number of this event."""

    event: int
    tone_id: str
    at_us: int


@dataclass(frozen=True)
class ToneEnded:
    """The board ended a tone at `at_us` of its own time; `cut`: before its end.

    `room_db_spl` is the noise of the room around it and between its pulses, in the third octaves
    `ROOM_BANDS_HZ`; infinite where the microphone was overdriven, none where nothing was measured.
    """

    event: int
    tone_id: str
    at_us: int
    cut: bool
    room_db_spl: tuple[float, ...] = ()


@dataclass(frozen=True)
class ButtonPressed:
    """A button went down at `at_us` of the board's time; `button` is 1 (heard) or 2 (perhaps)."""

    event: int
    at_us: int
    button: int


@dataclass(frozen=True)
class ButtonReleased:
    """A button came up at `at_us` of the board's time."""

    event: int
    at_us: int
    button: int


@dataclass(frozen=True)
class UnknownEvent:
    """The board told an event, or of a button, that is not on the wire page.

    `why` it means nothing, in words; "": an event of another page, which is no fault.
    """

    event: int
    verb: str
    why: str = ""


KnownEvent = ToneStarted | ToneEnded | ButtonPressed | ButtonReleased
# Each with the fields of its message, in the order of the page.
OF_VERBS: Final[dict[str, type[Any]]] = {
    "tone-on": ToneStarted, "tone-off": ToneEnded,
    "button-down": ButtonPressed, "button-up": ButtonReleased,
}  # fmt: skip
BoardEvent = KnownEvent | UnknownEvent


@dataclass(frozen=True)
class Missed:
    """So many events, up to `event`, are lost: the board does not keep them any more."""

    count: int
    event: int


@dataclass(frozen=True)
class TimeTold:
    """The board's time, microseconds; everything that happened there before it has been told.

    `room_db_spl` is what the microphone heard in the half second before, tones as well.
    """

    us: int
    room_db_spl: tuple[float, ...] = ()


@dataclass(frozen=True)
class Lost:
    """The board does not answer any more; `disbelieved`: it does, and its word means nothing."""

    why: str
    disbelieved: bool = False


Notice = Greeted | Refused | BoardEvent | Missed | TimeTold | Lost


def as_notice(number: int, verb: str, fields: dict[str, str]) -> BoardEvent:
    """Return what an event of the board says; `FieldError` if it is not as the page has it."""
    if verb not in EVENTS:
        return UnknownEvent(number, verb)
    try:
        values = read(EVENTS[verb], fields, others=True)
    except FieldError as error:
        if error.key != "button":
            raise
        return UnknownEvent(number, verb, wrong_field(repr(verb), "button", fields))
    if "cut" in values:
        values["cut"] = values["cut"] == 1
    notice: KnownEvent = OF_VERBS[verb](number, *values.values())
    return notice


def wrong_field(what: str, key: str, fields: dict[str, str]) -> str:
    """Say which field of a message is missing, or has a value that the page does not allow."""
    if key in fields:
        return f"{what} has {key}={fields[key]}, which wire {WIRE_VERSION} does not allow"
    return f"{what} has no {key}, and wire {WIRE_VERSION} asks for it"
