"""The time of an emulated board, and the firmware that keeps it."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from device.simulator.serve import serve_in_thread
from device.simulator.simulated_board import SimulatedBoard
from firmware_py.platform.board_time import STANDSTILL_S_MAX, BoardClock, BoardTime, BoardTimeError
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Operator
from tests.firmware.whole_sessions import a_listener

MS: Final = 1000


class Times:
    def __init__(self) -> None:
        self.board_us = 7_000_000.0
        self.world_s = 100.0
        self.clock = BoardClock(lambda: self.board_us, lambda: self.world_s)

    def pass_by(self, board_us: float, world_s: float) -> int:
        before_us = self.clock.now_us()
        self.board_us += board_us
        self.world_s += world_s
        return self.clock.now_us() - before_us


@pytest.mark.parametrize(
    "passing",  # of the board, in us; of the world, in s; and of the clock
    [
        ((10_000, 0.04, 10_000), (10_000, 50.0, 10_000), (0, 50.0, 0)),  # the board's, if slow
        ((-6_000_000, 1.0, 0), (5_000, 1.0, 5_000)),  # a board that begins anew
        # One that stands still for ever: it goes on with the world, and with the board later on.
        ((0, STANDSTILL_S_MAX, 0), (0, 2.0, 2_000_000), (0, 3.0, 3_000_000),
         (10_000, 3.0, 10_000), (0, STANDSTILL_S_MAX, 0)),
    ],
)  # fmt: skip
def test_its_time_is_the_boards_and_never_goes_backwards(
    passing: tuple[tuple[float, float, int], ...],
) -> None:
    times = Times()
    assert times.clock.of_wire() is times.clock
    for board_us, world_s, passed_us in passing:
        assert times.pass_by(board_us, world_s) == passed_us


def test_it_waits_no_longer_than_a_board_that_keeps_up_takes() -> None:
    times = Times()
    now_us = times.clock.now_us()
    assert times.clock.seconds_until(now_us + 200 * MS) == pytest.approx(0.2)
    assert 0.0 < times.clock.seconds_until(now_us + 1) < 0.1, "but it is no time to turn round"
    assert times.clock.seconds_until(now_us) == 0.0


def test_who_has_the_file_sees_the_time_and_none_that_is_half_written(tmp_path: Path) -> None:
    path = tmp_path / "board-time"
    with BoardTime.make(path) as told, BoardTime.open(path) as seen:
        assert seen.us() == 0
        told.tell(2.0**40 + 0.5)
        assert seen.us() == 2**40
        told.tell(5_000)
        assert seen.us() == 5_000
        with path.open("rb+") as file:
            file.write(b"\xff")
        assert seen.us() == 5_000
        told.tell(10_000)
        assert seen.us() == 10_000


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("mine")
    with pytest.raises(BoardTimeError, match=r"thesis.txt' is there already, and is not overwr"):
        BoardTime.make(path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none", "gp-pta-device: --clock '{}' cannot be read: No such file or directory"),
        ("", "gp-pta-device: --clock '{}' cannot be read: Is a directory"),
        ("other", "gp-pta-device: --clock '{}' does not hold the time of a board"),
    ],
)
def test_a_file_without_a_time_is_named(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "other").write_text("other")
    path = tmp_path / name
    code, said = refusal_of("--clock", str(path), data=tmp_path / "data")
    assert (code, said.splitlines()) == (2, [words.format(path)])


def test_two_times_are_refused(tmp_path: Path) -> None:
    code, said = refusal_of("--clock", "file", "--speed", "2", data=tmp_path)
    assert (code, said) == (2, "gp-pta-device: --clock and --speed: one of them is allowed\n")


def refusal_of(*options: str, data: Path) -> tuple[int, str]:
    command = [
        sys.executable, "-m", "firmware_py.main", "--tone-generator", "/none", "--console",
        "/none", "--data", str(data), *options,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class SlowBoard:
    """A board of which the time passes slowly: what it answers at once takes `ANSWER_US` of it.

    As an emulated one it does not catch up.
    """

    ANSWER_US: Final = 30 * MS
    SLOWER: Final = 20
    STEP_US_MAX: Final = 10 * MS

    def __init__(self, told: BoardTime) -> None:
        self._board = SimulatedBoard(a_listener("N3"), boot=1)
        self._told = told
        self._late: list[tuple[int, bytes]] = []
        self._us = self._host_us = 0

    def next_deadline_us(self) -> int | None:
        return self._host_us + MS * self.SLOWER

    def advance(self, now_us: int) -> None:
        self._us += min((now_us - self._host_us) // self.SLOWER, self.STEP_US_MAX)
        self._host_us = now_us
        self._board.advance(self._us)
        self._told.tell(self._us)

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)
        self._late.append((self._us + self.ANSWER_US, data))

    def transmit(self, frames_max: int | None = None) -> bytes:
        while self._late and self._late[0][0] <= self._us:
            self._board.receive(self._late.pop(0)[1], self._us)
        return self._board.transmit(frames_max)


def test_a_board_is_late_by_its_own_time_only(tmp_path: Path) -> None:
    """Its answers take 0.6 s of ours, in which the wire of a real board repeats thrice."""
    console = ConsoleLine()
    path = tmp_path / "board-time"
    with BoardTime.make(path) as told, serve_in_thread(SlowBoard(told)) as port:
        firmware = FirmwareProcess(port, console.port, tmp_path / "data", 1.0, path)
        try:
            operator = Operator(console, firmware)
            began_s = time.monotonic()
            operator.greet()
            assert time.monotonic() - began_s > 3 * SlowBoard.ANSWER_US * SlowBoard.SLOWER / 1e6
            assert "wire ok, 0 garbled, 0 repeated" in operator.ask("*TST?")
            operator.ask("SYST:EXIT")
            assert firmware.wait() == 0
        finally:
            firmware.end()
            console.close()
