"""Who is tested: age and sex, checked, and handed to the estimator of each ear."""

import unicodedata
from collections.abc import Callable
from typing import Any, Final

import pytest

from firmware_py.ear import ear as ear_test
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.person import UNKNOWN, Person, compose
from firmware_py.terms.settings import SettingError, Settings

ALLOWED: Final = "1 to 32 letters and digits of any script, - and _"


def refusal(make: Callable[..., Person] = Person, **values: Any) -> str:
    with pytest.raises(SettingError) as caught:
        make(**values)
    return str(caught.value)


@pytest.mark.parametrize("age_years", [None, 0, 0.0, 67, 67.5, 120])
@pytest.mark.parametrize("sex", [None, "F", "M"])
def test_what_is_allowed_is_kept(age_years: float | None, sex: Any) -> None:
    record = Person(age_years, sex).as_record()

    assert record == {"age_years": age_years, "sex": sex, "identifier": None}
    assert Person(**record) == Person(age_years, sex)


@pytest.mark.parametrize(
    "identifier",
    ["P-17", "a", "0", "_", "-", "x" * 32, "Zoë", "Иванов-3", "患者7", "محمد_٣", "अनीता", "Ωμέγα",
     "ก่อน", "각", "x\u0323\u0301", "𠮷" * 32],
)  # fmt: skip
def test_an_identifier_is_kept(identifier: str) -> None:
    assert Person(identifier=identifier).as_record()["identifier"] == identifier


@pytest.mark.parametrize(
    ("name", "allowed", "values"),
    [
        ("age_years", "numbers from 0 to 120 years",
         [-1, -0.001, 120.5, float("nan"), float("inf"), "67", True, [67]]),
        ("sex", "F and M", ["f", "X", "", "female", 1, ["F"]]),
        ("identifier", ALLOWED, ["", "x" * 33, "患" * 33, 7, ["P-17"], b"P-17"]),
    ],
)  # fmt: skip
def test_another_value_is_refused_with_what_is_allowed(
    name: str, allowed: str, values: list[Any]
) -> None:
    for value in values:
        assert refusal(**{name: value}) == f"{name} is {value!r}; allowed are {allowed}"


@pytest.mark.parametrize(
    ("identifier", "code"),
    [
        ("a b", "0020"), ("../x", "002E"), ("a/b", "002F"), ("a\n", "000A"), ("\0", "0000"),
        ("=1+1", "003D"), ("a;b", "003B"), ("a,b", "002C"), ("a\x1b[2J", "001B"), ("a¹", "00B9"),
        ("½", "00BD"), ("a😀", "1F600"), ("a\ud800", "D800"), ("a\ue000", "E000"),
        # What turns the direction of writing, and what is not seen.
        ("a\u202eb", "202E"), ("a\u2066b", "2066"), ("a\u200fb", "200F"), ("a\u200bb", "200B"),
        ("a\u200db", "200D"), ("a\u00adb", "00AD"), ("a\ufeff", "FEFF"), ("a\u3000b", "3000"),
        ("a\u034f", "034F"), ("a\u115f", "115F"), ("ᄀ\u1160", "1160"), ("a\u3164", "3164"),
        ("a\uffa0", "FFA0"), ("ក\u17b4", "17B4"), ("ᠠ\u180b", "180B"), ("a\ufe0f", "FE0F"),
        ("a\U000e0100", "E0100"), ("a\U000e0041", "E0041"), ("\U000e0fff", "E0FFF"),
        ("a\u2800", "2800"), ("a\u20e3", "20E3"),
        # A mark on nothing, or on a joint.
        ("\u0301a", "0301"), ("a-\u0332", "0332"), ("a_\u0301", "0301"),
    ],
)  # fmt: skip
def test_a_character_that_is_not_allowed_is_named(identifier: str, code: str) -> None:
    words = f"identifier is {identifier!r}; allowed are {ALLOWED}; U+{code} may not stand there"
    assert refusal(identifier=identifier) == words


@pytest.mark.parametrize(
    ("typed", "recorded"),
    [("Zoe\u0308", "Zoë"), ("\u1100\u1161\u11a8", "각"), ("\u212b", "Å"), ("x\u0301\u0323",
     "x\u0323\u0301"), ("P-17", "P-17")],
)  # fmt: skip
def test_the_same_letters_are_the_same_identifier_however_they_were_typed(
    typed: str, recorded: str
) -> None:
    assert compose(typed) == recorded
    assert Person(identifier=compose(typed)).identifier == recorded
    if typed != recorded:
        assert refusal(identifier=typed).endswith(", in NFC")


@pytest.mark.parametrize("identifier", ["-", "_", "-_-", "-" * 40])
def test_what_looks_like_no_identifier_is_refused_where_it_is_told_and_read_where_it_is_recorded(
    identifier: str,
) -> None:
    words = f"identifier is {identifier!r}; allowed are {ALLOWED}, and at least one letter or digit"
    assert refusal(Person.enter, identifier=identifier) == words
    recorded = {**UNKNOWN.as_record(), "identifier": identifier[:32]}
    assert Person.from_record(recorded).identifier == identifier[:32]


@pytest.mark.parametrize("identifier", ["-1", "_a", "P-", "患", "Zoe\u0308"])
def test_another_identifier_is_told_as_it_is_composed(identifier: str) -> None:
    assert Person.enter(67.0, "F", identifier) == Person(67.0, "F", compose(identifier))
    assert Person.enter() == UNKNOWN


def test_a_letter_that_this_python_does_not_know_yet_is_no_reason_to_refuse_a_record() -> None:
    """It may have been recorded where it was known."""
    assert unicodedata.category("\u0378") == "Cn"
    assert Person(identifier="\u0378").identifier == "\u0378"


def test_the_estimator_of_each_ear_is_told_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, Any]] = []

    def estimator(profile: str, **values: Any) -> None:
        told.append((values["age_years"], values["sex"]))

    monkeypatch.setattr(ear_test, "ThresholdEstimator", estimator)
    HearingTest(Settings(), Person(67.5, "F"))
    HearingTest(Settings())

    assert told == [(67.5, "F")] * 2 + [(None, None)] * 2


@pytest.mark.parametrize("person", [Person(67.0), Person(sex="M")])
def test_a_profile_that_does_not_take_them_is_named(person: Person) -> None:
    with pytest.raises(SettingError, match="profile 'gp-pta-2015'"):
        HearingTest(Settings(profile="gp-pta-2015"), person)
