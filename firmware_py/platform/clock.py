"""The time: the one place where the firmware looks at a clock. All others are handed it."""

import datetime
import math
import os
import time
from typing import Final

from firmware_py.platform.waiting import SystemWaiting, Waiting

# Where one of these is, the date goes on while the machine is off: a clock with a battery, or one
# that was put right since.
KEEPS_DATE: Final = ("/sys/class/rtc/rtc0", "/run/systemd/timesync/synchronized")


class SteadyClock:
    """The machine's monotonic clock, run `speed` times as fast as the world, never backwards.

    Parameters
    ----------
    speed : float
        1 for real tests; a demonstration may run faster with a simulated board, or slower with an
        emulated one.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed

    def now_us(self) -> int:
        """Return the time in microseconds since some fixed moment."""
        # Not CLOCK_MONOTONIC, which goes up to a tenth faster while the date is being put right: a
        # board's clock is held to this one.
        return int(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) / 1000 * self.speed)

    def of_wire(self) -> "SteadyClock":
        """Return the clock of the wire: that of the world, or slower with a board that is."""
        return SteadyClock(min(self.speed, 1.0))

    @property
    def board_speed(self) -> float:
        """Return how many times faster than the clock of the wire that of the board goes."""
        return max(self.speed, 1.0)

    @property
    def told_speed(self) -> float | None:
        """Return how many times faster than the world it goes; None: as an emulated board does."""
        return self.speed

    def world_s(self) -> float:
        return time.monotonic()

    def waiting(self) -> Waiting:
        """Return a new object to wait with; the caller closes it."""
        return SystemWaiting()

    def date(self) -> datetime.datetime:
        """Return date and time of day UTC: for people, and for how long a test was broken off."""
        return datetime.datetime.now(datetime.UTC)

    def date_known_s(self) -> float:
        """Return for how many seconds back the date is sure.

        Without a battery, and until it is put right over a network, a clock goes on after a start
        of the machine where it stood before: nobody knows how long that was off.
        """
        if any(os.path.exists(path) for path in KEEPS_DATE):
            return math.inf
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def seconds_until(self, at_us: int) -> float:
        """Return how many seconds of the real world lie before `at_us`, at least 0."""
        return max(at_us - self.now_us(), 0) / 1e6 / self.speed
