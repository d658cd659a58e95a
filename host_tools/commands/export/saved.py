"""Reads the sessions of a document that was saved, by the operator's page or by an export.

Its form is checked by the schema, and every value that a session of this version records by the
rule that a journal's has. What else stands there, such as readings, has to fit those.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from firmware_py.findings.statements import as_told
from firmware_py.platform.data_directory import SESSION_NUMBER_MAX
from firmware_py.platform.named_file import content_of
from firmware_py.sessions.start_time import start
from firmware_py.terms.outcomes import UNFINISHED, Bound, Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.reasons import reasons_at
from firmware_py.terms.record_checks import (
    ResultError,
    checks_of,
    number_or_none,
    refusal,
    text,
    whole,
)
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import EAR, ROUTE
from firmware_py.terms.settings import CONDUCTS, SettingError, Settings
from firmware_py.terms.shown_threshold import NUMBERS, as_shown
from firmware_py.terms.verdicts import has_thresholds, may_conclude
from host_tools.commands.export.document_session import JSON_FORMAT, DocumentSession, JsonObject
from host_tools.commands.export.schema import check_session
from host_tools.errors import HostError, NonsenseError
from host_tools.recordings.convention import WORDS

ENDING: Final = ".json"
BYTES_MAX: Final = 64 << 20  # of some 3,000 sessions: it is parsed whole, and takes five times that
NUMBER_MAX: Final = 2.0**53  # a wide bound: it only keeps nonsense out
# What a format is written from and the schema, which knows earlier versions, does not require.
NEEDED: Final = (
    "device", "simulated", "breaks", "waits", "verdict", "threshold_convention", "prior",
    "which_ear",
)  # fmt: skip
OF_CALIBRATION: Final = ("digest", "transducer", "vibrator")
# The end of the band of a gap that a bound leaves open.
OPEN_END: Final = {"low_db": Bound.AT_MOST, "high_db": Bound.AT_LEAST}
OF_EAR: Final = ("verdict", "reasons", "boards", "confirmed", "clinical_offset_db", "convention",
                 "has_thresholds", "may_conclude", "tones_masked")  # fmt: skip
OF_THRESHOLD: Final = ("masking", "floor_db_hl", "ceiling_db_hl", "inferred", "reading")
# Of a reading, by what its threshold says.
READ: Final = ("kind", "level_db_hl", "low_db_hl", "high_db_hl")
OF_HEAD: Final = {
    "journal": text,
    "session": whole(1, SESSION_NUMBER_MAX),
    "started": start,
    "firmware": text,
    "speed": number_or_none(0.1, 1000.0, ""),
}


def read_document(path: Path) -> list[DocumentSession | HostError]:
    """Return the sessions of a document, in its order; an error in the place of one that is none.

    `HostError` if it cannot be read, or is no document of this version.
    """
    try:
        record = json.loads(content_of(path, BYTES_MAX))
    except OSError as error:
        raise HostError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise HostError(f"{path}: it is no JSON: {error}") from None
    form = record.get("format") if isinstance(record, dict) else None
    if form != JSON_FORMAT:
        why = refusal("format", form, f"is {JSON_FORMAT!r}, of --format json and the page")
        raise HostError(f"{path}: it is no document of sessions of this version: {why}")
    sessions = record.get("sessions")
    if not isinstance(sessions, list) or not sessions:
        why = refusal("sessions", sessions, "is a list of at least 1")
        raise HostError(f"{path}: {why}")
    return [_session(path, place, each) for place, each in enumerate(sessions)]


def check_wanted(
    session: DocumentSession, where: str, unfinished: bool, convention: str | None
) -> None:
    """Refuse a session that is not to be exported as a document has it; `HostError`."""
    if not (session.is_finished or unfinished):
        raise HostError(
            f"{where}: it was not finished, so it has no result; --unfinished exports what is known"
        )
    saved = session.record["threshold_convention"]
    if convention not in (None, saved):
        (word,) = (short for short, each in WORDS.items() if each == saved)
        raise HostError(
            f"{where}: its thresholds are {saved!r}; allowed is --convention {word}: only a "
            "journal tells them in another"
        )


def where_in(path: Path, place: int) -> str:
    return f"{path}: sessions[{place}]"


def _session(path: Path, place: int, record: Any) -> DocumentSession | HostError:
    try:
        _check_values("session", record)
        check_session("session", record)
        _check_needed(record)
        _check_head(record)
        _check_result(record)
    except (ResultError, SettingError, ValueError) as error:
        return NonsenseError(f"{where_in(path, place)}: {error}")
    return DocumentSession(record)


def _check_values(place: str, value: Any) -> None:
    """Refuse texts that cannot be printed, and numbers that are none."""
    if isinstance(value, dict):
        for name, each in value.items():
            text(f"a name in {place}", name)
            _check_values(f"{place}.{name}", each)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            _check_values(f"{place}[{number}]", each)
    elif isinstance(value, str):
        text(place, value)
    elif not (value is None or abs(value) <= NUMBER_MAX):
        raise refusal(place, value, f"are numbers from {-NUMBER_MAX:g} to {NUMBER_MAX:g}")


def _check_needed(record: JsonObject) -> None:
    needed = [("session", record, NEEDED), ("calibration", record["calibration"], OF_CALIBRATION)]
    for number, ear in enumerate(record["ears"]):
        place = f"ears[{number}]"
        needed.append((place, ear, OF_EAR))
        needed += [
            (f"{place}.thresholds[{at}]", each, OF_THRESHOLD)
            for at, each in enumerate(ear["thresholds"])
        ]
    for place, part, names in needed:
        for name in names:
            if name not in part:
                raise ResultError(
                    f"{place} has no {name!r}: an earlier version saved it, and its journal can be "
                    "exported again"
                )


def _check_head(record: JsonObject) -> None:
    for name, check in OF_HEAD.items():
        check(name, record.get(name))
    Person.from_record(record["person"])
    conduct = (record["settings"] or {}).get("conduct")
    if conduct not in (*CONDUCTS,):  # it may be of any type
        raise refusal("settings.conduct", conduct, f"are {', '.join(CONDUCTS)}")
    for number, each in enumerate(record["breaks"]):
        start(f"breaks[{number}].resumed", each["resumed"])
    for number, each in enumerate(record["waits"]):
        reasons_at(f"waits[{number}].why", each["why"])
    if "ended" in record:
        start("ended", record["ended"])


def _check_result(record: JsonObject) -> None:
    """Refuse a result that no test has, and whatever stands beside it and does not fit."""
    so_far = record["outcome"] == UNFINISHED
    as_recorded = {name: record[name] for name in checks_of(SessionResult)} | {
        "outcome": "" if so_far else record["outcome"], "ears": [*map(_ear, record["ears"])],
    }  # fmt: skip
    result = SessionResult.from_record(as_recorded, so_far=so_far)
    nominal = DocumentSession(record).is_nominal
    silent = [ear for ear in result.ears if not has_thresholds(ear)]
    of_silent = SessionResult("", tuple(silent), 0, 0, None, ())
    if as_told(of_silent, Settings(), nominal=False) != of_silent:
        raise ResultError("an ear has levels, and verdict could-not-be-tested; allowed is none")
    _check_fits("verdict", record["verdict"], result.verdict)
    for number, (ear, found) in enumerate(zip(record["ears"], result.ears, strict=True)):
        place = f"ears[{number}]"
        _check_fits(f"{place}.has_thresholds", ear["has_thresholds"], has_thresholds(found))
        _check_fits(f"{place}.may_conclude", ear["may_conclude"], may_conclude(found))
        if ear["pta4"] is not None and (nominal or not may_conclude(found)):
            raise refusal(f"{place}.pta4", ear["pta4"], "is null without a valid, calibrated test")
        for at, (each, threshold) in enumerate(
            zip(ear["thresholds"], found.thresholds, strict=True)
        ):
            shown = as_shown(threshold)
            for name in READ:
                where = f"{place}.thresholds[{at}].reading.{name}"
                _check_fits(where, each["reading"][name], getattr(shown, name))
    _check_gaps(record, nominal)


def _check_gaps(record: JsonObject, nominal: bool) -> None:
    if nominal and record.get("air_bone_gaps"):
        raise refusal("air_bone_gaps", record["air_bone_gaps"], "is none of nominal levels")
    for of_ear in record.get("air_bone_gaps", ()):
        mean = of_ear["mean"]
        for gap in of_ear["gaps"] if mean is None else (*of_ear["gaps"], mean):
            for name, bound in OPEN_END.items():
                if (gap[name] is None) != (gap["bound"] == bound):
                    allowed = f"is null where bound is {bound}, and nowhere else"
                    raise refusal(f"air_bone_gaps.{name}", gap[name], allowed)


def _check_fits(place: str, value: object, follows: object) -> None:
    if value != follows:
        raise refusal(place, value, f"is {follows}, which follows from what stands beside it")


def _ear(record: JsonObject) -> dict[str, Any]:
    """Return an ear as a journal has it; its mean, which has grades by name, and its gap, apart."""
    names = [EAR if name == ROUTE else name for name in checks_of(EarResult)]
    kept = {name: record[name] for name in (*names, "transducer") if name in record}
    thresholds = [*map(_threshold, record["thresholds"])]
    return {**kept, "thresholds": thresholds, "pta4": None, "gap": None}


def _threshold(record: JsonObject) -> dict[str, Any]:
    as_recorded = {name: record.get(name) for name in checks_of(ThresholdResult)}
    inferred: Mapping[str, Any] = record["inferred"] or {}
    if record["mark"] == Outcome.INFERRED:
        as_recorded |= {name: inferred.get(short) for name, short in NUMBERS.items()}
    return as_recorded
