"""What every form says: all rows of a paper, which ear is which, unset clocks, nominal levels."""

import argparse
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.listener import EARS, Tone
from firmware_py.journal import read_journal
from firmware_py.operator.replies import pairs
from firmware_py.paper.blocks import Paper
from firmware_py.platform.clock import YEAR_MIN, was_clock_set
from firmware_py.terms.outcomes import WhichEar
from firmware_py.terms.person import Person
from firmware_py.terms.reasons import Code, as_json, reason
from host_tools.catalogue import ENGLISH, LANGUAGES, catalogue_of, language_of
from host_tools.commands.export.bundle import NO_CLOCK
from host_tools.commands.export.examination import read_examination
from host_tools.commands.prescribe.from_session import Waived, source_of_session
from host_tools.commands.prescribe.paper import Sheet
from host_tools.commands.prescribe.prescription import Prescription
from host_tools.commands.replay.what_if import Comparison, Supposition
from host_tools.devices.simulation import add_board_arguments, listener_of
from host_tools.papers import Shown as InLanguage
from host_tools.papers.html import sections_as_html
from host_tools.recordings.heading import Heading, read_heading
from host_tools.recordings.recorded_session import (
    RecordedSession,
    ReplayedSession,
    read_session,
    replay_session,
)
from tests.budget import quick
from tests.host.commands.export.promises import FORMS, leaves_of
from tests.host.commands.export.sessions import write
from tests.host.commands.page.in_javascript import run, words
from tests.host.commands.report.test_bone import conductive
from tests.host.journals import BOTH, LEFT_S2, MASKED, GpPta, on_day, session_of, write_again
from tests.host.judged import DIFFERENT, a_session
from tests.host.renderers import PAPERS, RENDERERS, Shown
from tests.host.reports import facts, report_of

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once

UNSURE = (WhichEar.NOT_CONFIRMED, WhichEar.CONTRADICTED)


def confirmed(found: WhichEar, path: Path = BOTH) -> ReplayedSession:
    session = session_of(path)
    return replace(session, recorded=replace(session.result, which_ear=found))


@pytest.mark.parametrize("found", WhichEar)
def test_the_paper_says_it(found: WhichEar) -> None:
    told = facts(report_of(confirmed(found)).paper)
    assert told["fact-which-ear"] == {"code": f"which-ear-{found}"}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Shown]:
    """Return a session for each thing that may be found, and its journal."""
    header, *records = read_journal(BOTH).records
    (result,) = (r["action"]["result"] for r in records if "result" in r.get("action", {}))
    remarks, found = result["remarks"], []
    for which in WhichEar:
        doubt = [reason(Code.EARS_NOT_CONFIRMED)] if which in UNSURE else []
        result |= {"which_ear": which, "remarks": [*remarks, *as_json(doubt)]}
        path = tmp_path_factory.mktemp(which) / BOTH.name
        write_again(path, header, records)
        of = confirmed(which)
        recorded = replace(of.result, remarks=(*of.result.remarks, *doubt))
        found.append(Shown(replace(of, recorded=recorded), path))
    return found


@pytest.mark.parametrize("name", RENDERERS)
def test_every_page_paper_and_answer_says_it_or_that_it_was_not_confirmed(
    sessions: list[Shown], name: str
) -> None:
    said = [RENDERERS[name](each) for each in sessions]
    by_remark = name == "live"  # a screen shows the remark alone
    assert len({*said}) == (2 if by_remark else len(WhichEar))
    assert said[0] != said[2], "it is told where it was not confirmed"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_own_words_for_each(language: str) -> None:
    said = language_of(language).sentences
    assert len({said[f"which-ear-{found}"] for found in WhichEar}) == len(WhichEar)


def test_a_paper_of_one_ear_says_nothing_of_it() -> None:
    assert "fact-which-ear" not in facts(report_of(session_of(LEFT_S2)).paper)


@pytest.mark.parametrize(("way", "swapped"), [("right", False), ("swapped", True)])
def test_a_simulated_listener_may_wear_the_earphones_the_wrong_way_round(
    way: str, swapped: bool
) -> None:
    parser = argparse.ArgumentParser()
    add_board_arguments(parser)
    listener = listener_of(parser.parse_args(["--audiogram", "N1,N7", "--earphones", way]))

    heard = {ear: listener.answer(Tone("1", ear, 1000.0, 40.0)) is not None for ear in EARS}
    assert heard == {"right": not swapped, "left": swapped}


UNSET: Final = "1970-01-01"
NAME: Final = "session-000001.journal"


@pytest.fixture
def journal(tmp_path: Path, cache: Path) -> Path:
    header, *records = read_journal(LEFT_S2).records
    path = tmp_path / NAME
    write_again(path, on_day(header, UNSET), records)
    return path


def test_an_early_date_is_of_a_clock_that_was_never_set() -> None:
    was_set = {
        "1970-01-01T00:00:05+00:00": False, f"{YEAR_MIN - 1}-12-31T23:59:59+00:00": False,
        f"{YEAR_MIN}-01-01T00:00:00+00:00": True, "": False, "yesterday": False,
    }  # fmt: skip
    assert {time: was_clock_set(time) for time in was_set} == was_set
    said = run("words.js", "return given.times.map(wasClockSet);", times=[*was_set])
    assert said == [*was_set.values()], "so does the page"


def test_a_list_says_it(journal: Path, gp_pta: GpPta) -> None:
    _, out, _ = gp_pta("sessions", journal.parent)
    (line,) = [line for line in out.splitlines() if NAME in line]
    assert line.endswith("clock was not set")


@pytest.mark.parametrize("language", LANGUAGES)
def test_paper_says_it_and_no_age(journal: Path, language: str, tmp_path: Path) -> None:
    (tmp_path / "heading.toml").write_text("birth_date = 1957-03-08")
    heading, said = read_heading(tmp_path / "heading.toml"), catalogue_of(language)
    report = report_of(read_session(journal), language, heading=heading)
    told, unset = facts(report.paper), said.say("people", "clock_not_set")
    assert report.shown.say(told["fact-tested"]).endswith(f"({unset})")
    assert report.shown.say(report.paper["title"]).endswith(f"({unset})")
    assert "fact-age-sex" not in told
    assert heading.age_years("2026-03-08T09:30:00+00:00") == 69


def test_a_birth_date_is_not_held_to_a_date_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "heading.toml"
    path.write_text("birth_date = 1990-03-08")
    heading: Heading = read_heading(path)
    heading.check(path, Person(36.0), f"{UNSET}T09:30:00+00:00")  # it lies after the date


def of_fhir(out: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the observations of a bundle, and the notes of its panel."""
    _, *found = [entry["resource"] for entry in json.loads(out)["entry"]]
    (panel,) = [each for each in found if "hasMember" in each]
    return found, [note["text"] for note in panel["note"]]


def test_fhir_has_no_date_and_says_why(journal: Path, gp_pta: GpPta) -> None:
    observations, notes = of_fhir(gp_pta("export", journal, "--format", "fhir")[1])
    assert not any("effectiveDateTime" in each for each in observations)
    assert NO_CLOCK in notes
    observations, notes = of_fhir(gp_pta("export", LEFT_S2, "--format", "fhir")[1])
    assert all("effectiveDateTime" in each for each in observations)
    assert NO_CLOCK not in notes


PAGE: Final = """
useWords(given, "en");
return given.starts.map((started) => samePerson({ started, age_years: 64, typed: {} }).birth_year);
"""


def test_the_page_takes_no_year_of_birth_from_it() -> None:
    """An age of 64 became a birth in 1906 and, of the next test, an age of 120."""
    starts = [f"{UNSET}T09:30:00+00:00", "2026-03-08T09:30:00+00:00"]
    assert run("person.js", PAGE, starts=starts, **words()) == [None, 1962]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_tables_have_what_the_clock_said(journal: Path, form: str, gp_pta: GpPta) -> None:
    code, out, _ = gp_pta("export", journal, "--format", form)
    assert code == 0
    assert f"{UNSET}T09:30:00+00:00" in out


# Sentences of the catalogue that speak of dB HL itself, and not of a level; and those that are told
# of a calibrated device alone. All others have a unit to be filled in.
OF_DB_HL: Final = {
    "paper": (
        "state-overdue-means",
        "state-uncalibrated-means",
        "no-mean-nominal",
        "discomfort-at",
    ),
    "prescription": (
        "whom-not-judged",
        "uncalibrated-fit",
        "fit-uncalibrated",
        "discomfort-measured",
        "discomfort-nominal",
    ),
    "page": (
        "fault_calibration",
        "calibration_overdue",
        "calibration_uncalibrated",
        "error_104",
        "discomfort_note",
        "discomfort_wrong",
    ),
    "people": ("people-uncalibrated", "rules-method"),
}
CALIBRATED_ALONE: Final = {
    "picture": ("level",),
    "people": ("rules-method",),
    "paper": ("mean", "mean-at-least", "mean-at-most", "grade-below", "gap-rule"),
    "prescription": ("whom-normal", "whom-normal-doubt"),
    "remarks": ("unit-db-hl",),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_other_sentence_names_db_hl(language: str) -> None:
    named = {
        (place, key)
        for place, table in catalogue_of(language).tables.items()
        for key, sentence in table.items()
        if "dB HL" in sentence
    }
    places = (OF_DB_HL, CALIBRATED_ALONE)
    assert named == {(p, key) for each in places for p, keys in each.items() for key in keys}


def of_levels(text: str) -> str:
    """Return a text without what speaks of dB HL itself."""
    tables = catalogue_of(ENGLISH).tables
    about = [tables[place][key] for place, keys in OF_DB_HL.items() for key in keys]
    for sentence in about:
        for part in re.split(r"\{\w+\}", sentence):
            text = text.replace(part, "") if "dB HL" in part else text
    return text


def nominal_session(path: Path) -> ReplayedSession:
    """Return one without a calibration whose reasons name levels, read from its journal."""
    header, *records = read_journal(LEFT_S2).records
    (result,) = [r["action"]["result"] for r in records if "result" in r.get("action", {})]
    crosses = reason(Code.CROSSES, level_db_hl=70, ear="right", crossing_db_hl=20, cochlea_db_hl=5)
    uncertain = reason(Code.MASKING_UNCERTAIN, ear="left", frequencies_hz=[4000], why=crosses)
    beyond = reason(Code.PERHAPS_BEYOND, limit_db_hl=100, frequencies_hz=[8000])
    result["remarks"].append(uncertain.to_record())
    result["ears"][0]["why"].append(beyond.to_record())
    write_again(path, header, records)
    return replay_session(path)


def test_without_a_calibration_no_form_says_db_hl_of_a_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / LEFT_S2.name
    session = nominal_session(path)
    examination = read_examination(path)
    source = source_of_session(session, Waived(uncalibrated=True))
    made = Prescription.of(source, "nal-r", "closed", None)
    made.print([])
    shown, sheet = Shown(session, path), Sheet(session, made.ears, made.fit).paper()
    forms = {
        **{name: of_levels(render(shown)) for name, render in RENDERERS.items()},
        **{name: text_of(write(form.encode, [examination])) for name, form in FORMS.items()},
        "events": pairs({"why": session.result.remarks}),
        "ear-over": "\n".join(pairs({"why": ear.why}) for ear in session.result.ears),
        "what if": "\n".join(Comparison.of(session, Supposition(response_noise_db=4.0)).lines()),
        "prescribe": of_levels(capsys.readouterr().out),
        "fit": of_levels(sections_as_html(sheet["sections"], InLanguage())),
    }
    assert {form for form, text in forms.items() if "dB HL" in text} == set()
    for name in ("live", "AUD", "events", "page", "fhir", "paper", "fit"):
        assert (
            "70 dB (not calibrated) reaches the right ear at 20 dB (not calibrated)" in forms[name]
        ), name
    for name in ("ear-over", "fhir"):
        assert "perhaps beyond the limit of 100 dB (not calibrated)" in forms[name], name
    assert '"unit": "nominal-db"' in write(FORMS["json"].encode, [examination]).decode()


def text_of(content: bytes) -> str:
    """Return what stands in a file of an export."""
    return "\n".join(str(leaf.value) for leaf in leaves_of(content))


# What a renderer has no place for: the name of a drawing, a title of a file, what is signed, what
# an audiogram in characters has no mark of.
WITHOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "page": (),
    "paper": (),
    "text": ("title", "label", "sign", "entries"),
    "elements": ("title",),
}
HEADING: Final = Heading("", "Zoë", date(1957, 3, 8), "A. Meyer", "Room 4", "None.")
ROWS_OF: Final[dict[str, Callable[[], RecordedSession]]] = {
    "both": lambda: session_of(BOTH),
    "masked": lambda: session_of(MASKED),
    "bone": conductive,
    "judged": lambda: a_session(DIFFERENT),
}


def rows_shown(value: Any, without: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the rows that stand for themselves, and not in another one."""
    if isinstance(value, dict):
        if "code" in value:
            yield value
            return
        if value.get("block") in without:
            return
        if "block" in value or "name" in value:
            without = tuple(each for each in without if each != "title")
        value = [each for name, each in value.items() if name not in without]
    if isinstance(value, list | tuple):
        for each in value:
            yield from rows_shown(each, without)


def bare(text: str) -> str:
    """Return a text without spaces, and without what HTML and JSON make of signs."""
    text = html.unescape(re.sub(r"</?[a-z][^<>]*>", "", text))
    return re.sub(r"\s", "", text.replace('\\"', '"'))


@pytest.mark.usefixtures("as_if_calibrated")
@pytest.mark.parametrize("language", quick(LANGUAGES, "nl"))
@pytest.mark.parametrize("name", ROWS_OF)
@pytest.mark.parametrize("renderer", PAPERS)
def test_every_row_is_shown(renderer: str, name: str, language: str) -> None:
    report = report_of(ROWS_OF[name](), language, heading=HEADING)
    text = PAPERS[renderer](report)
    if renderer == "text":
        text = re.sub(r"(?m)^.*[|.].*[|.] $", "", text)  # the audiogram in characters
    shown = bare(text)
    title = {**report.paper["title"], "person": HEADING.name}
    paper: Paper = {**report.paper, "title": title}
    rows = [*rows_shown(paper, WITHOUT[renderer])]
    assert len(rows) > 50
    assert [row for row in rows if bare(report.shown.say(row)) not in shown] == []
