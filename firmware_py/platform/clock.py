"""The time: the one place where the firmware looks at a clock, and waits by it.

All others are handed it.
"""

import datetime
import math
import os
import select
import time
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from firmware_py.platform.ports import Port

YEAR_MIN: Final = 2026  # of this firmware: an earlier date is of a clock that was never set
POLL_S: Final = 0.005  # to look again at a port without a file descriptor

# Where one of these is, the date goes on while the machine is off: a clock with a battery, or one
# that was put right since.
KEEPS_DATE: Final = ("/sys/class/rtc/rtc0", "/run/systemd/timesync/synchronized")


def was_clock_set(time: str) -> bool:
    """Return whether a time in ISO 8601 is one of a clock that was set."""
    try:
        return datetime.datetime.fromisoformat(time).year >= YEAR_MIN
    except ValueError:
        return False


class Waiting(Protocol):
    """What the loop waits with."""

    def wait(self, ports: Sequence[Port], seconds: float) -> None:
        """Wait until a port has bytes, a full one takes more, the time is over, or it is rung."""

    def sleep(self, seconds: float) -> None:
        """Let so much time pass, whatever happens."""

    def ring(self) -> None:
        """End the wait, and every later one at once; a signal handler may call this."""

    def close(self) -> None: ...


class SystemWaiting:
    """Waits with the system's `select`."""

    def __init__(self) -> None:
        self._rung, self._bell = os.pipe()

    def wait(self, ports: Sequence[Port], seconds: float) -> None:
        readers = _descriptors(ports)
        if len(readers) < len(ports):
            seconds = min(seconds, POLL_S)
        writers = _descriptors(port for port in ports if port.is_full)
        select.select([*readers, self._rung], writers, [], seconds)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def ring(self) -> None:
        os.write(self._bell, b"!")

    def close(self) -> None:
        os.close(self._rung)
        os.close(self._bell)


def _descriptors(ports: Iterable[Port]) -> list[int]:
    return [fd for fd in (port.fileno() for port in ports) if fd is not None]


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
