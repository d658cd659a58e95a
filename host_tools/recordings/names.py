"""The order of journals by their names: that of the numbers in these."""

import re
from pathlib import Path
from typing import Any, Final

NUMBER: Final = re.compile(r"([0-9]+)")


def by_number(name: str) -> tuple[list[Any], str]:
    """Return the key by which names are sorted: session-1000000 comes after session-999999."""
    parts: list[Any] = NUMBER.split(name)  # a text, a number, a text, ...
    parts[1::2] = map(int, parts[1::2])
    return parts, name


def path_by_number(path: Path) -> tuple[list[Any], str]:
    """Return the same key of the paths in one directory."""
    return by_number(path.name)
