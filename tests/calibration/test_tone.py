"""The tone for the sound level meter: limited, over by itself, and never in the way of a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from device.simulator.clock import MS
from device.simulator.world import World
from firmware_py.calibration.tone import ON_MS, ToneError
from firmware_py.link.notices import Refused
from firmware_py.procedure.presenter import PAUSE_BEFORE
from firmware_py.procedure.settings import Settings
from tests.firmware.world import a_listener, result_of, run_session

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "data", a_listener("S2"))
    world.until(lambda: world.client.connected)
    yield world
    world.close()


def until_state(world: World, state: str) -> None:
    world.until(lambda: world.runner.calibration_tone.state == state)


def test_it_sounds_and_is_over_by_itself(world: World) -> None:
    tone = world.runner.calibration_tone
    assert tone.state == "silent"

    tone.play("left", 1000.0, -30.0)
    assert tone.state == "asked"
    until_state(world, "sounding")
    began_us = world.clock.us
    until_state(world, "over")

    (played,) = world.board.played
    assert (played.ear, played.frequency_hz, played.level_dbfs) == ("left", 1000.0, -30.0)
    assert not played.cut
    assert world.clock.us - began_us == pytest.approx(ON_MS * MS, abs=100 * MS)


def test_another_one_ends_it(world: World) -> None:
    tone = world.runner.calibration_tone
    for number, level_dbfs in enumerate((-80.0, -6.0)):
        tone.play("right", 8000.0, level_dbfs)
        until_state(world, "sounding")
        assert len(world.board.played) == number + 1
    tone.stop()
    assert tone.state == "silent"
    world.run(100 * MS)
    assert [each.cut for each in world.board.played] == [True, True]


@pytest.mark.parametrize(
    ("level_dbfs", "words"),
    [
        (-5.9, "-5.9 dBFS: allowed is -80 to -6 dBFS"),
        (float("inf"), "inf dBFS: allowed is -80 to -6 dBFS"),
        (float("nan"), "nan dBFS: allowed is -80 to -6 dBFS"),
    ],
)
def test_what_may_not_be_played_is_named(world: World, level_dbfs: float, words: str) -> None:
    with pytest.raises(ToneError) as refusal:
        world.runner.calibration_tone.play("left", 1000.0, level_dbfs)
    assert str(refusal.value) == words
    world.run(100 * MS)
    assert world.board.played == []


def test_the_boards_own_limit_stands(world: World) -> None:
    world.board.server.limits_dbfs = (-20.0, -20.0)
    world.runner.calibration_tone.play("left", 1000.0, -10.0)
    until_state(world, "refused limit")
    assert world.board.played == []


def test_a_wire_that_is_cut_is_told(world: World) -> None:
    world.runner.calibration_tone.play("left", 1000.0, -30.0)
    world.wire_cut = True
    until_state(world, "lost")


def test_a_test_that_begins_ends_it_and_is_not_disturbed(world: World, tmp_path: Path) -> None:
    world.runner.calibration_tone.play("right", 1000.0, -30.0)
    until_state(world, "sounding")
    world.begin(Settings(ears="left", seed=3))
    world.finish()

    undisturbed = run_session(tmp_path / "other", a_listener("S2"), {"ears": "left", "seed": 3})
    assert world.board.played[0].cut
    assert result_of(world.journal())["ears"] == result_of(undisturbed)["ears"]


def test_a_refusal_that_is_not_of_a_tests_own_tone_does_not_end_it(world: World) -> None:
    world.begin(Settings(ears="left", seed=3))
    session = world.runner.session
    assert session is not None
    assert session.test.state == PAUSE_BEFORE
    world.runner.notice(Refused("tone", "limit", ""))
    assert not session.over
    world.board.server.limits_dbfs = (-160.0, -160.0)
    world.finish()
    assert session.test.outcome == "aborted", "of its own tone it does"
