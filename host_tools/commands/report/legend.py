"""What the marks of an audiogram look like, by their names in the legend of a paper.

As drawings, and as the characters of an audiogram on a terminal.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from firmware_py.console.audiogram_text import characters_of_mark
from host_tools.drawings.drawing import EAR_COLOURS, GREY, INK, ear_colour, symbol_table
from host_tools.papers import NO_TEXT, Mark

HALF: Final = 8.0  # the drawing reaches so far to every side
SYMBOL_UNITS: Final = 5.5
TONE_UNITS: Final = 4.0


def draw_mark(mark: Mark) -> str:
    """Return a mark as an SVG; a sign is itself."""
    kind, *names = mark
    return _MARKS[kind](*names)


def character_of(mark: Mark) -> str:
    """Return what a mark is in an audiogram in characters; "": it is not in there."""
    sign = draw_mark(mark) if mark[0] == "sign" else NO_TEXT
    return f"{sign} {characters_of_mark(*mark)}".strip()


def _svg(*parts: str) -> str:
    size = f"{-HALF:g} {-HALF:g} {2 * HALF:g} {2 * HALF:g}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}">{"".join(parts)}</svg>'


def _stroke(path: str, colour: str, scale: float, width: float = 2.0) -> str:
    return (
        f'<path d="{path}" transform="scale({scale:g})" fill="none" stroke="{colour}" '
        f'stroke-width="{width / scale:g}"/>'
    )


def _symbol(route: str, masking: str) -> str:
    path = symbol_table()["symbols"][route][masking]["path"]
    drawn = _stroke(path, ear_colour(route.partition("-")[0]), SYMBOL_UNITS)
    beside = _middle(path) * SYMBOL_UNITS
    return _svg(f'<g transform="translate({-beside:g})">{drawn}</g>' if beside else drawn)


def _middle(path: str) -> float:
    """Return the middle of a path from left to right; 0: it does not stand beside its place."""
    across = [float(x) for x in re.findall(r"-?[\d.]+", path)[::2]]
    return (min(across) + max(across)) / 2


def _swatch(fill: float, edge: float) -> str:
    """Return a piece of a band, as dense as this; grey, for it stands for both ears."""
    edges = "".join(
        f'<path d="M-8 {y}H8" stroke="{INK}" stroke-opacity="{edge:g}"/>' for y in (-5, 5)
    )
    return _svg(f'<path d="M-8-5H8V5H-8Z" fill="{INK}" fill-opacity="{fill:g}"/>', edges)


def _line(dash: str, colour: str) -> str:
    return _svg(
        f'<path d="M-8 0H8" stroke="{colour}" stroke-width="1.4" stroke-dasharray="{dash}"/>'
    )


def _tone(answer: str, shape: str = "counts") -> str:
    tones = symbol_table()["tones"]
    inside = {"heard": tones[shape], "unsure": tones[f"{shape}_half"], "not-heard": ""}[answer]
    filled = f'<path d="{inside}" transform="scale({TONE_UNITS:g})" fill="{INK}"/>'
    return _svg(_stroke(tones[shape], INK, TONE_UNITS, 1.0), filled)


def _arrow(ear: str) -> str:
    side = symbol_table()["ears"][ear]["side"]
    arrow = _stroke(symbol_table()["arrows"]["path"], EAR_COLOURS[ear], 6.0)
    return _svg(f'<g transform="scale({side} 1) translate(-8.5 -8.5)">{arrow}</g>')


_LINES: Final = {"inferred": ("1.5 2", INK), "norm": ("5 2", GREY)}
_MARKS: Final[Mapping[str, Callable[..., str]]] = {
    "symbol": _symbol,
    "band": lambda: _swatch(0.3, 0.8),
    "pale": lambda: _swatch(0.1, 0.3),
    "bar": lambda: _svg(f'<path d="M0-8V8" stroke="{INK}" stroke-opacity="0.6"/>'),
    "line": lambda name: _line(*_LINES[name]),
    "confirmed": lambda: _svg(_stroke(symbol_table()["confirmed"]["path"], INK, SYMBOL_UNITS)),
    "discomfort": lambda: _svg(_stroke(symbol_table()["discomfort"]["path"], INK, SYMBOL_UNITS)),
    "tone": _tone,
    "beside": lambda: _tone("heard", "beside"),
    "retest": lambda: _svg(f'<circle r="6.4" fill="none" stroke="{INK}"/>'),
    "arrow": _arrow,
    "limit": lambda: _line("8 0", GREY),
    "sign": lambda name: symbol_table()["signs"][name],
}
