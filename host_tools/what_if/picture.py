"""The two audiograms on one sheet, an ear a panel, as clinics draw them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from host_tools.drawing import EAR_COLOURS, EAR_MARKERS, GREY, in_style, new_figure, save
from host_tools.what_if.comparison import Comparison, Estimate, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS_HZ: Final = (125, 250, 500, 1000, 2000, 4000, 8000)
LEVELS_DB_HL: Final = (-10, 120)
# One octave is as wide as 20 dB is high.
DB_PER_OCTAVE: Final = 20.0


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
            audiogram_axes(axes, f"{ear.ear} ear")
            _draw(axes, ear.rows, [row.supposed for row in ear.rows], GREY, "D", "supposed")
            recorded = [row.recorded for row in ear.rows]
            _draw(axes, ear.rows, recorded, EAR_COLOURS[ear.ear], EAR_MARKERS[ear.ear], "recorded")
            axes.legend(loc="lower left", frameon=True, framealpha=0.9, edgecolor="none")
        figure.suptitle(f"{comparison.words}\n{title}", fontsize=10, x=0.01, ha="left")
        save(figure, path)


def audiogram_axes(axes: "Axes", title: str) -> None:
    """Make axes those of an audiogram: level downward, frequency in octaves."""
    axes.set_xscale("log", base=2)
    axes.set_xlim(105, 9500)
    axes.set_ylim(LEVELS_DB_HL[1] + 3, LEVELS_DB_HL[0] - 3)
    axes.set_xticks(TICKS_HZ, [f"{f / 1000:g}k" if f >= 1000 else str(f) for f in TICKS_HZ])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(LEVELS_DB_HL[0], LEVELS_DB_HL[1] + 1, 10))
    axes.set_aspect(1.0 / DB_PER_OCTAVE)
    axes.grid(visible=True)
    axes.set_axisbelow(True)
    axes.set_xlabel("frequency in Hz")
    axes.set_ylabel("level in dB HL")
    axes.set_title(title, loc="left", fontweight="bold")


def _draw(
    axes: "Axes", rows: Sequence[Row], estimates: Sequence[Estimate],
    colour: str, marker: str, label: str,
) -> None:  # fmt: skip
    frequencies_hz = [row.frequency_hz for row in rows]
    low, high = [e.low_db_hl for e in estimates], [e.high_db_hl for e in estimates]
    axes.fill_between(frequencies_hz, low, high, color=colour, alpha=0.16, lw=0)
    levels = [
        min(max(e.mean_db_hl, row.floor_db_hl), row.limit_db_hl)
        for row, e in zip(rows, estimates, strict=True)
    ]
    axes.plot(
        frequencies_hz, levels, marker=marker, color=colour, label=label, lw=1.2, ms=6.5,
        markerfacecolor="none", markeredgewidth=1.6,
    )  # fmt: skip
    for row, estimate, level in zip(rows, estimates, levels, strict=True):
        if estimate.mean_db_hl >= row.limit_db_hl:
            axes.annotate(
                "", xy=(row.frequency_hz, level + 9), xytext=(row.frequency_hz, level + 2),
                arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.2},
            )  # fmt: skip
