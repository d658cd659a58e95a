"""JSON keeps its schema and loses nothing; a FHIR bundle is one by the models of others.

The models are those of R4B (4.3.0): R4 has none in fhir.resources any more, and what a bundle of
observations and a device is made of is the same in both.
"""

import json
import re
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from device.audiogram_tables.fhir import METHOD
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.statements import as_told
from firmware_py.findings.whole_band import USUAL
from firmware_py.sessions import session_record
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import say
from host_tools.commands.export.bundle import CLASSICAL, INFERRED_BY
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.gaps import gap_note
from host_tools.commands.export.schema import schema_text
from tests.host.commands.export.sessions import (
    JOURNALS,
    UNRELIABLE,
    as_fhir,
    as_json,
    inferred_and_confirmed,
    session_with_bone,
    session_with_marks,
    with_vibrator,
)
from tests.host.journals import BOTH, LEFT_S2, MASKED


def resources_of(*examinations: Examination) -> list[dict[str, Any]]:
    return [entry["resource"] for entry in json.loads(as_fhir(examinations))["entry"]]


def observation(resources: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (found,) = [
        r
        for r in resources
        if r.get("code", {}).get("text") == name and r.get("method", {}).get("text") != CLASSICAL
    ]
    return found


def right(frequency_hz: int) -> str:
    return f"Hearing threshold Ear - right --{frequency_hz} Hz"


def test_every_session_is_a_bundle_by_the_models() -> None:
    from fhir.resources.R4B.bundle import Bundle  # half a second

    made = session_with_marks(), session_with_bone()
    examinations = [*made, *map(read_examination, JOURNALS)]
    bundle = Bundle.model_validate_json(as_fhir(examinations))
    entries = bundle.entry or []
    names = {entry.fullUrl for entry in entries}

    assert len(names) == len(entries) > 100
    for resource in resources_of(*examinations):
        references = [resource["device"]] if "device" in resource else []
        references += resource.get("hasMember", []) + resource.get("derivedFrom", [])
        assert {reference["reference"] for reference in references} <= names
        assert not ("dataAbsentReason" in resource and "valueQuantity" in resource)


def test_left_and_right_have_their_own_codes() -> None:
    resources = resources_of(read_examination(BOTH))
    codes = {
        r["code"]["coding"][0]["display"]: r["code"]["coding"][0]["code"] for r in resources[1:]
    }
    assert len({*codes.values()}) == len(codes) == 21
    assert codes["Hearing threshold Ear - right --500 Hz"] == "89025-1"
    assert codes["Hearing threshold Ear - left --500 Hz"] == "89024-4"
    panel = resources[-1]
    assert panel["code"]["coding"][0]["code"] == "89015-2"
    assert len(panel["hasMember"]) == 20


def test_without_a_calibration_nothing_is_final_and_no_level_is_db_hl() -> None:
    resources = resources_of(read_examination(LEFT_S2))
    quantity = observation(resources, "Hearing threshold Ear - left --3000 Hz")["valueQuantity"]

    assert {each["status"] for each in resources[1:]} == {"preliminary"}
    assert quantity.keys() == {"value", "unit"}
    assert quantity["unit"] == "nominal dB"
    assert "dB HL" not in json.dumps(resources)


@pytest.mark.usefixtures("as_if_calibrated")
def test_a_threshold_has_its_unit_and_its_band() -> None:
    examination = read_examination(BOTH)
    (threshold,) = [t for t in examination.result.ears[0].thresholds if t.frequency_hz == 3000]
    found = observation(resources_of(examination), right(3000))
    quantity = found["valueQuantity"]

    assert (quantity["system"], quantity["code"]) == ("http://unitsofmeasure.org", "dB")
    assert quantity["value"] == pytest.approx(threshold.threshold_db_hl, abs=0.05)
    parts = {p["code"]["text"]: p["valueQuantity"]["value"] for p in found["component"][:5]}
    whole = USUAL.of(Route("right"), threshold)
    assert whole is not None
    ends = threshold.low_db_hl, threshold.high_db_hl, whole.low_db_hl, whole.high_db_hl
    assert [*parts.values()] == pytest.approx([*ends, whole.sd_db], abs=0.05)
    assert [*parts] == [
        *(f"{end} end of the 95 % band of the answers" for end in ("lower", "upper")),
        *(f"{end} end of the 95 % band of the whole measurement" for end in ("lower", "upper")),
        "standard uncertainty of the whole measurement",
    ]
    units = [part["valueQuantity"]["unit"] for part in found["component"][:5]]
    assert units == [*["dB HL"] * 4, "dB"], "an uncertainty is no level"
    (extension,) = quantity["extension"]
    assert extension["url"].endswith("/iso21090-uncertainty")
    assert extension["valueDecimal"] == pytest.approx(whole.sd_db, abs=0.05)


def test_the_end_of_the_whole_band_says_that_it_goes_on_beyond_the_limit() -> None:
    found = observation(
        resources_of(read_examination(MASKED)), "Hearing threshold Ear - left --3000 Hz"
    )
    signs = {
        part["code"]["text"].partition(" 95 % band of the ")[2] or "sd": comparator
        for part in found["component"]
        if (comparator := part.get("valueQuantity", {}).get("comparator"))
    }
    assert signs == {"whole measurement": ">="}


def test_an_observation_says_that_it_is_audiology_and_how_it_was_made() -> None:
    resources = [r for r in resources_of(session_with_bone()) if r["resourceType"] != "Device"]
    kinds = {tuple(c["coding"][0]["code"] for c in r["category"]) for r in resources}
    assert kinds == {("exam", "AU")}
    assert {r["method"]["text"] for r in resources if "hasMember" not in r} == {METHOD, INFERRED_BY}
    assert not any("meta" in r for r in resources), "no profile is claimed"


def test_a_masked_threshold_has_the_levels_of_the_noise() -> None:
    examination = read_examination(MASKED)
    (noise,) = [n for n in examination.course.noise if n["frequency_hz"] == 4000]
    name = f"Hearing threshold Ear - {noise['ear']} --4000 Hz"
    found = observation(resources_of(examination), name)
    levels = [
        part["valueQuantity"]["value"]
        for part in found["component"]
        if "effective level of the noise" in part["code"]["text"]
    ]
    assert levels == [noise["low_db_hl"], noise["high_db_hl"]]
    (session,) = json.loads(as_json([examination]))["sessions"]
    assert session["noise"] == examination.course.noise
    assert "effective level" not in as_fhir([read_examination(BOTH)]).decode()


def test_the_side_stands_where_no_code_tells_it() -> None:
    codes = {"Right ear structure": "25577004", "Left ear structure": "89644007"}
    for resource in resources_of(session_with_bone())[1:]:
        name = resource["code"]["text"]
        site = resource.get("bodySite", {}).get("text", "")
        by_name = next((side for side in ("right", "left") if f" - {side} by bone" in name), "")
        assert site == (f"{by_name.capitalize()} ear structure" if by_name else "")
        if site:
            assert resource["bodySite"]["coding"][0]["code"] == codes[site]


def test_a_threshold_says_what_was_done_against_the_other_ear() -> None:
    resources = resources_of(session_with_marks(), session_with_bone())
    told = {
        frequency_hz: next(
            part["valueCodeableConcept"]["text"].partition(":")[0]
            for part in observation(resources[:21], right(frequency_hz))["component"]
            if part["code"]["text"] == "masking of the other ear"
        )
        for frequency_hz in (3000, 4000, 6000, 8000)
    }
    assert told == {3000: "none", 4000: "uncertain", 6000: "none", 8000: "none"}
    masked = [r for r in resources if "masked: narrow-band noise" in json.dumps(r)]
    assert len(masked) == 14, "of 16 by bone, one was not asked, and one had no noise"
    assert not any(r["status"] == "preliminary" and "derivedFrom" in r for r in masked)


def test_a_nominal_level_has_no_uncertainty() -> None:
    session = session_with_marks()
    nominal = replace(session.header, calibration=CalibrationInForce())
    told = json.dumps(resources_of(replace(session, header=nominal)))
    assert "nominal dB" in told
    assert "uncertainty" not in told


def test_what_has_no_number_says_so() -> None:
    resources = resources_of(session_with_marks())
    silent, floor, perhaps = (observation(resources, right(f)) for f in (8000, 250, 6000))

    assert (silent["valueQuantity"]["comparator"], silent["valueQuantity"]["value"]) == (">", 90.0)
    assert silent["interpretation"][0]["coding"][0]["code"] == ">"
    assert (floor["valueQuantity"]["comparator"], floor["valueQuantity"]["value"]) == ("<=", -10.0)
    assert perhaps["dataAbsentReason"]["coding"][0]["code"] == "unknown"
    assert perhaps["interpretation"][0]["coding"][0]["code"] == "IND"
    assert {"text": "perhaps beyond the limit of 90 dB HL"} in perhaps["note"]
    assert {"text": "masking: uncertain"} in observation(resources, right(4000))["note"]


def test_no_observation_hides_the_calibration_or_the_reason() -> None:
    why = f"could not be tested: {say(reason(Code.PRESSES_ANYWAY))}"
    *observations, panel = resources_of(read_examination(UNRELIABLE))[1:]
    assert len(observations) == 10
    for resource, wanted in (*((each, why) for each in observations), (panel, f"left ear: {why}")):
        notes = [note["text"] for note in resource["note"]]
        assert "CALIBRATED (simulated board)" in notes
        assert wanted in notes


def test_the_person_is_an_identifier_and_nothing_else() -> None:
    resources = resources_of(session_with_marks())

    assert {r["resourceType"] for r in resources} == {"Device", "Observation"}
    for resource in resources[1:]:
        assert resource["subject"] == {"type": "Patient", "identifier": {"value": "患者7"}}
        assert resource["effectiveDateTime"] == "2026-01-02T03:04:05+00:00"
    assert "subject" not in resources_of(read_examination(BOTH))[1]


def test_only_a_session_of_a_person_that_came_to_its_end_is_final(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    examination = session_with_marks()
    assert {r["status"] for r in resources_of(examination)[1:]} == {"preliminary"}, "simulated"
    monkeypatch.setattr(session_record, "BOARD_NAME", "no board is called so")
    assert {r["status"] for r in resources_of(examination)[1:]} == {"final"}
    so_far = replace(examination, result=replace(examination.result, outcome=""))
    assert {r["status"] for r in resources_of(so_far)[1:]} == {"preliminary"}


@pytest.mark.usefixtures("as_if_real")
def test_what_was_inferred_is_derived_and_never_final_and_no_value() -> None:
    resources = resources_of(inferred_and_confirmed())
    found = observation(resources, right(2000))

    assert found["status"] == "preliminary"
    assert found["dataAbsentReason"]["coding"][0]["code"] == "not-performed"
    assert not {"valueQuantity", "interpretation"} & found.keys()
    assert "no tone was asked" in found["method"]["text"]
    names = [part["code"]["text"] for part in found["component"]]
    assert names[0] == "inferred threshold, not measured"
    assert all("coding" not in part["code"] for part in found["component"])
    by_name = {f"urn:uuid:{r['id']}": r for r in resources}
    sources = [by_name[source["reference"]] for source in found["derivedFrom"]]
    assert len(sources) == 8
    assert {source["status"] for source in sources} == {"final"}
    assert not any("masking" in note["text"] for note in found["note"])


def test_what_was_confirmed_is_an_observation_of_its_own() -> None:
    resources = resources_of(inferred_and_confirmed())
    again = [r for r in resources if r.get("method", {}).get("text") == CLASSICAL]

    assert [r["code"]["text"] for r in again] == [right(1000), right(8000)]
    assert again[0]["valueQuantity"]["value"] == 35.0
    assert observation(resources, right(1000))["valueQuantity"]["value"] != 35.0
    assert "valueQuantity" not in again[1]
    assert {"text": "no-response"} in again[1]["note"]
    members = {member["reference"] for member in resources[-1]["hasMember"]}
    assert {f"urn:uuid:{r['id']}" for r in again} <= members


def test_bone_names_the_vibrator_and_air_the_earphones() -> None:
    told: dict[bool, set[str]] = {True: set(), False: set()}
    for resource in resources_of(with_vibrator(session_with_bone())):
        notes = {note["text"] for note in resource.get("note", ())}
        by_bone = "bone conduction" in resource.get("code", {}).get("text", "")
        told[by_bone] |= {n for n in notes if n.startswith(("earphones: ", "bone vibrator: "))}
    assert told == {True: {"bone vibrator: Radioear B71, B-1"}, False: {"earphones: TDH39"}}


def test_bone_has_observations_and_a_panel_of_its_own() -> None:
    resources = resources_of(session_with_bone())
    by_name = {f"urn:uuid:{r['id']}": r for r in resources}
    assert len(by_name) == len(resources)

    air, bone = (r for r in resources if "hasMember" in r)
    assert [r["code"]["coding"][0]["code"] for r in (air, bone)] == ["89015-2", "100652-7"]
    of_air, of_bone = (
        [by_name[member["reference"]] for member in panel["hasMember"]] for panel in (air, bone)
    )
    assert (len(of_air), len(of_bone)) == (20, 16)
    assert all("coding" in r["code"] for r in of_air)
    # A code of air would say another thing, and LOINC has none of these.
    assert not any("coding" in r["code"] for r in of_bone)
    names = [r["code"]["text"] for r in of_bone]
    assert names[0] == "Hearing threshold Ear - right by bone conduction --250 Hz"
    assert len(set(names)) == 16
    notes = [note["text"] for note in bone["note"]]
    mean = r"mean air-bone gap at 0.5, 1 and 2 kHz 30 dB \(95 % band"
    said = " ".join(notes)
    assert re.search(rf"Right ear: (conductive|mixed) loss; {mean}", said)
    assert "Left ear: no conductive part" in said
    assert not any("air-bone gap" in note["text"] for note in air["note"])


def test_a_gap_just_below_none_is_none() -> None:
    gap = {"db": -0.2, "low_db": -0.4, "high_db": 8.0, "bound": Bound.NONE, "inferred_hz": []}
    assert gap_note(gap) == "air-bone gap 0 dB (95 % band 0 to 8 dB)"


def test_a_threshold_by_bone_has_its_gap_in_a_note() -> None:
    resources = resources_of(session_with_bone())
    notes = {
        r["code"]["text"]: [n["text"] for n in r["note"] if "air-bone gap" in n["text"]]
        for r in resources
        if "code" in r and "hasMember" not in r
    }
    at = "Hearing threshold Ear - right by bone conduction --{} Hz".format
    assert re.fullmatch(r"air-bone gap 30 dB \(95 % band \d+ to \d+ dB\)", *notes[at(1000)])
    inferred = r"inferred air-bone gap, not measured: 30 dB \(95 % band \d+ to \d+ dB\)"
    assert re.fullmatch(inferred, *notes[at(2000)])
    assert re.fullmatch(r"air-bone gap <=-?\d+ dB \(95 % band up to -?\d+ dB\)", *notes[at(4000)])
    assert len(notes) == 36
    assert not any(said for name, said in notes.items() if "bone" not in name)
    (panel,) = [r for r in resources if "hasMember" in r and "bone" in r["code"]["text"]]
    said = next(n["text"] for n in panel["note"] if n["text"].startswith("Right ear: "))
    assert "; partly inferred" in said, "where the mean rests on what was not asked"


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
