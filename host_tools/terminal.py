"""The edge to a terminal or a pipe: every line that a command prints goes out here."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from firmware_py.procedure.printable import printable

if TYPE_CHECKING:  # most commands can do without it
    from rich.console import Console
    from rich.style import StyleType


def say(*lines: str) -> None:
    """Print lines, in one write: those of another thread do not come between."""
    print(_text(lines), end="", flush=True)


def say_aside(*lines: str) -> None:
    """Print lines on standard error, beside what a command is for."""
    print(_text(lines), end="", file=sys.stderr, flush=True)


def show(screen: "Console", line: str, style: "StyleType" = "", *, soft_wrap: bool = False) -> None:
    """Print a line in colours; it has no markup of its own."""
    screen.print(printable(line), style=style, markup=False, soft_wrap=soft_wrap)


def _text(lines: Iterable[str]) -> str:
    """Return lines as a text; nothing in one acts on the terminal, or makes two of it."""
    return "".join(f"{printable(line)}\n" for line in lines)
