"""The two audiograms on one sheet, an ear a panel, as clinics draw them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware_py.procedure.outcomes import MaskingMark
from host_tools.catalogue import ENGLISH, catalogue_of
from host_tools.commands.replay.what_if.comparison import Comparison, Estimate, Row
from host_tools.drawings.audiogram_paper import draw_paper, in_octaves, name_ear
from host_tools.drawings.drawing import (
    EAR_COLOURS,
    GREY,
    in_style,
    new_figure,
    save,
)
from host_tools.drawings.symbols import symbol_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as Shape

MASKING: Final = {False: MaskingMark.NOT_MASKED, True: MaskingMark.MASKED}
SUPPOSED_MARKER: Final = "D"
# Outlined and hatched: it is seen through the recorded one, and without colours.
SUPPOSED_BAND: Final[dict[str, Any]] = {
    "facecolor": "none", "edgecolor": GREY, "hatch": "....", "lw": 0.9
}  # fmt: skip


def draw_comparison(comparison: Comparison, title: str, path: Path) -> None:
    """Draw both models' thresholds and 95 % bands; what no tone was asked for has no marker.

    Parameters
    ----------
    comparison : Comparison
    title : str
        What has to be known to look at it: the calibration above all.
    path : Path
        In .svg, .png or .pdf.
    """
    with in_style():
        save(comparison_figure(comparison, title), path)


def comparison_figure(comparison: Comparison, title: str) -> "Figure":
    """Return the sheet."""
    figure = new_figure(4.3 * len(comparison.ears) + 0.2, 5.1)
    panels = figure.subplots(1, len(comparison.ears), squeeze=False)[0]
    for axes, ear in zip(panels, comparison.ears, strict=True):
        draw_paper(axes, catalogue_of(ENGLISH), nominal=comparison.nominal)
        name_ear(axes, ear.ear, catalogue_of(ENGLISH))
        recorded = [row.recorded for row in ear.rows]
        supposed = [row.supposed for row in ear.rows]
        colour = EAR_COLOURS[ear.ear]
        markers = [symbol_marker(ear.ear, MASKING[r.masked]) for r in ear.rows]
        _draw_band(axes, ear.rows, recorded, color=colour, alpha=0.16, lw=0)
        _draw_band(axes, ear.rows, supposed, **SUPPOSED_BAND)
        supposed_markers = [SUPPOSED_MARKER] * len(ear.rows)
        _draw(axes, ear.rows, supposed, GREY, supposed_markers, "supposed")
        _draw(axes, ear.rows, recorded, colour, markers, "recorded")
        axes.legend(loc="lower left", frameon=True, framealpha=0.9, edgecolor="none")
    figure.suptitle(f"{comparison.words}\n{title}", fontsize=10, x=0.01, ha="left")
    return figure


def _draw_band(
    axes: "Axes", rows: Sequence[Row], estimates: Sequence[Estimate], **how: Any
) -> None:
    x = in_octaves(row.frequency_hz for row in rows)
    low, high = [e.low_db_hl for e in estimates], [e.high_db_hl for e in estimates]
    axes.fill_between(x, low, high, **how)


def _draw(
    axes: "Axes", rows: Sequence[Row], estimates: Sequence[Estimate],
    colour: str, markers: "Sequence[str | Shape]", label: str,
) -> None:  # fmt: skip
    x = in_octaves(row.frequency_hz for row in rows)
    levels = [
        min(max(e.mean_db_hl, row.floor_db_hl), row.limit_db_hl)
        for row, e in zip(rows, estimates, strict=True)
    ]
    how: dict[str, Any] = {
        "color": colour, "lw": 1.2, "ms": 6.5, "markerfacecolor": "none", "markeredgewidth": 1.6
    }  # fmt: skip
    axes.plot(x, levels, **how)
    axes.plot([], [], marker=markers[0], label=label, **how)
    for at, level, marker, row in zip(x, levels, markers, rows, strict=True):
        if not row.inferred:
            axes.plot(at, level, marker=marker, **how)
    for at, row, estimate, level in zip(x, rows, estimates, levels, strict=True):
        if not row.inferred and estimate.mean_db_hl >= row.limit_db_hl:
            axes.annotate(
                "", xy=(at, level + 9), xytext=(at, level + 2),
                arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.2},
            )  # fmt: skip
