"""A whole hearing test in this process and in no time: the procedure, a board and a listener.

What happens next, happens at once: what the board has told arrives, a tone ends, the listener's
hand moves, or the time comes that the procedure waits for. The board may have a clock of its own,
with another beginning and another rate than that of the session, and a wire that takes its time.
"""

import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from device.simulator.earphones import look_after_ears
from device.simulator.hand import Hand
from device.simulator.listener import EARS, START, Ear, Listener, Noise, tone_by
from device.simulator.operator import NOBODY, Operator
from device.simulator.room_around import QUIET, RoomAround
from firmware_py.link.messages import read_levels, write_levels
from firmware_py.presenting.presenter import LISTENING
from firmware_py.session.hearing import HearingTest
from firmware_py.terms import events
from firmware_py.terms.results import SessionResult
from firmware_py.terms.settings import Settings
from firmware_py.terms.tells import CatchTold, GoingOnTold

BEGINS_US: Final = 1_000_000
MS_US: Final = 1000
HOLD_US: Final = 150 * MS_US  # of a press that a test asks for
STEPS_MAX: Final = 20_000  # a test of two ears has some two thousand
_MILLION: Final = 1_000_000


@dataclass(frozen=True)
class BoardClock:
    """What the board's clock shows.

    Parameters
    ----------
    began_us : int
        When that of the session shows 0.
    gains_ppm : int
        So many microseconds more in a second of the session, 0 or more.
    """

    began_us: int = 0
    gains_ppm: int = 0

    def board_us(self, session_us: int) -> int:
        return self.began_us + session_us + session_us * self.gains_ppm // _MILLION

    def session_us(self, board_us: int) -> int:
        """Return the first time of the session at which it shows this or more."""
        at_us = (board_us - self.began_us) * _MILLION // (_MILLION + self.gains_ppm)
        return at_us + (self.board_us(at_us) < board_us)


@dataclass(frozen=True)
class _Sounding:
    # The tone that plays, in the board's time.
    play: events.Play
    onset_us: int
    end_us: int
    cut: bool = False  # by then

    def ends_at(self, at_us: int, button: int) -> bool:
        # Whether a press ends it, as the board decides.
        pressable = self.play.press_buttons & button != 0
        return pressable and at_us - self.onset_us >= self.play.press_ms * MS_US


class Board:
    """The board of a test, its listener, and the wire; all times are of the board, but for `comes`.

    `wire_us`: from what the board does until it is known, and from a command until it is done.
    `noise`: what it was told to play, until it was told to end it.
    """

    def __init__(
        self, listener: Listener, clock: BoardClock, wire_us: int, room: RoomAround
    ) -> None:
        self.listener = listener
        self.clock = clock
        self.wire_us = wire_us
        self._room = room
        self._microphone = room.placed_microphone()
        self.noise: events.Mask | None = None
        self._hand = self._hand_since(0)
        self._sounding: _Sounding | None = None
        self._coming: list[tuple[int, int, events.Event]] = []  # on the wire: when it arrives
        self._order = itertools.count()

    def forget(self, now_us: int) -> None:
        """Forget the tone and all that it was about to tell; the hand rests."""
        self._coming.clear()
        self._sounding = None
        self._hand = self._hand_since(now_us)

    def _hand_since(self, at_us: int) -> Hand:
        hand = Hand(self.listener)
        hand.tone_over(START, self.clock.board_us(at_us), cut=False)
        return hand

    def comes_us(self) -> int | None:
        """Return when the next of what was told arrives, in the session's time."""
        return self._coming[0][0] if self._coming else None

    def come(self) -> events.Event:
        return heapq.heappop(self._coming)[2]

    def due_us(self) -> int | None:
        hand_us = self._hand.due_us()
        if self._sounding is None or (hand_us is not None and hand_us < self._sounding.end_us):
            return hand_us
        return self._sounding.end_us

    def go_on(self, at_us: int) -> None:
        if self._sounding is not None and self._sounding.end_us == at_us:
            self._tone_over(at_us, self._sounding.cut)
        elif (moved := self._hand.move(at_us)) is not None:
            button, down = moved
            kind = events.ButtonPressed if down else events.ButtonReleased
            self.tell(at_us, kind(at_us, button))
            if down and self._sounding and self._sounding.ends_at(at_us, button):
                self._tone_over(at_us, cut=True)

    def tell(self, at_us: int, event: events.Event) -> None:
        arrives_us = self.clock.session_us(at_us) + self.wire_us
        heapq.heappush(self._coming, (arrives_us, next(self._order), event))

    def play(self, play: events.Play, onset_us: int, end_us: int) -> None:
        noise: Noise | None = None
        if (told := self.noise) is not None:
            noise = Noise(ear_named(told.route.ear), told.frequency_hz, told.level_db_hl)
        sound = play.frequency_hz, play.level_db_hl
        room_db_hl = self._room.masking_db_hl(play.route, play.frequency_hz, (onset_us, end_us))
        tone = tone_by(play.route, str(play.number), sound, noise, room_db_hl)
        press = self.listener.answer(tone)
        self._hand.tone_began(onset_us, press)
        times_ms = play.on_ms, play.off_ms, play.pulses, play.rise_ms
        self._microphone.tone_began(onset_us, play.frequency_hz, -math.inf, times_ms)
        self._sounding = _Sounding(play, onset_us, end_us)
        self.tell(onset_us, events.ToneStarted(play.number, onset_us))

    def fall_silent(self, at_us: int) -> None:
        self.mask(None, at_us)
        if self._sounding is not None and at_us <= self._sounding.end_us:
            self._sounding = replace(self._sounding, end_us=at_us, cut=True)

    def _tone_over(self, at_us: int, cut: bool) -> None:
        assert self._sounding is not None
        number, self._sounding = self._sounding.play.number, None
        self._hand.tone_over(str(number), at_us, cut)
        self._microphone.tone_over(at_us)
        if heard_db_spl := read_levels(write_levels(self._microphone.take())):
            self.tell(at_us, events.RoomHeard(heard_db_spl))
        self.tell(at_us, events.ToneEnded(number, at_us, cut))

    def mask(self, mask: events.Mask | None, at_us: int) -> None:
        self.noise = mask
        self._microphone.noise_changed(at_us, masked=mask is not None)


class Operators:
    """Whoever answers what the operator is asked: about the ears, and about the rest."""

    def __init__(self, listener: Listener, operator: Operator) -> None:
        self._listener = listener
        self._operator = operator
        self._played: events.Play | None = None  # the last tone
        self._word: tuple[int, events.Event] | None = None

    def take_in(self, action: events.Action, now_us: int) -> None:
        """Take in what the test does, and perhaps think of an answer."""
        if isinstance(action, events.Play):
            self._played = action
        if self._operator.puts_back(action):
            self._listener.seat()
        of_ears = look_after_ears(action, self._listener, self._played)
        said = of_ears or self._operator.react(action)
        if said is not None:
            after_us, word = said
            self._word = (now_us + after_us, word)
        elif isinstance(action, GoingOnTold):
            self._word = None

    def due_us(self) -> int | None:
        return self._word[0] if self._word else None

    def say(self) -> events.Event:
        assert self._word is not None
        (_, word), self._word = self._word, None
        return word


class SimulatedTest:
    """One test of one listener.

    Parameters
    ----------
    settings : Settings
    listener : Listener
        Of the simulated board.
    can_mask : bool
        Whether the board has masking noise.
    test : HearingTest, optional
        One that has not begun; by default a new one.
    wire_us : int
        From what the board does until it is known, and from a command until it is done.
    clock : BoardClock
        By default that of the session.
    operator : Operator
        By default nobody is there.
    room : RoomAround
        Whose noise the listener hears.

    Attributes
    ----------
    now_us : int
        Time of the session.
    wait_until_us : int or None
        When the test is told that time has passed.
    events : list of (int, Event)
        What it was told, and when.
    log : list of (int, Action)
        What it did, and when.
    """

    def __init__(
        self,
        settings: Settings,
        listener: Listener,
        *,
        can_mask: bool = True,
        test: HearingTest | None = None,
        wire_us: int = 0,
        clock: BoardClock = BoardClock(),
        operator: Operator = NOBODY,
        room: RoomAround = QUIET,
    ) -> None:
        self.settings = settings
        self.test = HearingTest(settings) if test is None else test
        self.board = Board(listener, clock, wire_us, room)
        self.now_us = BEGINS_US
        self.wait_until_us: int | None = None
        self.events: list[tuple[int, events.Event]] = []
        self.log: list[tuple[int, events.Action]] = []
        self._can_mask = can_mask
        self.operators = Operators(listener, operator)

    @property
    def seconds(self) -> float:
        return (self.now_us - BEGINS_US) / 1e6

    # Running

    def run(self) -> SessionResult:
        """Run the test to its end; a `RuntimeError` if it has none."""
        finish = self.run_until(lambda action: isinstance(action, events.Finish))
        assert isinstance(finish, events.Finish)
        assert isinstance(finish.result, SessionResult)
        return finish.result

    def run_until(self, wanted: Callable[[events.Action], bool]) -> events.Action:
        """Start the test, if it is not, and run until there is an action that is wanted.

        A `RuntimeError` if there is none.
        """
        actions = [] if self.events else self.feed(events.Started(self._can_mask))
        for _ in range(STEPS_MAX):
            for action in actions:
                if wanted(action):
                    return action
            actions = self.step()
        raise RuntimeError(f"the test is {self.test.state} after {STEPS_MAX} steps")

    def run_to_tone(self, purpose: str = "") -> events.Play:
        """Run until a tone (of this purpose) is to be played; the board has not begun it."""
        play = self.run_until(
            lambda action: isinstance(action, events.Play) and purpose in ("", self.purpose)
        )
        assert isinstance(play, events.Play)
        return play

    def run_to_onset(self, purpose: str = "") -> events.Play:
        """Run until the board has said that a tone (of this purpose) began."""
        play = self.run_to_tone(purpose)
        while self.test.state != LISTENING:
            self.step()
        return play

    def run_to_catch(self) -> None:
        """Run until there is a silence to be listened to."""
        self.run_until(lambda action: isinstance(action, CatchTold))

    def step(self) -> list[events.Action]:
        """Go on to the next thing that the test is told, and return what it does.

        A `RuntimeError` if it would wait for ever.
        """
        for _ in range(STEPS_MAX):
            board_us = self.board.due_us()
            at_board_us = None if board_us is None else self.board.clock.session_us(board_us)
            arrives_us, word_us = self.board.comes_us(), self.operators.due_us()
            times_us = (arrives_us, at_board_us, word_us, self.wait_until_us)
            due = [us for us in times_us if us is not None]
            if not due:
                break
            first_us = min(due)
            if first_us in (arrives_us, word_us) or first_us != at_board_us:
                self.now_us = max(self.now_us, first_us)
            if first_us == arrives_us:
                return self.feed(self.board.come())
            if first_us == word_us:
                return self.feed(self.operators.say())
            if first_us != at_board_us:
                self.wait_until_us = None
                return self.feed(events.TimePassed())
            assert board_us is not None
            self.board.go_on(board_us)
        raise RuntimeError(f"the test is {self.test.state} for ever")

    def feed(self, event: events.Event, after_us: int = 0) -> list[events.Action]:
        """Tell the test of an event, and do what it says."""
        self.now_us += after_us
        self.events.append((self.now_us, event))
        actions = self.test.handle(self.now_us, event)
        self.log += [(self.now_us, action) for action in actions]
        for action in actions:
            self._do(action)
            self.operators.take_in(action, self.now_us)
        return actions

    def _do(self, action: events.Action) -> None:
        there_us = self.board.clock.board_us(self.now_us + self.board.wire_us)
        match action:
            case events.Wait(until_us):
                self.wait_until_us = until_us
            case events.Play():
                train_us = self.settings.train_ms(action.pulses) * MS_US
                self.board.play(action, there_us, there_us + train_us)
            case events.Mask():
                self.board.mask(action, there_us)
            case events.Unmask():
                self.board.mask(None, there_us)
            case events.Silence():
                self.board.fall_silent(there_us)
            case events.AskBoardTime():
                self.board.tell(there_us, events.BoardTime(there_us))
            case _:
                pass

    def press(self, board_us: int, button: int = events.HEARD_BUTTON) -> None:
        """Have a button pressed at a time of the board, whatever the listener's hand does."""
        self.board.tell(board_us, events.ButtonPressed(board_us, button))
        released_us = board_us + HOLD_US
        self.board.tell(released_us, events.ButtonReleased(released_us, button))

    def forget(self) -> None:
        """Have the board forget its tone and all that it was about to tell, and the hand rest."""
        self.board.forget(self.now_us)

    @property
    def purpose(self) -> str:
        presentation = self.test.presenter.trial.presentation
        return presentation.purpose if presentation else ""


def ear_named(name: str) -> Ear:
    return EARS[EARS.index(name)]
