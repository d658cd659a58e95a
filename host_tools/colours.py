"""Colours on a terminal: of the ears, as clinics have them, and of what is not calibrated.

Rich leaves the colours out where there is no terminal, and if NO_COLOR is set.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from firmware_py.calibration.in_force import DB_HL
from firmware_py.console.audiogram_text import draw_audiogram, legend
from firmware_py.paper.words import verdict_lines
from firmware_py.terms.calibration_states import CALIBRATED
from firmware_py.terms.results import EarResult, ThresholdResult
from firmware_py.terms.route import LEFT, RIGHT, Route
from firmware_py.terms.verdicts import may_conclude
from host_tools.terminal import NO_BREAK

if TYPE_CHECKING:  # `gp-pta --help` can do without it
    from rich.text import Text

EAR_STYLES: Final = {RIGHT: "bold red", LEFT: "bold blue"}
WARNING_STYLE: Final = "bold yellow"

Ears = Mapping[Route, Sequence[ThresholdResult]]


def calibration_style(headline: str) -> str:
    """Return the style of a line about the calibration: green only if it is calibrated."""
    return "green" if headline.startswith(CALIBRATED) else WARNING_STYLE


def verdicts_in_colours(ears: Sequence[EarResult]) -> "Text":
    """Return the lines that say whether there was a test: green only if all of it is valid."""
    from rich.text import Text

    style = "green" if all(map(may_conclude, ears)) else WARNING_STYLE
    return Text("\n".join(verdict_lines(ears)), style)


def audiogram_in_colours(
    ears: Ears, truth: Sequence[tuple[float, float]] = (), unit: str = DB_HL
) -> "list[Text]":
    """Return the lines of `draw_audiogram`, with each ear's symbols and bands in its colour."""
    from rich.text import Text

    drawn = draw_audiogram(ears, truth, unit)
    lines = [Text(line, no_wrap=True) for line in drawn]
    paper = draw_audiogram({})
    for route in ears:
        # Drawn in the same place as with the other ear, whose symbols are left out.
        alone = draw_audiogram({e: found if e == route else () for e, found in ears.items()})
        for line, characters, own, blank in zip(lines, drawn, alone, paper, strict=True):
            for column, character in enumerate(characters):
                if character == own[column] != blank[column]:
                    line.stylize(EAR_STYLES[route.ear], column, column + 1)
    return lines


def legend_in_colours(ears: Ears, columns: int) -> "Text":
    """Return the legend of the symbols in lines of this width, each ear in its colour."""
    from rich.text import Text

    together = re.sub("(?<! ) (?! )", NO_BREAK, legend(ears))
    lines = textwrap.wrap(together, columns, break_long_words=False)
    text = Text("\n".join(lines).replace(NO_BREAK, " "))
    for route in ears:
        text.highlight_regex(rf"\S {route}\b(?: [a-z]+)*", EAR_STYLES[route.ear])
    return text
