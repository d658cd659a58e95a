"""Files in directories and in all folders below them, and which of them are journals.

A journal is found by what is in it, whatever its name: a program that copies may have named it
anew. What has the name of a journal is taken, too, for whoever put it there expects to hear of it.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from firmware_py.platform.named_file import open_named
from host_tools.files import cannot_be_read

ENDING: Final = ".journal"
BEGINNING: Final = b'{"n": 0, '  # of every journal's first line
OF_TUNING: Final = b'"procedure": "tuning"'  # in the first line of a tuning's, near its beginning
NEAR_BYTES: Final = 256


class Found(NamedTuple):
    """A file, or a folder that cannot be read."""

    path: str  # as it was named
    absolute: str
    name: str  # as it is shown: below its directory, or below that where several were named
    state: str = ""  # of `state_of`
    regular: bool = False
    why_not: str = ""  # of a folder: why it cannot be read

    @property
    def named_as_journal(self) -> bool:
        return self.name.endswith(ENDING)


def files_in(places: Sequence[Path]) -> Iterator[Found]:
    """Yield the files of directories, and of the folders in them; a file that is named is one.

    Links are followed; no folder is read twice, so that a loop ends. A `HostError` says which of
    the places cannot be read; a folder below that cannot is yielded.
    """
    read: set[tuple[int, int]] = set()
    for place in places:
        try:
            if not stat.S_ISDIR(os.stat(place).st_mode):
                yield _file(str(place), os.path.abspath(place), str(place))
                continue
            os.scandir(place).close()
        except OSError as error:
            raise cannot_be_read(place, error) from None
        name = "" if len(places) == 1 else str(place)
        yield from _below(str(place), os.path.abspath(place).rstrip("/"), name, read)


def journals_in(places: Sequence[Path]) -> Iterator[Found]:
    """Yield those that are journals, by name or by what is in them, and folders as `files_in`."""
    return (each for each in files_in(places) if is_journal(each))


def is_journal(found: Found) -> bool:
    """Tell whether a file is a journal; a folder that cannot be read may have some, and is told."""
    return found.named_as_journal or found.why_not != "" or begins_as_journal(found)


def begins_as_journal(found: Found) -> bool:
    return found.regular and _beginning(found).startswith(BEGINNING)


def begins_as_tuning(found: Found) -> bool:
    """Tell whether a file is the journal of a hearing aid's tuning, and of no hearing test."""
    return found.regular and OF_TUNING in _beginning(found)


def _beginning(found: Found) -> bytes:
    try:
        with open_named(Path(found.path)) as file:
            return file.read(NEAR_BYTES)
    except OSError:
        return b""


def state_of(path: str | Path) -> str:
    """Return what tells that a file was changed, or is another one; "": it cannot be told."""
    try:
        return _state(os.stat(path))
    except OSError:
        return ""


def _state(about: os.stat_result) -> str:
    """Return size, inode and device, and in ns when content and when anything was changed."""
    return f"{about.st_size} {about.st_ino} {about.st_dev} {about.st_mtime_ns} {about.st_ctime_ns}"


def _below(directory: str, absolute: str, name: str, read: set[tuple[int, int]]) -> Iterator[Found]:
    folders = [(directory, absolute, name)]
    while folders:
        directory, absolute, name = folders.pop()
        try:
            about = os.stat(directory)
            if (about.st_dev, about.st_ino) in read:
                continue
            read.add((about.st_dev, about.st_ino))
            with os.scandir(directory) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Found(directory, absolute, name, why_not=error.strerror or str(error))
            continue
        for entry in found:
            below = f"{name}/{entry.name}" if name else entry.name
            place = f"{absolute}/{entry.name}"
            if _is_folder(entry):
                folders.append((entry.path, place, below))
            else:
                yield _file(entry.path, place, below, entry)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _file(path: str, absolute: str, name: str, entry: "os.DirEntry[str] | None" = None) -> Found:
    try:
        about = os.stat(path) if entry is None else entry.stat()
    except OSError:  # a link to nowhere; who reads it says so
        return Found(path, absolute, name)
    return Found(path, absolute, name, _state(about), stat.S_ISREG(about.st_mode))
