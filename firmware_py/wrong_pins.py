"""How many wrong PINs there were since the last right one, whatever becomes of the power."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware_py.journal import RealDisk

COUNT_MAX: Final = 64  # the delay has long been at its most


class WrongPinsOnDisk:
    """A file that has a byte for every wrong PIN: no torn write can leave it with fewer.

    Where it cannot be written, as on a full card, the wrong ones since the start still count:
    nobody is locked out of the results for that.

    Parameters
    ----------
    path : Path
        Made when the first PIN is tried.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._since_start = 0

    def count(self) -> int:
        """Return how many there were."""
        try:
            kept = os.stat(self._path, follow_symlinks=False).st_size
        except OSError:
            kept = 0
        return max(kept, self._since_start)

    def add(self) -> None:
        """Count one more, and put it on the disk."""
        if self.count() < COUNT_MAX:
            self._write(os.O_APPEND, b"x")
        self._since_start += 1

    def clear(self) -> None:
        """Begin again."""
        self._since_start = 0
        self._write(os.O_TRUNC, b"")

    def _write(self, how: int, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | how
        disk = RealDisk()
        with suppress(OSError):
            handle = os.open(self._path, flags, 0o600)
            try:
                disk.write(handle, data)
                disk.fsync(handle)
            finally:
                disk.close(handle)
            disk.fsync_directory(self._path.parent)
