"""A clock that passes when it is told to: what a firmware takes for the time of the world."""

import datetime
import math
from dataclasses import dataclass
from typing import Final, Self

from firmware_py.platform.clock import SteadyClock, Waiting

MS: Final = 1000
S: Final = 1_000_000
STARTED: Final = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


@dataclass
class _Time:
    us: int


class VirtualClock(SteadyClock):
    """A clock that somebody moves; the time of a hearing test may go faster than the world's.

    `waits`: what a firmware waits with: it moves this clock.
    """

    def __init__(self, speed: float = 1, waits: Waiting | None = None) -> None:
        super().__init__(speed)
        self.waits = waits
        self._time = _Time(0)

    @property
    def us(self) -> int:
        """Return the time of the world."""
        return self._time.us

    @us.setter
    def us(self, us: int) -> None:
        self._time.us = us

    @property
    def seconds(self) -> float:
        return self.us / S

    def now_us(self) -> int:
        """Return the time of the hearing tests."""
        return int(self.us * self.speed)

    def of_wire(self) -> "VirtualClock":
        slow = VirtualClock(min(self.speed, 1))
        slow._time = self._time
        return slow

    def world_s(self) -> float:
        return self.seconds

    def waiting(self) -> Waiting:
        if self.waits is None:
            raise ValueError("nobody waits by this clock")
        return self.waits

    def date(self) -> datetime.datetime:
        return STARTED + datetime.timedelta(microseconds=self.us)

    def date_known_s(self) -> float:
        return math.inf

    def seconds_until(self, at_us: int) -> float:
        return max(at_us - self.now_us(), 0) / S / self.speed

    def another(self, waits: Waiting) -> Self:
        """Return a clock that goes on from here by itself."""
        other = type(self)(self.speed, waits)
        other.us = self.us
        return other


def microseconds(seconds: float) -> int:
    """Return a time that is not over before these seconds are."""
    return math.ceil(seconds * S)
