"""The listener's buttons: edges by interrupt, time stamps of microseconds, debounced.

The interrupt only notes when the first and the last edge came. The program asks again when the
contact has been quiet for `QUIET_US`, or bounces on and on: then the level is the answer, and the
time of the first edge is its time. A spike that leaves the level as it was is nothing.
"""

from array import array
from time import ticks_diff, ticks_us  # type: ignore[attr-defined]  # MicroPython's

import machine

QUIET_US = 5000  # contacts bounce for a millisecond or two
BOUNCING_US_MAX = 200000  # a worn one bounces for longer: it is looked at all the same

_EDGES, _FIRST_US, _LAST_US = 0, 1, 2


class Button:
    """One button between a pin and ground; its number is 1 (heard) or 2 (perhaps).

    `down` is as told by the last `poll` that returned True, and since when, in ticks of the
    microcontroller, `since_ticks_us`.
    """

    def __init__(self, pin: int, number: int) -> None:
        self.number = number
        self._pin = machine.Pin(pin, machine.Pin.IN, machine.Pin.PULL_UP)
        self._noted = array("i", [0, 0, 0])
        self.down = False
        self.since_ticks_us = 0
        both = machine.Pin.IRQ_FALLING | machine.Pin.IRQ_RISING
        self._pin.irq(handler=self._edge, trigger=both, hard=True)

    def _edge(self, _pin: object) -> None:
        # In the interrupt: nothing is allocated.
        now = ticks_us()
        noted = self._noted
        if noted[_EDGES] == 0:
            noted[_FIRST_US] = now
            noted[_EDGES] = 1
        noted[_LAST_US] = now

    @property
    def unsettled(self) -> bool:
        return self._noted[_EDGES] != 0

    def pending_ticks_us(self) -> int:
        return self._noted[_FIRST_US]

    def poll(self) -> bool:
        """Return whether the button has gone down or up; `down` and `since_ticks_us` say which."""
        noted = self._noted
        if noted[_EDGES] == 0:
            return False
        masked = machine.disable_irq()
        now_us = ticks_us()
        first_us = noted[_FIRST_US]
        quiet = ticks_diff(now_us, noted[_LAST_US]) >= QUIET_US
        quiet = quiet or ticks_diff(now_us, first_us) >= BOUNCING_US_MAX
        if quiet:
            noted[_EDGES] = 0
        level = self._pin.value()
        machine.enable_irq(masked)
        if not quiet or (level == 0) == self.down:
            return False
        self.down = level == 0
        self.since_ticks_us = first_us
        return True
