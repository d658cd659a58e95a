"""The room at the console: told before a test and in it, on its paper, and refused if too loud."""

import json
from pathlib import Path
from typing import Any

import pytest

from device.simulator.microphones import MicrophoneKind
from device.simulator.room_around import QUIET, RoomAround
from device.simulator.rooms import NoisyRoom
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import S
from device.simulator.world import World
from firmware_py.installation.configuration import Configuration
from firmware_py.journal import read_journal
from firmware_py.sessions.replay import replay
from firmware_py.terms.room import room_of
from firmware_py.terms.settings import Settings
from tests.firmware.whole_sessions import a_listener

ONE_EAR = Settings(ears="left", seed=5)
BANDS = "125:40;250:35;500:30;1000:25;2000:20;4000:15;8000:10"


def a_world(directory: Path, around: RoomAround | None = None, **configured: object) -> World:
    configuration = Configuration(ONE_EAR, seed=5, **configured)  # type: ignore[arg-type]
    board = SimulatedBoard(a_listener("N1"), host_silence_us=S, room=around or QUIET)
    world = World(directory, board=board, configuration=configuration)
    world.until(lambda: world.client.connected)
    return world


def one(world: World, line: str) -> str:
    return world.ask(line)[-1]


def told(world: World) -> Any:
    return json.loads(one(world, "SESS:ROOM?"))


def to_the_end(world: World) -> Any:
    assert one(world, "SESS:STAR") == "OK"
    world.until(lambda: not world.runner.running)
    found = json.loads(one(world, "SESS:RES?"))
    (journal,) = world.data.path.glob("session-*.journal")
    assert replay(read_journal(journal).records).differences == []
    return found


def test_nothing_is_known_until_it_is_told_or_configured(tmp_path: Path) -> None:
    assert told(a_world(tmp_path / "a")) == {"room": None}
    configured = told(a_world(tmp_path / "b", room=room_of(35.0)))
    assert configured["room"]["dba"] == 35.0


@pytest.mark.parametrize(
    ("line", "dba", "floor_db_hl"),
    [("SESS:ROOM 40", 40.0, 21.0), ("SESS:ROOM 40,OFFICE,1", 40.0, 19.0),
     (f"SESS:ROOM {BANDS}", 36.7, 17.0)],
)  # fmt: skip
def test_what_is_told_raises_the_floors_of_the_next_test(
    tmp_path: Path, line: str, dba: float, floor_db_hl: float
) -> None:
    world = a_world(tmp_path)
    assert one(world, line) == "OK"
    found = told(world)
    assert found["room"]["dba"] == pytest.approx(dba, abs=0.5)
    assert found["floors_db_hl"]["air"]["500"] == floor_db_hl
    assert found["too_loud"] is None
    assert one(world, "SESS:ROOM UNKNOWN") == "OK"
    assert told(world) == {"room": None}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("SESS:ROOM", "something is missing"),
        ("SESS:ROOM 9", "room dba is 9.0; allowed are numbers from 10 to 80 dBA"),
        ("SESS:ROOM quiet", "room is 'quiet'; allowed are dBA such as 40"),
        ("SESS:ROOM 40,PINK", "spectrum is 'PINK'; allowed are OFFICE and SPEECH"),
        ("SESS:ROOM 40,OFFICE,20", "allowed are numbers from 0.5 to 10 dB"),
        ("SESS:ROOM 1000:30", "allowed is what has 500 Hz among them"),
    ],
)
def test_what_can_be_no_room_is_refused(tmp_path: Path, line: str, words: str) -> None:
    world = a_world(tmp_path)
    assert words in one(world, line)
    assert told(world) == {"room": None}


def test_a_test_says_the_room_that_it_was_in_and_its_replay_is_the_same(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    assert one(world, "SESS:ROOM 40,OFFICE,1") == "OK"
    result = to_the_end(world)
    assert result["room"] == {"code": "room", "dba": 40, "spectrum": "office"}
    (ear,) = result["ears"]
    floors = {each["frequency_hz"]: each["floor_db_hl"] for each in ear["thresholds"]}
    assert (floors[500], floors[4000]) == (19.0, -10.0)


def test_a_test_that_knows_no_room_says_so(tmp_path: Path) -> None:
    assert to_the_end(a_world(tmp_path))["room"] is None


def test_a_room_that_is_told_in_the_middle_counts_from_then_on(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    assert one(world, "SESS:STAR") == "OK"
    world.until(lambda: world.runner.last_test is not None and world.runner.last_test.number > 4)
    assert one(world, "SESS:ROOM 45") == "OK"
    world.until(lambda: not world.runner.running)
    assert json.loads(one(world, "SESS:RES?"))["room"]["dba"] == 45


def test_a_microphone_tells_the_room_by_itself(tmp_path: Path) -> None:
    around = RoomAround(NoisyRoom("steady", 40.0, 1), MicrophoneKind())
    world = a_world(tmp_path, around)
    assert one(world, "SYST:VERS?").endswith(",hears the room")
    result = to_the_end(world)
    assert result["room"] == {"code": "room", "dba": 40, "spectrum": "microphone"}


def test_a_test_in_too_loud_a_room_is_refused_once(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    assert one(world, "SESS:ROOM 60") == "OK"
    refusal = one(world, "SESS:STAR")
    assert "the room is too loud: at 500 Hz nothing softer than 41 dB HL can be heard" in refusal
    assert not world.runner.running
    assert one(world, "SESS:STAR") == "OK"
