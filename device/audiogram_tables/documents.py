"""JSON with audiograms: listeners, ears by name, rows, and what `gp-pta export` writes.

Each becomes a table with a threshold a row, or with an ear a row where it is one already.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.fhir import thresholds_of
from device.audiogram_tables.places import DISCOMFORT, side_of
from device.audiogram_tables.sheet import Sheet, list_names, numbered
from firmware_py.terms.printable import show
from firmware_py.terms.route import LEFT, RIGHT

Record = Mapping[str, Any]
Placed = tuple[str, Record]  # the place of a record, and the record

HOW: Final = (
    'JSON that is read: {"NAME": {"audiogram_cfs": [...], "audiogram_levels_l": [...], '
    '"audiogram_levels_r": [...]}}, {"left": {"250": 10}, "right": {...}}, a list of rows '
    '{"t500": 10, ...}, FHIR, and what gp-pta export writes'
)
_FREQUENCIES: Final = "audiogram_cfs"
_LEVELS: Final = {LEFT: "audiogram_levels_l", RIGHT: "audiogram_levels_r"}


def sheet_of_json(path: str, text: str) -> Sheet:
    """Return the table that a JSON document is, or `AudiogramError`: of no kind that is read."""
    try:
        document = json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise AudiogramError(f"{path}: is no JSON: it is nested too deep") from None
    except json.JSONDecodeError as error:
        raise AudiogramError(f"{path}: is no JSON, and no CSV table: {error}") from None
    except ValueError as error:  # a name twice, or a number with thousands of digits
        raise AudiogramError(f"{path}: {str(error).removeprefix(': ')}") from None
    passed_over: Sequence[str] = ()
    records: Sequence[Placed]
    try:
        if isinstance(document, dict) and document.get("resourceType") == "Bundle":
            records, passed_over = thresholds_of(document)
        elif isinstance(document, dict) and isinstance(document.get("sessions"), list):
            records = [*_of_sessions(document["sessions"])]
        else:
            records = [*_of_people(document)]
    except ValueError as error:
        raise AudiogramError(f"{path}{error}; {HOW}") from None
    if not records:
        told = f", passed over {list_names(passed_over)}" * bool(passed_over)
        raise AudiogramError(f"{path}: no threshold in it{told}; {HOW}")
    return Sheet.of_records(path, records, passed_over)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _check_once([name for name, _ in pairs])
    return dict(pairs)


def _check_once(names: Sequence[str]) -> None:
    if len(names) > len({*names}):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f": {show(twice)} comes twice, allowed is once")


def _of_people(document: Any) -> Iterator[Placed]:
    """Yield the thresholds of people, or rows; `ValueError` if it is neither."""
    if isinstance(document, dict) and _is_person(document):
        document = [document]
    if isinstance(document, list) and all(isinstance(each, dict) for each in document):
        names = [
            str(p.get("name") or p.get("id") or f"person {n}")
            for n, p in enumerate(document, start=1)
        ]
        people, rows = dict(zip(names, document, strict=True)), document
    elif isinstance(document, dict) and all(isinstance(p, dict) for p in document.values()):
        names, people = [*document], document
        rows = [{"name": name, **p} for name, p in document.items()]
    else:
        raise ValueError(": no audiogram is found in it")
    wrong = [name for name, person in people.items() if not _is_person(person)]
    if len(wrong) == len(people):
        if nested := [name for row in rows for name in row if isinstance(row[name], dict)]:
            raise ValueError(f": {show(nested[0])} is no value of a row")
        yield from numbered(rows)
    elif wrong:
        raise ValueError(f": {show(wrong[0])} is no person with ears")
    else:
        _check_once(names)
        for name, person in people.items():
            yield from (_of_listener if _FREQUENCIES in person else _of_sides)(name, person)


def _is_person(value: Record) -> bool:
    ears = (each for name, each in value.items() if (side_of(name) or ("",))[0])
    return _FREQUENCIES in value or any(isinstance(each, dict) for each in ears)


def _of_listener(name: str, person: Record) -> Iterator[Placed]:
    frequencies = person[_FREQUENCIES]
    allowed = (_FREQUENCIES, *_LEVELS.values())
    others = [key for key in person if key.startswith("audiogram") and key not in allowed]
    known = {ear: person[key] for ear, key in _LEVELS.items() if key in person}
    if others or not known:
        what = f"{show(others[0])} is not known" if others else "an ear is missing"
        raise ValueError(f", {show(name)}: {what}; allowed are {', '.join(_LEVELS.values())}")
    for ear, levels in known.items():
        lists = isinstance(frequencies, list) and isinstance(levels, list)
        if not lists or len(levels) != len(frequencies):
            raise ValueError(
                f", {show(name)}: {_LEVELS[ear]} is {show(levels)}; allowed is a list of as many "
                f"levels as {_FREQUENCIES} has frequencies"
            )
        for frequency, level in zip(frequencies, levels, strict=True):
            yield _record(name, ear, frequency, level)


def _of_sides(name: str, person: Record) -> Iterator[Placed]:
    for word, levels in person.items():
        if not (side_of(word) or ("",))[0]:
            if isinstance(levels, dict):
                raise ValueError(f", {show(name)}: {show(word)} is no ear; allowed are left, right")
            continue
        if not isinstance(levels, dict):
            raise ValueError(
                f", {show(name)}, {word}: {show(levels)}; allowed are levels by frequency, "
                '{"250": 10, "500": 15}'
            )
        for frequency, level in levels.items():
            yield _record(name, word, frequency, level)


def _record(name: str, ear: str, frequency: object, level: object) -> Placed:
    level = json.dumps(level) if isinstance(level, bool | dict | list) else level
    return f"{name}, {ear}, {frequency} Hz", {
        "identifier": name, "ear": ear, "hz": frequency, "threshold": level,
    }  # fmt: skip


def _of_sessions(sessions: Sequence[Any]) -> Iterator[Placed]:
    for number, session in enumerate(sessions, start=1):
        place = f"session {number}"
        try:
            person, calibration = session["person"], session["calibration"]
            about = {
                "identifier": person["identifier"] or "",
                "journal": session["journal"],
                "age": person["age_years"],
                "sex": person["sex"],
                "level_unit": "dB HL" if calibration["state"] != "UNCALIBRATED" else "nominal",
                "threshold_convention": session["settings"]["threshold_convention"],
            }
            for ear in session["ears"]:
                route = "-".join(str(ear[k]) for k in ("ear", "transducer") if k in ear)
                for found in ear["thresholds"]:
                    where = f"{place}, {route}, {found['frequency_hz']} Hz"
                    yield where, {**about, "ear": route, "verdict": ear["verdict"], **found}
            for told in session.get("discomfort", ()):
                for level in told["levels"]:
                    where = f"{place}, discomfort {told['ear']}, {level['frequency_hz']} Hz"
                    cell = f"{'>' * level['above']}{level['level_db_hl']:g}"
                    found = {"frequency_hz": level["frequency_hz"], "threshold_db_hl": cell}
                    yield where, {**about, "ear": f"{told['ear']}-{DISCOMFORT}", **found}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f", {place}: is none of gp-pta export: {error} is missing or of another kind"
            ) from None
