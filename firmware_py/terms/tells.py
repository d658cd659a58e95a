"""What an operator is told as it happens, each with its figures."""

from dataclasses import fields
from typing import Any, ClassVar, Final

from firmware_py.terms.events import Action
from firmware_py.terms.outcomes import UNSURE, Outcome, Purpose, SessionOutcome, Why
from firmware_py.terms.reasons import Reason, Reasons
from firmware_py.terms.route import Route, spell_routes

NONE_IS: Final = {"heard": UNSURE}  # in the line; any other None is left out


class Tell(Action):
    """Something that is told; its name stands in the console's unasked line."""

    KINDS: ClassVar[dict[str, type["Tell"]]] = {}

    def figures(self) -> dict[str, Any]:
        told = spell_routes({field.name: getattr(self, field.name) for field in fields(self)})
        shown = {n: NONE_IS.get(n) if value is None else value for n, value in told.items()}
        return {name: value for name, value in shown.items() if value is not None}


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


class CatchTold(Tell, what="catch"):
    """A silence begins."""

    number: int
    route: Route


class AnswerTold(Tell, what="answer"):
    """A presentation has its answer."""

    number: int
    route: Route
    purpose: Purpose
    heard: bool | None
    half_width_db: float | None = None  # of the widest band
    seconds_to_go: int | None = None  # an estimate for the whole session


class VoidTold(Tell, what="void"):
    """A presentation came to nothing and is asked again."""

    number: int
    why: Reason


class UnmaskedTold(Tell, what="unmasked"):
    """A presentation goes on without its noise."""

    number: int
    why: Reason


class EarTold(Tell, what="ear"):
    """The test goes on with this ear."""

    route: Route


class EarAgainTold(Tell, what="ear-again"):
    """An ear that was over is asked again with noise."""

    route: Route
    why: Reason


class ListenerCheckTold(Tell, what="listener-check"):
    """Somebody should look after the listener: the test is broken off for a check."""

    route: Route
    why: Reasons


class EquipmentCheckTold(Tell, what="equipment-check"):
    """The operator is to say who hears the tones of an ear in which nothing was heard."""

    route: Route
    why: Reasons


class EarCheckTold(Tell, what="ear-check"):
    """The operator is to ask the listener in which ear a clear tone is, and to say it."""

    why: Reason


class EarphonesTold(Tell, what="earphones"):
    """The listener named the other ear: the test waits until somebody looked at the earphones."""

    why: Reason


class PlacingTold(Tell, what="placing"):
    """The operator is to put the vibrator, or the earphones, where the test goes on with them."""

    why: Reason


class EarOverTold(Tell, what="ear-over"):
    """An ear is over."""

    route: Route
    outcome: Outcome
    why: Reasons


class PauseTold(Tell, what="paused"):
    """The test is paused."""


class GoingOnTold(Tell, what="continued"):
    """The test goes on after a pause."""


class BoardLostTold(Tell, what="board-lost"):
    """The tone generator is lost."""

    why: Reasons


class BoardReadyTold(Tell, what="board-ready"):
    """The tone generator is back."""


class RoomSaid(Tell, what="room"):
    """Something else is known of the room."""

    why: Reason


class FinishTold(Tell, what="finished"):
    """The test is over."""

    outcome: SessionOutcome
    why: Reasons


class ErrorTold(Tell, what="error"):
    """Something is wrong with the device; it is in the list of errors, too."""

    number: int
    words: str
