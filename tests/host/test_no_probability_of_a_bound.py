"""No form tells a probability of a bound, and each says the same of gaps that are open or absurd.

The forms are the paper of a report, what the device tells, the exports and the demo. What shows a
paper says its rows, and computes nothing.
"""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from firmware_py.findings.air_bone_gap import TYPE_HZ, LossType, gaps_of
from firmware_py.findings.convention import higher
from firmware_py.findings.result_json import result_as_json
from firmware_py.findings.whole_band import USUAL
from firmware_py.terms.outcomes import Bound, MaskingMark
from firmware_py.terms.results import EarResult, MeanThreshold, SessionResult
from firmware_py.terms.route import BONE, BY_AIR, RIGHT, Route
from host_tools.commands.export.cells import Spelling
from host_tools.commands.export.examination import Examination
from host_tools.commands.export.gaps import loss_notes
from host_tools.recordings.recorded_session import ReplayedSession
from tests.host.commands.export.sessions import (
    as_fhir,
    as_json,
    as_tidy_csv,
    by_bone_of,
    session_with_bone,
    with_vibrator,
)
from tests.host.commands.report.test_bone import conductive
from tests.host.reports import codes_in, report_of, rows_in, rows_of, section

pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]
Change = Callable[[SessionResult], SessionResult]
PERCENT: Final = re.compile(r"[<>]?\s?\d+(?:[.,]\d+)?\s%")
# Of what a band is, what a threshold is, and what a norm spans: no probability of this ear.
CONSTANT: Final = {"95 %", "50 %", "90 %"}


def _mean(level_db_hl: float, shares: tuple[float, ...]) -> MeanThreshold:
    return MeanThreshold(
        level_db_hl, level_db_hl - 8.0, None, Bound.AT_LEAST, shares, doubtful_hz=(1000,)
    )


# By the whole it is 99.8 % likely to be 50 dB HL or more.
SEVERE: Final = _mean(61.75, (0.0, 0.0, 0.002, 0.4, 0.598, 0.0, 0.0))
OPEN: Final = _mean(15.0, (0.9, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0))


def _doubt(ear: EarResult) -> EarResult:
    """Return an ear of which the other one may have heard every tone."""
    doubtful = (replace(t, masking=MaskingMark.UNCERTAIN) for t in ear.thresholds)
    return replace(ear, thresholds=tuple(doubtful))


def least(result: SessionResult, pta4: MeanThreshold = SEVERE) -> SessionResult:
    """Return a result whose gaps, thresholds by air and means are at least what they are."""
    ears = (
        replace(_doubt(ear), pta4=pta4) if ear.route.kind is BY_AIR else ear for ear in result.ears
    )
    return replace(result, ears=tuple(ears))


def either(result: SessionResult) -> SessionResult:
    """Return a result with gaps of 30 dB, if the ear itself heard the vibrator."""
    by_air = [ear for ear in result.ears if ear.route.kind is BY_AIR]
    by_bone = [_doubt(by_bone_of(ear, 30.0)) for ear in by_air]
    return replace(result, ears=(*by_air, *by_bone))


def impossible(result: SessionResult) -> SessionResult:
    """Return a result whose right ear hears 85 dB better by bone than by air."""
    ears = result.by_route
    air = ears[Route(RIGHT)]
    air = replace(air, thresholds=tuple(higher(t, 40.0) for t in air.thresholds))
    return replace(
        result,
        ears=tuple({**ears, air.route: air, Route(RIGHT, BONE): by_bone_of(air, 85.0)}.values()),
    )


def session_with(change: Change) -> ReplayedSession:
    return replace(conductive(), recorded=change(conductive().result))


def examination_with(change: Change) -> Examination:
    examination = with_vibrator(session_with_bone())
    return replace(examination, result=change(examination.result))


def of_the_device(session: ReplayedSession) -> dict[str, Any]:
    told = result_as_json(session.result, session.settings, uncertainty=USUAL)
    found: dict[str, Any] = json.loads(json.dumps({**told, "nominal": False}))
    return found


def notes_of(session: ReplayedSession) -> str:
    """Return what the demo says of the gaps."""
    gaps = gaps_of(session.result, nominal=False)
    return "\n".join(loss_notes(each.to_record() for each in gaps))


def percents(text: str) -> set[str]:
    return {found.strip() for found in PERCENT.findall(text.replace("\u00a0", " "))} - CONSTANT


def test_no_form_tells_a_probability_of_a_bound() -> None:
    session, examination = session_with(least), examination_with(least)
    report = report_of(session)
    for found in report.source.gaps:
        assert found.mean is not None
        assert found.mean.bound == Bound.AT_LEAST
    assert any(gap.mean and gap.mean.is_called for gap in report.source.gaps)

    told = "\n".join(map(report.shown.say, rows_in(report.paper)))
    forms = {"paper": told, "demo": notes_of(session), "fhir": as_fhir([examination]).decode()}
    assert {name: percents(text) for name, text in forms.items() if percents(text)} == {}
    assert not [code for code in codes_in(report.paper) if code.startswith("percent")]


def test_no_number_that_a_program_reads_is_a_probability_of_a_bound() -> None:
    session, examination = session_with(least), examination_with(least)
    exported = json.loads(as_json([examination]))["sessions"][0]
    for told in (of_the_device(session), exported):
        gaps = [gap for ear in told["air_bone_gaps"] for gap in (ear["mean"], *ear["gaps"])]
        assert {gap["share"] for gap in gaps if gap["bound"] != "none"} == {None}
        for mean in (ear["pta4"] for ear in told["ears"] if ear["pta4"]):
            assert [*mean["grades"].values()] == [0.9999, 0.9999, 0.9999, 0.9963, None, None, None]
            assert mean["said"] == [["moderately severe", 0.9963]]
    for row in csv.DictReader(io.StringIO(as_tidy_csv([examination], Spelling()).decode())):
        assert row["loss_15_db_percent"] == ""
        if row["air_bone_gap_bound"] not in ("", "none"):
            assert row["air_bone_gap_15_db_percent"] == ""


def test_no_grade_is_said_of_a_bound_of_which_none_is_sure() -> None:
    paper = report_of(session_with(lambda result: least(result, OPEN))).paper
    assert [codes_in(row["grades"]) for row in rows_of(paper, "pta4")] == [["grade-open"]] * 2
    assert section(paper, "grades") is None


@pytest.mark.parametrize(
    ("change", "code"), [(either, "gap-either"), (impossible, "gap-impossible")]
)
def test_what_gaps_want_is_one_statement_in_every_form(change: Change, code: str) -> None:
    session, examination = session_with(change), examination_with(change)
    report = report_of(session)
    assert {gap.loss for gap in report.source.gaps} >= {LossType.UNKNOWN}
    (row, *_) = rows_of(report.paper, code)
    said = report.shown.say(row).rpartition(" Hz ")[2]
    assert said in notes_of(session)
    assert said in as_fhir([examination]).decode()


def test_a_type_of_loss_by_an_impossible_gap_is_unknown_in_every_form() -> None:
    session, examination = session_with(impossible), examination_with(impossible)

    told = of_the_device(session)["air_bone_gaps"][0]
    known = (told["loss"], told["loss_is_probable"], told["mean"], told["examined_hz"])
    assert known == ("unknown", False, None, [])
    assert {*TYPE_HZ} <= {*told["impossible_hz"]}
    of_none = [gap for gap in told["gaps"] if {*gap["frequencies_hz"]} <= {*told["impossible_hz"]}]
    assert {gap["share"] for gap in of_none} == {None}
    report = report_of(session)
    (line,) = rows_of(report.paper, "gap-none")
    assert (line["ear"], line["loss"]) == (RIGHT, {"code": "loss-unknown"})
    assert RIGHT not in {row["ear"] for row in rows_of(report.paper, "gap-examination")}
    (row, *_) = [
        row
        for row in csv.DictReader(io.StringIO(as_tidy_csv([examination], Spelling()).decode()))
        if row["loss"]
    ]
    assert (row["loss"], row["loss_15_db_percent"]) == ("unknown", "")
    fhir = as_fhir([examination]).decode()
    assert "Right ear: type of loss not known" in fhir
