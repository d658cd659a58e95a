"""What goes into a tuning and what comes out, beside what a hearing test has as well."""

from typing import ClassVar

from firmware_py.inference.preference.answer import Answer
from firmware_py.terms import events
from firmware_py.terms.events import Event, Explained, RecordedAction


class AidEvent(Event):
    """What only a tuning takes."""

    # All that a journal of a tuning may have as inputs.
    KINDS: ClassVar[dict[str, type[Event]]] = {
        each.WHAT: each
        for each in (
            events.Started, events.TimePassed, events.ButtonPressed, events.ButtonReleased,
            events.Paused, events.Continued, events.Aborted, events.BoardLost,
            events.BoardDisbelieved, events.BoardReady,
        )
    }  # fmt: skip


class SpeechBegan(AidEvent, what="speech-began"):
    """The hearing aid plays speech `number`, and says what comes out of the setting it was asked.

    A limit of the fit may take a part of what was asked.
    """

    number: int
    overall_db: float
    tilt_db: float
    mid_db: float
    soft_db: float

    @property
    def setting_db(self) -> tuple[float, ...]:
        return self.overall_db, self.tilt_db, self.mid_db, self.soft_db


class SpeechEnded(AidEvent, what="speech-ended"):
    """The hearing aid has played speech `number` to its end."""

    number: int


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


class PlaySpeech(RecordedAction, what="play-speech"):
    """Play the speech once, with the aid at this setting; `number` counts within the tuning."""

    number: int
    overall_db: float
    tilt_db: float
    mid_db: float
    soft_db: float


class StopSpeech(RecordedAction, what="stop-speech"):
    """End the speech at once."""


class UseSetting(RecordedAction, what="use-setting"):
    """Leave the aid at this setting."""

    overall_db: float
    tilt_db: float
    mid_db: float
    soft_db: float
