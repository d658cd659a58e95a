"""The time of an emulated board in a file: its emulator writes it there, the firmware reads it."""

import mmap
import os
import struct
from pathlib import Path
from typing import Final, Self

_TIME: Final = struct.Struct("=Q")  # microseconds
# The second time is written last and read first: where both are the same, neither is half written.
_FIRST, _SECOND = 0, _TIME.size
_BYTES: Final = 2 * _TIME.size


class BoardTimeError(Exception):
    """The file cannot be made, or is not that of a board's time; the text says which and why."""


class BoardTime:
    """The time, as both see it who have the file; used in a `with` statement, or closed.

    Parameters
    ----------
    memory : mmap
        The file. `made` and `opened` have it.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._newest_us = 0

    @classmethod
    def made(cls, path: Path) -> Self:
        """Make the file, for the emulator; the time is 0.

        Raises
        ------
        BoardTimeError
            If it is there already, or cannot be made.
        """
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
    def opened(cls, path: Path) -> Self:
        """Open the file, for the firmware.

        Raises
        ------
        BoardTimeError
            If it cannot be opened, or is another kind of file.
        """
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size != _BYTES:
                    raise BoardTimeError(f"{str(path)!r} does not hold the time of a board")
                return cls(mmap.mmap(file.fileno(), _BYTES, access=mmap.ACCESS_READ))
        except (OSError, ValueError) as error:
            raise BoardTimeError(f"{str(path)!r} cannot be read: {_reason(error)}") from None

    def tell(self, us: float) -> None:
        """Write the time."""
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
        """Let go of the file."""
        self._memory.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the file."""
        self.close()


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
