"""What the console tells of a test under way, a line at a time, as a terminal shows it."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from firmware_py.console.audiogram_text import axis_unit
from firmware_py.console.wording import readable
from firmware_py.terms import tells
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.reasons import Reasons
from firmware_py.terms.route import Route
from firmware_py.terms.words import say
from host_tools.colours import EAR_STYLES
from host_tools.devices.device_answers import told_unasked
from host_tools.terminal import show

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.console import Console
    from rich.text import Text

# What is said to a tone and to a silence, by whether it was heard.
ANSWER_WORDS: Final[dict[bool | None, str]] = {
    True: "[green]heard[/green]    ",
    None: "[yellow]unsure[/yellow]   ",
    False: "not heard",
}
CATCH_WORDS: Final[dict[bool | None, str]] = {
    True: "[red]pressed[/red]  ",
    None: "[yellow]unsure[/yellow]   ",
    False: "silent   ",
}


@dataclass
class Progress:
    """What is known of the running test from the console's unasked lines."""

    tone: tells.ToneTold | None = None  # that was told last; None: a silence, or nothing yet
    over: bool = False
    nominal: bool = False  # levels are no dB HL
    placing: bool = False  # it waits until the operator has put something where it is wanted


def show_line(line: str, progress: Progress, screen: "Console") -> None:
    """Show what a line at the console tells, and take it in."""
    if line.startswith("ERROR"):
        show(screen, line, "red")
    what, told = told_unasked(line)
    progress.over = progress.over or what == "session-over"
    progress.placing = progress.placing or isinstance(told, tells.PlacingTold)
    match told:
        case tells.ToneTold() | tells.CatchTold():
            progress.tone = told if isinstance(told, tells.ToneTold) else None
        case tells.AnswerTold():
            screen.print(_answer_line(progress, told), highlight=False)
        case tells.EarOverTold(route, outcome, why):
            screen.print(_ear_line(route, f" ear {outcome}", why))
        case tells.EarAgainTold(route, why):
            screen.print(_ear_line(route, " ear again", (why,)))
        case tells.ListenerCheckTold(route, why) | tells.EquipmentCheckTold(route, why):
            screen.print(_ear_line(route, " ear, broken off", why))
        case _ if said := _say(told):
            show(screen, *said)


def _say(told: tells.Tell | None) -> tuple[str, str] | None:
    """Return in which words something is told of a test, and in which colour."""
    match told:
        case tells.EarCheckTold(why) | tells.EarphonesTold(why) | tells.PlacingTold(why):
            return readable(say(why)), "yellow"
        case tells.BoardLostTold(why):
            return f"the tone generator is lost: {readable(say(why))}", "yellow"
        case tells.GoingOnTold():
            return "the test goes on", "dim"
        case tells.BoardReadyTold():
            return "the tone generator answers again", "dim"
        case tells.PauseTold():
            return "the test is paused", "yellow"
        case tells.VoidTold(number, why):
            return f"{number:>4}  asked again: {say(why)}", "yellow"
        case tells.ErrorTold(number, words):
            return f"error {number}: {words}", "red"
    return None


def _ear_line(route: Route, what: str, why: Reasons) -> "Text":
    from rich.text import Text

    return Text.assemble((f"{route}{what}", EAR_STYLES[route.ear]), f": {readable(say(why))}")


def _answer_line(progress: Progress, answer: tells.AnswerTold) -> str:
    tone, unit = progress.tone, axis_unit(nominal=progress.nominal)
    catch = answer.purpose == Purpose.CATCH
    stimulus = f"{'(no tone)':>19}"
    if not catch:
        hz, level = (tone.frequency_hz, tone.level_db_hl) if tone else (math.nan, math.nan)
        stimulus = f"{hz:5.0f} Hz {level:4.0f} {unit:<5}"
    noise_db = None if tone is None else tone.noise_db_hl
    noise = "" if noise_db is None else f"  noise {noise_db:.0f} dB"
    word = (CATCH_WORDS if catch else ANSWER_WORDS)[answer.heard]
    width = "" if answer.half_width_db is None else f"  ±{answer.half_width_db:4.1f} dB"
    purpose = "" if answer.purpose == Purpose.MEASURE else f"  {answer.purpose}"
    ear = f"[{EAR_STYLES[answer.route.ear]}]{answer.route!s:<5}[/]"
    return f"{answer.number:>4}  {ear}  {stimulus}  {word}{width}{purpose}{noise}"
