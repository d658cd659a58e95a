"""Who is tested: age and sex, checked, and handed to the estimator of each ear."""

from typing import Any

import pytest

from firmware_py.procedure import ear_test
from firmware_py.procedure.hearing_test import HearingTest
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.procedure.settings import SettingError, Settings


@pytest.mark.parametrize("age_years", [None, 0, 0.0, 67, 67.5, 120])
@pytest.mark.parametrize("sex", [None, "F", "M"])
def test_what_is_allowed_is_kept(age_years: float | None, sex: Any) -> None:
    record = Person(age_years, sex).as_record()

    assert record == {"age_years": age_years, "sex": sex, "identifier": None}
    assert Person(**record) == Person(age_years, sex)


@pytest.mark.parametrize(
    "age_years", [-1, -0.001, 120.5, float("nan"), float("inf"), "67", True, [67]]
)
def test_no_age_is_refused_with_what_is_allowed(age_years: Any) -> None:
    with pytest.raises(SettingError) as refusal:
        Person(age_years)

    assert str(refusal.value) == (
        f"age_years is {age_years!r}; allowed are numbers from 0 to 120 years"
    )


@pytest.mark.parametrize("sex", ["f", "X", "", "female", 1, ["F"]])
def test_no_sex_is_refused_with_what_is_allowed(sex: Any) -> None:
    with pytest.raises(SettingError) as refusal:
        Person(sex=sex)

    assert str(refusal.value) == f"sex is {sex!r}; allowed are F and M"


@pytest.mark.parametrize("identifier", ["P-17", "a", "0", "_", "-", "x" * 32])
def test_an_identifier_is_kept(identifier: str) -> None:
    assert Person(identifier=identifier).as_record()["identifier"] == identifier


@pytest.mark.parametrize(
    "identifier",
    ["", "x" * 33, "a b", "../x", "a/b", "..", "a.b", "a\n", "\0", "é", "\u0663", "=1+1", "a;b", 7],
)
def test_no_identifier_is_refused_with_what_is_allowed(identifier: Any) -> None:
    with pytest.raises(SettingError) as refusal:
        Person(identifier=identifier)

    assert str(refusal.value) == (
        f"identifier is {identifier!r}; allowed are 1 to 32 letters, digits, - and _"
    )


def test_nothing_is_known_unless_it_was_told() -> None:
    assert HearingTest(Settings()).person == UNKNOWN == Person(None, None)


def test_the_estimator_of_each_ear_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[Any, Any]] = []

    def estimator(profile: str, **values: Any) -> None:
        told.append((values["age_years"], values["sex"]))

    monkeypatch.setattr(ear_test, "ThresholdEstimator", estimator)
    HearingTest(Settings(), Person(67.5, "F"))

    assert told == [(67.5, "F")] * 2


@pytest.mark.parametrize("person", [Person(67.0), Person(sex="M")])
def test_a_profile_that_does_not_take_them_is_named(person: Person) -> None:
    with pytest.raises(SettingError, match="profile 'gp-pta-2015'"):
        HearingTest(Settings(profile="gp-pta-2015"), person)
