"""An ear with a conductive part gets a quarter of its gap, where it is known and within limits."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from numpy.testing import assert_allclose

from device.hearing_aid.fit_file import fit_text
from device.hearing_aid.limits import CLOSED
from device.speech import SPEECH_LEVELS_DB_SPL
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.inference.mixture.bone_prior import usual_gap_db
from firmware_py.terms.outcomes import MaskingMark, Outcome, Verdict
from firmware_py.terms.results import ThresholdResult
from firmware_py.terms.route import BONE, LEFT, RIGHT, Route
from host_tools.catalogue import ENGLISH, language_of
from host_tools.commands.prescribe import exports
from host_tools.commands.prescribe.ear_prescription import (
    EarPrescription,
    fit_of_ears,
    prescribe_session,
)
from host_tools.commands.prescribe.figures import as_json
from host_tools.commands.prescribe.from_session import Waived
from host_tools.commands.prescribe.remarks import remark_rows, session_rows
from host_tools.commands.prescribe.signs import sign_of, sign_rows
from host_tools.commands.prescribe.source import GapMark
from host_tools.recordings.recorded_session import ReplayedSession
from host_tools.terminal import NO_BREAK, say
from tests.host.commands.export.sessions import by_bone_of
from tests.host.commands.report.test_bone import beyond, conductive, with_bone
from tests.host.journals import BOTH, session_of
from tests.host.reports import with_ears

pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]

Change = Callable[[ThresholdResult], ThresholdResult]
ASKED_HZ: Final = (500, 1000, 2000, 4000)
NONE, MEASURED, INFERRED = GapMark.NONE, GapMark.MEASURED, GapMark.INFERRED


def by_octaves(found: ThresholdResult) -> ThresholdResult:
    """Return a threshold by bone as an octave that was asked, or else as an inferred one."""
    if found.frequency_hz in ASKED_HZ:
        return replace(found, mark=Outcome.MEASURED, masking=MaskingMark.MASKED)
    return replace(found, mark=Outcome.INFERRED, masking=None)


def with_gap(gap_db: float, **changes: Change) -> ReplayedSession:
    """Return a session whose right ear has a gap; `changes` to its bone, by `f500` and so on."""
    by_air = {ear.route.ear: ear for ear in session_of(BOTH).result.ears}
    right, left = by_bone_of(by_air[RIGHT], gap_db), by_bone_of(by_air[LEFT], 0.0)
    thresholds = tuple(
        changes.get(f"f{t.frequency_hz}", by_octaves)(by_octaves(t)) for t in right.thresholds
    )
    return with_bone(replace(right, thresholds=thresholds), left)


def hear_all(found: ThresholdResult) -> ThresholdResult:
    silent = found.without_numbers(Outcome.HEARS_ALL)
    return replace(silent, limit_db_hl=-10.0, masking=MaskingMark.MASKED)


def right_ear(session: ReplayedSession, rule: str = "nal-r") -> EarPrescription:
    (found,) = (e for e in prescribe_session(session, rule, CLOSED) if e.ear == RIGHT)
    return found


def at(ear: EarPrescription, values: Any) -> dict[int, Any]:
    return dict(zip(ear.frequencies_hz, values, strict=True))


def test_a_quarter_of_the_gap_above_the_usual_one_is_what_the_rule_adds() -> None:
    ear = right_ear(with_gap(34.0))
    assert ear.gap is not None
    assert at(ear, ear.gap.marks) == {
        250: NONE, 500: MEASURED, 750: INFERRED, 1000: MEASURED, 1500: INFERRED, 2000: MEASURED,
        3000: INFERRED, 4000: MEASURED, 6000: NONE, 8000: NONE,
    }  # fmt: skip
    # of the shipped prior: 2.51, 2.16, 2.42 and 10.88 dB; a quarter of 31.49, 31.84, 31.58, 23.12
    assert [round(usual_gap_db(f), 2) for f in ASKED_HZ] == [2.51, 2.16, 2.42, 10.88]
    by_hand_db = {250: 0.0, 500: 7.87, 1000: 7.96, 2000: 7.895, 4000: 5.78, 6000: 0.0, 8000: 0.0}
    added_db = at(ear, ear.prescribed.for_gap_db)
    assert {f: added_db[f] for f in by_hand_db} == pytest.approx(by_hand_db, abs=0.006)
    # on the line over log frequency: 3 kHz is .585 of the octave above 2 kHz
    assert added_db[3000] == pytest.approx(7.895 - 0.585 * (7.895 - 5.78), abs=0.01)
    assert added_db[750] == pytest.approx(7.87 + 0.585 * (7.96 - 7.87), abs=0.01)


@pytest.mark.parametrize("rule", ["nal-r", "nal-rp", "half-gain", "camfit"])
def test_limits_stay_and_only_the_ear_with_the_part_gets_more(rule: str) -> None:
    def ears_of(session: ReplayedSession) -> dict[str, EarPrescription]:
        return {each.ear: each for each in prescribe_session(session, rule, CLOSED)}

    without, found = ears_of(session_of(BOTH)), ears_of(with_gap(34.0))
    for ear in (LEFT, RIGHT):
        before, after = without[ear].prescribed.limits, found[ear].prescribed.limits
        for name in ("output_max_db_spl", "feedback_db", "discomfort_db_spl"):
            assert getattr(after, name).tobytes() == getattr(before, name).tobytes()
        assert_allclose(found[ear].for_gap_db, found[ear].gain_db - without[ear].gain_db)
    assert not found[LEFT].for_gap_db.any(), "its gap is none"
    fits = [fit_of_ears([each]) for each in (found[LEFT], without[LEFT])]
    assert fit_text(fits[0]) == fit_text(fits[1])
    added_db = found[RIGHT].for_gap_db
    assert np.all(added_db >= 0.0)
    assert np.all(found[RIGHT].gain_db <= found[RIGHT].prescribed.limits.gain_max_db() + 1e-9)
    assert (added_db.max() > 2.0) == (rule in ("nal-r", "nal-rp")), "half gain is at its limits"
    assert added_db.any() == (rule != "camfit")


def test_what_is_only_known_as_a_bound_counts_as_it_should() -> None:
    session = with_gap(34.0, f500=hear_all, f4000=lambda t: beyond(t, 80.0))
    ear, by_air = right_ear(session), session.result.by_route[Route(RIGHT)]
    assert ear.gap is not None
    marks, added_db = at(ear, ear.gap.marks), at(ear, ear.prescribed.for_gap_db)
    assert (marks[500], marks[4000]) == (GapMark.AT_LEAST, NONE)
    (air,) = (t for t in by_air.thresholds if t.frequency_hz == 500)
    assert air.threshold_db_hl is not None
    least_db = air.threshold_db_hl + by_air.clinical_offset_db + 10.0
    assert added_db[500] == pytest.approx(0.25 * (least_db - 2.51), abs=0.006)
    assert added_db[4000] == 0.0
    assert ear.gap.left_out_hz == [4000]
    told = remarks_of(session)
    assert told["fit-gap-added"]["gap"]["code"] == "fit-gap-at-least"
    assert told["fit-gap-bound"]["frequencies_hz"] == [4000]


def test_a_gap_that_was_inferred_at_a_frequency_adds_nothing_beyond_what_was_measured() -> None:
    inferred: Change = lambda t: replace(t, mark=Outcome.INFERRED, masking=None)  # noqa: E731
    ear = right_ear(with_gap(34.0, f500=inferred, f4000=inferred))
    assert ear.gap is not None
    added_db = at(ear, ear.prescribed.for_gap_db)
    assert [f for f, db in added_db.items() if db > 0.0] == [1000, 1500, 2000]
    nowhere = with_gap(34.0, **{f"f{f}": inferred for f in ASKED_HZ})
    assert not right_ear(nowhere).for_gap_db.any()
    assert "fit-gap-unknown" in remarks_of(nowhere)


def test_a_gap_that_the_air_may_have_made_adds_nothing() -> None:
    """At 6 kHz an open ear may hear the vibrator itself."""
    session = with_gap(34.0)
    by_route = session.result.by_route
    bone = by_route[Route(RIGHT, BONE)]
    at_6_khz = replace(bone.thresholds[-1], frequency_hz=6000)
    more = replace(bone, thresholds=(*bone.thresholds, at_6_khz))
    before, ear = (right_ear(with_bone(each, by_route[Route(LEFT, BONE)])) for each in (bone, more))
    assert ear.gap is not None
    assert (ear.gap.gap_db(6000) or 0.0) > 20.0
    assert ear.gap.left_out_hz == [6000]
    added_db = [at(each, each.prescribed.for_gap_db) for each in (before, ear)]
    assert added_db[0] == added_db[1]


def test_what_is_larger_than_any_conductive_loss_adds_nothing() -> None:
    ear = right_ear(with_gap(34.0, f4000=lambda t: lower(t, 60.0)))
    assert ear.gap is not None
    assert (ear.gap.gap_db(4000) or 0.0) > 70.0
    assert at(ear, ear.gap.marks)[4000] == NONE
    assert ear.gap.left_out_hz == [4000]
    added_db = at(ear, ear.prescribed.for_gap_db)
    assert added_db[4000] == 0.0 < added_db[3000] < added_db[2000]


def lower(found: ThresholdResult, by_db: float) -> ThresholdResult:
    names = ("threshold_db_hl", "low_db_hl", "high_db_hl")
    return replace(found, **{name: getattr(found, name) - by_db for name in names})


def test_an_ear_without_a_called_gap_or_a_valid_bone_test_gets_nothing() -> None:
    small = right_ear(with_gap(10.0))
    assert small.gap is not None
    assert not small.gap.is_called
    assert not small.for_gap_db.any()
    session = with_gap(34.0)
    session = with_ears(
        session,
        (
            replace(e, verdict=Verdict.DOUBTFUL) if e.route.by_bone else e
            for e in session.result.ears
        ),
    )
    assert right_ear(session).gap is None
    assert "fit-verify" in remarks_of(session)


def test_nothing_follows_from_nominal_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CalibrationInForce, "nominal", True)
    (ear, *_) = prescribe_session(with_gap(34.0), "nal-r", CLOSED, waived=Waived(uncalibrated=True))
    assert ear.gap is None


def test_doubt_about_both_thresholds_reaches_the_gains() -> None:
    session = with_gap(34.0)
    ear = right_ear(session)
    assert ear.gap is not None
    k = ear.frequencies_hz.index(2000)
    (bone,) = (
        t for e in session.result.ears if str(e.route) == "right-bone"
        for t in e.thresholds if t.frequency_hz == 2000
    )  # fmt: skip
    drawn_db = ear.gap.draws_db[:, k]
    by_air_db = ear.given.draws_db_hl[:, k]
    # gap = air - bone, which are independent: cov(gap, air) = var(air)
    assert bone.sd_db is not None
    variance_db2 = by_air_db.var() + bone.sd_db**2
    assert drawn_db.var() == pytest.approx(variance_db2, rel=0.1)
    covariance_db2 = np.cov(drawn_db, by_air_db)[0, 1]
    assert covariance_db2 == pytest.approx(by_air_db.var(), rel=0.1)
    assert drawn_db.mean() == pytest.approx(ear.gap.db[k], abs=0.3)


def test_every_export_has_the_gains_of_the_prescription() -> None:
    session = with_gap(34.0)
    ears = prescribe_session(session, "nal-r", CLOSED)
    fit = fit_of_ears(ears)
    told = json.loads(json.dumps(as_json(ears, fit)))
    alone = prescribe_session(session_of(BOTH), "nal-r", CLOSED)
    fit_before = fit_of_ears(alone)
    by_air = json.loads(json.dumps(as_json(alone, fit_before)))
    for ear, found, without in zip(ears, told["ears"], by_air["ears"], strict=True):
        for level in SPEECH_LEVELS_DB_SPL:
            fitted_db = fit.of_ear(ear.ear).gain_of_speech_db(level)
            assert_allclose(fitted_db, ear.gain_at_db[level].value)
        for band, before in zip(found["bands"], without["bands"], strict=True):
            more_db = band["gain_db"] - before["gain_db"]
            assert band["gap_gain_db"] == pytest.approx(more_db, abs=0.011)
            assert band["gap_rule_gain_db"] == pytest.approx(
                band["rule_gain_db"] - before["rule_gain_db"], abs=0.011
            )
            assert not any("gap" in name for name in before), "no bone, nothing new"
    record = json.loads(fit_text(fit))["fit"]
    assert [e["ear"] for e in record["ears"]] == [e.ear for e in ears]
    for fitted, written in zip(fit.ears, record["ears"], strict=True):
        assert [list(b.gains_db) for b in fitted.bands] == [b["gains_db"] for b in written["bands"]]
    said = [*map(language_of(ENGLISH).say, remark_rows(ears, fit))]
    for ending in (".cfg", ".txt"):
        text = exports.fit_as(ending, fit, said)
        assert text != exports.fit_as(ending, fit_before, said)
        assert "for its air-bone gap (mean 34 dB)" in text


def remarks_of(
    session: ReplayedSession, rule: str = "nal-r", coupling: str = CLOSED
) -> dict[str, Any]:
    """Return the remarks, by their codes."""
    ears = prescribe_session(session, rule, coupling)
    return {row["code"]: row for row in remark_rows(ears, fit_of_ears(ears))}


def test_it_is_said_what_the_gains_have_for_the_gap() -> None:
    ears = prescribe_session(conductive(), "nal-r", CLOSED)
    assert [each.ear for each in ears] == [RIGHT, LEFT], "each ear once"
    told = remarks_of(conductive())
    added = told["fit-gap-added"]
    assert (added["ear"], added["gap"]["gap"]["level"]) == (RIGHT, 30)
    at_250 = {"code": "fit-gap-added-at", "level": 7, "frequency_hz": 250}
    assert at_250 in added["parts"][0]["places"], "a quarter of 30 - 2.5 dB"
    assert "fit-verify-bone" in told
    assert "fit-verify" in remarks_of(session_of(BOTH))


def test_a_gain_for_a_bound_or_an_inferred_gap_is_said_to_be_one() -> None:
    session = with_gap(34.0, f500=hear_all)
    ear = right_ear(session)
    assert ear.gap is not None
    told = {
        part["code"].removeprefix("fit-gap-added-"): {p["frequency_hz"] for p in part["places"]}
        for part in remarks_of(session)["fit-gap-added"]["parts"]
    }
    added_db, marks = at(ear, ear.for_gap_db), at(ear, ear.gap.marks)
    for kind in (MEASURED, GapMark.AT_LEAST, INFERRED):
        assert told[kind] == {f for f, mark in marks.items() if mark == kind and added_db[f] > 0.5}
    assert 500 in told["at-least"]


def test_a_rule_without_a_part_and_limits_without_room_are_said() -> None:
    left_out = remarks_of(conductive(), "camfit")["fit-gap-left-out"]
    assert (left_out["rule"]["code"], left_out["more"]["level"]) == ("rule-camfit", 8)
    no_room = replace(right_ear(conductive()), for_gap_db=np.zeros(10))
    (held,) = (each for each in session_rows([no_room]) if each["code"] == "fit-gap-held")
    told = {(each["ear"], each["gap"]["gap"]["level"]) for each in (left_out, held)}
    assert told == {(RIGHT, 30)}


def test_a_gain_has_the_sign_of_its_gap_unless_a_limit_holds_it() -> None:
    ear = right_ear(with_gap(34.0))
    free = replace(
        ear,
        prescribed=replace(ear.prescribed, target_db=ear.gain_db),
        given=replace(ear.given, marks=("measured",) * 10),
    )
    assert not free.held.any()
    assert ear.held.sum() > 4
    signs = at(ear, [sign_of(free, k) for k in range(10)])
    assert {f for f, sign in signs.items() if sign == "inferred-for-gap"} == {750, 1500, 3000}
    assert at(ear, [ear.gap_mark(k) for k in range(10)])[3000] == NONE, "held by a limit"
    assert "sign-inferred-for-gap" in {row["code"] for row in sign_rows([free])}


def test_a_terminal_shows_a_space_that_paper_does_not_break(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say(f"8000 (92{NO_BREAK}%) Hz", "a\x1bb")
    assert capsys.readouterr().out == "8000 (92 %) Hz\na\\x1bb\n"
