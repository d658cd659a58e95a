"""What the journal asks of a file system."""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PARTS_MAX: Final = 10  # names that are tried for a file while it is written


class Disk:
    """The file-system calls of the journal, on a POSIX machine; a handle is a file descriptor.

    Every method but `close` may raise ``OSError``. The tests have another disk in memory, which
    loses power: ``tests/journal/simulated_disk.py``.
    """

    def create(self, path: Path) -> int:
        """Return a handle of a new, empty file; ``FileExistsError`` if something is there."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        return os.open(path, flags, 0o600)  # it may tell of a person

    def open(self, path: Path, *, writable: bool) -> int:
        """Return a handle of a regular file that exists."""
        # A link is followed to read what it leads to, but nothing is written there.
        access = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW if writable else os.O_RDONLY
        handle = os.open(path, access | os.O_CLOEXEC | os.O_NONBLOCK)  # do not wait at a pipe
        mode = os.fstat(handle).st_mode
        if stat.S_ISREG(mode):
            return handle
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.EINVAL, "Not a regular file")

    def lock(self, handle: int) -> None:
        """Lock the file until the handle is closed; ``BlockingIOError`` if another has it."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def size(self, handle: int) -> int:
        return os.fstat(handle).st_size

    def read(self, handle: int, offset: int, count: int) -> bytes:
        """Return `count` bytes from `offset`, fewer only at the end of the file."""
        parts: list[bytes] = []
        while count > 0:
            part = os.pread(handle, count, offset)
            if not part:
                break
            parts.append(part)
            offset += len(part)
            count -= len(part)
        return b"".join(parts)

    def write(self, handle: int, data: bytes) -> int:
        """Append bytes; return how many were taken, which may be fewer than given."""
        return os.write(handle, data)

    def truncate(self, handle: int, size: int) -> None:
        os.ftruncate(handle, size)

    def fsync(self, handle: int) -> None:
        """Return when content and size of the file are on the disk."""
        os.fsync(handle)

    def drop_cache(self, handle: int) -> None:
        """Ask that the next read comes from the disk, not from memory."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)

    def close(self, handle: int) -> None:
        """Close the handle and release its lock; this raises nothing."""
        with suppress(OSError):  # the handle is gone even so, and what matters was synced
            os.close(handle)

    def names(self, directory: Path) -> list[str]:
        return os.listdir(directory)

    def rename(self, old: Path, new: Path) -> None:
        os.rename(old, new)

    def remove(self, path: Path) -> None:
        os.remove(path)

    def fsync_directory(self, directory: Path) -> None:
        """Return when the names in a directory are on the disk."""
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def is_file(self, path: Path) -> bool:
        """Return whether a regular file is there, and no link."""
        return path.is_file() and not path.is_symlink()

    def has_other_names(self, path: Path) -> bool:
        """Return whether a file has a name elsewhere, under which it would change as well."""
        return path.lstat().st_nlink > 1

    def make_directory(self, directory: Path) -> None:
        directory.mkdir(0o700, exist_ok=True)

    def free_bytes(self, directory: Path) -> int:
        disk = os.statvfs(directory)
        return disk.f_bavail * disk.f_frsize


def write_all(disk: Disk, handle: int, data: bytes) -> None:
    rest = data
    while rest:
        taken = disk.write(handle, rest)
        if taken <= 0:
            raise OSError(errno.EIO, "the disk takes no more bytes")
        rest = rest[taken:]


def _write_new(disk: Disk, path: Path, content: bytes) -> None:
    """Make a file with all of `content`, or none: what did not fit takes no room."""
    handle = disk.create(path)
    try:
        write_all(disk, handle, content)
        disk.fsync(handle)
    except OSError:
        with suppress(OSError):
            disk.remove(path)
        raise
    finally:
        disk.close(handle)


def write_whole(disk: Disk, path: Path, content: bytes) -> None:
    """Put a file in the place of whatever has its name; it is whole from the moment it is there.

    What a link leads to is not touched. The name is on the disk after `fsync_directory`.
    """
    part = _free_part(disk, path)
    _write_new(disk, part, content)
    disk.rename(part, path)


def _free_part(disk: Disk, path: Path) -> Path:
    """Return where to write what will be in a file; what is left there of earlier ones goes."""
    taken = disk.names(path.parent)
    for number in range(PARTS_MAX):
        part = path.with_name(f"{path.name}.part{number or ''}")
        if part.name not in taken:
            break
        with suppress(IsADirectoryError, PermissionError):  # a directory that somebody made there
            disk.remove(part)
            break
    return part


def open_or_create(disk: Disk, path: Path) -> int:
    try:
        return disk.open(path, writable=True)
    except FileNotFoundError:
        return disk.create(path)


@contextmanager
def open_to_read(disk: Disk, path: Path) -> Iterator[int]:
    handle = disk.open(path, writable=False)
    try:
        yield handle
    finally:
        disk.close(handle)
