"""What needs prompt_toolkit: completion and history of `gp-pta console`. Imported by it alone."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from host_tools.console import is_pin


class HeaderCompleter(Completer):
    """Completes the header of a command, and shows its arguments and what it does.

    Parameters
    ----------
    words : mapping
        Headers in their short form, each with words about it.
    """

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Return all headers that begin as the line does."""
        typed = document.text_before_cursor.lstrip().removeprefix(":")
        if " " in typed:
            return
        for header, meaning in self._words.items():
            if header.startswith(typed.upper()):
                rest = header[len(typed) :]
                rest = rest.lower() if typed and typed == typed.lower() else rest
                yield Completion(rest, display=header, display_meta=meaning)


class DiscreetHistory(FileHistory):
    """A history that keeps no PIN."""

    def append_string(self, string: str) -> None:
        """Keep a line, unless it has the PIN."""
        if not is_pin(string):
            super().append_string(string)


def completer(words: Mapping[str, str]) -> Completer:
    """Return what completes the commands that a HELP lists."""
    return HeaderCompleter(words)


def history(path: Path) -> History:
    """Return the history kept in a file, or one for this time only if there can be none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
    except OSError:
        return InMemoryHistory()
    return DiscreetHistory(str(path))
