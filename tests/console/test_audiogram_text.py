"""The audiogram in characters: what is where, nothing outside, a picture to compare with."""

import math
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.console.audiogram_text import draw_audiogram, legend
from firmware_py.terms.outcomes import MaskingMark, Outcome
from firmware_py.terms.results import ThresholdResult
from firmware_py.terms.route import BONE, EARS, ROUTES, Route

RIGHT, LEFT = map(Route, EARS)

WIDTH_MAX = 60
LINES = 28  # the frequencies, and -10 to 120 dB HL by 5 dB
MARKS = ("measured", "no-response", "hears-all", "unreliable", "incomplete")


def threshold_at(frequency_hz: float, level_db_hl: float, sd_db: float = 0.0) -> ThresholdResult:
    low_db_hl, high_db_hl = level_db_hl - 1.96 * sd_db, level_db_hl + 1.96 * sd_db
    return ThresholdResult(
        cast(int, frequency_hz), Outcome.MEASURED, level_db_hl, sd_db, low_db_hl, high_db_hl, None
    )


def threshold_without_number(frequency_hz: float, mark: str) -> ThresholdResult:
    limit_db_hl = {"no-response": 120.0, "hears-all": -10.0}.get(mark)
    return replace(
        threshold_at(frequency_hz, 0.0).without_numbers(Outcome(mark)), limit_db_hl=limit_db_hl
    )


def column(frequency_hz: float) -> int:
    return 6 + round(8 * math.log2(frequency_hz / 125))


def line(level_db_hl: float) -> int:
    return 1 + round((level_db_hl + 10) / 5)


def difference(drawn: list[str]) -> dict[tuple[int, int], str]:
    """Everything that is not in an empty audiogram: line and column, character."""
    empty = draw_audiogram({LEFT: []})
    assert [len(a) for a in drawn] == [len(a) for a in empty]
    return {
        (row, place): character
        for row, (one, other) in enumerate(zip(drawn, empty, strict=True))
        for place, (character, before) in enumerate(zip(one, other, strict=True))
        if character != before
    }


def one_ear(ear: Route, *thresholds: ThresholdResult) -> dict[tuple[int, int], str]:
    return difference(draw_audiogram({ear: thresholds}))


PICTURE = """\
dB HL 125    250     500     1k      2k      4k      8k Hz
  -10 .       ^       .       .       .       .       .
      .       .:      .       .       .       .       .
    0 |-------|X------|-------|-------|-------|-------|-
      .       +:      :       .:      .       .       .
   10 .       .       O       .:      .       .       .
      .       .       :       ::      .       .       .
   20 |-------|-------|-------OX------|-------|-------|-
      .       .       .       ::      :       .       .
   30 .       .       .       +:      :       .       .
      .       .       .       .:      O     : .       .
   40 |-------|-------|-------|-------:-----X-|-------|-
      .       .       .       .       :     : .       .
   50 .       .       .       .       .       :       .
      .       .       .       .       .       :       .
   60 |-------|-------|-------|-------|-------O-------|-
      .       .       .       .       .       :       .
   70 .       .       .       .       .       :       .
      .       .       .       .       .       .       .
   80 |-------|-------|-------|-------|-------|-------|-
      .       .       .       .       .       .       .
   90 .       .       .       .       .       .       .
      .       .       .       .       .       .       .
  100 |-------|-------|-------|-------|-------|-------|-
      .       .       .       .       .       .       .
  110 .       .       .       .       .       .       .
      .       .       .       .       .       .       .
  120 |-------|-------|-------|-------|-------|-------vX"""
PICTURE_LEGEND = "O right   X left   : 95 %, answers   v no response, ? perhaps   ^ all heard"


def test_a_whole_picture() -> None:
    ears = {
        RIGHT: [
            threshold_without_number(250, "hears-all"),
            threshold_at(500, 10.0, 2.0),
            threshold_at(1000, 20.0, 2.0),
            threshold_at(2000, 35.0, 4.0),
            threshold_at(4000, 60.0, 6.0),
            threshold_without_number(8000, "no-response"),
        ],
        LEFT: [
            threshold_at(250, 0.0, 2.0),
            threshold_at(1000, 20.0, 8.0),
            threshold_at(3000, 40.0, 2.0),
            threshold_at(8000, 130.0, 5.0),
        ],
    }
    truth = [(250.0, 5.0), (1000.0, 30.0), (8000.0, math.inf)]

    assert [row.rstrip() for row in draw_audiogram(ears, truth)] == PICTURE.splitlines()
    assert legend(ears) == PICTURE_LEGEND


@pytest.mark.parametrize(
    ("threshold", "levels"),
    [
        (threshold_at(1000, 40.0, 5.1), (30, 35, 40, 45, 50)),  # 1.96 SD are 10 dB
        (replace(threshold_at(1000, 40.0), low_db_hl=35.0, high_db_hl=50.0), (35, 40, 45, 50)),
    ],
)
def test_a_band_goes_as_far_as_95_percent_to_each_side(
    threshold: ThresholdResult, levels: tuple[int, ...]
) -> None:
    assert one_ear(LEFT, threshold) == {
        (line(level), column(1000)): "X" if level == 40 else ":" for level in levels
    }


def test_what_is_perhaps_beyond_the_limit_has_a_question_mark_there() -> None:
    perhaps = replace(threshold_without_number(8000, "incomplete"), limit_db_hl=100.0)

    assert one_ear(LEFT, perhaps) == {(line(100), column(8000)): "?"}


def test_a_symbol_is_never_covered_by_a_band() -> None:
    wide, narrow = threshold_at(1000, 40.0, 20.0), threshold_at(1020, 60.0, 0.1)

    for both in ([wide, narrow], [narrow, wide]):
        assert sorted(one_ear(LEFT, *both).values()).count("X") == 2


@pytest.mark.parametrize("mark", ["unreliable", "incomplete"])
def test_nothing_stands_where_nothing_is_known(mark: str) -> None:
    assert one_ear(RIGHT, threshold_without_number(2000, mark)) == {}


@pytest.mark.parametrize("level_db_hl", [-1e300, -math.inf, -500.0, -10.1, 120.1, 1e300])
def test_a_level_off_the_paper_stands_at_its_edge(level_db_hl: float) -> None:
    edge = -10 if level_db_hl < 0 else 120
    drawn = one_ear(LEFT, threshold_at(1000, level_db_hl, 1.0))

    if math.isfinite(level_db_hl):
        assert drawn[line(edge), column(1000)] == "X"
    assert {row for row, _ in drawn} <= {line(edge), line(edge) + 1, line(edge) - 1}


@pytest.mark.parametrize("frequency_hz", [0.001, 20.0, 124.0, 8800.0, 20_000.0, 1e9])
def test_a_frequency_off_the_paper_stands_at_its_edge(frequency_hz: float) -> None:
    for ears in ([LEFT], [RIGHT, LEFT]):
        drawn = difference(
            draw_audiogram({ear: [threshold_at(frequency_hz, 40.0)] for ear in ears})
        )

        assert {place for _, place in drawn} <= {
            column(125), column(125) + 1, column(8000), column(8000) + 1
        }  # fmt: skip


def test_the_truth_is_behind_what_was_found() -> None:
    drawn = difference(
        draw_audiogram({LEFT: [threshold_at(1000, 40.0)]}, [(1000.0, 40.0), (2000.0, 50.0)])
    )

    assert drawn == {(line(40), column(1000)): "X", (line(50), column(2000)): "+"}


@pytest.mark.parametrize("level_db_hl", [math.inf, -math.inf, math.nan])
def test_a_truth_that_is_no_level_is_not_drawn(level_db_hl: float) -> None:
    assert difference(draw_audiogram({LEFT: []}, [(1000.0, level_db_hl)])) == {}


def test_masked_and_uncertain_thresholds_have_the_symbols_of_clinics() -> None:
    marks = {500: "none", 1000: "masked", 2000: "uncertain"}
    ears = {
        ear: [
            replace(threshold_at(f, 40.0), masking=MaskingMark(mark)) for f, mark in marks.items()
        ]
        for ear in (RIGHT, LEFT)
    }
    row = draw_audiogram(ears)[line(40)]

    assert [row[column(f)] for f in marks] == ["O", "A", "o"]
    assert [row[column(f) + 1] for f in marks] == ["X", "#", "x"]
    assert "A right masked   # left masked   o right or the other ear" in legend(ears)


def test_what_was_inferred_has_its_band_and_none_of_the_symbols() -> None:
    inferred = replace(threshold_at(750, 40.0, 2.0), mark=Outcome.INFERRED)
    drawn = difference(draw_audiogram({RIGHT: [inferred], LEFT: [inferred]}))

    assert set(drawn.values()) == {":", "i"}
    assert drawn[line(40), column(750)] == drawn[line(40), column(750) + 1] == "i"
    assert "i inferred, not asked there" in legend({LEFT: [inferred], RIGHT: []})
    assert "i inferred" not in legend({LEFT: [threshold_at(750, 40.0)]})


def test_bone_stands_outside_air_on_the_side_of_its_ear() -> None:
    """As clinics draw it; what was inferred by bone has no room beside air, and has it alone."""
    found = [threshold_at(1000, 40.0), replace(threshold_at(1500, 40.0), mark=Outcome.INFERRED)]
    by_air = {RIGHT: found[:1], LEFT: found[:1]}
    by_bone = {Route(ear, BONE): found for ear in EARS}
    row = draw_audiogram({**by_bone, **by_air})[line(40)]

    assert row[column(1000) - 1 :][:4] == "<OX>"
    assert "i" not in row
    assert draw_audiogram({LEFT: found, Route("left", BONE): found})[line(40)].count("X>") == 1
    assert one_ear(Route("left", BONE), *found) == {
        (line(40), column(1000)): ">", (line(40), column(1500)): "i",
    }  # fmt: skip


numbers = st.floats(-1e6, 1e6)
thresholds = st.builds(threshold_at, st.floats(1.0, 1e5), numbers, st.floats(0.0, 1e4)) | st.builds(
    threshold_without_number, st.floats(1.0, 1e5), st.sampled_from(MARKS[1:])
)
thresholds |= st.builds(
    lambda *figures: replace(threshold_at(*figures), mark=Outcome.INFERRED),
    st.floats(1.0, 1e5), numbers, st.floats(0.0, 1e4),
)  # fmt: skip


@given(
    st.dictionaries(st.sampled_from(ROUTES), st.lists(thresholds, max_size=12)),
    st.lists(st.tuples(st.floats(1.0, 1e5), st.floats())),
)
def test_whatever_is_drawn_is_so_many_lines_of_ascii(
    ears: dict[Route, list[ThresholdResult]], truth: list[tuple[float, float]]
) -> None:
    drawn = draw_audiogram(ears, truth)

    assert len(drawn) == LINES
    for row in drawn:
        assert len(row) <= WIDTH_MAX
        assert row.isascii()
        assert row.isprintable()
    assert legend(ears).isascii()
