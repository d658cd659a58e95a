"""The machine that the firmware runs on: a clock that may sleep or be wrong, and a supervisor."""

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from device.simulator.virtual_clock import S, VirtualClock
from firmware_py.platform.clock import Waiting
from firmware_py.platform.supervisor import Supervisor
from tests.simulation.violation import Violation

BEGAN_US: Final = 1000 * S  # the machine was on before
WATCHDOG_S: Final = 10  # the unit's WatchdogSec


class SimulatedClock(VirtualClock):
    """A clock that does not go while the machine sleeps.

    `missed_us`: how much time that was; `jump`: how wrong date and time of day are.
    """

    def __init__(self, waits: Waiting, jump: datetime.timedelta) -> None:
        super().__init__(1, waits)
        self.us = BEGAN_US
        self._asleep_since_us: int | None = None
        self.missed_us = 0
        self.jump = jump

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


class Manager:
    """Is told that the firmware is ready, that it lives, and that it ends."""

    def __init__(self) -> None:
        self.restarts()

    def restarts(self) -> None:
        self.ready = self.ending = False
        self._alive_us = 0

    def hear(self, now_us: int, line: str) -> None:
        if self.ending or (self.ready and line == "READY=1"):
            raise Violation(f"the supervisor was told {line} too late, or once more")
        if line == "READY=1":
            self.ready = True
        if line == "STOPPING=1":
            self.ending = True
        self._alive_us = now_us

    def loses_patience(self, now_us: int) -> bool:
        """Return whether a firmware that was ready has not told that it lives for too long."""
        return self.ready and not self.ending and now_us - self._alive_us > WATCHDOG_S * S


class WatchedSupervisor(Supervisor):
    """What the firmware tells, without the socket."""

    def __init__(self, manager: Manager, clock: SimulatedClock) -> None:
        self._manager = manager
        self._clock = clock
        super().__init__({"WATCHDOG_USEC": str(WATCHDOG_S * S)}, now_s=clock.world_s)

    def _send(self, status: str, *lines: str) -> None:
        super()._send(status, *lines)
        for line in lines:
            self._manager.hear(self._clock.now_us(), line)
