"""Bone in a calibration: dB re 1 uN in place of dB SPL, and a file may do without."""

import json
import math
import tomllib
from typing import Any, Final

import pytest

from device.calibration.readings import as_toml
from firmware_py.calibration import simulated
from firmware_py.calibration.calibration import Calibration
from firmware_py.calibration.fields import CalibrationError
from firmware_py.calibration.file import calibration_from
from firmware_py.calibration.in_force import CalibrationInForce, CalibrationOnFile
from firmware_py.installation.configuration import Configuration
from firmware_py.terms.route import BY_AIR, BY_BONE, Route
from tests.calibration.calibrations import MADE, calibration, with_bone
from tests.firmware.device import Device, answers_to

BONE: Final = {ear: Route(ear, "bone") for ear in ("left", "right")}


def of_bone() -> Calibration:
    return calibration_from(with_bone())


def test_a_level_by_bone_goes_over_force_to_full_scale() -> None:
    """1 kHz: 30 dB HL are 72.5 dB re 1 uN, and full scale is 112 left and 111.5 right."""
    assert of_bone().level_dbfs(BONE["left"], 1000.0, 30.0) == -39.5
    assert of_bone().level_dbfs(BONE["right"], 1000.0, 30.0) == -39.0
    half_octave = (67.0 + 58.0) / 2.0  # between 250 and 500 Hz
    assert of_bone().level_dbfs(BONE["left"], 250.0 * 2**0.5, 0.0) == half_octave - 112.0
    assert of_bone().highest_db_hl(BONE["left"], 250.0) == 112 - 5 - 67
    assert of_bone().highest_db_hl(BONE["right"], 1000.0) == math.floor(111.5 - 5 - 42.5)


def test_it_comes_back_from_its_file() -> None:
    again = tomllib.loads(as_toml(of_bone().content))
    again["calibration"] |= {key: again["calibration"][key].isoformat() for key in ("date", "due")}
    assert again == with_bone()
    assert of_bone().digest != calibration().digest


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"vibrator": None}, "'vibrator' is missing"),
        ({"left-bone": None}, "'left-bone' is missing"),
        ({"vibrator.serial": None}, "[vibrator] 'serial' is missing"),
        ({"vibrator.serial": ""}, "[vibrator] serial is ''"),
        (
            {"vibrator.placement": "forehead"},
            "placement is 'forehead'; allowed is mastoid: a test asks for it there, and has "
            "symbols of no other place",
        ),
        ({"vibrator.retfl_db_un": None}, "[vibrator] 'retfl_db_un' is missing"),
        ({"vibrator.retfl_db_un.250": None}, "[vibrator.retfl_db_un] lacks 250 Hz; needed are 250"),
        ({"vibrator.retfl_db_un.250": 7.0}, "allowed are numbers from 20 to 80 dB re 1 uN"),
        ({"vibrator.retfl_db_un.8000": 40.0}, "allowed are whole numbers from 250 to 4000 Hz"),
        ({"left-bone.sensitivity_db_un.500": 150.0}, "numbers from 60 to 145 dB re 1 uN"),
        ({"left-bone.level_max_db_un.500": 113.0}, "up to full scale, 112 dB re 1 uN there"),
        ({"left-bone.level_max_db_un.250": 91.0}, "24 dB HL; allowed is 25 dB HL and more, 92 dB "),
        ({"right-bone.sensitivity_db_spl": {}}, "[right-bone] 'sensitivity_db_spl' is not known"),
    ],
)  # fmt: skip
def test_what_it_may_not_say_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CalibrationError) as refusal:
        calibration_from(with_bone(changes))
    assert words in str(refusal.value)


def test_it_may_reach_6_khz_and_then_that_is_asked_and_told(tmp_path: Any) -> None:
    to_4, to_6 = (calibration_from(with_bone(to_6_khz=to_6_khz)) for to_6_khz in (False, True))
    left = BONE["left"]
    assert [each.covers(left, 6000.0) for each in (to_4, to_6)] == [False, True]
    for each, more_hz in ((to_4, ()), (to_6, (6000,))):
        in_force = CalibrationOnFile(each).judge(each.date)
        assert in_force.audiogram_hz(left) == (*BY_BONE.frequencies_hz, *more_hz)
        assert in_force.audiogram_hz(Route("left")) == BY_AIR.frequencies_hz
    assert to_6.highest_db_hl(left, 6000.0) == 112 - 5 - 40
    assert to_4.highest_db_hl(left, 6000.0) == -math.inf, "no sound where nobody measured"
    for each, played in ((to_4, 0), (to_6, 1)):
        device = Device(tmp_path / str(played), calibration=CalibrationOnFile(each))
        limits, answer = answers_to(device, "CAL:LIM? LEFT-BONE", "TONE LEFT-BONE,6000,30")[:2]
        assert limits.endswith(";6000,60") == (played == 1), "as loud as the vibrator may be"
        assert ("allowed are 250 to 4000 Hz" in answer) == (played == 0), answer
        assert [tone.frequency_hz for tone in device.board.played] == [6000.0] * played


def test_nothing_else_reaches_6_khz_by_bone() -> None:
    for in_force in (CalibrationInForce(), CalibrationOnFile().judge(MADE, simulated.BOARD)):
        assert in_force.audiogram_hz(BONE["left"]) == BY_BONE.frequencies_hz


@pytest.mark.parametrize(
    "lacking",
    [
        "vibrator.retfl_db_un", "left-bone.sensitivity_db_un", "left-bone.level_max_db_un",
        "right-bone.sensitivity_db_un", "right-bone.level_max_db_un",
    ],
)  # fmt: skip
def test_6_khz_stands_in_all_tables_of_a_vibrator_or_in_none(lacking: str) -> None:
    with pytest.raises(CalibrationError) as refusal:
        calibration_from(with_bone({f"{lacking}.6000": None}, to_6_khz=True))
    words = "4000, 6000 Hz; 6000 Hz stands in all tables of the vibrator, or in none"
    assert f"[{lacking}] lacks 6000 Hz; needed are 250" in str(refusal.value)
    assert str(refusal.value).endswith(words)


def test_a_calibration_without_retfl_has_no_bone() -> None:
    lacking = calibration()
    assert not lacking.has(BONE["left"])
    assert lacking.highest_db_hl(BONE["left"], 1000.0) == -math.inf
    why = "the calibration has no levels of the left ear by bone: it is one without RETFL"
    assert lacking.lacks(BONE["left"]) == why


def test_without_it_a_tone_by_hand_is_refused_in_a_sentence_and_with_it_it_plays(
    tmp_path: Any,
) -> None:
    for name, calibrated, heard in (("without", calibration(), 0), ("with", of_bone(), 1)):
        device = Device(tmp_path / name, calibration=CalibrationOnFile(calibrated))
        answer = answers_to(device, "TONE LEFT-BONE,1000,30")[0]
        assert ("without RETFL" in answer) == (heard == 0), answer
        assert [tone.level_dbfs for tone in device.board.played] == [-39.5] * heard


def test_the_console_tells_the_limits_of_a_vibrator_and_that_there_is_none(tmp_path: Any) -> None:
    lines = "CAL:LIM? LEFT-BONE", "CAL:LIM?", "TONE:LIM?"
    for name, calibrated in (("without", calibration()), ("with", of_bone())):
        device = Device(tmp_path / name, calibration=CalibrationOnFile(calibrated))
        of_bone_alone, of_all, by_hand = answers_to(device, *lines)[:3]
        assert ("without RETFL" in of_bone_alone) == (name == "without"), of_bone_alone
        assert ("left-bone=" in of_all) == ("left-bone=" in by_hand) == (name == "with")
        assert "inf" not in of_all + by_hand
        assert "right=250," in of_all
        assert "right=250," in by_hand
    most = dict(each.split(",") for each in of_bone_alone.removeprefix("left-bone=").split(";"))
    assert (most["250"], most["1000"], most["4000"]) == ("40", "64", "71")


def test_no_limit_of_a_vibrator_is_above_what_a_test_may_play(tmp_path: Any) -> None:
    simulated, *_ = answers_to(Device(tmp_path), "CAL:LIM? LEFT-BONE")
    for at in simulated.removeprefix("left-bone=").split(";"):
        frequency_hz, level_db_hl = map(float, at.split(","))
        assert level_db_hl == BY_BONE.highest_db_hl(frequency_hz) < 100.0


def test_the_device_tells_the_vibrator_of_a_test_by_bone(tmp_path: Any) -> None:
    device = Device(tmp_path, Configuration(), calibration=CalibrationOnFile(of_bone()))
    lines = "SETT routes,air;bone", "SESS:STAR", "SESS:ABOR", "SESS:IDEN?", "SESS:PAP?"
    identity, paper = map(json.loads, answers_to(device, *lines)[3:5])
    assert identity["vibrator"] == "Radioear B71, B-1"
    about = paper["calibration"]["vibrator"]
    assert (about["placement"], about["coupler"]) == ("mastoid", "IEC 60318-6")
