"""The picture of the study: regret against comparisons, a panel for each method."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from host_tools.drawings.drawing import BLUE, GREY, INK, ORANGE, in_style, new_figure, save
from host_tools.research.tuning.course import COMPARISONS, Course, regrets
from host_tools.research.tuning.tables import GOAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS: Final = 3
WIDTH_INCH: Final = 9.4
ROW_INCH: Final = 2.6


def draw_regret(courses: dict[str, list[Course]], path: Path) -> None:
    """Draw the regret of each method against comparisons.

    Parameters
    ----------
    courses : dict
        By the title of the method; the first is that the others are beside.
    path : Path
        A name in .svg, .png or .pdf.
    """
    with in_style():
        save(regret_figure(courses), path)


def regret_figure(courses: dict[str, list[Course]]) -> "Figure":
    """Return the picture; all else as of `draw_regret`."""
    rows = -(-len(courses) // COLUMNS)
    figure = new_figure(WIDTH_INCH, ROW_INCH * rows + 0.4)
    figure.suptitle("Regret of the best setting so far, of the prescription's median", fontsize=11)
    grid = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False)
    panels = [axes for row in grid for axes in row]
    first, *_ = courses
    for axes, (title, some) in zip(panels, courses.items(), strict=False):
        _panel(axes, some, None if title == first else courses[first])
        axes.set_title(title, fontsize=9.5, color=INK)
    for axes in panels[len(courses) :]:
        axes.set_axis_off()
    for axes in panels[max(len(courses) - COLUMNS, 0) : len(courses)]:
        axes.set_xlabel("comparisons")
        axes.tick_params(labelbottom=True)
    for row in grid:
        row[0].set_ylabel("regret")
    panels[min(1, len(courses) - 1)].legend(loc="upper right", frameon=False, fontsize=8)
    return figure


def _panel(axes: "Axes", courses: list[Course], beside: list[Course] | None) -> None:
    """Draw one method; `beside` is drawn with it."""
    counts = sorted(courses[0].best_db)
    before = float(np.median(regrets(courses, 0)))
    low, middle, high = np.quantile(
        [regrets(courses, count) / before for count in counts], [0.25, 0.5, 0.75], axis=1
    )
    axes.axhline(GOAL, color=GREY, linewidth=0.8, linestyle="--")
    axes.fill_between(counts, low, high, color=BLUE, alpha=0.16, linewidth=0, label="quartiles")
    axes.plot(counts, middle, color=BLUE, label="median")
    if beside is not None:
        others = sorted(beside[0].best_db)
        whole = float(np.median(regrets(beside, 0)))
        medians = [float(np.median(regrets(beside, count))) / whole for count in others]
        axes.plot(
            others, medians, color=ORANGE, linestyle=(0, (4, 1.5)), label="the product's median"
        )
    axes.set_xlim(0, COMPARISONS)
    axes.set_ylim(0.0, 1.9)
    axes.set_yticks([0.0, GOAL, 1.0, 1.5], ["0", "1/3", "1", "1.5"])
