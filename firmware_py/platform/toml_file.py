"""Reading a TOML file that a person wrote, in bounded memory."""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from firmware_py.platform.named_file import TEXT, content_of


class TomlFileError(ValueError):
    """A file that cannot be read, or is not TOML; the message names it."""


def read_toml(path: Path, bytes_max: int) -> dict[str, Any]:
    """Read a file of at most so many bytes.

    Raises
    ------
    TomlFileError
        If it cannot be read, is longer, or is not TOML.
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
