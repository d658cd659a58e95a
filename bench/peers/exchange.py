"""What a peer is given, and what it gives back: JSON, because it lives in another environment.

Standard library only: every peer imports it, with whatever NumPy it has.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Trial = Callable[[], Any]


@dataclass(frozen=True)
class Session:
    """The answers of one simulated session, oldest first, and where the next tone may lie.

    `x` and candidates are in Bark; the candidate frequencies lie on the threshold as it is before
    the last answer.
    """

    x: list[float]
    level_db_hl: list[float]
    heard: list[bool]
    candidates: list[tuple[float, float]]

    @property
    def points(self) -> list[tuple[float, float]]:
        return [*zip(self.x, self.level_db_hl, strict=True)]


def times_s(sessions: list[Session], prepare: Callable[[Session], Trial]) -> list[float]:
    """Return the processor time of the last trial of each session, s.

    The first session is there twice, because the first time is different: imports, memory, caches.
    One that the peer cannot fit is named on standard error and left out.
    """
    found = []
    for number, session in enumerate([sessions[0], *sessions]):
        try:
            trial = prepare(session)
            before_s = time.process_time()
            trial()
            used_s = time.process_time() - before_s
        except (ArithmeticError, RuntimeError, ValueError) as error:
            print(f"session {number}: left out, {error!r}", file=sys.stderr)
            continue
        if number > 0:
            found.append(used_s)
    return found


def answer(methods: dict[str, Callable[[Session], Trial]]) -> None:
    """Read sessions by number of trials from standard input; write times by method and trials."""
    given: dict[str, list[dict[str, Any]]] = json.load(sys.stdin)
    found: dict[str, dict[str, list[float]]] = {name: {} for name in methods}
    for trials, records in given.items():
        sessions = [Session(**record) for record in records]
        for name, prepare in methods.items():
            print(f"{name}, {trials} trials", file=sys.stderr)
            found[name][trials] = times_s(sessions, prepare)
    json.dump(found, sys.stdout)
