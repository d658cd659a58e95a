"""The simulated board and listener of `demo`, `workbench` and `simulate`: options and processes."""

import argparse
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from device.audiogram_tables.mapping import ARGUMENT, OPTION
from device.simulator.audiograms import audiogram_named, remarks_on
from device.simulator.earphones import RIGHT_WAY, SWAPPED, WAYS, Worn
from device.simulator.faults import FaultRates
from device.simulator.head_options import HEAD_OPTIONS, head_of
from device.simulator.kinds import HONEST, KINDS_WORDS, kind_named
from device.simulator.listener import Listener, SimulatedListener
from device.simulator.odd_ears import ODD_EARS
from device.simulator.room_around import QUIET, ROOM_OPTIONS, RoomAround, room_around_of
from device.simulator.simulated_board import SimulatedBoard
from firmware_py.terms.route import AIR, BONE
from host_tools.devices.board_program import board_image
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Simulator
from host_tools.devices.unfinished import NO_KIND, SIMULATED_KIND, check_unfinished
from host_tools.errors import HostError
from host_tools.parser import Options

BOTH_ROUTES: Final = f"{AIR},{BONE}"  # as it is typed
SIMULATED, EMULATED = "simulated", "emulated"
NEEDS: Final = {f"--board {EMULATED}": ("rp2040py",)}
SPEED: Final = {SIMULATED: 40.0, EMULATED: 0.25}  # of a whole test, if nothing is said
SPEED_MIN: Final = 0.1
BOOT_BITS: Final = 32
# The emulator computes for more than half of a second of the board in which it has work to do.
SPEED_MAX: Final = {SIMULATED: 1000.0, EMULATED: 1.0}
# The emulator computes two seconds for one of a tone: single pulses, and no long pauses.
BRIEF: Final[dict[str, float]] = {"pulses": 1, "pause_ms_min": 500, "pause_ms_max": 1000}


@dataclass(frozen=True)
class Started:
    """A board and a firmware that were started, and the operator's end of the cable."""

    simulator: Simulator
    console: ConsoleLine
    firmware: FirmwareProcess


def add_board_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--board",
        choices=(SIMULATED, EMULATED),
        default=SIMULATED,
        help="emulated: the real program on MicroPython, in an emulated Raspberry Pi Pico",
    )
    add_listener_arguments(p)
    p.add_argument(
        "--faults",
        default="",
        metavar="NAME=RATE,...",
        help="what befalls how many of the lines on the wire, both ways: drop, garble, delay, "
        "duplicate, merge (default: nothing)",
    )


def add_listener_arguments(p: Options) -> None:
    p.add_argument(
        "--audiogram",
        default="N3",
        metavar="NAME|FILE.csv:ROW",
        help="a standard audiogram, N1 to N7 or S1 to S3; an odd one, "
        f"{', '.join(ODD_EARS)} (island:2 is another island); or a row (from 1) of an audiogram "
        "table; two with a comma are right and left ear (default: N3)",
    )
    p.add_argument(OPTION, **ARGUMENT)
    p.add_argument(
        "--listener", default=HONEST.text, metavar="KIND", help=f"{KINDS_WORDS} (default: honest)"
    )
    p.add_argument("--seed", type=int, default=1, help="seed of all random numbers (default: 1)")
    p.add_argument("--response-noise", type=float, default=2.0, metavar="DB", help="default: 2")
    p.add_argument("--lapse-rate", type=float, default=0.01, metavar="P", help="default: 0.01")
    p.add_argument(
        "--false-alarm-rate", type=float, default=0.01, metavar="P",
        help="share of silences that are answered (default: 0.01)",
    )  # fmt: skip
    p.add_argument("--response-time", type=float, default=0.4, metavar="S", help="default: 0.4")
    p.add_argument(
        "--response-time-slope",
        type=float,
        default=0.0,
        metavar="B",
        help="fall of the log of that for each SD above the threshold (default: 0; people: 0.08)",
    )
    p.add_argument(
        "--unsure-half-width",
        type=float,
        default=0.0,
        metavar="DB",
        help="presses a second button, for 'perhaps', so near the threshold (default: 0, never)",
    )
    for option, about in {**HEAD_OPTIONS, **ROOM_OPTIONS}.items():
        p.add_argument(option, **about)
    p.add_argument(
        "--earphones", choices=WAYS, default=RIGHT_WAY,
        help=f"how they are put on; {SWAPPED}: each ear hears the tones of the other one "
        f"(default: {RIGHT_WAY})",
    )  # fmt: skip


def listener_of(arguments: argparse.Namespace) -> Listener:
    try:
        listener = SimulatedListener(
            audiogram_named(arguments.audiogram, arguments.columns),
            response_noise_db=arguments.response_noise,
            lapse_rate=arguments.lapse_rate,
            false_alarm_rate=arguments.false_alarm_rate,
            response_time_s=arguments.response_time,
            seed=arguments.seed,
            unsure_half_width_db=arguments.unsure_half_width,
            kind=replace(
                kind_named(arguments.listener), response_time_slope=arguments.response_time_slope
            ),
            head=head_of(vars(arguments)),
        )
    except ValueError as error:
        raise HostError(str(error)) from None
    return Worn(listener, swapped=True) if arguments.earphones == SWAPPED else listener


def board_of(arguments: argparse.Namespace, tell: Callable[[str], None]) -> SimulatedBoard:
    """Return a simulated board with that listener; what is remarkable of the ears is told."""
    for remark in remarks_on(arguments.audiogram, arguments.columns):
        tell(remark)
    return SimulatedBoard(
        listener_of(arguments), boot=secrets.randbits(BOOT_BITS),
        host_silence_us=round(1e6 * arguments.speed), room=room_around(arguments),
    )  # fmt: skip


def room_around(arguments: argparse.Namespace) -> RoomAround:
    """Return the room with its microphone, of which an emulated board has none."""
    try:
        room = room_around_of(vars(arguments))
    except ValueError as error:
        raise HostError(str(error)) from None
    if arguments.board == EMULATED and room != QUIET:
        raise HostError("--room and --microphone are for the simulated board")
    return room


def faults_of(arguments: argparse.Namespace) -> FaultRates | None:
    """Return what befalls the lines on the wire, None for nothing."""
    if not arguments.faults:
        return None
    try:
        return FaultRates.parse(arguments.faults)
    except ValueError as error:
        raise HostError(f"--faults: {error}") from None


def add_speed_argument(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--speed",
        type=float,
        help=f"1 is real time (default: {SPEED[SIMULATED]:g}, emulated {SPEED[EMULATED]:g})",
    )


def add_routes_argument(p: Options) -> None:
    p.add_argument(
        "--routes", choices=(AIR, BOTH_ROUTES), default=AIR, metavar="ROUTES",
        help=f"{AIR}, or {BOTH_ROUTES}: by bone conduction too (default: {AIR})",
    )  # fmt: skip


def routes_of(arguments: argparse.Namespace) -> dict[str, Any]:
    return {} if arguments.routes == AIR else {"routes": arguments.routes.replace(",", ", ")}


def check_board(arguments: argparse.Namespace) -> None:
    """Refuse a wrong option before anything is started, and put the usual speed in its place."""
    listener_of(arguments)
    faults_of(arguments)
    room_around(arguments)
    board = arguments.board
    if arguments.speed is None:
        arguments.speed = SPEED[board]
    if not SPEED_MIN <= arguments.speed <= SPEED_MAX[board]:
        of_board = "" if board == SIMULATED else f" with the {board} board"
        allowed = f"allowed{of_board} is {SPEED_MIN:g} to {SPEED_MAX[board]:g}"
        raise HostError(f"--speed is {arguments.speed:g}; {allowed}")
    if board == EMULATED:
        board_image()


def check_place(
    arguments: argparse.Namespace, directory: Path | None, tell: Callable[[str], None]
) -> None:
    """Refuse a directory with an unfinished session of another kind of board; see `unfinished`."""
    kind = SIMULATED_KIND if arguments.board == SIMULATED else NO_KIND
    check_unfinished(directory, kind, tell)


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of a test that this board and this listener need."""
    settings: dict[str, Any] = {**BRIEF} if arguments.board == EMULATED else {}
    if arguments.unsure_half_width != 0.0:
        settings["unsure_button"] = True
    return settings


def unusual(
    add: Callable[[argparse.ArgumentParser], None], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Return the options, of those that `add` adds, whose values are not the defaults."""
    p = argparse.ArgumentParser(add_help=False)
    add(p)
    told = {name: getattr(arguments, name) for name in vars(p.parse_args([]))}
    return {
        f"--{name.replace('_', '-')}": value
        for name, value in told.items()
        if value != p.get_default(name)
    }


def options_of(arguments: argparse.Namespace) -> list[str]:
    """Return the options of board and listener as words, without the defaults."""
    told = unusual(add_board_arguments, arguments).items()
    return [word for o, value in told for word in ([o] if value is True else [o, str(value)])]


@contextmanager
def start_devices(
    arguments: argparse.Namespace,
    data: Path,
    tell: Callable[[str], None],
    hearing_aid: str = "",
) -> Iterator[Started]:
    """Start the board and the firmware, joined by ptys; both are ended afterwards.

    `arguments` are as `check_board` leaves them; `tell` is called with every line about what they
    do before they are ready; `hearing_aid` is the port of one to tune.
    """
    with ExitStack() as stack:
        options, clock = [*options_of(arguments), "--speed", str(arguments.speed)], None
        if arguments.board == EMULATED:  # it has a time of its own
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="gp-pta-"))
            clock = Path(place) / "board-time"
            options += ["--clock", str(clock)]
        simulator = Simulator(options, tell)
        stack.callback(simulator.end)
        console = stack.enter_context(closing(ConsoleLine()))
        firmware = FirmwareProcess(
            simulator.port, console.port, data, arguments.speed, clock, tell, hearing_aid,
            arguments.prior,
        )  # fmt: skip
        stack.callback(firmware.end)
        yield Started(simulator, console, firmware)
