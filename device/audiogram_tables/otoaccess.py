"""XML of Interacoustics: what OtoAccess and the Diagnostic Suite export of tone audiometry.

The three forms that are read are those of public readers: ``SaData`` (Tone, Earside,
ConductionTypes, TonePoint), ``LocalSession`` (SignalOutput1, TonePoint), and ``TAudioSession`` of
Noah's (MeasCond, TTonePoint, tenths of a dB). No file of a real audiometer was at hand.

A document type is refused before anything of it is read, for only there are entities declared: so
there is none to expand, and none to fetch.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from device.audiogram_tables.places import DISCOMFORT
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT

Record = dict[str, Any]

BYTES_MAX: Final = 8 << 20  # a session has some 100 kB
DEPTH_MAX: Final = 64
POINTS: Final = {"TonePoint": 1.0, "TTonePoint": 0.1}  # and how many dB its numbers count
PEOPLE: Final = ("Patient", "Client")
TESTS: Final = ("Test", "Action")
CONDITIONS: Final = ("MeasCond", "MeasurementConditions")
ROUTES: Final = {"ac": AIR, "ip": AIR, "bc": BONE, DISCOMFORT: DISCOMFORT}
SIDES: Final = {"right": RIGHT, "left": LEFT, "r": RIGHT, "l": LEFT}
BLANK: Final = -2147483648  # no number
# What a status says of a level, without blanks and case.
HEARD: Final = ("heard", "normal")
SILENT: Final = ("notheard", "noresponse")
UNTRIED: Final = ("nottested", "none")
_CURVES: Final = re.compile(r"T?Tone([A-Z]{2,4})Audiogram")
_OUTPUT: Final = re.compile(r"(?:so_)?(AC|IP|BC)(R|L)")
_NUMBER: Final = re.compile(r"-?\d{1,10}(?:\.\d+)?")
# A level of a point, the status beside it, and how it was found; the last that is there counts.
LEVELS: Final = (
    ("Intensity1", "Status1", ""), ("IntensityUT", "StatusUT", ""),
    ("IntensityMT", "StatusMT", "masked"),
)  # fmt: skip


class XmlError(ValueError):
    """XML that is not read; the message says why."""


@dataclass(frozen=True)
class _Place:
    """What is known of a point by what stands around it."""

    where: str = ""
    person: str = ""
    sex: str = ""
    session: str = ""
    test: int = 0
    kind: str = "THR"
    route: str | None = None  # None: it is not told, or of no threshold
    side: str = ""


def thresholds_of(content: bytes) -> tuple[list[tuple[str, Record]], list[str]]:
    """Return thresholds with their places, and what was passed over; `XmlError` if it is none."""
    passed_over: list[str] = []
    found = [*_below(_tree(content), _Place(), passed_over)]
    _name_tests([record for _, record in found])
    return found, passed_over


def _name_tests(records: Sequence[Record]) -> None:
    """Tell the tests of a session apart where they are not one together: something comes twice."""
    sessions: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        sessions.setdefault((record["identifier"], record["journal"]), []).append(record)
    for those in sessions.values():
        places = Counter((record["ear"], record["frequency_hz"]) for record in those)
        for record in those:
            test = record.pop("test")
            if max(places.values()) > 1 and test > 1:
                record["journal"] += f" test {test}"


def _tree(content: bytes) -> Element:
    if len(content) > BYTES_MAX:
        raise XmlError(f"it has {len(content):,} bytes; allowed are {BYTES_MAX:,}")
    builder, parser, depth = TreeBuilder(), expat.ParserCreate(namespace_separator="}"), 0

    def refuse(*_: object) -> None:
        raise XmlError(
            "it has a document type (<!DOCTYPE>), which may have entities; allowed is none"
        )

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEPTH_MAX:
            raise XmlError(f"it is nested deeper than {DEPTH_MAX} elements")
        builder.start(_local(name), {_local(n): text for n, text in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(name))

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(content, True)
    except XmlError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # or an encoding that is none
        raise XmlError(str(error)) from None
    return builder.close()


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _facts(element: Element) -> dict[str, str]:
    """Return what an element says of itself: its attributes, and its children that are texts."""
    texts = {child.tag: (child.text or "").strip() for child in element if not len(child)}
    return {**element.attrib, **texts}


def _below(element: Element, place: _Place, passed_over: list[str]) -> Iterator[tuple[str, Record]]:
    place = _narrowed(element, place)
    tests = 0
    for child in element:
        if child.tag in POINTS:
            yield from _point(child, place, passed_over)
            continue
        inner = place
        if child.tag in TESTS:
            tests += 1
            facts = _facts(child)
            name = facts.get("TestName") or facts.get("ActionType") or f"{child.tag} {tests}"
            inner = replace(place, test=tests, where=f"{place.where} {name}".strip())
            if not any(True for tag in POINTS for _ in child.iter(tag)):
                passed_over.append(f"{inner.where} has no tones")
        yield from _below(child, inner, passed_over)


def _narrowed(element: Element, place: _Place) -> _Place:
    """Return what is known below an element."""
    facts = _facts(element)
    around = [element, *element, *(each for child in element.findall("Actors") for each in child)]
    if people := [_person(_facts(each)) for each in around if each.tag in PEOPLE]:
        if len(named := {name: None for name, _ in people if name}) > 1:
            told = " and ".join(map(show, named))
            raise XmlError(f"{told} stand beside one another in <{element.tag}>; allowed is one")
        person, sex = next((each for each in people if each[0]), people[0])
        place = replace(place, person=person, sex=sex)
    if element.tag == "Session":
        day = next((text for name, text in facts.items() if name.endswith("Date") and text), "")
        place = replace(place, session=day, where=f"session {day}".strip())
    if curve := _CURVES.fullmatch(element.tag):
        place = replace(place, kind=curve[1])
    for child in element:
        if child.tag in CONDITIONS:
            output = _facts(child).get("SignalOutput1", "")
            at = _OUTPUT.fullmatch(output)
            place = replace(
                place, where=f"{place.where} {output}".strip(),
                route=ROUTES[at[1].lower()] if at else None,
                side=SIDES[at[2].lower()] if at else "",
            )  # fmt: skip
    if "Earside" in facts:
        side, conduction = facts["Earside"], facts.get("ConductionTypes", "")
        words = {text.casefold() for text in facts.values()}
        place = replace(
            place, where=f"{place.where} {side} {conduction}".strip(),
            route=ROUTES.get(conduction.casefold()), side=SIDES.get(side.casefold(), ""),
            kind=next((kind for kind in ("UCL", "MCL") if kind.casefold() in words), place.kind),
        )  # fmt: skip
    return place


def _person(facts: Mapping[str, str]) -> tuple[str, str]:
    names = (facts.get(name, "") for name in ("FirstName", "LastName"))
    known = (facts.get(name, "") for name in ("Id", "PatientId", "PersonId", "Number"))
    sexes = {"female": "F", "male": "M"}
    person = next(filter(None, known), "") or " ".join(filter(None, names))
    return person, sexes.get(facts.get("Gender", "").casefold(), "")


def _point(point: Element, place: _Place, passed_over: list[str]) -> Iterator[tuple[str, Record]]:
    facts = _facts(point)
    frequency = _number(
        facts.get("Freq1") or facts.get("Frequency") or "", place.where, "frequency"
    )
    if not frequency:
        return
    where = f"{place.where}, {frequency:g} Hz"
    route = DISCOMFORT if place.kind == "UCL" else place.route
    if route is None or not place.side or place.kind not in ("THR", "UCL"):
        told = f"{where} is no threshold of an ear by air or bone"
        if told not in passed_over:
            passed_over.append(told)
        return
    known = [
        (how, cell)
        for level, status, how in LEVELS
        if (cell := _cell(facts, level, status, where, POINTS[point.tag])) is not None
    ]
    if not known:
        return
    passed_over += [f"{where}: without masking {cell}, for it was masked" for _, cell in known[:-1]]
    yield where, {
        "identifier": place.person, "sex": place.sex,
        "journal": place.session, "test": place.test,
        "ear": place.side if route == AIR else f"{place.side}-{route}",
        "frequency_hz": frequency,
        "threshold_db_hl": known[-1][1],
    }  # fmt: skip


def _cell(
    facts: Mapping[str, str], name: str, status: str, where: str, unit_db: float
) -> str | None:
    """Return a level as a cell of a table, `>` before it where nothing was heard; None: unknown."""
    level = _number(facts.get(name, ""), where, name)
    told = "".join(facts.get(status, HEARD[0]).casefold().split()).removeprefix("ps_")
    if level is None or level == BLANK or told in UNTRIED:
        return None
    if told not in (*HEARD, *SILENT):
        allowed = "Heard, Normal, NotHeard, NoResponse, NotTested and None"
        raise XmlError(f"{where}: {status} is {show(facts[status])}; allowed are {allowed}")
    return f"{'>' * (told in SILENT)}{level * unit_db:g}"


def _number(text: str, where: str, name: str) -> float | None:
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise XmlError(f"{where}: {name} is {show(text)}; allowed is a number")
    return float(text)
