"""A whole device in no time: what it is asked, and what it refuses."""

from pathlib import Path

import pytest

from device.simulator import hearing
from device.simulator.hearing import SimulatedTest
from device.simulator.virtual_clock import S, VirtualClock
from device.simulator.world import World
from firmware_py.firmware import FirmwareError
from firmware_py.terms.settings import Settings
from tests.firmware.whole_sessions import a_listener

SHORT = "LEFT,SEED=3"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "data", a_listener("S2"))


def test_a_console_answers_at_once_and_a_whole_test_takes_no_time(world: World) -> None:
    assert world.ask("*IDN?")[0].startswith("GP-PTA,")

    world.until(lambda: world.client.connected)
    assert world.ask(f"SESS:STAR {SHORT}") == ["OK"]
    world.finish()

    assert world.clock.seconds > 30.0
    assert world.ask("SESS:LIST?")[0].startswith("1,")


def test_what_never_comes_is_named_with_what_came(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.simulator.world.STEPS_MAX", 20)

    with pytest.raises(AssertionError, match="it did not come in 20 steps; last told: "):
        world.until(lambda: False)


def test_a_world_without_a_board_or_an_aid_says_so(tmp_path: Path) -> None:
    world = World(tmp_path / "data")

    with pytest.raises(ValueError, match="there is no board in this world"):
        world.board.advance(0)
    with pytest.raises(ValueError, match="there is no hearing aid in this world"):
        world.firmware.tuner.close()
    assert world.ask("*IDN?")[0].startswith("GP-PTA,")
    with pytest.raises(FirmwareError, match="no tone generator at '/dev/tone-generator'"):
        world.run(60 * S)


def test_a_firmware_that_does_not_end_is_noticed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.simulator.surroundings.TURNS_MAX", 50)

    with pytest.raises(AssertionError, match="the firmware does not end; it said last: "):
        world.run(60 * S)


def test_a_clock_by_which_nobody_waits_says_so() -> None:
    with pytest.raises(ValueError, match="nobody waits by this clock"):
        VirtualClock().waiting()


# A hearing test without a firmware


def left_ear() -> SimulatedTest:
    return SimulatedTest(Settings.from_record({"ears": "left"}), a_listener("N3"))


def test_what_never_happens_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "STEPS_MAX", 30)

    with pytest.raises(RuntimeError, match=r"^the test is [a-z-]+ after 30 steps$"):
        left_ear().run_until(lambda _action: False)


def test_a_test_that_is_over_has_no_next_step() -> None:
    test = left_ear()
    test.run()

    with pytest.raises(RuntimeError, match=r"^the test is finished for ever$"):
        test.run_until(lambda _action: False)
