"""Files that a person names, or wrote: regular ones only, so that nobody waits at a pipe."""

import errno
import os
import stat
import tomllib
from collections.abc import Iterable, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, Final

from firmware_py.journal import Disk

TEXT: Final = "utf-8-sig"  # some editors begin a file with a mark of its encoding
_PART_BYTES: Final = 64 * 1024


class TomlFileError(ValueError):
    """A file that cannot be read, or is not TOML; the message names it."""


def open_named(path: Path) -> BufferedReader:
    """Open a file to read it; `OSError` if it cannot be, or is a pipe, a device, a directory."""
    return os.fdopen(Disk().open(path, writable=False), "rb")


def content_of(path: Path, bytes_max: int) -> bytes:
    """Return the content of a file; `OSError` as of `open_named`, or if it is longer than this."""
    with open_named(path) as file:
        return _read_within(file, bytes_max)


def content_or_stream(path: Path, bytes_max: int) -> bytes:
    """Return the same of a file, or of a pipe that somebody writes to: no other is waited for."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")
    with file:
        if not stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            return content_of(path, bytes_max)
        os.set_blocking(file.fileno(), True)
        return _read_within(file, bytes_max)


def read_toml(path: Path, bytes_max: int) -> dict[str, Any]:
    """Read a TOML file of at most so many bytes.

    A `TomlFileError` if it cannot be read, is longer, or is not TOML.
    """
    try:
        data = content_of(path, bytes_max)
    except OSError as error:
        raise TomlFileError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return tomllib.loads(data.decode(TEXT))
    except ValueError as error:  # of TOML, of UTF-8, or of a number with thousands of digits
        raise TomlFileError(f"{path}: is not TOML: {error}") from None
    except RecursionError:
        raise TomlFileError(f"{path}: is not TOML: its values are nested too deep") from None


def unknown_key(given: Iterable[str], known: Sequence[str]) -> tuple[str, str] | None:
    """Return the first key that is not known, and a hint; None: all are known."""
    for name in given:
        if name not in known:
            from difflib import get_close_matches

            close = get_close_matches(name, known, 1)
            return name, f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return None


def _read_within(file: BufferedReader, bytes_max: int) -> bytes:
    """Take no more memory than the file has: `read` takes as much as it might read."""
    content = bytearray()
    while part := file.read(min(_PART_BYTES, bytes_max + 1 - len(content))):
        content += part
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, f"is longer than {bytes_max} bytes")
    return bytes(content)
