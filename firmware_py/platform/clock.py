"""Time, handed in from outside: the only place where the firmware looks at a clock."""

import datetime
import time
from collections.abc import Callable
from typing import Final, Protocol

from firmware_py.platform.waiting import POLL_S, SystemWaiting, Waiting

STANDSTILL_S_MAX: Final = 60.0  # of a board's time, before it counts as broken


class Clock(Protocol):
    """Tells the time in microseconds since some fixed moment, never backwards."""

    def now_us(self) -> int:
        """Return the time."""

    def date(self) -> datetime.datetime:
        """Return date and time of day for people, with its zone; nothing is computed from it."""

    def seconds_until(self, at_us: int) -> float:
        """Return how many seconds of the real world lie before `at_us`, at least 0."""


class LoopClock(Clock, Protocol):
    """What the loop asks of its clock besides: the time of the world around the test."""

    def of_wire(self) -> Clock:
        """Return the clock of the wire."""

    def world_s(self) -> float:
        """Return the seconds of the world since some fixed moment, never backwards."""

    def waiting(self) -> Waiting:
        """Return something new to wait with; whoever asks for it closes it."""


class SteadyClock:
    """The machine's monotonic clock, run `speed` times as fast as the world.

    Parameters
    ----------
    speed : float
        1 for real tests; a demonstration may run faster with a simulated board, or slower with an
        emulated one.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = speed

    def now_us(self) -> int:
        """Return the time."""
        return int(time.monotonic_ns() / 1000 * self._speed)

    def of_wire(self) -> "SteadyClock":
        """Return the clock of the wire: that of the world, or slower with a board that is."""
        return SteadyClock(min(self._speed, 1.0))

    def world_s(self) -> float:
        """Return the seconds of the world since some fixed moment."""
        return time.monotonic()

    def waiting(self) -> SystemWaiting:
        """Return something new to wait with."""
        return SystemWaiting()

    def date(self) -> datetime.datetime:
        """Return date and time of day, UTC."""
        return datetime.datetime.now(datetime.UTC)

    def seconds_until(self, at_us: int) -> float:
        """Return how many seconds of the real world lie before `at_us`, at least 0."""
        return max(at_us - self.now_us(), 0) / 1e6 / self._speed


class BoardClock(SteadyClock):
    """The time of an emulated board, which falls behind the world's where the machine is busy.

    A real board keeps time with the world. An emulated one has as much time as its emulator has
    computed: a timeout by any other clock would find it late that is on time. Where its time stands
    still for `STANDSTILL_S_MAX`, that of the world goes on in its place, so that it is noticed.

    Parameters
    ----------
    board_us : callable
        Returns the board's time, which is never faster than the world's.
    world_s : callable
        Returns that of the world.
    """

    def __init__(
        self, board_us: Callable[[], float], world_s: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._board_us = board_us
        self._world_s = world_s
        self._told_us = board_us()
        self._moved_s = world_s()
        self._passed_us = 0.0

    def now_us(self) -> int:
        """Return the time."""
        told_us, world_s = self._board_us(), self._world_s()
        stood_s = world_s - self._moved_s
        if told_us != self._told_us:
            self._passed_us += max(told_us - self._told_us, 0.0)  # it may have begun anew
            self._told_us, self._moved_s = told_us, world_s
        elif stood_s > STANDSTILL_S_MAX:
            self._passed_us += 1e6 * (stood_s - STANDSTILL_S_MAX)
            self._moved_s = world_s - STANDSTILL_S_MAX
        return int(self._passed_us)

    def of_wire(self) -> "BoardClock":
        """Return the clock of the wire: this one."""
        return self

    def seconds_until(self, at_us: int) -> float:
        """Return how many seconds it will take at least; 0 only when the time has come."""
        left_us = at_us - self.now_us()
        return max(left_us / 1e6, POLL_S) if left_us > 0 else 0.0
