"""A session as a document has it, in the form of the schema: all that a format is written from.

It comes from a journal (`examination.py`) or from a file that was saved (`saved.py`).
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from firmware_py.calibration.in_force import DB_HL, NOMINAL_UNIT
from firmware_py.terms.calibration_states import UNCALIBRATED
from firmware_py.terms.discomfort_levels import levels_at
from firmware_py.terms.events import DiscomfortTold
from firmware_py.terms.outcomes import UNFINISHED, MaskingMark, Outcome, Verdict
from firmware_py.terms.reasons import Reason, Reasons, reasons_at
from firmware_py.terms.route import ROUTE, Route, gather_routes
from firmware_py.terms.shown_threshold import Kind
from firmware_py.terms.words import say
from host_tools.recordings.answers import Answers

JSON_FORMAT: Final = "gp-pta sessions 1"
INDENT: Final = 1  # blanks a level
_OF_LIST: Final = "\n" + INDENT * " "
_OF_ITEM: Final = _OF_LIST + INDENT * " "
ROOM_UNKNOWN: Final = "the room is not known"
NO_ANSWERS: Final = Answers()
JsonObject = Mapping[str, Any]  # JSON values, as the schema has them


@dataclass(frozen=True)
class DocumentEar:
    """An ear of a session, through one transducer."""

    record: JsonObject

    @cached_property
    def route(self) -> Route:
        route: Route = gather_routes(self.record)[ROUTE]
        return route

    @property
    def verdict(self) -> Verdict:
        """Return whether there was a test; `statements` says what may be told by it."""
        return Verdict(self.record["verdict"])

    @property
    def reasons(self) -> Reasons:
        return reasons_at("reasons", self.record["reasons"])

    @property
    def why(self) -> Reasons:
        return reasons_at("why", self.record["why"])

    @property
    def thresholds(self) -> Sequence[JsonObject]:
        return self.record["thresholds"]  # type: ignore[no-any-return]

    @property
    def confirmed(self) -> Sequence[JsonObject]:
        """Return what was measured again by the classical rule."""
        return self.record["confirmed"]  # type: ignore[no-any-return]


@dataclass(frozen=True)
class DocumentSession:
    """One session, to be exported."""

    record: JsonObject
    # Where answers are exported, which only a journal has: they, and the digest of its file.
    answers: Answers = NO_ANSWERS
    content: str = ""

    @cached_property
    def ears(self) -> list[DocumentEar]:
        """Return those that were tested, in the order of the test."""
        return [DocumentEar(ear) for ear in self.record["ears"]]

    @property
    def routes(self) -> frozenset[Route]:
        return frozenset(ear.route for ear in self.ears)

    @property
    def is_finished(self) -> bool:
        """Return whether it has a result, and not what is known so far."""
        return bool(self.record["outcome"] != UNFINISHED)

    @property
    def is_nominal(self) -> bool:
        """Return whether levels are nominal, so that nothing follows that needs dB HL."""
        return bool(self.record["calibration"]["state"] == UNCALIBRATED)

    @property
    def unit(self) -> str:
        return NOMINAL_UNIT if self.is_nominal else DB_HL

    @property
    def gaps(self) -> Sequence[JsonObject]:
        return self.record.get("air_bone_gaps", ())  # type: ignore[no-any-return]

    def gap_at(self, ear: str, frequency_hz: int) -> JsonObject | None:
        """Return the air-bone gap of an ear at a frequency; None: nothing is known of it."""
        gaps = (gap for each in self.gaps if each["ear"] == ear for gap in each["gaps"])
        return next((gap for gap in gaps if [*gap["frequencies_hz"]] == [frequency_hz]), None)

    @property
    def waits(self) -> list[tuple[str, Reasons]]:
        """Return when it waited for the operator's word, and why."""
        return [(each["at"], reasons_at("why", each["why"])) for each in self.record["waits"]]

    @property
    def room(self) -> str:
        """Return what is known of the noise of the room, in words."""
        told = self.record.get("room")  # a document of before has none
        return say(Reason.from_record("room", told)) if told else ROOM_UNKNOWN

    @property
    def discomfort(self) -> list[DiscomfortTold]:
        """Return the levels of discomfort that somebody measured elsewhere, of each ear."""
        told = self.record.get("discomfort", ())
        return [
            DiscomfortTold(**{**each, "levels": levels_at("discomfort", [*each["levels"]])})
            for each in told
        ]

    def noise_at(self, route: Route, frequency_hz: int) -> JsonObject | None:
        """Return how loud the noise in the other ear was there; None: none, or it is not known."""
        noise = (
            each for each in self.record.get("noise", ()) if gather_routes(each)[ROUTE] == route
        )
        return next((each for each in noise if each["frequency_hz"] == frequency_hz), None)

    @cached_property
    def digest(self) -> str:
        """Return what tells whether two are one, by whichever way they came here."""
        record = {name: value for name, value in self.record.items() if name != "journal"}
        content = json.dumps(whole_as_one(record), sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True)
class Sessions:
    """Sessions that are exported one after the other, and what is known of all before the first."""

    each: Iterable[DocumentSession]  # none of them is kept
    routes: Collection[Route]  # by which at least one was tested

    def __iter__(self) -> Iterator[DocumentSession]:
        return iter(self.each)


def open_ends(found: JsonObject) -> dict[str, bool]:
    """Return of each end of its bands whether they go on beyond the levels of the test."""
    reading, floor_db_hl, ceiling_db_hl = (
        found["reading"],
        found["floor_db_hl"],
        found["ceiling_db_hl"],
    )
    low, high = reading["low_open"], reading["high_open"]
    return {
        "low_db_hl": low,
        "high_db_hl": high,
        "whole_low_db_hl": low or reading.get("whole_low_db_hl") == floor_db_hl,
        "whole_high_db_hl": high or reading.get("whole_high_db_hl") == ceiling_db_hl,
    }


def measured_db_hl(found: JsonObject) -> float | None:
    """Return a threshold, if it was measured: the only value that may be called one."""
    reading = found["reading"]
    return reading["level_db_hl"] if reading["kind"] == Kind.MEASURED else None


def known_db_hl(found: JsonObject) -> float | None:
    """Return a threshold, or the limit that it surely lies beyond; asked in any case."""
    reading = found["reading"]
    known = reading["kind"] in (Kind.MEASURED, Kind.ABOVE, Kind.AT_MOST)
    return reading["level_db_hl"] if known else None


def marks_of(found: JsonObject) -> list[str]:
    """Return what is to be said of a threshold beside its level, in words."""
    marks = [] if found["mark"] == Outcome.MEASURED else [found["mark"]]
    masking, gap_db = found["masking"], found.get("air_bone_gap_db")
    if masking not in (MaskingMark.NOT_MASKED, None):
        marks.append(f"masking: {masking}")
    # Beside anything else it would read as a conductive loss of this ear.
    if gap_db is not None and masking == MaskingMark.UNCERTAIN:
        marks.append(f"air_bone_gap_db: {float(gap_db)}")
    return marks


def whole_as_one(value: Any) -> Any:
    """Return JSON values with 30.0 as 30, as a browser writes it."""
    if isinstance(value, dict):
        return {name: whole_as_one(each) for name, each in value.items()}
    if isinstance(value, list):
        return [whole_as_one(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def document(head: Mapping[str, Any], name: str, items: Iterable[Any]) -> Iterator[bytes]:
    """Yield a JSON document, `head` and a list of this name at its end, with the bytes of `dumps`.

    No part ends within a character, and each item is taken when the one before it is yielded.
    """
    opened, closed = _text({**head, name: []}).rsplit("]", 1)
    before = opened
    for item in items:
        yield (before + _OF_ITEM + _text(item).replace("\n", _OF_ITEM)).encode()
        before = ","
    end = opened if before == opened else _OF_LIST
    yield f"{end}]{closed}\n".encode()


def _text(value: Any) -> str:
    return json.dumps(value, indent=INDENT, ensure_ascii=False)
