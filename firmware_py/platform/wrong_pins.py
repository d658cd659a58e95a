"""The number of wrong PINs since the last right one; a power cut does not reset it."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware_py.journal import Disk
from firmware_py.journal.disk import open_or_create, opened

COUNT_MAX: Final = 64  # the delay has long been the longest
READ_TRIES: Final = 2  # a card that fails to read once often reads the next time


class WrongPins:
    """Counts the wrong PINs since the last right one, until the power goes."""

    def __init__(self) -> None:
        self._since_start = 0

    def count(self) -> int:
        """Return how many there were."""
        return self._since_start

    def add(self) -> None:
        """Count one more."""
        self._since_start += 1

    def clear(self) -> None:
        """Begin again."""
        self._since_start = 0


class WrongPinsOnDisk(WrongPins):
    """A file with one byte for every wrong PIN: no torn write can leave it with fewer.

    Where it cannot be written, as on a full card, the firmware counts from its start on; nobody is
    locked out of the results for that.

    Parameters
    ----------
    path : Path
        Made when the first PIN is tried.
    disk : Disk, optional
        The file system; the machine's own by default.
    """

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        self._path = path
        super().__init__()
        self._disk = disk or Disk()

    def count(self) -> int:
        """Return how many there were."""
        return max(self._kept(), super().count())

    def add(self) -> None:
        """Count one more, and put it on the disk."""
        if self.count() < COUNT_MAX:
            with suppress(OSError):
                self._put(b"x")
        super().add()

    def clear(self) -> None:
        """Begin again."""
        super().clear()
        with suppress(OSError):
            self._put(b"")

    def _kept(self) -> int:
        for _ in range(READ_TRIES):
            with suppress(OSError):
                return self._size()
        return 0

    def _size(self) -> int:
        if not self._disk.is_file(self._path):  # or it is a link to one
            return 0
        with opened(self._disk, self._path) as handle:
            return self._disk.size(handle)

    def _put(self, more: bytes) -> None:
        """Append these bytes; without any, empty the file."""
        handle = open_or_create(self._disk, self._path)
        try:
            if more:
                self._disk.write(handle, more)
            else:
                self._disk.truncate(handle, 0)
            self._disk.fsync(handle)
        finally:
            self._disk.close(handle)
        self._disk.fsync_directory(self._path.parent)
