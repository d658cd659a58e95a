"""`gp-pta simulate`: a tone generator with a simulated listener behind a pty."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from device.simulator.audiograms import remarks_on
from device.simulator.faults import Board, FaultyBoard
from device.simulator.serve import serve
from firmware_py.platform.board_time import BoardTime, BoardTimeError
from host_tools.devices import simulation
from host_tools.devices.board_program import installed_pico
from host_tools.devices.processes import SERVED
from host_tools.devices.simulation import (
    EMULATED,
    add_board_arguments,
    board_of,
    check_board,
    faults_of,
    listener_of,
)
from host_tools.errors import HostError
from host_tools.terminal import say, say_aside

EXAMPLE = """\
example:
  gp-pta simulate --audiogram S2 --seed 3
  gp-pta simulate --audiogram N1,N5 --interaural-attenuation 45
  gp-pta simulate --faults drop=.02,garble=.01,delay=.05,duplicate=.01
  gp-pta-device --tone-generator /dev/pts/N --console ... --data sessions
  gp-pta simulate --board emulated --speed 0.5 --clock board-time
  gp-pta-device --tone-generator /dev/pts/N --console ... --data sessions --clock board-time
"""

NEEDS: Final = simulation.NEEDS


def add_arguments(p: argparse.ArgumentParser) -> None:
    add_board_arguments(p)
    p.add_argument("--speed", type=float, default=1.0, help="times faster than real (default: 1)")
    p.add_argument(
        "--clock",
        type=Path,
        metavar="FILE",
        help="write the emulated board's time to a new file, for gp-pta-device --clock FILE: where "
        "the board falls behind, its firmware waits for it",
    )


def run(arguments: argparse.Namespace) -> int:
    try:
        with _time_of(arguments) as tell_time:
            check_board(arguments)
            board = _board(arguments, tell_time)
            if faults := faults_of(arguments):
                board = FaultyBoard(board, faults, arguments.seed, arguments.speed)
            serve(board, arguments.speed, announce=_announce)
    except ValueError as error:
        raise HostError(str(error)) from None
    return 0


@contextmanager
def _time_of(arguments: argparse.Namespace) -> Iterator[Callable[[float], None]]:
    """Give a function that takes the board's time; the file it writes is removed afterwards."""
    if arguments.clock is None:
        yield lambda _: None
        return
    if arguments.board != EMULATED:
        raise HostError(
            "--clock is for --board emulated; a simulated board's time is this machine's"
        )
    try:
        told = BoardTime.make(arguments.clock)
    except BoardTimeError as error:
        raise HostError(f"--clock {error}") from None
    try:
        with told:
            yield told.tell
    finally:
        arguments.clock.unlink(missing_ok=True)


def _board(arguments: argparse.Namespace, tell_time: Callable[[float], None]) -> Board:
    if arguments.board != EMULATED:
        return board_of(arguments, say_aside)
    for remark in remarks_on(arguments.audiogram, arguments.columns):
        say_aside(remark)
    pico = installed_pico(tell=say_aside)
    from device.emulator.emulated_board import EmulatedBoard

    return EmulatedBoard(pico, listener_of(arguments), tell_time)


def _announce(port: str) -> None:
    say(port)
    say_aside(SERVED)
