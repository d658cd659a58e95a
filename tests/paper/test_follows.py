"""What follows from the thresholds: mean and grade, gaps, age norm, and which convention."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.world import World
from firmware_py.findings.norms import SHOWN_SDS, AgeNorm
from firmware_py.findings.rows import share_row
from firmware_py.paper.blocks import Paper
from firmware_py.paper.conventions import convention_row
from firmware_py.paper.session_paper import paper_of
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.results import ConfirmedThreshold
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CLINICAL_ASCENDING, CONVENTIONS, FIFTY_PERCENT, Settings
from firmware_py.terms.shown_threshold import as_shown
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import BOTH, LEFT_S2, session_of
from tests.host.reports import (
    codes_in,
    facts,
    report_of,
    rows_in,
    rows_of,
    section,
    tables,
    with_ears,
    with_person,
)
from tests.paper.test_thresholds import with_thresholds

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
    assert codes_in(told) == ["pta4", "mean-beyond", "mean-at-least", "grade-complete"]
    assert told["mean"]["frequencies_hz"] == [500, 1000, 2000, 4000]
    assert told["mean"]["mean"]["level"] == 100


def test_one_ear_has_no_grade_of_the_person() -> None:
    assert grades(report_of(session_of(LEFT_S2)).paper)[-1] == {
        "code": "person-one-ear", "ear": "left",
    }  # fmt: skip


def test_frequencies_that_were_not_in_the_test_are_named(tmp_path: Path) -> None:
    world = World(tmp_path, a_listener("N2"))
    world.begin(Settings(ears="left", tones_max=20, frequency_max_hz=3000.0, retest=False))
    (told,) = grades(report_of(replay_session(world.end())).paper)
    assert told["why"] == {"code": "not-in-test", "frequencies_hz": [4000]}


def test_a_grade_of_what_the_other_ear_may_have_heard_is_a_bound() -> None:
    session = with_thresholds(
        session_of(BOTH),
        lambda _, t: replace(t, masking=MaskingMark.UNCERTAIN) if t.frequency_hz == 1000 else t,
    )
    report = report_of(session)
    right, left, person = grades(report.paper)

    for told in (right, left):
        assert "mean-at-least" in codes_in(told)
        assert told["mean"]["frequencies_hz"] == [1000]
        assert codes_in(told["grades"]) == ["grade-at-least", "grade-moderate"]
    assert codes_in(person)[:3] == ["person-grade", "grade-at-least", "grade-moderate"]
    assert tables(report.paper, "grades") == {}, "no probability is told of a bound"


def test_a_mean_of_what_was_inferred_says_so_and_so_does_the_grade() -> None:
    blank: dict[str, Any] = {"mark": Outcome.INFERRED, "masking": None, "air_bone_gap_db": None}
    session = with_thresholds(
        session_of(BOTH),
        lambda ear, t: replace(t, **blank) if (ear, t.frequency_hz) == ("left", 2000) else t,
    )
    right, left, person = map(codes_in, grades(report_of(session).paper))

    assert "mean-inferred" not in codes_in(grades(report_of(session_of(BOTH)).paper))
    assert ("mean-inferred" in left, "mean-inferred" in right) == (True, False)
    assert "person-grade-inferred" in person


def test_a_grade_that_is_no_bound_keeps_its_column_beside_one_that_is() -> None:
    """As in `gp-pta demo --audiogram N1,N7`."""
    session = with_thresholds(
        session_of(BOTH),
        lambda ear, t: replace(t, masking=MaskingMark.UNCERTAIN) if ear == "right" else t,
    )
    table = tables(report_of(session).paper, "grades")[""]
    assert table["columns"][1:2] == [{"code": "the-ear", "ear": "left"}]
    shares = [
        cells[0].get("percent") for _, cells in table["rows"] if cells[0]["code"] == "percent"
    ]
    assert sum(shares) == pytest.approx(100.0, abs=4.0)


# The convention, and what was confirmed


@cache
def a_session() -> ReplayedSession:
    """Return a session of a woman of 60, with a confirmed threshold at 1 kHz."""
    session = with_person(session_of(BOTH), Person(60.0, "F", "P-1"))
    again = (ConfirmedThreshold(1000, CONFIRMED_DB_HL, Outcome.MEASURED, 9),)
    return with_ears(session, (replace(ear, confirmed=again) for ear in session.result.ears))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_paper_says_what_thresholds_are(convention: str) -> None:
    report = report_of(a_session(), convention=convention)
    clinical = convention == CLINICAL_ASCENDING
    code = "convention-clinical-rules" if clinical else "convention-50-rules"
    told = [row for row in rows_in(report.paper) if row["code"] in (code, f"{code}-ears")]
    offset = round(report.source.ears[0].clinical_offset_db, 1)
    assert offset in [each["offset_db"] for each in rows_of(told, "offset")]
    # What was confirmed stands beside the band as a clinical threshold, which is the printed one
    # in that convention.
    (outside, _) = rows_of(report.paper, "confirmed-beside")
    assert (outside["frequency_hz"], outside["level"]) == (1000, CONFIRMED_DB_HL)
    table = tables(report.paper, "thresholds")[outside["ear"]]
    bands = dict(zip(table["columns"][1:], table["rows"][1][1], strict=True))
    assert (bands[1000] == outside["band"]) == clinical
    assert ("norm-note-50" in codes_in(report.paper)) != clinical


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


def test_grades_and_asymmetry_are_the_same_in_both_conventions() -> None:
    fifty, clinical = (report_of(a_session(), convention=each).source for each in CONVENTIONS)
    assert (fifty.convention, clinical.convention) == (FIFTY_PERCENT, CLINICAL_ASCENDING)
    assert fifty.asymmetries == clinical.asymmetries
    for below, above in zip(fifty.ears, clinical.ears, strict=True):
        offset_db = below.clinical_offset_db
        assert (fifty.below_clinical_db(below), clinical.below_clinical_db(above)) == (offset_db, 0)
        assert below.pta4 is not None
        assert above.pta4 is not None
        assert below.pta4.shares == above.pta4.shares
        assert above.pta4.level_db_hl - below.pta4.level_db_hl == pytest.approx(offset_db, abs=0.02)


# The age norm


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_norm_is_beside_each_threshold(convention: str) -> None:
    session = with_person(session_of(LEFT_S2), Person(65, "M", "P-17"))
    report, norm = report_of(session, convention=convention), AgeNorm(65, "M")
    (note,) = rows_of(report.paper, "norm-men")
    assert (note["age"], note["source"]) == (65, "ISO 7029:2017")
    (ear,) = report.source.ears
    # The norm is of clinical thresholds; beside 50 % points it stands as much lower.
    assert 2.0 < ear.clinical_offset_db < 4.0
    lower_db = ear.clinical_offset_db if convention == FIFTY_PERCENT else 0.0
    table = tables(report.paper, "norm")["left"]
    (_, usual), (_, peers) = table["rows"]
    shown = dict(zip(table["columns"][1:], zip(usual, peers, strict=True), strict=True))
    for t in ear.thresholds:
        told, share = shown[t.frequency_hz]
        assert told["level"] == round(norm.threshold_db_hl(t.frequency_hz) - lower_db)
        if t.frequency_hz > 3000:  # the spread of men of 65 is not known there
            assert (told["code"], share) == ("level", share_row(None))
            continue
        low, _, high = (norm.threshold_db_hl(t.frequency_hz, q) - lower_db for q in SHOWN_SDS)
        assert (told["low"], told["high"]) == (round(low), round(high))
        is_bound = as_shown(t).doubtful
        if t.mark == Outcome.MEASURED and t.threshold_db_hl is not None and not is_bound:
            clinical_db_hl = t.threshold_db_hl + lower_db
            assert share == share_row(norm.share_better(t.frequency_hz, clinical_db_hl))
        else:
            assert share == share_row(None)


@pytest.mark.parametrize(
    ("person", "code"),
    [(Person(), "norm-needs"), (Person(40), "norm-needs-sex"), (Person(81, "M"), "norm-age"),
     (Person(17.9, "F"), "norm-age"), (Person(None, "F"), "norm-needs-age")],
)  # fmt: skip
def test_why_there_is_no_norm_is_said(person: Person, code: str) -> None:
    paper = report_of(with_person(session_of(BOTH), person)).paper
    assert rows_of(paper, "no-norm")[0]["why"]["code"] == code
    assert tables(paper, "norm") == {}


def test_to_whom_no_person_may_be_told_no_age_norm_is() -> None:
    source = report_of(a_session()).source
    told, hidden = paper_of(source), paper_of(replace(source, locked=True))
    assert tables(told, "norm").keys() == {"right", "left"}
    assert tables(hidden, "norm") == {}
    assert rows_of(hidden, "no-norm")[0]["why"]["code"] == "norm-locked"
    assert "P-1" not in str(hidden)
    assert facts(hidden)["fact-identifier"] == {"typed": "identifier"}
    assert "no-identifier" not in codes_in(hidden)
