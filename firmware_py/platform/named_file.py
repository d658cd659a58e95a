"""Files that a person names: regular ones only, so that nobody waits at a pipe."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

from firmware_py.journal import Disk

TEXT: Final = "utf-8-sig"  # some editors begin a file with a mark of its encoding


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


def _read_within(file: BufferedReader, bytes_max: int) -> bytes:
    content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, f"is longer than {bytes_max} bytes")
    return content
