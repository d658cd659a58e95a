"""A board, its wire and a listener around a `HearingTest`, all in one process and in no time.

The board has a clock of its own: another beginning, and another rate than that of the session. What
the board tells arrives in order, `wire_us` after it happened.
"""

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from firmware_py.procedure import events
from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.levels import Highest, unlimited
from firmware_py.procedure.masking import Earphones
from firmware_py.procedure.presenter import LISTENING
from firmware_py.procedure.settings import Settings
from firmware_py.procedure.tells import CatchTold, Tell

MS: Final = 1000
S: Final = 1_000_000

BOARD_BEGAN_US: Final = 7_654_321_000  # the board had been on for two hours
BOARD_GAINS_US_IN: Final = 4000  # its clock gains a microsecond in so many
REACTION_US: Final = 400 * MS
HOLD_US: Final = 150 * MS
STEPS_MAX: Final = 20_000  # a test of two ears has some two thousand


# How long after an onset, on the board's clock, a button goes down, and which; None: never.
Reaction = int | tuple[int, int] | None


class Listener(Protocol):
    """Says how it reacts."""

    def to_tone(self, play: events.Play) -> Reaction: ...
    def to_silence(self, number: int) -> Reaction: ...


@dataclass
class Ears:
    """Hears what is at or above the threshold of that ear at that frequency.

    Within `unsure_db` of it the second button is pressed.
    """

    threshold_db_hl: Callable[[str, float], float]
    reaction_us: int = REACTION_US
    unsure_db: float = 0.0

    def to_tone(self, play: events.Play) -> Reaction:
        above_db = play.level_db_hl - self.threshold_db_hl(play.ear, play.frequency_hz)
        if above_db < -self.unsure_db:
            return None
        unsure = above_db < self.unsure_db
        return self.reaction_us, events.UNSURE_BUTTON if unsure else events.HEARD_BUTTON

    def to_silence(self, number: int) -> Reaction:
        return None


def flat(level_db_hl: float, unsure_db: float = 0.0) -> Ears:
    """One threshold everywhere."""
    return Ears(lambda ear, frequency_hz: level_db_hl, unsure_db=unsure_db)


def two_ears(**levels_db_hl: float) -> Ears:
    """One threshold an ear: left=, right=."""
    return Ears(lambda ear, frequency_hz: levels_db_hl[ear])


class NeverPresses:
    """Has gone home."""

    reaction: Reaction = None

    def to_tone(self, play: events.Play) -> Reaction:
        return self.reaction

    def to_silence(self, number: int) -> Reaction:
        return self.reaction


class AlwaysPresses(NeverPresses):
    """Presses whether there is a tone or not."""

    reaction = REACTION_US


@dataclass
class Driver:
    """Runs one test, and keeps what went in and what came out with the session's times."""

    settings: Settings = field(default_factory=Settings)
    listener: Listener = field(default_factory=lambda: flat(25.0))
    wire_us: int = 20 * MS
    highest_db_hl: Highest = unlimited
    can_mask: bool = False
    earphones: Earphones = field(default_factory=Earphones)

    def __post_init__(self) -> None:
        self.test = HearingTest(
            self.settings, highest_db_hl=self.highest_db_hl, earphones=self.earphones
        )
        self.noise: events.Mask | None = None  # that plays
        self.now_us = 1 * S
        self.onset_us = 0  # of the last tone told, on the board's clock
        self.wait_until_us: int | None = None
        self.events: list[tuple[int, events.Event]] = []
        self.log: list[tuple[int, events.Action]] = []
        self._coming: list[tuple[int, int, events.Event]] = []
        self._order = itertools.count()
        self._sounding: int | None = None

    def board_us(self, at_us: int) -> int:
        """The board's time at a time of the session."""
        return BOARD_BEGAN_US + at_us + at_us // BOARD_GAINS_US_IN

    def session_us(self, board_us: int) -> int:
        """The first time of the session at which the board's clock shows this or more."""
        at_us = (board_us - BOARD_BEGAN_US) * BOARD_GAINS_US_IN // (BOARD_GAINS_US_IN + 1)
        return at_us + (self.board_us(at_us) < board_us)

    # Running

    def run(self) -> dict[str, Any]:
        """Run to the end and return the result."""
        if not self.events:
            self.feed(events.Started(self.can_mask))
        self.run_until(lambda action: isinstance(action, events.Finish))
        return self.result

    def run_until(self, wanted: Callable[[events.Action], bool]) -> events.Action:
        """Run until there is an action that is wanted, and return it."""
        for _ in range(STEPS_MAX):
            for action in self.step():
                if wanted(action):
                    return action
        raise AssertionError(f"still {self.test.state} after {STEPS_MAX} steps")

    def run_to_tone(self, purpose: str = "") -> events.Play:
        """Run until a tone (of this purpose) is to be played; the board has not begun it."""
        if not self.events:
            self.feed(events.Started(self.can_mask))
        play = self.run_until(
            lambda action: isinstance(action, events.Play) and purpose in ("", self.purpose)
        )
        assert isinstance(play, events.Play)
        return play

    def run_to_onset(self, purpose: str = "") -> events.Play:
        """Run until the board has said that a tone began."""
        play = self.run_to_tone(purpose)
        while self.test.state != LISTENING:
            self.step()
        return play

    def run_to_catch(self) -> None:
        """Run until there is a silence to be listened to."""
        if not self.events:
            self.feed(events.Started(self.can_mask))
        self.run_until(lambda action: isinstance(action, CatchTold))

    def step(self) -> list[events.Action]:
        """Let the next thing happen: something the board told arrives, or the time waited for."""
        arrives_us = self._coming[0][0] if self._coming else None
        wait_us = self.wait_until_us
        assert arrives_us is not None or wait_us is not None, f"{self.test.state} for ever"
        if arrives_us is not None and (wait_us is None or arrives_us <= wait_us):
            self.now_us = max(self.now_us, arrives_us)
            return self.feed(heapq.heappop(self._coming)[2])
        assert wait_us is not None
        self.now_us = max(self.now_us, wait_us)
        self.wait_until_us = None
        return self.feed(events.TimePassed())

    def feed(self, event: events.Event, after_us: int = 0) -> list[events.Action]:
        """Give the test an event and do what it says."""
        self.now_us += after_us
        self.events.append((self.now_us, event))
        if isinstance(event, events.ToneStarted):
            self.onset_us = event.onset_us
        actions = self.test.handle(self.now_us, event)
        self.log += [(self.now_us, action) for action in actions]
        for action in actions:
            self._do(action)
        return actions

    def forget(self) -> None:
        """Have the board forget its tone and all that it was about to tell."""
        self._coming.clear()
        self._sounding = None

    def press(self, board_us: int, button: int = events.HEARD_BUTTON) -> None:
        """Have a button pressed at a time of the board, and told."""
        self._tell(self.session_us(board_us), events.ButtonPressed(board_us, button))
        released_us = board_us + HOLD_US
        self._tell(self.session_us(released_us), events.ButtonReleased(released_us, button))

    def _react(
        self, onset_us: int, reaction: Reaction, play: events.Play | None = None
    ) -> int | None:
        """Have a button pressed; return when, on the board's clock, if that ends the tone."""
        if reaction is None:
            return None
        delay_us, button = (
            reaction if isinstance(reaction, tuple) else (reaction, events.HEARD_BUTTON)
        )
        self.press(onset_us + delay_us, button)
        ends = play is not None and play.press_buttons & button and delay_us >= play.press_ms * MS
        return onset_us + delay_us if ends else None

    def _tell(self, at_us: int, event: events.Event) -> None:
        """Have the board tell what happens at a time of the session."""
        heapq.heappush(self._coming, (at_us + self.wire_us, next(self._order), event))

    def _do(self, action: events.Action) -> None:
        match action:
            case events.Wait(until_us):
                self.wait_until_us = until_us
            case events.Play():
                self._play(action)
            case events.Mask():
                self.noise = action
            case events.Unmask():
                self.noise = None
            case events.Silence():
                self.noise = None
                self._cut_tone()
            case events.AskBoardTime():
                at_us = self.now_us + self.wire_us
                self._tell(at_us, events.BoardTime(self.board_us(at_us)))
            case CatchTold(number):
                reaction = self.listener.to_silence(number)
                self._react(self.board_us(self.now_us), reaction)
            case _:
                pass

    def _play(self, play: events.Play) -> None:
        onset_us = self.board_us(self.now_us + self.wire_us)
        ended_us = onset_us + self.settings.train_ms(play.pulses) * MS
        self._sounding = play.number
        self._tell(self.session_us(onset_us), events.ToneStarted(play.number, onset_us))
        pressed_us = self._react(onset_us, self.listener.to_tone(play), play)
        if pressed_us is None or pressed_us >= ended_us:
            ended = events.ToneEnded(play.number, ended_us, cut=False)
        else:
            ended = events.ToneEnded(play.number, pressed_us, cut=True)
        self._tell(self.session_us(ended.offset_us), ended)

    def _cut_tone(self) -> None:
        """Tell an end before its time instead of the end in its time, if that is still to come."""
        number, self._sounding = self._sounding, None
        ends = [e for e in self._coming if isinstance(e[2], events.ToneEnded) and not e[2].cut]
        if number is None or not ends:
            return
        self._coming = [entry for entry in self._coming if entry not in ends]
        heapq.heapify(self._coming)
        at_us = self.now_us + self.wire_us
        self._tell(at_us, events.ToneEnded(number, self.board_us(at_us), cut=True))

    # What was done

    @property
    def purpose(self) -> str:
        """The purpose of the presentation under way."""
        presentation = self.test.presenter.presentation
        return presentation.purpose if presentation else ""

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

    def ear(self, name: str) -> dict[str, Any]:
        """The result of an ear."""
        (found,) = (ear for ear in self.result["ears"] if ear["ear"] == name)
        return dict(found)

    def levels(self, purpose: str) -> list[float]:
        """The levels of the tones of this purpose."""
        return [about["level_db_hl"] for about in self.told("tone", purpose=purpose)]

    def told(self, what: str, **about: Any) -> list[dict[str, Any]]:
        """What was told of a kind, with these figures in it."""
        return [
            action.figures()
            for action in self.actions
            if isinstance(action, Tell) and what == action.WHAT
            if about.items() <= action.figures().items()
        ]


def finished(settings: Settings, listener: Listener) -> Driver:
    """A test that was run to its end."""
    driver = Driver(settings, listener)
    driver.run()
    return driver


def left(listener: Listener, **values: Any) -> Driver:
    """A finished test of the left ear."""
    return finished(Settings(**{"ears": "left", **values}), listener)


def marks(ear: dict[str, Any]) -> dict[int, str]:
    """The mark of each frequency in the result of an ear."""
    return {found["frequency_hz"]: found["mark"] for found in ear["thresholds"]}


def numbers(ear: dict[str, Any]) -> set[float | None]:
    """All figures of the thresholds in the result of an ear."""
    names = ("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl")
    return {found[name] for found in ear["thresholds"] for name in names}
