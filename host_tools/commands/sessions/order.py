"""The order of sessions: by the numbers of each device, and by the clock only between devices.

A clock that was set back, or was never set, would make the later of two sessions the earlier one,
and what grew worse better. The number of a session on its device only grows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from firmware_py.board.self_check import clock_part
from host_tools.commands.sessions.entry import Entry


@dataclass(frozen=True)
class Placed:
    """A session in its place."""

    entry: Entry
    at: float  # seconds since 1970, never less than of the one before it


@dataclass(frozen=True)
class Contradiction:
    """Two sessions of a device whose numbers say another order than their dates."""

    first: Entry  # by its number
    last: Entry


def clock_was_set(entry: Entry) -> bool:
    """Tell whether the date of a session is one."""
    return _moment(entry) is not None


def in_order(entries: Iterable[Entry]) -> list[Placed]:
    """Return sessions in their order."""
    by_device: dict[str, list[Entry]] = {}
    for entry in entries:
        by_device.setdefault(entry.device, []).append(entry)
    placed = [each for device, of in by_device.items() for each in _of_device(device, of)]
    return sorted(placed, key=lambda each: (each.at, each.entry.device))


def contradictions(placed: Sequence[Placed]) -> list[Contradiction]:
    """Return where the dates of a device's sessions contradict their numbers."""
    by_device: dict[str, list[Entry]] = {}
    for each in placed:
        if each.entry.device and clock_was_set(each.entry):
            by_device.setdefault(each.entry.device, []).append(each.entry)
    return [
        Contradiction(first, last)
        for of in by_device.values()
        for first, last in pairwise(of)
        if (_moment(first) or 0.0) > (_moment(last) or 0.0)
    ]


def _of_device(device: str, entries: Iterable[Entry]) -> list[Placed]:
    """Place the sessions of a device; an unknown one may be several, with numbers of their own."""
    if not device:
        return [Placed(entry, _moment(entry) or 0.0) for entry in sorted(entries, key=_by_date)]
    ordered = sorted(entries, key=lambda entry: (entry.session or 0, entry.started, entry.name))
    known = [at for at in map(_moment, ordered) if at is not None]
    at, placed = min(known, default=0.0), []
    for entry in ordered:
        at = max(at, _moment(entry) or at)
        placed.append(Placed(entry, at))
    return placed


def _by_date(entry: Entry) -> tuple[float, str, str]:
    return _moment(entry) or 0.0, entry.started, entry.name


def _moment(entry: Entry) -> float | None:
    """Return when a session began; None: the clock of the device was never set."""
    try:
        started = datetime.fromisoformat(entry.started)
        return started.timestamp() if clock_part(started).works else None
    except (ValueError, OverflowError, OSError):
        return None
