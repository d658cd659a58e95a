"""A progress bar for what takes longer than a moment."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

PATIENCE_S: Final = 1.0  # without a bar

Item = TypeVar("Item")


def watched(items: Iterable[Item], total: int, words: str) -> Iterator[Item]:
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
