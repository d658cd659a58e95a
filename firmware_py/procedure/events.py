"""What goes into a hearing test and what comes out, each with its form in the journal."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from firmware_py.procedure.results import SessionResult
from firmware_py.procedure.tells import Tell

HEARD_BUTTON: Final = 1
UNSURE_BUTTON: Final = 2  # "perhaps": where there is a second button


@dataclass(frozen=True)
class Started:
    """The operator starts the test; `can_mask`: the tone generator has masking noise."""

    can_mask: bool = False


@dataclass(frozen=True)
class TimePassed:
    """The time asked for by the last `Wait` has come."""


@dataclass(frozen=True)
class ToneStarted:
    """The board began tone `number`, at `onset_us` of its own time."""

    number: int
    onset_us: int


@dataclass(frozen=True)
class ToneEnded:
    """The board ended tone `number`; `cut`: before its time."""

    number: int
    offset_us: int
    cut: bool


@dataclass(frozen=True)
class _ButtonMoved:
    """What happened to a button, at `at_us` of the board's time."""

    at_us: int
    button: int = HEARD_BUTTON

    def __post_init__(self) -> None:
        """Refuse a button that there is not."""
        if self.button not in (HEARD_BUTTON, UNSURE_BUTTON):
            raise ValueError(
                f"button is {self.button!r}; allowed are {HEARD_BUTTON} and {UNSURE_BUTTON}"
            )


@dataclass(frozen=True)
class ButtonPressed(_ButtonMoved):
    """The listener pressed a button."""


@dataclass(frozen=True)
class ButtonReleased(_ButtonMoved):
    """The listener released a button."""


@dataclass(frozen=True)
class BoardTime:
    """The board's time; every press before it has been told."""

    at_us: int


@dataclass(frozen=True)
class Paused:
    """The operator pauses the test."""


@dataclass(frozen=True)
class Continued:
    """The operator goes on with a paused test."""


@dataclass(frozen=True)
class Aborted:
    """The operator ends the test, `why` in words."""

    why: str


@dataclass(frozen=True)
class BoardLost:
    """The tone generator does not answer, or its port is gone; `why` in words."""

    why: str


@dataclass(frozen=True)
class BoardReady:
    """The tone generator answers (again), or the firmware was started again.

    `tone_known`: it still knows the tone that was under way and will tell what became of it.
    `can_mask`: it has masking noise; none plays now.
    """

    tone_known: bool
    can_mask: bool = False


@dataclass(frozen=True)
class NoiseRefused:
    """The tone generator refused the last `Mask`; `why` as it said."""

    why: str


@dataclass(frozen=True)
class NoiseEnded:
    """The tone generator refused the last `Play`: the noise that belongs to it ended by itself."""


Event = (
    Started
    | TimePassed
    | ToneStarted
    | ToneEnded
    | ButtonPressed
    | ButtonReleased
    | BoardTime
    | Paused
    | Continued
    | Aborted
    | BoardLost
    | BoardReady
    | NoiseRefused
    | NoiseEnded
)


@dataclass(frozen=True)
class Play:
    """Present this tone."""

    number: int
    ear: str
    frequency_hz: float
    level_db_hl: float
    on_ms: int
    off_ms: int
    pulses: int
    rise_ms: int


@dataclass(frozen=True)
class Mask:
    """Play noise in the ear that is not under test, `why` in words, until told otherwise.

    `level_db_hl` is the effective masking level; `number` that of the presentation it is for.
    """

    number: int
    ear: str
    frequency_hz: float
    level_db_hl: float
    why: str


@dataclass(frozen=True)
class Unmask:
    """End the noise."""


@dataclass(frozen=True)
class Silence:
    """End tone and noise at once."""


@dataclass(frozen=True)
class AskBoardTime:
    """Ask the board for its time, to be sure that there was no press."""


@dataclass(frozen=True)
class Wait:
    """Send `TimePassed` at this time; it replaces the wait before it."""

    until_us: int


@dataclass(frozen=True)
class Finish:
    """The test is over, with this result."""

    result: SessionResult


Action = Play | Mask | Unmask | Silence | AskBoardTime | Wait | Tell | Finish

_RECORDED: Final = {
    "started": Started,
    "time": TimePassed,
    "tone-on": ToneStarted,
    "tone-off": ToneEnded,
    "button-down": ButtonPressed,
    "button-up": ButtonReleased,
    "board-time": BoardTime,
    "paused": Paused,
    "continued": Continued,
    "aborted": Aborted,
    "board-lost": BoardLost,
    "board-ready": BoardReady,
    "noise-refused": NoiseRefused,
    "noise-ended": NoiseEnded,
    "play": Play,
    "mask": Mask,
    "unmask": Unmask,
    "silence": Silence,
    "finish": Finish,
}
_NAMES: Final = {recorded: name for name, recorded in _RECORDED.items()}


def is_recorded(action: Action) -> bool:
    """Tell whether an action belongs in the journal: what reaches the listener, and the result."""
    return type(action) in _NAMES


def as_record(what: Event | Action) -> dict[str, Any]:
    """Return an event or a recorded action as JSON values, its name under "what"."""
    if isinstance(what, Finish):
        return {"what": _NAMES[Finish], "result": what.result.to_record()}
    return {"what": _NAMES[type(what)], **asdict(what)}


def event_from_record(record: dict[str, Any]) -> Event:
    """Return the event that `as_record` wrote.

    Raises
    ------
    ValueError
        If the record is not that of an event.
    """
    try:
        values = dict(record)
        kind = _RECORDED[values.pop("what")]
        if not issubclass(kind, Event):
            raise TypeError
        if values.keys() != {field.name for field in fields(kind)}:
            raise TypeError
        event: Event = kind(**values)
        # Exactly: True is no number, and 1 is not true.
        if any(type(getattr(event, field.name)) is not field.type for field in fields(event)):
            raise TypeError
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{record!r} is not an event of this version") from None
    return event
