"""Files that are written: where, a name that may be used, and whole or not at all."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from host_tools.errors import HostError

UNFINISHED: Final = ".part"


def check_name(
    path: Path, option: str, endings: Collection[str], force: bool | None = None
) -> None:
    """Refuse a name that a file to be written cannot have.

    Parameters
    ----------
    path : Path
    option : str
        That named it, for the message.
    endings : collection of str
        Allowed, each with its dot.
    force : bool, optional
        What --force says of a file that is there; None: there is no such option.

    Raises
    ------
    HostError
        The ending is not one of these, the directory is not there or closed, or the file is there.
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


def user_directory(variable: str, otherwise: str) -> Path:
    """Return where the user keeps things of a kind, by the XDG Base Directory Specification.

    Parameters
    ----------
    variable : str
        Of the environment, such as XDG_CACHE_HOME; a relative path in it is ignored.
    otherwise : str
        Under the home directory.
    """
    told = Path(os.environ.get(variable, ""))
    return told if told.is_absolute() else Path.home() / otherwise


def cannot_be_read(directory: Path, error: OSError) -> HostError:
    """Return what is to be said of a directory that cannot be read."""
    return HostError(f"{str(directory)!r} cannot be read: {error.strerror}")


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give a name to write under; the file gets its own when it is whole and on the disk.

    There is no file of that name yet: what a process that was killed has left is removed, and so
    is what comes to no end here.

    Raises
    ------
    HostError
        It cannot be written; what was there before is untouched.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        unfinished.unlink(missing_ok=True)
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise HostError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # it has its own name, if all went well
            unfinished.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with written(path) as unfinished:
        unfinished.write_bytes(content)
