"""The picture of an estimator, where Matplotlib is: the device has none, and never asks for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from firmware_py.inference import enough
from firmware_py.inference.kernel import Array
from firmware_py.inference.record import Answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Axes", "Curve", "draw"]

BLUE: Final = "#0072B2"  # Okabe & Ito 2008: people with any colour vision see it
INK: Final = "#222222"
# Of tones that were heard, that were not, and of which the listener was unsure.
MARKERS: Final = ((True, "o", INK, "heard"), (False, "o", "none", "not heard"),
                  (None, "D", "none", "unsure"))  # fmt: skip
NAMED_HZ: Final = (125, *enough.FREQUENCIES_HZ, 12000, 16000)


@dataclass(frozen=True)
class Curve:
    """What is drawn of a threshold: its mean and its band at rising frequencies."""

    frequencies_hz: Sequence[float]
    mean_db_hl: Array
    low_db_hl: Array
    high_db_hl: Array


def draw(
    curve: Curve,
    answers: Iterable[Answer],
    level_limits_db_hl: tuple[float, float],
    ax: "Axes | None",
) -> "Axes":
    """Draw an audiogram into these axes or new ones, and return them."""
    try:
        import matplotlib.axes
        from matplotlib.ticker import NullLocator
    except ImportError:
        raise ImportError(
            "plot needs Matplotlib, which is not installed; it is in the extra report: "
            "pip install 'gp-pta[report]'"
        ) from None
    if not isinstance(ax, matplotlib.axes.Axes | None):
        raise ValueError(f"ax is {ax!r}; allowed are axes of Matplotlib, or None: new ones")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    at = curve.frequencies_hz
    low_db_hl, high_db_hl = curve.low_db_hl, curve.high_db_hl
    ax.fill_between(at, low_db_hl, high_db_hl, color=BLUE, alpha=0.2, lw=0.0, label="95 % band")
    ax.plot(at, curve.mean_db_hl, color=BLUE, label="threshold")
    _draw_answers(answers, ax)
    shown = [f for f in NAMED_HZ if at[0] <= f <= at[-1]]
    ax.set_xscale("log")
    ax.set_xticks(shown, [f"{f / 1000:g}k" if f >= 1000 else f"{f}" for f in shown])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(
        xlim=(at[0] / 1.1, at[-1] * 1.1), ylim=level_limits_db_hl[::-1],
        xlabel="frequency (Hz)", ylabel="level (dB HL)",
    )  # fmt: skip
    ax.grid(alpha=0.3)
    ax.legend()
    return ax


def _draw_answers(answers: Iterable[Answer], ax: "Axes") -> None:
    given = [*answers]
    for heard, marker, face, label in MARKERS:
        tones = [e for e in given if e.frequency_hz is not None and e.heard is heard]
        if tones:
            at = np.array([(e.frequency_hz, e.level_db_hl) for e in tones], dtype=float)
            ax.scatter(
                at[:, 0], at[:, 1], s=20, marker=marker, facecolors=face, edgecolors=INK,
                label=label, zorder=3,
            )  # fmt: skip
