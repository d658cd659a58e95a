"""The picture of a prescription: gain over frequency and what comes out, a column an ear.

Beside another fit it shows the gains of both, and how they differ.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from device.hearing_aid.candidacy import speech_in_thirds_db_spl
from device.hearing_aid.fit import EarFit, Fit
from device.hearing_aid.limits import field_db_spl
from device.speech import CONVERSATION_DB_SPL, SPEECH_LEVELS_DB_SPL, FloatArray
from firmware_py.findings.rows import row
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.words import Language
from host_tools.commands.prescribe.ear_prescription import EarPrescription
from host_tools.commands.prescribe.figures import differences_db
from host_tools.commands.prescribe.remarks import rule_of
from host_tools.commands.prescribe.signs import WIDE, sign_of
from host_tools.drawings.drawing import (
    EAR_COLOURS,
    FONT,
    GREY,
    INK,
    ORANGE,
    TEXT_AS_TEXT,
    WIDE_MARKER,
    WIDE_SIGN,
    drawable_with,
    in_style,
    new_figure,
    svg_of,
    symbol_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TICKS_HZ: Final = (125, 250, 500, 1000, 2000, 4000, 8000)
# Of speech in dB SPL, each with its line.
DASHES: Final = dict(
    zip(SPEECH_LEVELS_DB_SPL, ((0, (1.5, 1.5)), "solid", (0, (5, 1.5))), strict=True)
)
LIMIT_DASHES: Final = (0, (5, 1.5, 1, 1.5))
LEGEND_COLUMNS: Final = 4
LEGEND_COLUMNS_OF_MORE: Final = 3  # of two fits: the other one's name is long
SIZE_IN: Final = (8.4, 3.15)
ROOM: Final = 1.1  # above the highest gain, for the marks
DIFFERENCE_DB: Final = 5.0  # to either side at least, so that nothing looks like something
LABEL_CHARACTERS: Final = 40
# Above a gain, by its code; they are those of the table.
# A bracket, at its upper edge: up to there sounds are bearable.
DISCOMFORT_MARKER: Final = r"$\sqcap$"
SIGNS: Final = {
    "at-least": "≥",
    "at-least-for-gap": "≥",
    "at-most": "≤",
    "level-perhaps-above": "?",
    WIDE: WIDE_SIGN,
}


def prescription_svg(
    ears: Sequence[EarPrescription], fit: Fit, language: Language, against: Fit | None = None
) -> str:
    """Return the picture as an SVG element, for paper; all else as of `prescription_figure`."""
    with in_style(salt="gp-pta prescription", **TEXT_AS_TEXT):
        return svg_of(prescription_figure(ears, fit, language, against))


def prescription_figure(
    ears: Sequence[EarPrescription], fit: Fit, language: Language, against: Fit | None = None
) -> "Figure":
    """Return the picture of a fit of ears, in a language; another fit may be drawn beside it."""
    say = partial(_say, language)
    figure = new_figure(*SIZE_IN)
    panels = figure.subplots(
        2, len(ears), sharey="row", sharex=True, squeeze=False, height_ratios=(5, 4)
    )
    for column, ear in enumerate(ears):
        other = _other(against, ear.ear)
        _gains(panels[0][column], ear, fit.of_ear(ear.ear), other)
        panels[0][column].set_title(
            say(f"ear-{ear.ear}"), loc="left", color=EAR_COLOURS[ear.ear],
            fontweight="bold", fontsize=11,
        )  # fmt: skip
        if other is None:
            _output(panels[1][column], ear, fit.of_ear(ear.ear))
        else:
            assert against is not None
            _difference(panels[1][column], ear, differences_db(fit, against, ear.ear))
    panels[0][0].set_ylim(0.0, ROOM * panels[0][0].get_ylim()[1])
    if against is not None:
        low_db, high_db = panels[1][0].get_ylim()
        panels[1][0].set_ylim(min(low_db, -DIFFERENCE_DB), max(high_db, DIFFERENCE_DB))
    panels[0][0].set_ylabel(say("gain-axis"), fontsize=8.5)
    panels[1][0].set_ylabel(
        say("level-axis" if against is None else "difference-axis"), fontsize=8.5
    )
    figure.align_ylabels(panels[:, 0])
    for axes in panels[1]:
        axes.set_xlabel(say("frequency-axis"))
        names = [language.spell(tick.get_text()) for tick in axes.get_xticklabels()]
        axes.set_xticks(axes.get_xticks(), names)
    _legend(figure, ears, fit, against, language)
    return figure


def _other(against: Fit | None, ear: str) -> EarFit | None:
    return next((each for each in against.ears if each.ear == ear), None) if against else None


def _gains(axes: "Axes", ear: EarPrescription, fitted: EarFit, other: EarFit | None) -> None:
    colour = EAR_COLOURS[ear.ear]
    x = np.log2(ear.frequencies_hz)
    gain_db = fitted.gain_of_speech_db()
    band = ear.gain_at_db[CONVERSATION_DB_SPL]
    if _as_prescribed(ear, fitted):
        axes.fill_between(x, band.low, band.high, color=colour, alpha=0.15, linewidth=0)
    if other is not None:
        _curves(axes, other, ORANGE)
    measured = [k for k, mark in enumerate(ear.marks) if mark != Outcome.INFERRED]
    _curves(axes, fitted, colour)
    axes.plot(
        x, gain_db, color=colour, linestyle="", marker=symbol_table()["ears"][ear.ear]["marker"],
        fillstyle="none", markevery=measured, clip_on=False,
    )  # fmt: skip
    for at, height_db, sign in zip(x, gain_db, _signs(ear), strict=True):
        axes.annotate(
            sign, (at, height_db), (0, 5), textcoords="offset points", ha="center", color=INK
        )
    _frequencies(axes, x)


def _as_prescribed(ear: EarPrescription, fitted: EarFit) -> bool:
    """Return whether a fit has the gains of a prescription; a tuned one has no band of them."""
    return bool(np.allclose(fitted.gain_of_speech_db(), ear.gain_db, atol=0.05))


def _curves(axes: "Axes", fitted: EarFit, colour: str) -> None:
    x = np.log2(fitted.table.center_hz)
    for level_db_spl, dashes in DASHES.items():
        width = 1.5 if level_db_spl == CONVERSATION_DB_SPL else 1.0
        gains_db = fitted.gain_of_speech_db(level_db_spl)
        axes.plot(x, gains_db, color=colour, linestyle=dashes, linewidth=width)
    most_db = fitted.table.at_speech_db(gains_db=fitted.gains_max_db)
    axes.plot(x, most_db, color=colour, linestyle=LIMIT_DASHES, linewidth=0.8)


def _output(axes: "Axes", ear: EarPrescription, fitted: EarFit) -> None:
    """Draw what comes out of the aid between the threshold and the most that may come out."""
    colour = EAR_COLOURS[ear.ear]
    x = np.log2(ear.frequencies_hz)
    own, frequencies_hz = ear.discomfort_db_spl, np.array(ear.frequencies_hz, dtype=np.float64)
    axes.fill_between(x, own.low, own.high, color=ORANGE, alpha=0.18, linewidth=0)
    _mark_measured(axes, ear)
    most_db_spl = [band.output_max_db_spl for band in fitted.bands]
    axes.plot(x, most_db_spl, color=colour, linestyle=LIMIT_DASHES, linewidth=0.8)
    for level_db_spl, dashes in DASHES.items():
        speech_db_spl = speech_in_thirds_db_spl(frequencies_hz, level_db_spl)
        speech_db_spl = speech_db_spl + fitted.gain_of_speech_db(level_db_spl)
        axes.plot(x, speech_db_spl, color=colour, linestyle=dashes, linewidth=1.0)
    threshold_db_spl = ear.threshold_db_hl + field_db_spl(frequencies_hz)
    axes.fill_between(x, threshold_db_spl, -20.0, color=GREY, alpha=0.3, linewidth=0)
    axes.set_ylim(0.0, 130.0)
    _frequencies(axes, x)


def _mark_measured(axes: "Axes", ear: EarPrescription) -> None:
    """Mark the levels of discomfort that somebody measured; an arrow: there was none up to it."""
    for frequency_hz, level in ear.told.items():
        at, field = np.log2(frequency_hz), field_db_spl(np.array([float(frequency_hz)]))[0]
        marker, colour = DISCOMFORT_MARKER, EAR_COLOURS[ear.ear]
        axes.plot([at], [level.level_db_hl + field], marker=marker, ms=9, color=colour, ls="")
        if level.above:
            axes.annotate("↑", (at, level.level_db_hl + field), (0, 3), textcoords="offset points",
                          ha="center", color=colour)  # fmt: skip


def _difference(axes: "Axes", ear: EarPrescription, differences_db: FloatArray) -> None:
    x = np.log2(ear.frequencies_hz)
    axes.axhline(0.0, color=ORANGE, linewidth=1.0)
    for dashes, at_db in zip(DASHES.values(), differences_db, strict=True):
        axes.plot(x, at_db, color=EAR_COLOURS[ear.ear], linestyle=dashes)
    _frequencies(axes, x)


def _frequencies(axes: "Axes", x: FloatArray) -> None:
    shown = [f for f in TICKS_HZ if x[0] <= np.log2(f) <= x[-1]]
    axes.set_xticks(np.log2(shown), [f"{f / 1000:g}" for f in shown])
    axes.grid(visible=True)


def _signs(ear: EarPrescription) -> list[str]:
    """Return what stands above the gains: the signs of the table, but for what has no marker."""
    signs = symbol_table()["signs"]
    return [
        SIGNS.get(sign_of(ear, k), "") + signs["uncertain"] * (f in ear.given.doubtful_hz)
        for k, f in enumerate(ear.frequencies_hz)
    ]


def _say(language: Language, code: str, **figures: object) -> str:
    return language.say(row(code, **figures))


def _legend(
    figure: "Figure",
    ears: Sequence[EarPrescription],
    fit: Fit,
    against: Fit | None,
    language: Language,
) -> None:
    """Say below the panels what is what; a colour is an ear's, or the other fit's."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    say = partial(_say, language)
    fonts = [FONT]
    entries: list[Line2D | Patch] = [
        Line2D([], [], color=INK, ls=dashes, label=say("fit-speech", level=level))
        for level, dashes in DASHES.items()
    ]
    if all(_as_prescribed(ear, fit.of_ear(ear.ear)) for ear in ears):
        entries.append(Patch(color=EAR_COLOURS[ears[0].ear], alpha=0.15, label=say("row-band")))
    if against is None:
        entries.append(Line2D([], [], color=INK, ls=LIMIT_DASHES, label=say("most-allowed")))
        entries.append(Patch(color=GREY, alpha=0.3, label=say("fit-not-heard")))
        entries.append(Patch(color=ORANGE, alpha=0.18, label=say("own-discomfort")))
        if any(ear.told for ear in ears):
            label = say("discomfort-marks")
            mark = Line2D([], [], marker=DISCOMFORT_MARKER, ms=9, color=INK, ls="", label=label)
            entries.append(mark)
    else:
        entries.append(Line2D([], [], color=INK, ls=LIMIT_DASHES, label=say("most-gain")))
        other = say("fit-against", rule=rule_of(against.rule))[:LABEL_CHARACTERS]
        label, found = drawable_with(other)
        fonts = [*found]
        entries.append(Line2D([], [], color=ORANGE, label=label))
    if any(ear.given.wide_db for ear in ears):
        entries.append(Line2D([], [], marker=WIDE_MARKER, color=INK, ls="", label=say("less-sure")))
    if any(Outcome.INFERRED in ear.marks for ear in ears):
        entries.append(Line2D([], [], color=INK, label=say("no-marker")))
    few = against is None and not any(ear.told for ear in ears)
    columns = LEGEND_COLUMNS if few else LEGEND_COLUMNS_OF_MORE
    figure.legend(
        handles=entries, loc="outside lower center", ncols=columns, frameon=False,
        prop={"family": fonts, "size": 8},
    )  # fmt: skip
