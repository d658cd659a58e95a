"""Writing files: whether a name may be used, and whole or not at all."""

import errno
import hashlib
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from firmware_py.platform.named_file import open_named
from host_tools.errors import HostError

UNFINISHED: Final = ".part"


def check_name(
    path: Path, option: str, endings: Collection[str], force: bool | None = None
) -> None:
    """Refuse a name under which a file cannot be written.

    Its ending is none of these, its directory is not there or closed, or it is there. `option` gave
    the name, for the message; `force` is what --force says of a file that is there, None if there
    is no such option.
    """
    try:
        directory, taken = path.parent.is_dir(), path.is_dir() or (path.exists() and not force)
    except OSError as error:  # such as a directory that may not be entered
        raise HostError(f"{option} {str(path)!r} cannot be written: {error.strerror}") from None
    if path.suffix not in endings or not directory:
        raise HostError(
            f"{option} is {str(path)!r}; allowed is a name in {', '.join(endings)}, in a directory "
            "that is there"
        )
    if taken:
        unless = "" if force is None else " without --force"
        raise HostError(f"{option} {str(path)!r} is there already; it is not overwritten{unless}")


def check_directory(path: Path, option: str, force: bool) -> None:
    """Refuse a name under which `directory_to_write` cannot write; as of `check_name`."""
    try:
        fits = path.resolve().parent.is_dir() and path.resolve().name != ""
        taken = path.exists() and not (force and path.is_dir())
    except OSError as error:
        raise HostError(f"{option} {str(path)!r} cannot be written: {error.strerror}") from None
    if not fits:
        allowed = "a name in a directory that is there"
        raise HostError(f"{option} is {str(path)!r}; allowed is {allowed}")
    if taken:
        unless = " without --force" if path.is_dir() else ", for it is no directory"
        raise HostError(f"{option} {str(path)!r} is there already; it is not overwritten{unless}")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file; `OSError` if it cannot be read."""
    with open_named(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def user_directory(variable: str, otherwise: str) -> Path:
    """Return a directory of the user's, as the XDG Base Directory Specification has it.

    That is an environment variable's, such as XDG_CACHE_HOME, or one under the home directory if it
    is not set, or relative.
    """
    told = Path(os.environ.get(variable, ""))
    return told if told.is_absolute() else Path.home() / otherwise


def cannot_be_read(directory: Path, error: OSError) -> HostError:
    return HostError(f"{str(directory)!r} cannot be read: {error.strerror}")


@contextmanager
def file_to_write(path: Path, *, for_all: bool = False) -> Iterator[Path]:
    """Yield a temporary name to write to; the file is renamed to `path` once it is on the disk.

    There is an empty file of that name then, and none that a killed process left. If the writing
    fails, it is removed, and what was there before is untouched. `for_all`: others on this computer
    may read it; what may tell of a person they may not.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        unfinished.unlink(missing_ok=True)
        unfinished.touch(0o666 if for_all else 0o600, exist_ok=False)
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise HostError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # it was renamed, if all went well
            unfinished.unlink()


@contextmanager
def directory_to_write(path: Path, ours: str) -> Iterator[Path]:
    """Yield a temporary directory to write to; its files come to `path` once all are on the disk.

    They are those that the pattern `ours` finds, each in a directory of its own. One that is there
    keeps all others, and of ours those of the same name are replaced and the rest removed. If the
    writing fails, nothing there has changed; what is killed while it replaces them leaves each file
    whole. Others on this computer may read none of it.
    """
    path = path.resolve()
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        _remove(unfinished, ours)  # that a killed process left
        unfinished.mkdir(0o700)
        yield unfinished
        for file in unfinished.glob(ours):
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        if path.is_dir():
            _replace(path, unfinished, ours)
        else:
            unfinished.replace(path)
    except OSError as error:
        raise HostError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            _remove(unfinished, ours)


def _replace(directory: Path, by: Path, ours: str) -> None:
    written = {file.relative_to(by) for file in by.glob(ours)}
    for place in (directory / name.parent for name in written):
        if os.path.lexists(place) and not place.is_dir():  # before anything is replaced
            raise NotADirectoryError(errno.ENOTDIR, f"{place.name} there is no directory")
    for name in written:
        (directory / name).parent.mkdir(0o700, exist_ok=True)
        (by / name).replace(directory / name)
    for file in directory.glob(ours):
        if file.relative_to(directory) not in written:
            file.unlink()
            with suppress(OSError):  # somebody has put something else there
                file.parent.rmdir()


def _remove(directory: Path, ours: str) -> None:
    """Remove a directory with nothing but files of ours in it."""
    if not directory.is_dir():
        return
    for file in directory.glob(ours):
        file.unlink()
    for inner in directory.iterdir():
        inner.rmdir()
    directory.rmdir()


def write_text(path: Path, text: str, *, for_all: bool = False) -> None:
    """Write a text file, whole or not at all; for its owner only, or for all."""
    write_bytes(path, text.encode(), for_all=for_all)


def write_bytes(path: Path, content: bytes, *, for_all: bool = False) -> None:
    """Write a file, whole or not at all; for its owner only, or for all."""
    with file_to_write(path, for_all=for_all) as unfinished:
        unfinished.write_bytes(content)
