"""JSON keeps its schema, and loses nothing."""

import copy
import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from firmware_py.archive import recorded_result
from firmware_py.procedure.outcomes import Outcome
from host_tools.commands.export.examination import read_examination
from host_tools.commands.export.formats import as_json, schema_text
from tests.host.commands.export.sessions import JOURNALS, marked
from tests.host.journals import BOTH


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_session_fits_the_schema(validator: Any) -> None:
    document = json.loads(as_json([marked(), *map(read_examination, JOURNALS)]))

    validator.validate(document)
    assert len(document["sessions"]) == 1 + len(JOURNALS)


def test_thresholds_are_those_recorded_to_the_bit() -> None:
    (session,) = json.loads(as_json([read_examination(BOTH)]))["sessions"]
    for ear, recorded in zip(
        session["ears"], recorded_result(BOTH).result.to_record()["ears"], strict=True
    ):
        assert ear["thresholds"] == recorded["thresholds"]
        levels = {t["frequency_hz"]: t["threshold_db_hl"] for t in recorded["thresholds"]}
        average_db_hl = sum(levels[f] for f in (500, 1000, 2000, 4000)) / 4
        assert ear["pta4_db_hl"] == pytest.approx(average_db_hl)
    assert session["calibration"]["state"] == "UNCALIBRATED"


def test_what_is_unknown_is_kept_and_a_silent_limit_is_in_the_average() -> None:
    examination = marked()
    ear = examination.result.ears[0]
    silent = replace(ear.thresholds[7].without_numbers(Outcome.NO_RESPONSE), limit_db_hl=90.0)
    thresholds = (*ear.thresholds[:7], silent, *ear.thresholds[8:])
    result = replace(examination.result, ears=(replace(ear, thresholds=thresholds),))
    (session,) = json.loads(as_json([replace(examination, result=result)]))["sessions"]
    (found,) = session["ears"]

    assert found["thresholds"][7]["masking"] == "uncertain"
    four = {t.frequency_hz: t.threshold_db_hl or 90.0 for t in thresholds}
    assert found["pta4_db_hl"] == pytest.approx(sum(four[f] for f in (500, 1000, 2000, 4000)) / 4)
    assert found["pta4_at_least"] is True


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("calibration",), None),
        (("calibration", "state"), "GOOD"),
        (("outcome",), ""),
        (("ears", 0, "ear"), "both"),
        (("ears", 0, "thresholds", 0, "threshold_db_hl"), None),
        (("ears", 0, "thresholds", 0, "frequency_hz"), "1000"),
    ],
)
def test_the_schema_notices_what_is_wrong(
    validator: Any, place: tuple[str | int, ...], value: object
) -> None:
    document = copy.deepcopy(json.loads(as_json([read_examination(BOTH)])))
    inner = document["sessions"][0]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(document)
