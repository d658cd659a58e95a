"""The table of symbols and numbers that every drawing of an audiogram shares."""

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from firmware_py.procedure.route import Route

if TYPE_CHECKING:
    from matplotlib.path import Path as Shape

FILE: Final = "symbols.json"
# How far a marker reaches, in units of the table: all symbols of one size.
REACH: Final = 1.1
# How many points each command of a path has.
POINTS: Final = {"M": 1, "L": 1, "C": 3, "Z": 0}


@cache
def symbol_table() -> dict[str, Any]:
    """Return the table of `symbols.json`, which says itself what is in it."""
    read: dict[str, Any] = json.loads((files("host_tools") / FILE).read_text(encoding="utf-8"))
    return read


def table_as_json() -> str:
    """Return the table as JSON that cannot end an element of HTML that it stands in."""
    shared = {name: value for name, value in symbol_table().items() if name != "about"}
    return json.dumps(shared, separators=(",", ":")).replace("<", "\\u003c")


def ear_colour(ear: str) -> str:
    """Return the colour of an ear on paper."""
    colour: str = symbol_table()["ears"][ear]["colour"]
    return colour


def symbol_marker(route: Route, masking: str = "none") -> "Shape":
    """Return the symbol of a route as a marker for Matplotlib, whose y is upward.

    Parameters
    ----------
    route : Route
    masking : str
        "none", "masked" or "uncertain".
    """
    from matplotlib.path import Path as Shape

    codes_of = {"M": [Shape.MOVETO], "L": [Shape.LINETO], "C": 3 * [Shape.CURVE4]}
    points: list[tuple[float, float]] = []
    codes: list[int] = []
    words = iter(symbol_table()["symbols"][str(route)][masking]["path"].split())
    for command in words:
        for _ in range(POINTS[command]):
            points.append((float(next(words)), -float(next(words))))
        codes += [int(code) for code in codes_of.get(command, [])]
        if command == "Z":
            points.append(points[-1])
            codes.append(int(Shape.CLOSEPOLY))
    # Matplotlib makes what it is given as large as the marker is to be: the last point, which draws
    # nothing, tells it how far this one reaches.
    return Shape([*points, (REACH, 0.0)], [*codes, int(Shape.MOVETO)])
