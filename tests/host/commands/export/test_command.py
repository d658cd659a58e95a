"""`gp-pta export` writes what was asked for, or says what is wrong and writes nothing."""

import csv
import io
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from firmware_py.findings.result_json import threshold_with_width
from firmware_py.findings.statements import as_told
from firmware_py.findings.whole_band import USUAL
from firmware_py.journal import read_journal
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import BY_AIR
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import say
from host_tools.commands.export.examination import read_examination
from host_tools.recordings.recorded_session import replay_session
from tests.host.commands.export.sessions import JOURNALS, SILENT, as_csv, as_fhir, as_json
from tests.host.journals import BOTH, GOLDEN, GpPta, go_on_with, write_again


def test_the_ending_of_the_file_tells_the_format(tmp_path: Path, gp_pta: GpPta) -> None:
    for ending in ("csv", "json", "parquet"):
        path = tmp_path / f"out.{ending}"
        assert gp_pta("export", *JOURNALS, "-o", path) == (0, "", "")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + len(JOURNALS)
    words = ("--tidy", "--decimal", "comma", "--force")
    assert gp_pta("export", BOTH, "-o", tmp_path / "out.csv", *words) == (0, "", "")
    assert (tmp_path / "out.csv").read_text().startswith("journal;session;")
    assert json.loads((tmp_path / "out.json").read_text())["format"] == "gp-pta sessions 1"
    assert (tmp_path / "out.parquet").read_bytes()[:4] == b"PAR1"


def test_text_goes_to_standard_output(gp_pta: GpPta) -> None:
    code, out, _ = gp_pta("export", BOTH, "--format", "fhir", "-o", "-")
    assert code == 0
    assert json.loads(out)["resourceType"] == "Bundle"


def test_a_journal_counts_once(gp_pta: GpPta) -> None:
    again = BOTH.parent / ".." / BOTH.parent.name / BOTH.name
    code, out, err = gp_pta("export", BOTH, again, "--format", "csv")
    assert (code, out) == (2, "")
    assert f"is named twice, as {str(BOTH)!r}" in err


def test_copies_are_left_out_and_sessions_of_two_devices_told_apart(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    """A copied data directory that goes on at another device; a session before it was finished."""
    header, *records = read_journal(SILENT).records
    places = {}
    for device in ("box-1", "box-2"):
        places[device] = tmp_path / device / "session-000001.journal"
        places[device].parent.mkdir()
        write_again(places[device], {**header, "device": device}, records)
    copied, earlier = tmp_path / "box-2" / "copy.journal", tmp_path / "earlier.journal"
    copied.write_bytes(places["box-1"].read_bytes())
    earlier.write_bytes(copied.read_bytes()[:30_000])
    twice = [earlier, copied, places["box-1"], places["box-2"], "--unfinished"]

    code, out, err = gp_pta("export", *twice, "--format", "json")
    assert code == 0
    assert [each["device"] for each in json.loads(out)["sessions"]] == ["box-1", "box-2"]
    assert err.splitlines() == [
        f"left out: {copied} is a copy of {places['box-1']}",
        f"left out: {earlier} is {places['box-1']} before it was finished",
    ]
    _, out, _ = gp_pta("export", *twice, "--format", "fhir")
    devices = [e["resource"] for e in json.loads(out)["entry"] if "version" in e["resource"]]
    assert [each["serialNumber"] for each in devices] == ["box-1", "box-2"]


def test_a_session_that_was_gone_on_with_says_so_in_every_format(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    header, *records = read_journal(SILENT).records
    when, why = "2026-01-03T10:00:00+00:00", reason(Code.WAITS_CLOCK)
    path = tmp_path / "session-000001.journal"
    write_again(path, header, go_on_with(records, when, why))
    told = read_examination(path)
    (left,) = (each.left for each in told.course.breaks)
    (waited,) = (each.at for each in told.course.waits)

    (row,) = csv.DictReader(io.StringIO(as_csv([told]).decode()))
    assert row["broken_off"] == f"{left} to {when}"
    assert row["waited"] == f"{waited} {say(why)}"
    assert (row["boards_left"], row["device"]) == ("sim 51b0000000000001", "")
    (session,) = json.loads(as_json([told]))["sessions"]
    assert session["breaks"] == [{"left": left, "resumed": when}]
    assert session["waits"] == [{"at": waited, "why": [why.to_record()]}]
    panel = json.loads(as_fhir([told]))["entry"][-1]["resource"]
    assert panel["effectivePeriod"]["start"] == header["started"]
    assert panel["effectivePeriod"]["end"][:10] == "2026-01-03"
    notes = [note["text"] for note in panel["note"]]
    assert f"waited {waited}: {say(why)}" in notes
    assert "tone generator: sim 51b0000000000001" in notes


def test_the_schema_is_written(tmp_path: Path, gp_pta: GpPta) -> None:
    code, out, _ = gp_pta("export", "--schema")
    assert code == 0
    path = tmp_path / "schema.json"
    assert gp_pta("export", "--schema", "-o", path) == (0, "", "")
    assert path.read_text() == out
    assert json.loads(out)["$id"] == "urn:gp-pta:schema:sessions:1"


def test_of_an_ear_that_did_not_end_what_is_guessed_is_no_measurement(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    half = tmp_path / "session-000002.journal"
    half.write_bytes(BOTH.read_bytes()[:60_000])
    session = replay_session(half)
    wanted_db = partial(session.settings.wanted_half_width_db, BY_AIR)
    (recorded,) = [ear for ear in session.test.result().ears if ear.outcome == "incomplete"]
    guessed = {
        t.frequency_hz
        for t in recorded.thresholds
        if t.mark == "measured" and t.is_wider_than(2.0 * wanted_db(t.frequency_hz))
    }
    out = gp_pta("export", half, "--format", "json", "--unfinished")[1]
    ears = {ear["ear"]: ear for ear in json.loads(out)["sessions"][0]["ears"]}
    thresholds = {t["frequency_hz"]: t for t in ears[recorded.route.ear]["thresholds"]}
    numbers = [t for t in thresholds.values() if t["threshold_db_hl"] is not None]

    assert len(numbers) < len(thresholds)
    for threshold in recorded.thresholds:
        found = thresholds[threshold.frequency_hz]
        if threshold.frequency_hz in guessed:
            assert (found["mark"], found["threshold_db_hl"]) == ("incomplete", None)
        else:
            whole = USUAL.of(recorded.route, threshold)
            wanted = wanted_db(threshold.frequency_hz)
            assert found == threshold_with_width(threshold, wanted, whole)
    coded = gp_pta("export", half, "--format", "csv", "--unfinished", "--nhanes")[1]
    row = coded.splitlines()[1].split(",")
    assert row.count("888") == sum(t["mark"] == "incomplete" for t in thresholds.values())


def test_an_ear_that_ended_keeps_its_numbers_however_wide() -> None:
    narrow = Settings(stop_half_width_db=1.0)
    result = recorded_result(BOTH).result
    assert as_told(result, narrow, nominal=False) == result
    ears = tuple(replace(ear, outcome=Outcome.INCOMPLETE) for ear in result.ears)
    told = as_told(replace(result, ears=ears), narrow, nominal=False)
    for ear, unended in zip(result.ears, told.ears, strict=True):
        for before, after in zip(ear.thresholds, unended.thresholds, strict=True):
            measured = before.mark == Outcome.MEASURED
            assert after.mark == (Outcome.INCOMPLETE if measured else before.mark)


def test_a_result_that_does_not_follow_from_the_answers_is_told_by_replay_alone(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    header, *records = read_journal(SILENT).records
    finish = next(r["action"] for r in records if r.get("action", {}).get("what") == "finish")
    finish["result"]["ears"][0]["tones"] += 1
    path = tmp_path / "session-000001.journal"
    write_again(path, header, records)

    assert gp_pta("export", path, "--format", "csv")[0] == 0
    assert gp_pta("replay", path)[0] == 1


def test_an_age_that_the_profile_knows_nothing_of_is_exported_as_little_as_it_is_replayed(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    header, *records = read_journal(GOLDEN / "gp-pta-2015.journal").records
    path = tmp_path / "session-000001.journal"
    write_again(path, {**header, "person": {**header["person"], "age_years": 40}}, records)
    said = [gp_pta("replay", path), gp_pta("export", path, "--format", "csv")]

    assert said[0] == said[1]
    assert said[0][0] == 6
    assert (
        "age_years is 40; profile 'gp-pta-2015' makes no use of it: allowed is null" in said[0][2]
    )
