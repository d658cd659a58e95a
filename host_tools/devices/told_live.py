"""What the console tells of a test under way, a line at a time, as a terminal shows it."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from firmware_py.console.audiogram_text import axis_unit
from firmware_py.console.figures import readable
from firmware_py.procedure.outcomes import UNSURE
from host_tools.colours import EAR_STYLES
from host_tools.devices.told import Told, told_unasked
from host_tools.terminal import show

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.console import Console
    from rich.text import Text

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

# In which words, and which colours.
SAID: Final = {
    "continued": ("the test goes on", "dim"),
    "board-ready": ("the tone generator answers again", "dim"),
    "paused": ("the test is paused", "yellow"),
}


@dataclass
class Progress:
    """What is known of the running test from the console's unasked lines."""

    tone: Told = field(default_factory=lambda: Told("! tone", {}))
    over: bool = False
    nominal: bool = False  # levels are no dB HL


def show_line(line: str, progress: Progress, screen: "Console") -> None:
    """Show what a line at the console tells, and take it in."""
    if line.startswith("ERROR"):
        show(screen, line, "red")
    what, about = told_unasked(line)
    match what:
        case "tone" | "catch":
            progress.tone = about
        case "answer":
            screen.print(_answer_line(progress, about), highlight=False)
        case "ear-over":
            screen.print(_ear_line(about, f" ear {about['outcome']}"))
        case "session-over":
            progress.over = True
        case "ear-again":
            screen.print(_ear_line(about, " ear again"))
        case "listener-check" | "equipment-check":
            screen.print(_ear_line(about, " ear, broken off"))
        case "ear-check" | "earphones":
            show(screen, readable(about["why"]), "yellow")
        case "board-lost":
            show(screen, f"the tone generator is lost: {readable(about['why'])}", "yellow")
        case "continued" | "board-ready" | "paused":
            show(screen, *SAID[what])
        case "void":
            show(screen, f"{about['number']:>4}  asked again: {about['why']}", "yellow")
        case "error":
            show(screen, f"error {about['number']}: {about['words']}", "red")


def _ear_line(about: Told, what: str) -> "Text":
    from rich.text import Text

    return Text.assemble(
        (f"{about.route}{what}", EAR_STYLES[about.route.ear]),
        f": {readable(about['why'])}",
    )


def _answer_line(progress: Progress, answer: Told) -> str:
    tone, unit = progress.tone, axis_unit(nominal=progress.nominal)
    catch = answer["purpose"] == "catch"
    if catch:
        stimulus = f"{'(no tone)':>19}"
    else:
        stimulus = f"{tone.number('frequency_hz', other=math.nan):5.0f} Hz "
        stimulus += f"{tone.number('level_db_hl', other=math.nan):4.0f} {unit:<5}"
    noise = f"  noise {tone.number('noise_db_hl'):.0f} dB" if "noise_db_hl" in tone else ""
    words = CATCH_WORDS if catch else ANSWER_WORDS
    word = words[answer.one_of("heard", words)]
    width = f"  ±{answer.number('half_width_db'):4.1f} dB" if "half_width_db" in answer else ""
    purpose = "" if answer["purpose"] == "measure" else f"  {answer['purpose']}"
    ear = f"[{EAR_STYLES[answer.route.ear]}]{answer.route!s:<5}[/]"
    return f"{answer['number']:>4}  {ear}  {stimulus}  {word}{width}{purpose}{noise}"
