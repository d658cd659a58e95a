"""The directory of the journals: their names, and a lock for the one firmware that writes them.

The file of the lock has the last numbers that were used, so that no session gets the number of
another one that was moved away.

Other programs may have put anything there. So no link is followed, and only a regular file counts
as a journal.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware_py.journal import Disk, SealKey
from firmware_py.journal.disk import open_or_create, write_all, write_whole
from firmware_py.platform.room_on_disk import no_room
from firmware_py.terms.reasons import Code, Reason, Reasons, reason
from firmware_py.terms.words import say

SESSION: Final = "session"  # the journal of a hearing test begins with this
TUNING: Final = "tuning"
# A number has one name: 17 is `000017`, and nothing else.
JOURNAL_NAME: Final = re.compile(
    rf"(?:{SESSION}|{TUNING})-(\d{{6}}|[1-9]\d{{6,8}})\.journal", re.ASCII
)
# What has the name of a journal, or of anything that is kept beside one.
TAKEN_NAME: Final = re.compile(rf"{JOURNAL_NAME.pattern}(?:\..*)?", re.ASCII | re.DOTALL)
LOCK_NAME: Final = "firmware.lock"
LOCK_BYTES_MAX: Final = 4096  # then it is begun anew
# The last numbers of sessions and tunings, a line each time that one begins; the last line counts.
LAST_NUMBERS: Final = re.compile(rb"session (\d{1,9}) tuning (\d{1,9})\n")
TRIAL_NAME: Final = "self-test.tmp"  # written and removed by the self-test
SESSION_NUMBER_MAX: Final = 999_999_999  # nine digits in the name of a journal


class DataDirectoryError(Exception):
    """A data directory that cannot be used, and `why`."""

    @property
    def why(self) -> Reason:
        return reason(Code.TOLD, told=str(self))


class DataDirectoryInUseError(DataDirectoryError):
    """A data directory that another firmware has."""


class NoRoomError(DataDirectoryError):
    """A disk with less room than is needed; `why` has both."""

    def __init__(self, free_bytes: int, needed_bytes: int) -> None:
        self._why = no_room(free_bytes, needed_bytes)
        super().__init__(say(self._why))

    @property
    def why(self) -> Reason:
        return self._why


class DataDirectory:
    """The data directory, locked for this process.

    A `DataDirectoryError` if it cannot be made or written, or another firmware has it
    (`DataDirectoryInUseError`).

    Parameters
    ----------
    path : Path
        Made if it does not exist; its parent has to.
    seal_key : SealKey, optional
        The key for the seals of the journals that are begun or resumed here.
    disk : Disk, optional
        The file system; the machine's own by default.
    device : str, optional
        Serial number of the fitting device; every session that begins here has it.
    """

    def __init__(
        self,
        path: Path,
        seal_key: SealKey | None = None,
        disk: Disk | None = None,
        device: str = "",
    ) -> None:
        self.path = path
        self.seal_key = seal_key
        self.device = device
        self.disk = disk or Disk()
        try:
            self.disk.make_directory(path)
            self._lock = _open_lock(self.disk, path / LOCK_NAME)
        except OSError as error:
            raise DataDirectoryError(
                f"data directory {str(path)!r} cannot be written: {error.strerror}"
            ) from None
        try:
            self.disk.lock(self._lock)
        except OSError:
            self.disk.close(self._lock)
            raise DataDirectoryInUseError(
                f"data directory {str(path)!r} is in use by another firmware"
            ) from None
        self._used = self._remembered()
        self._remember_named()

    def close(self) -> None:
        self.disk.close(self._lock)

    def journals(self, kind: str = SESSION) -> list[Path]:
        """Return all journals of a kind, oldest first, as `newest_first` has them."""
        return [*self.newest_first(kind)][::-1]

    def newest_first(self, kind: str = SESSION) -> Iterator[Path]:
        """Yield all journals of a kind, the newest first: regular files with the name of one.

        Each is looked at when its turn has come: a year has thousands. A `DataDirectoryError` if
        the directory cannot be read any more.
        """
        for path in reversed(self._named_paths(kind)):
            if JOURNAL_NAME.fullmatch(path.name) and self.disk.is_file(path):
                yield path

    def next_number(self, kind: str = SESSION) -> int:
        """Return the number of the next session of a kind: one above all that were used here.

        That is the highest in a name, and a cut that was saved of a journal has its number, too; or
        the one that `remember` was told. Errors as of `journals`, or if no number is left.
        """
        named = self._named_paths(kind)
        last, where = self._used[kind], LOCK_NAME
        if named and _number_in(named[-1]) >= last:
            last, where = _number_in(named[-1]), named[-1].name
        if last >= SESSION_NUMBER_MAX:
            raise DataDirectoryError(
                f"data directory {str(self.path)!r} has number {last} in {where!r}, the last there "
                "can be; move it away"
            )
        return last + 1

    def remember(self, number: int, kind: str = SESSION) -> None:
        """Keep a number that is used, whatever becomes of its journal.

        Where the disk refuses it, the journal's own name still tells it.
        """
        self._used[kind] = number
        line = " ".join(f"{kind} {number}" for kind, number in self._used.items())
        with suppress(OSError):
            if self.disk.has_other_names(self.path / LOCK_NAME):
                return  # it would change elsewhere, too
            if self.disk.size(self._lock) > LOCK_BYTES_MAX:
                # Without power at this moment the names tell the numbers, as they did before.
                self.disk.truncate(self._lock, 0)
            write_all(self.disk, self._lock, f"{line}\n".encode())
            self.disk.fsync(self._lock)

    def _remember_named(self) -> None:
        """Keep the numbers of journals that are here: somebody may move them away at any time."""
        highest = dict(self._used)
        with suppress(OSError):  # who begins a session is told
            for match in filter(None, map(TAKEN_NAME.fullmatch, self.disk.names(self.path))):
                kind = SESSION if match[0].startswith(SESSION) else TUNING
                highest[kind] = max(highest[kind], int(match[1]))
        for kind, number in highest.items():
            if number > self._used[kind]:
                self.remember(number, kind)

    def _remembered(self) -> dict[str, int]:
        try:
            lines = self.disk.read(self._lock, 0, 2 * LOCK_BYTES_MAX).splitlines(keepends=True)
        except OSError:
            lines = []
        found = next(filter(None, map(LAST_NUMBERS.fullmatch, reversed(lines))), None)
        numbers = map(int, found.groups()) if found else (0, 0)
        return dict(zip((SESSION, TUNING), numbers, strict=True))

    def _named_paths(self, kind: str) -> list[Path]:
        """Return all paths with the name of a journal in it, files or not, by their numbers."""
        try:
            names = filter(TAKEN_NAME.fullmatch, self.disk.names(self.path))
        except OSError as error:
            raise self._unusable("read", error) from None
        paths = (self.path / name for name in names if name.startswith(kind))
        return sorted(paths, key=_number_in)

    def free_bytes(self) -> int:
        """Return how much room the disk has; a `DataDirectoryError` if it cannot be asked."""
        try:
            return self.disk.free_bytes(self.path)
        except OSError as error:
            raise self._unusable("read", error) from None

    def require_room(self, needed_bytes: int) -> int:
        """Return how much room the disk has: so much, or more; with less a `NoRoomError`.

        Errors as of `free_bytes`.
        """
        free_bytes = self.free_bytes()
        if free_bytes < needed_bytes:
            raise NoRoomError(free_bytes, needed_bytes)
        return free_bytes

    def lacks_room(self, needed_bytes: int) -> Reasons:
        """Return why there is too little room; nothing: there is enough, or nobody can say."""
        try:
            self.require_room(needed_bytes)
        except NoRoomError as error:
            return (error.why,)
        except DataDirectoryError:
            return ()  # whether it can be written will show
        return ()

    def try_writing(self) -> None:
        """Put a small file on the disk, and take it away; a `DataDirectoryError` if that fails."""
        path = self.path / TRIAL_NAME
        try:
            write_whole(self.disk, path, b"a journal could be written here\n")
            self.disk.remove(path)
        except OSError as error:
            raise self._unusable("written", error) from None

    def _unusable(self, how: str, error: OSError) -> DataDirectoryError:
        words = f"data directory {str(self.path)!r} cannot be {how}: {error.strerror}"
        return DataDirectoryError(words)

    def journal_path(self, number: int, kind: str = SESSION) -> Path:
        return self.path / f"{kind}-{number:06d}.journal"


def _open_lock(disk: Disk, path: Path) -> int:
    """Return a handle to lock; on a medium that cannot be written any more one to read will do."""
    try:
        return open_or_create(disk, path)
    except OSError as error:
        if error.errno == errno.EROFS and disk.is_file(path):
            return disk.open(path, writable=False)
        raise


def session_number(path: Path) -> int:
    match = JOURNAL_NAME.fullmatch(path.name)
    return int(match[1]) if match else 0


def _number_in(path: Path) -> int:
    match = TAKEN_NAME.fullmatch(path.name)
    return int(match[1]) if match else 0
