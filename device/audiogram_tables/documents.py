"""JSON with audiograms: listeners, ears by name, rows, and what `gp-pta export` writes.

Each becomes a table with a threshold a row, or with an ear a row where it is one already.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.grid import Grid, cell_of, grid_of_records
from device.audiogram_tables.headings import side_of
from firmware_py.terms.printable import show
from firmware_py.terms.route import LEFT, RIGHT, ROUTES

Record = dict[str, Any]

# Of a table with a threshold a row, as `gp-pta export --tidy` has them.
LONG: Final = (
    "identifier", "journal", "started", "age", "sex", "ear", "frequency_hz", "threshold_db_hl",
    "mark", "limit_db_hl", "level_unit", "threshold_convention", "verdict",
)  # fmt: skip
HOW: Final = (
    'JSON that is read: {"NAME": {"audiogram_cfs": [...], "audiogram_levels_l": [...], '
    '"audiogram_levels_r": [...]}}, {"left": {"250": 10}, "right": {...}}, a list of rows '
    '{"t500": 10, ...}, and what gp-pta export writes'
)
_FREQUENCIES: Final = "audiogram_cfs"
_LEVELS: Final = {LEFT: "audiogram_levels_l", RIGHT: "audiogram_levels_r"}
_NOT_ASKED: Final = "not-performed"
_OF_EAR: Final = re.compile(
    r"Hearing threshold Ear - (left|right)( by bone conduction)? --(\d{2,5}) Hz"
)
_PLACES: Final = {
    code: (str(route), frequency_hz)
    for route in ROUTES
    for frequency_hz, code in route.kind.loinc[route.ear].items()
}


def grid_of_json(path: str, text: str) -> Grid:
    """Return the table that a JSON document is.

    Raises
    ------
    AudiogramError
        It is no JSON, or of no kind that is read.
    """
    document = _document(path, text)
    if isinstance(document, list) and document and all(isinstance(each, dict) for each in document):
        if not any(_is_person(each) for each in document):
            return _of_rows(path, document)
        document = {_name_of(each, n): each for n, each in enumerate(document, start=1)}
    if isinstance(document, dict):
        if document.get("resourceType") == "Bundle":
            return _grid(path, [*_of_bundle(path, document)])
        if isinstance(document.get("sessions"), list):
            return _grid(path, [*_of_sessions(path, document)])
        if _is_person(document):
            document = {_name_of(document, 1): document}
        if document and all(isinstance(each, dict) for each in document.values()):
            return _of_people(path, document)
    raise AudiogramError(f"{path}: no audiogram is found in it; {HOW}")


def _document(path: str, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _once(path, pairs))
    except RecursionError:
        raise AudiogramError(f"{path}: is no JSON: it is nested too deep") from None
    except json.JSONDecodeError as error:
        raise AudiogramError(f"{path}: is no JSON, and no CSV table: {error}") from None
    except ValueError as error:  # a number with thousands of digits
        raise AudiogramError(str(error) if path in str(error) else f"{path}: {error}") from None


def _once(path: str, pairs: list[tuple[str, Any]]) -> Record:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise AudiogramError(f"{path}: {show(twice)} comes twice, allowed is once")
    return found


def _grid(path: str, records: list[tuple[str, Record]]) -> Grid:
    if not records:
        raise AudiogramError(f"{path}: no threshold in it; {HOW}")
    return grid_of_records(path, LONG, [r for _, r in records], [place for place, _ in records])


def _is_person(value: Mapping[str, Any]) -> bool:
    sides = [name for name in value if (found := side_of(name)) and found[0]]
    return _FREQUENCIES in value or any(isinstance(value[name], dict) for name in sides)


def _name_of(person: Mapping[str, Any], number: int) -> str:
    name = person.get("name") or person.get("id") or f"person {number}"
    return str(name)


def _of_rows(path: str, rows: list[Record]) -> Grid:
    header = list(dict.fromkeys(name for row in rows for name in row))
    nested = [name for row in rows for name in row if isinstance(row[name], dict)]
    if nested:
        raise AudiogramError(f"{path}: {show(nested[0])} is no value of a row; {HOW}")
    return grid_of_records(path, header, rows)


def _of_people(path: str, people: Mapping[str, Record]) -> Grid:
    if not all(_is_person(person) for person in people.values()):
        wrong = [name for name, person in people.items() if not _is_person(person)]
        if len(wrong) == len(people):
            rows = [{"name": name, **person} for name, person in people.items()]
            return _of_rows(path, rows)
        raise AudiogramError(f"{path}: {show(wrong[0])} is no person with ears; {HOW}")
    found = []
    for name, person in people.items():
        read = _of_listener if _FREQUENCIES in person else _of_sides
        found += list(read(path, name, person))
    return _grid(path, found)


def _of_listener(path: str, name: str, person: Record) -> Iterator[tuple[str, Record]]:
    frequencies = person[_FREQUENCIES]
    known = {ear: person[key] for ear, key in _LEVELS.items() if key in person}
    others = [k for k in person if k.startswith("audiogram") and k not in _LEVELS.values()]
    others = [k for k in others if k != _FREQUENCIES]
    if others or not known:
        named = show(others[0]) if others else "an ear"
        what = "is not known" if others else "is missing"
        raise AudiogramError(
            f"{path}, {show(name)}: {named} {what}; allowed are {', '.join(_LEVELS.values())}"
        )
    for ear, levels in known.items():
        lists = isinstance(frequencies, list) and isinstance(levels, list)
        if not lists or len(levels) != len(frequencies):
            size = len(frequencies) if isinstance(frequencies, list) else 0
            raise AudiogramError(
                f"{path}, {show(name)}: {_LEVELS[ear]} is {show(levels)}; allowed is a list of as "
                f"many levels as {_FREQUENCIES} has frequencies, {size}"
            )
        for frequency, level in zip(frequencies, levels, strict=True):
            place = f"{name}, {ear} ear, {cell_of(frequency)} Hz"
            yield place, _record(name, ear, frequency, level)


def _of_sides(path: str, name: str, person: Record) -> Iterator[tuple[str, Record]]:
    for word, levels in person.items():
        side = side_of(word)
        if side is None or not side[0]:
            if isinstance(levels, dict):
                raise AudiogramError(
                    f"{path}, {show(name)}: {show(word)} is no ear; allowed are left and right"
                )
            continue
        if not isinstance(levels, dict):
            raise AudiogramError(
                f"{path}, {show(name)}, {word}: {show(levels)}; allowed are levels by frequency, "
                '{"250": 10, "500": 15}'
            )
        for frequency, level in levels.items():
            yield f"{name}, {word}, {frequency} Hz", _record(name, word, frequency, level)


def _record(name: str, ear: str, frequency: object, level: object) -> Record:
    if isinstance(level, bool | dict | list):
        level = json.dumps(level)
    return {
        "identifier": name,
        "ear": ear,
        "frequency_hz": cell_of(frequency),
        "threshold_db_hl": level,
    }


def _of_sessions(path: str, document: Record) -> Iterator[tuple[str, Record]]:
    """Yield the thresholds of the JSON of `gp-pta export`."""
    for number, session in enumerate(document["sessions"], start=1):
        place = f"session {number}"
        try:
            person, calibration = session["person"], session["calibration"]
            about = {
                "identifier": person["identifier"] or "",
                "journal": session["journal"],
                "started": session["started"],
                "age": person["age_years"],
                "sex": person["sex"],
                "level_unit": "dB HL" if calibration["state"] != "UNCALIBRATED" else "nominal",
                "threshold_convention": session["settings"]["threshold_convention"],
            }
            for ear in session["ears"]:
                route = "-".join(str(ear[k]) for k in ("ear", "transducer") if k in ear)
                for found in ear["thresholds"]:
                    yield (
                        f"{place}, {route}, {found['frequency_hz']} Hz",
                        {**about, "ear": route, "verdict": ear["verdict"], **found},
                    )
        except (KeyError, TypeError, AttributeError) as error:
            raise AudiogramError(
                f"{path}, {place}: is none of gp-pta export: {error} is missing or of another kind"
            ) from None


def _of_bundle(path: str, bundle: Record) -> Iterator[tuple[str, Record]]:
    """Yield the thresholds of a FHIR bundle: observations by LOINC's code, or by our name."""
    for number, entry in enumerate(bundle.get("entry") or [], start=1):
        try:
            found = _of_observation(entry["resource"])
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise AudiogramError(
                f"{path}, entry {number}: is no observation that is read: {error} is missing or of "
                "another kind"
            ) from None
        if found is not None:
            yield f"entry {number}", found


def _of_observation(resource: Record) -> Record | None:
    absent = resource.get("dataAbsentReason", {}).get("coding") or [{}]
    inferred = absent[0].get("code") == _NOT_ASKED
    if resource["resourceType"] != "Observation" or ("method" in resource and not inferred):
        return None  # what was confirmed is no threshold of the test
    code = resource["code"]
    place = None
    for each in code.get("coding", []):
        place = place or _PLACES.get(each.get("code", ""))
    texts = [code.get("text", ""), *(each.get("display", "") for each in code.get("coding", []))]
    for match in filter(None, map(_OF_EAR.search, texts)):
        place = place or (f"{match[1]}-bone" if match[2] else match[1], int(match[3]))
    if place is None:
        return None
    value = resource.get("valueQuantity") or {}
    sign, unit = value.get("comparator", ""), str(value.get("unit", ""))
    if sign in (">=", "<"):
        raise KeyError(f"a threshold with comparator {sign}")
    level = cell_of(value.get("value"))
    words = [note.get("text", "") for note in resource.get("note", [])]
    conventions = [w for w in words if "threshold convention 50 %" in w]
    doubts = [w for w in words if w.startswith(("doubtful", "could not be tested"))]
    return {
        "identifier": resource.get("subject", {}).get("identifier", {}).get("value", ""),
        "journal": resource.get("effectiveDateTime")
        or resource.get("effectivePeriod", {}).get("start", ""),
        "ear": place[0],
        "frequency_hz": place[1],
        "threshold_db_hl": f">{level}" if sign == ">" else level,
        "level_unit": unit,
        "threshold_convention": "50 %" if conventions else "",
        "verdict": "doubtful" if doubts else "",
    }
