"""How pictures are drawn: the table of symbols that all share, one style, the same bytes."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from firmware_py.terms.route import LEFT, RIGHT
from host_tools.files import file_to_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


@cache
def symbol_table() -> dict[str, Any]:
    """Return the table of `symbols.json`, which says itself what is in it."""
    read: dict[str, Any] = json.loads(
        (files("host_tools") / "symbols.json").read_text(encoding="utf-8")
    )
    return read


def table_as_json() -> str:
    """Return the table as JSON that cannot end an element of HTML that it stands in."""
    shared = {name: value for name, value in symbol_table().items() if name != "about"}
    return json.dumps(shared, separators=(",", ":")).replace("<", "\\u003c")


def ear_colour(ear: str) -> str:
    colour: str = symbol_table()["ears"][ear]["colour"]
    return colour


# Okabe & Ito 2008: people with any colour vision can tell these apart.
BLUE: Final = "#0072B2"
ORANGE: Final = "#D55E00"
INK: Final = "#222222"
GREY: Final = "#8a8a8a"
FONT: Final = "DejaVu Sans"  # it comes with Matplotlib
REGULAR: Final = (400, "normal", "regular")  # weights
PALE: Final = "#d9d9d9"
WIDE_SIGN: Final = "~"  # before a threshold whose 95 % band is wider than the test wanted
WIDE_MARKER: Final = r"$\sim$"  # the same, as Matplotlib takes it for a marker
EAR_COLOURS: Final = {ear: ear_colour(ear) for ear in (RIGHT, LEFT)}
COLOURS: Final = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", GREY)
DASHES: Final = ("solid", (0, (5, 1.5)), (0, (1.5, 1.5)))

STYLE: Final[dict[Any, Any]] = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.facecolor": "white",
    "font.family": FONT,
    "font.size": 9,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "svg.fonttype": "path",
    "text.parse_math": False,  # what a journal says is a text, not a formula
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
# Without the date of the drawing.
METADATA: Final[dict[str, dict[str, Any]]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {},
}
NO_METADATA: Final = dict.fromkeys(("Creator", "Date", "Format", "Type"))
TEXT_AS_TEXT: Final = {"svg.fonttype": "none"}  # for `in_style`: words stay words in an SVG
PICTURE_ENDINGS: Final = tuple(f".{kind}" for kind in METADATA)
DOTS_PER_INCH: Final = 150
LAID_OUT: Final = frozenset("\n")  # it breaks a line, and needs no letter


def new_figure(width_inch: float, height_inch: float, **options: Any) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width_inch, height_inch), layout="constrained", **options)


def in_style(salt: str = "gp-pta", **more: Any) -> Any:
    """Return the context in which a picture is drawn and saved.

    The salt varies the names in an SVG; `more` are settings of Matplotlib that differ from `STYLE`.
    """
    import matplotlib

    settings: Any = {**STYLE, "svg.hashsalt": salt, **more}
    return matplotlib.rc_context(settings)


def drawable_with(text: str) -> tuple[str, dict[str, str]]:
    """Return a text as this machine can draw it, and the files of the fonts, by their names.

    A letter that is in no font here is written as its number, <U+60A3>.
    """
    known = _files_by_font()
    fonts, missing = {FONT: known[FONT]}, set(text) - _letters(known[FONT]) - LAID_OUT
    for font, file in known.items() if missing else []:
        found = missing & _letters(file)
        if found:
            fonts[font] = file
            missing -= found
    shown = (f"<U+{ord(letter):04X}>" if letter in missing else letter for letter in text)
    return "".join(shown), fonts


def _files_by_font() -> dict[str, str]:
    """Return the upright fonts of this machine, without the one that has boxes for every letter."""
    from matplotlib.font_manager import fontManager

    upright = (e for e in fontManager.ttflist if e.style == "normal" and e.weight in REGULAR)
    return {e.name: e.fname for e in upright if "Last Resort" not in e.name}


@cache
def _letters(file: str) -> frozenset[str]:
    from matplotlib.ft2font import FT2Font

    return frozenset(chr(code) for code in FT2Font(file).get_charmap())


def svg_of(figure: "Figure") -> str:
    """Return a figure as an SVG element, the same every time."""
    text = StringIO()
    figure.savefig(text, format="svg", metadata=NO_METADATA, transparent=True)
    _, _, content = text.getvalue().partition("\n<svg")
    return f"<svg{content}"


def save(figure: "Figure", path: Path, *, for_all: bool = False) -> None:
    """Write a figure, in the format of the name's ending, whole or not at all.

    It is for its owner only, or for all.
    """
    kind = path.suffix[1:]
    with file_to_write(path, for_all=for_all) as unfinished:
        figure.savefig(unfinished, format=kind, metadata=METADATA[kind], dpi=DOTS_PER_INCH)


def name_lines(figure: "Figure", lines: Sequence["Line2D"]) -> None:
    """Name lines beside the figure, in their colours and in the order in which they end."""
    by_end = sorted(lines, key=lambda line: -float(np.asarray(line.get_ydata(), float)[-1]))
    figure.legend(handles=by_end, loc="outside right center", labelcolor="linecolor", frameon=False)
