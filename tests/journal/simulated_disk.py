"""A disk in memory that fails and loses power on request.

It promises what POSIX and an honest SD card promise and nothing more: what an fsync returned for
stays; a name stays after the fsync of its directory; a rename happens or does not; a sector is old
or new, or, where the file was growing, anything.  After a failed fsync the bytes it was for are
in memory but never reach the disk, and no later fsync says so, as on Linux.
"""

import errno
import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from firmware_py.journal.disk import Disk

SECTOR_BYTES: Final = 32
"""Far smaller than a real one, so that one record spans several."""


FREE_BYTES: Final = 1 << 33


class PowerLoss(Enum):
    """What becomes of all that no fsync has returned for."""

    KEPT = "all of it reached the disk"
    DROPPED = "none of it"
    HALF = "files have half of what was added; names are there"
    ZEROS = "files have their new sizes, but zeros in place of what was added"
    MIXED = "each sector, size and directory is old or new; new sectors may be noise"


class PowerLostError(BaseException):
    """The simulated power is gone: nothing that runs now matters; see `after_power_loss`.

    It is no ``Exception``, so that no handler of errors mistakes it for one.
    """


@dataclass(frozen=True, slots=True)
class Fault:
    at: int  # the number of the call that fails, counted from 1
    # the errno of a call that fails; with None the power goes during the call, and only calls that
    # change something count
    error: int | None = None
    for_ever: bool = False  # whether every later call fails with the same error
    only: frozenset[str] = frozenset()  # the calls that can fail, by their names; empty: all

    def hits(self, name: str, count: int) -> bool:
        """Return whether a call of this name and number fails."""
        due = count >= self.at if self.for_ever else count == self.at
        return due and (not self.only or name in self.only)


@dataclass(slots=True)
class _File:
    durable: bytes = b""
    current: bytearray = field(default_factory=bytearray)
    stable_bytes: int = 0  # the file was never shorter since the last fsync
    never_durable: range = range(0)  # bytes that a failed fsync was for
    locked_by: int | None = None

    def truncate(self, size: int) -> None:
        del self.current[size:]
        self.stable_bytes = min(self.stable_bytes, size)
        self.never_durable = range(self.never_durable.start, min(self.never_durable.stop, size))

    def without_lost(self) -> bytes:
        content = bytearray(self.current)
        for at in self.never_durable:
            content[at] = 0
        return bytes(content)

    def fsync(self) -> None:
        self.durable = self.without_lost()
        self.stable_bytes = len(self.durable)

    def fail_fsync(self) -> None:
        start = min([self.stable_bytes, *self.never_durable[:1]])
        self.never_durable = range(start, len(self.current))

    def reread(self) -> None:
        self.current[:] = self.without_lost()


class Laid(Enum):
    """What somebody else may lay in a directory, and is no file."""

    LINK = "a link to a file"
    LOOSE_LINK = "a link to nothing"
    PIPE = "a pipe that nobody reads"
    DIRECTORY = "a directory"


def _nothing() -> None:
    pass


class SimulatedDisk(Disk):
    """Files in memory behind the `Disk` interface.

    A write takes `write_bytes_max` at most, and the disk `free` bytes yet. `meanwhile` is called in
    every fsync: what happens in the world while the disk is at work. `calls` names all that were
    counted so far, `laid` what is no file, and where it leads to if it is a link.
    """

    def __init__(
        self,
        fault: Fault | None = None,
        *,
        write_bytes_max: int = 1 << 30,
        meanwhile: Callable[[], None] = _nothing,
    ) -> None:
        self.calls: list[str] = []
        self.fault_met = False
        self.free = FREE_BYTES
        self._fault = fault
        self._write_bytes_max = write_bytes_max
        self._meanwhile = meanwhile
        self._names: dict[Path, _File] = {}
        self._durable_names: dict[Path, _File] = {}
        self.laid: dict[Path, tuple[Laid, Path]] = {}
        self._handles: dict[int, _File] = {}
        self._handle_next = 3

    # ---- the Disk interface

    def create(self, path: Path) -> int:
        with self._call("create", changes=True):
            if path in self._names or path in self.laid:
                raise _error(errno.EEXIST)
            self._names[path] = _File()
            return self._open_handle(self._names[path])

    def open(self, path: Path, *, writable: bool) -> int:
        with self._call("open"):
            laid, target = self.laid.get(path, (None, path))
            if laid is Laid.PIPE:
                raise _error(errno.EINVAL)
            if laid is Laid.DIRECTORY:
                raise _error(errno.EISDIR)
            if laid is not None and writable:
                raise _error(errno.ELOOP)
            return self._open_handle(self._file(target))

    def lock(self, handle: int) -> None:
        with self._call("lock"):
            file = self._handles[handle]
            if file.locked_by not in (None, handle):
                raise _error(errno.EAGAIN)
            file.locked_by = handle

    def size(self, handle: int) -> int:
        with self._call("size"):
            return len(self._handles[handle].current)

    def read(self, handle: int, offset: int, count: int) -> bytes:
        with self._call("read"):
            return bytes(self._handles[handle].current[offset : offset + count])

    def write(self, handle: int, data: bytes) -> int:
        file = self._handles[handle]
        taken = data[: min(self._write_bytes_max, self.free)]
        try:
            with self._call("write", changes=True):
                if data and not taken:
                    raise _error(errno.ENOSPC)
                file.current += taken
                self.free -= len(taken)
                return len(taken)
        except OSError:
            file.current += taken[: len(taken) // 2]
            raise

    def truncate(self, handle: int, size: int) -> None:
        with self._call("truncate", changes=True):
            file = self._handles[handle]
            self.free += max(0, len(file.current) - size)
            file.truncate(size)

    def fsync(self, handle: int) -> None:
        self._meanwhile()
        try:
            with self._call("fsync", changes=True):
                pass  # when the power goes now, the bytes may have reached the disk or not
        except OSError:
            self._handles[handle].fail_fsync()
            raise
        self._handles[handle].fsync()

    def drop_cache(self, handle: int) -> None:
        with self._call("drop_cache"):
            self._handles[handle].reread()

    def close(self, handle: int) -> None:
        file = self._handles.pop(handle)
        if file.locked_by == handle:
            file.locked_by = None

    def names(self, directory: Path) -> list[str]:
        with self._call("names"):
            return [p.name for p in (*self._names, *self.laid) if p.parent == directory]

    def rename(self, old: Path, new: Path) -> None:
        with self._call("rename", changes=True):
            if self.laid.get(new, ())[:1] == (Laid.DIRECTORY,):
                raise _error(errno.EISDIR)
            self.free += len(self._names[new].current) if new in self._names else 0
            self._names[new] = self._file(old)
            self.laid.pop(new, None)
            del self._names[old]

    def remove(self, path: Path) -> None:
        with self._call("remove", changes=True):
            if path in self.laid:
                if self.laid[path][0] is Laid.DIRECTORY:
                    raise _error(errno.EISDIR)
                del self.laid[path]
                return
            self.free += len(self._file(path).current)
            del self._names[path]

    def fsync_directory(self, directory: Path) -> None:
        with self._call("fsync_directory", changes=True):
            pass
        others = {p: f for p, f in self._durable_names.items() if p.parent != directory}
        self._durable_names = others | {
            p: f for p, f in self._names.items() if p.parent == directory
        }

    def is_file(self, path: Path) -> bool:
        return path in self._names

    def has_other_names(self, path: Path) -> bool:
        return False  # there are no hard links here

    def make_directory(self, directory: Path) -> None:
        pass  # every directory is there

    def free_bytes(self, directory: Path) -> int:
        with self._call("free_bytes"):
            return self.free

    # ---- for tests

    def content(self, path: Path) -> bytes | None:
        """Return what a file holds, None if there is none; this is not counted.

        What a failed fsync was for reads as zeros here, as it does after `drop_cache`.
        """
        file = self._names.get(path)
        return None if file is None else file.without_lost()

    def take_away(self, path: Path) -> bytes:
        """Have somebody else move a file elsewhere; return what the disk was bound to keep of it.

        This is not counted.
        """
        self.free += len(self._names.pop(path).current)
        return self._durable_names.pop(path).durable

    @property
    def opened(self) -> int:
        """Return how many files are open."""
        return len(self._handles)

    def put(self, path: Path, content: bytes) -> None:
        """Make a file that is on the disk already; this is not counted."""
        file = _File(content, bytearray(content), len(content))
        self._names[path] = self._durable_names[path] = file

    def lay(self, path: Path, what: Laid, target: Path) -> None:
        """Put there what is no file, at once on the disk; `target`: where a link leads to."""
        if path not in self._names:
            self.laid[path] = what, target

    def durable(self, path: Path) -> bytes | None:
        """Return what the disk is bound to keep of a file, None if there is none."""
        file = self._durable_names.get(path)
        return None if file is None else file.durable

    def paths(self) -> list[Path]:
        return sorted(self._names)

    def fail(self, fault: Fault) -> None:
        """Let something go wrong from now on; `calls` tells how many there were."""
        self._fault, self.fault_met = fault, False

    def heal(self) -> None:
        """Let nothing go wrong any more; power that is gone stays gone."""
        if not self.power_is_gone:
            self._fault = None

    @property
    def power_is_gone(self) -> bool:
        """Return whether nothing that runs now matters any more."""
        return self._fault is not None and self._fault.error is None and self.fault_met

    def lose_power(self) -> None:
        self._fault, self.fault_met = Fault(0), True

    def close_all(self) -> None:
        """Close what an ended process had open, as the system does."""
        for handle in list(self._handles):
            self.close(handle)

    def after_power_loss(
        self, loss: PowerLoss, seed: int = 0, fault: Fault | None = None
    ) -> "SimulatedDisk":
        """Return the disk that is found when the power is back; this one stays as it is."""
        chance = random.Random(seed)
        old = loss is PowerLoss.DROPPED or (loss is PowerLoss.MIXED and chance.random() < 0.5)
        names = self._durable_names if old else self._names
        disk = SimulatedDisk(
            fault, write_bytes_max=self._write_bytes_max, meanwhile=self._meanwhile
        )
        disk.free = self.free
        for path in sorted(names):
            disk.put(path, _remains_of(names[path], loss, chance))
        for path, laid in self.laid.items():
            disk.lay(path, *laid)
        return disk

    @contextmanager
    def _call(self, name: str, *, changes: bool = False) -> Iterator[None]:
        """Count a call; let it fail instead, or lose the power after it."""
        if self.power_is_gone:
            raise PowerLostError
        fault = self._fault
        power = fault is not None and fault.error is None
        if changes or not power:
            self.calls.append(name)
        if fault is None or not fault.hits(name, len(self.calls)) or (power and not changes):
            yield
            return
        self.fault_met = True
        if fault.error is not None:
            raise _error(fault.error)
        yield
        raise PowerLostError

    def _file(self, path: Path) -> _File:
        try:
            return self._names[path]
        except KeyError:
            raise _error(errno.ENOENT) from None

    def _open_handle(self, file: _File) -> int:
        handle = self._handle_next
        self._handle_next += 1
        self._handles[handle] = file
        return handle


def _error(number: int) -> OSError:
    """Return the error of a call, of the class that belongs to its number."""
    return OSError(number, os.strerror(number))


def _remains_of(file: _File, loss: PowerLoss, chance: random.Random) -> bytes:
    """Return what the disk holds of a file after a power loss."""
    stable, new = file.stable_bytes, bytes(file.current)
    if loss is PowerLoss.DROPPED:
        return file.durable
    if loss is PowerLoss.HALF:
        return new[: stable + (len(new) - stable) // 2]
    if loss is PowerLoss.ZEROS:
        return new[:stable] + bytes(len(new) - stable)
    if loss is PowerLoss.MIXED:
        return _mix(file, chance)
    return new


def _mix(file: _File, chance: random.Random) -> bytes:
    """Return a file each of whose unsynced sectors is old, new, zeros or noise."""
    old, new = file.durable, bytes(file.current)
    size = len(chance.choice((old, new)))
    mixed = bytearray()
    for start in range(0, size, SECTOR_BYTES):
        end = min(start + SECTOR_BYTES, size)
        noise = chance.choice((bytes(end), chance.randbytes(end)))
        source = chance.choice((old, new, new, noise))
        mixed += source[start:end].ljust(end - start, b"\0")
    return new[: min(file.stable_bytes, size)] + bytes(mixed[file.stable_bytes :])


class LyingDisk(SimulatedDisk):
    """A disk whose fsync returns at once."""

    def fsync(self, handle: int) -> None:
        """Do nothing."""
