"""`gp-pta demo`: a whole hearing test of a simulated listener, as an operator would run it."""

import argparse
import json
import math
import random
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named
from firmware_py.procedure.settings import AUTOMATIC, OFF
from host_tools.commands import simulate
from host_tools.commands.replay import command as replay
from host_tools.commands.simulate import (
    EMULATED,
    SIMULATED,
    add_board_arguments,
    check_speed,
    faults_of,
    listener_of,
)
from host_tools.errors import HostError
from host_tools.files import check_name, write_text
from host_tools.live import (
    add_test_arguments,
    begin,
    check_test,
    data_directory,
    follow,
    show_result,
    show_verdict,
    teller,
)
from host_tools.newest import DEMO_PREFIX, JOURNALS
from host_tools.processes import ConsoleLine, FirmwareProcess, Operator, Simulator

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.console import Console

NAME = "demo"
SUMMARY = "measure a simulated listener from start to end and replay the journal"
EXAMPLE = """\
example:
  gp-pta demo --audiogram S2 --seed 3
  gp-pta demo --audiogram ears.csv:17,ears.csv:18 --kill 5 --out sessions
  gp-pta demo --audiogram N4 --unsure-half-width 3
  gp-pta demo --audiogram N1,N6 --masking off
  gp-pta demo --faults drop=.05,garble=.05,delay=.05,duplicate=.05
  gp-pta demo --board emulated --ear left
"""

MAY_NEED: Final = simulate.MAY_NEED
SPEED: Final = {SIMULATED: 40.0, EMULATED: 0.25}
# The emulator computes two seconds for one of a tone: single pulses, and no long pauses.
BRIEF: Final[dict[str, float]] = {"pulses": 1, "pause_ms_min": 500, "pause_ms_max": 1000}
EAR_MINUTES: Final = 1.1  # of such a test in real time
INSTALL_MINUTES: Final = 0.5

PICTURE_COLUMNS: Final = 120


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_board_arguments(p)
    add_test_arguments(p)
    p.add_argument(
        "--masking", choices=(AUTOMATIC, OFF), default=AUTOMATIC, help=f"default: {AUTOMATIC}"
    )
    p.add_argument(
        "--speed",
        type=float,
        help=f"1 is real time (default: {SPEED[SIMULATED]:g}, emulated {SPEED[EMULATED]:g})",
    )
    p.add_argument("--kill", type=int, default=0, metavar="N", help="kill -9 the firmware N times")
    p.add_argument("--picture", type=Path, metavar="FILE.svg", help="keep the screen as a picture")
    p.add_argument("--json", action="store_true", help="end with one line of JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration; the exit code is 0 if the replay was identical."""
    began_s = time.monotonic()
    screen = _screen(arguments.picture)
    truth = audiogram_named(arguments.audiogram)
    listener_of(arguments)  # refuse a wrong option before anything is started
    faults_of(arguments)
    if arguments.speed is None:
        arguments.speed = SPEED[arguments.board]
    check_speed(arguments.speed, arguments.board)
    _check_options(arguments)
    data = data_directory(arguments.out, DEMO_PREFIX)
    result = _measure(arguments, data, screen)
    journal = sorted(data.glob(JOURNALS))[-1]
    verdict = replay.replay_journal(journal)
    rmse_db = _rmse_db(result, truth)
    seconds = time.monotonic() - began_s
    show_result(screen, result, truth)
    if not math.isnan(rmse_db):
        screen.print(f"RMSE against the simulated listener: [bold]{rmse_db:.2f} dB[/bold]")
    show_verdict(screen, verdict)
    screen.print(f"{seconds:.1f} s at speed {arguments.speed:g}")
    if arguments.picture is not None:
        write_text(arguments.picture, _picture(screen))
    if arguments.json:
        summary = {
            "journal": str(journal),
            "trials": verdict.tones,
            "rmse_db": None if math.isnan(rmse_db) else round(rmse_db, 3),
            "replay_identical": verdict.identical,
            "seconds": round(seconds, 2),
        }
        print(json.dumps(summary))
    return verdict.code


def _check_options(arguments: argparse.Namespace) -> None:
    if arguments.kill < 0:
        raise HostError(f"--kill is {arguments.kill}; allowed is 0 and more")
    check_test(arguments, _settings(arguments))


def _screen(picture: Path | None) -> "Console":
    from rich.console import Console

    if picture is None:
        return Console(highlight=False)
    check_name(picture, "--picture", (".svg",))
    return Console(highlight=False, record=True, width=PICTURE_COLUMNS, force_terminal=True)


def _picture(screen: "Console") -> str:
    """Return the screen as SVG, without the font that Rich would fetch from outside."""
    svg = screen.export_svg(title="gp-pta demo")
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def _measure(arguments: argparse.Namespace, data: Path, screen: "Console") -> dict[str, Any]:
    """Start simulator and firmware, run a test over the console, and return its result."""
    screen.print(f"starting the {arguments.board} tone generator and the firmware ...")
    if arguments.board == EMULATED:
        screen.print(_how_long(arguments))
    with time_of(arguments.board) as clock:
        return _measure_with(arguments, data, screen, clock)


@contextmanager
def time_of(board: str) -> Iterator[Path | None]:
    """Give a place for the time of a board that has its own; afterwards it is gone."""
    if board != EMULATED:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="gp-pta-") as directory:
        yield Path(directory) / "board-time"


def _measure_with(
    arguments: argparse.Namespace, data: Path, screen: "Console", clock: Path | None
) -> dict[str, Any]:
    tell = teller(screen)
    simulator = Simulator(simulator_options(arguments, clock), tell)
    console = ConsoleLine()
    firmware = FirmwareProcess(simulator.port, console.port, data, arguments.speed, clock, tell)
    try:
        operator = Operator(console, firmware)
        begin(operator, arguments, _settings(arguments), screen)
        killer = _Killer(arguments, firmware)
        board_work = [simulator.work_s] if clock is not None else []
        for line in follow(operator, console, firmware, screen, *board_work):
            if line:
                killer.line_came()
        result: dict[str, Any] = json.loads(operator.ask("SESS:RES?"))
        operator.ask("SYST:EXIT")
        firmware.wait()
    finally:
        firmware.end()
        simulator.end()
        console.close()
    return result


def _how_long(arguments: argparse.Namespace) -> str:
    ears = 2 if arguments.ear == "both" else 1
    minutes = INSTALL_MINUTES + ears * EAR_MINUTES / arguments.speed
    return (
        f"it runs at {arguments.speed:g} of real time, with single pulses and short pauses: about "
        f"{minutes:.0f} minutes in all"
    )


def simulator_options(arguments: argparse.Namespace, clock: Path | None) -> list[str]:
    """Return the options of `gp-pta simulate` that are among these arguments, and a clock's."""
    names = ["board", "audiogram", "seed", "response_noise", "lapse_rate", "false_alarm_rate"]
    names += ["response_time", "unsure_half_width", "interaural_attenuation", "speed", "faults"]
    pairs = ((f"--{name.replace('_', '-')}", str(getattr(arguments, name))) for name in names)
    told = [] if clock is None else ["--clock", str(clock)]
    return [*(word for pair in pairs for word in pair), *told]


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    settings: dict[str, Any] = {**BRIEF} if arguments.board == EMULATED else {}
    if arguments.masking != AUTOMATIC:
        settings["masking"] = arguments.masking
    if arguments.unsure_half_width != 0.0:
        settings["unsure_half_width_db"] = arguments.unsure_half_width
    return settings


class _Killer:
    """Kills the firmware after some answers, drawn from the seed."""

    def __init__(self, arguments: argparse.Namespace, firmware: FirmwareProcess) -> None:
        self._left = arguments.kill
        self._chance = random.Random(arguments.seed)
        self._firmware = firmware
        self._after_lines = self._draw()

    def _draw(self) -> int:
        return self._chance.randrange(1, 6)

    def line_came(self) -> None:
        self._after_lines -= 1
        if self._left > 0 and self._after_lines <= 0:
            time.sleep(self._chance.random() * 0.03)
            self._left -= self._firmware.kill()
            self._after_lines = self._draw()


def _errors_db(ear: Mapping[str, Any], truth: Audiogram) -> Iterable[float]:
    """Return estimate minus truth at the audiogram frequencies the truth covers, within limits."""
    for found in ear["thresholds"]:
        frequency_hz = found["frequency_hz"]
        if not truth.frequencies_hz[0] <= frequency_hz <= truth.frequencies_hz[-1]:
            continue
        true_db_hl = truth.threshold_db_hl(frequency_hz)
        if found["threshold_db_hl"] is not None and math.isfinite(true_db_hl):
            yield found["threshold_db_hl"] - true_db_hl


def _rmse_db(result: Mapping[str, Any], truth: Mapping[Any, Audiogram]) -> float:
    squares = [
        error_db**2 for ear in result["ears"] for error_db in _errors_db(ear, truth[ear["ear"]])
    ]
    return math.sqrt(sum(squares) / len(squares)) if squares else math.nan
