"""A vibrator that is calibrated to 6 kHz: a whole session, and all that is made of it."""

import csv
import io
import json
from pathlib import Path
from typing import Final

import pytest

from device.audiogram_tables.table import Table
from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.world import World
from firmware_py.calibration.file import calibration_from
from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.results import ThresholdResult
from firmware_py.terms.route import BONE, EARS, Route
from firmware_py.terms.settings import Settings
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.calibration.calibrations import CalibratedBoard, with_bone
from tests.firmware.whole_sessions import a_listener, finish_and_place, stimuli_of
from tests.host.journals import GpPta

HZ: Final = 6000
TRUTH_DB_HL: Final = 45.0  # of N3 there, with a gap
LEVEL_DB: Final = 0.051  # tables have a tenth of a dB
AIRBORNE: Final = "an open ear may hear a vibrator through the air"


def run_session(directory: Path, *, to_6_khz: bool) -> Path:
    """Return the journal of a session by a board that is as its calibration says."""
    truth = calibration_from(with_bone(to_6_khz=to_6_khz))
    gap = Audiogram((4000.0, 6000.0), (0.0, 65.0 - TRUTH_DB_HL))
    listener = a_listener("N3", head=Head(dict.fromkeys(EARS, gap)))
    board = CalibratedBoard(listener, truth)
    world = World(directory, board=board, calibration=CalibrationOnFile(truth))
    world.begin(Settings(routes="air, bone"))
    finish_and_place(world)
    return world.end()


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    at = tmp_path_factory.mktemp("sessions")
    return {to: run_session(at / str(to), to_6_khz=to) for to in (True, False)}


@pytest.fixture
def journal(journals: dict[bool, Path]) -> Path:
    return journals[True]


def found_at_6_khz(journal: Path) -> dict[str, ThresholdResult]:
    by_route = recorded_result(journal).result.by_route
    found = {ear: by_route[Route(ear, BONE)].thresholds[-1] for ear in EARS}
    assert {each.frequency_hz for each in found.values()} == {HZ}
    return found


def test_it_is_measured_there_and_comes_out_again_bit_for_bit(journal: Path) -> None:
    for found in found_at_6_khz(journal).values():
        assert found.mark == Outcome.MEASURED
        assert found.low_db_hl is not None
        assert found.high_db_hl is not None
        assert found.low_db_hl < TRUTH_DB_HL < found.high_db_hl
    assert HZ in {tone["frequency_hz"] for tone in stimuli_of(journal) if "transducer" in tone}
    assert replay_journal(journal).code == IDENTICAL


def test_without_levels_there_it_is_as_ever(journals: dict[bool, Path]) -> None:
    journal = journals[False]
    by_bone = [tone["frequency_hz"] for tone in stimuli_of(journal) if "transducer" in tone]
    assert by_bone
    assert max(by_bone) <= 4000.0
    for ear in EARS:
        found = recorded_result(journal).result.by_route[Route(ear, BONE)]
        assert found.thresholds[-1].frequency_hz == 4000
    assert replay_journal(journal).code == IDENTICAL


def test_the_report_tells_it_with_the_reason_for_doubt(
    journals: dict[bool, Path], gp_pta: GpPta, tmp_path: Path
) -> None:
    pages = {}
    for to_6_khz, journal in journals.items():
        out = tmp_path / f"{to_6_khz}.html"
        assert gp_pta("report", journal, "-o", out)[0] == 0
        pages[to_6_khz] = out.read_text(encoding="utf-8")
    assert AIRBORNE in pages[True]
    assert AIRBORNE not in pages[False]


@pytest.mark.parametrize("how", [("csv",), ("csv", "--tidy"), ("json",), ("fhir",), ("parquet",)])
def test_every_format_has_it_and_it_is_read_back(
    journal: Path, gp_pta: GpPta, tmp_path: Path, how: tuple[str, ...]
) -> None:
    form, *more = how
    out = tmp_path / f"out.{'json' if form == 'fhir' else form}"
    assert gp_pta("export", journal, "--format", form, *more, "-o", out)[0] == 0
    ears = Table.read(str(out), out.read_bytes()).all_ears()
    back = {ear.side: ear.by_bone[float(HZ)].level_db_hl for ear in ears if ear.by_bone}
    wanted = {ear: each.threshold_db_hl for ear, each in found_at_6_khz(journal).items()}
    assert back == pytest.approx(wanted, abs=LEVEL_DB)


def test_a_saved_document_is_good_and_gives_the_same_table(
    journal: Path, gp_pta: GpPta, tmp_path: Path
) -> None:
    saved = tmp_path / "saved.json"
    assert gp_pta("export", journal, "--format", "json", "-o", saved)[0] == 0
    tables = [gp_pta("export", each, "--format", "csv")[1] for each in (journal, saved)]
    (one,), (other,) = (csv.DictReader(io.StringIO(each)) for each in tables)
    name = f"right-bone_{HZ}_hz_db_hl"
    assert one[name] == other[name] != ""


def test_fhir_has_no_code_of_loinc_there(journal: Path, gp_pta: GpPta) -> None:
    bundle = json.loads(gp_pta("export", journal, "--format", "fhir")[1])
    there = [
        each["resource"]["code"]
        for each in bundle["entry"]
        if f"bone conduction --{HZ} Hz" in each["resource"].get("code", {}).get("text", "")
    ]
    assert len(there) == len(EARS)
    assert not any("coding" in code for code in there)
