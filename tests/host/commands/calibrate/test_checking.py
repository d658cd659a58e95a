"""A device is checked before it is measured: a whole session, with meters."""

from pathlib import Path
from typing import Final

import pytest

from device.build.budget import first_limit_dbfs
from firmware_py.calibration.file import read_calibration
from firmware_py.calibration.in_force import load_calibration
from firmware_py.platform.named_file import read_toml
from host_tools.commands.calibrate.checking import BEGIN, WHY
from host_tools.commands.calibrate.kept import Readings, kept_beside
from host_tools.commands.calibrate.setup import safe_limit
from host_tools.main import parser
from tests.host.commands.calibrate.technician import TODAY, Devices, Meters, Technician, run

FIRST: Final = first_limit_dbfs("B", "tdh39")
BUILD_B: Final = ("--build", "B", "--loud", f"{FIRST:g}")


class OfBuildB(Meters):
    """10 Ohm behind 120, of 2.1 V."""

    full_scale_v = {"left": 0.161, "right": 0.163}  # noqa: RUF012


def checks_of(output: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = read_toml(output, 1 << 16)["checks"]
    return found


def test_a_whole_session_measures_what_is_true_of_the_device(
    device: Devices, tmp_path: Path
) -> None:
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (FIRST, FIRST - 1.5)
        technician = Technician(bench, meters=OfBuildB(apart_db=60.0))
        assert run(output, technician, *BUILD_B) == 0
        played = bench.world.board.played

    assert max(tone.level_dbfs for tone in played) == FIRST, "never above the first limit"
    checks = checks_of(output)
    assert checks["output-limit"] == {
        "safe_dbfs": FIRST, "left_dbfs": FIRST, "right_dbfs": FIRST - 1.5
    }  # fmt: skip
    assert checks["channel-order"] == {"swapped": 0}
    assert checks["full-scale"] == pytest.approx({"left_v": 0.161, "right_v": 0.163}, abs=1e-3)
    assert checks["crosstalk"]["left_db"] == pytest.approx(59.9, abs=0.2)
    assert checks["crosstalk"]["remark"] == "left 59.9 dB, goal 70 dB; right 60.1 dB, goal 70 dB"
    assert checks["noise"] == {"left_nv": 60.0, "right_nv": 60.0}
    assert (checks["distortion"]["left_percent"], checks["distortion"]["right_dbfs"]) == (
        0.4, FIRST - 1.5,
    )  # fmt: skip
    assert checks["distortion-by-frequency"] == {
        f"{ear}_{hz}_percent": 0.4
        for hz in (125, 250, 500, 1000, 2000, 4000) for ear in ("left", "right")
    }  # fmt: skip
    assert checks["linearity"]["left_worst_db"] == pytest.approx(0.0, abs=0.05)
    assert checks["linearity"]["left_lowest_dbfs"] == FIRST - 90.0
    assert checks["rise-and-fall"] == {"rise_ms": 20.3, "fall_ms": 20.4, "plateau_ms": 190.0}
    assert checks["vibrator"] == {"not_measured": "no vibrator was named"}
    made = read_calibration(output)
    assert made.checks is not None
    assert (made.checks.lacking, made.checks.remarked) == ((), ("crosstalk",))
    first = [line for line in technician.session if line.startswith("1 of 8: output limit")]
    assert len(first) == 1
    assert not kept_beside(output).exists()


def test_without_a_coupler_there_are_checks_and_a_test_says_why(
    device: Devices, tmp_path: Path
) -> None:
    """With a coupler the same command goes on: only the limit is found anew, and the meter told."""
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (FIRST, FIRST)
        technician = Technician(bench, meters=OfBuildB())
        assert run(output, technician, *BUILD_B, "--no-coupler") == 0
        assert technician.said[-3:] == [
            "not measured: distortion, distortion-by-frequency, levels, vibrator",
            f"{output}: without levels: tests are UNCALIBRATED, and say why",
            f"{kept_beside(output)} stays: with a coupler the same goes on by --force, without "
            "--no-coupler",
        ]
        checks = checks_of(output)
        for name in ("distortion", "levels"):
            assert checks[name] == {"not_measured": "no coupler"}
        assert "left_v" in checks["full-scale"]
        why = (
            f"levels are nominal ({output}: checks alone: the levels were not measured, no "
            "coupler; not measured either: distortion, distortion-by-frequency)"
        )
        assert load_calibration(output).judge(TODAY).headline == f"UNCALIBRATED: {why}"

        again = Technician(bench, meters=OfBuildB())
        assert run(output, again, *BUILD_B, "--force", "--resume") == 0
    assert f"{kept_beside(output)}: 7 checks, and 0 of 22 readings, kept from before" in again.said
    assert again.asked.count(BEGIN) == 3, (
        "of the output limit, and the distortion, in the end by frequency"
    )
    made = read_calibration(output)
    assert made.checks is not None
    assert made.checks.lacking == ()
    assert load_calibration(output).judge(TODAY).headline == (
        "CALIBRATED: 2026-05-06, due 2027-05-06"
    )


def test_a_check_that_is_skipped_says_why_in_the_file_and_is_not_asked_again(
    device: Devices, tmp_path: Path
) -> None:
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        answers = {
            BEGIN: ["skip", "skip Only one ear", "quit"],
            WHY: ["", "\u00fc", "no meter there"],
        }
        first = Technician(bench, answers, Meters())
        assert run(output, first) == 1
        said = "\n".join(first.said)
        assert "the reason is ''; allowed are 1 to 80 printable ASCII characters" in said
        assert "output limit: not measured, no meter there" in said
        assert "left and right: not measured, Only one ear" in said
        kept = Readings.load(kept_beside(output)).checks
        assert kept["channel-order"] == {"not_measured": "Only one ear"}
        assert [*kept] == ["output-limit", "channel-order"]

        second = Technician(bench, {"right earphone, V": ["skip no probe"]}, Meters())
        assert run(output, second, "--resume") == 0
    assert not any("output limit." in line for line in second.said)
    assert checks_of(output)["full-scale"] == {"not_measured": "no probe"}
    judged = load_calibration(output).judge(TODAY)
    assert judged.headline.endswith("; not measured: output limit, left and right, full scale")


def test_swapped_ears_and_a_limit_that_is_too_high_are_refused(
    device: Devices, tmp_path: Path
) -> None:
    """What the board would play above its limit is not played for the checks after it."""
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        technician = Technician(
            bench, {BEGIN: ["", "skip it is 0", "", "quit"]}, Meters(swapped=True)
        )
        assert run(output, technician, *BUILD_B) == 1
        played = bench.world.board.played
    said = "\n".join(technician.said)
    assert (
        f"refused: the tone generator plays {FIRST + 0.5:g} dBFS in the left ear; allowed" in said
    )
    assert f"install-board --limit-left {FIRST:g} --limit-right {FIRST:g}" in said
    assert "refused: the ears are swapped: the right earphone sounds for the left ear" in said
    assert max(tone.level_dbfs for tone in played) == FIRST + 0.5, "one step, on the table"
    assert [tone.level_dbfs > FIRST for tone in played].count(True) == 1
    assert output.exists() is False


def test_a_meter_that_clips_is_named_and_what_to_do(device: Devices, tmp_path: Path) -> None:
    """1 V of 2: the first step of 10 dB is 4 dB on the meter."""
    output = tmp_path / "c.toml"
    with device(tmp_path / "data") as bench:
        answers = {
            BEGIN: [*["skip no meter"] * 6, ""],
            "left 1000 Hz at -10 dBFS, dB or": ["632 mV", "quit"],
        }
        technician = Technician(bench, answers, Meters(clips_at_v=1.0))
        assert run(output, technician) == 1
    told = "10 dB less gave -4.0 dB on the meter; allowed is 1 dB off: the meter or the output"
    assert sum(told in line for line in technician.said) == 1
    assert "linearity" not in Readings.load(kept_beside(output)).checks


def test_a_build_that_nobody_knows_is_taken_for_the_loudest() -> None:
    command = ["calibrate", "/dev/none", "-o", "c.toml"]
    for options, safe_dbfs in (
        ([], -41.0), (["--build", "b"], FIRST), (["--build", "B", "--limit", "-5"], -5.0),
        (["--build", "A", "--transducer", "er3a"], -12.0),
        (["--build", "A", "--transducer", "ER3A-10"], -4.5),
    ):  # fmt: skip
        assert safe_limit(parser().parse_args([*command, *options]))[0] == safe_dbfs
