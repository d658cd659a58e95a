"""What follows from the thresholds: mean and grade, gaps, age norm, and which convention."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.world import World
from firmware_py.paper.blocks import Paper
from firmware_py.paper.conventions import convention_row
from firmware_py.paper.session_paper import paper_of
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.results import ConfirmedThreshold
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CLINICAL_ASCENDING, Settings
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import BOTH, session_of
from tests.host.reports import (
    codes_in,
    facts,
    report_of,
    rows_of,
    section,
    tables,
    with_ears,
    with_person,
)

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]
CONFIRMED_DB_HL: Final = 65.0  # far above the band at 1 kHz of both ears


def grades(paper: Paper) -> list[dict[str, Any]]:
    """Return the rows of means and grades: of the right ear, the left one, and the person."""
    found = section(paper, "grade")
    assert found is not None
    told = found["blocks"][0]["rows"]
    return [row["of"] if row["code"] == "remark" else row for row in told]


# Means and grades


def test_an_ear_that_hears_nothing_has_a_bound_and_no_number(deaf_ear: Path) -> None:
    told, *_ = grades(report_of(session_of(deaf_ear)).paper)
    assert codes_in(told) == [
        "pta4",
        "mean-beyond",
        "mean-at-least",
        "grade-at-least",
        "grade-profound",
    ]
    assert told["mean"]["frequencies_hz"] == [500, 1000, 2000, 4000]
    assert told["mean"]["mean"]["level"] == 100


def test_frequencies_that_were_not_in_the_test_are_named(tmp_path: Path) -> None:
    world = World(tmp_path, a_listener("N2"))
    world.begin(Settings(ears="left", tones_max=20, frequency_max_hz=3000.0, retest=False))
    (told,) = grades(report_of(replay_session(world.end())).paper)
    assert told["why"] == {"code": "not-in-test", "frequencies_hz": [4000]}


# The convention, and what was confirmed


@cache
def a_session() -> ReplayedSession:
    """Return a session of a woman of 60, with a confirmed threshold at 1 kHz."""
    session = with_person(session_of(BOTH), Person(60.0, "F", "P-1"))
    again = (ConfirmedThreshold(1000, CONFIRMED_DB_HL, Outcome.MEASURED, 9),)
    return with_ears(session, (replace(ear, confirmed=again) for ear in session.result.ears))


@pytest.mark.parametrize("by_air_too", [True, False])
def test_the_offsets_are_those_of_each_ear_by_air_if_it_was_tested(by_air_too: bool) -> None:
    session = session_of(BOTH)
    ears = enumerate(session.result.ears)
    by_air = [replace(ear, clinical_offset_db=3.0 - i) for i, ear in ears]
    others = [
        replace(ear, route=Route(ear.route.ear, "bone"), clinical_offset_db=9.0 - i)
        for i, ear in enumerate(by_air)
    ]
    source = report_of(session, convention=CLINICAL_ASCENDING).source
    result = replace(source.result, ears=(*by_air * by_air_too, *others))
    told = convention_row(replace(source, result=result))
    assert told is not None
    assert told["code"] == "convention-clinical-rules-ears"
    for each in by_air if by_air_too else others:
        assert told[each.route.ear]["offset_db"] == each.clinical_offset_db


# The age norm


@pytest.mark.parametrize(
    ("person", "code"),
    [(Person(), "norm-needs"), (Person(40), "norm-needs-sex"), (Person(81, "M"), "norm-age"),
     (Person(17.9, "F"), "norm-age"), (Person(None, "F"), "norm-needs-age")],
)  # fmt: skip
def test_why_there_is_no_norm_is_said(person: Person, code: str) -> None:
    paper = report_of(with_person(session_of(BOTH), person)).paper
    assert rows_of(paper, "no-norm")[0]["why"]["code"] == code
    assert tables(paper, "norm") == {}


def test_above_2_khz_and_70_years_the_norm_is_said_to_be_for_information() -> None:
    for age_years, codes in ((70.0, []), (71.0, ["norm-informative"])):
        paper = report_of(with_person(session_of(BOTH), Person(age_years, "M"))).paper
        source = rows_of(paper, "norm-note")[0]["people"]["source"]
        assert [code for code in codes_in(source) if code == "norm-informative"] == codes
        assert not codes or source["frequency_hz"] == 2000


def test_to_whom_no_person_may_be_told_no_age_norm_is() -> None:
    source = report_of(a_session()).source
    told, hidden = paper_of(source), paper_of(replace(source, locked=True))
    assert tables(told, "norm").keys() == {"right", "left"}
    assert tables(hidden, "norm") == {}
    assert rows_of(hidden, "no-norm")[0]["why"]["code"] == "norm-locked"
    assert "P-1" not in str(hidden)
    assert facts(hidden)["fact-identifier"] == {"typed": "identifier"}
    assert "no-identifier" not in codes_in(hidden)
