"""Arguments that are written NAME=VALUE, in any order, and every one may be left out."""

from collections.abc import Sequence
from dataclasses import dataclass

from firmware_py.console.grammar import (
    ILLEGAL_PARAMETER,
    MISSING_PARAMETER,
    PARAMETER_NOT_ALLOWED,
    ConsoleError,
)


@dataclass(frozen=True)
class Argument:
    """One such argument.

    Attributes
    ----------
    name : str
        In capitals; it may be typed in any case.
    form : str
        What its value may be, for people: alternatives with | between them, or what it is.
    bare : bool
        Its alternatives can be mistaken for nothing else, and need no name.
    number : bool
        Its value is a number.
    personal : bool
        It tells something of a person.
    any_script : bool
        Its value may have other letters than those of ASCII.
    """

    name: str
    form: str
    bare: bool = False
    number: bool = False
    personal: bool = False
    any_script: bool = False

    @property
    def alternatives(self) -> list[str]:
        """Return the values there are; none if there are too many to tell."""
        return self.form.split("|") if "|" in self.form else []


def usage_of(known: Sequence[Argument]) -> str:
    """Return how they are typed, for people."""
    first, *others = (f"{argument.name}={argument.form}" for argument in known)
    return f"[{first}]" + "".join(f"[,{other}]" for other in others)


def in_order(known: Sequence[Argument], typed: Sequence[str], usage: str) -> list[str | None]:
    """Return the values in the order of `known`, None for those that were left out.

    Parameters
    ----------
    known : sequence of Argument
    typed : sequence of str
        In any order, a bare word or NAME=VALUE each.
    usage : str
        How the whole command is typed; errors end with it.

    Raises
    ------
    ConsoleError
        If a name is unknown, missing or there twice, or has no value.
    """
    values: dict[str, str] = {}
    for word in typed:
        argument, value = _told(known, word, usage)
        if argument.name in values:
            raise ConsoleError(PARAMETER_NOT_ALLOWED, f"{argument.name} is told twice: {usage}")
        values[argument.name] = value
    return [values.get(argument.name) for argument in known]


def _told(known: Sequence[Argument], word: str, usage: str) -> tuple[Argument, str]:
    """Return which argument a word tells, and its value."""
    name, equals, value = (part.strip() for part in word.partition("="))
    if not equals:
        return _bare(known, name, usage), name
    argument = next((a for a in known if name.isascii() and a.name == name.upper()), None)
    if argument is None:
        raise ConsoleError(PARAMETER_NOT_ALLOWED, f"there is no {name!r}: {usage}")
    if not value:
        raise ConsoleError(MISSING_PARAMETER, f"{argument.name} has no value: {usage}")
    if not (value.isascii() or argument.any_script):
        raise ConsoleError(
            ILLEGAL_PARAMETER, f"{argument.name} is {value!r}, and has to be ASCII: {usage}"
        )
    return argument, value


def _bare(known: Sequence[Argument], word: str, usage: str) -> Argument:
    """Return the argument that a word without a name tells."""
    if not word:
        raise ConsoleError(MISSING_PARAMETER, f"something is missing between commas: {usage}")
    for argument in known:
        if argument.bare and word.isascii() and word.upper() in argument.alternatives:
            return argument
    meant = [f"{a.name}={word}" for a in known if _may_be(a, word)]
    hint = f", such as {' or '.join(meant)}" if meant else ""
    raise ConsoleError(PARAMETER_NOT_ALLOWED, f"{word!r} needs its name{hint}: {usage}")


def _may_be(argument: Argument, word: str) -> bool:
    if argument.number:
        return word.lstrip("+-").replace(".", "", 1).isdecimal()
    return word.upper() in argument.alternatives
