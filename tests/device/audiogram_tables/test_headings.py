"""A heading means what people mean by it; one that is nearly known is no other column."""

import pytest

from device.audiogram_tables.headings import frequency_of, heading_of, nearly, side_of

THRESHOLDS = {
    "t500": ("", "air", 500), "T8000": ("", "air", 8000), "500": ("", "air", 500),
    "t6k": ("", "air", 6000), "t8000.0": ("", "air", 8000), "t 1,000 Hz": ("", "air", 1000),
    "R500": ("right", "air", 500), "500L": ("left", "air", 500), "RT 500": ("right", "air", 500),
    "L AC 500 Hz": ("left", "air", 500), "0.5kHz Right": ("right", "air", 500),
    "AC_R_500": ("right", "air", 500), "right_500_hz_db_hl": ("right", "air", 500),
    "Threshold at 4 kHz (left ear)": ("left", "air", 4000), "0,5 kHz rechts": ("right", "air", 500),
    "Izquierdo 500 Hz": ("left", "air", 500),
    "AUXU1K1R": ("right", "air", 1000), "auxu8kl": ("left", "air", 8000),
    "b500": ("", "bone", 500), "bone500": ("", "bone", 500), "R BC 500": ("right", "bone", 500),
    "bcl500": ("left", "bone", 500), "t1000_retest": ("", "air", 1000),
}  # fmt: skip


@pytest.mark.parametrize("text", THRESHOLDS)
def test_a_frequency_with_an_ear_and_a_route_is_a_column_of_thresholds(text: str) -> None:
    found = heading_of(text)

    assert found is not None
    assert (found.role, found.again) == ("threshold", "retest" in text)
    assert (found.side, found.route, found.frequency_hz) == THRESHOLDS[text]


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("No_Response", "no_response"), ("NR", "no_response"), ("no response left", "no_response"),
        ("Patient ID", "subject"), ("SEQN", "subject"), ("Name", "subject"), ("visit", "session"),
        ("Ear", "ear"), ("test ear", "ear"), ("Frequency (Hz)", "frequency"), ("kHz", "frequency"),
        ("Threshold (dB HL)", "level"), ("Left", "level"), ("Age (years)", "age"),
        ("RIAGENDR", "sex"), ("Gender", "sex"), ("conduction", "route"), ("Alter", "age"),
        ("Geschlecht", "sex"), ("Leeftijd", "age"), ("Ohr", "ear"), ("Oído", "ear"),
        ("Frequenz (Hz)", "frequency"), ("Links", "level"), ("Derecho", "level"),
    ],
)  # fmt: skip
def test_other_columns_are_known_by_their_words(text: str, role: str) -> None:
    found = heading_of(text)
    assert found is not None
    assert found.role == role


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("t8O00", "t8000"), ("tl000", "t1000"), ("L 5oo", "L500"), ("t500²", "t500"),
        ("t0.5", "t500"), ("t1", "t1000"), ("0.5", "t500"), ("t50", "t500"), ("x500", "t500"),
        ("t1000.1", "t1000"), ("treshold 500", "t500"), ("t500 t1000", "t500"),
        ("No_Respons", "no_response"), ("not heard", "no_response"), ("frequenzy", "frequency"),
        ("AUXU5OOR", "AUXU500R"), ("t1000_retest2", "t1000"),
    ],
)  # fmt: skip
def test_one_that_is_nearly_known_means_nothing_and_has_a_suggestion(text: str, meant: str) -> None:
    assert heading_of(text) is None
    assert nearly(text) == meant


@pytest.mark.parametrize(
    "text", ["mode", "notes", "PTA4", "UCL 500", "visit2", "q1", "1", "SRT", "R 500 masked", "year"]
)
def test_what_has_nothing_to_do_with_thresholds_is_neither(text: str) -> None:
    assert heading_of(text) is None
    assert nearly(text) == ""


def test_cells_name_ears_routes_and_frequencies() -> None:
    assert side_of("R") == side_of("right ear") == ("right", "air")
    assert side_of("Left-bone") == ("left", "bone")
    assert side_of("BC") == ("", "bone")
    assert [side_of(word) for word in ("X", "", "both", "left right")] == [None] * 4
    assert [frequency_of(text) for text in ("500", "500 Hz", "0.5 kHz", "500.0", "1,000 Hz")] == [
        500.0, 500.0, 500.0, 500.0, 1000.0
    ]  # fmt: skip
    assert frequency_of("0,5", kilo=True) == 500.0
    assert [frequency_of(text) for text in ("0.5", "8", "", "high", "500 1000", "60000")] == [
        None
    ] * 6
