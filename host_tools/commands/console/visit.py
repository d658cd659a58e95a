"""What a program does that comes to a console, and before it leaves."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from firmware_py.console.pin import LOCKED, NONE, UNLOCKED
from host_tools.devices.device_answers import told_word
from host_tools.errors import HostError


class Talk(Protocol):
    """A conversation with the console."""

    def insist(self, line: str) -> str:
        """Ask, and return the answer, which is no error."""

    def lock(self) -> None:
        """Lock the console, without waiting for an answer."""

    def close(self) -> None:
        """Hang up."""


def unlock(talk: Talk, ask_secret: Callable[[str], str], known: str = "") -> str:
    """Enter the operator's PIN, if the firmware wants it; return what was entered.

    Parameters
    ----------
    talk : Talk
    ask_secret : callable
        Asks a question, and returns what is typed and not shown.
    known : str, optional
        The PIN, if it was asked for before.
    """
    if told_word("SYST:PIN?", talk.insist("SYST:PIN?"), (NONE, LOCKED, UNLOCKED)) != LOCKED:
        return known
    known = known or ask_secret("operator's PIN: ").strip()
    talk.insist(f"SYST:PIN {known}")
    return known


def leave(talk: Talk) -> None:
    """Lock the console for whoever comes next, and hang up: not every line tells of that."""
    with suppress(HostError):  # it is gone already
        talk.lock()
    talk.close()


@contextmanager
def events_as_found(talk: Talk) -> Iterator[None]:
    """Leave SYST:EVEN as it was found; `HostError` if the firmware does not say how it is set."""
    found = told_word("SYST:EVEN?", talk.insist("SYST:EVEN?"), ("ON", "OFF"))
    try:
        yield
    finally:
        with suppress(HostError):  # it is gone already
            talk.insist(f"SYST:EVEN {found}")
