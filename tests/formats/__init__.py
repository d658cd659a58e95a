"""Journals of every format so far, which are read for ever: `firmware_py/journal/FORMATS.md`.

A directory is a format, by its number, and a data directory of a device of that time: a complete
test, an aborted one, an unfinished one, a tuning, and what that format brought (2: bone
conduction; 3: its mean gap). None of these files is ever changed.
"""

from pathlib import Path
from typing import Final

from firmware_py.journal import FORMAT_VERSION

HERE: Final = Path(__file__).parent
FORMATS: Final = range(1, FORMAT_VERSION + 1)


def data_of(version: int) -> Path:
    """Return the data directory of a format."""
    return HERE / f"{version}"


def journals_of(version: int, kind: str = "*") -> list[Path]:
    """Return the journals of a format, oldest first; `kind`: "session" or "tuning"."""
    return sorted(data_of(version).glob(f"{kind}-*.journal"))
