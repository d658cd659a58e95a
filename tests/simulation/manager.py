"""The supervisor of the firmware, as systemd is one, and what it is told."""

from typing import Final

from device.simulator.virtual_clock import S
from firmware_py.platform.supervisor import Supervisor
from tests.simulation.simulated_clock import SimulatedClock
from tests.simulation.violation import Violation

WATCHDOG_S: Final = 10  # the unit's WatchdogSec


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
