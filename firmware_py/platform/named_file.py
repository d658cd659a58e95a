"""Files that a person names: regular ones only, so that nobody waits at a pipe."""

import errno
import os
from pathlib import Path
from typing import BinaryIO, Final

from firmware_py.journal import Disk

TEXT: Final = "utf-8-sig"  # some editors begin a file with a mark of its encoding


def opened(path: Path) -> BinaryIO:
    """Open a file to read it; `OSError` if it cannot be, or is a pipe, a device, a directory."""
    return os.fdopen(Disk().open(path, writable=False), "rb")


def content_of(path: Path, bytes_max: int) -> bytes:
    """Return the content of a file; `OSError` as of `opened`, or if it is longer than this."""
    with opened(path) as file:
        content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, f"is longer than {bytes_max} bytes")
    return content
