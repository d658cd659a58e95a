"""The clocks of a simulated world: one for the truth, and what the firmware sees of it."""

import datetime
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.waiting import Waiting
from tests.firmware.world import STARTED, S

BEGAN_US: Final = 1000 * S  # the machine was on before


class SimulatedClock(SteadyClock):
    """Time that passes when it is told to.

    Parameters
    ----------
    waiting : Waiting
        What the loop waits with.

    Attributes
    ----------
    us : int
        The time of the world.
    missed_us : int
        How much of it the machine slept through, its monotonic clock too.
    jump : timedelta
        How wrong date and time of day are.
    """

    def __init__(self, waiting: Waiting) -> None:
        super().__init__()
        self._waiting = waiting
        self.us = BEGAN_US
        self._asleep_since_us: int | None = None
        self.missed_us = 0
        self.jump = datetime.timedelta()

    @property
    def seconds(self) -> float:
        """Return how long the story has been going on."""
        return (self.us - BEGAN_US) / S

    @contextmanager
    def asleep(self) -> Iterator[None]:
        """Have time pass that the machine does not know of."""
        if self._asleep_since_us is not None:  # it sleeps already
            yield
            return
        self._asleep_since_us = self.us
        try:
            yield
        finally:
            self.missed_us += self.us - self._asleep_since_us
            self._asleep_since_us = None

    def now_us(self) -> int:
        known_us = self.us if self._asleep_since_us is None else self._asleep_since_us
        return known_us - self.missed_us

    def world_s(self) -> float:
        return self.now_us() / S

    def seconds_until(self, at_us: int) -> float:
        return max(at_us - self.now_us(), 0) / S

    def date(self) -> datetime.datetime:
        return STARTED + datetime.timedelta(microseconds=self.us) + self.jump

    def of_wire(self) -> "SimulatedClock":
        return self

    def waiting(self) -> Waiting:
        return self._waiting


def microseconds(seconds: float) -> int:
    """Return a time that is not over before these seconds are."""
    return math.ceil(seconds * S)
