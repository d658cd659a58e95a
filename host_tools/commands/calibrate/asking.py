"""How a technician is asked."""

from collections.abc import Callable

Ask = Callable[[str], str]
Say = Callable[[str], None]


class BackError(Exception):
    """The technician wants to measure the previous frequency again."""


class LeftOutError(Exception):
    """The technician leaves a frequency out."""


class QuitError(Exception):
    """The technician ends the session."""


def answer_of(ask: Ask, question: str) -> str:
    """Return what the technician answers, in small letters; `QuitError` if that is the end."""
    try:
        words = ask(question).strip().lower()
    except EOFError:
        raise QuitError from None
    if words == "quit":
        raise QuitError
    return words


def wait_for_return(ask: Ask, say: Say, question: str) -> None:
    """Go on when return is typed alone: a word is no consent to a tone."""
    while words := answer_of(ask, question):
        say(f"{words!r}; allowed are return and quit")
