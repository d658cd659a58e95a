"""Two operators, one after the other: nothing of the first reaches the second."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from device.simulator.virtual_clock import S
from device.simulator.world import World
from firmware_py.console.pin import PinHash
from firmware_py.installation.configuration import Configuration
from firmware_py.operator.console_connection import SILENCE_S
from firmware_py.terms.settings import Settings
from tests.firmware.whole_sessions import a_listener

PIN = "471108"
LOCKED = Configuration(pin=PinHash.of(PIN, b"0123456789abcdef"))
NO_ERROR = '0,"No error"'


def a_world(directory: Path, configuration: Configuration | None = None) -> World:
    world = World(directory, a_listener("S2", lapse_rate=1.0), configuration=configuration)
    world.until(lambda: world.client.connected)
    return world


def one(world: World, line: str) -> str:
    return world.ask(line)[-1]


def lock(world: World) -> None:
    assert world.ask("SYST:LOCK") == ["OK"]


def line_goes(world: World) -> None:
    world.console.vanish()
    world.step()
    world.console.there = True
    world.until(lambda: world.console.is_open)


def wrong_pin(world: World) -> None:
    assert one(world, "SYST:PIN 0000").startswith("ERROR -203")


def silence(world: World) -> None:
    world.run((round(SILENCE_S) + 1) * S)


def board_goes(world: World) -> None:
    world.tones.vanish()
    world.until(lambda: not world.client.connected)
    world.tones.there = True
    world.until(lambda: world.client.connected)


@pytest.mark.parametrize("leaves", [lock, line_goes, silence, wrong_pin])
def test_the_next_operator_begins_anew(tmp_path: Path, leaves: Callable[[World], None]) -> None:
    (tmp_path / "session-000001.journal").write_bytes(b"not a journal\n")
    world = a_world(tmp_path, LOCKED)
    assert one(world, f"SYST:PIN {PIN}") == "OK"
    assert one(world, "SETT level_max_db_hl,60") == "OK"
    assert one(world, "NONSENSE").startswith("ERROR -113")
    if leaves in (line_goes, silence):  # the others are lines, and whole
        world.console.incoming += b"SESS:STAR ID="
    leaves(world)

    assert one(world, "SYST:PIN?") == "LOCKED", "and what was typed by half is gone"
    assert one(world, "SETT? level_max_db_hl") == "100.0"
    errors = [*iter(lambda: one(world, "SYST:ERR?"), NO_ERROR)]
    assert any(error.startswith("102,") for error in errors), "that is the device's"
    assert not [error for error in errors if error.startswith("-113")]


def test_what_nobody_read_is_not_kept_for_the_next_operator(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    world.console.takes = False  # a bridge whose far end was closed
    world.ask("NONSENSE")
    silence(world)
    world.console.takes = True
    assert world.ask("SYST:ERR?") == [NO_ERROR]


@pytest.mark.parametrize("leaves", [lock, line_goes, silence, board_goes])
def test_a_climb_of_tones_by_hand_begins_anew(
    tmp_path: Path, leaves: Callable[[World], None]
) -> None:
    world = a_world(tmp_path)
    for levels in ("40,60", "60,80", "80,100", "100"):
        assert one(world, f"TONE LEFT,1000,{levels}") == "OK"
        world.until(lambda: world.board.tone is not None)
        world.until(lambda: world.board.tone is None)
    assert "100 dB HL" in one(world, "TONE LEFT,1000,101")
    leaves(world)

    assert "-10 to 40 dB HL (the first tone in an ear)" in one(world, "TONE LEFT,1000,100")
    assert one(world, "TONE LEFT,1000,40") == "OK"
    world.until(lambda: world.board.tone is not None)
    assert one(world, "TONE LEFT,1000,60") == "OK"
    world.until(lambda: world.told[-1][1].get("level_db_hl") == 60)
    refusal = one(world, "TONE LEFT,1000,80,61")
    assert "noise is 61; allowed are -10 to 60 dB (the first noise in an ear)" in refusal


# Settings are of one test


def settings_of(world: World) -> Settings:
    assert world.runner.last is not None
    return world.runner.last.header.settings


def test_what_is_set_holds_for_one_test(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    for line in ("SYST:EVEN ON", "SETT level_max_db_hl,60", "SETT pulses,3", "SESS:STAR LEFT"):
        assert one(world, line) == "OK"
    settings = settings_of(world)
    differ = '! settings differ="level_max_db_hl is 60, configured 100.0"'

    assert settings.level_max_db_hl == 60
    assert json.loads(one(world, "SETT:CONF?"))["level_max_db_hl"] == 100
    assert world.heard.count(differ) == 1
    assert one(world, "SETT? level_max_db_hl") == "100.0", "as soon as it has begun"
    assert one(world, "SESS:ABOR") == "OK"
    assert one(world, "SESS:STAR LEFT") == "OK"
    assert settings_of(world).level_max_db_hl == 100
    assert world.heard.count("! settings") == 1


def test_each_loud_test_needs_its_own_word(tmp_path: Path) -> None:
    loud = Configuration(Settings(level_max_db_hl=115.0, loud_confirmed=True))
    world = a_world(tmp_path, loud)
    for _ in range(2):
        assert one(world, "SETT? loud_confirmed") == "false"
        refusal = one(world, "SESS:STAR LEFT")
        assert refusal.startswith('ERROR -224,"level_max_db_hl is configured as 115 dB HL; above')
        assert "SETT loud_confirmed,true; no test was begun" in refusal
        assert one(world, "SETT loud_confirmed,true") == "OK"
        assert one(world, "SETT? loud_confirmed") == "true"
        assert one(world, "SESS:STAR LEFT") == "OK"
        assert one(world, "SESS:ABOR") == "OK"


def test_who_was_away_for_long_is_told_before_a_test_what_was_forgotten(tmp_path: Path) -> None:
    world = a_world(tmp_path, LOCKED)
    for line in ("SYST:EVEN ON", f"SYST:PIN {PIN}", "SETT level_max_db_hl,60", "SYST:TIME?"):
        assert not one(world, line).startswith("ERROR")
        world.run(10 * S)
    silence(world)  # the lock closes before that, for it was not needed

    assert "! settings forgotten=level_max_db_hl" in world.heard
    assert "settings are as configured again: level_max_db_hl; set them" in one(world, "SESS:STAR")
    assert one(world, "SESS:STAR") == "OK"
    for line in ("SESS:ABOR", f"SYST:PIN {PIN}", "SETT tones_max,30"):
        assert one(world, line) == "OK"
    silence(world)
    for line in (f"SYST:PIN {PIN}", "SETT tones_max,30", "SESS:STAR"):
        assert one(world, line) == "OK", "it was set again"


def test_a_seed_is_by_chance_unless_told(tmp_path: Path) -> None:
    """Else two people would have the same silent trials."""
    world = a_world(tmp_path)
    assert one(world, "SETT? seed") == "null"
    seeds = []
    for lines in ([], [], ["SETT seed,5"], []):
        for line in (*lines, "SESS:STAR LEFT", "SESS:ABOR"):
            assert one(world, line) == "OK"
        seeds.append(settings_of(world).seed)
    assert one(world, "SESS:STAR LEFT,SEED=7") == "OK"

    assert seeds[2] == 5
    assert settings_of(world).seed == 7
    assert len({seeds[0], seeds[1], seeds[3], 1, 5, 7}) == 6
    world = a_world(tmp_path / "configured", Configuration(seed=1))
    assert one(world, "SETT? seed") == "1"
    assert one(world, "SESS:STAR LEFT") == "OK"
    assert settings_of(world).seed == 1
    assert one(world, "SETT seed,null") == "OK"
    assert one(world, "SETT? seed") == "null"


# Whose it is


def test_what_is_shown_says_whose_it_is(tmp_path: Path) -> None:
    world = a_world(tmp_path, LOCKED)
    for line in (f"SYST:PIN {PIN}", "SESS:STAR LEFT,ID=P-17,AGE=67", "SESS:ABOR"):
        assert one(world, line) == "OK"
    begun = "2026-01-02T03:04:05+00:00"
    result = json.loads(one(world, "SESS:RES?"))

    assert world.ask("AUD")[0] == f"session 1 of P-17, begun {begun}"
    assert world.ask("AUD 1")[0] == f"session 1 of P-17, begun {begun}"
    assert f" session=1 started={begun} verdict=" in one(world, "THR?")
    assert (result["session"], result["started"]) == (1, begun)
    assert result["person"] == {"age_years": 67.0, "sex": None, "identifier": "P-17"}
    assert one(world, "SYST:LOCK") == "OK"
    assert world.ask("AUD")[0] == f"session 1, begun {begun}", "who it is needs the PIN"
    assert "person" not in json.loads(one(world, "SESS:RES?"))


@pytest.mark.parametrize("line", ["SESS:STAR ID=P-18", "SESS:STAR LEFFT", "SESS:STAR LEFT"])
def test_after_a_refused_start_the_last_result_does_not_pass_for_the_next_persons(
    tmp_path: Path, line: str
) -> None:
    world = a_world(tmp_path, LOCKED)
    for each in ("SESS:STAR LEFT", "SESS:ABOR"):
        assert one(world, each) == "OK"
    if line == "SESS:STAR LEFT":
        world.tones.vanish()
        world.until(lambda: not world.client.connected)
    assert one(world, line).startswith("ERROR")
    warning = "SESS:STAR was refused since then: this is not the session that it was for"

    assert world.ask("AUD")[:2] == ["session 1, begun 2026-01-02T03:04:05+00:00", warning]
    assert warning not in world.ask("AUD")[2:]
