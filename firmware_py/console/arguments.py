"""Arguments of a command: what each may be, its unit and its bounds, and how it is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from firmware_py.console.grammar import (
    ILLEGAL_PARAMETER,
    MISSING_PARAMETER,
    PARAMETER_NOT_ALLOWED,
    ConsoleError,
)


@dataclass(frozen=True)
class Word:
    """Any text; what is allowed is checked where it is used."""

    form: str
    allowed: str = ""

    def value(self, text: str) -> str:
        return text

    def resembles(self, text: str) -> bool:
        """Return False: no text shows that it is this argument."""
        return False


@dataclass(frozen=True)
class Choice:
    """One of a few words, in any case; each stands for a value."""

    choices: Mapping[str, object]

    @property
    def form(self) -> str:
        return "|".join(self.choices)

    @property
    def allowed(self) -> str:
        *others, last = self.choices
        return f"{', '.join(others)} and {last}"

    def value(self, text: str) -> object:
        if not self.resembles(text):
            raise ValueError(text)
        return self.choices[text.upper()]

    def resembles(self, text: str) -> bool:
        return text.isascii() and text.upper() in self.choices


@dataclass(frozen=True)
class Number:
    """A number with its unit, from the lowest to the highest of its limits.

    It has no limits here if they depend on more than the number: they are checked where it is used.
    """

    form: str
    unit: str = ""
    limits: tuple[float, float] | None = None
    whole: bool = False

    @property
    def allowed(self) -> str:
        if self.limits is None:
            return f"numbers in {self.unit}"
        low, high = self.limits
        figures = f"{low} to {high}" if self.whole else f"{low:g} to {high:g}"
        return f"{'whole ' * self.whole}numbers from {figures} {self.unit}".rstrip()

    def value(self, text: str) -> float:
        if "_" in text or (self.whole and not text.isdigit()):  # Python takes 1_000
            raise ValueError(text)
        number = int(text) if self.whole else float(text)
        if self.limits is not None and not self.limits[0] <= number <= self.limits[1]:
            raise ValueError(text)
        return number

    def resembles(self, text: str) -> bool:
        return text.lstrip("+-").replace(".", "", 1).isdecimal()


@dataclass(frozen=True)
class Argument:
    """One argument of a command."""

    # before its value where arguments are written NAME=VALUE, then in capitals; and in errors
    name: str
    kind: Word | Choice | Number  # what it may be
    # it may be left out; the handler is given None
    optional: bool = field(default=False, kw_only=True)
    # among arguments written NAME=VALUE: its value is known without the name
    bare: bool = field(default=False, kw_only=True)
    # it may have other letters than those of ASCII
    any_script: bool = field(default=False, kw_only=True)

    def value(self, text: str) -> object:
        """Return the value of what was typed; the words of a `ConsoleError` say what is allowed."""
        try:
            return self.kind.value(text)
        except ValueError:
            words = f"{self.name} is {text!r}; allowed are {self.kind.allowed}"
            raise ConsoleError(ILLEGAL_PARAMETER, words) from None


def usage_of(arguments: Sequence[Argument], *, named: bool) -> str:
    """Return how arguments are typed, for people: optional ones in brackets."""
    parts = []
    for number, argument in enumerate(arguments):
        form = argument.kind.form
        part = f"{',' * (number > 0)}{f'{argument.name}={form}' if named else form}"
        parts.append(f"[{part}]" if argument.optional else part)
    return "".join(parts)


def by_place(
    known: Sequence[Argument], typed: Sequence[str], usage: str, *, secret: bool = False
) -> list[str | None]:
    """Return the texts of arguments that are told by their place, None for those left out.

    A `ConsoleError` ends with `usage`, how the whole command is typed; with `secret` none repeats
    what stood between the commas.
    """
    needed = sum(not argument.optional for argument in known)
    if len(typed) < needed or "" in typed[:needed]:
        raise ConsoleError(MISSING_PARAMETER, f"something is missing: {usage}")
    if len(typed) > len(known):
        shown = "something" if secret else repr(",".join(typed[len(known) :]))
        raise ConsoleError(PARAMETER_NOT_ALLOWED, f"{shown} is too much: {usage}")
    if not all(text.isascii() for text in typed):
        shown = "an argument" if secret else repr(",".join(typed))
        raise ConsoleError(ILLEGAL_PARAMETER, f"{shown} has to be ASCII: {usage}")
    return [*(text or None for text in typed), *[None] * (len(known) - len(typed))]


def by_name(known: Sequence[Argument], typed: Sequence[str], usage: str) -> list[str | None]:
    """Return the texts of arguments written NAME=VALUE in any order, as `by_place` does."""
    texts: dict[str, str] = {}
    for word in typed:
        name, equals, text = (part.strip() for part in word.partition("="))
        argument = _find_argument(known, name, text, usage) if equals else _bare(known, name, usage)
        if argument.name in texts:
            raise ConsoleError(PARAMETER_NOT_ALLOWED, f"{argument.name} is told twice: {usage}")
        texts[argument.name] = text if equals else name
    return [texts.get(argument.name) for argument in known]


def _find_argument(known: Sequence[Argument], name: str, text: str, usage: str) -> Argument:
    argument = next((a for a in known if name.isascii() and a.name == name.upper()), None)
    if argument is None:
        raise ConsoleError(PARAMETER_NOT_ALLOWED, f"there is no {name!r}: {usage}")
    if not text:
        raise ConsoleError(MISSING_PARAMETER, f"{argument.name} has no value: {usage}")
    if not (text.isascii() or argument.any_script):
        words = f"{argument.name} is {text!r}, and has to be ASCII: {usage}"
        raise ConsoleError(ILLEGAL_PARAMETER, words)
    return argument


def _bare(known: Sequence[Argument], word: str, usage: str) -> Argument:
    if not word:
        raise ConsoleError(MISSING_PARAMETER, f"something is missing between commas: {usage}")
    meant = [argument for argument in known if argument.kind.resembles(word)]
    for argument in meant:
        if argument.bare:
            return argument
    hint = " or ".join(f"{argument.name}={word}" for argument in meant)
    such = f", such as {hint}" if hint else ""
    raise ConsoleError(PARAMETER_NOT_ALLOWED, f"{word!r} needs its name{such}: {usage}")
