"""Which sessions are listed, and in which order.

Theirs is by the numbers of each device, and by the clock only between devices. A clock that was set
back, or was never set, would make the later of two sessions the earlier one, and what grew worse
better. The number of a session on its device only grows.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any, Final

from firmware_py.board.self_check import clock_part
from firmware_py.terms.person import compose
from firmware_py.terms.settings import BOTH
from host_tools.commands.sessions.entry import Entry
from host_tools.errors import HostError
from host_tools.recordings.newest import by_number

# A session in its place: seconds since 1970, never less than of the one before it.
Placed = tuple[Entry, float]


def clock_was_set(entry: Entry) -> bool:
    """Tell whether the date of a session is one."""
    return _moment(entry) is not None


def in_order(entries: Iterable[Entry]) -> list[Placed]:
    by_device: dict[str, list[Entry]] = {}
    for entry in entries:
        by_device.setdefault(entry.device, []).append(entry)
    placed = [each for device, of in by_device.items() for each in _of_device(device, of)]
    return sorted(placed, key=lambda each: (each[1], each[0].device))


def contradictions(ordered: Iterable[Entry]) -> list[tuple[Entry, Entry]]:
    """Return sessions of a device, first and last by number, whose dates say another order."""
    by_device: dict[str, list[Entry]] = {}
    for each in ordered:
        if each.device and clock_was_set(each):
            by_device.setdefault(each.device, []).append(each)
    return [
        (first, last)
        for of in by_device.values()
        for first, last in pairwise(of)
        if (_moment(first) or 0.0) > (_moment(last) or 0.0)
    ]


def _of_device(device: str, entries: Iterable[Entry]) -> list[Placed]:
    """Place the sessions of a device; an unknown one may be several, with numbers of their own."""
    if not device:
        return [(entry, _moment(entry) or 0.0) for entry in sorted(entries, key=_by_date)]
    ordered = sorted(entries, key=_by_session)
    known = [at for at in map(_moment, ordered) if at is not None]
    at, placed = min(known, default=0.0), []
    for entry in ordered:
        at = max(at, _moment(entry) or at)
        placed.append((entry, at))
    return placed


def _by_session(entry: Entry) -> tuple[Any, ...]:
    return entry.session or 0, entry.started, by_number(entry.name)


def _by_date(entry: Entry) -> tuple[Any, ...]:
    return _moment(entry) or 0.0, entry.started, by_number(entry.name)


def _moment(entry: Entry) -> float | None:
    """Return when a session began; None: the clock of the device was never set."""
    try:
        started = datetime.fromisoformat(entry.started)
        return started.timestamp() if clock_part(started).works else None
    except (ValueError, OverflowError, OSError):
        return None


_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

# Of sessions in the order of their numbers (`in_order`). What is not known comes last.
ORDERS: Final[dict[str, Callable[[Entry], tuple[Any, ...]]]] = {
    "name": lambda entry: by_number(entry.name),
    "started": lambda entry: (entry.started == "",),
    "identifier": lambda entry: (entry.identifier == "", entry.identifier),
    "outcome": lambda entry: (entry.outcome, by_number(entry.name)),
    "pta4": lambda entry: (not entry.pta4_db_hl, -_worst_db_hl(entry), by_number(entry.name)),
}


@dataclass(frozen=True)
class Choice:
    """What is asked of a session, None: nothing; `HostError` if days are none or in no order."""

    identifier: str | None = None  # of the person, with the wildcards ``*`` and ``?``
    # `since`, `until`: first and last day on which it started, by the clock of the device, ISO 8601
    since: str | None = None
    until: str | None = None
    outcome: str | None = None
    calibration: str | None = None
    ear: str | None = None  # that was tested
    # `pta4_min_db_hl`, `pta4_max_db_hl`: of any of its ears
    pta4_min_db_hl: float | None = None
    pta4_max_db_hl: float | None = None

    def __post_init__(self) -> None:
        for option, day in (("--since", self.since), ("--until", self.until)):
            if day is not None:
                _check_day(option, day)
        if self.since is not None and self.until is not None and self.since > self.until:
            raise HostError(f"--since {self.since} is after --until {self.until}")

    def takes(self, entry: Entry) -> bool:
        wanted = (
            (self.identifier, lambda told: fnmatchcase(entry.identifier, compose(told))),
            (self.since, lambda day: entry.started[:10] >= day),
            (self.until, lambda day: "" < entry.started[:10] <= day),
            (self.outcome, lambda outcome: entry.outcome == outcome),
            (self.calibration, lambda state: entry.calibration == state),
            (self.ear, lambda ear: entry.ears in (ear, BOTH)),
        )
        return all(asked is None or holds(asked) for asked, holds in wanted) and self._pta4(entry)

    def _pta4(self, entry: Entry) -> bool:
        low, high = self.pta4_min_db_hl, self.pta4_max_db_hl
        if low is None and high is None:
            return True
        return any(
            (low is None or db_hl >= low) and (high is None or db_hl <= high)
            for db_hl in entry.pta4_db_hl.values()
        )


def choose(entries: Iterable[Entry], choice: Choice, order: str, reverse: bool) -> list[Entry]:
    """Return the sessions that are as asked, in an order of `ORDERS`."""
    ordered = [entry for entry, _ in in_order(filter(choice.takes, entries))]
    if reverse:
        ordered.reverse()  # of two that are alike, too
    return sorted(ordered, key=ORDERS[order], reverse=reverse)


def _worst_db_hl(entry: Entry) -> float:
    return max(entry.pta4_db_hl.values(), default=0.0)


def _check_day(option: str, day: str) -> None:
    try:
        date.fromisoformat(day)
        good = _DATE.fullmatch(day) is not None
    except ValueError:
        good = False
    if not good:
        raise HostError(f"{option} is {day!r}; allowed is a day such as 2026-01-31")
