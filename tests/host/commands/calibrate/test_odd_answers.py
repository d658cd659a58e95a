"""Whoever calibrates answers anything, or comes back with another box: nothing is louder for it."""

import json
import random
from pathlib import Path
from typing import Final

import pytest

from device.calibration.readings import Point
from device.calibration.retspl import reference_levels
from device.simulator.microphones import MicrophoneKind
from device.simulator.room_around import RoomAround
from device.simulator.simulated_board import SimulatedBoard
from firmware_py.calibration.file import read_calibration
from firmware_py.calibration.simulated import SERIAL
from firmware_py.terms.route import BY_AIR, Route
from host_tools.commands.calibrate.checking import BEGIN, WHY
from host_tools.commands.calibrate.kept import Readings, kept_beside
from tests.firmware.whole_sessions import a_listener
from tests.host.bench import Device
from tests.host.commands.calibrate.technician import EARS, TRUTH, Devices, Technician, run
from tests.host.commands.calibrate.test_checking import BUILD_B, FIRST, OfBuildB, checks_of
from tests.host.journals import Refused

WORDS: Final = (
    "", "", "skip no probe", "skip", "softer", "back", "end", "quit", "left", "right", "both",
    "0", "-0", "1e9", "-40", "90", "200", "14 mV", "1,5 uV", "2 V", "9 V", "nan", "inf", "no",
)  # fmt: skip


class AnyAnswer(Technician):
    """Answers at random, and rather often what is true."""

    def __init__(self, seed: int, device: Device) -> None:
        super().__init__(device, meters=OfBuildB())
        self._random = random.Random(seed)

    def _answer(self, question: str) -> str:
        if len(self.asked) > 150:
            return "quit"
        true = super()._answer(question)
        return true if self._random.random() < 0.8 else self._random.choice(WORDS)


@pytest.mark.parametrize("seed", range(4))
def test_no_answers_make_a_tone_louder_than_the_first_limit(
    device: Devices, tmp_path: Path, seed: int
) -> None:
    """The board would play all; one step above is tried in the check of the limit alone."""
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (0.0, 0.0)
        refused = 0
        for options in ((), ("--no-coupler",), ("--loud", "-40")):
            technician = AnyAnswer(seed, bench)
            kept = ("--resume",) if kept_beside(output).exists() else ()
            run(output, technician, "--build", "B", "--force", *options, *kept)
            above = [tone for tone in bench.world.board.played if tone.level_dbfs > FIRST]
            assert {tone.level_dbfs for tone in above} <= {FIRST + 0.5}
            refused += sum("refused: the tone generator plays" in each for each in technician.said)
            assert len(above) == refused


def test_a_word_is_no_consent_to_a_tone(device: Devices, tmp_path: Path) -> None:
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        technician = Technician(bench, {BEGIN: ["no", "14", "quit"]}, OfBuildB())
        assert run(output, technician, *BUILD_B) == 1
        assert bench.world.board.played == []
        assert "'no'; allowed are return, skip and why, and quit" in technician.said

        bench.world.board.server.limits_dbfs = (FIRST, FIRST)
        answers = {"put the left earphone on the coupler": ["wait", "quit"]}
        technician = Technician(bench, answers)
        assert run(output, technician, *BUILD_B) == 1
        assert bench.world.board.played == []
    assert "'wait'; allowed are return and quit" in technician.said


def test_quit_is_neither_a_reason_nor_a_name(device: Devices, tmp_path: Path) -> None:
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        assert run(output, Technician(bench, {BEGIN: ["skip"], WHY: ["Quit"]}), *BUILD_B) == 1
        assert not kept_beside(output).exists()
        technician = Technician(bench, {"serial number of the meter: ": ["quit"]})
        assert run(output, technician, *BUILD_B, without="--meter-serial") == 1
    assert technician.said[-1] == "ended; nothing was written"


def test_what_was_refused_and_then_skipped_says_so(device: Devices, tmp_path: Path) -> None:
    """A slip of the finger is no refusal."""
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (0.0, 0.0)
        answers = {
            BEGIN: ["", f"skip {'x' * 80}", *["skip no time"] * 4, "", "", "", "quit"],
            WHY: ["no other board"],
            "% of distortion": ["2,6", "skip no coupler"],
            "dB or volts": ["abc", "skip no meter"],
            "dBFS, rise": ["19", "skip no other"],
            "put the left": ["quit"],
        }
        assert run(output, Technician(bench, answers, OfBuildB()), *BUILD_B) == 1
    made = Readings.load(kept_beside(output)).checks
    assert {name: told["not_measured"] for name, told in made.items()} == {
        "output-limit": "refused; no other board",
        **dict.fromkeys(("channel-order", "full-scale", "crosstalk", "noise"), "no time"),
        "distortion": "refused; no coupler",
        "linearity": "no meter",
        "rise-and-fall": "refused; no other",
    }


def test_a_box_that_was_rebuilt_between_is_found_out(
    device: Devices, tmp_path: Path, refusal_of: Refused
) -> None:
    """The checks of one build are none of another; the output limit is found each time."""
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (FIRST, FIRST)
        technician = Technician(bench, {"crosstalk": ["quit"], "V or mV": [""]}, OfBuildB())
        assert run(output, technician, *BUILD_B, "--no-coupler") == 0
        kept = Readings.load(kept_beside(output))
        assert (kept.build, "output-limit" in kept.checks) == ("B, tdh39", True)
        command = ["calibrate", "/dev/none", "-o", str(output), "--force", "--resume"]
        told = "the readings are of build 'B, tdh39', and --build is"
        for build in (["--build", "a"], []):
            assert told in refusal_of(*command, *build)

        bench.world.board.server.limits_dbfs = (0.0, 0.0)
        technician = Technician(bench, {BEGIN: ["", "quit"]}, OfBuildB())
        again = ("--build", "b", "--loud", f"{FIRST:g}", "--force", "--resume")
        assert run(output, technician, *again) == 1
    assert any("refused: the tone generator plays" in each for each in technician.said)


def test_the_meter_of_the_levels_is_not_the_multimeter_of_the_checks(
    device: Devices, tmp_path: Path
) -> None:
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (FIRST, FIRST)
        answers = {"multimeter, maker and model: ": ["DMM"]}
        first = Technician(bench, answers, OfBuildB())
        assert run(output, first, *BUILD_B, "--no-coupler", without="--meter") == 0
        assert 'meter = "DMM"' in output.read_text()
        assert run(output, Technician(bench, {}, OfBuildB()), *BUILD_B, "--force", "--resume") == 0
    assert 'meter = "class 1"' in output.read_text()


def test_readings_of_before_allow_nothing_above_the_limit_of_now(
    device: Devices, tmp_path: Path
) -> None:
    """They are of a version without checks: up to full scale. Now it is distorted above -26."""
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (FIRST, FIRST)
        serial = SERIAL
        kept = Readings(reference_levels("tdh39").transducer, {"tone_generator_serial": serial})
        for ear in EARS:
            kept.points[ear] = {f: Point(TRUTH[ear][f], TRUTH[ear][f]) for f in TRUTH[ear]}
        kept.save(kept_beside(output))
        old = json.loads(kept_beside(output).read_text())
        del old["checks"], old["build"]
        kept_beside(output).write_text(json.dumps(old))
        softer = Technician(bench, {"% of distortion": ["softer"]}, OfBuildB())
        assert run(output, softer, *BUILD_B, "--resume") == 0
    assert checks_of(output)["distortion"]["left_dbfs"] == FIRST - 5.0
    made = read_calibration(output)
    for ear, most_dbfs in (("left", FIRST - 5.0), ("right", FIRST)):
        for frequency_hz in BY_AIR.calibrated_hz:
            most = made.level_max_db_spl[Route(ear)].at(frequency_hz)
            assert most == pytest.approx(TRUTH[ear][frequency_hz] + most_dbfs, abs=0.01)


def test_a_multimeter_reads_the_loudest_tone_that_is_allowed(
    device: Devices, tmp_path: Path
) -> None:
    """A tenth of full scale is 2 mV in build A, of which it shows tenths."""
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (-3.5, -3.5)
        answers = {"left earphone, V": ["14 000 \u03bcV"], "right earphone, V": ["quit"]}
        technician = Technician(bench, answers, OfBuildB())
        assert run(tmp_path / "c.toml", technician, "--build", "A", "--loud", "-3.5") == 1
    assert not any("cannot be right" in each for each in technician.said)
    read = [each for each in technician.asked if "at the left earphone, V or mV" in each]
    assert read[0].startswith("left 1000 Hz at -3.5 dBFS")


def test_the_microphone_hears_no_tone_above_the_loud_one(device: Devices, tmp_path: Path) -> None:
    with device(tmp_path / "data") as bench:
        kind = MicrophoneKind(0.0, cushion_db_spl=TRUTH["left"][1000])
        board = SimulatedBoard(a_listener(lapse_rate=1.0), room=RoomAround(microphone=kind))
        bench.world.board = board
        technician = Technician(bench)
        assert run(tmp_path / "c.toml", technician, "--loud", "-45", "--soft", "-60") == 0
    assert any("the board's microphone reads" in each for each in technician.said)
    assert max(tone.level_dbfs for tone in board.played) <= -45.0
