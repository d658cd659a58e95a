"""What goes into a tuning and what comes out, beside what a hearing test has as well."""

from dataclasses import dataclass
from typing import ClassVar, Final

from firmware_py.inference.preference.answer import Answer
from firmware_py.terms import events
from firmware_py.terms.events import Event, Explained, RecordedAction


class AidEvent(Event):
    """What only a tuning takes."""

    AID_KINDS: ClassVar[dict[str, type[Event]]] = {}  # by their names

    def __init_subclass__(cls, what: str = "") -> None:
        super(Event, cls).__init_subclass__(what)  # a hearing test has none of these
        cls.AID_KINDS[what] = cls


@dataclass(frozen=True)
class SpeechEnded(AidEvent, what="speech-ended"):
    """The hearing aid has played speech `number` to its end."""

    number: int


@dataclass(frozen=True)
class Answered(AidEvent, what="answered"):
    """The operator tells the answer: a word of `Answer`."""

    answer: str

    def __post_init__(self) -> None:
        if self.answer not in tuple(Answer):
            raise ValueError(f"answer is {self.answer!r}; allowed are {', '.join(Answer)}")


class AidReady(AidEvent, what="aid-ready"):
    """The hearing aid answers (again); it plays nothing now."""


class AidLost(Explained, AidEvent, what="aid-lost"):
    """The hearing aid does not answer, or cannot play."""


# All that a journal of a tuning may have as inputs, by their names.
_OF_A_TEST: Final[tuple[type[Event], ...]] = (
    events.Started, events.TimePassed, events.ButtonPressed, events.ButtonReleased, events.Paused,
    events.Continued, events.Aborted, events.BoardLost, events.BoardDisbelieved, events.BoardReady,
)  # fmt: skip
KINDS: Final[dict[str, type[Event]]] = {each.WHAT: each for each in _OF_A_TEST} | AidEvent.AID_KINDS


@dataclass(frozen=True)
class PlaySpeech(RecordedAction, what="play-speech"):
    """Play the speech once, with the aid at this setting; `number` counts within the tuning."""

    number: int
    overall_db: float
    tilt_db: float
    mid_db: float
    soft_db: float


class StopSpeech(RecordedAction, what="stop-speech"):
    """End the speech at once."""


@dataclass(frozen=True)
class UseSetting(RecordedAction, what="use-setting"):
    """Leave the aid at this setting."""

    overall_db: float
    tilt_db: float
    mid_db: float
    soft_db: float
