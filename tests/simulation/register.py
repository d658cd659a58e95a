"""What a clinic knows of its sessions without their journals, and what has to be told of them."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from firmware_py.journal.records import FORMAT_VERSION
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.route import BONE
from tests.simulation.day import NEVER_SET
from tests.simulation.violation import Violation

Key = tuple[str, int]  # serial number of the device, "": not recorded; number of the session
UNFINISHED: Final = "unfinished"


@dataclass(frozen=True)
class Noted:
    """One session."""

    device: str
    session: int
    identifier: str
    date: str  # by the clock of the device
    calibration: str
    outcome: str
    verdicts: Mapping[str, str]  # by route

    @property
    def key(self) -> Key:
        return self.device, self.session

    @property
    def clock_was_set(self) -> bool:
        return self.date != NEVER_SET.isoformat()

    def is_of(self, device: str) -> bool:
        return self.device == device


def noted_before(content: bytes) -> Noted:
    """Return what a journal of before says, by JSON alone."""
    header, *records = (json.loads(line) for line in content.splitlines())
    results = [each["action"]["result"] for each in records if _finishes(each)]
    ears = results[0]["ears"] if results else []
    return Noted(
        header.get("device") or "",
        header["session"],
        header["person"]["identifier"],
        header["started"][:10],
        header["calibration"]["state"],
        results[0]["outcome"] if results else UNFINISHED,
        {_route(ear): ear.get("verdict", Verdict.NOT_JUDGED) for ear in ears},
    )


def _finishes(record: Mapping[str, Any]) -> bool:
    return bool(record.get("action", {}).get("what") == "finish")


def _route(ear: Mapping[str, Any]) -> str:
    return "-".join((ear["ear"], *([BONE] if ear.get("transducer") == BONE else ())))


@dataclass
class Register:
    """All sessions in the order in which they were."""

    noted: list[Noted] = field(default_factory=list)
    formats: dict[Key, int] = field(default_factory=dict)  # of those of before
    _last: dict[str, int] = field(default_factory=dict)  # number, by the device that gave it

    def take(self, session: Noted, given_by: str, version: int = FORMAT_VERSION) -> None:
        """Take in a session; its number is one that its device never gave before."""
        last = self._last.get(given_by, 0)
        if session.session <= last:
            raise Violation(f"{given_by} has given number {session.session} after {last}")
        self._last[given_by] = session.session
        self.noted.append(session)
        self.formats[session.key] = version

    # What is told of them

    def check_list(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Check that every session is listed once, as it was."""
        self._check_once("listed", (_key(entry) for entry in entries), self.noted)
        told = {_key(entry): entry for entry in entries}
        for each in self.noted:
            _check_told(each, told[each.key], _verdicts(told[each.key]))
            recorded_by = told[each.key]["recorded_by"]
            is_earlier = self.formats[each.key] < FORMAT_VERSION
            if bool(recorded_by) != is_earlier:
                raise Violation(f"session {each.key} is told as recorded by {recorded_by!r}")

    def check_export(self, sessions: Sequence[Mapping[str, Any]]) -> None:
        """Check that every session with a result is exported once, as it was."""
        finished = [each for each in self.noted if each.outcome != UNFINISHED]
        self._check_once("exported", (_key(each) for each in sessions), finished)
        told = {_key(each): each for each in sessions}
        for each in finished:
            found = told[each.key]
            entry = {
                **found,
                "identifier": found["person"]["identifier"],
                "calibration": found["calibration"]["state"],
            }
            _check_told(each, entry, {_route(ear): ear["verdict"] for ear in found["ears"]})

    def check_people(self, people: Mapping[str, Sequence[Key]]) -> None:
        """Check that the sessions of each person come in the order in which they were.

        Where the clock was lost that is asked of those of one device alone: nobody knows more.
        """
        keys = (key for sessions in people.values() for key in sessions)
        self._check_once("told of a person", keys, self.noted)
        for identifier, sessions in people.items():
            were = [each for each in self.noted if each.identifier == identifier]
            told_of: list[Callable[[Noted], bool]] = [lambda each: each.clock_was_set]
            told_of += [
                partial(Noted.is_of, device=device) for device in {key[0] for key in sessions}
            ]
            for chosen in told_of:
                wanted = [each.key for each in were if chosen(each)]
                told = [key for key in sessions if key in wanted]
                if told != wanted:
                    raise Violation(f"{identifier} has sessions {told}, and they were {wanted}")

    def _check_once(self, how: str, keys: Iterable[Key], wanted: Iterable[Noted]) -> None:
        counts = Counter(keys)
        for each in wanted:
            if counts[each.key] != 1:
                raise Violation(f"session {each.key} is {how} {counts[each.key]} times")
            del counts[each.key]
        if counts:
            raise Violation(f"sessions {[*counts]} are {how}, and never were")


def _key(entry: Mapping[str, Any]) -> Key:
    return entry["device"] or "", entry["session"]


def _verdicts(entry: Mapping[str, Any]) -> dict[str, str]:
    start = "verdict_"
    named = {name for name in entry if name.startswith(start) and entry[name]}
    return {name.removeprefix(start).replace("_", "-"): entry[name] for name in named}


def _check_told(wanted: Noted, entry: Mapping[str, Any], verdicts: Mapping[str, str]) -> None:
    told = {
        "identifier": entry["identifier"], "date": entry["started"][:10],
        "calibration": entry["calibration"], "outcome": entry["outcome"],
        "verdicts": {**verdicts},
    }  # fmt: skip
    for name, value in told.items():
        if value != getattr(wanted, name):
            words = f"has {name} {value!r}, and it was {getattr(wanted, name)!r}"
            raise Violation(f"session {wanted.key} {words}")
