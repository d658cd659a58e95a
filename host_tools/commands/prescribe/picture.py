"""The picture of a prescription: gain over frequency, a panel an ear."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from device.hearing_aid.speech import CONVERSATION_DB_SPL
from firmware_py.procedure.outcomes import Outcome
from host_tools.commands.prescribe.ears import EarPrescription
from host_tools.drawing import (
    EAR_COLOURS,
    EAR_MARKERS,
    GREY,
    INK,
    RED,
    WIDE_MARKER,
    WIDE_SIGN,
    in_style,
    new_figure,
    save,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TICKS_HZ: Final = (250, 500, 1000, 2000, 4000, 8000)
# Of speech in dB SPL, each with its line.
OTHER_LEVELS_DB_SPL: Final = ((50.0, (0, (1.5, 1.5))), (80.0, (0, (5, 1.5))))
GAIN_ROOM_DB: Final = 5.0
SIGNS: Final[dict[str, str]] = {
    Outcome.NO_RESPONSE: "?",
    Outcome.HEARS_ALL: "?",
    Outcome.INCOMPLETE: "?",
    Outcome.UNRELIABLE: "?",
}


def draw_prescription(
    ears: Sequence[EarPrescription], title: str, warning: str, path: Path
) -> None:
    """Draw a prescription.

    Parameters
    ----------
    ears : sequence of EarPrescription
    title, warning : str
        Above the panels; the warning is what nobody may overlook, "" for none.
    path : Path
        A name in .svg, .png or .pdf.
    """
    with in_style():
        save(prescription_figure(ears, title, warning), path)


def prescription_figure(ears: Sequence[EarPrescription], title: str, warning: str) -> "Figure":
    """Return the picture; `title` and `warning` as of `draw_prescription`."""
    soft_db_spl = OTHER_LEVELS_DB_SPL[0][0]
    highest_db = max(
        float(np.maximum(ear.gain_high_db, ear.compression.gain_of_speech(soft_db_spl)).max())
        for ear in ears
    )
    figure = new_figure(5.0 * len(ears), 4.0)
    figure.suptitle(title, fontsize=11)
    panels = figure.subplots(1, len(ears), sharey=True, squeeze=False)[0]
    for axes, ear in zip(panels, ears, strict=True):
        _ear(axes, ear)
        axes.set_ylim(0.0, highest_db + GAIN_ROOM_DB)
    panels[0].set_ylabel("insertion gain, dB")
    if warning:
        figure.supxlabel(warning, fontsize=9, color=RED, weight="bold")
    return figure


def _ear(axes: "Axes", ear: EarPrescription) -> None:
    colour = EAR_COLOURS[ear.ear]
    x = np.log2(ear.frequencies_hz)
    axes.fill_between(x, ear.gain_low_db, ear.gain_high_db, color=colour, alpha=0.15, linewidth=0)
    measured = [k for k, mark in enumerate(ear.marks) if mark != Outcome.INFERRED]
    axes.plot(
        x, ear.gain_db, color=colour, marker=EAR_MARKERS[ear.ear], markevery=measured,
        fillstyle="none", clip_on=False,
        label=f"speech at {CONVERSATION_DB_SPL:.0f} dB SPL, 95 % band",
    )  # fmt: skip
    for level_db_spl, dashes in OTHER_LEVELS_DB_SPL:
        axes.plot(
            x, ear.compression.gain_of_speech(level_db_spl), color=GREY, linestyle=dashes,
            linewidth=1.0, label=f"speech at {level_db_spl:.0f} dB SPL",
        )  # fmt: skip
    signs = [
        SIGNS.get(mark, WIDE_SIGN if frequency_hz in ear.wide_db else "")
        for frequency_hz, mark in zip(ear.frequencies_hz, ear.marks, strict=True)
    ]
    for at, gain_db, sign in zip(x, ear.gain_db, signs, strict=True):
        axes.annotate(
            sign, (at, gain_db), (0, 5), textcoords="offset points", ha="center", color=INK
        )
    if WIDE_SIGN in signs:
        axes.plot([], [], marker=WIDE_MARKER, color=INK, ls="", label="less sure than wanted")
    if len(measured) < len(ear.marks):
        axes.plot([], [], color=colour, label="no marker: threshold inferred, not measured")
    axes.set_title(f"{ear.ear} ear", color=colour)
    axes.set_xticks(np.log2(TICKS_HZ), [f"{f / 1000:g}" for f in TICKS_HZ])
    axes.set_xlabel("frequency, kHz")
    axes.grid(visible=True)
    axes.legend(frameon=False, fontsize=8, loc="best")
