"""Which sessions are listed, and in which order."""

import datetime
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from firmware_py.procedure.person import composed
from firmware_py.procedure.settings import BOTH
from host_tools.commands.sessions.entry import Entry
from host_tools.commands.sessions.order import in_order
from host_tools.errors import HostError

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

# Of sessions in the order of their numbers (`in_order`). What is not known comes last.
ORDERS: Final[dict[str, Callable[[Entry], tuple[Any, ...]]]] = {
    "name": lambda entry: (entry.name,),
    "started": lambda entry: (entry.started == "",),
    "identifier": lambda entry: (entry.identifier == "", entry.identifier),
    "outcome": lambda entry: (entry.outcome, entry.name),
    "pta4": lambda entry: (not entry.pta4_db_hl, -_worst_db_hl(entry), entry.name),
}


@dataclass(frozen=True)
class Choice:
    """What is asked of a session; None: nothing.

    Raises
    ------
    HostError
        A day is none, or the first is after the last.
    """

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
        """Check the days."""
        for option, day in (("--since", self.since), ("--until", self.until)):
            if day is not None:
                _check_day(option, day)
        if self.since is not None and self.until is not None and self.since > self.until:
            raise HostError(f"--since {self.since} is after --until {self.until}")

    def takes(self, entry: Entry) -> bool:
        """Tell whether a session is as asked."""
        wanted = (
            (self.identifier, lambda told: fnmatchcase(entry.identifier, composed(told))),
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


def chosen(entries: Iterable[Entry], choice: Choice, order: str, reverse: bool) -> list[Entry]:
    """Return the sessions that are as asked, in an order of `ORDERS`."""
    ordered = [each.entry for each in in_order(filter(choice.takes, entries))]
    if reverse:
        ordered.reverse()  # of two that are alike, too
    return sorted(ordered, key=ORDERS[order], reverse=reverse)


def _worst_db_hl(entry: Entry) -> float:
    return max(entry.pta4_db_hl.values(), default=0.0)


def _check_day(option: str, day: str) -> None:
    try:
        datetime.date.fromisoformat(day)
        good = _DATE.fullmatch(day) is not None
    except ValueError:
        good = False
    if not good:
        raise HostError(f"{option} is {day!r}; allowed is a day such as 2026-01-31")
