"""The picture of a prior: the whole, its components, and how their number was found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from device.lines import line_weights
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.population_prior import PopulationPrior
from host_tools.drawings.drawing import BLUE, GREY, INK, ORANGE, in_style, new_figure, save
from host_tools.research.learn_prior.checking import normal_cdf
from host_tools.research.learn_prior.selecting import Size

COLUMNS: Final = 4
POINTS: Final = 181  # of a curve
LEVELS_DB_HL: Final = (-20.0, 130.0)
LEVEL_TICKS_DB_HL: Final = (0, 20, 40, 60, 80, 100, 120)
TICKS_HZ: Final = (125, 250, 500, 1000, 2000, 4000, 8000, 16000)
BISECTIONS: Final = 30  # of 600 dB: to a millionth of a dB
QUANTILES: Final = (0.025, 0.25, 0.5, 0.75, 0.975)
Z_95: Final = 1.959964
Z_50: Final = 0.674490


def draw_prior(
    prior: PopulationPrior, table: Sequence[Size], measured_hz: Array, path: Path
) -> None:
    """Draw a prior.

    The table is empty where sizes were not compared. Beyond the measured frequencies the prior is
    an assumption.
    """
    shown = sorted(range(len(prior.components)), key=lambda k: _order(prior, k))
    rows = -(-len(shown) // COLUMNS)
    with in_style():
        figure = new_figure(11.0, 3.9 + 2.3 * rows)
        grid = figure.add_gridspec(1 + rows, COLUMNS, height_ratios=[1.75, *[1.0] * rows])
        _whole(figure.add_subplot(grid[0, : COLUMNS - 1 if table else COLUMNS]), prior, measured_hz)
        if table:
            _sizes(figure.add_subplot(grid[0, COLUMNS - 1]), table, prior)
        for place, k in enumerate(shown):
            axes = figure.add_subplot(grid[1 + place // COLUMNS, place % COLUMNS])
            _component(axes, prior, k, measured_hz)
            if place % COLUMNS == 0:
                axes.set_ylabel("dB HL")
        figure.supxlabel(
            "The components, by mean threshold: share of the prior, age and women. Dark band 50 %, "
            "light band 95 %.",
            fontsize=9,
        )
        save(figure, path, for_all=True)


def curves(prior: PopulationPrior, frequencies_hz: Array) -> tuple[Array, Array]:
    """Return mean (K, n) in dB HL and variance (K, n) in dB² of each component."""
    knots, x = np.log2(prior.knots_hz), np.log2(frequencies_hz)
    line = line_weights(frequencies_hz, prior.knots_hz)
    interval = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    u = (x - knots[interval]) / np.diff(knots)[interval]
    off_db2 = 4.0 * u * (1.0 - u) * np.array(prior.between_knots_sd_db)[interval] ** 2
    mean = np.array([c.mean_db_hl for c in prior.components]) @ line.T
    covariance = np.array([c.covariance_db2 for c in prior.components])
    return mean, np.einsum("ni,kij,nj->kn", line, covariance, line) + off_db2


def quantiles(prior: PopulationPrior, frequencies_hz: Array) -> Array:
    """Return (len(QUANTILES), n) levels in dB HL of the whole mixture."""
    mean, variance = curves(prior, frequencies_hz)
    sd, weight = np.sqrt(variance), np.array([c.weight for c in prior.components])
    found = []
    for share in QUANTILES:
        low = np.full(len(frequencies_hz), -200.0)
        high = np.full(len(frequencies_hz), 400.0)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            below = weight @ normal_cdf((middle - mean) / sd) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found.append(0.5 * (low + high))
    return np.array(found)


def _order(prior: PopulationPrior, k: int) -> float:
    c = prior.components[k]
    return float(np.mean(c.mean_db_hl)) if k < _count_learned(prior) else 1e6 + k


def _count_learned(prior: PopulationPrior) -> int:
    return int(prior.provenance["components_learned"])


def _say_added(prior: PopulationPrior, k: int) -> str:
    """Say what a component is that was not learned; "": it was."""
    beyond = k - _count_learned(prior)
    if beyond < 0:
        return ""
    standard = float(prior.provenance.get("standard_audiograms_weight", 0.0)) > 0.0
    if beyond == 0 and standard:
        return "standard audiograms"
    unusual = {standard: "any shape", standard + 1: "free low octaves"}
    return unusual.get(beyond, "one free threshold")


def _axis(axes: Any, prior: PopulationPrior, measured_hz: Array, every: int) -> Array:
    """Make an audiogram's axes, shade what nobody measured, and return where to draw."""
    first, last = prior.knots_hz[0], prior.knots_hz[-1]
    axes.set_xscale("log", base=2)
    axes.set_xlim(first, last)
    ticks = [f for f in TICKS_HZ if first <= f <= last][::every]
    names = [f"{f // 1000} k" if f >= 1000 else f"{f}" for f in ticks]
    axes.set_xticks(ticks, names)
    axes.set_xticks([], minor=True)
    axes.set_yticks(LEVEL_TICKS_DB_HL[::every])
    axes.set_ylim(LEVELS_DB_HL[1], LEVELS_DB_HL[0])
    axes.grid(axis="both")
    axes.set_axisbelow(True)
    for low, high in ((first, measured_hz[0]), (measured_hz[-1], last)):
        axes.axvspan(low, high, color=GREY, alpha=0.13, lw=0, zorder=0)
    return np.geomspace(first, last, POINTS)


def _whole(axes: Any, prior: PopulationPrior, measured_hz: Array) -> None:
    at = _axis(axes, prior, measured_hz, 1)
    lowest, low, median, high, highest = quantiles(prior, at)
    axes.fill_between(at, lowest, highest, color=BLUE, alpha=0.18, lw=0, label="95 %")
    axes.fill_between(at, low, high, color=BLUE, alpha=0.3, lw=0, label="50 %")
    axes.plot(at, median, color=BLUE, lw=2.2, label="median")
    axes.set_title(
        "The prior: thresholds before the first tone, age and sex not told", loc="left",
        fontweight="bold",
    )  # fmt: skip
    axes.set_ylabel("dB HL")
    axes.set_xlabel("Hz; grey: outside what was measured")
    axes.legend(loc="lower left", frameon=False, ncols=3)


def _sizes(axes: Any, table: Sequence[Size], prior: PopulationPrior) -> None:
    chosen = prior.provenance["components_learned"]
    x = [row.components for row in table]
    below = [-row.below_best for row in table]
    error = [row.standard_error for row in table]
    axes.errorbar(x, below, error, color=INK, lw=1.2, marker="o", ms=4, capsize=2.5)
    at = x.index(chosen)
    axes.plot(x[at], below[at], "o", color=ORANGE, ms=9, zorder=3)
    axes.annotate(
        f"{chosen} chosen",
        (x[at], below[at]),
        xytext=(6, -28),
        textcoords="offset points",
        color=ORANGE,
        ha="left",
        va="top",
    )
    axes.set_xticks(x)
    axes.set_xlabel("components")
    axes.set_ylabel("nats an ear, relative to the best")
    axes.grid(axis="y")
    axes.set_title("Held-out log density", loc="left", fontweight="bold")


def _component(axes: Any, prior: PopulationPrior, k: int, measured_hz: Array) -> None:
    at = _axis(axes, prior, measured_hz, 2)
    mean, variance = (values[k] for values in curves(prior, at))
    sd, c = np.sqrt(variance), prior.components[k]
    added = _say_added(prior, k)
    colour = ORANGE if added else BLUE
    for z, alpha in ((Z_95, 0.18), (Z_50, 0.3)):
        axes.fill_between(at, mean - z * sd, mean + z * sd, color=colour, alpha=alpha, lw=0)
    axes.plot(at, mean, color=colour, lw=1.8)
    axes.set_title(f"{c.weight:.0%}", loc="left", fontweight="bold", color=colour)
    words = added or f"age {c.age_mean_years:.0f}±{c.age_sd_years:.0f}, women {c.share_female:.0%}"
    axes.set_title(words, loc="right", fontsize=8, color=GREY)
