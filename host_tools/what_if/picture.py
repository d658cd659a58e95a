"""The two audiograms on one sheet, an ear a panel, as clinics draw them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from host_tools.audiogram_paper import draw_paper, in_octaves
from host_tools.drawing import EAR_COLOURS, EAR_MARKERS, GREY, in_style, new_figure, save
from host_tools.what_if.comparison import Comparison, Estimate, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_comparison(comparison: Comparison, title: str, path: Path) -> None:
    """Draw both models' thresholds and 95 % bands.

    Parameters
    ----------
    comparison : Comparison
    title : str
        What has to be known to look at it: the calibration above all.
    path : Path
        In .svg, .png or .pdf.
    """
    with in_style():
        figure = new_figure(4.3 * len(comparison.ears) + 0.2, 5.1)
        panels = figure.subplots(1, len(comparison.ears), squeeze=False)[0]
        for axes, ear in zip(panels, comparison.ears, strict=True):
            draw_paper(axes, ear.ear)
            _draw(axes, ear.rows, [row.supposed for row in ear.rows], GREY, "D", "supposed")
            recorded = [row.recorded for row in ear.rows]
            _draw(axes, ear.rows, recorded, EAR_COLOURS[ear.ear], EAR_MARKERS[ear.ear], "recorded")
            axes.legend(loc="lower left", frameon=True, framealpha=0.9, edgecolor="none")
        figure.suptitle(f"{comparison.words}\n{title}", fontsize=10, x=0.01, ha="left")
        save(figure, path)


def _draw(
    axes: "Axes", rows: Sequence[Row], estimates: Sequence[Estimate],
    colour: str, marker: str, label: str,
) -> None:  # fmt: skip
    x = in_octaves(row.frequency_hz for row in rows)
    low, high = [e.low_db_hl for e in estimates], [e.high_db_hl for e in estimates]
    axes.fill_between(x, low, high, color=colour, alpha=0.16, lw=0)
    levels = [
        min(max(e.mean_db_hl, row.floor_db_hl), row.limit_db_hl)
        for row, e in zip(rows, estimates, strict=True)
    ]
    axes.plot(
        x, levels, marker=marker, color=colour, label=label, lw=1.2, ms=6.5,
        markerfacecolor="none", markeredgewidth=1.6,
    )  # fmt: skip
    for at, row, estimate, level in zip(x, rows, estimates, levels, strict=True):
        if estimate.mean_db_hl >= row.limit_db_hl:
            axes.annotate(
                "", xy=(at, level + 9), xytext=(at, level + 2),
                arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.2},
            )  # fmt: skip
