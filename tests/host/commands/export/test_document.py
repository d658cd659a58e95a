"""JSON keeps its schema, and loses nothing."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.statements import as_told
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.settings import Settings
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.schema import schema_text
from tests.host.commands.export.sessions import (
    JOURNALS,
    as_json,
    inferred_and_confirmed,
    session_with_bone,
    session_with_marks,
)
from tests.host.journals import BOTH


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_session_fits_the_schema(validator: Any) -> None:
    made = [session_with_marks(), inferred_and_confirmed(), session_with_bone(), without_levels()]
    document = json.loads(as_json([*made, *map(read_examination, JOURNALS)]))

    validator.validate(document)
    assert len(document["sessions"]) == len(made) + len(JOURNALS)


def without_levels() -> Examination:
    """Return a session without a calibration, so without a mean and a grade."""
    examination = read_examination(BOTH)
    nominal = replace(examination.header, calibration=CalibrationInForce())
    told = as_told(examination.result, Settings(), nominal=True)
    return replace(examination, header=nominal, result=told)


@pytest.mark.usefixtures("as_if_calibrated")
def test_thresholds_are_those_recorded_to_the_bit() -> None:
    (session,) = json.loads(as_json([read_examination(BOTH)]))["sessions"]
    for ear, recorded in zip(
        session["ears"], recorded_result(BOTH).result.to_record()["ears"], strict=True
    ):
        assert [t["frequency_hz"] for t in ear["thresholds"]] == [
            t["frequency_hz"] for t in recorded["thresholds"]
        ]
        for told, kept in zip(ear["thresholds"], recorded["thresholds"], strict=True):
            numbers = ("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl")
            if kept["mark"] == "inferred":
                assert {told[name] for name in numbers} == {None}
                assert [*told["inferred"].values()] == [kept[name] for name in numbers]
            else:
                assert told == {**kept, "inferred": None, "reading": told["reading"]}
        levels = {t["frequency_hz"]: t["threshold_db_hl"] for t in recorded["thresholds"]}
        average_db_hl = sum(levels[f] for f in (500, 1000, 2000, 4000)) / 4
        assert ear["pta4"]["level_db_hl"] == pytest.approx(average_db_hl, abs=0.001)
    assert session["calibration"]["state"] == "SIMULATED"
    assert (session["simulated"], session["speed"]) == (True, 1.0)


def test_without_a_calibration_there_is_no_mean_and_no_grade() -> None:
    (session,) = json.loads(as_json([without_levels()]))["sessions"]

    assert session["calibration"]["state"] == "UNCALIBRATED"
    assert [ear["pta4"] for ear in session["ears"]] == [None, None]
    assert session["grade"] is None


def test_what_was_inferred_is_no_threshold_and_stands_apart() -> None:
    right, left = json.loads(as_json([inferred_and_confirmed()]))["sessions"][0]["ears"]
    found = {t["frequency_hz"]: t for t in right["thresholds"]}

    assert (found[2000]["mark"], found[2000]["threshold_db_hl"]) == ("inferred", None)
    assert found[2000]["inferred"]["db_hl"] > 0.0
    assert right["confirmed"] == [
        {"frequency_hz": 1000, "threshold_db_hl": 35.0, "mark": "measured", "tones": 9},
        {"frequency_hz": 8000, "threshold_db_hl": None, "mark": "no-response", "tones": 4},
    ]
    assert left["confirmed"] == []


@pytest.mark.parametrize("masking", MaskingMark)
def test_a_masked_threshold_supposes_nothing_of_the_other_ear(masking: MaskingMark) -> None:
    examination = read_examination(BOTH)
    ear = examination.result.ears[0]
    thresholds = tuple(
        replace(t, masking=masking, air_bone_gap_db=25.5) if t.mark == Outcome.MEASURED else t
        for t in ear.thresholds
    )
    result = replace(examination.result, ears=(replace(ear, thresholds=thresholds),))
    (session,) = json.loads(as_json([replace(examination, result=result)]))["sessions"]
    told = [t for t in session["ears"][0]["thresholds"] if t["mark"] == "measured"]

    assert len(told) > 5
    assert {"air_bone_gap_db" in t for t in told} == {masking != MaskingMark.MASKED}


def test_bone_has_ears_and_gaps_of_its_own() -> None:
    (session,) = json.loads(as_json([session_with_bone()]))["sessions"]

    assert [(e["ear"], e.get("transducer")) for e in session["ears"]] == [
        ("right", None), ("left", None), ("right", "bone"), ("left", "bone"),
    ]  # fmt: skip
    right, left = session["air_bone_gaps"]
    assert (right["ear"], left["ear"]) == ("right", "left")
    assert right["examined_hz"] == [500, 1000, 2000]
    assert left["examined_hz"] == []
    assert right["mean"]["db"] == pytest.approx(30.0, abs=1e-3)
    assert right["mean"]["inferred_hz"] == [2000]
    assert left["mean"]["share"] < 0.01
    assert "air_bone_gaps" not in json.loads(as_json([inferred_and_confirmed()]))["sessions"][0]
