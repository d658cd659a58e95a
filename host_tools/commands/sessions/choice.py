"""Which sessions are listed, and in which order.

Theirs is by the numbers of each device, and by the clock only between devices. A clock that was set
back, or was never set, would make the later of two sessions the earlier one, and what grew worse
better. The number of a session on its device only grows; where a serial number has one twice, these
are of two devices, and only the clock is left.
"""

import math
import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import Any, Final

from firmware_py.platform.clock import was_clock_set
from firmware_py.terms.person import compose
from firmware_py.terms.settings import BOTH
from host_tools.errors import HostError
from host_tools.recordings.entry import Entry
from host_tools.recordings.index import Where
from host_tools.recordings.newest import by_number

# A session in its place: seconds since 1970, never less than of the one before it.
Placed = tuple[Entry, float]


def in_order(entries: Iterable[Entry], shared_devices: Container[str] = ()) -> list[Placed]:
    """Place sessions; under a shared serial number there are several devices."""
    by_device: dict[str, list[Entry]] = {}
    for entry in entries:
        by_device.setdefault(entry.device, []).append(entry)
    placed = [
        each
        for device, of in by_device.items()
        for each in _of_device(of, numbered=device != "" and device not in shared_devices)
    ]
    return sorted(placed, key=lambda each: (each[1], each[0].device))


def contradictions(ordered: Iterable[Entry]) -> list[tuple[Entry, Entry]]:
    """Return sessions of a device, first and last by number, whose dates say another order."""
    by_device: dict[str, list[Entry]] = {}
    for each in ordered:
        if each.device and _moment(each) is not None:
            by_device.setdefault(each.device, []).append(each)
    return [
        (first, last)
        for of in by_device.values()
        for first, last in pairwise(of)
        if (_moment(first) or 0.0) > (_moment(last) or 0.0)
    ]


def _of_device(entries: Iterable[Entry], *, numbered: bool) -> list[Placed]:
    """Place the sessions of a device; not `numbered`: it may be several, with their own numbers."""
    if not numbered:
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
        moment = datetime.fromisoformat(entry.started).timestamp()
        return moment if was_clock_set(entry.started) else None
    except (ValueError, OverflowError, OSError):
        return None


SHIPPED: Final = "shipped"  # the prior of a test to which nobody brought one
# Columns of the index, by ear and transducer.
VERDICTS: Final = ("verdict_right", "verdict_left", "verdict_right_bone", "verdict_left_bone")
MEANS: Final = ("pta4_right_db_hl", "pta4_left_db_hl")
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
    """What is asked of a session, None: nothing; `HostError` of what can be asked of none."""

    identifier: str | None = None  # of the person, with the wildcards ``*`` and ``?``
    # `since`, `until`: first and last day on which it started, by the clock of the device, ISO 8601
    since: str | None = None
    until: str | None = None
    outcome: str | None = None
    calibration: str | None = None
    ear: str | None = None  # that was tested
    device: str | None = None  # its serial number, with the same wildcards
    verdict: str | None = None  # of any of its ears, by air or by bone
    prior: str | None = None  # the hash of one that somebody brought, or `SHIPPED`
    # `pta4_min_db_hl`, `pta4_max_db_hl`: of any of its ears
    pta4_min_db_hl: float | None = None
    pta4_max_db_hl: float | None = None

    def __post_init__(self) -> None:
        for option, day in (("--since", self.since), ("--until", self.until)):
            if day is not None:
                _check_day(option, day)
        if self.since is not None and self.until is not None and self.since > self.until:
            raise HostError(f"--since {self.since} is after --until {self.until}")
        limits = {"--pta4-min": self.pta4_min_db_hl, "--pta4-max": self.pta4_max_db_hl}
        for option, db_hl in limits.items():
            if db_hl is not None and not math.isfinite(db_hl):
                raise HostError(f"{option} is {db_hl:g}; allowed is a level in dB HL")
        low, high = limits.values()
        if low is not None and high is not None and low > high:
            raise HostError(f"--pta4-min {low:g} is above --pta4-max {high:g}")

    @property
    def where(self) -> Where:
        """Return what the index is asked; of what is no session only an outcome is known."""
        asked: list[tuple[str, Any]] = [
            ("s.session IS NOT NULL AND wild(identifier, ?)", _plain(self.identifier)),
            ("substr(started, 1, 10) >= ?", self.since),
            ("started <> '' AND substr(started, 1, 10) <= ?", self.until),
            ("outcome = ?", self.outcome),
            ("calibration = ?", self.calibration),
            (f"ears IN (?, '{BOTH}')", self.ear),
            ("s.session IS NOT NULL AND wild(device, ?)", self.device),
            (f"? IN ({', '.join(VERDICTS)})", self.verdict),
            _of_prior(self.prior),
        ]
        conditions = [(condition, [value]) for condition, value in asked if value is not None]
        limits = {">=": self.pta4_min_db_hl, "<=": self.pta4_max_db_hl}
        wanted = {sign: db_hl for sign, db_hl in limits.items() if db_hl is not None}
        if wanted:
            ears = [" AND ".join(f"{mean} {sign} ?" for sign in wanted) for mean in MEANS]
            conditions.append((" OR ".join(ears), [*wanted.values()] * len(MEANS)))
        condition = " AND ".join(f"({each})" for each, _ in conditions)
        return Where(condition or "1", [value for _, values in conditions for value in values])


def _plain(identifier: str | None) -> str | None:
    return None if identifier is None else compose(identifier)


def _of_prior(prior: str | None) -> tuple[str, str | None]:
    if prior == SHIPPED:
        return "s.session IS NOT NULL AND prior = ?", ""
    return "prior <> '' AND wild(prior, ?)", prior


def arrange(
    entries: Iterable[Entry], order: str, reverse: bool, shared_devices: Container[str] = ()
) -> list[Entry]:
    """Return sessions in an order of `ORDERS`."""
    ordered = [entry for entry, _ in in_order(entries, shared_devices)]
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
