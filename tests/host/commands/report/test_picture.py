"""The audiogram is drawn where the data are, says what has to be said, and nothing overlaps."""

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D
from matplotlib.text import Text

from firmware_py.procedure.outcomes import MaskingMark, Outcome
from firmware_py.procedure.reading import Kind
from firmware_py.procedure.reasons import Code, reason
from firmware_py.procedure.results import ConfirmedThreshold
from host_tools.catalogue import LANGUAGES
from host_tools.commands.report.audiogram_svg import (
    BAND_ALPHA,
    CLEAR_DB,
    PALE_BAND_ALPHA,
    audiogram_svg,
    ear_figure,
)
from host_tools.commands.report.findings import Findings, findings_of
from host_tools.commands.report.legend import legend_of
from host_tools.drawings.audiogram_paper import DB_PER_OCTAVE
from host_tools.drawings.drawing import EAR_COLOURS, in_style
from host_tools.drawings.symbols import arrow_marker, symbol_marker
from host_tools.recordings.recorded_session import RecordedSession
from tests.host.journals import GOLDEN, recorded

USE: Final = "{http://www.w3.org/2000/svg}use"

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]


def reported(name: str) -> tuple[Findings, RecordedSession]:
    session = recorded(GOLDEN / f"{name}.journal")
    return findings_of(session), session


def with_thresholds(found: Findings, **changes: Any) -> Findings:
    """Return findings whose thresholds are changed alike."""
    ears = [
        replace(ear, thresholds=[replace(t, **changes) for t in ear.thresholds])
        for ear in found.ears
    ]
    return replace(found, ears=ears)


def svg_of(found: Findings, session: RecordedSession) -> ElementTree.Element:
    return ElementTree.fromstring(audiogram_svg(found.ears[0], found, session))


def places(svg: ElementTree.Element, name: str) -> list[tuple[float, float]]:
    (group,) = (g for g in svg.iter() if g.get("id") == name)
    return [(float(use.get("x", "")), float(use.get("y", ""))) for use in group.iter(USE)]


def drawn(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.findobj(Text) if text.get_text()]


def place(line: Line2D) -> tuple[float, float]:
    (x,), (y,) = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    return x, y


def panels(found: Findings, session: RecordedSession) -> list[Axes]:
    with in_style():
        return [ear_figure(ear, found, session).axes[0] for ear in found.ears]


def explained(found: Findings) -> list[str]:
    return [text for _, text in legend_of(found)]


def test_an_octave_is_as_wide_as_20_db_and_level_goes_downward() -> None:
    """A tone stands where it was; beside a symbol that it would lie on, at its level."""
    found, session = reported("left-ear-s2")
    svg = svg_of(found, session)
    by_hz = {t.frequency_hz: t.threshold_db_hl for t in found.ears[0].thresholds}
    (x_500, y_500), (x_2000, _) = (places(svg, f"threshold-left-{f}")[0] for f in (500, 2000))
    octave, at_500_db_hl = 0.5 * (x_2000 - x_500), by_hz[500]
    assert at_500_db_hl is not None
    shifts = []
    for tone in session.trials:
        if tone.frequency_hz is None or tone.level_db_hl is None:
            continue
        x, y = places(svg, f"tone-{tone.number}")[0]
        shifts.append((x - x_500) / octave - math.log2(tone.frequency_hz / 500.0))
        near = [
            each for each in found.ears[0].thresholds
            if each.threshold_db_hl is not None and each.mark != Outcome.INFERRED
            and abs(each.threshold_db_hl - tone.level_db_hl) < CLEAR_DB
            and abs(math.log2(each.frequency_hz / tone.frequency_hz)) < CLEAR_DB / DB_PER_OCTAVE
        ]  # fmt: skip
        expected = -CLEAR_DB / DB_PER_OCTAVE if near else 0.0  # inward, of a left ear
        assert shifts[-1] == pytest.approx(expected, abs=1e-4)
        assert y == pytest.approx(
            y_500 + octave / 20.0 * (tone.level_db_hl - at_500_db_hl), abs=1e-3
        )
    assert 0 < sum(shift < -0.1 for shift in shifts) < len(shifts)


def test_symbols_stand_at_their_thresholds() -> None:
    found, session = reported("left-ear-s2")
    svg = svg_of(found, session)
    (x_1, y_1), (x_2, y_2) = (places(svg, f"threshold-left-{f}")[0] for f in (500, 2000))
    by_hz = {t.frequency_hz: t for t in found.ears[0].thresholds}
    levels = [by_hz[f].threshold_db_hl for f in (500, 2000)]

    assert None not in levels
    assert (y_2 - y_1) / (levels[1] - levels[0]) == pytest.approx((x_2 - x_1) / 40.0)  # type: ignore[operator]


@pytest.mark.parametrize("masking", list(MaskingMark))
def test_right_is_red_and_left_blue_with_the_symbols_of_the_table(masking: MaskingMark) -> None:
    found, session = reported("both-ears-n3")
    found = with_thresholds(found, mark="measured", masking=masking, wide=False)
    drawn_panels = panels(found, session)
    for axes, ear in zip(drawn_panels, found.ears, strict=True):
        symbols = [
            line for line in axes.lines if str(line.get_gid()).startswith(f"threshold-{ear.ear}-")
        ]
        expected = np.asarray(symbol_marker(ear.ear, masking).vertices).tolist()
        assert len(symbols) == 10
        for line in symbols:
            shape: Any = line.get_marker()
            assert shape.vertices.tolist() == expected
            assert line.get_markeredgecolor() == EAR_COLOURS[ear.ear]
            assert line.get_markerfacecolor() == "none"
        stars = 10 if masking == MaskingMark.UNCERTAIN else 0
        assert drawn(axes).count("*") == stars
    assert ("threshold right, left masked" in explained(found)) == (masking == MaskingMark.MASKED)
    assert ("* or the other ear" in explained(found)) == (masking == MaskingMark.UNCERTAIN)


def test_no_tone_lies_on_a_symbol() -> None:
    found, session = reported("both-ears-n3")
    for axes, ear in zip(panels(found, session), found.ears, strict=True):
        marks = {str(line.get_gid()): line for line in axes.lines}
        symbols = [line for name, line in marks.items() if name.startswith(f"threshold-{ear.ear}")]
        tones = [line for name, line in marks.items() if name.startswith("tone-")]
        assert min(map(len, (symbols, tones))) > 5
        for symbol, tone in itertools.product(symbols, tones):
            across, along = np.abs(np.subtract(place(symbol), place(tone)))
            assert max(DB_PER_OCTAVE * across, along) >= CLEAR_DB - 1e-9
            assert symbol.get_zorder() > tone.get_zorder()


def test_no_response_has_an_arrow_downward_at_the_limit_and_no_line(deaf_ear: Path) -> None:
    session = recorded(deaf_ear)
    found = findings_of(session)
    (axes,) = panels(found, session)
    drawn_arrows = [line for line in axes.lines if str(line.get_gid()).startswith("arrow-")]
    arrows = {str(line.get_gid()).removeprefix("arrow-left-"): line for line in drawn_arrows}
    by_mark = {
        mark: {str(t.frequency_hz) for t in found.ears[0].thresholds if t.mark == mark}
        for mark in ("no-response", "incomplete")
    }

    assert len(by_mark["no-response"]) > 5
    assert by_mark["incomplete"] == {"250"}, "perhaps beyond its limit: a question mark says so"
    assert len(drawn_arrows) == len(arrows)
    assert arrows.keys() == by_mark["no-response"] | by_mark["incomplete"]
    assert not [line for line in axes.lines if line.get_color() == "#0047c0" and not line.get_gid()]
    down_and_right = np.asarray(arrow_marker("left", Kind.ABOVE).vertices).tolist()
    for arrow in arrows.values():
        assert place(arrow)[1] == 100.0
        shape: Any = arrow.get_marker()
        assert shape.vertices.tolist() == down_and_right
    assert len([text for text in axes.texts if text.get_text() == "?"]) == 1


@pytest.mark.parametrize("mark", ["incomplete", "never-heard-of"])
def test_what_is_not_sure_has_a_question_mark(mark: str) -> None:
    found, session = reported("left-ear-s2")
    unsure = with_thresholds(found, mark=mark, threshold_db_hl=None, limit_db_hl=90.0)
    (axes,) = panels(unsure, session)
    assert len([text for text in axes.texts if text.get_text().startswith("?")]) == 10


@pytest.mark.parametrize("state", ["UNCALIBRATED", "OVERDUE"])
def test_a_device_that_is_not_calibrated_cannot_be_overlooked(state: str) -> None:
    found, session = reported("both-ears-n3")
    found = replace(found, calibration_state=state, calibration=reason(Code.NOMINAL))
    assert [drawn(axes).count(state) for axes in panels(found, session)] == [1, 1]
    calibrated = replace(found, calibration_state="CALIBRATED", calibration=reason(Code.NOMINAL))
    assert [drawn(axes).count(state) for axes in panels(calibrated, session)] == [0, 0]


def test_heard_unsure_and_not_heard_differ_without_colour() -> None:
    found, session = reported("two-buttons")
    (axes,) = panels(found, session)
    fills = {line.get_gid(): line.get_fillstyle() for line in axes.lines if line.get_gid()}
    expected = {True: "full", None: "left", False: "none"}
    tones = [t for t in session.trials if t.frequency_hz is not None]

    assert {t.heard for t in tones} == {True, None, False}
    for trial in tones:
        assert fills[f"tone-{trial.number}"] == expected[trial.heard]


@pytest.mark.parametrize("name", ["both-ears-n3", "silent-ear"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_words_of_an_audiogram_overlap_or_leave_it(name: str, language: str) -> None:
    session = recorded(GOLDEN / f"{name}.journal")
    found = findings_of(session, language)
    figure: Any = panels(found, session)[0].figure
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    inside = figure.bbox
    boxes = [
        (text.get_text(), Text.get_window_extent(text, canvas.get_renderer()))
        for text in figure.findobj(Text)
        if text.get_text().strip() and text.get_visible() and not text.get_rotation() % 90.0
    ]
    boxes = [(words, box) for words, box in boxes if box.width and box.height]

    assert len(boxes) > 20
    for words, box in boxes:
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1, words
        assert inside.y0 <= box.y0 < box.y1 <= inside.y1, words
    assert [
        (a, b)
        for i, (a, box) in enumerate(boxes)
        for b, other in boxes[i + 1 :]
        if box.x0 < other.x1 and other.x0 < box.x1 and box.y0 < other.y1 and other.y0 < box.y1
    ] == []


def test_what_was_inferred_has_no_symbol_and_a_pale_band() -> None:
    found, session = reported("both-ears-n3")
    for axes, ear in zip(panels(found, session), found.ears, strict=True):
        symbols = {line.get_gid() for line in axes.lines if line.get_gid()}
        for t in ear.thresholds:
            has_symbol = f"threshold-{ear.ear}-{t.frequency_hz}" in symbols
            assert has_symbol == (t.mark != "inferred")
        dotted = [line for line in axes.lines if line.get_linestyle() == ":" or line.is_dashed()]
        assert any(line.get_color() == EAR_COLOURS[ear.ear] for line in dotted)
        bands = [c for c in axes.collections if c.get_alpha() in (BAND_ALPHA, PALE_BAND_ALPHA)]
        asked, pale = bands
        assert (asked.get_alpha(), pale.get_alpha()) == (BAND_ALPHA, PALE_BAND_ALPHA)
        for trial in session.trials_of(ear.ear):
            if trial.purpose == "measure" and trial.frequency_hz is not None:
                at = math.log2(trial.frequency_hz / 125.0)
                spans = [path.get_extents() for path in asked.get_paths()]
                assert any(box.x0 - 0.05 <= at <= box.x1 + 0.05 for box in spans)
    assert "inferred, not measured" in explained(found)
    assert "inferred, not measured" not in explained(with_thresholds(found, mark="measured"))


def test_what_was_confirmed_has_a_bar_at_its_level() -> None:
    found, session = reported("left-ear-s2")
    (ear,) = found.ears
    again = ConfirmedThreshold(1000, 35.0, Outcome.MEASURED, 9)
    thresholds = [
        replace(t, confirmed=again) if t.frequency_hz == 1000 else t for t in ear.thresholds
    ]
    changed = replace(found, ears=[replace(ear, thresholds=thresholds)])
    (axes,) = panels(changed, session)
    (bar,) = [li for li in axes.lines if li.get_gid() == "confirmed-left-1000"]

    assert place(bar)[1] == 35.0
    assert "confirmed, Hughson-Westlake" in explained(changed)
    assert "confirmed, Hughson-Westlake" not in explained(found)


def test_a_threshold_less_sure_than_wanted_is_marked() -> None:
    found, session = reported("both-ears-n3")
    found = with_thresholds(found, wide=False)
    (first, *others), *_ = (ear.thresholds for ear in found.ears)
    ears = [
        replace(found.ears[0], thresholds=[replace(first, wide=True), *others], short_of_db=8.0),
        *found.ears[1:],
    ]
    wide = replace(found, ears=ears)

    assert [drawn(axes).count("~") for axes in panels(wide, session)] == [1, 0]
    assert [drawn(axes).count("~") for axes in panels(found, session)] == [0, 0]
    assert "~ band wider than wanted" in explained(wide)
    assert "~ band wider than wanted" not in explained(found)


def test_the_legend_has_every_mark_that_the_audiograms_have_and_each_is_an_svg() -> None:
    session = recorded(GOLDEN / "both-ears-n3.journal")
    found = with_thresholds(findings_of(session), wide=True, mark="no-response", limit_db_hl=90.0)
    found = replace(found, norm_title="otologically normal men of 65 (ISO 7029:2017)")
    found = with_thresholds(found, masking=MaskingMark.MASKED)
    entries = legend_of(found)

    for svg, text in entries:
        assert text
        if svg:
            assert ElementTree.fromstring(svg).tag.endswith("}svg")
    said = " ".join(text for _, text in entries)
    for words in (
        "threshold left, right masked",
        "no response at the limit",
        "otologically normal, ISO 7029",
        "limit",
        "~",
    ):
        assert words in said
