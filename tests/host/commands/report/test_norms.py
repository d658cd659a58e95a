"""The age norm is that of ISO 7029:2017, as another implementation of it has it."""

from dataclasses import replace

import pytest
from scipy.special import ndtri

from firmware_py.findings.convention import higher
from firmware_py.findings.norms import (
    TENTH_SDS,
    AgeNorm,
    norm_of,
    spread_until_years,
)
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.person import Person, Sex
from tests.host.commands.report.test_referral import ear

# From the documentation and the tests of phonometry (J. M. Requena-Plens), which has the tables of
# the standard: the medians of men of 65 at 125 to 8000 Hz, and others.
MEDIANS_65_M = [6.6, 7.6, 8.0, 9.0, 10.4, 13.4, 16.3, 21.6, 26.2, 33.7, 39.5]


def test_medians_are_the_published_ones() -> None:
    norm = AgeNorm(65, "M")
    medians = [norm.threshold_db_hl(f) for f in norm.frequencies_hz]

    assert medians == pytest.approx(MEDIANS_65_M, abs=0.05)
    assert AgeNorm(60, "M").threshold_db_hl(4000) == pytest.approx(20.2085, abs=5e-5)


def test_the_spread_is_the_published_one() -> None:
    assert AgeNorm(65, "M").threshold_db_hl(4000, TENTH_SDS) == pytest.approx(50.3, abs=0.05)
    norm = AgeNorm(60, "M")
    above_db = norm.threshold_db_hl(1000, 1.0) - norm.threshold_db_hl(1000)
    assert above_db == pytest.approx(10.1533, abs=5e-5)


@pytest.mark.parametrize("sex", ["F", "M"])
@pytest.mark.parametrize("age", [18, 40, 61, 80])
def test_it_rises_with_the_share_and_inverts(sex: Sex, age: int) -> None:
    norm = norm_of(Person(age, sex))
    assert norm is not None
    assert len(norm.spread_frequencies_hz) > 3
    for frequency_hz in norm.spread_frequencies_hz:
        of_people = [0.05, 0.3, 0.5, 0.9]
        levels = [norm.threshold_db_hl(frequency_hz, float(ndtri(share))) for share in of_people]
        assert levels == sorted(set(levels))
        shares = [norm.share_better(frequency_hz, level) for level in levels]
        assert shares == pytest.approx(of_people)


def test_each_spread_ends_where_it_is_widest() -> None:
    """Found by hand from the coefficients, to a year; above 2 kHz the standard's own 70 years."""
    men = {f: spread_until_years("M", f) for f in AgeNorm(40, "M").frequencies_hz}
    women = {f: spread_until_years("F", f) for f in AgeNorm(40, "F").frequencies_hz}

    assert men == {
        125: 80, 250: 80, 500: 80, 750: 80, 1000: 80, 1500: 70, 2000: 67, 3000: 65, 4000: 64,
        6000: 62, 8000: 61,
    }  # fmt: skip
    assert women == {
        125: 80, 250: 80, 500: 80, 750: 80, 1000: 80, 1500: 80, 2000: 76, 3000: 70, 4000: 70,
        6000: 70, 8000: 69,
    }  # fmt: skip


@pytest.mark.parametrize("sex", ["F", "M"])
def test_percentiles_widen_with_age_as_long_as_they_are_given(sex: Sex) -> None:
    """From 50 years on: before that the standard's polynomials waver by some 3 dB."""
    for frequency_hz in AgeNorm(50, sex).frequencies_hz:
        widths_db = [
            norm.threshold_db_hl(frequency_hz, TENTH_SDS) - norm.threshold_db_hl(frequency_hz)
            for norm in (AgeNorm(age, sex) for age in range(50, 81))
            if frequency_hz in norm.spread_frequencies_hz
        ]
        assert len(widths_db) >= 12
        assert widths_db == sorted(widths_db)


def test_at_80_a_man_has_a_median_at_8_khz_and_nothing_else() -> None:
    norm = AgeNorm(80, "M")
    assert norm.threshold_db_hl(8000) == pytest.approx(75.3, abs=0.1)
    assert norm.spread_frequencies_hz == (125, 250, 500, 750, 1000)


def test_what_the_standard_gives_for_information_only_is_named() -> None:
    assert AgeNorm(70, "F").informative_above_hz is None
    assert AgeNorm(71, "M").informative_above_hz == 2000


def test_at_18_years_the_median_is_the_zero_of_audiometers() -> None:
    norm = AgeNorm(18, "F")
    assert [norm.threshold_db_hl(f) for f in norm.frequencies_hz] == [0.0] * 11


def test_who_hears_better_is_told_of_no_bound() -> None:
    found = ear("right", {}).thresholds[2]
    doubtful = replace(found, masking=MaskingMark.UNCERTAIN)
    beyond = replace(higher(found, -100.0), floor_db_hl=-10.0)
    shares = [AgeNorm(40, "F").usual(each, 0.0) for each in (found, doubtful, beyond)]

    assert [each is not None and each.share_better is not None for each in shares] == [
        True, False, False,
    ]  # fmt: skip
