"""One row of a table of commands, and what is written from the rows: HELP and the page's table.

A table is handed to the console; this room knows nothing of the instrument that it is about.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from firmware_py.console.arguments import Argument, Number, by_name, by_place, usage_of
from firmware_py.console.grammar import ConsoleError, header_pattern, short_form

Answer = str | Sequence[str] | None  # a query's value, lines for people, or nothing but OK

USAGE_CHARACTERS = 39  # of a line of HELP, before the words
HELP_NOTES = (
    "NAME=VALUE in any order: SESS:STAR EAR=LEFT,AGE=67,SEX=F; LEFT alone is EAR=LEFT",
    "Capitals are the short form: SESS:STAR is SESSION:START, in any case",
)


BY_ITSELF = "a new start, or a word on why it was refused, which comes by itself,"


class UnderWay(Enum):
    """What is under way, if anything: its name, what starts and ends it, what waits for its end."""

    NOTHING = ("", "", "", "")
    TEST = ("test", "SESS:STAR", "SESS:ABOR", "")
    TEST_FIRST = ("test", "SESS:STAR", "SESS:ABOR", "tuning")
    TUNING = ("tuning", "TUNE:STAR", "TUNE:ABOR", "")
    UPDATE = ("update", "SYST:UPD:END", BY_ITSELF, "")
    STICK = ("update from a USB stick", "a stick", BY_ITSELF, "")


class When(Enum):
    """Whether a command is done while a test is under way; the value is for people."""

    ALWAYS = ""
    IN_TEST = "a test under way"
    NOT_IN_TEST = "no test under way"
    IN_TUNING = "a tuning under way"

    def hindrance(self, under_way: UnderWay) -> str:
        """Return why a command cannot be done now, in words; empty if it can."""
        needed = {When.IN_TEST: UnderWay.TEST, When.IN_TUNING: UnderWay.TUNING}.get(self)
        name, _, end, waits = under_way.value
        if needed is not None:
            needed_name, start, *_ = needed.value
            if name == needed_name:
                return ""
            if waits == needed_name:
                return f"the {waits} waits until the {name} is over: {end} ends that"
            return f"no {needed_name} is under way: {start} starts one"
        if self is When.NOT_IN_TEST and under_way is not UnderWay.NOTHING:
            return f"{'an' if name[0] in 'aeiou' else 'a'} {name} is under way: {end} ends it"
        return ""


@dataclass(frozen=True)
class Pin:
    """When a command needs the operator's PIN."""

    always: bool = False
    arguments: tuple[str, ...] = ()  # with any of these
    # if it means the last test, and that was begun before the device was switched on
    earlier_test: bool = False
    # is given the instrument: whether what is under way waits to be told whose it is
    waits: Callable[[Any], bool] | None = None

    def is_needed(self, told: Collection[str], begun_since_start: bool) -> bool:
        """Return whether it is where arguments of these names were typed."""
        earlier = self.earlier_test and not begun_since_start
        return self.always or earlier or any(name in told for name in self.arguments)

    @property
    def words(self) -> str:
        rules = {
            "always": self.always,
            f"with {', '.join(self.arguments)}": bool(self.arguments),
            "for a test begun before the last start": self.earlier_test,
            "to say whose it is": self.waits is not None,
        }
        return "; ".join(words for words, holds in rules.items() if holds)


@dataclass(frozen=True)
class Command:
    """One row of a table of commands."""

    header: str  # as people write it, its short forms in capitals; a query ends with `?`
    # is given the instrument, and a value for every argument, None for one that was left out
    handler: Callable[..., Answer]
    help: str  # what it does, in a few words
    arguments: tuple[Argument, ...] = ()
    named: bool = False  # the arguments are written NAME=VALUE, in any order
    when: When = When.ALWAYS  # whether a test may, or has to, be under way
    pin: Pin = Pin()  # whether it needs the operator's PIN
    secret: bool = False  # no argument of it may ever be repeated in an answer
    undone: str = ""  # what did not happen if an argument is not allowed
    # is given the instrument when it was not done, for whatever reason
    refused: Callable[..., None] | None = None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return header_pattern(self.header)

    @property
    def short(self) -> str:
        return short_form(self.header)

    @property
    def usage(self) -> str:
        return f"{self.header} {usage_of(self.arguments, named=self.named)}".strip()

    def texts(self, typed: Sequence[str]) -> list[str | None]:
        """Return the text of every argument, None for one that was left out."""
        if self.named:
            return by_name(self.arguments, typed, self.usage)
        return by_place(self.arguments, typed, self.usage, secret=self.secret)

    def needs_pin(
        self, subject: object, texts: Sequence[str | None], begun_since_start: bool
    ) -> bool:
        pairs = zip(self.arguments, texts, strict=True)
        told = [argument.name for argument, text in pairs if text is not None]
        waits = self.pin.waits is not None and self.pin.waits(subject)
        return waits or self.pin.is_needed(told, begun_since_start)

    def values(self, texts: Sequence[str | None]) -> list[object]:
        """Return the values of these texts; `ConsoleError` if one is not within its bounds."""
        told = zip(self.arguments, texts, strict=True)
        try:
            return [None if text is None else argument.value(text) for argument, text in told]
        except ConsoleError as error:
            words = "; ".join(filter(None, (str(error), self.undone)))
            raise ConsoleError(error.number, words) from None


def help_lines(commands: Iterable[Command]) -> list[str]:
    lines = [f"{command.usage:<{USAGE_CHARACTERS}}  {command.help}" for command in commands]
    return [*lines, *HELP_NOTES]


def page_lines(commands: Iterable[Command]) -> list[str]:
    lines = ["| command | what it does | allowed are | needs | PIN |", "|---|---|---|---|---|"]
    for command in commands:
        numbers = [a for a in command.arguments if isinstance(a.kind, Number)]
        allowed = "; ".join(f"{a.name}: {a.kind.allowed}" for a in numbers)
        usage = command.usage.replace("|", "\\|")
        needs = command.when.value
        cells = (f"`{usage}`", command.help, allowed, needs, command.pin.words)
        lines.append(f"| {' | '.join(cells)} |".replace("  ", " "))
    return lines
