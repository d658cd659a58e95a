"""A page of A4 with the audiograms and everything else that was found."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from firmware_py import __version__
from firmware_py.calibration.in_force import CALIBRATED
from host_tools.commands.report.audiogram import (
    PANEL_HEIGHT_INCH,
    draw_ear,
    draw_legend,
    panels_of,
)
from host_tools.commands.report.findings import Findings
from host_tools.commands.report.quality_words import quality_rows
from host_tools.commands.report.words import Words
from host_tools.drawing import (
    EAR_COLOURS,
    GREY,
    INK,
    WIDE_SIGN,
    drawable,
    in_style,
    new_figure,
    save,
)
from host_tools.recorded import RecordedSession

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALARM: Final = "#a83200"
ALARM_PAPER: Final = "#fff1e8"
A4_INCH: Final = (8.27, 11.69)
EDGE_INCH: Final = 0.62
TEXT_PT: Final = 8.5
LINE_INCH: Final = 0.165
UNSURE_SIGNS: Final = (WIDE_SIGN, "(")  # of what is not written in bold


def draw_page(findings: Findings, session: RecordedSession, path: Path) -> None:
    """Draw everything on a page of A4 and write it, in the format of the name's ending."""
    with in_style():
        save(page_figure(findings, session), path)


def page_figure(findings: Findings, session: RecordedSession) -> "Figure":
    """Return a page of A4 with everything on it."""
    figure = new_figure(*A4_INCH)
    figure.set_layout_engine("none")
    top_inch = _headings(figure, findings)
    bottom_inch = top_inch - 0.42 - PANEL_HEIGHT_INCH
    panels = panels_of(figure, len(findings.ears), bottom_inch)
    for axes, ear in zip(panels, findings.ears, strict=True):
        draw_ear(axes, ear, session, findings)
    across_inch = A4_INCH[0] - 2.0 * EDGE_INCH
    legend_end_inch = draw_legend(figure, findings, bottom_inch - 0.42, across_inch)
    _words(figure, findings, legend_end_inch - 0.2)
    return figure


def _text(figure: "Figure", x_inch: float, y_inch: float, text: str, **how: Any) -> None:
    width_inch, height_inch = figure.get_size_inches()
    style: dict[str, Any] = {"fontsize": TEXT_PT, "va": "top", "ha": "left", "color": INK, **how}
    figure.text(x_inch / width_inch, y_inch / height_inch, text, **style)


def _headings(figure: "Figure", findings: Findings) -> float:
    """Write what session this is and what to beware of; return where they end."""
    width_inch, height_inch = A4_INCH
    words = Words.of(findings)
    y = height_inch - EDGE_INCH
    _text(figure, EDGE_INCH, y, words.say("heading"), fontsize=17, fontweight="bold")
    _text(figure, width_inch - EDGE_INCH, y - 0.02, words.session(findings), ha="right")
    person, fonts = drawable(words.person(findings))
    _text(figure, width_inch - EDGE_INCH, y - 0.02 - LINE_INCH, person, ha="right",
          fontfamily=fonts)  # fmt: skip
    y -= 0.48
    for headline, text in words.alarms(findings):
        lines = _wrapped(text, 108)
        height = 0.30 + LINE_INCH * len(lines)
        _box(figure, y, height)
        _text(figure, EDGE_INCH + 0.12, y - 0.07, headline, fontsize=11, fontweight="bold",
              color=ALARM)  # fmt: skip
        _text(figure, EDGE_INCH + 0.12, y - 0.27, "\n".join(lines), color=INK)
        y -= height + 0.08
    if findings.calibration_state == CALIBRATED:
        _text(figure, EDGE_INCH, y, words.calibration(findings))
        y -= LINE_INCH
    return y


def _box(figure: "Figure", top_inch: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    width_inch, height_inch = A4_INCH
    figure.add_artist(
        Rectangle(
            (EDGE_INCH / width_inch, (top_inch - height) / height_inch),
            1.0 - 2.0 * EDGE_INCH / width_inch,
            height / height_inch,
            facecolor=ALARM_PAPER,
            edgecolor=ALARM,
            lw=1.5,
        )
    )


def _words(figure: "Figure", findings: Findings, top_inch: float) -> None:
    """Write thresholds, grades and quality below the audiograms."""
    words = Words.of(findings)
    y = _table(figure, top_inch, _threshold_rows(findings, words), 1.4)
    grades = words.grades(findings)
    y = _paragraph(figure, y - 0.1, words.say("pta4_and_grade"), grades)
    y = _table(figure, y - 0.1, _quality_rows(findings, words), 2.4)
    footer = _wrapped(words.footer(__version__), 140)
    _text(figure, EDGE_INCH, EDGE_INCH - 0.1, "\n".join(footer), fontsize=7, color=GREY,
          va="bottom")  # fmt: skip
    footer_top_inch = EDGE_INCH - 0.1 + len(footer) * SMALL.line_inch
    remarks = words.remarks(findings)
    room = y - 0.1 - footer_top_inch
    style = NORMAL if _height_inch(remarks, NORMAL) <= room else SMALL
    more = words.say("more_on_page")
    _paragraph(figure, y - 0.1, words.say("remarks"), remarks, style, footer_top_inch, more)


@dataclass(frozen=True)
class _Print:
    """How lines of a paragraph are written."""

    size_pt: float
    line_inch: float
    characters: int  # across the page


NORMAL: Final = _Print(TEXT_PT, LINE_INCH, 112)
SMALL: Final = _Print(7.0, 0.135, 130)


@dataclass(frozen=True)
class _Row:
    """A line of a table: its name, its cells, and how they are written."""

    name: str
    cells: Sequence[str]
    colour: str = INK
    bold: bool = False
    size_pt: float = TEXT_PT


def _threshold_rows(findings: Findings, words: Words) -> list[_Row]:
    """Return a column a frequency."""
    rows = [_Row("Hz", [f"{t.frequency_hz}" for t in findings.ears[0].thresholds], bold=True)]
    for ear in findings.ears:
        shown = [words.threshold(t) for t in ear.thresholds]
        name = words.say("ear_levels", ear=words.say(ear.ear))
        rows.append(_Row(name, shown, EAR_COLOURS[ear.ear], bold=True))
        rows.append(
            _Row(words.say("column_band"), [words.band(t) for t in ear.thresholds], size_pt=7.0)
        )
        if any(t.confirmed is not None for t in ear.thresholds):
            again = [words.confirmed(t) for t in ear.thresholds]
            rows.append(
                _Row(words.say("column_confirmed"), again, EAR_COLOURS[ear.ear], size_pt=7.0)
            )
        if findings.norm_title:
            better = [words.percent(t.norm_share_better) for t in ear.thresholds]
            rows.append(_Row(words.say("column_peers"), better, size_pt=7.0))
    return rows


def _quality_rows(findings: Findings, words: Words) -> list[_Row]:
    """Return a column an ear."""
    ears = [quality_rows(ear, words) for ear in findings.ears]
    rows = [_Row(words.say("quality"), [words.ear(e.ear) for e in findings.ears], bold=True)]
    for each in zip(*ears, strict=True):
        rows.append(_Row(each[0][0], [value for _, value in each]))
    return rows


def _table(figure: "Figure", top_inch: float, rows: Sequence[_Row], names_inch: float) -> float:
    """Write rows of cells in columns of one width; return where they end."""
    step_inch = (A4_INCH[0] - 2.0 * EDGE_INCH - names_inch) / len(rows[0].cells)
    for i, row in enumerate(rows):
        y = top_inch - i * LINE_INCH
        weight = "bold" if row.bold else "normal"
        how: dict[str, Any] = {
            "fontsize": row.size_pt, "color": row.colour, "fontweight": weight
        }  # fmt: skip
        _text(figure, EDGE_INCH, y, row.name, **how)
        for j, cell in enumerate(row.cells):
            x = EDGE_INCH + names_inch + (j + 0.5) * step_inch
            sure = {"fontweight": "normal"} if cell.startswith(UNSURE_SIGNS) else {}
            _text(figure, x, y, cell, ha="center", **{**how, **sure})
    return top_inch - len(rows) * LINE_INCH


def _paragraph(
    figure: "Figure",
    top_inch: float,
    title: str,
    lines: Sequence[str],
    style: _Print = NORMAL,
    bottom_inch: float = 0.0,
    more: str = "",
) -> float:
    """Write a title and lines, wrapped, and say if some have no room; return where they end."""
    _text(figure, EDGE_INCH, top_inch, title, fontweight="bold")
    shown = [part for line in lines for part in _wrapped(line, style.characters)]
    fit = int((top_inch - LINE_INCH - bottom_inch) / style.line_inch)
    if len(shown) > fit:
        shown = [*shown[: max(fit - 1, 0)], more]
    y = top_inch - LINE_INCH
    for line in shown:
        _text(figure, EDGE_INCH, y, line, fontsize=style.size_pt)
        y -= style.line_inch
    return y


def _height_inch(lines: Sequence[str], style: _Print) -> float:
    shown = sum(len(_wrapped(line, style.characters)) for line in lines)
    return LINE_INCH + shown * style.line_inch


def _wrapped(text: str, characters: int) -> list[str]:
    return textwrap.wrap(text, characters, subsequent_indent="    ") or [""]
