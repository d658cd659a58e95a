"""What an operator is told as it happens, each with its figures."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from firmware_py.procedure.outcomes import UNSURE, Outcome, Purpose, SessionOutcome


@dataclass(frozen=True)
class Tell:
    """Something that is told; `WHAT` names it in the console's unasked line."""

    WHAT: ClassVar[str]

    def figures(self) -> dict[str, Any]:
        """Return what the line says of it, by name; what is None is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class ToneTold(Tell):
    """A tone is about to be played; `unmasked`: why it has no noise though it needs it."""

    WHAT = "tone"
    number: int
    ear: str
    purpose: Purpose
    frequency_hz: float
    level_db_hl: float
    information_bits: float | None = None
    noise_db_hl: float | None = None
    unmasked: str | None = None


@dataclass(frozen=True)
class CatchTold(Tell):
    """A silence begins."""

    WHAT = "catch"
    number: int
    ear: str


@dataclass(frozen=True)
class AnswerTold(Tell):
    """A presentation has its answer; `half_width_db` is that of the widest band."""

    WHAT = "answer"
    number: int
    ear: str
    purpose: Purpose
    heard: bool | None
    half_width_db: float | None = None

    def figures(self) -> dict[str, Any]:
        """Return the same, with the word for an answer that was unsure."""
        given = {**asdict(self), "heard": UNSURE if self.heard is None else self.heard}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class VoidTold(Tell):
    """A presentation came to nothing and is asked again."""

    WHAT = "void"
    number: int
    why: str


@dataclass(frozen=True)
class UnmaskedTold(Tell):
    """A presentation goes on without its noise."""

    WHAT = "unmasked"
    number: int
    why: str


@dataclass(frozen=True)
class EarTold(Tell):
    """The test goes on with this ear."""

    WHAT = "ear"
    ear: str


@dataclass(frozen=True)
class EarAgainTold(Tell):
    """An ear that was over is asked again with noise."""

    WHAT = "ear-again"
    ear: str
    why: str


@dataclass(frozen=True)
class EarOverTold(Tell):
    """An ear is over."""

    WHAT = "ear-over"
    ear: str
    outcome: Outcome
    why: str


@dataclass(frozen=True)
class PauseTold(Tell):
    """The test is paused."""

    WHAT = "paused"


@dataclass(frozen=True)
class GoingOnTold(Tell):
    """The test goes on after a pause."""

    WHAT = "continued"


@dataclass(frozen=True)
class BoardLostTold(Tell):
    """The tone generator is lost."""

    WHAT = "board-lost"
    why: str


@dataclass(frozen=True)
class BoardReadyTold(Tell):
    """The tone generator is back."""

    WHAT = "board-ready"


@dataclass(frozen=True)
class FinishTold(Tell):
    """The test is over."""

    WHAT = "finished"
    outcome: SessionOutcome
    why: str


@dataclass(frozen=True)
class SessionTold(Tell):
    """A session has begun, with this journal and a calibration in this state."""

    WHAT = "session"
    session: int
    journal: str
    calibration: str


@dataclass(frozen=True)
class ResumeTold(Tell):
    """A session was taken up again, after so many tones."""

    WHAT = "resumed"
    session: int
    tones: int


@dataclass(frozen=True)
class SessionOverTold(Tell):
    """A session is over, and its journal is closed."""

    WHAT = "session-over"
    session: int


@dataclass(frozen=True)
class ForeignEventTold(Tell):
    """The tone generator told something that is of no use."""

    WHAT = "foreign-event"
    verb: str
