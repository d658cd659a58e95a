"""What an operator is told as it happens, each with its figures."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from firmware_py.terms.events import Action
from firmware_py.terms.outcomes import UNSURE, Outcome, Purpose, SessionOutcome, Why
from firmware_py.terms.reasons import Reason, Reasons
from firmware_py.terms.route import Route, spell_routes


class Tell(Action):
    """Something that is told; its name stands in the console's unasked line."""

    KINDS: ClassVar[dict[str, type["Tell"]]] = {}  # by their names

    def __init_subclass__(cls, what: str = "") -> None:
        super().__init_subclass__(what)
        cls.KINDS[what] = cls

    def figures(self) -> dict[str, Any]:
        """Return what the line says of it, by name; what is None is left out."""
        return {name: value for name, value in _all(self).items() if value is not None}


def _all(told: Tell) -> dict[str, Any]:
    return spell_routes({field.name: getattr(told, field.name) for field in fields(told)})


@dataclass(frozen=True)
class ToneTold(Tell, what="tone"):
    """A tone is about to be played, and the reason to ask it."""

    number: int
    route: Route
    purpose: Purpose
    frequency_hz: float
    level_db_hl: float
    why: Why | None = None
    information_bits: float | None = None
    noise_db_hl: float | None = None
    unmasked: Reason | None = None  # why it has no noise though it needs it


@dataclass(frozen=True)
class CatchTold(Tell, what="catch"):
    """A silence begins."""

    number: int
    route: Route


@dataclass(frozen=True)
class AnswerTold(Tell, what="answer"):
    """A presentation has its answer."""

    number: int
    route: Route
    purpose: Purpose
    heard: bool | None
    half_width_db: float | None = None  # of the widest band
    seconds_to_go: int | None = None  # an estimate for the whole session

    def figures(self) -> dict[str, Any]:
        given = {**_all(self), "heard": UNSURE if self.heard is None else self.heard}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class VoidTold(Tell, what="void"):
    """A presentation came to nothing and is asked again."""

    number: int
    why: Reason


@dataclass(frozen=True)
class UnmaskedTold(Tell, what="unmasked"):
    """A presentation goes on without its noise."""

    number: int
    why: Reason


@dataclass(frozen=True)
class EarTold(Tell, what="ear"):
    """The test goes on with this ear."""

    route: Route


@dataclass(frozen=True)
class EarAgainTold(Tell, what="ear-again"):
    """An ear that was over is asked again with noise."""

    route: Route
    why: Reason


@dataclass(frozen=True)
class ListenerCheckTold(Tell, what="listener-check"):
    """Somebody should look after the listener: the test is broken off for a check."""

    route: Route
    why: Reasons


@dataclass(frozen=True)
class EquipmentCheckTold(Tell, what="equipment-check"):
    """The operator is to say who hears the tones of an ear in which nothing was heard."""

    route: Route
    why: Reasons


@dataclass(frozen=True)
class EarCheckTold(Tell, what="ear-check"):
    """The operator is to ask the listener in which ear a clear tone is, and to say it."""

    why: Reason


@dataclass(frozen=True)
class EarphonesTold(Tell, what="earphones"):
    """The listener named the other ear: the test waits until somebody looked at the earphones."""

    why: Reason


@dataclass(frozen=True)
class PlacingTold(Tell, what="placing"):
    """The operator is to put the vibrator, or the earphones, where the test goes on with them."""

    why: Reason


@dataclass(frozen=True)
class EarOverTold(Tell, what="ear-over"):
    """An ear is over."""

    route: Route
    outcome: Outcome
    why: Reasons


class PauseTold(Tell, what="paused"):
    """The test is paused."""


class GoingOnTold(Tell, what="continued"):
    """The test goes on after a pause."""


@dataclass(frozen=True)
class BoardLostTold(Tell, what="board-lost"):
    """The tone generator is lost."""

    why: Reasons


class BoardReadyTold(Tell, what="board-ready"):
    """The tone generator is back."""


@dataclass(frozen=True)
class FinishTold(Tell, what="finished"):
    """The test is over."""

    outcome: SessionOutcome
    why: Reasons


@dataclass(frozen=True)
class ErrorTold(Tell, what="error"):
    """Something is wrong with the device; it is in the list of errors, too."""

    number: int
    words: str
