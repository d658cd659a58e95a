"""Sessions that are there twice: copies of a journal, and what a session was before it went on.

A copy may have another name, and lie in a directory that was copied from one device to another: it
is found by what is in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from firmware_py.platform.data_directory import session_number

T = TypeVar("T")


@dataclass(frozen=True)
class About:
    """What a journal is known by."""

    name: str
    content: str  # digest of the file
    device: str  # serial number, "": unknown
    session: int | None
    started: str
    finished: bool

    def is_same_session(self, other: "About") -> bool:
        """Tell whether two are of one session of one device; of an unknown device nobody knows."""
        mine, theirs = ((of.device, of.session, of.started) for of in (self, other))
        return self.device != "" and mine == theirs


@dataclass
class Doubles(Generic[T]):
    """Sessions without those that are there twice, and what is to be said of these."""

    kept: list[T] = field(default_factory=list)
    left_out: list[tuple[T, str]] = field(default_factory=list)  # why, in words
    doubted: list[str] = field(default_factory=list)  # that are kept


def without_doubles(sessions: Sequence[T], about: Callable[[T], About]) -> Doubles[T]:
    """Leave out what is there twice: a finished one counts, then one with its own name."""
    told = Doubles[T]()
    known: dict[int, About] = {}  # by their places
    places = sorted(range(len(sessions)), key=lambda place: _last(about(sessions[place])))
    for place in places:
        session = about(sessions[place])
        others = known.values()
        twin = next((each for each in others if each.content == session.content), None)
        same = next((each for each in others if each.is_same_session(session)), None)
        if twin is not None:
            told.left_out.append((sessions[place], f"{session.name} is a copy of {twin.name}"))
            continue
        if same is not None and not session.finished:
            words = f"{session.name} is {same.name} before it was finished"
            told.left_out.append((sessions[place], words))
            continue
        if same is not None:
            told.doubted.append(
                f"{session.name} and {same.name} both say that they are session "
                f"{session.session} of device {session.device}, and differ"
            )
        known[place] = session
    told.kept = [sessions[place] for place in sorted(known)]
    return told


def _last(session: About) -> tuple[bool, bool]:
    return not session.finished, session_number(Path(session.name)) != session.session
