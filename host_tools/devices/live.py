"""A test of a firmware in a process of ours, from its start to the picture of its result."""

import argparse
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from device.simulator.audiogram import Audiogram
from firmware_py.console.audiogram_text import INFERRED, TRUTH, axis_unit
from firmware_py.console.wording import readable
from firmware_py.platform.own_prior import OwnPrior, OwnPriorError, shorten
from firmware_py.terms.calibration_states import UNCALIBRATED
from firmware_py.terms.person import Person
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import Route
from firmware_py.terms.settings import SettingError, Settings
from firmware_py.terms.shown_threshold import Kind, as_shown
from firmware_py.terms.verdicts import has_thresholds
from firmware_py.terms.words import say
from host_tools.colours import (
    EAR_STYLES,
    audiogram_in_colours,
    calibration_style,
    legend_in_colours,
    verdicts_in_colours,
)
from host_tools.devices.device_answers import told_pairs, told_result
from host_tools.devices.patience import Wait
from host_tools.devices.processes import Operator
from host_tools.devices.unasked_lines import Progress, show_line
from host_tools.devices.unfinished import WAITS, waiting_words
from host_tools.errors import HostError
from host_tools.parser import Options
from host_tools.recordings import replayed
from host_tools.terminal import show

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.console import Console
    from rich.text import Text

    from host_tools.recordings.replayed import Verdict

PANEL_COLUMNS: Final = 59
TERMINAL_COLUMNS_BESIDE: Final = 2 * PANEL_COLUMNS
NOT_KNOWN: Final = "?"  # of the truth, in a table that lacks it
TRUTH_WORDS: Final = f"{TRUTH} the simulated listener's true threshold"
IDLE_STATES: Final = ("state=idle", "state=finished")
PRIOR_BEGAN: Final = "prior="
WAITS_FOR_PLACING: Final = " check=placing "  # in the answer that says where a session is
FOUND_WORDS: Final = {
    Kind.ABOVE: "none",
    Kind.AT_MOST: "all",
    Kind.PERHAPS_ABOVE: "?",
    Kind.UNKNOWN: "-",
}


def add_prior_argument(p: Options) -> None:
    p.add_argument(
        "--prior", type=Path, metavar="FILE",
        help="begin with this prior, made by gp-pta learn-prior (default: the one that ships)",
    )  # fmt: skip


def check_prior(path: Path | None) -> None:
    """Refuse a prior that no test can have, before a firmware is started."""
    try:
        if path is not None:
            OwnPrior.read(path)
    except OwnPriorError as error:
        raise HostError(f"--prior {error}") from None


def add_test_arguments(p: Options) -> None:
    p.add_argument("--ear", choices=("left", "right", "both"), default="both", help="default: both")
    p.add_argument(
        "--age", type=float, metavar="YEARS", help="of the listener, told to the firmware"
    )
    p.add_argument("--sex", metavar="F|M", help="of the listener, told to the firmware")
    add_prior_argument(p)
    p.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="directory of the journal; continues an unfinished session there "
        "(default: a new temporary directory)",
    )


def check_test(arguments: argparse.Namespace, settings: Mapping[str, Any]) -> None:
    """Refuse what a firmware would refuse, before one is started."""
    try:
        Person(arguments.age, arguments.sex and arguments.sex.upper())
        Settings(**settings)
    except SettingError as error:
        raise HostError(str(error)) from None
    check_prior(arguments.prior)


def data_directory(out: Path | None, prefix: str) -> Path:
    """Return a directory for the journal, made if need be; None: a new temporary one."""
    if out is None:
        return Path(tempfile.mkdtemp(prefix=prefix))
    try:
        out.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(f"--out {str(out)!r} cannot be made: {error.strerror}") from None
    return out


def begin(
    operator: Operator,
    arguments: argparse.Namespace,
    settings: Mapping[str, Any],
    screen: "Console",
) -> Progress:
    """Start a test with these settings, or go on with the one that is unfinished.

    Return what is known of it.
    """
    state = operator.greet()
    nominal = f"calibration={UNCALIBRATED}" in state.split()
    if not state.startswith(IDLE_STATES):
        words = f"going on with the unfinished session in this directory{_so_far(state)}"
        show(screen, words, soft_wrap=True)
        if words := other_prior_words(state, getattr(arguments, "prior", None)):
            show(screen, words, "yellow", soft_wrap=True)
        _go_on(operator, state, confirmed=getattr(arguments, "go_on", True))
        return Progress(nominal=nominal, placing=WAITS_FOR_PLACING in state)
    told = {
        "EAR": arguments.ear.upper(),
        "AGE": None if arguments.age is None else f"{arguments.age:g}",
        "SEX": arguments.sex and arguments.sex.upper(),
        "SEED": arguments.seed,
    }
    start = ",".join(f"{name}={value}" for name, value in told.items() if value is not None)
    lines = [f"SETT {name},{as_typed(value)}" for name, value in settings.items()]
    for line in [*lines, f"SESS:STAR {start}"]:
        answer = operator.ask(line)
        if answer != "OK":
            raise HostError(f"the firmware did not start a test: {answer}")
    return Progress(nominal=nominal)


def _go_on(operator: Operator, state: str, *, confirmed: bool) -> None:
    """Have a session go on that waits for the operator's word; a simulated listener is the same."""
    if WAITS not in state:
        return
    if not confirmed:
        raise HostError(waiting_words(state))
    if (answer := operator.ask("SESS:CONT")) != "OK":
        raise HostError(f"the test does not go on: {answer}")


def other_prior_words(state: str, asked: Path | None) -> str:
    """Say which prior an unfinished session goes on with, if it is not the one asked for."""
    found = state.split()
    began = next((word for word in found if word.startswith(PRIOR_BEGAN)), "")
    began = began.removeprefix(PRIOR_BEGAN)
    if began == ("" if asked is None else shorten(OwnPrior.read(asked).digest)):
        return ""
    of_session = f"prior {began}" if began else "the prior that ships"
    return f"it was begun with {of_session}, and goes on with that"


def teller(screen: "Console") -> Callable[[str], None]:
    """Return what shows a line about what is done before the test begins.

    A picture of the screen has all of it: nothing there breaks a line that is too wide.
    """
    return lambda line: show(screen, line, "dim", soft_wrap=not screen.record)


def follow(
    operator: Operator,
    screen: "Console",
    progress: Progress,
    board_work_s: Callable[[], float] = lambda: 0.0,
    *,
    place: Callable[[], None] | None = None,
) -> Iterator[str]:
    """Show the test live until it is over, starting the firmware again whenever it was killed.

    Yield each line when it has been shown, and nothing where none came for a moment. The test may
    wait for `board_work_s`, the processor time of a board that is emulated. `place` puts vibrator
    or earphones where they are wanted, and then the test is told to go on; by default somebody else
    does both.
    """
    firmware = operator.firmware

    def next_line() -> Wait:
        def work_s() -> float:
            return firmware.work_s() + board_work_s()

        return Wait("the firmware", "tell of the test", work_s, teller(screen))

    wait, kills = next_line(), firmware.kills
    while not progress.over:
        for line in operator.console.lines(0.1):
            wait = next_line()
            wait.hear(line)
            show_line(line, progress, screen)
            yield line
        yield ""
        if progress.placing and place is not None:
            progress.placing = False
            place()
            operator.ask("SESS:CONT")
            wait = next_line()
        firmware.hear(wait)
        firmware.restart_if_killed()
        if firmware.kills > kills:  # while it was asked, too: another one tells nothing unasked
            kills = firmware.kills
            screen.print(f"[red]the firmware was killed ({firmware.kills}); started again[/red]")
            state = operator.greet()
            progress.over = state.startswith(IDLE_STATES)
            progress.placing = WAITS_FOR_PLACING in state
            if not progress.over:
                show(screen, f"the session goes on{_so_far(state)}", "yellow")
            wait = next_line()
        if why := wait.in_vain():
            state = operator.ask("SESS:STAT?", why)
            progress.over = state.startswith(IDLE_STATES)
            if not progress.over:
                raise HostError(f"the test does not go on: {state}; {why}")


def measure(
    operator: Operator,
    arguments: argparse.Namespace,
    settings: Mapping[str, Any],
    screen: "Console",
    tell_line: Callable[[str], None],
    board_work_s: Callable[[], float] = lambda: 0.0,
    place: Callable[[], None] | None = None,
) -> tuple[SessionResult, bool]:
    """Run a test and show it, and have the firmware end.

    Return its result, and whether levels are nominal. `tell_line` is given what `follow` yields,
    and `place` is for that; errors are those of `begin` and `follow`.
    """
    progress = begin(operator, arguments, settings, screen)
    for line in follow(operator, screen, progress, board_work_s, place=place):
        tell_line(line)
    result = told_result(operator.ask("SESS:RES?"))
    operator.ask("SYST:EXIT")
    operator.firmware.wait()
    return result, progress.nominal


def _so_far(state: str) -> str:
    """Say how far a session is that was taken up again, from the answer to SESS:STAT?."""
    about = told_pairs("SESS:STAT?", state)
    return f": {about.route.words}, tones so far: {about['tones']}"


def as_typed(value: float | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.replace(", ", ";") if isinstance(value, str) else f"{value:g}"


def show_result(
    screen: "Console",
    result: SessionResult,
    truth: Mapping[Route, Audiogram] | None = None,
    *,
    nominal: bool,
) -> None:
    """Draw what was found, ear beside ear where there is room, and the truth if it is known.

    `nominal`: levels are no dB HL.
    """
    from rich.text import Text

    shown = [ear for ear in result.ears if has_thresholds(ear)]
    unit = axis_unit(nominal=nominal)
    panels = [_panel(ear, truth[ear.route] if truth else None, unit) for ear in shown]
    screen.print()
    screen.print(verdicts_in_colours(result.ears))
    beside = len(panels) % 2 == 0 and screen.width >= TERMINAL_COLUMNS_BESIDE
    for panel, other in zip(panels[::2], panels[1::2], strict=True) if beside else ():
        for a, b in zip_longest(panel, other, fillvalue=Text()):
            screen.print(a + Text(" " * (PANEL_COLUMNS - len(a))) + b)
    for line in () if beside else chain.from_iterable(panels):
        screen.print(line)
    if shown:
        found = {ear.route: ear.thresholds for ear in shown}
        screen.print(legend_in_colours(found, screen.width))
    if shown and truth is not None:
        lacks = any(
            truth[ear.route].makes_up(each.frequency_hz) for ear in shown for each in ear.thresholds
        )
        screen.print(f"{TRUTH_WORDS}; {NOT_KNOWN} not known" if lacks else TRUTH_WORDS)
    for remark in result.remarks:
        show(screen, f"remark: {readable(say(remark))}", "yellow")


def show_verdict(screen: "Console", verdict: "Verdict") -> None:
    """Say what the replay showed, in green if all is well, and what calibration there was."""
    for line in replayed.words(verdict):
        style = "green" if verdict.identical else "red"
        if line == verdict.calibration:
            style = calibration_style(line)
        show(screen, line, style, soft_wrap=not (screen.is_terminal or screen.record))


def _panel(ear: EarResult, truth: Audiogram | None, unit: str) -> "list[Text]":
    from rich.text import Text

    knots = zip(truth.frequencies_hz, truth.thresholds_db_hl, strict=True) if truth else ()
    pairs = [(f, level) for f, level in knots if truth and not truth.makes_up(f)]
    unsure = f" ({ear.tones_unsure} unsure)" if ear.tones_unsure else ""
    heading = f"{ear.route.words}, {ear.tones} tones{unsure}, {ear.outcome}"
    frequencies = [found.frequency_hz for found in ear.thresholds]
    rows = {
        "Hz": [f"{f:5d}" for f in frequencies],
        "found": [f"{_show(found):>5}" for found in ear.thresholds],
        "±": [_number(_half_width_db(found), 1) for found in ear.thresholds],
    }
    if truth:
        rows["true"] = [
            f"{NOT_KNOWN:>5}" if truth.makes_up(f) else _number(truth.threshold_db_hl(f), 0)
            for f in frequencies
        ]
    return [
        Text(heading, EAR_STYLES[ear.route.ear]),
        *audiogram_in_colours({ear.route: ear.thresholds}, pairs, unit),
        *(Text(f"{name:>6}{''.join(row)}") for name, row in rows.items()),
    ]


def _show(found: ThresholdResult) -> str:
    reading = as_shown(found)
    if reading.kind == Kind.INFERRED:
        return f"{INFERRED}{reading.sign}{reading.level_db_hl:.0f}"
    if reading.measured_db_hl is not None:
        return f"{reading.measured_db_hl:.0f}"
    return FOUND_WORDS[reading.kind]


def _half_width_db(found: ThresholdResult) -> float | None:
    """Return half of a band; what was inferred and may lie beyond a limit has no such number."""
    reading = as_shown(found)
    is_open = reading.low_open or reading.high_open
    return None if reading.kind == Kind.INFERRED and is_open else found.half_width_db


def _number(value: float | None, digits: int) -> str:
    if value is None:
        return f"{'-':>5}"
    return f"{value:5.{digits}f}" if math.isfinite(value) else f"{'none':>5}"
