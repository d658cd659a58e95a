"""Reasons: a code with figures, which comes back from a record as it was, or is refused."""

import json
import re
from typing import Any

import numpy as np
import pytest

from firmware_py.terms.reasons import (
    NESTED_MAX,
    UNIT,
    WORDS,
    Code,
    Reason,
    in_nominal_db,
    reason,
    reasons_at,
)
from firmware_py.terms.record_checks import ResultError
from firmware_py.terms.words import NOTHING, SENTENCES, say
from tests.said import example

NARROW = {"code": "narrow-enough", "half_width_db": 4.9, "frequency_hz": 4000}


def test_every_code_has_its_sentence_with_exactly_its_parts() -> None:
    words = {f"{name}-{each}" for name, several in WORDS.items() for each in several}
    codes = {code.word: code for code in Code}
    assert SENTENCES.keys() == codes.keys() | words | {NOTHING}
    assert not codes.keys() & words
    for word, code in codes.items():
        places = re.findall(r"\{(\w+)\}", SENTENCES[word])
        assert sorted({*places} - {UNIT}) == sorted(code.parts), word
        assert (UNIT in places) == code.has_levels, word


@pytest.mark.parametrize("code", Code, ids=lambda code: code.word)
def test_a_reason_comes_back_from_its_record_and_says_if_there_is_no_calibration(
    code: Code,
) -> None:
    told, recorded = in_nominal_db(example(code)), example(code)
    for each in (told, recorded):
        record = json.loads(json.dumps(each.to_record(), allow_nan=False))
        assert Reason.from_record("why", record) == each
    assert [*record] == ["code", *code.parts], "on one level, in the order of the code"
    assert "{" not in say(recorded)
    assert in_nominal_db(told) == told
    assert say(told) == say(recorded).replace("dB HL", "dB (not calibrated)")
    assert (told == recorded) == ("dB HL" not in say(recorded))


def test_numbers_are_rounded_where_they_are_recorded() -> None:
    """As they are said: so a record has the same bytes on every machine."""
    found = reason(Code.NARROW_ENOUGH, half_width_db=np.float64(4.9499), frequency_hz=4000)
    assert json.dumps(found.to_record()) == json.dumps(NARROW)
    assert say(found) == "95 % band at most +-4.9 dB (4000 Hz)"
    again = reason(Code.RETEST_DIFFERS, ear="left", verdict="doubtful", difference_db=-0.4)
    assert json.dumps(again.to_record()["difference_db"]) == "0.0"
    assert say(again).startswith("left ear doubtful: 1 kHz came out +0 dB different")


def test_what_somebody_else_wrote_is_kept_as_it_can_be_printed() -> None:
    assert say(reason(Code.BOARD_LOST, told="a\x1b[2J\nb")) == "a\\x1b[2J\\nb"
    assert say(reason(Code.BOARD_LOST, told="")) == SENTENCES[NOTHING]


def test_the_codes_of_a_reason_are_those_in_it_too() -> None:
    inattentive = reason(Code.INATTENTIVE, signs=[reason(Code.RUN_AWAY, away=4)])
    of_ear = reason(Code.OF_EAR, ear="left", doubt=inattentive)
    assert of_ear.codes == {Code.OF_EAR, Code.INATTENTIVE, Code.RUN_AWAY}


def nest(deep: int) -> dict[str, Any]:
    inner = nest(deep - 1) if deep > 1 else {"code": "cut-short"}
    return {"code": "of-ear", "ear": "left", "doubt": inner}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, "why.code is None; allowed are the "),
        ({"code": "bored"}, "why.code is 'bored'; allowed are the "),
        ({"code": ["cut-short"]}, "why.code is ['cut-short']; allowed are the "),
        ({"code": "cut-short", "ms": 5}, "why is ['code', 'ms']; allowed is an object of code"),
        ({**NARROW, "half_width_db": "4.9"}, "why.half_width_db is '4.9'; allowed are numbers"),
        ({**NARROW, "half_width_db": float("nan")}, "why.half_width_db is nan; allowed are num"),
        ({**NARROW, "frequency_hz": True}, "why.frequency_hz is True; allowed are numbers"),
        ({"code": "not-measured", "ear": "both"}, "why.ear is 'both'; allowed are left, left-bo"),
        ({"code": "aid-lost", "told": 5}, "why.told is 5; allowed is a text"),
        ({"code": "waits-long", "ago": "1 h"}, "why.ago.code is None; allowed are the "),
        ({"code": "several-boards", "boards": "a"}, "why.boards is 'a'; allowed is a list of 1"),
        ({"code": "several-boards", "boards": []}, "why.boards is []; allowed is a list of 1"),
        ({"code": "several-boards", "boards": [1]}, "why.boards[0] is 1; allowed is a text"),
        ({"code": "calibrated", "date": "2026-13-01", "due": "2027-01-01"},
         "why.date is '2026-13-01'; allowed is a date such as "),
        (nest(NESTED_MAX), f"allowed are {NESTED_MAX} reasons in one another"),
    ],
)  # fmt: skip
def test_what_is_no_reason_is_refused_in_words(record: Any, words: str) -> None:
    with pytest.raises(ResultError) as refusal:
        Reason.from_record("why", record)
    assert words in str(refusal.value)


def test_a_reason_is_made_of_all_its_parts_and_no_others() -> None:
    with pytest.raises(ResultError, match=r"'frequency_hz'.*allowed is an object of code, half"):
        reason(Code.NARROW_ENOUGH, frequency_hz=4000)
    with pytest.raises(ResultError, match=r"whys is \{'code': 'cap'\}; allowed is a list of 0"):
        reasons_at("whys", {"code": "cap"})
