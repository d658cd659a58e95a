"""The picture of a tuning: what was known of each number of the wish, comparison by comparison."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.inference.preference.regret import off_db
from host_tools.commands.replay.tuning import Step
from host_tools.drawings.drawing import BLUE, GREY, INK, ORANGE, in_style, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM_DB: Final = 1.15  # of the panels, beside what is drawn


def draw_tuning(
    steps: Sequence[Step], path: Path, title: str, wish_db: Sequence[float] | None = None
) -> None:
    """Draw a tuning, before the first comparison and after each, to .svg, .png or .pdf.

    `wish_db` is what a simulated person wanted.
    """
    with in_style():
        save(tuning_figure(steps, title, wish_db), path)


def tuning_figure(
    steps: Sequence[Step], title: str, wish_db: Sequence[float] | None = None
) -> "Figure":
    figure = new_figure(9.4, 5.6)
    figure.suptitle(title, fontsize=11)
    grid = figure.subplots(2, 3, sharex=True)
    panels = [*grid[0][:2], *grid[1][:2]]
    highest_db = max(
        *(abs(each) for step in steps for each in (*step.low_db, *step.high_db)),
        *(abs(each) for each in wish_db or [0.0]),
    )
    for place, axes in enumerate(panels):
        _number(axes, steps, place, None if wish_db is None else wish_db[place])
        axes.set_ylim(-ROOM_DB * highest_db, ROOM_DB * highest_db)
    for axes in (panels[0], panels[2]):
        axes.set_ylabel("dB from the prescription")
    _distance(grid[0][2], steps, wish_db)
    for axes in (*grid[1][:2], grid[0][2]):
        axes.set_xlabel("comparisons")
    grid[0][2].tick_params(labelbottom=True)
    grid[1][2].set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    grid[1][2].legend(handles, labels, loc="upper left", frameon=False)
    return figure


def _number(axes: "Axes", steps: Sequence[Step], place: int, wish_db: float | None) -> None:
    counts = range(len(steps))
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.fill_between(
        counts,
        [step.low_db[place] for step in steps],
        [step.high_db[place] for step in steps],
        color=BLUE, alpha=0.16, linewidth=0, label="what is wanted: 95 % band",
    )  # fmt: skip
    best_db = [step.setting_db[place] for step in steps]
    axes.plot(counts, best_db, color=BLUE, drawstyle="steps-post", label="the best setting so far")
    if wish_db is not None:
        axes.axhline(wish_db, color=ORANGE, linestyle="--", label="what the simulated person wants")
    axes.set_title(DIMENSIONS[place].meaning, fontsize=9.5, color=INK)


def _distance(axes: "Axes", steps: Sequence[Step], wish_db: Sequence[float] | None) -> None:
    counts = range(len(steps))
    expected_db = [off_db(step.expected_regret) for step in steps]
    axes.plot(counts, expected_db, color=BLUE)
    if wish_db is not None:
        true_db = [math.dist(step.setting_db, wish_db) for step in steps]
        axes.plot(counts, true_db, color=ORANGE, linestyle="--")
    axes.set_ylim(0.0)
    axes.set_ylabel("dB")
    axes.set_title("off by, if judged as assumed", fontsize=9.5, color=INK)
