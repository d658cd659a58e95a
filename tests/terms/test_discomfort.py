"""Levels of discomfort as they are typed: what is one, and what to type in place of what is not."""

import re

import pytest

from firmware_py.terms.discomfort import told_of_words
from firmware_py.terms.record_checks import ResultError


def test_levels_of_both_ears_with_who_measured_them_and_when() -> None:
    told = told_of_words("right 1000:95, L 1000:>110 500:100.5 (Cox, ENT, 2026-11-02)")
    assert {ear: each.words for ear, each in told.items()} == {
        "right": "right 1000:95", "left": "left 500:100.5 1000:>110",
    }  # fmt: skip
    assert {each.about for each in told.values()} == {"Cox, ENT, 2026-11-02"}
    assert (told["left"].source, told["left"].day) == ("Cox, ENT", "2026-11-02")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("right 1000:95 dB SPL", "dB SPL are none: type what the audiometer's dial shows"),
        ("right noise:95", "a level of noise or speech has no frequency"),
        ("1000:95", "discomfort is '1000:95'; allowed are levels of tones in dB HL by frequency"),
        ("right", "discomfort is 'right'; allowed are levels of tones"),
        ("right 1000=95", "is '1000=95'; allowed are levels of tones"),
        ("right 1000:95, right 500:90", "is 'the right ear twice'; allowed is each ear once"),
        ("right 1000:95 1000:90", "frequency_hz is 1000; allowed is each one once"),
        ("right 1000:131", "level_db_hl is 131.0; allowed are numbers from 0 to 130 dB HL"),
        ("right 1000:-5", "level_db_hl is -5.0; allowed are numbers from 0 to 130 dB HL"),
        ("right 800:95", "frequency_hz is 800; allowed are 500, 750, 1000, 1500, 2000, 3000, 4000"),
        ("right 8000:95", "frequency_hz is 8000; allowed are 500,"),
    ],
)
def test_what_is_no_level_is_refused_with_what_to_type(text: str, words: str) -> None:
    with pytest.raises(ResultError, match=re.escape(words)):
        told_of_words(text)
