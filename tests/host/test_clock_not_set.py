"""A session whose device's clock was never set: it is told, and nothing follows from its date."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from firmware_py.board.self_check import YEAR_MIN, was_clock_set
from firmware_py.journal import read_journal
from firmware_py.terms.person import Person
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.export.bundle import NO_CLOCK
from host_tools.recordings.heading import Heading, read_heading
from host_tools.recordings.recorded_session import read_session
from tests.host.commands.page.in_javascript import run, words
from tests.host.journals import LEFT_S2, GpPta, on_day, write_again
from tests.host.reports import facts, report_of

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
