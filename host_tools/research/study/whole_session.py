"""A whole hearing test in this process and in no time: the procedure, a board and a listener.

The board has the clock of the session and a wire without delay; the hand at its button is that of
the simulated board, so the listener presses in pauses as well.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from device.simulator.hand import Hand
from device.simulator.listener import EARS, Ear, Listener, Noise
from firmware_py.procedure import events
from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.results import SessionResult
from firmware_py.procedure.settings import Settings
from host_tools.research.study.time_ledger import TimeLedger

MS_US: Final = 1000
BEGINS_US: Final = 1_000_000
STEPS_MAX: Final = 100_000  # a test of two ears has some two thousand


@dataclass(frozen=True)
class _Sounding:
    # The tone that plays.
    play: events.Play
    onset_us: int
    end_us: int

    def ends_at(self, at_us: int, button: int) -> bool:
        # Whether a press ends it, as the board decides.
        pressable = self.play.press_buttons & button != 0
        return pressable and at_us - self.onset_us >= self.play.press_ms * MS_US


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

    Attributes
    ----------
    test : HearingTest
    ledger : TimeLedger
        Where its time has gone.
    """

    def __init__(
        self,
        settings: Settings,
        listener: Listener,
        *,
        can_mask: bool = True,
        test: HearingTest | None = None,
    ) -> None:
        self.test = HearingTest(settings) if test is None else test
        self.ledger = TimeLedger(self.test)
        self._settings = settings
        self._listener = listener
        self._hand = Hand(listener)
        self._can_mask = can_mask
        self._now_us = BEGINS_US
        self._wait_until_us: int | None = None
        self._sounding: _Sounding | None = None
        self._noise: Noise | None = None
        self._told: deque[events.Event] = deque()  # by the board, not yet taken in
        self._result: SessionResult | None = None

    @property
    def seconds(self) -> float:
        """Return how long the test has been running, by the board's own clock."""
        return (self._now_us - BEGINS_US) / 1e6

    def run(self) -> SessionResult:
        """Run the test to its end.

        Raises
        ------
        RuntimeError
            It does not end.
        """
        self._told.append(events.Started(self._can_mask))
        for _ in range(STEPS_MAX):
            if self._result is not None:
                return self._result
            self._step()
        raise RuntimeError(f"the test is {self.test.state} after {STEPS_MAX} steps")

    def _step(self) -> None:
        """Take in what the board has told, or let the next thing happen."""
        if self._told:
            self._do(self.test.handle(self._now_us, self._told.popleft()))
            return
        end_us = None if self._sounding is None else self._sounding.end_us
        due = (end_us, self._hand.due_us(), self._wait_until_us)
        before_us = self._now_us
        self._now_us = max(before_us, min(us for us in due if us is not None))
        self.ledger.passed(self._now_us - before_us)
        if end_us is not None and end_us <= self._now_us:
            self._tone_over(cut=False)
        elif due[1] is not None and due[1] <= self._now_us:
            moved = self._hand.move(due[1])
            if moved is not None:
                button, down = moved
                kind = events.ButtonPressed if down else events.ButtonReleased
                self._told.append(kind(self._now_us, button))
                if down and self._sounding and self._sounding.ends_at(self._now_us, button):
                    self._tone_over(cut=True)
        else:
            self._wait_until_us = None
            self._told.append(events.TimePassed())

    def _do(self, actions: list[events.Action]) -> None:
        self.ledger.take_in(actions)
        for action in actions:
            match action:
                case events.Wait(until_us):
                    self._wait_until_us = until_us
                case events.Play():
                    self._play(action)
                case events.Mask(_, ear, frequency_hz, level_db_hl):
                    self._noise = Noise(ear_named(ear), frequency_hz, level_db_hl)
                case events.Unmask():
                    self._noise = None
                case events.Silence():
                    self._noise = None
                    if self._sounding is not None:
                        self._tone_over(cut=True)
                case events.AskBoardTime():
                    self._told.append(events.BoardTime(self._now_us))
                case events.Finish(SessionResult() as result):
                    self._result = result
                case _:
                    pass

    def _play(self, play: events.Play) -> None:
        press = self._listener.answer(
            str(play.number),
            ear_named(play.ear),
            play.frequency_hz,
            play.level_db_hl,
            self._noise,
        )
        self._hand.tone_began(self._now_us, press)
        end_us = self._now_us + self._settings.train_ms(play.pulses) * MS_US
        self._sounding = _Sounding(play, self._now_us, end_us)
        self._told.append(events.ToneStarted(play.number, self._now_us))

    def _tone_over(self, *, cut: bool) -> None:
        assert self._sounding is not None
        number, self._sounding = self._sounding.play.number, None
        self._hand.tone_over(str(number), self._now_us, cut)
        self._told.append(events.ToneEnded(number, self._now_us, cut=cut))


def ear_named(name: str) -> Ear:
    """Return the listener's ear of this name."""
    return EARS[EARS.index(name)]
