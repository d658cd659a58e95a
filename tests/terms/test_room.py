"""The room as it is told: what may be told, and which levels follow."""

import math

import pytest

from firmware_py.terms.record_checks import ResultError
from firmware_py.terms.room import (
    BANDS_HZ,
    OFFICE,
    SHAPES_DB,
    SPEECH,
    dba_of,
    room_by_bands,
    room_of,
    room_of_words,
)

# IEC 61672-1: the A-weighting in closed form, with the corners of the standard.
F_1, F_2, F_3, F_4 = 20.6, 107.7, 737.9, 12194.0
THIRDS_HZ = [1000.0 * 2.0 ** (n / 3.0) for n in range(-12, 10)]  # 63 to 8000 Hz


def a_weight_db(f: float) -> float:
    passed = F_4**2 * f**4 / (f**2 + F_1**2) / math.hypot(f, F_2) / math.hypot(f, F_3)
    return 20.0 * math.log10(passed / (f**2 + F_4**2)) + 2.0


def test_an_office_of_40_dba_has_40_dba_over_all_third_octaves() -> None:
    at_1_khz = SHAPES_DB[OFFICE][BANDS_HZ.index(1000)]
    levels_db = [at_1_khz - 5.0 * math.log2(f / 1e3) + a_weight_db(f) for f in THIRDS_HZ]
    total_dba = 10.0 * math.log10(sum(10.0 ** (0.1 * each) for each in levels_db))
    assert total_dba == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize("spectrum", [OFFICE, SPEECH])
@pytest.mark.parametrize("dba", [25.0, 40.0, 63.0])
def test_the_bands_have_about_the_level_that_was_told(dba: float, spectrum: str) -> None:
    assert dba_of(room_of(dba, spectrum).levels_db_spl) == pytest.approx(dba, abs=1.0)


def test_octaves_of_a_meter_are_taken_by_the_nearest_band() -> None:
    octaves = {125.0 * 2.0**n: 40.0 - 5.0 * n for n in range(7)}
    told = room_by_bands(octaves)
    assert told.levels_db_spl == (40.0, 35.0, 30.0, 25.0, 25.0, 20.0, 20.0, 15.0, 15.0, 10.0, 10.0)
    assert told.uncertainty_db == 1.5


def test_a_text_is_dba_or_bands() -> None:
    assert room_of_words("40") == room_of(40.0)
    assert room_of_words("45", SPEECH, 2.0) == room_of(45.0, SPEECH, 2.0)
    text = "125:40;250:35;500:30;1000:25;2000:20;4000:15;8000:10"
    assert room_of_words(text).levels_db_spl[2] == 30.0


@pytest.mark.parametrize(
    ("level", "spectrum", "uncertainty_db", "words"),
    [
        ("9", None, None, "room dba is 9.0; allowed are numbers from 10 to 80 dBA"),
        ("81", None, None, "allowed are numbers from 10 to 80 dBA"),
        ("nan", None, None, "room dba is nan; allowed are numbers"),
        ("loud", None, None, "room is 'loud'; allowed are dBA such as 40, or third octaves"),
        ("500:", None, None, "room is '500:'; allowed are dBA such as 40, or third octaves"),
        ("40", "pink", None, "room spectrum is 'pink'; allowed are office, speech"),
        ("40", None, 0.1, "room uncertainty_db is 0.1; allowed are numbers from 0.5 to 10 dB"),
        ("500:22", OFFICE, None, "room spectrum is 'office'; allowed is none beside third"),
        ("125:30;1000:20", None, None, "'125 Hz, 1000 Hz'; allowed is what has 500 Hz"),
        ("500:22;1000:20", None, None, "'without 125 Hz'; allowed are bands from 125 to 8000"),
        ("500:nan", None, None, "room third_octaves at 500 Hz is nan; allowed are numbers"),
        ("500:200", None, None, "room third_octaves at 500 Hz is 200.0; allowed are numbers"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_allowed(
    level: str, spectrum: str | None, uncertainty_db: float | None, words: str
) -> None:
    with pytest.raises(ResultError, match="allowed") as refused:
        room_of_words(level, spectrum, uncertainty_db)
    assert words in str(refused.value)
