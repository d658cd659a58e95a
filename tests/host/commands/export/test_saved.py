"""A document that was saved gives what its journals give, in every format; else it is refused."""

import csv
import io
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from firmware_py.findings.result_json import WHOLE
from firmware_py.journal import read_journal
from firmware_py.terms.record_checks import ResultError
from host_tools.commands.export.document_session import JSON_FORMAT, Sessions, whole_as_one
from host_tools.commands.export.examination import read_examination
from host_tools.commands.export.formats import FORMATS, GDT
from host_tools.commands.export.saved import read_document
from host_tools.commands.export.schema import ABOUT, CHECKS, check_session, schema_text
from host_tools.errors import HostError
from tests.host.commands.export.promises import FORMS
from tests.host.commands.export.sessions import SILENT
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, GpPta, write_again

pytestmark = pytest.mark.usefixtures("cache")
Way = tuple[str | int, ...]
SOME: Final = (BOTH, GOLDEN / "bone.journal", SILENT, LEFT_S2)


def document_of(*journals: Path) -> dict[str, Any]:
    sessions = [read_examination(path).in_document().record for path in journals]
    document: dict[str, Any] = json.loads(json.dumps({"format": JSON_FORMAT, "sessions": sessions}))
    return document


def save(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def change(document: dict[str, Any], way: Way, value: object) -> None:
    inner = document["sessions"][0]
    for key in way[:-1]:
        inner = inner[key]
    inner[way[-1]] = {**inner[way[-1]], **value} if isinstance(value, dict) else value


# What it gives


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("written", [lambda record: record, whole_as_one], ids=["host", "browser"])
def test_a_document_gives_what_its_journals_give_in_every_format(
    tmp_path: Path, gp_pta: GpPta, name: str, written: Callable[[Any], Any]
) -> None:
    form = FORMS[name].options
    some = SOME[:1] if form[1] == GDT else SOME  # of nobody named GDT has one
    saved = save(tmp_path / "saved.json", written(document_of(*some)))
    contents = []
    ending = FORMATS[form[1]].ending
    for number, sources in enumerate((some, [saved])):
        out = tmp_path / f"{number}{ending}"
        assert gp_pta("export", *sources, "-o", out, *form) == (0, "", "")
        contents.append(out.read_bytes())
    if form[1] == "json":
        contents = [whole_as_one(json.loads(each)) for each in contents]
    assert contents[0] == contents[1]


def test_documents_stand_beside_journals_in_the_order_of_the_command(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    saved = save(tmp_path / "saved.json", document_of(SILENT, GOLDEN / "bone.journal"))
    code, out, err = gp_pta("export", LEFT_S2, saved, BOTH, "--format", "json")
    named = [each["journal"] for each in json.loads(out)["sessions"]]
    assert (code, err) == (0, "")
    assert named == [LEFT_S2.name, SILENT.name, "bone.journal", BOTH.name]


def test_an_unfinished_session_is_left_out_unless_it_is_asked_for(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    half, saved = tmp_path / "half.journal", tmp_path / "saved.json"
    half.write_bytes(BOTH.read_bytes()[:30_000])
    assert gp_pta("export", half, "-o", saved, "--unfinished") == (0, "", "")
    code, out, err = gp_pta("export", saved, SILENT, "--format", "json")
    assert (code, len(json.loads(out)["sessions"])) == (1, 1)
    assert err == (
        f"left out: {saved}: sessions[0]: it was not finished, so it has no result; --unfinished "
        "exports what is known\n"
    )
    code, out, err = gp_pta("export", saved, "--format", "json", "--unfinished")
    assert (code, out, err) == (0, saved.read_text(), "")


def test_a_session_in_a_journal_and_in_a_document_is_there_once_and_named(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    journal = tmp_path / "session-000007.journal"
    header, *records = read_journal(SILENT).records
    for device in ("box-1", ""):
        journal.unlink(missing_ok=True)
        write_again(journal, {**header, "device": device, "session": 7}, records)
        record = document_of(journal)
        saved = save(tmp_path / "a.json", record), save(tmp_path / "b.json", whole_as_one(record))
        for before, after in ((saved[0], journal), (journal, saved[0])):
            code, out, err = gp_pta("export", before, after, saved[1], "--format", "json")
            assert (code, len(json.loads(out)["sessions"])) == (0, 1)
            assert err == "".join(
                f"left out: {each}: sessions[0] is a copy of {journal}\n" for each in saved
            )
    record["sessions"][0]["device"] = "box-1"
    record["sessions"][0]["ears"][0]["tones"] += 1
    journal.unlink()
    write_again(journal, {**header, "device": "box-1", "session": 7}, records)
    code, out, err = gp_pta("export", journal, save(saved[0], record), "--format", "json")
    assert (code, len(json.loads(out)["sessions"])) == (0, 2)
    assert err.endswith(
        "both say that they are session 7 of device box-1, and differ: both are in\n"
    )


def test_another_convention_is_refused_and_its_own_is_not(tmp_path: Path, gp_pta: GpPta) -> None:
    saved = save(tmp_path / "saved.json", document_of(BOTH))
    assert gp_pta("export", saved, "--format", "csv", "--convention", "50")[0] == 0
    code, _, err = gp_pta("export", saved, "--format", "csv", "--convention", "clinical")
    assert code == 2
    assert "sessions[0]: its thresholds are '50 %'; allowed is --convention 50: only" in err


# What is refused

_THRESHOLD: Final[Way] = ("ears", 0, "thresholds", 3)
_NO_NUMBERS: Final = dict.fromkeys(("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl"))
WRONG: Final[dict[str, tuple[Way, Any, str]]] = {
    "no outcome": (("outcome",), "", "session.outcome is ''; allowed has at least 1 characters"),
    "no level": ((*_THRESHOLD, "threshold_db_hl"), None, "threshold_db_hl is None; allowed is num"),
    "a level beside": (_THRESHOLD, {"inferred": {"db_hl": 30.0}}, "inferred has no 'sd_db'"),
    "another mark": ((*_THRESHOLD, "mark"), "inferred", "; allowed is null"),
    "a mark that runs": (_THRESHOLD, {**_NO_NUMBERS, "mark": "=1+1"}, "mark is '=1+1'; allowed"),
    "a text of an outcome": (("ears", 0, "outcome"), "=1+1", "outcome is '=1+1'; allowed are meas"),
    "an escape": (("firmware",), "a\x1b[2J", "session.firmware is 'a\\x1b[2J'; allowed is a text"),
    "a name": (("\x1b",), 1, "a name in session is '\\x1b'; allowed is a text that can be printed"),
    "an identifier": (("person", "identifier"), "=1+1", "identifier is '=1+1'; allowed are "),
    "an age": (("person", "age_years"), 200, "age_years is 200; allowed are numbers"),
    "a start": (("started",), "today", "started is 'today'; allowed is a time with its zone"),
    "an end": (("ended",), "today", "ended is 'today'; allowed is a time with its zone"),
    "no session": (("session",), None, "session is None; allowed are whole numbers from 1 to"),
    "a conduct": (("settings", "conduct"), "=1", "settings.conduct is '=1'; allowed are brisk, "),
    "no settings": (("settings",), None, "settings.conduct is None; allowed are brisk, "),
    "a state": (("calibration", "state"), "GOOD", "state is 'GOOD'; allowed are CALIBRATED, OVER"),
    "another state": (("calibration", "state"), "UNCALIBRATED", "allowed is null without a valid"),
    "no calibration": (("calibration",), None, "session.calibration is None; allowed is object"),
    "an ear": (("ears", 0, "ear"), "both", "ears[0].ear is 'both'; allowed are left, right"),
    "ears": (("ears",), "left", "session.ears is 'left'; allowed is array"),
    "a frequency": ((*_THRESHOLD, "frequency_hz"), 1001, "frequency_hz is 1001; allowed are 250, "),
    "a text of a level": ((*_THRESHOLD, "threshold_db_hl"), "40", "threshold_db_hl is '40'; allow"),
    "a huge level": ((*_THRESHOLD, "low_db_hl"), -(10**400), "low_db_hl is -1000000"),
    "a band": (_THRESHOLD, {"low_db_hl": 50.0, "high_db_hl": 9.0}, "allowed is low_db_hl, 50, and"),
    "another reading": ((*_THRESHOLD, "reading", "level_db_hl"), 3.0, "level_db_hl is 3.0; allow"),
    "another kind": ((*_THRESHOLD, "reading", "kind"), "above", "reading.kind is 'above'; allowed"),
    "nobody's levels": (("ears", 0, "verdict"), "could-not-be-tested", "an ear has levels, and"),
    "another verdict": (("verdict",), "doubtful", "verdict is 'doubtful'; allowed is valid"),
    "a mean in doubt": (("ears", 0, "may_conclude"), False, "may_conclude is False; allowed is T"),
    "tones": (("ears", 0, "tones"), -1, "ears[0].tones is -1; allowed are numbers from 0 on"),
    "true tones": (("ears", 0, "tones"), True, "ears[0].tones is True; allowed is integer"),
    "a reason": (("remarks",), [{"code": "won"}], "remarks[0].code is 'won'; allowed are the "),
    "shares": (("ears", 0, "pta4", "grades", "mild"), 2.0, "grades.mild is 2.0; allowed are numbe"),
}  # fmt: skip


@pytest.mark.usefixtures("as_if_calibrated")
@pytest.mark.parametrize("name", WRONG)
def test_what_no_session_can_have_is_named_and_the_others_are_written(
    tmp_path: Path, gp_pta: GpPta, name: str
) -> None:
    way, value, words = WRONG[name]
    document = document_of(BOTH, SILENT)
    change(document, way, value)
    saved = save(tmp_path / "saved.json", document)
    code, out, err = gp_pta("export", saved, "--format", "json")

    assert (code, [each["journal"] for each in json.loads(out)["sessions"]]) == (1, [SILENT.name])
    assert err.startswith(f"left out: {saved}: sessions[0]: ")
    assert words in err
    assert err.count("\n") == 1
    del document["sessions"][1]
    assert gp_pta("export", save(saved, document), "--format", "csv")[0] == 6


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Dear sirs,", "it is no JSON: "),
        ("[" * 100_000, "it is no JSON: "),
        ("[]", "format is None; allowed is 'gp-pta sessions 1'"),
        ('{"resourceType": "Bundle"}', "format is None; allowed is 'gp-pta sessions 1'"),
        ('{"format": "gp-pta sessions 2", "sessions": []}', "format is 'gp-pta sessions 2'; allow"),
        ('{"format": "gp-pta sessions 1"}', "sessions is None; allowed is a list of at least 1"),
        ('{"format": "gp-pta sessions 1", "sessions": [7]}', "sessions[0]: session is 7; allowed"),
    ],
)
def test_what_is_no_document_of_this_version_is_refused_by_name(
    tmp_path: Path, gp_pta: GpPta, content: str, words: str
) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(content)
    code, out, err = gp_pta("export", saved, "--format", "csv")
    assert code in (2, 6)
    assert out == ""
    assert words in err


def test_a_document_that_is_too_long_is_refused_unread(tmp_path: Path, gp_pta: GpPta) -> None:
    saved = tmp_path / "saved.json"
    with saved.open("wb") as file:
        file.truncate(1 << 40)
    code, _, err = gp_pta("export", saved, "--format", "csv")
    assert (code, err) == (2, f"gp-pta: {saved}: cannot be read: is longer than 67108864 bytes\n")


@pytest.mark.parametrize(
    "way",
    [("which_ear",), ("calibration", "digest"), ("ears", 0, "boards"), (*_THRESHOLD, "reading")],
)
def test_a_document_of_before_lacks_a_property_and_its_journal_has_it(
    tmp_path: Path, gp_pta: GpPta, way: Way
) -> None:
    document = document_of(BOTH)
    inner = document["sessions"][0]
    for key in way[:-1]:
        inner = inner[key]
    del inner[way[-1]]
    code, _, err = gp_pta("export", save(tmp_path / "saved.json", document), "--format", "csv")
    assert code == 6
    assert f"has no {way[-1]!r}: an earlier version saved it" in err


@pytest.mark.parametrize("name", FORMS)
def test_a_document_of_before_has_no_band_of_the_whole(
    tmp_path: Path, gp_pta: GpPta, name: str
) -> None:
    document = document_of(BOTH)
    for ear in document["sessions"][0]["ears"]:
        for found in (ear["pta4"], *(each["reading"] for each in ear["thresholds"])):
            for each in WHOLE:
                del found[each]
    form = FORMS[name].options
    saved, out = save(tmp_path / "saved.json", document), tmp_path / f"out{FORMATS[form[1]].ending}"
    told = gp_pta("export", saved, "-o", out, *form)
    assert told == (0, "", "")
    assert b"uncertainty" not in out.read_bytes()


# The schema


def keywords_of(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return {word for each in schema for word in keywords_of(each)}
    if not isinstance(schema, dict):
        return set()
    named = ("properties", "$defs")
    inner = [each for name in named for each in schema.get(name, {}).values()]
    inner += [each for name, each in schema.items() if name not in (*named, "const", "enum")]
    return {*schema, *keywords_of(inner)}


def test_every_keyword_of_the_schema_is_checked() -> None:
    assert keywords_of(json.loads(schema_text())) == {*CHECKS, *ABOUT}


def test_the_schema_is_kept_as_others_read_it() -> None:
    """Of each name in a session one value is once left out, and once another thing."""
    others = jsonschema.Draft202012Validator(
        {"$defs": json.loads(schema_text())["$defs"], "$ref": "#/$defs/session"}
    )
    instead: Iterator[Any] = itertools.cycle([None, True, -1, 1.5, "", "x", [], {}, [{}]])
    count = 0
    for inner, last in places_in(session := short_session()):
        for gone in (False, True):
            before = inner.pop(last) if gone else inner[last]
            if not gone:
                inner[last] = next(instead)
            assert is_allowed(session) == others.is_valid(session), (last, gone)
            count += not is_allowed(session)
            inner[last] = before
    assert count > 100


def test_whatever_stands_in_a_document_is_refused_or_can_be_written_and_does_not_run(
    tmp_path: Path,
) -> None:
    instead: Iterator[Any] = itertools.cycle([None, -1, "=1+1", [], "inferred", {}, 1e300, [7]])
    counts = {True: 0, False: 0}
    session = short_session()
    for inner, last in [*places_in(session), *places_in(session)]:
        before, inner[last] = inner[last], next(instead)
        path = save(tmp_path / "saved.json", {"format": JSON_FORMAT, "sessions": [session]})
        (record,) = read_document(path)
        counts[isinstance(record, HostError)] += 1
        sessions = [] if isinstance(record, HostError) else [record]
        for name, form in FORMS.items() if sessions else ():
            content = b"".join(form.encode(Sessions(sessions, sessions[0].routes)))
            if form.options[1] == "csv":
                cells = (cell for row in csv.reader(io.StringIO(content.decode())) for cell in row)
                assert [cell for cell in cells if cell.startswith("=")] == [], (name, last)
        inner[last] = before
    assert min(counts.values()) > 50


def short_session() -> dict[str, Any]:
    """Return a session by air and by bone with few thresholds."""
    session: dict[str, Any] = document_of(GOLDEN / "bone.journal")["sessions"][0]
    for ear in session["ears"]:
        del ear["thresholds"][2:]
    for of_ear in session["air_bone_gaps"]:
        del of_ear["gaps"][1:]
    return session


def places_in(session: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Return an object and a name in it for each name that there is, wherever it stands first."""
    first: dict[tuple[str, ...], tuple[dict[str, Any], str]] = {}
    for *way, last in ways_of(session):
        inner: Any = session
        for key in way:
            inner = inner[key]
        if isinstance(inner, dict) and isinstance(last, str):
            names = tuple(key for key in (*way, last) if isinstance(key, str))
            first.setdefault(names, (inner, last))
    return [*first.values()]


def ways_of(value: Any) -> list[Way]:
    inner = list(value.items()) if isinstance(value, dict) else []
    inner = [*enumerate(value)] if isinstance(value, list) else inner
    return [way for key, each in inner for way in ((key,), *((key, *w) for w in ways_of(each)))]


def is_allowed(session: Any) -> bool:
    try:
        check_session("session", session)
    except ResultError:
        return False
    return True
