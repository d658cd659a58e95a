"""The number of wrong PINs since the last right one; a power cut does not reset it."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware_py.journal import Disk
from firmware_py.journal.disk import write_whole

COUNT_MAX: Final = 64  # the delay has long been the longest
READ_TRIES: Final = 2  # a card that fails to read once often reads the next time


class WrongPins:
    """Counts the wrong PINs since the last right one, until the power goes."""

    def __init__(self) -> None:
        self._since_start = 0

    def count(self) -> int:
        return self._since_start

    def expect(self) -> bool:
        """Count one more, before it is looked at; return whether a power cut cannot undo that."""
        return True

    def was_wrong(self) -> None:
        """Take in that it was looked at, and was wrong."""
        self._since_start += 1

    def clear(self) -> None:
        self._since_start = 0


class WrongPinsOnDisk(WrongPins):
    """A file with one byte for every wrong PIN, made with the first, which is replaced as a whole.

    Where there is something else in its place, or it cannot be read or written, nobody knows how
    many there were: they count as the most that there can be.
    """

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        self._path = path
        super().__init__()
        self._disk = disk or Disk()
        self._is_kept = True

    def count(self) -> int:
        return self._count() if self._is_kept else COUNT_MAX

    def expect(self) -> bool:
        """Count one more, and put it on the disk; return whether it is there.

        A disk that is well again begins with those that are known: any that a start has undone has
        waited for as long as the longest delay.
        """
        self._is_kept = self._put(min(self._count() + 1, COUNT_MAX))
        return self._is_kept

    def clear(self) -> None:
        super().clear()
        self._put(0)
        self._is_kept = True

    def _count(self) -> int:
        return max(self._count_on_disk(), self._since_start)

    def _count_on_disk(self) -> int:
        for _ in range(READ_TRIES):
            with suppress(OSError):
                return self._size()
        return COUNT_MAX

    def _size(self) -> int:
        try:
            # To write, which no link, pipe or directory can be opened for here.
            handle = self._disk.open(self._path, writable=True)
        except FileNotFoundError:
            return 0
        try:
            return self._disk.size(handle)
        finally:
            self._disk.close(handle)

    def _put(self, count: int) -> bool:
        """Write the file anew, and return whether it is on the disk."""
        try:
            write_whole(self._disk, self._path, b"x" * count)
            self._disk.fsync_directory(self._path.parent)
        except OSError:
            return False
        return True
