"""Pairs of ears, calibrated and not: what programs read is the same in every form of an export."""

import csv
import io
import json
from pathlib import Path
from typing import Final

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named
from device.simulator.listener import SimulatedListener
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.world import World
from firmware_py.procedure.person import Person
from firmware_py.procedure.route import BY_AIR
from firmware_py.procedure.settings import HUGHSON_WESTLAKE, NONE, Settings
from host_tools.commands.export.csv_table import code_column, level_column
from host_tools.commands.export.examination import read_examination
from tests.host.commands.export.sessions import as_csv, as_fhir, as_json
from tests.host.test_only_what_was_asked import fhir_told

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("one-result")]

CORNER: Final = Audiogram(
    (250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0), (60.0, 80.0, 105.0, 115.0, 115.0, 115.0)
)
FLOOR: Final = Audiogram((250.0, 1000.0, 8000.0), (-15.0, -13.0, -14.0))
N: Final = {name: audiogram_named(name)["right"] for name in ("N1", "N2", "N6", "N7", "S3")}
# Right and left ear, the share of tones that nobody answers, and who it is.
PAIRS: Final = {
    "symmetric": (N["N2"], N["N2"], 0.01, Person(60, "F")),
    "N1,N6": (N["N1"], N["N6"], 0.01, Person(71, "M")),
    "S3,N7": (N["S3"], N["N7"], 0.01, Person(42, "F")),
    "corner": (CORNER, CORNER, 0.01, Person()),
    "all at the floor": (FLOOR, FLOOR, 0.01, Person(18, "M")),
    "nobody answers": (N["N2"], N["N2"], 1.0, Person(81, "M")),
}
CONFIRMED: Final = "symmetric"  # once more by the classical rule
UNKNOWN_BOARD: Final = "51b00000000000ff"  # there is no calibration for it


def record(pair: str, directory: Path, *, calibrated: bool) -> Path:
    """Return the journal of a session of a pair of ears."""
    right, left, lapse_rate, person = PAIRS[pair]
    confirm = HUGHSON_WESTLAKE if pair == CONFIRMED else NONE
    listener = SimulatedListener(
        {"right": right, "left": left},
        response_noise_db=2.0, lapse_rate=lapse_rate, false_alarm_rate=0.0, seed=16,
    )  # fmt: skip
    board = None if calibrated else SimulatedBoard(listener, boot=1, serial=UNKNOWN_BOARD)
    world = World(directory, listener, board=board)
    world.begin(Settings(ears="both", seed=5, confirm=confirm), person)
    return world.end()


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("pair", PAIRS)
def test_files_for_programs_say_the_same(pair: str, calibrated: bool, tmp_path: Path) -> None:
    examination = read_examination(record(pair, tmp_path, calibrated=calibrated))
    (exported,) = json.loads(as_json([examination]))["sessions"]
    (row,) = csv.DictReader(io.StringIO(as_csv([examination]).decode()))
    fhir = [entry["resource"] for entry in json.loads(as_fhir([examination]))["entry"]]
    observed = [each for each in fhir if "code" in each]
    # A confirmation has the code of its threshold, and stands after it.
    by_code = {each["code"]["coding"][0]["code"]: each for each in reversed(observed)}

    assert (exported["grade"] is None) or calibrated
    for ear in exported["ears"]:
        assert row[f"verdict_{ear['ear']}"] == ear["verdict"]
        for found in ear["thresholds"]:
            reading, place = found["reading"], (ear["ear"], found["frequency_hz"])
            assert row[code_column(*place)] == found["mark"]
            measured = f"{reading['level_db_hl']:.1f}" if reading["kind"] == "measured" else ""
            assert row[level_column(*place)] == (measured if ear["has_thresholds"] else "")
            resource = by_code[BY_AIR.loinc[place[0]][place[1]]]
            value = resource.get("valueQuantity")
            if ear["has_thresholds"]:
                assert (value and (value.get("comparator"), value["value"])) == fhir_told(reading)
            else:
                assert value is None
            if not calibrated:
                assert resource["status"] in ("preliminary", "cancelled", "registered")
                assert "dB HL" not in json.dumps(value)
