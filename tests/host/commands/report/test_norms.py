"""The age norm is that of ISO 7029:2017, as another implementation of it has it."""

import pytest
from scipy import stats

from firmware_py.procedure.person import Person
from host_tools.commands.report.norms import AgeNorm, norm_of, why_no_norm

# From the documentation and the tests of phonometry (J. M. Requena-Plens), which has the tables of
# the standard: the medians of men of 65 at 125 to 8000 Hz, and others.
MEDIANS_65_M = [6.6, 7.6, 8.0, 9.0, 10.4, 13.4, 16.3, 21.6, 26.2, 33.7, 39.5]


def test_medians_are_the_published_ones() -> None:
    norm = AgeNorm(65, "M")
    medians = [norm.threshold_db_hl(f, 0.5) for f in norm.frequencies_hz]

    assert medians == pytest.approx(MEDIANS_65_M, abs=0.05)
    assert AgeNorm(60, "M").threshold_db_hl(4000, 0.5) == pytest.approx(20.2085, abs=5e-5)


def test_the_spread_is_the_published_one() -> None:
    assert AgeNorm(65, "M").threshold_db_hl(4000, 0.9) == pytest.approx(50.3, abs=0.05)
    norm = AgeNorm(60, "M")
    one_sd = float(stats.norm.cdf(1.0))
    above_db = norm.threshold_db_hl(1000, one_sd) - norm.threshold_db_hl(1000, 0.5)
    assert above_db == pytest.approx(10.1533, abs=5e-5)


@pytest.mark.parametrize("sex", ["F", "M"])
@pytest.mark.parametrize("age", [18, 40, 80])
def test_it_rises_with_the_share_and_inverts(sex: str, age: int) -> None:
    norm = norm_of(Person(age, "F" if sex == "F" else "M"))
    assert norm is not None
    for frequency_hz in norm.frequencies_hz:
        levels = [norm.threshold_db_hl(frequency_hz, share) for share in (0.05, 0.3, 0.5, 0.9)]
        assert levels == sorted(set(levels))
        shares = [norm.share_better(frequency_hz, level) for level in levels]
        assert shares == pytest.approx([0.05, 0.3, 0.5, 0.9])


def test_what_the_standard_gives_for_information_only_is_named() -> None:
    assert AgeNorm(70, "F").title == "otologically normal women of 70 (ISO 7029:2017)"
    assert AgeNorm(71, "M").title.endswith("above 2000 Hz for information only)")


def test_at_18_years_the_median_is_the_zero_of_audiometers() -> None:
    norm = AgeNorm(18, "F")
    assert [norm.threshold_db_hl(f, 0.5) for f in norm.frequencies_hz] == [0.0] * 11


@pytest.mark.parametrize(
    ("person", "why"),
    [
        (Person(), "age and sex were not told"),
        (Person(40), "age and sex were not told"),
        (Person(17.9, "F"), "age is 17.9 years; ISO 7029:2017 has 18 to 80"),
        (Person(81, "M"), "age is 81 years"),
    ],
)
def test_where_there_is_none_it_says_why(person: Person, why: str) -> None:
    assert norm_of(person) is None
    assert why in why_no_norm(person)
