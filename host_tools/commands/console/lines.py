"""What can be told from lines of the console: commands that HELP lists, and a line with the PIN."""

import re
from collections.abc import Sequence
from typing import Final

from firmware_py.console.grammar import header_pattern

# A line with the PIN is kept nowhere.
PIN_HEADER: Final = header_pattern("SYSTem:PIN")
OF_A_PERSON: Final = re.compile(r"\b(?:ID|AGE|SEX)\s*=", re.IGNORECASE)


def is_pin(line: str) -> bool:
    """Tell whether a line has, or should have, the PIN."""
    header = line.strip().removeprefix(":").partition(" ")[0]
    return PIN_HEADER.fullmatch(header) is not None


def tells_of_somebody(line: str) -> bool:
    """Tell whether a line says who is tested: identifier, age or sex."""
    return OF_A_PERSON.search(line) is not None


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
    """Return the arguments that are written NAME=VALUE, each with the values there are.

    Parameters
    ----------
    about : str
        Of a command, as `words_of` gives it.
    """
    usage = about.partition("  ")[0]
    named = re.findall(r"\[,?([A-Z]+)=([^\]]+)\]", usage)
    return {name: form.split("|") if "|" in form else [] for name, form in named}
