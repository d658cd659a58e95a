"""Tests that were simulated, or are: who is tested, and what is asked of what came out.

A test that is over is asked as often as one likes: `run_to_end` and `run_left_ear` run the same one
once.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from device.simulator.hearing import BoardClock, SimulatedTest
from device.simulator.listener import Listener as SomeListener
from device.simulator.listener import Press, Tone
from firmware_py.ear.agenda import Ask
from firmware_py.ear.ear import EarTest
from firmware_py.ear.levels import Highest, no_limit
from firmware_py.session.hearing import HearingTest
from firmware_py.session.masking import Earphones
from firmware_py.terms import events
from firmware_py.terms.outcomes import Purpose, Why
from firmware_py.terms.reasons import Code
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.tells import AnswerTold, CatchTold, Tell, VoidTold

MS: Final = 1000
S: Final = 1_000_000

REACTION_US: Final = 400 * MS
HOLD_US: Final = 150 * MS
SHARED_MAX: Final = 200  # finished tests that are kept
# It had been on for two hours, and gains a microsecond in 4000.
CLOCK: Final = BoardClock(began_us=7_654_321_000, gains_ppm=250)

# How long after an onset, on the board's clock, a button goes down, and which; None: never.
Reaction = int | tuple[int, int] | None


class Listener(SomeListener):
    """Reacts in the same way to all, unless it says otherwise; presses in no pause."""

    reaction: ClassVar[Reaction] = None

    def to_tone(self, tone: Tone) -> Reaction:
        return self.reaction

    def to_silence(self, number: int) -> Reaction:
        """Say how it reacts to a catch trial, of which no other listener would know."""
        return self.reaction

    def answer(self, tone: Tone) -> Press | None:
        reaction = None if tone.by_bone else self.to_tone(tone)
        if reaction is None:
            return None
        delay_us, button = _both(reaction)
        return Press(delay_us, HOLD_US, button)


def _both(reaction: int | tuple[int, int]) -> tuple[int, int]:
    return reaction if isinstance(reaction, tuple) else (reaction, events.HEARD_BUTTON)


@dataclass(frozen=True)
class Ears(Listener):
    """Hears what is at or above the threshold of that ear at that frequency.

    Within `unsure_db` of it the second button is pressed.
    """

    threshold_db_hl: Callable[[str, float], float]
    reaction_us: int = REACTION_US
    unsure_db: float = 0.0

    def to_tone(self, tone: Tone) -> Reaction:
        threshold_db_hl = self.threshold_db_hl(tone.ear, tone.frequency_hz)
        if tone.noise is not None and tone.noise.ear == tone.ear:
            threshold_db_hl = max(threshold_db_hl, tone.noise.level_db_hl)
        above_db = tone.level_db_hl - threshold_db_hl
        if above_db < -self.unsure_db:
            return None
        unsure = above_db < self.unsure_db
        return self.reaction_us, events.UNSURE_BUTTON if unsure else events.HEARD_BUTTON


@dataclass(frozen=True)
class Flat:
    """One threshold an ear."""

    left: float
    right: float

    def __call__(self, ear: str, frequency_hz: float) -> float:
        return self.left if ear == "left" else self.right


def flat(level_db_hl: float, unsure_db: float = 0.0) -> Ears:
    """One threshold everywhere."""
    return Ears(Flat(level_db_hl, level_db_hl), unsure_db=unsure_db)


def two_ears(**levels_db_hl: float) -> Ears:
    """One threshold an ear: left=, right=."""
    return Ears(Flat(**levels_db_hl))


@dataclass(frozen=True)
class Hears(Listener):
    """Presses for the tones of which this is true, and in such silences."""

    hears: Callable[[Tone], bool]
    in_silence: Callable[[int], bool] = lambda _number: False

    def to_tone(self, tone: Tone) -> Reaction:
        return REACTION_US if self.hears(tone) else None

    def to_silence(self, number: int) -> Reaction:
        return REACTION_US if self.in_silence(number) else None


@dataclass(frozen=True)
class NeverPresses(Listener):
    """Has gone home."""


@dataclass(frozen=True)
class AlwaysPresses(Listener):
    """Presses whether there is a tone or not."""

    reaction = REACTION_US


class Driver(SimulatedTest):
    """Runs a test at a board with another clock, and is asked what went in and what came out."""

    def __init__(
        self,
        settings: Settings | None = None,
        listener: SomeListener | None = None,
        *,
        wire_us: int = 20 * MS,
        highest_db_hl: Highest = no_limit,
        can_mask: bool = False,
        earphones: Earphones | None = None,
    ) -> None:
        settings = settings or Settings()
        self.listener = listener or flat(25.0)
        self.shared = False
        test = HearingTest(
            settings, highest_db_hl=highest_db_hl, earphones=earphones or Earphones()
        )
        super().__init__(
            settings, self.listener, can_mask=can_mask, test=test, wire_us=wire_us, clock=CLOCK
        )

    def feed(self, event: events.Event, after_us: int = 0) -> list[events.Action]:
        """Tell the test of an event, and have the listener react to a silence as well."""
        assert not self.shared, "others ask this test: run another to go on with"
        actions = super().feed(event, after_us)
        for action in actions:
            if isinstance(action, CatchTold) and isinstance(self.listener, Listener):
                reaction = self.listener.to_silence(action.number)
                if reaction is not None:
                    delay_us, button = _both(reaction)
                    self.press(self.board.clock.board_us(self.now_us) + delay_us, button)
        return actions

    # What was done

    @property
    def onset_us(self) -> int:
        """Of the last tone told, on the board's clock; 0: there was none."""
        told = (event for _, event in reversed(self.events))
        return next((e.onset_us for e in told if isinstance(e, events.ToneStarted)), 0)

    @property
    def stray_presses(self) -> int:
        return self.test.presenter.silent_time.stray_presses

    @property
    def actions(self) -> list[events.Action]:
        return [action for _, action in self.log]

    @property
    def plays(self) -> list[events.Play]:
        return [action for action in self.actions if isinstance(action, events.Play)]

    @property
    def result(self) -> dict[str, Any]:
        (finish,) = (action for action in self.actions if isinstance(action, events.Finish))
        return finish.result.to_record()

    @property
    def left(self) -> EarTest:
        return self.test.ears[Route("left")]

    def ear(self, name: str) -> dict[str, Any]:
        (found,) = (ear for ear in self.result["ears"] if ear["ear"] == name)
        return dict(found)

    def levels(self, purpose: str) -> list[float]:
        return [about["level_db_hl"] for about in self.tells("tone", purpose=purpose)]

    def tells(self, what: str, **about: Any) -> list[dict[str, Any]]:
        """What was told of a kind, with these figures in it."""
        return [
            action.figures()
            for action in self.actions
            if isinstance(action, Tell) and what == action.WHAT
            if about.items() <= action.figures().items()
        ]


def answers(actions: Iterable[events.Action]) -> list[bool | None]:
    return [a.heard for a in actions if isinstance(a, AnswerTold)]


def void(actions: Iterable[events.Action]) -> list[Code]:
    return [a.why.code for a in actions if isinstance(a, VoidTold)]


def replayed(settings: Settings, told: Iterable[tuple[int, events.Event]]) -> list[events.Action]:
    test = HearingTest(settings)
    return [action for at_us, event in told for action in test.handle(at_us, event)]


def familiar(ear: EarTest) -> EarTest:
    """Return the test of an ear whose listener knows the task."""
    ear.familiarisation.over = True
    ear.due = Ask(Why.MOST_INFORMATIVE, Purpose.MEASURE)
    return ear


@lru_cache(SHARED_MAX)
def run_to_end(settings: Settings, listener: SomeListener, **about: Any) -> Driver:
    """A test that was run to its end, once for all who ask for it."""
    driver = Driver(settings, listener, **about)
    driver.run()
    driver.shared = True
    return driver


def run_left_ear(listener: SomeListener, **values: Any) -> Driver:
    return run_to_end(Settings(**{"ears": "left", **values}), listener)


def marks(ear: dict[str, Any]) -> dict[int, str]:
    return {found["frequency_hz"]: found["mark"] for found in ear["thresholds"]}


def numbers(ear: dict[str, Any]) -> set[float | None]:
    """All figures of the thresholds in the result of an ear."""
    names = ("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl")
    return {found[name] for found in ear["thresholds"] for name in names}
