"""Where the time of a simulated test goes: every microsecond is booked once.

Time is booked by what a presentation is for (`PARTS`) and by what is waited for (`KINDS`). A pause
belongs to the presentation after it; one after a last tone that nobody answered, to that tone.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from device.simulator.hearing import SimulatedTest
from device.simulator.listener import Listener
from firmware_py.presenting.presenter import LATE, LISTENING
from firmware_py.session.hearing import HearingTest
from firmware_py.terms import tells
from firmware_py.terms.events import Action, Event
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.settings import Settings

CHECK: Final = "attention"  # a clear tone that asks whether the listener attends
PARTS: Final = (*(str(purpose) for purpose in Purpose), CHECK)

PAUSE: Final = "pause"
ANSWERED: Final = "answered"  # from an onset to the press that answers it
UNANSWERED: Final = "unanswered"  # the window of a tone or a silence that no press answers
VOID: Final = "void"  # a tone that is asked again, from its onset on
KINDS: Final = (PAUSE, ANSWERED, UNANSWERED, VOID)


class TimeLedger:
    """The time of one test, whose states say what it is spent on."""

    def __init__(self, test: HearingTest) -> None:
        self._test = test
        self.spent_us: Counter[tuple[str, str]] = Counter()  # by part and kind
        self.masked_us = 0  # of all of it, on tones with noise and the pauses before them
        # Of the presentation under way, and, where it has an answer, of the pause after it.
        self._pause_us = self._listened_us = self._late_us = self._void_us = 0
        self._masked = False
        self._checks = self._checks_asked()
        self._last_part = PARTS[0]

    def sum_us(self, *names: str) -> int:
        """Return the microseconds of these parts and kinds."""
        return sum(us for pair, us in self.spent_us.items() if set(names) & set(pair))

    def book(self, us: int) -> None:
        """Book time that passes before the test is told of anything."""
        if self._test.state == LISTENING:
            self._listened_us += us
        elif self._test.state == LATE:
            self._late_us += us
        else:
            self._pause_us += us

    def take_in(self, actions: Iterable[Action]) -> None:
        """Learn from what the test does and tells what the time was for."""
        for action in actions:
            match action:
                case tells.ToneTold():
                    self._masked = action.noise_db_hl is not None
                case tells.VoidTold():
                    self._void_us += self._listened_us + self._late_us
                    self._listened_us = self._late_us = 0
                case tells.AnswerTold():
                    self._book_answer(action.purpose, action.heard is not False)
                case tells.FinishTold():
                    self._book(self._last_part, PAUSE, self._pause_us)
                    self._pause_us = 0

    def _book_answer(self, purpose: Purpose, pressed: bool) -> None:
        checks = self._checks_asked()
        part = self._last_part = CHECK if checks > self._checks else str(purpose)
        self._checks = checks
        self._book(part, PAUSE, self._pause_us)
        self._book(part, VOID, self._void_us)
        if pressed:
            self._book(part, ANSWERED, self._listened_us + self._late_us)
            self._pause_us = 0
        else:
            self._book(part, UNANSWERED, self._listened_us)
            self._pause_us = self._late_us
        self._listened_us = self._late_us = self._void_us = 0

    def _book(self, part: str, kind: str, us: int) -> None:
        self.spent_us[part, kind] += us
        self.masked_us += us * (self._masked and part != str(Purpose.CATCH))

    def _checks_asked(self) -> int:
        return sum(ear.attention.checks_asked for ear in self._test.ears.values())


class TimedTest(SimulatedTest):
    """A simulated test whose time is booked."""

    def __init__(
        self, settings: Settings, listener: Listener, test: HearingTest | None = None
    ) -> None:
        super().__init__(settings, listener, test=test)
        self.ledger = TimeLedger(self.test)
        self._booked_us = self.now_us

    def feed(self, event: Event, after_us: int = 0) -> list[Action]:
        """Book the time until an event, and tell the test of it."""
        self.ledger.book(self.now_us + after_us - self._booked_us)
        actions = super().feed(event, after_us)
        self._booked_us = self.now_us
        self.ledger.take_in(actions)
        return actions
