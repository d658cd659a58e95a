"""The edge to a terminal or a pipe: every line that a command prints goes out here."""

import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from firmware_py.terms.printable import printable

if TYPE_CHECKING:  # most commands can do without it
    from rich.console import Console
    from rich.style import StyleType

NO_BREAK: Final = "\u00a0"  # between a number and its unit, on paper
PATIENCE_S: Final = 1.0  # without a progress bar
NAMED_MAX: Final = 10  # of what was left out
LINE_AFTER_S: Final = 10.0  # what takes less says nothing where there is no terminal
_WORD: Final = re.compile("[a-z]{3}")  # a row of an audiogram in characters has none

Item = TypeVar("Item")


def say(*lines: str) -> None:
    """Print lines, in one write: those of another thread do not come between."""
    print(_text(lines), end="", flush=True)


def say_in_parts(parts: Iterable[str]) -> None:
    """Print a line part by part, as these are made."""
    for part in parts:
        print(_line(part), end="")
    print(flush=True)


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


def name_left_out(words: Sequence[str]) -> None:
    """Say what was left out, and of many how many more."""
    say_aside(*(f"left out: {each}" for each in words[:NAMED_MAX]))
    if len(words) > NAMED_MAX:
        say_aside(f"left out: {len(words) - NAMED_MAX} more")


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
    """Yield the items, and tell how many are done, as `progress` does, if it takes a second."""
    if total == 0:
        return
    with progress(words, total, patience_s=PATIENCE_S) as tell:
        for done, item in enumerate(items):
            tell(done)
            yield item


@contextmanager
def progress(
    words: str, total: int, done: int = 0, *, patience_s: float = 0.0
) -> Iterator[Callable[[int], None]]:
    """Tell on standard error how far a long piece of work is, and how long it will go on.

    A terminal shows a bar until the work is over. A pipe or a file gets a line after ten seconds,
    and one at each tenth of the work, so that work of a moment says nothing. There are `total` of
    what `words` names, of which `done` were done at another time; what is yielded takes how many
    are done by now.
    """
    from rich.console import Console
    from rich.progress import Progress

    screen = Console(stderr=True)
    began_s = time.monotonic()
    if not (sys.stderr.isatty() and screen.is_interactive):
        lines = ProgressLines(words, total, done)
        yield lambda now: say_aside(*lines.due(now, time.monotonic() - began_s))
        return
    bar = Progress(console=screen, transient=True)
    task = bar.add_task(words, total=total, completed=done)

    def show_bar(now: int) -> None:
        if time.monotonic() - began_s >= patience_s:
            bar.start()
            bar.update(task, completed=now)

    try:
        show_bar(done)
        yield show_bar
    finally:
        bar.stop()


class ProgressLines:
    """Which moments of a long piece of work are worth a line, and what it says."""

    def __init__(self, words: str, total: int, done: int) -> None:
        self._words, self._total, self._done_before = words, total, done
        self._told_tenths = -1  # of the last line; -1: there was none

    def due(self, done: int, after_s: float) -> list[str]:
        """Return the line that is due with so many done after so long, or none."""
        tenths = 10 * done // max(self._total, 1)
        new = done - self._done_before
        if after_s < LINE_AFTER_S or tenths <= self._told_tenths or new <= 0:
            return []
        self._told_tenths = tenths
        to_go = timedelta(seconds=round(after_s * (self._total - done) / new))
        share = f"{self._words}: {100 * done // self._total} % done"
        return [f"{share}, about {to_go} to go" if done < self._total else share]
