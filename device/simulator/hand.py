"""The listener's hand at the buttons: which presses are to come, and when."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from device.simulator.listener import (
    HEARD_BUTTON,
    IDLE_SLOT_S,
    START,
    UNSURE_BUTTON,
    Listener,
    Press,
)

PRESSES_DUE_MAX: Final = 8  # nobody has more presses in mind
PRESS_GAP_US: Final = 50_000  # from a release to the next press at the soonest
REACTION_AFTER_CUT_US: Final = 300_000  # a press this soon after a cut was already on its way
_IDLE_SLOT_US: Final = round(IDLE_SLOT_S * 1e6)


class Hand:
    """The fingers of a listener, one at each button, who presses in silence too now and then.

    Another listener may take the seat.
    """

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.fingers = (Finger(HEARD_BUTTON), Finger(UNSURE_BUTTON))
        self._idle: _Idle | None = _Idle(START, 0, 0)

    def tone_began(self, at_us: int, press: Press | None) -> None:
        """Take in the answer to a tone that begins; what was meant for the silence is forgotten."""
        self._idle = None
        for finger in self.fingers:
            finger.forget(lambda due: due.spontaneous and not due.lasting)
        if press is not None:
            self.intend(press, at_us)

    def tone_over(self, tone_id: str, at_us: int, cut: bool) -> None:
        """Take in that it is silent; to a tone that was cut only a press on its way comes."""
        self._idle = _Idle(tone_id, 0, at_us)
        if cut:
            last_us = at_us + REACTION_AFTER_CUT_US
            for finger in self.fingers:
                finger.forget(
                    lambda due: due.at_us > last_us and not (due.spontaneous or due.lasting)
                )

    def intend(self, press: Press, since_us: int, *, spontaneous: bool = False) -> None:
        """Mean to press a button; the delay counts from `since_us`."""
        finger = self.fingers[0 if press.button == HEARD_BUTTON else 1]
        finger.intend(DuePress(since_us + press.delay_us, press, spontaneous, press.for_good))

    def due_us(self) -> int | None:
        """Return when `move` has something to do, None if never."""
        due = [finger.due_us() for finger in self.fingers]
        if self._idle is not None:
            due.append(self._idle.start_us)
        return min((us for us in due if us is not None), default=None)

    def move(self, now_us: int) -> tuple[int, bool] | None:
        """Do the first thing that is due now; return which button went down, if one moved."""
        for finger in self.fingers:
            if finger.due_us() == now_us:
                return finger.button, finger.move()
        idle = self._idle
        if idle is not None and idle.start_us == now_us:
            press = self.listener.spontaneous_press(idle.after_id, idle.slot)
            if press is not None:
                self.intend(press, now_us, spontaneous=True)
            self._idle = _Idle(idle.after_id, idle.slot + 1, now_us + _IDLE_SLOT_US)
        return None


@dataclass(frozen=True)
class _Idle:
    # The next slot in which nothing sounds.
    after_id: str
    slot: int
    start_us: int


@dataclass(frozen=True)
class DuePress:
    """A press to come."""

    at_us: int
    press: Press
    spontaneous: bool  # it answers nothing
    lasting: bool  # it comes whatever begins or ends before

    def next_one(self) -> "DuePress":
        press = self.press if self.press.for_good else replace(self.press, again_us=0)
        return DuePress(self.at_us + self.press.again_us, press, self.spontaneous, lasting=True)


class Finger:
    """Presses of one button to come; until `release_us` it is down, None: it is not."""

    def __init__(self, button: int) -> None:
        self.button = button
        self.release_us: int | None = None
        self._presses: list[DuePress] = []  # by time
        self._free_us = 0

    def intend(self, due: DuePress) -> None:
        """Mean to press once more; the press waits until the button has been free for a moment."""
        if len(self._presses) < PRESSES_DUE_MAX:
            self._presses.append(due)
            self._presses.sort(key=lambda due: due.at_us)

    def forget(self, which: Callable[[DuePress], bool]) -> None:
        self._presses = [due for due in self._presses if not which(due)]

    def due_us(self) -> int | None:
        """Return when it moves next, None if never."""
        if self.release_us is not None:
            return self.release_us
        if self._presses:
            return max(self._presses[0].at_us, self._free_us)
        return None

    def move(self) -> bool:
        """Do what is due next; return whether the button is down now."""
        if self.release_us is not None:
            self._free_us = self.release_us + PRESS_GAP_US
            self.release_us = None
            return False
        due = self._presses.pop(0)
        self.release_us = max(due.at_us, self._free_us) + due.press.hold_us
        if due.press.again_us:
            self.intend(due.next_one())
        return True
