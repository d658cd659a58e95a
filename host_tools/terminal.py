"""The edge to a terminal or a pipe: every line that a command prints goes out here."""

import re
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from firmware_py.procedure.printable import printable

if TYPE_CHECKING:  # most commands can do without it
    from rich.console import Console
    from rich.style import StyleType

NO_BREAK: Final = "\u00a0"  # between a number and its unit, on paper
PATIENCE_S: Final = 1.0  # without a progress bar
_WORD: Final = re.compile("[a-z]{3}")  # a row of an audiogram in characters has none

Item = TypeVar("Item")


def say(*lines: str) -> None:
    """Print lines, in one write: those of another thread do not come between."""
    print(_text(lines), end="", flush=True)


def say_wrapped(*lines: str) -> None:
    """Print lines; on a terminal those that are wider break between words."""
    if sys.stdout.isatty():
        columns = shutil.get_terminal_size().columns
        lines = tuple(part for line in lines for part in lines_within(line, columns))
    say(*lines)


def lines_within(line: str, columns: int) -> list[str]:
    """Return a line in parts of at most so many columns, which end between words.

    A word that is longer stays whole. So does a row of a drawing, and JSON, which people copy.
    """
    if len(line) <= columns or line.startswith(("{", "[")) or not _WORD.search(line):
        return [line]
    return textwrap.wrap(
        line, columns, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False,
        expand_tabs=False, replace_whitespace=False,
    )  # fmt: skip


def say_aside(*lines: str) -> None:
    """Print lines on standard error, beside what a command is for."""
    print(_text(lines), end="", file=sys.stderr, flush=True)


def show(screen: "Console", line: str, style: "StyleType" = "", *, soft_wrap: bool = False) -> None:
    """Print a line in colours; it has no markup of its own."""
    screen.print(_line(line), style=style, markup=False, soft_wrap=soft_wrap)


def _text(lines: Iterable[str]) -> str:
    """Return lines as a text; nothing in one acts on the terminal, or makes two of it."""
    return "".join(f"{_line(line)}\n" for line in lines)


def _line(line: str) -> str:
    """Return a line as it may be shown; a space that paper does not break is a space here."""
    return printable(line.replace(NO_BREAK, " "))


def markdown(cells: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown, whose first row is its head; columns are aligned."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        f"| {' | '.join(cell.ljust(w) for cell, w in zip(row, widths, strict=True))} |"
        for row in cells
    ]
    lines.insert(1, "|".join(["", *("-" * (width + 2) for width in widths), ""]))
    return lines


def show_progress(items: Iterable[Item], total: int, words: str) -> Iterator[Item]:
    """Yield the items; after a second a terminal's standard error shows how many are done."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    task = bar.add_task(words, total=total)
    began_s = time.monotonic()
    try:
        for done, item in enumerate(items):
            if time.monotonic() - began_s > PATIENCE_S:
                bar.start()
                bar.update(task, completed=done)
            yield item
    finally:
        bar.stop()
