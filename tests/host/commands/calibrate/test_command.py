"""A technician is guided through a calibration; what was true of the device is what is written."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from device.calibration.readings import Point
from device.calibration.retfl import COUPLER
from device.calibration.retspl import reference_levels
from device.simulator.microphones import MicrophoneKind
from device.simulator.room_around import RoomAround
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.world import World
from firmware_py.board import board_connection
from firmware_py.calibration.calibration import Calibration
from firmware_py.calibration.file import read_calibration
from firmware_py.calibration.in_force import load_calibration
from firmware_py.calibration.simulated import SERIAL
from firmware_py.installation.configuration import read_configuration
from firmware_py.terms.route import AIR, BONE, BY_AIR, Route
from host_tools.commands.calibrate import instrument
from host_tools.commands.calibrate.checking import BEGIN
from host_tools.commands.calibrate.kept import Readings, kept_beside
from host_tools.errors import HostError
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.calibration.calibrations import file_text
from tests.firmware.whole_sessions import a_listener
from tests.host.commands.calibrate.technician import (
    EARS,
    OF_BONE,
    PIN,
    QUESTION,
    TEXTS,
    TODAY,
    TRUTH,
    Devices,
    Meters,
    Technician,
    run,
)
from tests.host.journals import Refused


def check_sensitivity(made: Calibration, *places: str) -> None:
    for place in places:
        ear, _, transducer = place.partition("-")
        found = made.sensitivity_db_spl[Route(ear, transducer or AIR)]
        for frequency_hz, level in TRUTH[place].items():
            assert found.at(frequency_hz) == pytest.approx(level, abs=0.051)


def check_limits(made: Calibration, limits_dbfs: Mapping[str, float]) -> None:
    for ear, limit_dbfs in limits_dbfs.items():
        for frequency_hz, level in TRUTH[ear].items():
            most = made.level_max_db_spl[Route(ear)].at(frequency_hz)
            assert most == pytest.approx(level + limit_dbfs, abs=0.1)


def test_what_is_true_of_the_device_is_what_is_written(device: Devices, tmp_path: Path) -> None:
    output = tmp_path / "calibration.toml"
    with device(tmp_path / "data") as bench:
        technician = Technician(bench)

        assert run(output, technician) == 0
        played = bench.world.board.played

    made = read_calibration(output)
    reference = reference_levels("tdh39")
    check_sensitivity(made, *EARS)
    check_limits(made, {"left": 0.0, "right": 0.0})
    for frequency_hz, level in reference.levels_db_spl.items():
        assert made.retspl_db_spl[AIR].at(frequency_hz) == level
    assert [tone.level_dbfs for tone in played][:4] == [-80.0, -60.0, -40.0, -30.0], "climbed to"
    assert len(played) == 2 * (3 + 3 * len(BY_AIR.calibrated_hz)), "a step to each of the loud ones"
    assert max(tone.level_dbfs for tone in played) == 0.0, "nobody asked for less"
    assert (made.date, (made.due - made.date).days) == (TODAY, 365)
    assert made.content["calibration"]["meter_serial"] == "M-1"
    assert made.board_serial == SERIAL
    assert made.content["transducer"]["serial_right"] == "R-1"
    assert made.content["transducer"]["retspl_source"] == reference.source
    assert "put the right earphone on the coupler" in " ".join(technician.asked)
    assert (made.expanded_uncertainty_db, made.conditions) == (None, None), "return: not known"

    world = World(tmp_path / "again", a_listener("S2"), calibration=load_calibration(output))
    world.until(lambda: world.client.connected)
    (state,), (limits,) = world.ask("CAL?"), world.ask("CAL:LIM? LEFT")
    world.close()
    assert '"due": "2027-05-06"' in state
    assert limits.endswith("6000,89;8000,85")


def test_air_and_uncertainty_are_asked_and_what_the_standard_has_not_is_said(
    device: Devices, tmp_path: Path
) -> None:
    output = tmp_path / "calibration.toml"
    with device(tmp_path / "data") as bench:
        answers = {"temperature C, humidity": ["22,5 45", "22,5 45 945", "22,5 45 94,5"]}
        technician = Technician(bench, answers | {"left 250 Hz at": ["quit"]})
        assert run(output, technician) == 1
        later = Technician(bench)
        assert run(output, later, "--resume", "--uncertainty", "2.4") == 0, "it was not known then"
    made = read_calibration(output)
    assert made.conditions == {"temperature_c": 22.5, "humidity_percent": 45, "pressure_kpa": 94.5}
    assert made.uncertainty_db == 1.2
    said = "\n".join(technician.said)
    assert "'22.5 45'; wanted is temperature C, humidity %" in said
    assert "pressure_kpa is 945" in said
    assert "IEC 60645-1 has 15 to 35 C, 30 to 90 %, 98 to 104 kPa: papers say" in said


def test_nothing_is_read_before_the_tone_generator_is_warm(
    device: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_connection, "WARM_UP_S", 60.0)
    monkeypatch.setattr(instrument, "LOOK_S", 0.001)
    with device(tmp_path / "data") as bench:
        world = bench.world
        world.until(lambda: world.client.connected)
        world.swap_board(SimulatedBoard(a_listener(lapse_rate=1.0), boot=2, name="pico"))
        world.until(lambda: world.client.board.startswith("pico"))
        technician = Technician(bench, {BEGIN: ["quit"]}, Meters())
        assert run(tmp_path / "calibration.toml", technician) == 1
        assert world.board.now_us >= 60e6
    assert any(line.startswith("the tone generator warms up: ") for line in technician.said)


def test_readings_that_cannot_be_right_are_asked_again(device: Devices, tmp_path: Path) -> None:
    output = tmp_path / "calibration.toml"
    with device(tmp_path / "data") as bench:
        answers = {
            "left 125 Hz at -10": ["", "x", "200", "60", "1080", "85"],
            "left 500 Hz at -30": ["29.0"], "right 8000 Hz at -10": ["softer"],
        }  # fmt: skip
        technician = Technician(bench, answers)
        assert run(output, technician, "--loud", "-10") == 0

    said = "\n".join(technician.said)
    assert "'x' is no number; allowed are a number, return, softer, back, quit" in said
    assert "cannot be right: 200 dB SPL; a reading is from 20 to 140 dB SPL; again" in said
    assert "20 dB more gave -28.0 dB on the meter: is the right earphone on" in said
    assert "20 dB more gave -3.0 dB on the meter" in said
    assert "20 dB more gave +83.0 dB on the meter; allowed is 1 dB off" in said
    made = read_calibration(output)
    assert made.sensitivity_db_spl[Route("left")].at(500) == pytest.approx(122.0, abs=0.051)
    assert made.level_max_db_spl[Route("right")].at(8000) == pytest.approx(99.25 - 15.0, abs=0.1)
    assert made.level_max_db_spl[Route("left")].at(8000) == pytest.approx(98.0 - 10.0, abs=0.1)


def test_nobody_lowers_the_devices_limit_unasked(device: Devices, tmp_path: Path) -> None:
    with device(tmp_path / "data") as bench:
        asked = {"level of the loud tone": ["loud", "1", "-6"], "left 250 Hz": ["quit"]}
        technician = Technician(bench, asked)
        assert run(tmp_path / "c.toml", technician) == 1
        again = Technician(bench, {"left 250 Hz": ["quit"]})
        assert run(tmp_path / "c.toml", again, "--resume", "--loud", "-20") == 1
    assert technician.said[2:4] == [
        "'loud' is no number",
        "1 dBFS; allowed is -70 to 0 dBFS",
    ]
    assert -6.0 in [tone.level_dbfs for tone in bench.world.board.played]
    (question, *_) = technician.asked
    assert "which no tone of the device is above from then on" in question
    assert not any("level of the loud tone" in each for each in again.asked)


def test_a_wrong_digit_is_mended_by_going_back(device: Devices, tmp_path: Path) -> None:
    output = tmp_path / "calibration.toml"
    with device(tmp_path / "data") as bench:
        answers = {"left 125 Hz at -30": ["60", "88.0"], "left 125 Hz at -10": ["80"]}
        technician = Technician(bench, answers | {"left 250 Hz at -30": ["90", "back"]})
        assert run(output, technician, "--loud", "-10") == 0

    said = "\n".join(technician.said)
    assert "full scale differs by +30.0 dB from the frequency before" in said
    assert read_calibration(output).sensitivity_db_spl[Route("left")].at(125) == 118.0


def test_the_boards_own_limit_is_the_level_of_the_loud_tone(
    device: Devices, tmp_path: Path
) -> None:
    """It was lowered by up to 5 dB, in steps of `softer`."""
    output = tmp_path / "calibration.toml"
    with device(tmp_path / "data") as bench:
        bench.world.board.server.limits_dbfs = (-14.0, -5.5)
        technician = Technician(bench)
        assert run(output, technician) == 0
        for limit_dbfs, below in ((-40.0, "-30"), (-25.0, "-20")):
            bench.world.board.server.limits_dbfs = (limit_dbfs, limit_dbfs)
            with pytest.raises(HostError, match=f"limit in the left ear is below {below} dBFS; "):
                run(output, Technician(bench, {"go on with them": ["new"]}), "--force")

    told = [line for line in technician.said if "own limit" in line]
    assert told == [
        "-14 dBFS is the tone generator's own limit in the left ear",
        "-5.5 dBFS is the tone generator's own limit in the right ear",
    ]
    check_limits(read_calibration(output), {"left": -14.0, "right": -5.5})


def test_a_device_with_a_pin_asks_for_it_once(device: Devices, tmp_path: Path) -> None:
    output = tmp_path / "calibration.toml"
    with device(tmp_path / "data", PIN) as bench:
        technician = Technician(bench)
        assert run(output, technician) == 0
    assert [question for question in technician.asked if "PIN" in question] == ["operator's PIN: "]
    assert read_calibration(output).due > TODAY


def test_who_quits_goes_on_where_he_was(device: Devices, tmp_path: Path) -> None:
    output, part = tmp_path / "calibration.toml", tmp_path / "calibration.toml.readings"
    with device(tmp_path / "data") as bench:
        first = Technician(bench, {"right 250 Hz at 0": ["quit"]})
        assert run(output, first) == 1
        assert bench.world.board.tone is None
        assert not output.exists()
        assert first.said[-1] == (
            f"ended; 8 checks, and 12 of 22 readings are kept in {part}; the same command goes on"
        )

        second = Technician(bench, {"go on with them": ["perhaps", "yes"]})
        assert run(output, second) == 0

    asked = [question for question in second.asked if QUESTION.fullmatch(question)]
    assert f"{part}: 8 checks, and 12 of 22 readings, kept from before" in second.said
    assert asked[0] == "right 250 Hz at -30 dBFS, dB SPL: "
    assert not any("left" in question for question in second.asked)
    assert not part.exists()
    check_sensitivity(read_calibration(output), *EARS)


def test_who_quits_before_the_first_check_has_written_nothing(
    device: Devices, tmp_path: Path
) -> None:
    with device(tmp_path / "data") as bench:
        technician = Technician(bench, {BEGIN: ["quit"]})
        assert run(tmp_path / "calibration.toml", technician) == 1
    assert technician.said[-1] == "ended; nothing was written"
    assert [path.name for path in tmp_path.glob("calibration*")] == []


OF_B71: Final = ["--serial-vibrator=B-1"]  # the readings were made with one


def some_readings(output: Path, vibrator: str = "") -> Path:
    """Keep readings of the first two frequencies, as a session that was quit does."""
    texts = {name.lstrip("-").replace("-", "_"): text for name, text in TEXTS.items()}
    readings = Readings(reference_levels("tdh39").transducer, texts, vibrator=vibrator)
    for frequency_hz in BY_AIR.calibrated_hz[:2]:
        level = TRUTH["left"][frequency_hz]
        readings.points["left"][frequency_hz] = Point(level, level - 10.0)
    readings.save(kept_beside(output))
    return kept_beside(output)


def test_readings_are_thrown_away_only_when_the_technician_says_so(
    device: Devices, tmp_path: Path
) -> None:
    output = tmp_path / "calibration.toml"
    part = some_readings(output)
    kept = part.read_bytes()
    with device(tmp_path / "data") as bench:
        for answers in (["quit"], ["new"]):
            quits = {"go on with them": answers, BEGIN: ["quit"]}
            assert run(output, Technician(bench, quits)) == 1
            assert part.read_bytes() == kept
        anew = {"go on with them": ["new"], "left 250 Hz at -30": ["quit"]}
        assert run(output, Technician(bench, anew)) == 1
        assert len(Readings.load(part).points["left"]) == 1

        unasked = Technician(bench, {"left 500 Hz at -30": ["quit"]})
        assert run(output, unasked, "--resume") == 1
    assert len(Readings.load(part).points["left"]) == 2
    assert not any("go on with" in question for question in unasked.asked)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--transducer", "er3a"], "and --transducer is "),
        (["--meter", "another"], "of sound level meter, maker and model 'class 1', and"),
        (["-o", "none.toml"], "none.toml.readings: cannot be read: No such file"),
        ([], "console: cannot open '/dev/none'"),
        (["--vibrator", "b70"], "vibrator is 'b70'; allowed are b71, b81"),
        (OF_B71, "the readings are of vibrator 'Radioear B71'"),
        ([*OF_B71, "--vibrator", "b81"], "the readings are of vibrator 'Radioear B71'"),
    ],
)
def test_readings_of_other_things_are_not_gone_on_with(
    tmp_path: Path, refusal_of: Refused, options: list[str], words: str
) -> None:
    part = some_readings(tmp_path / "c.toml", "Radioear B71" if options[:1] == OF_B71 else "")
    command = ["calibrate", "/dev/none", "-o", str(tmp_path / "c.toml"), "--resume", *options]
    assert words in refusal_of(*command)
    assert part.exists()


def test_readings_of_another_tone_generator_are_not_gone_on_with(
    device: Devices, tmp_path: Path
) -> None:
    output = tmp_path / "c.toml"
    part = some_readings(output)
    part.write_text(
        part.read_text().replace('"texts": {', '"texts": {"tone_generator_serial": "e66",')
    )
    with device(tmp_path / "data") as bench:
        with pytest.raises(HostError, match=f"serial number 'e66', and the one that .* '{SERIAL}'"):
            run(output, Technician(bench), "--resume")
        assert bench.world.board.played == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: text[:-20], "these are no readings"),
        (lambda _: "[" * 200_000, "these are no readings: maximum recursion depth exceeded"),
        (lambda text: text.replace('"format": 1', '"format": 9'), "format is 9; allowed is 1"),
        (lambda text: text.replace('"250"', '"300"'), r"they are at [125, 300] Hz"),
        (lambda text: text.replace("120,", "NaN,"), "full scale at 250 Hz is nan; allowed"),
        (lambda text: text.replace("110.0", "130.0"), "highest level at 250 Hz is 130.0; allowed"),
    ],
)
def test_a_spoilt_file_of_readings_is_named_and_kept(
    tmp_path: Path,
    refusal_of: Refused,
    spoil: Callable[[str], str],
    words: str,
) -> None:
    part = some_readings(tmp_path / "c.toml")
    part.write_text(spoil(part.read_text()))
    assert words in refusal_of("calibrate", "/dev/none", "-o", tmp_path / "c.toml", "--resume")
    assert part.exists()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "data", a_listener("S2"))
    world.until(lambda: world.client.connected)
    yield world
    world.close()


def test_no_tone_is_played_while_a_test_is_under_way(world: World) -> None:
    world.ask("SESS:STAR LEFT,SEED=3")
    (answer,) = world.ask("CAL:TONE LEFT,1000,-30")
    assert answer == 'ERROR -221,"a test is under way: SESS:ABOR ends it"'
    world.ask("SESS:ABOR")
    world.board.hand.listener = a_listener(lapse_rate=1.0)
    assert world.ask("CAL:NOB") == ["OK"]
    for wrong, words in {
        "LEFT,1000,1": "level is '1'; allowed are numbers from -120 to 0 dBFS",
        "LEFT,1000,nan": "level is 'nan'; allowed are numbers from -120 to 0 dBFS",
        "LEFT,1000,loud": "level is 'loud'; allowed are numbers from -120 to 0 dBFS",
        "LEFT,100,-30": "frequency is '100'; allowed are numbers from 125 to 8000 Hz",
        "BOTH,1000,-30": "ear is 'BOTH'; allowed are LEFT, LEFT-BONE, RIGHT and RIGHT-BONE",
    }.items():
        refusal = f'ERROR -224,"{words}; nothing was played"'
        assert world.ask(f"CAL:TONE {wrong}") == [refusal]
    assert world.ask("CAL:TONE RIGHT,1000,-30") == ["OK"]
    world.until(lambda: world.ask("CAL:TONE?") == ["over"])
    tone = world.board.played[-1]
    assert (tone.ear, tone.frequency_hz, tone.level_dbfs) == ("right", 1000.0, -30.0)


@pytest.mark.parametrize(
    ("content", "state", "why"),
    [
        ("format = 1\n[calibration]\n", "UNCALIBRATED",
         "levels are nominal ({}: 'transducer' is missing)"),
        (file_text().replace("2026-01-02", "2019-01-02").replace("2026-12-31", "2020-01-02"),
         "OVERDUE", "calibrated 2019-01-02, was due 2020-01-02"),
    ],
    ids=["a bad file", "overdue"],
)  # fmt: skip
def test_what_is_wrong_is_on_every_screen_and_in_the_journal_and_tests_still_run(
    tmp_path: Path, content: str, state: str, why: str
) -> None:
    path, config = tmp_path / "c.toml", tmp_path / "device.toml"
    path.write_text(content)
    config.write_text('[device]\ncalibration = "c.toml"\n')
    calibration = load_calibration(read_configuration(config).calibration)
    world = World(tmp_path / "data", a_listener("S2"), calibration=calibration)
    world.until(lambda: world.client.connected)
    world.ask("SESS:STAR LEFT,SEED=3")
    world.finish()
    (told,), picture = world.ask("SESS:STAT?"), "\n".join(world.ask("AUD"))
    (result,), (test,) = world.ask("SESS:RES?"), world.ask("*TST?")
    errors = "\n".join(world.errors())
    world.close()
    headline = f"{state}: {why.format(path)}"

    assert headline in world.ready
    assert headline in picture
    assert f'104,"{headline}"' in errors
    assert f"calibration={state}" in told
    assert f'"calibration": "{state}"' in result
    assert state in test
    verdict = replay_journal(world.journal())
    assert (verdict.code, verdict.calibration) == (IDENTICAL, headline)


def test_the_loud_tone_gets_softer_until_it_is_10_db_above_the_soft_one(
    device: Devices, tmp_path: Path
) -> None:
    with device(tmp_path / "data") as bench:
        answers = {f"right 8000 Hz at {level}": ["softer"] for level in (-10, -15, -20)}
        technician = Technician(bench, answers)
        assert run(tmp_path / "calibration.toml", technician, "--loud", "-10") == 0

    (refusal,) = (line for line in technician.said if "softest" in line)
    assert "-20 dBFS is the softest loud tone, 10 dB above the soft one at least" in refusal


# The bone vibrator


def test_a_vibrator_is_measured_after_the_earphones(device: Devices, tmp_path: Path) -> None:
    output = tmp_path / "calibration.toml"
    bone = ("--vibrator", "b71", "--serial-vibrator", "B-1", "--loud", "-10")
    with device(tmp_path / "data") as bench:
        first = Technician(bench, {"left-bone 1000 Hz at -30": ["quit"]})
        assert run(output, first, *bone) == 1
        assert first.said[-1].startswith(f"ended; 10 checks, and {2 * 11 + 3} of 40 readings")
        second = Technician(bench, {"right-bone 500 Hz at -10": ["softer", "110"]})
        assert run(output, second, *bone, "--resume") == 0
        assert (
            f"{kept_beside(output)}: 10 checks, and 25 of 40 readings, kept from before"
            in second.said
        )

    made = read_calibration(output)
    check_sensitivity(made, *OF_BONE)
    assert made.retspl_db_spl[BONE].at(1000.0) == 42.5
    assert made.highest_db_hl(Route("left", BONE), 250.0) == 112 - 10 - 67
    assert made.highest_db_hl(Route("left", BONE), 6000.0) == 112 - 10 - 40
    assert made.level_max_db_spl[Route("right", BONE)].at(500.0) == pytest.approx(111.5 - 15.0)
    about = made.content["vibrator"]
    told = {"name": "Radioear B71", "serial": "B-1", "placement": "mastoid"}
    assert told.items() <= about.items()
    places = [question for question in second.asked if "put the" in question]
    assert places == [
        f"put the vibrator on the coupler ({COUPLER}) for its {ear}-bone channel, and the "
        "earphones on nobody; return: "
        for ear in ("left", "right")
    ]


@pytest.mark.parametrize("channel", ["left", "right"])
def test_6_khz_may_be_left_out_of_both_channels_even_once_it_was_measured(
    device: Devices, tmp_path: Path, channel: str
) -> None:
    output = tmp_path / "calibration.toml"
    bone = ("--vibrator", "b71", "--serial-vibrator", "B-1", "--loud", "-10")
    answers = {"left-bone 4000 Hz at -30": ["skip"], f"{channel}-bone 6000 Hz at -30": ["skip"]}
    with device(tmp_path / "data") as bench:
        first = Technician(bench, answers | {"right-bone 250 Hz at -30": ["quit"]})
        assert run(output, first, *bone) == 1
        second = Technician(bench, answers)
        assert run(output, second, *bone, "--resume") == 0
    said = [*first.said, *second.said]
    assert "'skip' is no number; allowed are a number, return, softer, back, quit" in said
    assert sum(line.startswith("6000 Hz only if the coupler's") for line in said) in (1, 2)
    assert said.count("6000 Hz is left out of both channels of the vibrator") == 1
    asked = [question for question in second.asked if "6000 Hz at" in question]
    assert bool(asked) == (channel == "right"), "it is not asked for once more"
    assert not read_calibration(output).covers(Route("left", BONE), 6000.0)


def test_a_board_without_a_vibrator_is_not_measured(device: Devices, tmp_path: Path) -> None:
    with device(tmp_path / "data") as bench:
        bench.world.board = SimulatedBoard(a_listener(lapse_rate=1.0), has_vibrator=False)
        technician = Technician(bench)
        with pytest.raises(HostError, match="nothing that reaches the left ear by bone"):
            run(tmp_path / "c.toml", technician, "--vibrator", "b71", "--serial-vibrator", "B-1")


def with_microphone(
    device: Devices, tmp_path: Path, low_db: float, answers: dict[str, list[str]] | None = None
) -> tuple[int, Technician, SimulatedBoard]:
    """Calibrate with a microphone in the cushion that reads so much too low."""
    kind = MicrophoneKind(-low_db, cushion_db_spl=TRUTH["left"][1000])
    board = SimulatedBoard(a_listener(lapse_rate=1.0), room=RoomAround(microphone=kind))
    with device(tmp_path / "data") as bench:
        bench.world.board = board
        technician = Technician(bench, answers)
        return run(tmp_path / "c.toml", technician), technician, board


@pytest.mark.parametrize("low_db", [0.0, 5.0, -5.0])
def test_a_microphone_that_reads_a_known_tone_is_told(
    device: Devices, tmp_path: Path, low_db: float
) -> None:
    """70 dB HL at 1 kHz are 77 dB SPL with a TDH39."""
    status, technician, board = with_microphone(device, tmp_path, low_db)
    assert status == 0
    (told,) = [line for line in technician.said if line.startswith("the board's microphone")]
    assert told == f"the board's microphone reads {77.0 - low_db:.1f} dB SPL of 77.0"
    played = board.played[-1]
    assert (played.ear, played.frequency_hz) == ("left", 1000.0)


@pytest.mark.parametrize("low_db", [20.0, 7.0, -7.0])
def test_a_microphone_that_reads_a_known_tone_wrong_is_refused(
    device: Devices, tmp_path: Path, low_db: float
) -> None:
    answers = {"microphone into the cushion": ["", "quit"]}
    status, technician, _ = with_microphone(device, tmp_path, low_db, answers)
    assert status == 1
    assert (
        f"cannot be right: the board's microphone reads {77.0 - low_db:.1f} dB SPL of 77.0; "
        "allowed is 6 dB off; again"
    ) in technician.said
    assert not (tmp_path / "c.toml").exists()


def test_earphones_are_calibrated_without_a_microphone_that_is_broken(
    device: Devices, tmp_path: Path
) -> None:
    answers = {"microphone into the cushion": ["", "skip"]}
    status, technician, _ = with_microphone(device, tmp_path, 20.0, answers)
    assert status == 0
    assert "the board's microphone was not checked" in technician.said
    check_sensitivity(read_calibration(tmp_path / "c.toml"), *EARS)
