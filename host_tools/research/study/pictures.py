"""The pictures of a study: error against tones and seconds, coverage, and tones to reach a goal."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from host_tools.drawings.drawing import (
    BLUE,
    COLOURS,
    DASHES,
    GREY,
    INK,
    ORANGE,
    PALE,
    in_style,
    name_lines,
    new_figure,
    save,
)
from host_tools.research.methods.interface import Array
from host_tools.research.study.measures import weighted_quantiles
from host_tools.research.study.summary import GOALS_DB, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUARTILES: Final = (0.25, 0.5, 0.75)
FORMATS: Final = ("svg", "png")
COLUMNS: Final = 3
ERROR_TICKS_DB: Final = (1, 2, 3, 5, 10, 20, 40)
GOAL_COLOURS: Final = {5: ORANGE, 3: BLUE}


def draw_pictures(results: Results, directory: Path) -> list[str]:
    """Draw all pictures of a study into its directory, and return the names of the files."""
    names = []
    with in_style():
        for name, figure in {
            "error": error_figure(results),
            "seconds": seconds_figure(results),
            "coverage": coverage_figure(results),
            "tones": tones_figure(results),
        }.items():
            if figure is None:
                continue
            for kind in FORMATS:
                save(figure, directory / f"{name}.{kind}", for_all=True)
                names.append(f"{name}.{kind}")
    return names


def error_figure(results: Results) -> "Figure":
    """Draw the RMSE against tones, a panel a method: median and quartiles of the sessions.

    The line of the first method is in every panel.
    """
    tones = np.arange(results.tones + 1.0)
    found = {m: (tones, results.quantiles(m, "rmse_db", QUARTILES)) for m in results.methods}
    return _panels(found, "tones")


def seconds_figure(results: Results) -> "Figure":
    """Draw the same against seconds, to where half of the sessions have had all their tones."""
    return _panels({m: results.over_time(m, QUARTILES) for m in results.methods}, "seconds")


def _panels(found: dict[str, tuple[Array, Array]], against: str) -> "Figure":
    """Draw places and (3, places) quartiles by method, each of them a panel."""
    methods = list(found)
    rows, columns = -(-len(methods) // COLUMNS), min(COLUMNS, len(methods))
    figure = new_figure(3.0 * columns + 0.4, 2.1 * rows + 0.5)
    quartiles = {m: errors for m, (_, errors) in found.items()}
    low = min(q[:, 1:].min() for q in quartiles.values())
    high = max(q.max() for q in quartiles.values())
    last = max(float(places[-1]) for places, _ in found.values())
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes, method in zip(panels.flat, methods, strict=False):
        places, (first, median, third) = found[method]
        if method != methods[0]:
            beside = found[methods[0]]
            axes.plot(beside[0], beside[1][1], color=GREY, lw=1.2, zorder=2)
        axes.fill_between(places, first, third, color=BLUE, alpha=0.22, lw=0, zorder=1)
        axes.plot(places, median, color=BLUE, lw=2.0, zorder=3)
        axes.set_title(method, loc="left", fontweight="bold")
        _error_axis(axes, max(float(low), 0.5), float(high))
        axes.set_xlim(0, last)
    for axes in panels.flat[len(methods) :]:
        axes.remove()
    for axes in panels.flat[max(0, len(methods) - columns) : len(methods)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel(against)
    grey = f"; grey: {methods[0]}" if len(methods) > 1 else ""
    figure.supylabel("RMSE in dB", fontsize=9)
    figure.suptitle(
        f"Error against {against}: median of all sessions, and the middle half{grey}",
        fontsize=10,
        x=0.01,
        ha="left",
    )
    return figure


def coverage_figure(results: Results) -> "Figure | None":
    """Draw how often the 95 % and the 50 % bands hold the truth; None: no method has bands."""
    methods = [m for m in results.methods if not np.isnan(results.metric(m, "covered_95")).any()]
    if not methods:
        return None
    figure = new_figure(9.4, 4.2)
    tones = np.arange(results.tones + 1)
    for axes, nominal in zip(figure.subplots(1, 2), (95, 50), strict=True):
        axes.axhline(nominal, color=INK, lw=1.2)
        lines = []
        for i, method in enumerate(methods):
            percent = 100.0 * results.mean(method, f"covered_{nominal}")
            colour, dash = COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]
            width = 1.5 if i else 2.4
            lines += axes.plot(
                tones, percent, color=colour, lw=width, linestyle=dash, zorder=3 - 0.01 * i,
                label=method,
            )  # fmt: skip
        axes.set_xlim(0, results.tones)
        axes.set_ylim(0, 100)
        axes.set_xlabel("tones")
        axes.set_yticks([0, 25, 50, 75, nominal] if nominal > 75 else [0, 25, nominal, 75, 100])
        axes.set_title(f"% of thresholds within the {nominal} % band", loc="left")
        axes.grid(axis="y")
    name_lines(figure, lines)
    return figure


def tones_figure(results: Results) -> "Figure":
    """Draw the tones it takes until the RMSE stays within 5 and 3 dB: median and quartiles."""
    methods = results.methods
    figure = new_figure(7.2, 0.42 * len(methods) + 1.3)
    axes = figure.subplots()
    beyond = results.tones * 1.06
    for row, method in enumerate(methods):
        for goal, offset in zip(GOALS_DB, (-0.16, 0.16), strict=True):
            after = results.tones_to(method, goal)
            first, median, third = weighted_quantiles(after, results.weight, QUARTILES).tolist()
            y, colour = row + offset, GOAL_COLOURS[goal]
            shown = [min(value, beyond) for value in (first, median, third)]
            axes.plot(shown[::2], [y, y], color=colour, lw=2.2, alpha=0.45, solid_capstyle="butt")
            marker = "o" if math.isfinite(median) else ">"
            axes.plot(shown[1], y, marker, color=colour, ms=6, clip_on=False)
            share = results.weight @ np.isfinite(after)
            axes.text(
                1.03 + 0.09 * GOALS_DB.index(goal), row, f"{share:.0%}", color=colour,
                transform=axes.get_yaxis_transform(), va="center", ha="left",
            )  # fmt: skip
    axes.set_ylim(len(methods) - 0.5, -0.5)
    axes.set_yticks(range(len(methods)), methods)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, beyond)
    axes.set_xlabel(
        "tones until the RMSE stays within 5 or 3 dB: median, and the middle half of all sessions\n"
        f"(at the right edge: more than {results.tones})"
    )
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    for goal in GOALS_DB:
        axes.plot([], [], "o", color=GOAL_COLOURS[goal], label=f"to {goal} dB")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderpad=0)
    axes.text(1.03, 1.03, "reached by", transform=axes.transAxes, va="bottom", ha="left", color=INK)
    return figure


def _error_axis(axes: "Axes", low_db: float, high_db: float) -> None:
    low, high = low_db * 0.9, high_db * 1.1
    ticks = [tick for tick in ERROR_TICKS_DB if low <= tick <= high]
    axes.set_yscale("log")
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks([], minor=True)
    axes.set_ylim(low, high)
    axes.grid(axis="y")
    axes.spines["bottom"].set_color(PALE)
