"""The audiogram as clinics draw it.

Level downward, frequency in octaves, and one octave as wide as 20 dB. Right ear red O, left ear
blue X; masked triangle and square; an arrow at the limit where nothing was heard.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from firmware_py.procedure.asked import THIRD_OCTAVE
from firmware_py.procedure.norms import AgeNorm, norm_of
from firmware_py.procedure.outcomes import MaskingMark, Purpose
from firmware_py.procedure.reading import Kind, read
from firmware_py.procedure.statements import may_conclude
from host_tools.commands.report.curves import curve_of, frequencies_hz
from host_tools.commands.report.drawn import asked_tones, drawn_tones, watermark
from host_tools.commands.report.findings import EarFindings, Findings, Threshold
from host_tools.commands.report.words import Words, masking_sign
from host_tools.drawings.audiogram_paper import (
    BOTTOM_DB_HL,
    DB_PER_OCTAVE,
    GRID,
    MARGIN_OCTAVES,
    OCTAVES,
    TOP_DB_HL,
    draw_paper,
    in_octaves,
    octaves,
)
from host_tools.drawings.drawing import (
    EAR_COLOURS,
    GREY,
    INK,
    TEXT_AS_TEXT,
    WIDE_SIGN,
    in_style,
    new_figure,
    svg_of,
)
from host_tools.drawings.symbols import REACH, arrow_marker, marker, symbol_marker, symbol_table
from host_tools.recordings.recorded_session import RecordedSession, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as Shape

WATERMARK: Final = "#f3d9cc"
WATERMARK_LETTERS: Final = 12  # across an audiogram; a longer word is written smaller

BAND_ALPHA: Final = 0.15
PALE_BAND_ALPHA: Final = 0.06
EDGE_ALPHA: Final = 0.6  # of the band's edge
PALE_EDGE_ALPHA: Final = 0.3
BAND_POINTS: Final = 48  # an octave
ARROWED: Final = (Kind.ABOVE, Kind.AT_MOST, Kind.PERHAPS_ABOVE)
INFERRED_DASH: Final = (0, (1, 1.6))
PAPER: Final = "#ffffff"
MASKED: Final = MaskingMark.MASKED

SYMBOL_PT: Final = 8.5  # across an O
SYMBOL_LINE_PT: Final = 1.6
HALO_LINE_PT: Final = 3.6  # of the edge of paper around a symbol
TONE_PT: Final = 4.2
CONFIRMED_REACH: Final = 1.4
ARROWS: Final = {kind: symbol_table()["arrows"][kind] for kind in ARROWED}
# A tone nearer to a symbol than this, from middle to middle, stands beside it.
CLEAR_DB: Final = 3.9

PANEL_WIDTH_INCH: Final = 3.08
PANEL_DB: Final = (OCTAVES + 2 * MARGIN_OCTAVES) * DB_PER_OCTAVE
PANEL_HEIGHT_INCH: Final = PANEL_WIDTH_INCH * (BOTTOM_DB_HL - TOP_DB_HL) / PANEL_DB
# Around the panel: the levels at its left, the frequencies below it, and half a number's height.
LEFT_INCH: Final = 0.52
BOTTOM_INCH: Final = 0.38
EDGE_INCH: Final = 0.08

# A tone by its answer: how the mark is filled.
Fill = Literal["full", "none", "left"]
FILLS: Final[dict[bool | None, Fill]] = {True: "full", None: "left", False: "none"}


def audiogram_svg(ear: EarFindings, findings: Findings, session: RecordedSession) -> str:
    """Return the audiogram of an ear as an SVG element, for paper; its words are text."""
    with in_style(salt=f"gp-pta {ear.ear}", **TEXT_AS_TEXT):
        return svg_of(ear_figure(ear, findings, session))


def ear_figure(ear: EarFindings, findings: Findings, session: RecordedSession) -> "Figure":
    """Return the audiogram of an ear, alone; draw it within `in_style`."""
    width_inch, height_inch = PANEL_WIDTH_INCH + LEFT_INCH, PANEL_HEIGHT_INCH + BOTTOM_INCH
    figure = new_figure(width_inch + EDGE_INCH, height_inch + EDGE_INCH)
    figure.set_layout_engine("none")
    width, height = figure.get_size_inches()
    axes = figure.add_axes(
        (
            LEFT_INCH / width,
            BOTTOM_INCH / height,
            PANEL_WIDTH_INCH / width,
            PANEL_HEIGHT_INCH / height,
        )
    )
    _draw_ear(axes, ear, session, findings)
    return figure


def _draw_ear(axes: "Axes", ear: EarFindings, session: RecordedSession, findings: Findings) -> None:
    words = Words.of(findings)
    draw_paper(axes, words.catalogue, nominal=findings.nominal)
    if mark := watermark(findings, ear):
        _watermark(axes, mark)
    norm = norm_of(session.person) if findings.norm_title and may_conclude(ear) else None
    if norm is not None:
        _draw_norm(axes, norm, ear.below_clinical_db)
    _draw_limit(axes, session, ear.ear)
    if any(t.threshold_db_hl is not None for t in ear.thresholds):
        _draw_band(axes, session, ear)
    symbols = [at for at, _ in _symbols(ear)]
    for trial in drawn_tones(ear, session):
        _draw_tone(axes, trial, symbols, counts=trial.purpose in session.counted)
    _draw_thresholds(axes, ear)


def _watermark(axes: "Axes", words: str) -> None:
    axes.text(
        0.5, 0.5, words, transform=axes.transAxes, rotation=42, fontweight="bold",
        fontsize=30.0 * min(1.0, WATERMARK_LETTERS / len(words)),
        color=WATERMARK, ha="center", va="center", zorder=0.5, clip_on=True,
    )  # fmt: skip


def _draw_norm(axes: "Axes", norm: AgeNorm, lower_db: float) -> None:
    """Draw a norm so much lower: as the thresholds beside it are told."""
    lines = norm.lines(lower_db)
    for line, dash in ((lines["median"], (5, 2)), *((each, (1, 2)) for each in lines["spread"])):
        x = in_octaves(line["frequencies_hz"])
        axes.plot(x, line["levels_db_hl"], color=GREY, lw=1.0, linestyle=(0, dash), zorder=1.5)


def _draw_limit(axes: "Axes", session: RecordedSession, ear: str) -> None:
    """Hatch what was too loud to be asked."""
    tested = session.test.ears[ear]
    x = in_octaves(tested.estimator.candidate_frequencies_hz)
    limit = [tested.levels.limit_db_hl(f) for f in tested.estimator.candidate_frequencies_hz]
    axes.fill_between(
        x, limit, BOTTOM_DB_HL, facecolor="none", edgecolor=GRID, hatch="////", lw=0.0, zorder=0.6
    )
    axes.plot(x, limit, color=GREY, lw=1.0, zorder=1.4)


def _draw_band(axes: "Axes", session: RecordedSession, found: EarFindings) -> None:
    """Draw the band, pale where no tone that counts was asked near."""
    ear = found.ear
    tested = session.test.ears[ear]
    curve = curve_of(tested, found.above_50_percent_db)
    at_hz = frequencies_hz(tested.estimator.frequency_range_hz)
    coarse = in_octaves(at_hz)
    x = np.linspace(coarse[0], coarse[-1], round((coarse[-1] - coarse[0]) * BAND_POINTS) + 1)
    low, high = (np.interp(x, coarse, edge) for edge in (curve.low_db_hl, curve.high_db_hl))
    asked = [octaves(tone.frequency_hz) for tone in asked_tones(tested)]
    near = np.array([any(abs(each - tone) <= THIRD_OCTAVE for tone in asked) for each in x])
    drawn = ((near, BAND_ALPHA, EDGE_ALPHA), (~near, PALE_BAND_ALPHA, PALE_EDGE_ALPHA))
    for where, alpha, edge_alpha in drawn:
        axes.fill_between(
            x, low, high, where=where.tolist(), color=EAR_COLOURS[ear], alpha=alpha, lw=0, zorder=2
        )
        for edge in (low, high):
            axes.plot(
                x, np.where(where, edge, np.nan), color=EAR_COLOURS[ear], alpha=edge_alpha, lw=0.7,
                zorder=2.1, gid=f"edge-{ear}",
            )  # fmt: skip


def _draw_tone(
    axes: "Axes", trial: Trial, symbols: Sequence[tuple[float, float]], *, counts: bool
) -> None:
    """Mark a tone: a diamond, ringed in the retest, small and round where it does not count."""
    if trial.frequency_hz is None or trial.level_db_hl is None:
        return
    at = _beside(octaves(trial.frequency_hz), trial.level_db_hl, symbols, trial.ear)
    axes.plot(
        *at, marker="D" if counts else "o", ms=0.75 * TONE_PT, color=INK,
        fillstyle=FILLS[trial.heard], mew=0.7, markerfacecoloralt="none", zorder=3,
        gid=f"tone-{trial.number}",
    )  # fmt: skip
    if trial.purpose == Purpose.RETEST:
        axes.plot(*at, marker="o", ms=7.5, color=INK, fillstyle="none", mew=0.6, zorder=3)


def _beside(
    x: float, level_db_hl: float, symbols: Sequence[tuple[float, float]], ear: str
) -> tuple[float, float]:
    """Return where a tone is marked: beside a symbol that it would lie on, at its level."""
    reach_octaves = CLEAR_DB / DB_PER_OCTAVE
    side: int = symbol_table()["ears"][ear]["side"]
    for at, symbol_db_hl in symbols:
        if abs(at - x) < reach_octaves and abs(symbol_db_hl - level_db_hl) < CLEAR_DB:
            return at - side * reach_octaves, level_db_hl
    return x, level_db_hl


def _symbols(ear: EarFindings) -> list[tuple[tuple[float, float], Threshold]]:
    """Return the thresholds that have a symbol, with where it stands."""
    found = []
    for threshold in ear.thresholds:
        level_db_hl = read(threshold).symbol_db_hl
        if level_db_hl is not None and TOP_DB_HL <= level_db_hl <= BOTTOM_DB_HL:
            found.append(((octaves(threshold.frequency_hz), level_db_hl), threshold))
    return found


def _draw_thresholds(axes: "Axes", ear: EarFindings) -> None:
    _draw_lines(axes, ear)
    for at, threshold in _symbols(ear):
        _draw_symbol(axes, ear.ear, threshold, *at)
    for threshold in ear.thresholds:
        again = threshold.confirmed
        if again is not None and again.threshold_db_hl is not None:
            at = octaves(threshold.frequency_hz), again.threshold_db_hl
            shape = marker(symbol_table()["confirmed"]["path"], reach=CONFIRMED_REACH)
            name = f"confirmed-{ear.ear}-{threshold.frequency_hz}"
            _mark(axes, at, shape, SYMBOL_PT * CONFIRMED_REACH / REACH, EAR_COLOURS[ear.ear], name)


def _mark(
    axes: "Axes", at: tuple[float, float], shape: "Shape", size_pt: float, colour: str, name: str
) -> None:
    """Draw a marker on an edge of paper, so that no line and no tone runs into it."""
    axes.plot(
        *at, marker=shape, ms=size_pt, mew=HALO_LINE_PT, mec=PAPER, mfc=PAPER, linestyle="none",
        zorder=4.9,
    )  # fmt: skip
    axes.plot(
        *at, marker=shape, ms=size_pt, mew=SYMBOL_LINE_PT, mec=colour, mfc="none",
        linestyle="none", zorder=5, gid=name,
    )  # fmt: skip


def _draw_lines(axes: "Axes", ear: EarFindings) -> None:
    """Join measured neighbours, dotted over what was inferred between them."""
    way: list[tuple[float, float]] = []
    for threshold in ear.thresholds:
        reading = read(threshold)
        at = octaves(threshold.frequency_hz)
        if reading.inferred_db_hl is not None and way:
            way.append((at, reading.inferred_db_hl))
        elif reading.measured_db_hl is not None:
            way.append((at, reading.measured_db_hl))
            dash, width = ("solid", 1.3) if len(way) < 3 else (INFERRED_DASH, 1.0)
            axes.plot(
                *zip(*way, strict=True), color=EAR_COLOURS[ear.ear], lw=width, linestyle=dash,
                zorder=4,
            )  # fmt: skip
            way = way[-1:]
        else:
            way = []


def _draw_symbol(
    axes: "Axes", ear: str, threshold: Threshold, x: float, level_db_hl: float
) -> None:
    colour, reading = EAR_COLOURS[ear], read(threshold)
    shape = symbol_marker(ear, reading.symbol or MaskingMark.NOT_MASKED)
    name = f"{ear}-{threshold.frequency_hz}"
    sign = ""
    if reading.kind in ARROWS:
        arrow = arrow_marker(ear, reading.kind)
        _mark(axes, (x, level_db_hl), arrow, 2.0 * SYMBOL_PT, colour, f"arrow-{name}")
        sign = ARROWS[reading.kind]["sign"]
    _mark(axes, (x, level_db_hl), shape, SYMBOL_PT, colour, f"threshold-{name}")
    sign += WIDE_SIGN if threshold.wide else ""
    sign += masking_sign(threshold)
    if sign:
        _write_sign(axes, ear, x, level_db_hl, sign)


def _write_sign(axes: "Axes", ear: str, x: float, level_db_hl: float, sign: str) -> None:
    """Write a sign on the side without an arrow, on an edge of paper, clear of any hatching."""
    from matplotlib.patheffects import withStroke

    side = symbol_table()["ears"][ear]["side"]
    axes.annotate(
        sign, (x, level_db_hl), xytext=(-8.0 * side, 3.5), textcoords="offset points",
        ha="right" if side > 0 else "left", va="center", color=EAR_COLOURS[ear], fontsize=9,
        fontweight="bold", zorder=6, path_effects=[withStroke(linewidth=2.2, foreground=PAPER)],
    )  # fmt: skip
