"""What needs prompt_toolkit: completion and history of `gp-pta console`. Imported by it alone."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from host_tools.commands.console.lines import is_pin, tells_of_somebody, values_by_name


class CommandCompleter(Completer):
    """Completes the header of a command, shows its arguments, and completes those with names.

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
        """Return all headers that begin as the line does, or all arguments as its last does."""
        typed = document.text_before_cursor.lstrip().removeprefix(":")
        if " " in typed:
            yield from self._arguments(*typed.split(" ", 1))
            return
        for header, meaning in self._words.items():
            if header.startswith(typed.upper()):
                rest = header[len(typed) :]
                rest = rest.lower() if typed and typed == typed.lower() else rest
                yield Completion(rest, display=header, display_meta=meaning)

    def _arguments(self, header: str, typed: str) -> Iterable[Completion]:
        """Return what the last argument may become; what was told already is not told again."""
        about = self._words.get(header.upper(), "")
        *before, last = (word.strip() for word in typed.split(","))
        told = {word.partition("=")[0].upper() for word in before}
        for name, values in values_by_name(about).items():
            bare = any(value in told for value in values)
            for whole in [f"{name}={value}" for value in values] or [f"{name}="]:
                if name not in told and not bare and whole.startswith(last.upper()):
                    yield Completion(whole, start_position=-len(last))


class DiscreetHistory(FileHistory):
    """A history that keeps no PIN, and nothing of a person: the next operator leafs through it."""

    def append_string(self, string: str) -> None:
        """Keep a line, unless it has the PIN, or says who is tested."""
        if not is_pin(string) and not tells_of_somebody(string):
            super().append_string(string)


def completer(words: Mapping[str, str]) -> Completer:
    """Return what completes the commands that a HELP lists."""
    return CommandCompleter(words)


def history(path: Path) -> History:
    """Return the history kept in a file, or one for this time only if there can be none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
    except OSError:
        return InMemoryHistory()
    return DiscreetHistory(str(path))
