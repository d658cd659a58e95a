"""The audiogram is drawn where the data are, says what has to be said, and nothing overlaps."""

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from matplotlib.textpath import TextPath
from matplotlib.transforms import Bbox
from rich.console import Console

from firmware_py.findings.rows import row
from firmware_py.paper.thresholds import legend_of
from firmware_py.terms.discomfort import told_of_words
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.results import ConfirmedThreshold, EarResult
from host_tools import drawing_js
from host_tools.catalogue import LANGUAGES
from host_tools.commands.report.legend import character_of, draw_mark
from host_tools.commands.report.session_report import SessionReport
from host_tools.drawings.drawing import EAR_COLOURS, symbol_table
from host_tools.papers.characters import show_paper
from host_tools.recordings.recorded_session import ReplayedSession
from tests.host.journals import GOLDEN, session_of
from tests.host.reports import report_of

SVG: Final = "{http://www.w3.org/2000/svg}"
UNITS_PER_OCTAVE: Final = 60.0
UNITS_PER_DB: Final = 3.0
UNITS_AT_0_DB: Final = 38.0
SYMBOL_UNITS: Final = 7.5
CLEAR_UNITS: Final = 12.4  # a tone nearer to a symbol than this stands so far beside it
AXIS_PX, SIGN_PX = 14.5, 17.0

Point = tuple[float, float]

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]


def report(name: str) -> SessionReport:
    return report_of(session_of(GOLDEN / f"{name}.journal"))


def replay_of(found: SessionReport) -> ReplayedSession:
    assert isinstance(found.session, ReplayedSession)
    return found.session


def with_ears(found: SessionReport, *ears: EarResult) -> SessionReport:
    """Return a report of these ears."""
    result = replace(found.source.result, ears=ears)
    return replace(found, source=replace(found.source, result=result))


def with_thresholds(found: SessionReport, **changes: Any) -> SessionReport:
    """Return a report whose thresholds are changed alike."""
    ears = (
        replace(ear, thresholds=tuple(replace(t, **changes) for t in ear.thresholds))
        for ear in found.source.result.ears
    )
    return with_ears(found, *ears)


class Drawing:
    """The audiogram of an ear as it is on paper."""

    def __init__(self, ear: EarResult, found: SessionReport) -> None:
        text = drawing_js.svg_for_paper(found.audiogram(ear), found.drawing_words)
        self.svg = ElementTree.fromstring(text)
        self.style = self.svg.findtext(f"{SVG}style", "")

    def of_class(self, name: str) -> list[ElementTree.Element]:
        return [each for each in self.svg.iter() if name in each.get("class", "").split()]

    @property
    def thresholds(self) -> dict[int, ElementTree.Element]:
        return {int(each.get("data-frequency-hz", "")): each for each in self.of_class("threshold")}

    @property
    def tones(self) -> dict[int, ElementTree.Element]:
        return {int(each.get("data-number", "")): each for each in self.of_class("tone")}

    def texts(self) -> list[str]:
        return [each.text or "" for each in self.svg.iter(f"{SVG}text")]


def place(mark: ElementTree.Element) -> Point:
    x, y = re.findall(r"-?[\d.]+", mark.get("transform", ""))
    return float(x), float(y)


def layer(mark: ElementTree.Element, name: str = "symbol") -> list[list[float]]:
    """Return the numbers of the paths of a mark."""
    paths = [each.get("d", "") for each in mark if each.get("class") == name]
    return [[float(number) for number in re.findall(r"-?[\d.]+", path)] for path in paths]


def symbol(path: str, x: float = 1.0, y: float = 1.0) -> Any:
    """Return the numbers of a path of the table as they are drawn, to a tenth of a unit."""
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
    turned = [number * (y if i % 2 else x) * SYMBOL_UNITS for i, number in enumerate(numbers)]
    return pytest.approx(turned, abs=0.0501)


def drawings(found: SessionReport) -> list[Drawing]:
    return [Drawing(ear, found) for ear in found.source.ears]


def test_an_octave_is_as_wide_as_20_db_and_level_goes_downward() -> None:
    """A symbol stands at its threshold, a tone where it was, or at its level beside a symbol."""
    found = report("left-ear-s2")
    (drawing,) = drawings(found)
    symbols = [place(each) for each in drawing.thresholds.values()]
    x_500, _ = place(drawing.thresholds[500])
    by_hz = {t.frequency_hz: t.threshold_db_hl or 0.0 for t in found.source.ears[0].thresholds}
    for hz, symbol_at in zip(drawing.thresholds, symbols, strict=True):
        own = (
            x_500 + UNITS_PER_OCTAVE * math.log2(hz / 500),
            UNITS_AT_0_DB + UNITS_PER_DB * by_hz[hz],
        )
        assert symbol_at == pytest.approx(own, abs=0.11)
    shifts = []
    for tone in replay_of(found).trials:
        if tone.frequency_hz is None or tone.level_db_hl is None:
            continue
        x, y = place(drawing.tones[tone.number])
        wanted = x_500 + UNITS_PER_OCTAVE * math.log2(tone.frequency_hz / 500.0)
        assert y == pytest.approx(UNITS_AT_0_DB + UNITS_PER_DB * tone.level_db_hl, abs=0.051)
        near = [
            at for at, level in symbols
            if abs(at - wanted) < CLEAR_UNITS and abs(level - y) < CLEAR_UNITS
        ]  # fmt: skip
        shifts.append(x - wanted)
        inward = near[0] - CLEAR_UNITS - wanted if near else 0.0  # of a left ear
        assert shifts[-1] == pytest.approx(inward, abs=0.11)
    assert 0 < sum(shift < -6.0 for shift in shifts) < len(shifts)


@pytest.mark.parametrize("name", ["left-ear-s2", "both-ears-n3"])
def test_no_band_is_drawn_beyond_the_frequencies_that_have_a_threshold_or_a_tone(name: str) -> None:
    """The posterior reaches down to 125 Hz, where nothing was asked; the picture does not."""
    found = report(name)
    for ear, drawing in zip(found.source.ears, drawings(found), strict=True):
        told = found.audiogram(ear)
        (mine,) = told["ears"]
        known_hz = [*mine["asked_hz"], *(each["frequency_hz"] for each in mine["thresholds"])]
        assert min(mine["curve"]["frequencies_hz"]) < min(known_hz)
        (band,) = (each for each in drawing.of_class("faint") if "band" in each.get("class", ""))
        (own,) = (each for each in drawing.svg.iter() if band in each)
        clip = own.get("clip-path", "").removeprefix("url(#").removesuffix(")")
        (shape,) = (each for each in drawing.svg.iter() if each.get("id") == clip)
        (rectangle,) = shape
        left, width = float(rectangle.get("x", "")), float(rectangle.get("width", ""))
        x_1000, _ = place(drawing.thresholds[1000])
        ends = [x_1000 + UNITS_PER_OCTAVE * math.log2(hz / 1000.0) for hz in known_hz]
        assert (left, left + width) == pytest.approx((min(ends), max(ends)), abs=0.11)


@pytest.mark.parametrize("masking", list(MaskingMark))
def test_right_is_red_and_left_blue_with_the_symbols_of_the_table(masking: MaskingMark) -> None:
    found = report("both-ears-n3")
    found = with_thresholds(found, mark="measured", masking=masking)
    for drawing, ear in zip(drawings(found), found.source.ears, strict=True):
        assert len(drawing.thresholds) == 10
        for mark in drawing.thresholds.values():
            path = symbol_table()["symbols"][str(ear.route)][masking]["path"]
            assert layer(mark) == layer(mark, "halo") == [symbol(path)]
        assert f".symbol {{ fill: none; stroke: {EAR_COLOURS[ear.route.ear]};" in drawing.style
        stars = 10 if masking == MaskingMark.UNCERTAIN else 0
        assert sum("*" in text for text in drawing.texts()) == stars


def test_no_tone_lies_on_a_symbol() -> None:
    found = report("both-ears-n3")
    for drawing in drawings(found):
        assert min(len(drawing.thresholds), len(drawing.tones)) > 5
        for mark, tone in itertools.product(drawing.thresholds.values(), drawing.tones.values()):
            (x, y), (tone_x, tone_y) = place(mark), place(tone)
            assert max(abs(x - tone_x), abs(y - tone_y)) >= CLEAR_UNITS - 0.11
        in_order = [each.get("class", "") for each in drawing.svg]
        last = [name.split()[0] for name in in_order if name.startswith(("tones", "thresholds"))]
        assert last == ["tones", "thresholds"]


def test_no_response_has_an_arrow_downward_at_the_limit_and_no_line(deaf_ear: Path) -> None:
    found = report_of(session_of(deaf_ear))
    (drawing,) = drawings(found)
    by_mark = {
        mark: {t.frequency_hz for t in found.source.ears[0].thresholds if t.mark == mark}
        for mark in ("no-response", "incomplete")
    }
    arrowed = {hz: mark for hz, mark in drawing.thresholds.items() if len(layer(mark)) == 2}

    assert len(by_mark["no-response"]) > 5
    assert by_mark["incomplete"] == {250}, "perhaps beyond its limit: a question mark says so"
    assert arrowed.keys() == by_mark["no-response"] | by_mark["incomplete"]
    assert not drawing.of_class("join")
    down_and_right = symbol(
        symbol_table()["arrows"]["path"], symbol_table()["ears"]["left"]["side"]
    )
    for mark in arrowed.values():
        assert place(mark)[1] == UNITS_AT_0_DB + UNITS_PER_DB * 100.0
        assert layer(mark)[1] == down_and_right
    assert drawing.texts().count("?") == 1


@pytest.mark.parametrize("mark", ["incomplete", "never-heard-of"])
def test_what_is_not_sure_has_a_question_mark(mark: str) -> None:
    found = report("left-ear-s2")
    unsure = with_thresholds(found, mark=mark, threshold_db_hl=None, limit_db_hl=90.0)
    (drawing,) = drawings(unsure)
    assert len([text for text in drawing.texts() if text.startswith("?")]) == 10


def test_heard_unsure_and_not_heard_differ_without_colour() -> None:
    found = report("two-buttons")
    (drawing,) = drawings(found)
    expected = {True: "heard", None: "unsure", False: "silent"}
    tones = [t for t in replay_of(found).trials if t.frequency_hz is not None]

    assert {t.heard for t in tones} == {True, None, False}
    for trial in tones:
        mark = drawing.tones[trial.number]
        assert mark.get("class") == f"tone {expected[trial.heard]}"
        assert any(each.get("class") == "half" for each in mark) == (trial.heard is None)
    assert re.search(r"\.tone path, [^{]*\{ fill: none;", drawing.style)
    assert re.search(r"\.tone\.heard path, [^{]*path\.half \{ fill: #222222; \}", drawing.style)


def boxes(drawing: Drawing) -> Iterator[tuple[str, Bbox]]:
    """Yield the words that are not turned, with where they stand."""
    parents = {child: parent for parent in drawing.svg.iter() for child in parent}
    for text in drawing.svg.iter(f"{SVG}text"):
        if text.get("class") == "watermark":
            continue
        sign = text.get("class") == "sign"
        shape = TextPath((0, 0), text.text or "", size=SIGN_PX if sign else AXIS_PX).get_extents()
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        if sign:
            at_x, at_y = place(parents[text])
            x, y = x + at_x, y + at_y
        x -= {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor", "")] * shape.width
        yield text.text or "", Bbox.from_bounds(x, y - shape.y1, shape.width, shape.height)


def test_a_sign_stands_beside_its_symbol_away_from_the_arrow() -> None:
    found = report("both-ears-n3")
    for drawing, ear in zip(
        drawings(with_thresholds(found, mark="measured", low_db_hl=0.0, high_db_hl=90.0)),
        found.source.ears,
        strict=True,
    ):
        signs = drawing.of_class("sign")
        assert len(signs) == 10
        inward = {"right": ("start", 1.0), "left": ("end", -1.0)}[ear.route.ear]
        for sign in signs:
            x = float(sign.get("x", ""))
            assert abs(x) >= SYMBOL_UNITS
            assert (sign.get("text-anchor"), math.copysign(1.0, x)) == inward


@pytest.mark.parametrize("name", ["both-ears-n3", "silent-ear"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_words_of_an_audiogram_overlap_or_leave_it(name: str, language: str) -> None:
    found = report_of(session_of(GOLDEN / f"{name}.journal"), language)
    drawing = drawings(found)[0]
    _, _, width, height = map(float, drawing.svg.get("viewBox", "").split())
    written = [*boxes(drawing)]

    assert f"font-size: {AXIS_PX:g}px" in drawing.style
    assert f"font-size: {SIGN_PX:g}px" in drawing.style
    assert len(written) > 20
    for words, box in written:
        assert box.x0 >= 0.0, words
        assert box.x1 <= width, words
        assert box.y0 >= 0.0, words
        assert box.y1 <= height, words
    assert [
        (a, b) for (a, box), (b, other) in itertools.combinations(written, 2) if box.overlaps(other)
    ] == []


def test_what_was_inferred_has_no_symbol_and_a_pale_band() -> None:
    found = report("both-ears-n3")
    for drawing, ear in zip(drawings(found), found.source.ears, strict=True):
        for t in ear.thresholds:
            assert (t.frequency_hz in drawing.thresholds) == (t.mark != "inferred")
        assert drawing.of_class("inferred")
        assert len(drawing.of_class("band")) == 2
        assert re.search(r"\.band \{[^}]*fill-opacity: 0\.15;", drawing.style)
        assert re.search(r"\.band\.faint \{[^}]*fill-opacity: 0\.06;", drawing.style)
        (clip,) = [
            each for each in drawing.svg.iter(f"{SVG}clipPath")
            if each.get("id", "").endswith(ear.route.ear)
        ]  # fmt: skip
        spans = [(float(r.get("x", "")), float(r.get("width", ""))) for r in clip]
        x_1000, _ = place(drawing.thresholds[1000])
        assert found.audiogram(ear)["ears"][0]["asked_hz"]
        half = UNITS_PER_OCTAVE * symbol_table()["paper"]["asked_octaves"]
        for (x, width), hz in zip(spans, found.audiogram(ear)["ears"][0]["asked_hz"], strict=True):
            centre = x_1000 + UNITS_PER_OCTAVE * math.log2(hz / 1000.0)
            assert (x, width) == pytest.approx((centre - half, 2.0 * half), abs=0.11)
        for trial in replay_of(found).trials_of(ear.route):
            if trial.purpose == "measure" and trial.frequency_hz is not None:
                at = x_1000 + UNITS_PER_OCTAVE * math.log2(trial.frequency_hz / 1000.0)
                assert any(x - 3.0 <= at <= x + width + 3.0 for x, width in spans)


def test_levels_of_discomfort_have_a_bracket_each_and_a_bound_an_arrow() -> None:
    found = report("left-ear-s2")
    course = replace(found.source.course, discomfort=told_of_words("left 1000:95 2000:>110"))
    changed = replace(found, source=replace(found.source, course=course))
    (drawing,) = drawings(changed)
    measured, bound = drawing.of_class("discomfort")

    x_1000, _ = place(drawing.thresholds[1000])
    assert place(measured) == (x_1000, UNITS_AT_0_DB + UNITS_PER_DB * 95.0)
    assert place(bound)[1] == UNITS_AT_0_DB + UNITS_PER_DB * 110.0
    bracket = symbol(symbol_table()["discomfort"]["path"])
    assert layer(measured) == [bracket]
    assert layer(bound) == [bracket, symbol(symbol_table()["arrows"]["path"])]
    legend = {mark for mark, _ in legend_of(changed.source)}
    assert ("discomfort",) in legend - {mark for mark, _ in legend_of(found.source)}


def test_what_was_confirmed_has_a_bar_at_its_level() -> None:
    found = report("left-ear-s2")
    (ear,) = found.source.ears
    again = ConfirmedThreshold(1000, 35.0, Outcome.MEASURED, 9)
    changed = with_ears(found, replace(ear, confirmed=(again,)))
    (drawing,) = drawings(changed)
    (bar,) = drawing.of_class("confirmed")

    x_1000, _ = place(drawing.thresholds[1000])
    assert place(bar) == (x_1000, UNITS_AT_0_DB + UNITS_PER_DB * 35.0)
    assert layer(bar) == [symbol(symbol_table()["confirmed"]["path"])]


def test_a_threshold_less_sure_than_wanted_is_marked() -> None:
    found = report("both-ears-n3")
    one, other = found.source.result.ears
    first, *others = one.thresholds
    wide = replace(first, low_db_hl=0.0, high_db_hl=90.0)
    changed = with_ears(found, replace(one, thresholds=(wide, *others)), other)

    assert sorted(each.texts().count("~") for each in drawings(changed)) == [0, 1]
    assert [each.texts().count("~") for each in drawings(found)] == [0, 0]


def test_words_cannot_become_a_part_of_the_drawing() -> None:
    found = report("left-ear-s2")
    data = found.audiogram(found.source.ears[0])
    words = '</text><path d="&'
    svg = ElementTree.fromstring(drawing_js.svg_for_paper(data | {"watermark": words}, {}))
    assert words in [each.text for each in svg.iter(f"{SVG}text")]


MARKS: Final = (
    *(("symbol", route, masking) for route in symbol_table()["symbols"]
      for masking in symbol_table()["symbols"][route]),
    ("band",), ("pale",), ("bar",), ("line", "inferred"), ("line", "norm"), ("confirmed",),
    ("discomfort",),
    ("tone", "heard"), ("tone", "unsure"), ("tone", "not-heard"), ("beside",), ("retest",),
    ("arrow", "right"), ("arrow", "left"), ("limit",), ("sign", "uncertain"), ("sign", "wide"),
)  # fmt: skip


def test_every_mark_of_a_legend_is_a_drawing_of_its_own_or_a_sign() -> None:
    drawn = {mark: draw_mark(mark) for mark in MARKS}
    for name, mark in drawn.items():
        if name[0] == "sign":
            assert character_of(name).startswith(mark)
            assert len(mark) == 1
        else:
            assert ElementTree.fromstring(mark).tag.endswith("}svg")
    assert len({*drawn.values()}) >= len(MARKS) - len(symbol_table()["symbols"])


def test_in_characters_a_mark_is_what_the_audiogram_has_or_nothing() -> None:
    drawn = {mark: text for mark in MARKS if (text := character_of(mark))}
    assert {kind for kind, *_ in drawn} == {"symbol", "band", "line", "arrow", "sign"}
    assert ("line", "norm") not in drawn
    symbols = {mark: text for mark, text in drawn.items() if mark[0] == "symbol"}
    assert len({*symbols.values()}) == len(symbols) > 0
    assert symbols["symbol", "left", MaskingMark.MASKED.value] == "#"
    assert drawn["sign", "uncertain"].split() == ["*", "o", "x", "(", ")"]


def test_the_legend_in_characters_says_what_each_mark_means(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = report("masked")
    show_paper(Console(width=300), found.paper, found.in_characters())
    (legend,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("O "))
    say = found.shown.say
    told = ("# ", row("mark-masked")), (": ", row("mark-band")), ("i ", row("mark-inferred"))
    assert [sign for sign, meaning in told if f"{sign}{say(meaning)}" not in legend] == []
    assert say(row("mark-pale")) not in legend
