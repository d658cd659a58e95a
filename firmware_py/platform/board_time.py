"""The time of an emulated board: its emulator writes it to a file, which the firmware follows.

A real board keeps time with the world. An emulated one falls behind where the machine is busy.
"""

import mmap
import os
import struct
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Self

from firmware_py.platform.clock import POLL_S, SteadyClock
from firmware_py.platform.named_file import open_named

STANDSTILL_S_MAX: Final = 60.0  # of a board's time, before it counts as broken

_TIME: Final = struct.Struct("=Q")  # microseconds
# The time stands in the file twice. The second is written last and read first: where both are the
# same, neither is half written.
_FIRST, _SECOND = 0, _TIME.size
_BYTES: Final = 2 * _TIME.size


class BoardTimeError(Exception):
    """The file cannot be made, or is not that of a board's time; the text says which and why."""


class BoardTime(AbstractContextManager["BoardTime"]):
    """The file of a board's time, as `make` and `open` map it; to be closed, or for a `with`."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._newest_us = 0

    @classmethod
    def make(cls, path: Path) -> Self:
        """Make the file, for the emulator, unless it is there (`BoardTimeError`); the time is 0."""
        try:
            with path.open("xb+") as file:
                file.truncate(_BYTES)
                return cls(mmap.mmap(file.fileno(), _BYTES))
        except FileExistsError:
            raise BoardTimeError(
                f"{str(path)!r} is there already, and is not overwritten; remove it if it is old"
            ) from None
        except OSError as error:
            raise BoardTimeError(f"{str(path)!r} cannot be made: {_reason(error)}") from None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, for the firmware; a `BoardTimeError` if it is missing or another kind."""
        try:
            with open_named(path) as file:
                if os.fstat(file.fileno()).st_size != _BYTES:
                    raise BoardTimeError(f"{str(path)!r} does not hold the time of a board")
                return cls(mmap.mmap(file.fileno(), _BYTES, access=mmap.ACCESS_READ))
        except (OSError, ValueError) as error:
            raise BoardTimeError(f"{str(path)!r} cannot be read: {_reason(error)}") from None

    def tell(self, us: float) -> None:
        _TIME.pack_into(self._memory, _FIRST, int(us))
        _TIME.pack_into(self._memory, _SECOND, int(us))

    def us(self) -> int:
        """Return the newest time that was written whole."""
        (second,) = _TIME.unpack_from(self._memory, _SECOND)
        (first,) = _TIME.unpack_from(self._memory, _FIRST)
        if first == second:
            self._newest_us = first
        return self._newest_us

    def close(self) -> None:
        self._memory.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class BoardClock(SteadyClock):
    """A clock that goes as fast as the emulator of a board.

    As much of the board's time has passed as its emulator has computed. By any other clock its
    answers would seem late. Where the board's time stands still for `STANDSTILL_S_MAX`, this clock
    goes on with the time of the world, so that timeouts find the board lost.

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

    @property
    def told_speed(self) -> None:
        """None: nobody knows how fast it goes."""
        return None

    def now_us(self) -> int:
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
        return self

    def seconds_until(self, at_us: int) -> float:
        """Return how many seconds it will take at least; 0 only when the time has come."""
        left_us = at_us - self.now_us()
        return max(left_us / 1e6, POLL_S) if left_us > 0 else 0.0


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
