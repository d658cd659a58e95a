"""The room as it is told: what may be told, and which levels follow."""

import pytest

from firmware_py.terms.record_checks import ResultError
from firmware_py.terms.room import OFFICE, SPEECH, dba_of, room_by_bands, room_of, room_of_words


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
        ("0:30;500:22", None, None, "frequency is 0.0; allowed are numbers from 20 to 20000 Hz"),
        ("-500:60;500:20", None, None, "frequency is -500.0; allowed are"),
        ("nan:60;500:20", None, None, "frequency is nan; allowed are"),
        ("500:22;500:60", None, None, "'500:22;500:60'; allowed is each frequency once"),
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
