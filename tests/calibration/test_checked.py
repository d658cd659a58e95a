"""What was checked before a person wore it stands in the file, or why not; and is told."""

import copy
import datetime
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from device.calibration.readings import as_toml, without_levels
from device.simulator.world import World
from firmware_py.calibration.calibration import Calibration
from firmware_py.calibration.checked import FIGURES, OF_BONE
from firmware_py.calibration.fields import CalibrationError, NoLevelsError
from firmware_py.calibration.file import calibration_from, read_calibration
from firmware_py.calibration.in_force import CalibrationInForce, CalibrationOnFile, load_calibration
from firmware_py.terms.words import say
from host_tools.commands.export.examination import read_examination
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.calibration.calibrations import DUE, MADE, content, with_bone
from tests.firmware.whole_sessions import a_listener

DAY: Final = datetime.timedelta(days=1)
WHY: Final = "no meter"
MADE_CHECKS: Final[dict[str, dict[str, Any]]] = {
    name: {key: low for key, (low, _) in figures.items()} for name, figures in FIGURES.items()
}
DISTORTION_BY_HZ: Final = MADE_CHECKS["distortion-by-frequency"]
NO_VIBRATOR: Final = {"vibrator": {"not_measured": "none"}}


def checked(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the content of a file by air with good checks; a change of None takes one out."""
    told = copy.deepcopy(MADE_CHECKS) | NO_VIBRATOR | (changes or {})
    for name in OF_BONE:
        del told[name]
    return content({"checks": {name: each for name, each in told.items() if each is not None}})


def in_force(made: Calibration, today: datetime.date = MADE) -> CalibrationInForce:
    return CalibrationOnFile(made).judge(today)


def test_a_file_of_before_does_not_tell() -> None:
    made = calibration_from(content())
    assert made.checks is None
    assert in_force(made).headline == "CALIBRATED: 2026-01-02, due 2026-12-31"


@pytest.mark.parametrize("changes", [{}, {"distortion-by-frequency": None}])
def test_with_all_of_them_nothing_is_lacking(changes: dict[str, Any]) -> None:
    """Nor is it in a file of before, which has no distortion by frequency."""
    made = calibration_from(checked(changes))
    assert made.checks is not None
    assert (made.checks.lacking, made.checks.remarked) == ((), ())
    assert in_force(made).headline == "CALIBRATED: 2026-01-02, due 2026-12-31"


def test_what_was_not_measured_is_told_wherever_the_calibration_is() -> None:
    skipped = {"not_measured": WHY}
    made = calibration_from(
        checked({"noise": skipped, "crosstalk": {**MADE_CHECKS["crosstalk"], "remark": "50 dB"},
                 "rise-and-fall": skipped})
    )  # fmt: skip
    assert made.checks is not None
    assert made.checks.lacking == ("noise", "rise-and-fall")
    assert made.checks.remarked == ("crosstalk",)
    lacking = "2026-01-02, due 2026-12-31; not measured: noise floor, rise and fall"
    judged = in_force(made)
    assert judged.headline == f"CALIBRATED: {lacking}"
    assert say(judged.about) == lacking
    overdue = in_force(made, DUE + DAY)
    for each in (judged, overdue):
        assert CalibrationInForce.from_record(each.as_record()) == each


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"crosstalk": None}, "[checks] 'crosstalk' is missing"),
        ({"vibrator": None}, "[checks] 'vibrator' is missing"),
        ({"levels": {"not_measured": WHY}}, "[checks] 'levels' is not known"),
        ({"crossed": {"not_measured": WHY}}, "[checks] 'crossed' is not known"),
        ({"noise": 3}, "[checks] 'noise' is 3; it has to be a table"),
        ({"noise": {"not_measured": " "}}, "[checks.noise] not_measured is ' '; allowed are 1 to"),
        ({"noise": {"not_measured": WHY, "left_nv": 9.0}}, "[checks.noise] 'left_nv' is not known"),
        ({"noise": {"left_nv": 9.0}}, "[checks.noise] 'right_nv' is missing"),
        ({"vibrator": {"left_db": 1.0}}, "[checks.vibrator] 'left_db' is not known"),
        (
            {"channel-order": {"swapped": 1}},
            "[checks.channel-order] swapped is 1; allowed are numbers from 0 to 0",
        ),
        (
            {"distortion": {**MADE_CHECKS["distortion"], "left_percent": 2.6}},
            "[checks.distortion] left_percent is 2.6; allowed are numbers from 0 to 2.5 %",
        ),
        (
            {"output-limit": {**MADE_CHECKS["output-limit"], "left_dbfs": 0.5}},
            "[checks.output-limit] left_dbfs is 0.5; allowed are numbers from -160 to 0 dBFS",
        ),
        (
            {"distortion-by-frequency": {**DISTORTION_BY_HZ, "right_4000_percent": 2.6}},
            "by-frequency] right_4000_percent is 2.6; allowed are numbers from 0 to 2.5 %",
        ),
        (
            {"rise-and-fall": {**MADE_CHECKS["rise-and-fall"], "rise_ms": 19.0}},
            "[checks.rise-and-fall] rise_ms is 19.0; allowed are numbers from 20 to 50 ms",
        ),
        (
            {"rise-and-fall": {**MADE_CHECKS["rise-and-fall"], "plateau_ms": 149}},
            "[checks.rise-and-fall] plateau_ms is 149; allowed are numbers from 150",
        ),
        (
            {"crosstalk": {**MADE_CHECKS["crosstalk"], "left_db": 39.0}},
            "[checks.crosstalk] left_db is 39.0; allowed are numbers from 40 to 160 dB",
        ),
        (
            {"noise": {**MADE_CHECKS["noise"], "remark": "\n"}},
            "[checks.noise] remark is '\\n'; allowed are 1 to 80 printable",
        ),
    ],
)
def test_what_is_wrong_is_named_with_what_is_allowed(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CalibrationError) as refusal:
        calibration_from(checked(changes))
    assert words in str(refusal.value)


def test_a_vibrator_has_its_distortion_and_no_reason() -> None:
    told = copy.deepcopy(MADE_CHECKS)
    assert calibration_from(with_bone({"checks": told})).checks is not None
    told["distortion-by-bone"]["left_percent"] = 5.6
    with pytest.raises(CalibrationError, match=r"left_percent is 5.6; allowed .* 0 to 5.5 %"):
        calibration_from(with_bone({"checks": told}))
    with pytest.raises(CalibrationError, match="'vibrator' is not known"):
        calibration_from(with_bone({"checks": MADE_CHECKS | NO_VIBRATOR}))


def test_checks_alone_leave_a_device_uncalibrated_and_it_says_why(tmp_path: Path) -> None:
    told = checked({"levels": {"not_measured": "no coupler"}})
    earphones = {n: told["transducer"][n] for n in ("name", "serial_left", "serial_right")}
    made = without_levels(told["calibration"], earphones, told["checks"])
    path = tmp_path / "c.toml"
    path.write_text(as_toml(made))
    assert tomllib.loads(path.read_text())["checks"] == told["checks"]

    why = f"{path}: checks alone: the levels were not measured, no coupler"
    with pytest.raises(NoLevelsError) as refusal:
        read_calibration(path)
    assert str(refusal.value) == why
    judged = load_calibration(path).judge(MADE)
    assert judged.headline == f"UNCALIBRATED: levels are nominal ({why})"
    assert CalibrationInForce.from_record(judged.as_record()) == judged
    assert judged.nominal

    del made["checks"]["levels"]
    with pytest.raises(CalibrationError, match="'levels' is missing"):
        calibration_from(made)
    made["checks"]["levels"] = {"not_measured": "no coupler"}
    with pytest.raises(CalibrationError, match="'coupler' is not known"):
        calibration_from({**made, "transducer": {**earphones, "coupler": "none"}})


def test_a_journal_has_the_checks_and_replays_to_the_bit(tmp_path: Path) -> None:
    made = calibration_from(checked({"noise": {"not_measured": WHY}}))
    world = World(tmp_path / "data", a_listener("S2"), calibration=CalibrationOnFile(made))
    world.until(lambda: world.client.connected)
    world.ask("SESS:STAR LEFT,SEED=3")
    world.finish()
    (part,) = world.ask("*TST?")
    world.close()
    told = "CALIBRATED: 2026-01-02, due 2026-12-31; not measured: noise floor"
    verdict = replay_journal(world.journal())
    assert (verdict.code, verdict.calibration) == (IDENTICAL, told)
    assert told.replace(";", ",") in part
    exported = read_examination(world.journal()).as_json()["calibration"]
    assert exported["words"] == told
    assert exported["about"]["lacking"] == ["noise"]
