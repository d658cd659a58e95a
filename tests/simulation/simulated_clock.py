"""The clock of a machine that may sleep, and be told a wrong date."""

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from device.simulator.virtual_clock import S, VirtualClock
from firmware_py.platform.waiting import Waiting

BEGAN_US: Final = 1000 * S  # the machine was on before


class SimulatedClock(VirtualClock):
    """A clock that does not go while the machine sleeps.

    `missed_us`: how much time that was; `jump`: how wrong date and time of day are.
    """

    def __init__(self, waits: Waiting) -> None:
        super().__init__(1, waits)
        self.us = BEGAN_US
        self._asleep_since_us: int | None = None
        self.missed_us = 0
        self.jump = datetime.timedelta()

    @property
    def seconds(self) -> float:
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

    def of_wire(self) -> "SimulatedClock":
        return self

    def date(self) -> datetime.datetime:
        return super().date() + self.jump
