"""`gp-pta demo`: a whole hearing test of a simulated listener, as an operator would run it."""

import argparse
import itertools
import json
import math
import random
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named
from device.simulator.head import Head
from device.simulator.head_options import head_of
from device.simulator.preferences import HONEST, PEOPLE
from firmware_py.findings.air_bone_gap import gaps_of
from firmware_py.terms.results import EarResult, SessionResult
from firmware_py.terms.route import AIR, BONE, Route
from firmware_py.terms.settings import AUTOMATIC, BOTH, OFF
from firmware_py.terms.shown_threshold import Kind, as_shown
from host_tools.commands.export.gaps import loss_notes
from host_tools.devices import simulation
from host_tools.devices.live import (
    add_test_arguments,
    check_test,
    data_directory,
    measure,
    show_result,
    show_verdict,
    teller,
)
from host_tools.devices.processes import FirmwareProcess, Operator
from host_tools.devices.simulation import (
    EMULATED,
    SIMULATED,
    SPEED,
    add_board_arguments,
    add_routes_argument,
    add_speed_argument,
    check_board,
    check_place,
    routes_of,
    settings_of,
    start_devices,
)
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_name, write_text
from host_tools.recordings import replayed
from host_tools.recordings.newest import DEMO_PREFIX, newest_in
from host_tools.recordings.recorded_session import Trial, replay_session
from host_tools.terminal import say

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.console import Console


EXAMPLE = """\
example:
  gp-pta demo --audiogram S2 --seed 3
  gp-pta demo --audiogram ears.csv:17,ears.csv:18 --kill 5 --out sessions
  gp-pta demo --audiogram N4 --unsure-half-width 3
  gp-pta demo --audiogram N1,N6 --masking off
  gp-pta demo --audiogram N3,N1 --routes air,bone --air-bone-gap right=35
  gp-pta demo --faults drop=.05,garble=.05,delay=.05,duplicate=.05
  gp-pta demo --board emulated --ear left
  gp-pta demo --prior prior.json --out sessions
  gp-pta demo --fit --out sessions

--fit goes on to the hearing aid: it prescribes, and a simulated wearer tunes openMHA (make aid, 420
MB) by comparing two settings of made-up speech; without openMHA it only prescribes, and says so
first. Fits and pictures are left beside the journals.
"""

NEEDS: Final = {**simulation.NEEDS, "--fit": ("matplotlib", "soundfile", "typst")}
EAR_MINUTES: Final = 1.1  # of such a test in real time
INSTALL_MINUTES: Final = 0.5

PICTURE_COLUMNS: Final = 120  # of a terminal that has them, and of a pipe
TONE_S_USUAL: Final = 1.5  # median time from answer to answer at the usual speed
TONE_S_MAX: Final = 4.0
PLACE_S: Final = 10.0  # of the test, to put the vibrator behind an ear
PLACE_S_MAX: Final = 1.0  # of whoever watches


def add_arguments(p: argparse.ArgumentParser) -> None:
    add_board_arguments(p)
    add_test_arguments(p)
    p.add_argument(
        "--masking", choices=(AUTOMATIC, OFF), default=AUTOMATIC, help=f"default: {AUTOMATIC}"
    )
    add_routes_argument(p)
    add_speed_argument(p)
    p.add_argument("--kill", type=int, default=0, metavar="N", help="kill -9 the firmware N times")
    p.add_argument("--fit", action="store_true", help="fit a hearing aid then, and tune it")
    p.add_argument(
        "--person", choices=tuple(PEOPLE), default=HONEST,
        help=f"who tunes it: {', '.join(PEOPLE)} (default: {HONEST})", metavar="KIND",
    )  # fmt: skip
    p.add_argument("--picture", type=Path, metavar="FILE.svg", help="keep the screen as a picture")
    p.add_argument("--json", action="store_true", help="end with one line of JSON")


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration; the exit code is 0 if the replay was identical."""
    began_s = time.monotonic()
    screen = _screen(arguments.picture)
    check_board(arguments)
    by_air = audiogram_named(arguments.audiogram, arguments.columns)
    head = head_of(vars(arguments))
    if arguments.kill < 0:
        raise HostError(f"--kill is {arguments.kill}; allowed is 0 and more")
    check_test(arguments, _settings(arguments))
    if arguments.fit:
        _check_fitting(arguments, screen)
    check_place(arguments, arguments.out, teller(screen))
    data = data_directory(arguments.out, DEMO_PREFIX)
    result, nominal = _measure(arguments, data, screen)
    journal = newest_in(data)
    session = replay_session(journal)
    verdict = replayed.verdict_of(session)
    truth = {ear.route: truth_of(ear, by_air, head) for ear in result.ears}
    ears = {by: [ear for ear in result.ears if ear.route.transducer == by] for by in (AIR, BONE)}
    rmse_db = _rmse_db(ears[AIR], truth)
    seconds = time.monotonic() - began_s
    show_result(screen, result, truth, nominal=nominal)
    if not math.isnan(rmse_db):
        screen.print(_rmse_words(rmse_db, _rmse_db(ears[AIR], truth, Kind.INFERRED)))
    bone = _bone(ears[BONE], truth, seconds_by(session.trials)) if ears[BONE] else None
    if bone is not None:
        screen.print(_bone_words(bone))
        gaps = gaps_of(result, nominal=nominal)
        for line in loss_notes(each.to_record() for each in gaps):
            screen.print(line)
    show_verdict(screen, verdict)
    screen.print(f"{seconds:.1f} s at speed {arguments.speed:g}")
    if slow := lag_words(session.trials, arguments.speed):
        screen.print(slow)
    fitting = None
    if arguments.fit:
        from host_tools.commands.fitting import fit_and_tune

        fitting = fit_and_tune(arguments, journal, data, screen)
    if arguments.picture is not None:
        write_text(arguments.picture, _picture(screen), for_all=True)
    if arguments.json:
        summary = {
            "journal": str(journal),
            "trials": verdict.count,
            "rmse_db": _number(rmse_db),
            "replay_identical": verdict.identical,
            "seconds": round(seconds, 2),
        }
        routes = {} if bone is None else {"routes": {BONE: bone}}
        tuning = {"tuning": replayed.as_json(fitting.verdict)} if fitting else {}
        say(json.dumps({**summary, **routes, **tuning}))
    return verdict.code or (fitting.verdict.code if fitting else 0)


def _check_fitting(arguments: argparse.Namespace, screen: "Console") -> None:
    """Refuse what cannot be fitted, and say before anything begins what is left out."""
    need("--fit", *NEEDS["--fit"], use="demo --fit")
    if arguments.ear != BOTH:
        raise HostError(f"--fit with --ear {arguments.ear}: an aid has two ears; allowed is {BOTH}")
    from host_tools.commands.fitting import why_not_played

    if why := why_not_played():
        teller(screen)(f"--fit prescribes and does not tune: {why}")


def _screen(picture: Path | None) -> "Console":
    from rich.console import Console

    if picture is None:
        return Console(highlight=False)
    check_name(picture, "--picture", (".svg",))
    screen = Console(highlight=False, record=True)
    if not screen.is_terminal or screen.width > PICTURE_COLUMNS:
        screen.width = PICTURE_COLUMNS
    return screen


def _picture(screen: "Console") -> str:
    """Return the screen as SVG, without the font that Rich would have the reader download."""
    svg = screen.export_svg(title="gp-pta demo")
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def _measure(
    arguments: argparse.Namespace, data: Path, screen: "Console"
) -> tuple[SessionResult, bool]:
    """Start simulator and firmware, run a test over the console, and return its result."""
    screen.print(f"starting the {arguments.board} tone generator and the firmware ...")
    if arguments.board == EMULATED:
        screen.print(_how_long(arguments))
    with start_devices(arguments, data, teller(screen)) as bench:
        killer = _Killer(arguments, bench.firmware)
        emulated = arguments.board == EMULATED
        board_work = {"board_work_s": bench.simulator.work_s} if emulated else {}
        return measure(
            Operator(bench.console, bench.firmware), arguments, _settings(arguments), screen,
            killer.take, **board_work, place=lambda: _place(arguments.speed),
        )  # fmt: skip


def _place(speed: float) -> None:
    time.sleep(min(PLACE_S / speed, PLACE_S_MAX))


def _how_long(arguments: argparse.Namespace) -> str:
    ears = 2 if arguments.ear == "both" else 1
    minutes = INSTALL_MINUTES + ears * EAR_MINUTES / arguments.speed
    return (
        f"it runs at {arguments.speed:g} of real time, with single pulses and short pauses: about "
        f"{minutes:.0f} minutes in all"
    )


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    masking = {} if arguments.masking == AUTOMATIC else {"masking": arguments.masking}
    return {**settings_of(arguments), **masking, **routes_of(arguments)}


class _Killer:
    """Kills the firmware after some answers; how many is drawn from the seed."""

    def __init__(self, arguments: argparse.Namespace, firmware: FirmwareProcess) -> None:
        self._left = arguments.kill
        self._chance = random.Random(arguments.seed)
        self._firmware = firmware
        self._after_lines = self._draw()

    def _draw(self) -> int:
        return self._chance.randrange(1, 6)

    def take(self, line: str) -> None:
        self._after_lines -= line != ""
        if line and self._left > 0 and self._after_lines <= 0:
            time.sleep(self._chance.random() * 0.03)
            self._left -= self._firmware.kill()
            self._after_lines = self._draw()


def truth_of(ear: EarResult, by_air: Mapping[Any, Audiogram], head: Head) -> Audiogram:
    """Return the thresholds that there are to be found by the route of an ear.

    By bone they are those of the better cochlea, and of an ear that was asked anew with noise in
    the other one its own.
    """
    own = by_air[ear.route.ear]
    if ear.route.transducer == AIR:
        return own
    truth = {
        float(each.frequency_hz): head.bone_threshold_db_hl(
            by_air, ear.route.ear, each.frequency_hz, alone=ear.tones_masked > 0
        )
        for each in ear.thresholds
        if own.knows(each.frequency_hz)
    }
    return Audiogram((*truth,), (*truth.values(),), own.unknown_hz)


def _errors_db(ear: EarResult, truth: Audiogram, kind: Kind) -> Iterable[float]:
    """Yield estimate minus truth, at the frequencies of a kind where there are both.

    By bone without those that either ear may have answered, in spite of noise or for want of it.
    """
    for found in ear.thresholds:
        reading = as_shown(found)
        if not truth.knows(found.frequency_hz):
            continue
        if ear.route.by_bone and reading.doubtful:
            continue
        true_db_hl = truth.threshold_db_hl(found.frequency_hz)
        if reading.kind == kind and reading.level_db_hl is not None and math.isfinite(true_db_hl):
            yield reading.level_db_hl - true_db_hl


def _rmse_db(
    ears: Iterable[EarResult], truth: Mapping[Route, Audiogram], kind: Kind = Kind.MEASURED
) -> float:
    squares = [error_db**2 for ear in ears for error_db in _errors_db(ear, truth[ear.route], kind)]
    return math.sqrt(sum(squares) / len(squares)) if squares else math.nan


def seconds_by(trials: Iterable[Trial]) -> dict[str, float]:
    """Return the seconds of the tests by each transducer.

    What passes before an answer belongs to it: the pause, and the time to put the vibrator there.
    """
    spent: dict[str, float] = {}
    before_us = 0
    for trial in trials:
        by = trial.route.transducer
        spent[by] = spent.get(by, 0.0) + (trial.at_us - before_us) / 1e6
        before_us = trial.at_us
    return spent


def lag_words(trials: Sequence[Trial], speed: float) -> str:
    """Say that the machine was too slow for the speed, which no result is to be blamed on.

    While the firmware computes, the listener's time goes on, so many times faster. In silences that
    long a button is pressed by chance, and a press comes after its window has closed.
    """
    gaps_s = [(then.at_us - trial.at_us) / 1e6 for trial, then in itertools.pairwise(trials)]
    if not gaps_s or speed <= SPEED[SIMULATED] or (s := median(gaps_s)) <= TONE_S_MAX:
        return ""
    return (
        f"This machine is too slow for speed {speed:g}: a tone took {s:.0f} s of the listener's "
        f"time, and {TONE_S_USUAL:g} at speed {SPEED[SIMULATED]:g}. What is said of the listener "
        "may come from that."
    )


def _bone(
    ears: Sequence[EarResult], truth: Mapping[Route, Audiogram], seconds: Mapping[str, float]
) -> dict[str, Any]:
    return {
        "rmse_db": _number(_rmse_db(ears, truth)),
        "tones": sum(ear.tones for ear in ears),
        "seconds": round(seconds.get(BONE, 0.0), 1),
    }


def _number(rmse_db: float) -> float | None:
    return None if math.isnan(rmse_db) else round(rmse_db, 3)


def _bone_words(bone: Mapping[str, Any]) -> str:
    took = f"Bone conduction took {bone['tones']} tones and {bone['seconds']:.0f} s of the test"
    if bone["rmse_db"] is None:
        return f"{took}; no threshold was measured beyond doubt"
    return f"{took}; RMSE against what a vibrator can find: [bold]{bone['rmse_db']:.2f} dB[/bold]"


def _rmse_words(rmse_db: float, inferred_db: float) -> str:
    apart = "" if math.isnan(inferred_db) else f"; of what was inferred {inferred_db:.2f} dB"
    return f"RMSE against the simulated listener: [bold]{rmse_db:.2f} dB[/bold]{apart}"
