"""`gp-pta demo`: a whole hearing test of a simulated listener, as an operator would run it."""

import argparse
import json
import math
import random
import re
import shlex
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from device.simulator.audiograms import audiogram_named
from device.simulator.listener import Audiogram
from firmware_py.console.audiogram import draw_audiogram, legend
from firmware_py.procedure.outcomes import HEARS_ALL, INCOMPLETE, MEASURED, NO_RESPONSE, UNSURE
from firmware_py.procedure.person import Person
from firmware_py.procedure.settings import SettingError, Settings
from host_tools import replay
from host_tools.errors import HostError
from host_tools.processes import ConsoleLine, FirmwareProcess, Operator, Simulator
from host_tools.simulate import add_listener_arguments, check_speed, faults_of, listener_of

NAME = "demo"
SUMMARY = "measure a simulated listener from start to end and replay the journal"
EXAMPLE = """\
example:
  gp-pta demo --audiogram S2 --seed 3
  gp-pta demo --audiogram ears.csv:17,ears.csv:18 --kill 5 --out sessions
  gp-pta demo --audiogram N4 --unsure-half-width 3
  gp-pta demo --faults drop=.05,garble=.05,delay=.05,duplicate=.05
"""

SILENT_S_MAX: Final = 60.0  # without any line from the firmware
TERMINAL_COLUMNS_BESIDE: Final = 118
IDLE_STATES: Final = ("state=idle", "state=finished")
PICTURE_COLUMNS: Final = 120
# By what an answer's `heard` says, to a tone and to a silence.
ANSWER_WORDS: Final = {
    "true": "[green]heard[/green]    ",
    UNSURE: "[yellow]unsure[/yellow]   ",
    "false": "not heard",
}
CATCH_WORDS: Final = {
    "true": "[red]pressed[/red]  ",
    UNSURE: "[yellow]unsure[/yellow]   ",
    "false": "silent   ",
}


@dataclass
class Progress:
    """What is known of the running test from the console's unasked lines."""

    tone: dict[str, str] = field(default_factory=dict)
    over: bool = False


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_listener_arguments(p)
    p.add_argument("--ear", choices=("left", "right", "both"), default="both", help="default: both")
    p.add_argument(
        "--age", type=float, metavar="YEARS", help="of the listener, told to the firmware"
    )
    p.add_argument("--sex", metavar="F|M", help="of the listener, told to the firmware")
    p.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="where the journal goes; an unfinished session there is gone on with "
        "(default: a new temporary directory)",
    )
    p.add_argument("--speed", type=float, default=40.0, help="1 is real time (default: 40)")
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
    check_speed(arguments.speed)
    _check_options(arguments)
    data = _data_directory(arguments.out)
    result = _measure(arguments, data, screen)
    journal = sorted(data.glob("session-*.journal"))[-1]
    verdict = replay.replay_journal(journal)
    rmse_db = _rmse_db(result, truth)
    seconds = time.monotonic() - began_s
    _show(screen, result, truth, rmse_db)
    for line in replay.words(verdict):
        screen.print(line, style="green" if verdict.identical else "red", soft_wrap=True)
    screen.print(f"{seconds:.1f} s at speed {arguments.speed:g}")
    if arguments.picture is not None:
        arguments.picture.write_text(_picture(screen), encoding="utf-8")
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
    try:
        Person(arguments.age, arguments.sex and arguments.sex.upper())
        Settings(unsure_half_width_db=arguments.unsure_half_width)
    except SettingError as error:
        raise HostError(str(error)) from None


def _screen(picture: Path | None) -> Console:
    if picture is None:
        return Console(highlight=False)
    if picture.suffix != ".svg" or not picture.parent.is_dir():
        raise HostError(f"--picture is {str(picture)!r}; allowed is a name in .svg, in a directory")
    if picture.exists():
        raise HostError(f"--picture {str(picture)!r} is there already; it is not overwritten")
    return Console(highlight=False, record=True, width=PICTURE_COLUMNS, force_terminal=True)


def _picture(screen: Console) -> str:
    """Return the screen as SVG, without the font that Rich would fetch from outside."""
    svg = screen.export_svg(title="gp-pta demo")
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def _data_directory(out: Path | None) -> Path:
    if out is None:
        return Path(tempfile.mkdtemp(prefix="gp-pta-demo-"))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"--out {str(out)!r} cannot be made: {error.strerror}") from None
    return out


def _measure(arguments: argparse.Namespace, data: Path, screen: Console) -> dict[str, Any]:
    """Start simulator and firmware, run a test over the console, and return its result."""
    screen.print("starting the simulated tone generator and the firmware ...")
    simulator = Simulator(_simulator_options(arguments))
    console = ConsoleLine()
    firmware = FirmwareProcess(simulator.port, console.port, data, arguments.speed)
    try:
        operator = Operator(console, firmware)
        _begin(operator, arguments, screen)
        _follow(operator, console, firmware, _Killer(arguments, firmware), screen)
        result: dict[str, Any] = json.loads(operator.ask("SESS:RES?"))
        operator.ask("SYST:EXIT")
        firmware.wait()
    finally:
        firmware.end()
        simulator.end()
        console.close()
    return result


def _simulator_options(arguments: argparse.Namespace) -> list[str]:
    names = ["audiogram", "seed", "response_noise", "lapse_rate", "false_alarm_rate"]
    names += ["response_time", "unsure_half_width", "speed", "faults"]
    pairs = ((f"--{name.replace('_', '-')}", str(getattr(arguments, name))) for name in names)
    return [word for pair in pairs for word in pair]


def _begin(operator: Operator, arguments: argparse.Namespace, screen: Console) -> None:
    state = operator.greet()
    if not state.startswith(IDLE_STATES):
        screen.print("going on with the unfinished session in this directory")
        return
    words = [arguments.ear.upper(), str(arguments.seed)]
    words += ["" if arguments.age is None else f"{arguments.age:g}", arguments.sex or ""]
    lines = [f"SESS:STAR {','.join(words).rstrip(',')}"]
    if arguments.unsure_half_width > 0.0:
        lines.insert(0, f"SETT unsure_half_width_db,{arguments.unsure_half_width:g}")
    for line in lines:
        answer = operator.ask(line)
        if answer != "OK":
            raise HostError(f"the firmware did not start a test: {answer}")


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


def _follow(
    operator: Operator,
    console: ConsoleLine,
    firmware: FirmwareProcess,
    killer: _Killer,
    screen: Console,
) -> None:
    """Show the test live until it is over, starting the firmware again whenever it was killed."""
    progress = Progress()
    last_line_s = time.monotonic()
    while not progress.over:
        for line in console.lines(0.1):
            last_line_s = time.monotonic()
            _show_line(line, progress, screen)
            killer.line_came()
        if firmware.restart_if_killed():
            screen.print(f"[red]the firmware was killed ({firmware.kills}); started again[/red]")
            progress.over = operator.greet().startswith(IDLE_STATES)
            last_line_s = time.monotonic()
        if time.monotonic() - last_line_s > SILENT_S_MAX:
            state = operator.ask("SESS:STAT?")
            progress.over = state.startswith(IDLE_STATES)
            if not progress.over:
                raise HostError(f"the test does not go on: {state}")


def _show_line(line: str, progress: Progress, screen: Console) -> None:
    if not line.startswith("! "):
        if line.startswith("ERROR"):
            screen.print(line, style="red", markup=False)
        return
    what, *pairs = shlex.split(line[2:])
    about = dict(pair.partition("=")[::2] for pair in pairs)
    match what:
        case "tone" | "catch":
            progress.tone = about
        case "answer":
            screen.print(_answer_line(progress.tone, about), highlight=False)
        case "ear-over":
            screen.print(f"[bold]{about['ear']} ear {about['outcome']}[/bold]: {about['why']}")
        case "session-over":
            progress.over = True
        case "void":
            screen.print(f"{about['number']:>4}  asked again: {about['why']}", style="yellow")
        case "error":
            screen.print(f"error {about['number']}: {about['words']}", style="red", markup=False)


def _answer_line(tone: Mapping[str, str], answer: Mapping[str, str]) -> str:
    catch = answer["purpose"] == "catch"
    if catch:
        stimulus = f"{'(no tone)':>19}"
    else:
        stimulus = f"{float(tone.get('frequency_hz', 'nan')):5.0f} Hz "
        stimulus += f"{float(tone.get('level_db_hl', 'nan')):4.0f} dB HL"
    word = (CATCH_WORDS if catch else ANSWER_WORDS)[answer["heard"]]
    width = f"  +-{float(answer['half_width_db']):4.1f} dB" if "half_width_db" in answer else ""
    purpose = "" if answer["purpose"] == "measure" else f"  {answer['purpose']}"
    return f"{answer['number']:>4}  {answer['ear']:<5}  {stimulus}  {word}{width}{purpose}"


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


def _show(
    screen: Console, result: Mapping[str, Any], truth: Mapping[Any, Audiogram], rmse_db: float
) -> None:
    panels = [_panel(ear, truth[ear["ear"]]) for ear in result["ears"]]
    screen.print()
    if len(panels) == 2 and screen.width >= TERMINAL_COLUMNS_BESIDE:
        height = max(len(panel) for panel in panels)
        left, right = ([*panel, *[""] * (height - len(panel))] for panel in panels)
        for a, b in zip(left, right, strict=True):
            screen.print(f"{a:<59}{b}", markup=False)
    else:
        for line in (line for panel in panels for line in panel):
            screen.print(line, markup=False)
    screen.print(legend({ear["ear"]: ear for ear in result["ears"]}, with_truth=True))
    for remark in result["remarks"]:
        screen.print(f"remark: {remark}", style="yellow")
    screen.print("UNCALIBRATED: levels are nominal", style="yellow")
    if not math.isnan(rmse_db):
        screen.print(f"RMSE against the simulated listener: [bold]{rmse_db:.2f} dB[/bold]")


def _panel(ear: Mapping[str, Any], truth: Audiogram) -> list[str]:
    pairs = list(zip(truth.frequencies_hz, truth.thresholds_db_hl, strict=True))
    unsure = f" ({ear['tones_unsure']} unsure)" if ear["tones_unsure"] else ""
    lines = [f"{ear['ear']} ear, {ear['tones']} tones{unsure}, {ear['outcome']}"]
    lines += draw_audiogram({ear["ear"]: ear["thresholds"]}, pairs)
    frequencies = [found["frequency_hz"] for found in ear["thresholds"]]
    lines.append("    Hz" + "".join(f"{f:5d}" for f in frequencies))
    lines.append(" found" + "".join(f"{_shown(found):>5}" for found in ear["thresholds"]))
    lines.append("    +-" + "".join(_number(_half(found), 1) for found in ear["thresholds"]))
    lines.append("  true" + "".join(_number(truth.threshold_db_hl(f), 0) for f in frequencies))
    return lines


def _half(found: Mapping[str, Any]) -> float | None:
    """Return half the width of the 95 % band."""
    if found["low_db_hl"] is None or found["high_db_hl"] is None:
        return None
    return float(0.5 * (found["high_db_hl"] - found["low_db_hl"]))


def _shown(found: Mapping[str, Any]) -> str:
    marks = {NO_RESPONSE: "none", HEARS_ALL: "all", INCOMPLETE: "?"}
    if found["mark"] != MEASURED or found["threshold_db_hl"] is None:
        return marks.get(found["mark"], "-")
    return f"{found['threshold_db_hl']:.0f}"


def _number(value: float | None, digits: int) -> str:
    if value is None:
        return f"{'-':>5}"
    return f"{value:5.{digits}f}" if math.isfinite(value) else f"{'none':>5}"
