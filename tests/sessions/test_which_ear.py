"""Which ear is which, on a whole device: at the console, in the journal, and after a restart."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from device.simulator.earphones import Worn
from device.simulator.world import WholeRun, World
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import say
from host_tools.recordings.replayed import replay_journal
from tests.budget import quick
from tests.firmware.whole_sessions import a_listener, records_of, result_of

# Of a test whose thresholds nobody looks at closely.
SETTINGS: dict[str, Any] = {"ear_check": True, "stop_half_width_db": 30.0, "tones_max": 20}
NOT_ASKED = 'ERROR -221,"nobody is asked in which ear a tone is"'


def in_question(directory: Path, swapped: bool = False) -> tuple[World, str]:
    """Return a device whose operator is asked, and the ear in which the tone is."""
    world = World(directory, Worn(a_listener("N1"), swapped))
    world.begin(Settings(**SETTINGS))
    world.until(was_told(world, "ear-check"))
    return world, last_tone(world)["ear"]


def was_told(world: World, what: str, times: int = 1) -> Callable[[], bool]:
    return lambda: sum(each == what for each, _ in world.told) >= times


def last_tone(world: World) -> dict[str, Any]:
    return next(about for what, about in reversed(world.told) if what == "tone")


def other(ear: str) -> str:
    return "left" if ear == "right" else "right"


def test_the_operator_says_it_at_the_console(tmp_path: Path) -> None:
    world, ear = in_question(tmp_path)
    (state,) = world.ask("SESS:STAT?")
    assert state.partition("check=ear ")[2].startswith(f'why="{say(reason(Code.WHICH_EAR))}" ')

    assert world.ask(f"SESS:EAR {ear.upper()}") == ["OK"]
    (state,) = world.ask("SESS:STAT?")
    assert "check=" not in state
    assert world.ask(f"SESS:EAR {ear.upper()}") == [NOT_ASKED]
    journal = world.end()
    assert {"what": "ear-named", "named": ear} in records_of(journal, "input")
    assert result_of(journal)["which_ear"] == "confirmed"
    assert replay_journal(journal).identical


def test_a_test_of_swapped_earphones_waits_until_they_are_turned_round(tmp_path: Path) -> None:
    world, ear = in_question(tmp_path, swapped=True)
    assert world.ask(f"SESS:EAR {other(ear)}") == ["OK"]
    (state,) = world.ask("SESS:STAT?")
    assert state.startswith("state=paused ")
    assert " check=earphones " in state
    assert say(reason(Code.TURN_EARPHONES, ear=ear)) in state
    assert world.ask(f"SESS:EAR {ear}") == [NOT_ASKED]
    tones = len([what for what, _ in world.told if what == "tone"])
    world.run(300_000_000)
    assert len([what for what, _ in world.told if what == "tone"]) == tones, "it waits"

    assert world.ask("SESS:CONT") == ["OK"]
    world.until(was_told(world, "ear-check", 2))
    assert world.ask(f"SESS:EAR {last_tone(world)['ear']}") == ["OK"]
    journal = world.end()
    assert result_of(journal)["which_ear"] == "confirmed"
    assert replay_journal(journal).identical


def test_nobody_is_asked_without_a_test_or_in_a_brisk_one(tmp_path: Path) -> None:
    world = World(tmp_path, a_listener("N1"))
    world.until(lambda: world.client.connected)
    (answer,) = world.ask("SESS:EAR LEFT")
    assert answer.startswith("ERROR -221,")
    world.begin(Settings())
    world.until(was_told(world, "answer"))
    assert world.ask("SESS:EAR LEFT") == [NOT_ASKED]
    (answer,) = world.ask("SESS:EAR BOTH")
    assert answer.startswith("ERROR -224,")
    world.close()


@pytest.mark.parametrize("answers", quick([0, 2], 2))
def test_a_test_that_was_in_the_question_asks_it_again(tmp_path: Path, answers: int) -> None:
    world, ear = in_question(tmp_path)
    world.until(was_told(world, "answer", 1 + answers))
    before = last_tone(world)
    world.restart()
    (state,) = world.ask("SESS:STAT?")
    assert state.partition("check=ear ")[2].startswith(f'why="{say(reason(Code.WHICH_EAR))}" ')
    world.until(was_told(world, "tone"))
    again = last_tone(world)
    assert (again["ear"], again["level_db_hl"]) == (before["ear"], before["level_db_hl"])

    assert world.ask(f"SESS:EAR {ear}") == ["OK"]
    journal = world.end()
    assert result_of(journal)["which_ear"] == "confirmed"
    assert replay_journal(journal).identical


def test_no_answer_goes_on_with_a_test_that_waits_for_the_same_person(tmp_path: Path) -> None:
    world, ear = in_question(tmp_path)
    world.close()
    world = WholeRun(tmp_path, Worn(a_listener("N1"), False))
    world.clock.us += 3600_000_000
    world.firmware.start()
    world.until(lambda: world.client.connected)
    for line in (f"SESS:EAR {ear}", "SESS:HEAR OPERATOR"):
        (refused,) = world.ask(line)
        assert refused.startswith('ERROR -221,"nobody is asked ')
        assert " check=identity " in world.ask("SESS:STAT?")[0]
    assert world.ask("SESS:CONT") == ["OK"]
    world.until(was_told(world, "tone"))
    assert world.ask(f"SESS:EAR {ear}") == ["OK"]
    world.close()


def test_what_came_of_it_stands_in_the_result(tmp_path: Path) -> None:
    world, _ = in_question(tmp_path)
    for times in (1, 2):
        world.until(was_told(world, "ear-check", times))
        world.ask("SESS:EAR UNSURE")
    world.finish()
    lines = world.ask("AUD")

    assert "left/right: not confirmed by the listener" in lines
    assert say(reason(Code.EARS_NOT_CONFIRMED)).capitalize() in lines
    assert json.loads(world.ask("SESS:RES?")[0])["which_ear"] == "not-confirmed"
    world.close()
