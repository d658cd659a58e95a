"""The paper of an audiogram: level downward, frequency in octaves, one octave as wide as 20 dB."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from host_tools.catalogue import Catalogue
from host_tools.drawings.drawing import EAR_COLOURS
from host_tools.drawings.symbols import symbol_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID: Final = "#d8d8d8"
_PAPER: Final = symbol_table()["paper"]
TOP_DB_HL: Final[float] = _PAPER["top_db_hl"]
BOTTOM_DB_HL: Final[float] = _PAPER["bottom_db_hl"]
FIRST_HZ: Final[float] = _PAPER["first_hz"]
OCTAVES: Final[int] = _PAPER["octaves"]
MARGIN_OCTAVES: Final[float] = _PAPER["margin_octaves"]
DB_PER_OCTAVE: Final[float] = _PAPER["db_per_octave"]
TICKS_HZ: Final[tuple[int, ...]] = (*_PAPER["ticks_hz"],)
BETWEEN_HZ: Final[tuple[int, ...]] = (*_PAPER["between_hz"],)


def octaves(frequency_hz: float) -> float:
    """Return where a frequency is drawn: octaves above 125 Hz."""
    return math.log2(frequency_hz / FIRST_HZ)


def in_octaves(frequencies_hz: Iterable[float]) -> list[float]:
    """Return where frequencies are drawn."""
    return [octaves(frequency_hz) for frequency_hz in frequencies_hz]


def level_key(*, nominal: bool) -> str:
    """Return the key of the name of the axis of levels; `nominal`: they are no dB HL."""
    return "nominal_level" if nominal else "level"


def draw_paper(axes: "Axes", catalogue: Catalogue, *, nominal: bool = False) -> None:
    """Make axes those of an audiogram, in units of octaves and dB HL.

    Parameters
    ----------
    axes : Axes
    catalogue : Catalogue
        The language of the axes' names.
    nominal : bool
        Whether there was no calibration.
    """
    axes.set_xlim(-MARGIN_OCTAVES, OCTAVES + MARGIN_OCTAVES)
    axes.set_ylim(BOTTOM_DB_HL, TOP_DB_HL)
    axes.set_aspect(1.0 / DB_PER_OCTAVE)
    names = [f"{f // 1000}k" if f >= 1000 else f"{f}" for f in TICKS_HZ]
    axes.set_xticks(in_octaves(TICKS_HZ), names)
    axes.set_xticks(in_octaves(BETWEEN_HZ), minor=True)
    axes.set_yticks(range(int(TOP_DB_HL), int(BOTTOM_DB_HL) + 1, 10))
    axes.grid(which="major", color=GRID, lw=0.6)
    axes.grid(which="minor", axis="x", color=GRID, lw=0.6, linestyle=(0, (2, 2)))
    axes.tick_params(length=0, labelsize=8)
    axes.tick_params(which="minor", length=0)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    axes.set_xlabel(catalogue.say("picture", "frequency"), fontsize=8)
    axes.set_ylabel(catalogue.say("picture", level_key(nominal=nominal)), fontsize=8)


def name_ear(axes: "Axes", ear: str, catalogue: Catalogue) -> None:
    """Write above an audiogram whose it is: "left" or "right", in its colour."""
    title = catalogue.say("picture", f"{ear}_ear")
    axes.set_title(title, loc="left", color=EAR_COLOURS[ear], fontweight="bold", fontsize=11)
