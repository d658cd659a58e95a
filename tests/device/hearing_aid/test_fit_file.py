"""A fit comes back from its file as it was, and no file brings a value that no aid may get."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from device.hearing_aid.fit import Fit, FitError
from device.hearing_aid.fit_file import (
    BYTES_MAX,
    checksum,
    fit_digest,
    fit_of_text,
    fit_text,
    read_fit,
    write_fit,
)
from device.hearing_aid.for_whom import Code, EarFinding
from device.hearing_aid.whose import Whose
from firmware_py.comparisons.space import Setting
from tests.budget import examples
from tests.device.hearing_aid.fits import fits, plain_fit


@budget(max_examples=examples(40))
@given(fit=fits())
def test_a_fit_comes_back_as_it_was(fit: Fit) -> None:
    assert fit_of_text(fit_text(fit).encode()) == fit


def test_a_file_comes_back_and_has_a_digest(tmp_path: Path) -> None:
    path = tmp_path / "aid.fit"
    fit = plain_fit().tune(Setting(tilt_db=3.0))
    write_fit(path, fit)

    assert read_fit(path) == fit
    assert fit_digest(read_fit(path)) == fit_digest(fit)
    other = replace(fit, rule="drawn", source="session-000002.journal", of=Whose("P-B"),
                    for_whom=(EarFinding("left", Code.NORMAL),))  # fmt: skip
    assert fit_digest(other) == fit_digest(fit), "it sounds the same, whose ever it is"
    assert fit_digest(plain_fit()) != fit_digest(fit)
    assert [each.name for each in tmp_path.iterdir()] == ["aid.fit"]


def alter(change: Any, sum_again: bool = True) -> bytes:
    """Return the text of a fit after a change, with the checksum that belongs to it."""
    whole = json.loads(fit_text(plain_fit()))
    change(whole)
    if sum_again:
        whole["checksum"] = checksum(whole["fit"])
    return json.dumps(whole).encode()


def put(*way: str | int, value: object) -> Any:
    def change(whole: Any) -> None:
        *to, last = way
        for step in to:
            whole = whole[step]
        whole[last] = value

    return change


FINDING = {"ear": "left", "code": "inaudible", "frequencies_hz": [4000.0], "probabilities": [0.9]}
BAND = ("fit", "ears", 0, "bands", 0)


def finding(differs: dict[str, Any]) -> Any:
    return put("fit", "for_whom", value=[FINDING | differs])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("version", value=1), "version is 1; allowed is 3: made by another gp-pta"),
        (put("fit", "of", value=None), "of is None; allowed is an object of person, session"),
        (put("fit", "of", "person", value="a b"), "identifier is 'a b'; allowed are 1 to 32"),
        (put("fit", "of", "session", value=0), "of.session is 0; allowed are whole numbers"),
        (put("fit", "of", "boards", value={"left": "x"}), "of.boards is "),
        (put("fit", "of", "calibration", value=1), "of.calibration is 1; allowed is a text"),
        (put("fit", "for_whom", value=[7]), "for_whom[0] is 7; allowed is an object of ear, c"),
        (finding({"code": "young"}), "for_whom[0].code is 'young'; allowed are not-judged"),
        (finding({"ear": "both"}), "for_whom[0].ear is 'both'; allowed are left, right"),
        (finding({"probabilities": [2.0]}), "[0] is 2.0; allowed are numbers from 0 to 1"),
        (finding({"frequencies_hz": [20_001.0]}), "20001.0; allowed are numbers from 0 to 20000"),
        (finding({"probabilities": [1.0, 1.0]}), "probabilities are 2; allowed are none, or 1,"),
        (put("version", value=None), "version is None"),
        (put("format", value="x"), "this is no fit: its field \"format\" is not 'gp-pta fit'"),
        (put("more", value=1), "allowed is an object of format, version, checksum, fit"),
        (put("fit", value=[]), "fit is []; allowed is an object of rule, source"),
        (put("fit", "ears", value=[]), "ears is (); allowed are one or two"),
        (put("fit", "ears", value={}), "ears is {}; allowed is a list"),
        (put("fit", "ears", value=[1]), "an ear is 1; allowed is an object of ear"),
        (put("fit", "rule", value=1), "rule is 1; allowed is a text"),
        (put("fit", "uncertainty_db", value={}), "uncertainty_db is []; allowed is an object of"),
        (put("fit", "input_levels_db_spl", value=[0]), "allowed are 0 to 120 by 5"),
        (put("fit", "ears", 0, "ear", value=["left"]), "ear is ['left']; allowed are left, right"),
        (put(*BAND, value=None), "a band is None; allowed is an object of center_hz"),
        (put(*BAND, "output_max_db_spl", value=10**400), "allowed are numbers from 0 to 111"),
        (put(*BAND, "gain_max_db", value=1e300), "is 1e+300; allowed are numbers from 0 to 80 dB"),
        (put(*BAND, "gains_db", value=[20.0] * 1000), "allowed is a list that is not too long"),
        (put(*BAND, "gains_db", 3, value="20"), "is '20'; allowed are numbers"),
        (put(*BAND, "gains_db", 3, value=None), "is None; allowed are numbers"),
        (put(*BAND, "gains_db", 3, value=51.0), "at 15 dB SPL is 51.0; allowed are numbers from 0"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_refused_with_what_is_allowed(change: Any, said: str) -> None:
    with pytest.raises(FitError, match=re.escape(said)):
        fit_of_text(alter(change))


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_of_json_is_refused(constant: str) -> None:
    content = fit_text(plain_fit()).replace("50.0", constant, 1).encode()
    with pytest.raises(FitError, match=f"this is no fit: {constant} is no number of JSON"):
        fit_of_text(content)


NESTED = b'{"format": "gp-pta fit", "version": 3, "checksum": "", "fit": %b}'
DEPTHS = [*range(1, 20), *range(800, 1000, 7)]


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff\xfe", b"[]", b"null", b"[" * 100_000, b'{"format":' * 20_000, b"9" * 10_000,
        b'{"format": "gp-pta fit", "version": 3}',
        *(NESTED % (b"[" * depth + b"]" * depth) for depth in DEPTHS),
        *(NESTED % (b'{"a":' * depth + b"1" + b"}" * depth) for depth in DEPTHS),
    ],
    ids=lambda content: str(len(content)),
)  # fmt: skip
def test_what_is_no_fit_is_refused(content: bytes) -> None:
    with pytest.raises(FitError):
        fit_of_text(content)


@budget(max_examples=examples(100))
@given(at=st.integers(0), bit=st.integers(0, 7))
def test_a_damaged_file_is_refused_or_says_the_same(at: int, bit: int) -> None:
    fit = plain_fit()
    content = bytearray(fit_text(fit).encode())
    content[at % len(content)] ^= 1 << bit
    try:
        found = fit_of_text(bytes(content))
    except FitError:
        return
    assert found == fit  # only a space has changed


def test_what_was_changed_by_hand_says_so() -> None:
    content = alter(put(*BAND, "gains_db", 3, value=25.0), sum_again=False)
    with pytest.raises(FitError, match="damaged, or changed by hand: its checksum is '"):
        fit_of_text(content)


def test_a_file_that_is_too_large_is_no_fit(tmp_path: Path) -> None:
    (tmp_path / "large.fit").write_bytes(b" " * (BYTES_MAX + 1))
    with pytest.raises(FitError, match=r"large\.fit: is larger than 200000 bytes: this is no fit"):
        read_fit(tmp_path / "large.fit")


def test_the_largest_fit_has_room() -> None:
    whole = json.loads(fit_text(plain_fit()))
    bands = [each | {"center_hz": 100.0 + k} for k in range(32) for each in
             whole["fit"]["ears"][0]["bands"][:1]]  # fmt: skip
    for ear in whole["fit"]["ears"]:
        ear["bands"] = [band | {"gains_db": [12.3456789012345] * 25} for band in bands]
    whole["checksum"] = checksum(whole["fit"])
    text = json.dumps(whole, indent=1)

    assert len(text) < BYTES_MAX / 2
    assert len(fit_of_text(text.encode()).ears[0].bands) == 32


def test_a_fit_has_another_name_where_the_numbers_of_a_setting_mean_another_thing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = fit_digest(plain_fit())
    monkeypatch.setattr("device.hearing_aid.fit_file.SETTINGS_VERSION", 1)
    assert fit_digest(plain_fit()) != now
