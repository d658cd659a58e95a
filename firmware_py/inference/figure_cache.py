"""What was computed of a posterior, kept until the next answer makes it another one."""

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

KEPT_MAX: Final = 64  # a test asks for some 30 between two answers; beyond this all is forgotten

Figure = TypeVar("Figure")


class FigureCache:
    """Computes each figure once between two answers.

    While `changes` is the same, so are the posterior and all figures.
    """

    def __init__(self) -> None:
        self.changes = 0
        self._figures: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self._figures)

    def forget(self) -> None:
        self.changes += 1
        self._figures.clear()

    def once(self, name: Hashable, compute: Callable[[], Figure]) -> Figure:
        """Return the figure of this name, computed when it is asked for the first time."""
        if name not in self._figures:
            if len(self._figures) == KEPT_MAX:
                self._figures.clear()
            self._figures[name] = compute()
        figure: Figure = self._figures[name]
        return figure
