"""The picture of the study: what is left of the prescription's regret, comparison by comparison."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from host_tools.drawing import COLOURS, GREY, in_style, new_figure, save

QUARTILES = (25.0, 50.0, 75.0)


def draw_regret(regrets: Mapping[str, Sequence[Sequence[float]]], path: Path) -> None:
    """Draw median and quartiles of each method.

    Parameters
    ----------
    regrets : mapping
        By method, of each person (rows) after each comparison.
    path : Path
        A name in .svg, .png or .pdf.
    """
    with in_style():
        figure = new_figure(7.2, 4.4)
        axes = figure.subplots()
        for colour, (name, rows) in zip(COLOURS, regrets.items(), strict=False):
            table = np.array(rows)
            left = 100.0 * table / np.maximum(table[:, :1], 1e-9)
            low, middle, high = np.percentile(left, QUARTILES, axis=0)
            counts = np.arange(table.shape[1])
            axes.fill_between(counts, low, high, color=colour, alpha=0.12, linewidth=0)
            axes.plot(counts, middle, color=colour, label=name)
        axes.axhline(100.0 / 3.0, color=GREY, linestyle=":", linewidth=1.0)
        axes.set_yscale("log")
        axes.set_xlabel("comparisons")
        axes.set_ylabel("regret left, % of the prescription's")
        axes.legend(frameon=False, title="median and quartiles")
        save(figure, path)
