"""A cell says a level, no response up to a limit, or that nothing is known; nothing else."""

import math

import pytest

from device.audiogram_tables.ears import NO_RESPONSE, TableThreshold, merge
from device.audiogram_tables.levels import plain, reading_of


@pytest.mark.parametrize(
    ("cell", "level"),
    [
        ("45", 45.0), ("45.5", 45.5), ("45,5", 45.5), (" -5 ", -5.0), ("−5", -5.0), ("+10", 10.0),
        ("45 dB", 45.0), ("45 dB HL", 45.0), ("45.", 45.0), ("４５", 45.0), ("4\u200b5", 45.0),
        ("1e1", 10.0), ("-30", -30.0), ("140", 140.0),
    ],
)  # fmt: skip
def test_a_level_is_read_however_it_is_written(cell: str, level: float) -> None:
    assert reading_of(cell) == TableThreshold(level)


SILENT = ["NR", "n.r.", "No response", "DNR", "not heard", "666", "666.0"]
LIMITED = [">110", "> 110 dB HL", "110+", "110 NR", "NR110", "NR @ 110", "110 (NR)", "＞110"]
UNKNOWN = ["", "  ", "-", "—", "NA", "n/a", "NT", "CNT", "888", "888.0"]


@pytest.mark.parametrize("cell", [*SILENT, *LIMITED, *UNKNOWN])
def test_no_response_may_have_a_limit_and_what_was_not_measured_is_unknown(cell: str) -> None:
    limit_db_hl = 110.0 if cell in LIMITED else None
    known = None if cell in UNKNOWN else TableThreshold(math.inf, limit_db_hl)
    assert reading_of(cell) == known


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("x", "'x' is not a number of dB HL; a level is written 45"),
        ("45?", "'45?' is not a number"), ("4¹", "'4¹' is not a number"),
        ("<10", "'<10' is not a number"), ("45 dB SPL", "is not a number"),
        ("1.000,5", "is not a number"), ("nan", "nan dB HL, allowed are -30 to 140"),
        ("999", "999 dB HL, allowed are -30 to 140"), ("-31", "-31 dB HL, allowed"),
        (">999", ">999 dB HL, allowed"), ("10 20", "is not a number"),
    ],
)  # fmt: skip
def test_what_is_none_of_these_is_refused_with_how_it_is_written(cell: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"no response NR, or >110 up to a limit") as error:
        reading_of(cell)
    assert words in str(error.value)


def test_of_several_readings_those_heard_count() -> None:
    assert merge(
        (TableThreshold(20.0), TableThreshold(30.0), TableThreshold(math.inf, 110.0))
    ) == TableThreshold(25.0)
    assert merge((TableThreshold(math.inf, 100.0), NO_RESPONSE)) == TableThreshold(math.inf, 100.0)
    assert merge((NO_RESPONSE, NO_RESPONSE)) == NO_RESPONSE


def test_plain_text_has_nothing_that_nobody_sees_and_keeps_what_has_a_meaning() -> None:
    assert plain("\ufeff t\u00a0500\u200b ") == "t 500"
    assert plain("t500²") == "t500²"
    assert plain("Jose\u0301") == plain("Jos\u00e9")
