"""The picture of a run: HASPI against tones, and against the seconds they take."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.benefit.conditions import COUNTS, OWN, TRUE, UNAIDED, UNTESTED, Condition
from bench.benefit.judging import Judged
from bench.benefit.material import COMPARED_IN
from bench.benefit.tables import Scores
from host_tools.drawings.drawing import (
    BLUE,
    COLOURS,
    DASHES,
    GREY,
    INK,
    in_style,
    name_lines,
    new_figure,
    save,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


def draw(entries: Sequence[Judged], path: Path) -> None:
    """Draw medians of the ears that every method has tested."""
    scores = Scores(entries)
    ears = scores.compared_ears()
    with in_style("benefit"):
        figure = new_figure(9.4, 4.6)
        left, right = figure.subplots(1, 2, sharey=True)
        lines = {
            method: [Condition(method, count) for count in COUNTS] for method in scores.methods
        }
        heights = {
            m: [scores.median_haspi(c, ears, COMPARED_IN) for c in cs] for m, cs in lines.items()
        }
        flat = {
            name: scores.median_haspi(Condition(name), ears, COMPARED_IN)
            for name in (UNAIDED, UNTESTED, TRUE)
        }
        values = [*flat.values(), *(y for each in heights.values() for y in each)]
        low, high = min(values), max(values)
        left.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        for axes in (left, right):
            _levels(axes, flat)
        drawn: list[Line2D] = []
        for i, (method, conditions) in enumerate(lines.items()):
            seconds = [scores.seconds(c, ears) for c in conditions]
            style = {
                "color": colour_of(method, i),
                "linestyle": DASHES[i // len(COLOURS) % len(DASHES)],
                "lw": 2.4 if method == OWN else 1.4,
                "zorder": 4 if method == OWN else 3,
                "marker": "o",
                "ms": 4,
            }
            left.plot(COUNTS, heights[method], **style)
            drawn += right.plot(seconds, heights[method], label=method, **style)
        left.set_xlim(0, COUNTS[-1])
        left.set_xticks([0, *COUNTS])
        left.set_xlabel("tones")
        right.set_xlim(left=0.0)
        right.set_xlabel("seconds of the test of an ear")
        left.set_ylabel(f"HASPI in {COMPARED_IN}, median of {len(ears)} ears")
        name_lines(figure, drawn)
        save(figure, path)


def colour_of(method: str, number: int) -> str:
    return BLUE if method == OWN else COLOURS[number % len(COLOURS)]


def _levels(axes: "Axes", flat: dict[str, float]) -> None:
    for name, height in flat.items():
        axes.axhline(height, color=INK if name == TRUE else GREY, lw=1.0, zorder=1)
        axes.annotate(
            name, xy=(0.01, height), xycoords=("axes fraction", "data"), xytext=(0, 2),
            textcoords="offset points", ha="left", color=INK if name == TRUE else GREY,
        )  # fmt: skip
    axes.grid(axis="y")
