"""The thresholds of a FHIR bundle: observations and components, by LOINC's codes or our names."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from device.audiogram_tables.places import DISCOMFORT
from device.audiogram_tables.sheet import cell_of
from firmware_py.terms.printable import show
from firmware_py.terms.route import ROUTES

Record = dict[str, Any]

LOINC: Final = "http://loinc.org"
_OF_EAR: Final = re.compile(
    r"(Hearing threshold|Uncomfortable level) Ear - (left|right)( by bone conduction)? "
    r"--(\d{2,5}) Hz"
)
_PLACES: Final = {
    code: (str(route), frequency_hz)
    for route in ROUTES
    for frequency_hz, code in route.kind.loinc[route.ear].items()
}
_KINDS: Final = {"Uncomfortable level": f"-{DISCOMFORT}"}
# How our own thresholds were found; those of another method are passed over, and said.
METHOD: Final = "pure tone audiometry; each tone is chosen by the answers to those before it"
_NOT_ASKED: Final = "not-performed"
_WITHDRAWN: Final = ("entered-in-error", "cancelled")
# They have no thresholds, and nobody looks for any there.
_OTHERS: Final = ("Patient", "Device", "Encounter", "Practitioner", "Organization", "Location")


def thresholds_of(bundle: Mapping[str, Any]) -> tuple[list[tuple[str, Record]], list[str]]:
    """Return thresholds with their places, and what was passed over.

    `ValueError` if an entry is none that is read, or its code and its name are of two thresholds.
    """
    found: list[tuple[str, Record]] = []
    passed_over: list[str] = []
    entries = bundle.get("entry")
    for number, entry in enumerate(entries if isinstance(entries, list) else [], start=1):
        place = f"entry {number}"
        try:
            for record in _of_resource(entry["resource"]):
                if isinstance(record, str):
                    passed_over.append(f"{place}: {record}")
                else:
                    found.append((place, record))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(
                f", {place}: is no observation that is read: {error} is missing or of another kind"
            ) from None
        except ValueError as error:
            raise ValueError(f", {place}: {error}") from None
    _name_sessions([record for _, record in found])
    return found, passed_over


def _of_resource(resource: Record) -> Iterator[Record | str]:
    """Yield the thresholds of a resource; in words, what of it is passed over."""
    if resource["resourceType"] != "Observation":
        if resource["resourceType"] not in _OTHERS:
            yield f"a {resource['resourceType']} is no observation"
        return
    place, name = _place_of(resource["code"]), _name_of(resource["code"])
    if place is None and resource.get("component"):
        for part in resource["component"]:
            at, name = _place_of(part["code"]), _name_of(part["code"])
            yield f"{name} is no threshold" if at is None else _record({**resource, **part}, at)
    elif place is None and "hasMember" not in resource:
        yield f"{name} is no threshold"
    elif place is not None:
        absent = resource.get("dataAbsentReason", {}).get("coding") or [{}]
        method = resource.get("method", {}).get("text", METHOD if "method" not in resource else "")
        if method != METHOD and absent[0].get("code") != _NOT_ASKED:
            yield f"{name} was found by another method, {show(method)}"
        else:
            yield _record(resource, place)


def _place_of(code: Record) -> tuple[str, int] | None:
    """Return the ear and the frequency that codes of LOINC and our names say; None: none."""
    ours = [each for each in code.get("coding", []) if each.get("system") == LOINC]
    texts = [code.get("text", ""), *(each.get("display", "") for each in ours)]
    named = [match for match in map(_OF_EAR.search, texts) if match]
    places = {_PLACES[each["code"]] for each in ours if each.get("code") in _PLACES} | {
        (f"{match[2]}{_KINDS.get(match[1], '')}{'-bone' if match[3] else ''}", int(match[4]))
        for match in named
    }
    if len(places) > 1:
        told = " and ".join(f"{ear} {hertz} Hz" for ear, hertz in sorted(places))
        raise ValueError(f"its code and its name are of {told}; allowed is the same threshold")
    return next(iter(places), None)


def _name_of(code: Record) -> str:
    coding = code.get("coding") or [{}]
    return show(code.get("text") or coding[0].get("display") or coding[0].get("code"))


def _record(resource: Record, place: tuple[str, int]) -> Record | str:
    value = resource.get("valueQuantity") or {}
    if resource.get("status") in _WITHDRAWN and value:
        return f"{_name_of(resource['code'])} is withdrawn, {resource['status']}"
    sign, level = value.get("comparator", ""), cell_of(value.get("value"))
    if sign in (">=", "<"):
        raise KeyError(f"a threshold with comparator {sign}")
    words = [note.get("text", "") for note in resource.get("note", [])]
    subject = resource.get("subject", {})
    visit = resource.get("encounter", {}).get("reference", "")
    visit = visit or resource.get("effectivePeriod", {}).get("start", "")
    time = resource.get("effectiveDateTime", "")
    return {
        "identifier": str(
            subject.get("identifier", {}).get("value") or subject.get("reference", "")
        ),
        "journal": str(visit or time),
        "day": "" if visit else time[:10],
        "ear": place[0],
        "frequency_hz": place[1],
        "threshold_db_hl": f">{level}" if sign == ">" else level,
        "level_unit": str(value.get("unit", "")),
        "threshold_convention": "50 %" * any("threshold convention 50 %" in w for w in words),
        "verdict": "doubtful"
        * any(w.startswith(("doubtful", "could not be tested")) for w in words),
    }


def _name_sessions(records: Sequence[Record]) -> None:
    """Name the times of a day by the day, where what a person has then is one test together."""
    days: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        days.setdefault((record["identifier"], record.pop("day")), []).append(record)
    for (_, day), those in days.items():
        places = Counter((record["ear"], record["frequency_hz"]) for record in those)
        times = {record["journal"] for record in those}
        if day and len(times) > 1 and max(places.values()) == 1:
            for record in those:
                record["journal"] = day
    tests: dict[str, set[str]] = {}
    for record in records:
        if not record["ear"].endswith(DISCOMFORT):
            tests.setdefault(record["identifier"], set()).add(record["journal"])
    for record in records:  # a level of discomfort of another day goes with the only test there is
        if record["ear"].endswith(DISCOMFORT) and len(tests.get(record["identifier"], ())) == 1:
            (record["journal"],) = tests[record["identifier"]]
