"""A calibrated test begins when the tone generator is warm, as its own clock tells."""

import re
from pathlib import Path

import pytest

from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import S
from device.simulator.world import World
from device.sound_card import local_board
from firmware_py.board.board_connection import WARM_UP_S
from firmware_py.calibration import simulated
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.installation.configuration import Configuration
from tests.calibration.calibrations import on_file
from tests.firmware.whole_sessions import a_listener

pytestmark = pytest.mark.usefixtures("quick_disk")

COLD = re.compile(r'ERROR 112,"the tone generator warms up: (\d+) s more of 120 s; (.*)"')


def board_called(name: str, boot: int = 1) -> SimulatedBoard:
    return SimulatedBoard(a_listener("S2"), boot=boot, name=name)


def switched_on(
    directory: Path,
    name: str = "pico",
    calibration: CalibrationOnFile | None = None,
    configuration: Configuration | None = None,
) -> World:
    """Return a device whose tone generator was switched on some seconds ago."""
    world = World(
        directory, board=board_called(name), configuration=configuration,
        calibration=on_file() if calibration is None else calibration,
    )  # fmt: skip
    assert "warms up" not in world.ask("*TST?")[0], "of one that does not answer nobody knows"
    world.until(lambda: world.client.connected)
    world.run(S)
    return world


def test_the_time_is_stated_and_no_longer_than_iec_60645_1_allows() -> None:
    assert WARM_UP_S == 120.0, "not 600 s or more"


def test_a_test_is_refused_with_the_seconds_that_are_left_and_begins_then(tmp_path: Path) -> None:
    world = switched_on(tmp_path)
    (answer,), (tested,) = world.ask("SESS:STAR"), world.ask("*TST?")
    refused = COLD.fullmatch(answer)
    assert refused is not None, answer
    assert refused[2] == "no test was begun"
    left_s, on_for_s = int(refused[1]), world.board.now_us / S
    assert WARM_UP_S - on_for_s <= left_s <= WARM_UP_S - on_for_s + 2.0
    assert f"board ok, pico 1, warms up: {left_s} s more" in tested
    assert world.runner.session is None

    world.run((left_s - 4) * S)
    assert COLD.fullmatch(world.ask("SESS:STAR")[0])
    world.run(5 * S)
    assert world.ask("SESS:STAR") == ["OK"]
    assert "warms up" not in world.ask("*TST?")[0]
    world.close()


@pytest.mark.parametrize(
    ("name", "calibration"),
    [
        ("pico", NO_CALIBRATION),
        (local_board.BOARD_NAME, on_file()),
        (simulated.BOARD_NAME, on_file()),
    ],
)
def test_what_has_no_db_hl_and_what_is_a_program_does_not_wait(
    name: str, calibration: CalibrationOnFile, tmp_path: Path
) -> None:
    world = switched_on(tmp_path, name, calibration)
    assert world.ask("SESS:STAR") == ["OK"]
    world.close()


@pytest.mark.parametrize("within_min", [0.0, 15.0])
def test_after_a_power_cut_a_test_goes_on_and_after_a_long_break_when_it_is_warm(
    within_min: float, tmp_path: Path
) -> None:
    world = switched_on(tmp_path, configuration=Configuration(resume_within_min=within_min))
    world.run(int(WARM_UP_S) * S)
    assert world.ask("SESS:STAR") == ["OK"]
    world.until(lambda: len(world.board.played) > 2)
    world.close()
    world.board = board_called("pico", boot=2)
    world.board_began_us = world.clock.us
    world.restart()
    world.until(lambda: world.client.connected)
    world.run(5 * S)
    if within_min:
        assert world.board.played, "it goes on by itself"
        answers = [*world.ask("SESS:PAUS"), *world.ask("SESS:CONT")]
        assert answers == ["OK", "OK"], "nor does a pause end it"
    else:
        refused = COLD.fullmatch(world.ask("SESS:CONT")[0])
        assert refused is not None
        assert refused[2] == "the test waits"
        assert not world.board.played
        world.run(int(WARM_UP_S) * S)
        assert world.ask("SESS:CONT") == ["OK"]
    world.close()
