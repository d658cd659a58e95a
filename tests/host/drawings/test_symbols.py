"""One table has the symbols: what draws in characters, in Matplotlib and in JavaScript agrees."""

import re
from typing import Final

import numpy as np
import pytest

from firmware_py.console import audiogram_text as console
from firmware_py.ear.marks import THIRD_OCTAVE
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.route import LEFT, RIGHT, ROUTES, Route
from firmware_py.terms.shown_threshold import Kind
from host_tools import drawing_js
from host_tools.drawings import drawing
from host_tools.drawings.drawing import symbol_table

WITH_ARROW: Final = (Kind.ABOVE, Kind.PERHAPS_ABOVE, Kind.AT_MOST)


def test_no_two_things_have_the_same_character() -> None:
    characters = [route.character(mark) for route in ROUTES for mark in MaskingMark]
    characters += [console.ARROWS[kind] for kind in WITH_ARROW]
    characters += [console.INFERRED, console.TRUTH, ":"]
    assert "   : 95 %, answers" in console.legend({Route(LEFT): []})

    assert len({*characters}) == len(characters) == len(MaskingMark) * len(ROUTES) + 6


def test_the_paper_of_the_console_has_the_numbers_of_the_table() -> None:
    numbers = symbol_table()["paper"]
    assert (
        numbers["top_db_hl"], numbers["bottom_db_hl"],
    ) == (console.TOP_DB_HL, console.BOTTOM_DB_HL)  # fmt: skip
    assert (numbers["first_hz"], numbers["octaves"]) == (console.LOW_HZ, console.OCTAVES)
    # A character is twice as high as wide.
    rows_per_octave = console.COLUMNS_PER_OCTAVE / 2
    assert rows_per_octave * console.ROW_DB == numbers["db_per_octave"]
    assert numbers["asked_octaves"] == pytest.approx(THIRD_OCTAVE)


def test_the_table_has_all_that_a_threshold_can_be() -> None:
    assert symbol_table()["symbols"].keys() == {*map(str, ROUTES)}
    assert symbol_table()["ears"].keys() == {RIGHT, LEFT}
    for by_masking in symbol_table()["symbols"].values():
        assert by_masking.keys() == {*MaskingMark}
    assert symbol_table()["arrows"].keys() == {*WITH_ARROW, "path"}
    assert symbol_table()["signs"]["wide"] == drawing.WIDE_SIGN


def test_arrows_point_outward_and_down_where_nothing_was_heard() -> None:
    tip = [float(word) for word in re.findall(r"-?[\d.]+", symbol_table()["arrows"]["path"])[2:4]]
    for ear, side in ((RIGHT, -1.0), (LEFT, 1.0)):
        for kind, way in ((Kind.ABOVE, 1.0), (Kind.PERHAPS_ABOVE, 1.0), (Kind.AT_MOST, -1.0)):
            turned = (
                symbol_table()["ears"][ear]["side"] * tip[0],
                symbol_table()["arrows"][kind]["way"] * tip[1],
            )
            assert np.sign(turned).tolist() == [side, way]


def test_symbols_as_clinics_have_them() -> None:
    """ISO 8253-1: right O, masked a triangle; left X, masked a square: told by their corners."""

    def corners(ear: str, mark: MaskingMark) -> tuple[int, int, int]:
        path = symbol_table()["symbols"][ear][mark]["path"]
        return path.count("L"), path.count("C"), path.count("Z")

    assert corners(RIGHT, MaskingMark.NOT_MASKED) == (0, 4, 1)
    assert corners(RIGHT, MaskingMark.MASKED) == (2, 0, 1)
    assert corners(LEFT, MaskingMark.NOT_MASKED) == (2, 0, 0)
    assert corners(LEFT, MaskingMark.MASKED) == (3, 0, 1)


def test_the_script_for_a_page_imports_nothing_and_cannot_end_its_element() -> None:
    script = drawing_js.inline_script()
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    assert "</" not in script
    assert 'const TABLE = {"paper":' in script
    for name in drawing_js.NAMES:
        assert re.search(rf"(function|const) {name}\b", script)
