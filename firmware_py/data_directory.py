"""The directory of the journals: their names, and a lock for the one firmware that writes them.

Whatever somebody else has put there, nothing outside of it is written: a link is not followed, and
what is no file is no journal.
"""

import fcntl
import os
import re
from pathlib import Path
from typing import Final

from firmware_py.journal import SealKey

JOURNAL_NAME: Final = re.compile(r"session-(\d{6,9})\.journal", re.ASCII)
TRIAL_NAME: Final = "self-test.tmp"  # written and removed by the self-test
SESSION_NUMBER_MAX: Final = 999_999_999  # nine digits in the name of a journal
FREE_BYTES_MIN: Final = 5_000_000  # some fifty journals


class DataDirectoryError(Exception):
    """A data directory that cannot be used."""


class DataDirectoryInUseError(DataDirectoryError):
    """A data directory that another firmware has."""


class DataDirectory:
    """The data directory, locked for this process.

    Parameters
    ----------
    path : Path
        Made if it does not exist; its parent has to.
    seal_key : SealKey, optional
        With which the journals are sealed that are begun or gone on with here.

    Raises
    ------
    DataDirectoryError
        If it cannot be made or written, or another firmware has it (`DataDirectoryInUseError`).
    """

    def __init__(self, path: Path, seal_key: SealKey | None = None) -> None:
        self.path = path
        self.seal_key = seal_key
        try:
            path.mkdir(exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            self._lock = os.open(path / "firmware.lock", flags)
        except OSError as error:
            raise DataDirectoryError(
                f"data directory {str(path)!r} cannot be written: {error.strerror}"
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise DataDirectoryInUseError(
                f"data directory {str(path)!r} is in use by another firmware"
            ) from None

    def close(self) -> None:
        """Give the directory free."""
        os.close(self._lock)

    def journals(self) -> list[Path]:
        """Return all journals, oldest first: the files among what has the name of one.

        Raises
        ------
        DataDirectoryError
            If the directory cannot be read any more.
        """
        return [Path(entry) for entry in self._named() if entry.is_file(follow_symlinks=False)]

    def next_number(self) -> int:
        """Return the number of the next session, above all that are in a name here.

        Raises
        ------
        DataDirectoryError
            As of `journals`, or if there is none any more.
        """
        named = self._named()
        number = session_number(Path(named[-1])) + 1 if named else 1
        if number > SESSION_NUMBER_MAX:
            raise DataDirectoryError(
                f"data directory {str(self.path)!r} has {named[-1].name!r}, the last there can be; "
                "move it away"
            )
        return number

    def _named(self) -> list[os.DirEntry[str]]:
        """Return what has the name of a journal, whatever it is, in the order of the numbers."""
        try:
            with os.scandir(self.path) as entries:
                named = [entry for entry in entries if JOURNAL_NAME.fullmatch(entry.name)]
        except OSError as error:
            raise self._unusable("read", error) from None
        return sorted(named, key=lambda entry: session_number(Path(entry)))

    def free_bytes(self) -> int:
        """Return how much room the disk has.

        Raises
        ------
        DataDirectoryError
            If it cannot be asked, or has hardly any.
        """
        try:
            disk = os.statvfs(self.path)
        except OSError as error:
            raise self._unusable("read", error) from None
        free_bytes = disk.f_bavail * disk.f_frsize
        if free_bytes < FREE_BYTES_MIN:
            raise DataDirectoryError(
                f"data directory {str(self.path)!r} has {free_bytes} bytes left; journals want "
                f"{FREE_BYTES_MIN}"
            )
        return free_bytes

    def try_writing(self) -> None:
        """Put a small file on the disk, and take it away again.

        Raises
        ------
        DataDirectoryError
            If that fails.
        """
        path = self.path / TRIAL_NAME
        try:
            path.unlink(missing_ok=True)  # of a self-test that was cut short
            with path.open("xb") as file:
                file.write(b"a journal could be written here\n")
                file.flush()
                os.fsync(file.fileno())
            path.unlink()
        except OSError as error:
            raise self._unusable("written", error) from None

    def _unusable(self, how: str, error: OSError) -> DataDirectoryError:
        words = f"data directory {str(self.path)!r} cannot be {how}: {error.strerror}"
        return DataDirectoryError(words)

    def journal_path(self, number: int) -> Path:
        """Return where the journal of this session is kept."""
        return self.path / f"session-{number:06d}.journal"


def session_number(path: Path) -> int:
    """Return the session number in the name of a journal."""
    match = JOURNAL_NAME.fullmatch(path.name)
    return int(match[1]) if match else 0
