"""Secret keys: each in a file of one line that nobody but its owner and its group may read."""

import os
import re
import stat
from pathlib import Path
from typing import Final

from firmware_py.journal import SECRET_BYTES
from firmware_py.platform.named_file import open_named

FORM: Final = re.compile(rb"gp-pta-key-1 ([0-9a-f]{64})\n", re.ASCII)
FILE_BYTES: Final = len("gp-pta-key-1 \n") + 2 * SECRET_BYTES
FORBIDDEN: Final = stat.S_IWGRP | stat.S_IRWXO


class KeyFileError(ValueError):
    """A key that cannot be read or made; the message names the file and tells no secret."""


def make_key_file(path: Path) -> None:
    """Make a new random key, in a file that only its owner can read.

    A `KeyFileError` if something is there already, or it cannot be written.
    """
    import secrets  # 4 MB that a device without a key does not need

    line = f"gp-pta-key-1 {secrets.token_hex(SECRET_BYTES)}\n"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(line)
            file.flush()
            os.fsync(handle)
    except OSError as error:
        raise KeyFileError(f"{path}: cannot be made: {error.strerror}") from None


def read_key_file(path: Path) -> bytes:
    """Return the `SECRET_BYTES` of a key file.

    A `KeyFileError` if it cannot be read, is no key file, or others may read it or the group
    write it.
    """
    try:
        with open_named(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(FILE_BYTES + 1)
    except OSError as error:
        raise KeyFileError(f"{path}: cannot be read: {error.strerror}") from None
    key = FORM.fullmatch(content)
    if key is None:
        raise KeyFileError(f"{path}: is no key file; gp-pta-device --make-key FILE makes one")
    if mode & FORBIDDEN:
        raise KeyFileError(
            f"{path}: has mode {stat.S_IMODE(mode):o}; allowed are 600, 400, 640 and 440: nobody "
            "else may read a key"
        )
    return bytes.fromhex(key[1].decode())


def pseudonym(secret: bytes, identifier: str) -> str:
    """Return what a journal calls a listener in place of the operator's own identifier.

    It is 16 hex digits, the same for the same key. Nobody can tell the identifier from it without
    the key; whoever has the key can try identifiers until one fits.
    """
    import hmac  # 4 MB that a device without a key does not need

    return hmac.digest(secret, b"gp-pta pseudonym\n" + identifier.encode(), "sha256").hex()[:16]
