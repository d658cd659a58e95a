"""What needs prompt_toolkit: completion and history of `gp-pta console`. Imported by it alone."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

OF_A_PERSON: Final = re.compile(r"\b(?:ID|AGE|SEX)\s*=", re.IGNORECASE)


class CommandCompleter(Completer):
    """Completes headers of commands, shows their arguments, and completes those with names.

    `words`: headers in their short form, each with words about it.
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

    def __init__(self, path: Path, is_pin: Callable[[str], bool]) -> None:
        super().__init__(str(path))
        self._is_pin = is_pin

    def append_string(self, string: str) -> None:
        if not self._is_pin(string) and not OF_A_PERSON.search(string):
            super().append_string(string)


def history(path: Path, is_pin: Callable[[str], bool]) -> History:
    """Return the history kept in a file, or one for this time only if there can be none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600, exist_ok=True)
    except OSError:
        return InMemoryHistory()
    return DiscreetHistory(path, is_pin)


def words_of(help_lines: Sequence[str]) -> dict[str, str]:
    """Return the commands that a HELP lists, in their short form, each with its words.

    What a firmware lists is what it can do: nothing here has to be changed with it.
    """
    words = {}
    for line in help_lines:
        usage, _, meaning = line.partition("  ")
        header = usage.split(" ")[0]
        form = re.fullmatch(r"(?:\*?[A-Z][A-Za-z]*)(?::[A-Z][A-Za-z]*)*\??", header)
        if form and header not in ("OK", "Capitals"):
            short = re.sub("[a-z]", "", header)
            words[short] = f"{usage.removeprefix(header).strip()}  {meaning.strip()}".strip()
    return words


def values_by_name(about: str) -> dict[str, list[str]]:
    """Return the arguments NAME=VALUE of a command that `words_of` gives, each with its values."""
    usage = about.partition("  ")[0]
    named = re.findall(r"\[,?([A-Z]+)=([^\]]+)\]", usage)
    return {name: form.split("|") if "|" in form else [] for name, form in named}
