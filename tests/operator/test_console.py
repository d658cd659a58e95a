"""What the console says of the device: self-test, tones by hand, earlier sessions, the PIN."""

import datetime
import json
import math
import re
import shutil
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from device.simulator.simulated_board import PlayedNoise, SimulatedBoard
from device.simulator.virtual_clock import S, VirtualClock
from device.simulator.world import World
from firmware_py.board.self_check import PARTS
from firmware_py.calibration import simulated
from firmware_py.console.pin import PinHash
from firmware_py.findings.result_json import result_as_json
from firmware_py.findings.statements import as_told
from firmware_py.findings.whole_band import USUAL
from firmware_py.installation.configuration import Configuration
from firmware_py.journal import Disk, read_journal
from firmware_py.operator.replies import mean_words, state_words
from firmware_py.platform import data_directory as data_module
from firmware_py.platform.keys import pseudonym
from firmware_py.platform.room_on_disk import of_test
from firmware_py.presenting.presenter import LATE
from firmware_py.sessions import archive
from firmware_py.sessions.archive import glance, recorded_result
from firmware_py.terms.outcomes import DAMAGED, UNFINISHED
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.reasons import as_json
from firmware_py.terms.settings import CONDUCTS, Settings
from firmware_py.terms.words import say
from host_tools.recordings.recorded_session import replay_session
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.firmware.device import Device, answers_to
from tests.firmware.whole_sessions import a_listener, lines_of_session, result_of, run_session
from tests.host.commands.export.sessions import session_with_bone
from tests.host.journals import NONSENSE, write_nonsense
from tests.host.judged import AWAY, DIFFERENT, NOBODY, SILENT, write_judged

pytestmark = pytest.mark.usefixtures("quick_disk")

PIN = "471108"
LOCKED = Configuration(pin=PinHash.of(PIN, b"0123456789abcdef"))


def after(device: Device, *words: str) -> Callable[[], bool]:
    """Return what tells whether the operator has heard these words."""
    return lambda: all(word in device.heard for word in words)


# Self-test


def parts_of(answer: str) -> tuple[int, dict[str, str]]:
    """Return the code of a self-test, and what it says of every part."""
    code, _, words = answer.partition(",")
    assert words[0] == words[-1] == '"'
    parts = dict(part.split(" ", 1) for part in words[1:-1].split("; ") if part.split()[0] in PARTS)
    assert [*parts] == [*PARTS]
    return int(code), parts


def test_a_device_that_works_says_so_part_by_part(tmp_path: Path) -> None:
    tested, calibration, *_ = answers_to(Device(tmp_path), "*TST?", "CAL?")
    code, parts = parts_of(tested)
    own = {"state": "SIMULATED", "digest": simulated.CALIBRATION.digest, "kind": "supra-aural"}
    own |= {"tone_generator": simulated.BOARD, "name": "simulated"}
    assert json.loads(calibration) == own

    assert code == 0
    assert parts["wire"].startswith("ok, 0 garbled, ")
    assert parts["board"] == "ok, sim 1"
    assert parts["button"] == "unchecked, not pressed since the start"
    assert parts["calibration"] == "ok, CALIBRATED (simulated board)"
    assert re.fullmatch(r"ok, \d+ MB free", parts["disk"])
    assert re.fullmatch(r"ok, 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", parts["clock"])
    assert not (tmp_path / data_module.TRIAL_NAME).exists()


def test_a_board_that_does_not_answer_is_at_fault(tmp_path: Path) -> None:
    device = Device(tmp_path)
    code, parts = parts_of(device.firmware._instrument.self_test())

    assert code == PARTS["wire"] + PARTS["board"], "no port is open yet"
    assert parts["board"] == "FAULT, does not answer"
    device.data.close()


def test_a_disk_that_is_full_or_gone_is_at_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(tmp_path / "data")
    device.tones.open()
    with monkeypatch.context() as full:
        full.setattr(Disk, "free_bytes", lambda *_: of_test(Settings()) - 1)
        code, parts = parts_of(device.firmware._instrument.self_test())
    assert code & PARTS["disk"]
    needed_kb = math.ceil(of_test(Settings()) / 1000)
    assert f"only {needed_kb - 1} kB are free on the disk, and {needed_kb} kB" in parts["disk"]

    shutil.rmtree(tmp_path / "data")
    code, parts = parts_of(device.firmware._instrument.self_test())
    assert code & PARTS["disk"]
    assert "cannot be written: No such file or directory" in parts["disk"]
    device.data.close()


def test_a_clock_that_was_never_set_is_at_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unset = datetime.datetime(1970, 1, 1, 0, 3, tzinfo=datetime.UTC)
    monkeypatch.setattr(VirtualClock, "date", lambda _: unset)
    time, test, _ = answers_to(Device(tmp_path), "SYST:TIME?", "*TST?")

    assert time == "1970-01-01T00:03:00+00:00"
    code, parts = parts_of(test)
    assert code == PARTS["clock"]
    assert parts["clock"] == "FAULT, never set: it says 1970-01-01T00:03:00+00:00"


def test_a_button_is_counted_told_and_seen_to_be_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device(tmp_path)
    device.type("SYST:EVEN ON")
    device.type("TONE RIGHT,1000,40")
    device.type("*TST?", after(device, "! button-up button=1"))
    device.type("SYST:EXIT", after(device, "MB free"))
    heard = device.run_out().splitlines()

    assert heard[:2] == ["OK", "OK"]
    tone, down, up = (line for line in heard if line.startswith("! ") and "-over" not in line)
    assert tone == "! manual-tone ear=right frequency_hz=1000 level_db_hl=40"
    assert (down, up) == ("! button-down button=1", "! button-up button=1")
    assert "button ok, 1 presses since the start" in "\n".join(heard)


# Tones by hand


@pytest.mark.parametrize("has_vibrator", [True, False])
def test_bone_is_refused_where_nothing_reaches_it(tmp_path: Path, has_vibrator: bool) -> None:
    device = Device(tmp_path, Configuration(Settings(routes="air, bone")))
    device.board = SimulatedBoard(a_listener("S2"), has_vibrator=has_vibrator)
    tone, meter, test, *_ = answers_to(
        device, "TONE LEFT-BONE,1000,40", "CAL:TONE LEFT-BONE,1000,-60", "SESS:STAR LEFT"
    )
    why = "the tone generator has nothing that reaches the left ear by bone"
    assert [why in told for told in (tone, meter, test)] == [not has_vibrator] * 3
    assert bool([*tmp_path.rglob("session-*.journal")]) == has_vibrator
    assert len(device.board.played) == has_vibrator


def test_a_vibrator_has_its_own_frequencies_and_levels_and_settings_may_have_fewer(
    tmp_path: Path,
) -> None:
    few = Settings(familiar_level_db_hl=60.0, frequency_min_hz=250.0, frequency_max_hz=6000.0)
    device = Device(tmp_path, Configuration(few))
    high, loud, low, _ = answers_to(
        device, "TONE LEFT-BONE,6000,40", "TONE LEFT-BONE,250,46", "TONE LEFT,200,40"
    )
    assert "frequency is 6000; allowed are 250 to 4000 Hz for the left ear by bone" in high
    assert "level is 46; allowed are -10 to 45 dB HL (the highest level by this route)" in loud
    assert "frequency is 200; allowed are 250 to 6000 Hz; nothing was played" in low
    assert device.board.played == []


def test_tones_by_hand_obey_the_limits_of_a_test(tmp_path: Path) -> None:
    refused = {
        "TONE LEFT,1000,41": "level is 41; allowed are -10 to 40 dB HL (the first tone in an ear)",
        "TONE UP,1000,40": "ear is 'UP'; allowed are LEFT, LEFT-BONE, RIGHT and RIGHT-BONE",
        "TONE LEFT,100,40": "frequency is 100; allowed are 125 to 8000 Hz",
        "TONE LEFT,8001,40": "frequency is 8001; allowed are 125 to 8000 Hz",
        "TONE LEFT,1000,-11": "level is -11; allowed are -10 to 40 dB HL",
        "TONE LEFT,nan,40": "frequency is nan; allowed are 125 to 8000 Hz",
        "TONE LEFT,1000,nan": "level is nan; allowed are -10 to 40 dB HL",
        "TONE LEFT,1e9,40": "frequency is 1e+09; allowed are 125 to 8000 Hz",
        "TONE LEFT,loud,40": "frequency is 'loud'; allowed are numbers in Hz",
        "TONE LEFT,1000,inf": "level is inf; allowed are -10 to 40 dB HL",
    }
    device = Device(tmp_path)
    device.board.hand.listener = a_listener(lapse_rate=1.0)

    for answer, words in zip(answers_to(device, *refused), refused.values(), strict=False):
        assert answer.startswith(f'ERROR -224,"{words}'), answer
        assert answer.endswith('; nothing was played"')
    assert device.board.played == []


def test_no_tone_by_hand_is_20_db_above_the_one_before_in_its_ear(tmp_path: Path) -> None:
    device = Device(tmp_path)
    device.board.hand.listener = a_listener(lapse_rate=1.0)
    device.type("SYST:EVEN ON")
    device.type("TONE LEFT,1000,40")
    device.type("TONE LEFT,1000,61", after(device, "level_db_hl=40"))
    device.type("TONE:LIM?")
    device.type("TONE LEFT,500,60")
    device.type("TONE LEFT,500,0", after(device, "level_db_hl=60"))
    device.type("TONE LEFT,500,21", after(device, "level_db_hl=0"))
    device.type("TONE RIGHT,1000,60")
    device.type("SETT level_max_db_hl,40")
    device.type("SESS:STAR LEFT")
    device.type("TONE LEFT,1000,10", lambda: device.runner.running)
    device.type("SESS:ABOR")
    device.type("TONE LEFT,1000,41")
    device.type("SETT level_max_db_hl,40")
    device.type("TONE LEFT,1000,41")
    device.type("SYST:EXIT")
    lines = device.run_out().splitlines()
    errors = [line for line in lines if line.startswith("ERROR")]

    assert [error.split('"')[1].removesuffix("; nothing was played") for error in errors] == [
        "level is 61; allowed are -10 to 60 dB HL (20 dB above the tone before)",
        "level is 21; allowed are -10 to 20 dB HL (20 dB above the tone before)",
        "level is 60; allowed are -10 to 40 dB HL (the first tone in an ear)",
        "a test is under way: SESS:ABOR ends it",
        "level is 41; allowed are -10 to 40 dB HL (the first tone in an ear)",
        "level is 41; allowed are -10 to 40 dB HL (level_max_db_hl)",
    ]
    told = next(line for line in lines if line.startswith("low="))
    assert told.startswith("low=-10 right=250,40;")
    assert "left=250,60;" in told
    assert [(tone.ear, tone.level_dbfs) for tone in device.board.played][:3] == [
        ("left", -92.0), ("left", -72.0), ("left", -132.0),
    ]  # fmt: skip


def test_a_tone_by_hand_may_have_noise_in_the_other_ear(tmp_path: Path) -> None:
    device = Device(tmp_path)
    board = device.board
    board.hand.listener = a_listener(lapse_rate=1.0)
    device.type("TONE LEFT,1000,40,61")
    device.type("TONE LEFT,1000,40,loud")
    device.type("TONE LEFT,1000,40,50")
    device.type("TONE RIGHT,1000,40", lambda: len(board.played) == 1 and device.is_silent()
                and board.noise is None)  # fmt: skip
    device.type("SYST:EXIT", lambda: len(board.played) == 2)
    answers = device.run_out().splitlines()

    assert answers[0] == (
        'ERROR -224,"noise is 61; allowed are -10 to 60 dB (20 dB above the tone); nothing was '
        'played"'
    )
    assert answers[1:] == [
        "ERROR -224,\"noise is 'loud'; allowed are numbers in dB; nothing was played\"",
        *["OK"] * 3,
    ]
    masked, plain = board.played
    assert masked.noise == PlayedNoise("right", 1000.0, 50.0 + 6.0 - 132.0)
    assert plain.noise is None


def test_a_tone_generator_without_noise_plays_no_tone_that_should_have_some(
    tmp_path: Path,
) -> None:
    device = Device(tmp_path)
    device.board = SimulatedBoard(a_listener("S2"), has_noise=False)
    (answer,) = answers_to(device, "TONE LEFT,1000,40,50")[:1]

    assert answer == 'ERROR -224,"the tone generator has no masking noise; nothing was played"'
    assert device.board.played == []


def test_a_tone_by_hand_ends_when_told_and_when_a_test_begins(tmp_path: Path) -> None:
    device = Device(tmp_path, speed=4)
    device.board.hand.listener = a_listener(lapse_rate=1.0)

    def sounds(count: int) -> Callable[[], bool]:
        return lambda: len(device.board.played) == count and not device.is_silent()

    device.type("TONE LEFT,1000,40")
    device.type("TONE:STOP", sounds(1))
    device.type("TONE:STOP", device.is_silent)
    device.type("TONE RIGHT,1000,40")
    device.type("SESS:STAR LEFT", sounds(2))
    device.type("SYST:EXIT", lambda: len(device.board.played) == 3)
    heard = device.run_out()

    assert "ERROR" not in heard
    assert [tone.cut for tone in device.board.played[:2]] == [True, True]
    assert [tone.tone_id for tone in device.board.played] == ["man-1", "man-2", "1-1"]


# Settings


HZ = "confirm_frequencies_hz"
NO_HZ = "; allowed is a list of one or more, each once, of 250, 500, 750, 1000, 1500, "
TYPED = [
    (f"SETT? {HZ}", "[1000, 4000]"), (f"SETT {HZ},500;2000", "OK"), (f"SETT? {HZ}", "[500, 2000]"),
    (f"SETT {HZ},4000", "OK"), (f"SETT {HZ},1100", f'ERROR -224,"{HZ} is [1100]{NO_HZ}'),
    (f"SETT {HZ},500;high", f"ERROR -224,\"{HZ} is [500, 'high']{NO_HZ}"),
    (f"SETT {HZ},500;500", f'ERROR -224,"{HZ} is [500, 500]{NO_HZ}'), (f"SETT? {HZ}", "[4000]"),
    ("SETT ask_all,true", "OK"), ("SETT? ask_all", "true"),
    ("SETT routes,air;bone", "OK"), ("SETT? routes", '"air, bone"'), ("SETT routes,air", "OK"),
    ("SETT? routes", '"air"'), ("SETT routes,bone;air", 'ERROR -224,"routes is '),
    # A choice may be shortened to what begins no other.
    ("SETT threshold_convention,clinical", "OK"),
    ("SETT? threshold_convention", '"clinical, 5 dB ascending"'),
    ("SETT threshold_convention,50 %", "OK"), ("SETT? threshold_convention", '"50 %"'),
    ("SETT conduct,b", "OK"), ("SETT? conduct", '"brisk"'),
    ("SETT ears,r", "OK"), ("SETT? ears", '"right"'),
    ("SETT first_ear,x", "ERROR -224,\"first_ear is 'x'; allowed are better, left, right"),
]  # fmt: skip


def test_settings_are_typed_in_few_letters_and_lists_with_semicolons(tmp_path: Path) -> None:
    told = answers_to(Device(tmp_path), *(line for line, _ in TYPED))
    for answer, (line, begin) in zip(told, TYPED, strict=False):
        assert answer.startswith(begin), line


def test_another_conduct_brings_its_values_and_what_the_operator_told_stays(
    tmp_path: Path,
) -> None:
    configured = Configuration(Settings(ears="left", pause_ms_max=1800), seed=1)
    told = answers_to(
        Device(tmp_path, configured), "SETT tones_max,50", "SETT conduct,clinical", "SETT?",
        "SETT conduct,hasty", "SETT pause_ms_max,1100", "SETT conduct,brisk", "SETT?",
        "*RST", "SETT?",
    )  # fmt: skip
    clinical, brisk, reset = (json.loads(told[n]) for n in (2, 6, 8))
    kept = {"ears": "left", "pause_ms_max": 1800, "tones_max": 50}

    assert clinical == Settings.from_record({"conduct": "clinical", **kept}).as_record()
    assert clinical.items() >= {**CONDUCTS["clinical"], **kept}.items()
    assert brisk == Settings.from_record(kept).as_record()
    assert reset == configured.test.as_record()
    assert told[3].startswith("ERROR -224,\"conduct is 'hasty'; allowed are brisk, clinical")
    assert told[4].startswith(
        'ERROR -224,"pause_ms_max is 1100 ms; allowed is 1200 ms (pause_ms_min) and more'
    )


def test_the_state_of_a_test_that_waits_for_a_late_answer_is_told(tmp_path: Path) -> None:
    world = World(tmp_path, a_listener("N7", lapse_rate=1.0))
    world.begin(Settings(ears="left"))
    session = world.runner.session
    assert session is not None
    world.until(lambda: session.test.state == LATE)
    state = state_words(session.test, 0, session.header, lost=False)
    world.close()

    assert state.startswith("state=late ear=left presentation=1 tones=0 heard=0 unsure=0 half_")
    assert state.endswith(" session=1"), "whose state it is"


@pytest.mark.usefixtures("as_if_calibrated")
def test_what_was_confirmed_is_told_and_so_is_what_was_inferred(tmp_path: Path) -> None:
    changes = {"ears": "left", "confirm": "hughson-westlake", "confirm_frequencies_hz": [500, 8000]}
    journal = run_session(tmp_path / "data", a_listener("N3"), changes)
    device = Device(tmp_path / "data")
    *picture, ok, thresholds, result, means, _ = answers_to(
        device, "AUD", "THR? LEFT", "SESS:RES?", "SESS:MEAN?"
    )
    (ear,) = result_of(journal)["ears"]
    inferred = [each for each in ear["thresholds"] if each["mark"] == "inferred"]

    assert ok == "OK"
    (told,) = (line for line in picture if line.startswith("left ear, confirmed: "))
    for each in ear["confirmed"]:
        assert f"{each['frequency_hz']} {each['threshold_db_hl']:g}" in told
    assert [each["frequency_hz"] for each in ear["confirmed"]] == [500, 8000]
    assert any("i inferred, not asked there" in line for line in picture)
    assert [each["frequency_hz"] for each in inferred] == [750, 1500]
    for each in inferred:
        figures = f"{each['threshold_db_hl']:.1f},{each['sd_db']:.1f}"
        assert f"{each['frequency_hz']},{figures},inferred" in re.split("[=; ]", thresholds)
    assert json.loads(result)["ears"][0]["confirmed"] == ear["confirmed"]
    replayed = replay_session(journal)
    found = result_as_json(replayed.result, replayed.settings, uncertainty=USUAL)
    of_ears = {each["ear"]: each["pta4"] for each in found["ears"]}
    whose = {"session": 1, "started": replayed.header.started}
    assert json.loads(means) == {"ears": of_ears, "grade": found["grade"], **whose}


def test_bone_leaves_the_mean_thresholds_by_air_as_they_are() -> None:
    examination = session_with_bone()
    result, header = examination.result, examination.header
    air = [ear for ear in result.ears if not ear.route.by_bone]
    assert len(air) == 2 < len(result.ears)
    told = mean_words(result, header)
    assert told == mean_words(replace(result, ears=tuple(air)), header)
    assert all(each["level_db_hl"] for each in json.loads(told)["ears"].values())


def test_there_are_no_mean_thresholds_before_a_test(tmp_path: Path) -> None:
    told, *_ = answers_to(Device(tmp_path), "SESS:MEAN?")
    assert told.endswith('"there was no test yet: SESS:STAR starts one"')


# Earlier sessions


def test_earlier_sessions_are_listed_and_looked_at_by_number(
    tmp_path: Path, one_ear: Path, two_ears: Path
) -> None:
    shutil.copy(two_ears, tmp_path / "session-000001.journal")
    (tmp_path / "session-000012.journal").write_bytes(b"".join(lines_of_session(one_ear, 12)))
    sessions, one, result, last, thresholds, *picture, _ = answers_to(
        Device(tmp_path), "SESS:LIST?", "SESS:LIST? 1", "SESS:RES? 1", "SESS:RES?", "THR? ,1",
        "AUD 1",
    )  # fmt: skip
    then = "2026-01-02T03:04:05+00:00"

    assert sessions == f"12,complete,{then},left,-;1,complete,{then},both,-"
    assert one == f"12,complete,{then},left,-;1 of 2"
    beside = {"verdict": "valid", "calibration": "SIMULATED", "session": 1, "started": then}
    beside |= {"calibration_words": picture[-2], "simulated": True, "speed": 1.0}
    beside |= {"person": UNKNOWN.as_record()}
    beside |= {"nominal": False, "final": False}
    for told, journal in ((result, two_ears), (last, one_ear)):
        found = recorded_result(journal)
        settings = found.header.settings
        whole = result_as_json(
            as_told(found.result, settings, nominal=False), settings, uncertainty=USUAL
        )
        assert json.loads(told).items() >= json.loads(json.dumps(whole)).items()
    assert json.loads(result) == {**json.loads(result), **beside}
    assert json.loads(result).keys() == {
        *result_of(two_ears),
        "grade",
        "room",
        "threshold_convention",
        *beside,
    }
    assert json.loads(last)["session"] == 12
    assert {word.split("=")[0] for word in thresholds.split()} == {
        "left",
        "right",
        "session",
        "started",
        "verdict",
        "calibration",
    }
    assert picture[:2] == [f"session 1, begun {then}", "Verdict on the test: valid"]
    assert picture[-1] == "OK"
    assert any(line.startswith("Right ear: measured at ") for line in picture)
    assert picture[-2] == "CALIBRATED (simulated board)"


def test_the_verdict_stands_above_a_result_and_no_level_beside_could_not_be_tested(
    tmp_path: Path,
) -> None:
    write_judged(tmp_path / "session-000001.journal", DIFFERENT)
    thresholds, result, *picture = answers_to(
        Device(tmp_path), "THR? ,1", "SESS:RES? 1", "AUD 1"
    )  # fmt: skip
    judged = [n for n, line in enumerate(picture) if line.startswith("Verdict on the test")]
    assert picture[judged[0] :][:2] == [
        "Verdict on the test, right ear: DOUBTFUL", f"{say(AWAY).capitalize()}.",
    ]  # fmt: skip
    assert picture[judged[1] :][:3] == [
        "Verdict on the test, left ear: COULD NOT BE TESTED",
        *(f"{say(each).capitalize()}." for each in (SILENT, AWAY)),
    ]
    assert any(line.startswith("Left ear: could not be tested; ") for line in picture)
    assert not any("X left" in line or "no-response" in line for line in picture)
    told = dict(word.split("=") for word in thresholds.split())
    assert told["verdict"] == "right,doubtful;left,could-not-be-tested"
    assert {each.split(",", 1)[1] for each in told["left"].split(";")} == {
        "-,-,could-not-be-tested"
    }
    assert re.search(r"1000,\d+\.\d,", told["right"])
    assert json.loads(result)["verdict"] == "could-not-be-tested"
    ears = {ear["ear"]: ear for ear in json.loads(result)["ears"]}
    assert [ears["left"]["reasons"], ears["right"]["reasons"]] == as_json([[SILENT, AWAY], [AWAY]])
    assert {t["threshold_db_hl"] for t in ears["left"]["thresholds"]} == {None}


def test_nobody_is_drawn_who_could_not_be_tested(tmp_path: Path) -> None:
    write_judged(tmp_path / "session-000001.journal", NOBODY)
    _, head, *others = answers_to(Device(tmp_path), "AUD 1")
    assert head == "Verdict on the test: COULD NOT BE TESTED"
    assert others[0] == f"{say(SILENT).capitalize()}."
    assert not any("|" in line for line in others), "there is no audiogram"
    ears = [line.split(":")[0] for line in others if "could not be tested; " in line]
    assert ears == ["Right ear", "Left ear"]


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_in_a_journal_is_an_error_and_no_fault(tmp_path: Path, name: str) -> None:
    words = write_nonsense(tmp_path / "session-000001.journal", name)
    told = answers_to(Device(tmp_path), "AUD 1", "THR? ,1", "SESS:RES? 1", "SESS:LIST?")

    assert len({*told[:3]}) == 1
    assert told[0].startswith('ERROR 102,"session 1: ')
    assert words in told[0].replace('""', '"')
    assert told[3] == "1,damaged,-,-,-"


NOT_THERE = {
    "SESS:RES? 2": "there is no session 2; SESS:LIST? lists them",
    "THR? LEFT,2": "there is no session 2; SESS:LIST? lists them",
    "AUD 2": "there is no session 2; SESS:LIST? lists them",
    "SESS:IDEN? 2": "there is no session 2; SESS:LIST? lists them",
    "SESS:RES? 0": "number is '0'; allowed are whole numbers from 1 to 999999999",
    "SESS:RES? -1": "number is '-1'; allowed are whole numbers from 1 to 999999999",
    "SESS:RES? 1.journal": "number is '1.journal'; allowed are whole numbers",
    "SESS:RES? ../1": "number is '../1'; allowed are whole numbers",
    "SESS:RES? /etc/passwd": "number is '/etc/passwd'; allowed are whole numbers",
    "SESS:RES? 9999999999": "number is '9999999999'; allowed are whole numbers",
    "SESS:LIST? 51": "count is '51'; allowed are whole numbers from 1 to 50",
    "SESS:LIST? *": "count is '*'; allowed are whole numbers from 1 to 50",
    "THR? RIGHT,1": "'RIGHT' was not tested; allowed: LEFT",
}


def test_a_session_that_there_is_not_is_named(tmp_path: Path, one_ear: Path) -> None:
    shutil.copy(one_ear, tmp_path / "session-000001.journal")
    told = answers_to(Device(tmp_path), *NOT_THERE)

    for answer, (line, words) in zip(told, NOT_THERE.items(), strict=False):
        assert answer.startswith(f'ERROR -224,"{words}'), line


def test_a_list_says_of_how_many_sessions_it_has_the_newest(tmp_path: Path, one_ear: Path) -> None:
    for number in range(1, 13):
        content = b"".join(lines_of_session(one_ear, number))
        (tmp_path / f"session-{number:06d}.journal").write_bytes(content)
    ten, two, all_of_them, _ = answers_to(
        Device(tmp_path), "SESS:LIST?", "SESS:LIST? 2", "SESS:LIST? 12"
    )
    for answer, listed in ((ten, 10), (two, 2)):
        *sessions, share = answer.split(";")
        assert [int(each.split(",")[0]) for each in sessions] == [*range(12, 12 - listed, -1)]
        assert share == f"{listed} of 12"
    assert all_of_them.count(";") == 11
    assert " of " not in all_of_them


def test_sessions_without_a_result_are_listed_and_say_so(tmp_path: Path, one_ear: Path) -> None:
    content = one_ear.read_bytes()
    lines = content.splitlines(keepends=True)
    (tmp_path / "session-000001.journal").write_bytes(b"".join(lines[:50]))
    (tmp_path / "session-000002.journal").write_bytes(b"garbage" + content)
    damaged = bytearray(b"".join(lines_of_session(one_ear, 3)))
    damaged[len(content) // 2] ^= 4
    (tmp_path / "session-000003.journal").write_bytes(damaged)
    (tmp_path / "session-000004.journal").write_bytes(b"".join(lines_of_session(one_ear, 4)))
    sessions, unfinished, no_journal, bad, _ = answers_to(
        Device(tmp_path), "SESS:LIST?", "SESS:RES? 1", "SESS:RES? 2", "THR? ,3"
    )

    assert [entry.split(",")[1] for entry in sessions.split(";")] == [
        "complete", "complete", DAMAGED, UNFINISHED,
    ]  # fmt: skip
    assert unfinished == 'ERROR 102,"session 1: it was not finished, so it has no result"'
    assert no_journal.startswith('ERROR 102,"session 2: ')
    assert "damaged at line" in bad


def test_a_journal_with_the_name_of_another_session_is_no_result_of_that(
    tmp_path: Path, one_ear: Path
) -> None:
    """It may be another person's; and `0000001` is no second name of session 1."""
    for name in ("session-000009.journal", "session-0000001.journal"):
        shutil.copy(one_ear, tmp_path / name)
    last, sessions, one, nine, whose, _ = answers_to(
        Device(tmp_path), "THR?", "SESS:LIST?", "THR? ,1", "THR? ,9", "SESS:IDEN? 9"
    )

    assert last.startswith('ERROR -221,"there was no test yet')
    assert sessions == "9,damaged,-,-,-"
    assert one == 'ERROR -224,"there is no session 1; SESS:LIST? lists them"'
    assert whose == nine
    assert nine == 'ERROR 102,"session-000009.journal: its header is that of session 1"'


def test_a_session_under_way_is_not_an_earlier_one(tmp_path: Path) -> None:
    device = Device(tmp_path)
    before, started, refusal, *_ = answers_to(device, "SESS:LIST?", "SESS:STAR LEFT", "SESS:RES? 1")

    assert (before, started) == ("-", "OK")
    assert refusal == (
        'ERROR -221,"session 1 is under way: without a number its result so far is told"'
    )


def test_every_golden_session_has_a_result_and_is_listed() -> None:
    for path in (Path(__file__).parents[1] / "golden").glob("*.journal"):
        assert recorded_result(path).result.to_record() == result_of(path)
        assert glance(path).outcome == result_of(path)["outcome"]


def test_only_so_much_is_read_at_a_glance(one_ear: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "TAIL_BYTES", 100)

    assert glance(one_ear).outcome == UNFINISHED


# People


@pytest.mark.parametrize(
    "identifier", ["..", "../../x", "a/b", "~", "$HOME", "`id`", "a.journal", "x" * 33, "-", "__"]
)
def test_nothing_is_made_of_an_identifier_that_is_none(tmp_path: Path, identifier: str) -> None:
    (tmp_path / "data").mkdir()
    (answer, _) = answers_to(Device(tmp_path / "data"), f"SESS:STAR LEFT,ID={identifier}")

    assert answer == (
        f'ERROR -224,"identifier is {identifier!r}; allowed are 1 to 32 letters and digits of any '
        f"script, - and _{answer.partition('and _')[2]}"
    )
    assert answer.endswith('; no test was begun"')
    assert [path.name for path in tmp_path.rglob("*")] == ["data", "firmware.lock"]


@pytest.mark.parametrize("identifier", ["P_17-b", "Zoë", "Иванов-3", "患者7", "محمد_٣", "𠮷" * 32])
def test_an_identifier_is_recorded_listed_and_replayed_and_means_nothing_else(
    tmp_path: Path, identifier: str
) -> None:
    begin = f"SESS:STAR LEFT,ID={unicodedata.normalize('NFD', identifier)}"
    begun, ended, listed, _ = answers_to(Device(tmp_path), begin, "SESS:ABOR", "SESS:LIST?")

    assert (begun, ended) == ("OK", "OK")
    assert re.fullmatch(rf"1,aborted,20[0-9T:+-]+,left,{identifier}", listed)
    (journal,) = tmp_path.glob("*.journal")
    assert journal.name == "session-000001.journal"
    assert read_journal(journal).header["person"]["identifier"] == identifier
    assert identifier.encode() in journal.read_bytes()
    assert glance(journal).identifier == identifier
    assert replay_journal(journal).code == IDENTICAL


def test_with_a_key_only_the_pseudonym_of_an_identifier_is_kept_and_told(tmp_path: Path) -> None:
    """The same for the same letters, however they were typed."""
    key = b"p" * 32
    device = Device(tmp_path, Configuration(pseudonym_key=key))
    *_, listed, _ = answers_to(
        device, "SESS:STAR ID=Zoe\u0308", "SESS:ABOR", "SESS:STAR ID=Zo\u00eb", "SESS:ABOR",
        "SESS:LIST?",
    )  # fmt: skip

    assert [entry.split(",")[-1] for entry in listed.split(";")] == [pseudonym(key, "Zoë")] * 2
    for journal in tmp_path.glob("*.journal"):
        assert b"Zo" not in journal.read_bytes()
        assert replay_journal(journal).code == IDENTICAL


def test_the_configured_pin_is_asked_for_and_is_in_no_journal(tmp_path: Path) -> None:
    device = Device(tmp_path, LOCKED)
    answers = answers_to(
        device, "SYST:PIN?", "SESS:STAR LEFT,AGE=67", f"SYST:PIN {PIN}", "SYST:PIN?",
        "SESS:STAR LEFT,AGE=67,SEX=F,ID=P-17", "SESS:ABOR", "SYST:LOCK", "SESS:LIST?",
        f"SYST:PNI {PIN}", "SYST:PIN 000000", f"SYST:PIN {PIN}", *["SYST:ERR?"] * 5,
    )  # fmt: skip

    assert answers[0] == "LOCKED"
    assert answers[1].startswith('ERROR -203,"this needs the operator')
    assert answers[2:7] == ["OK", "UNLOCKED", "OK", "OK", "OK"]
    assert answers[7].startswith("ERROR -203,")
    assert answers[9] == 'ERROR -203,"wrong PIN; the next one is looked at in 1 s"'
    assert answers[10].startswith('ERROR -203,"the last PIN was wrong: the next one is looked at')
    assert PIN not in "\n".join(answers)
    for path in tmp_path.rglob("*"):
        assert PIN.encode() not in path.read_bytes()


RESULTS = ("THR?", "THR? LEFT", "SESS:RES?", "SESS:MEAN?", "AUD")


def test_the_last_persons_result_needs_the_pin_after_a_restart(
    tmp_path: Path, one_ear: Path
) -> None:
    """Whether the test was over then, or goes on; the next person's own does not need it."""
    lines = one_ear.read_bytes().splitlines(keepends=True)
    for name, cut in (("over", None), ("goes-on", 80)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "session-000001.journal").write_bytes(b"".join(lines[:cut]))
        told = answers_to(
            Device(tmp_path / name, LOCKED), *RESULTS, f"SYST:PIN {PIN}", "THR? LEFT", "SYST:LOCK",
            "THR? LEFT", "*RST", "THR? LEFT",
        )  # fmt: skip
        refused = 'ERROR -203,"this needs the operator\'s PIN: SYST:PIN; nothing was done"'

        assert told[:5] == [refused] * 5
        assert told[6].startswith("left=1000,")
        assert told[8] == told[10] == refused, "nor does it belong to this start when it is aborted"

    device = Device(tmp_path / "over", LOCKED)
    begun, threshold, *_ = answers_to(device, "SESS:STAR LEFT", "THR? LEFT")
    assert begun == "OK"
    assert threshold.startswith("left=250,"), "that of who sits there now"


@pytest.mark.parametrize("locked", [True, False])
def test_how_a_test_of_before_the_start_goes_on_is_told_to_who_has_the_pin(
    tmp_path: Path, one_ear: Path, locked: bool
) -> None:
    """Its tones and answers are its thresholds."""
    lines = one_ear.read_bytes().splitlines(keepends=True)
    (tmp_path / "session-000001.journal").write_bytes(b"".join(lines[:80]))
    device = Device(tmp_path, LOCKED)
    if not locked:
        device.type(f"SYST:PIN {PIN}")
    device.type("SYST:EVEN ON")
    device.type("SYST:EXIT", device.is_playing)
    told = {line.split()[1] for line in device.run_out().splitlines() if line.startswith("! ")}

    assert "resumed" in told
    assert ({"tone", "answer"} <= told) is not locked
    assert not (locked and told & {"tone", "answer", "ear-over"})


def test_a_test_that_runs_cannot_be_continued(tmp_path: Path) -> None:
    world = World(tmp_path / "data", a_listener())
    world.until(lambda: world.client.connected)
    assert world.ask("SESS:STAR LEFT,SEED=3") == ["OK"]
    world.run(5 * S)

    assert world.ask("SESS:CONT") == ['ERROR -221,"the test is not paused"']
    assert world.ask("SESS:PAUS") == ["OK"]
    assert world.ask("SESS:CONT") == ["OK"]
