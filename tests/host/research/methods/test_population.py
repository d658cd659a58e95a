"""Populations of ears: what a table says, and who is on which side of a split."""

from pathlib import Path

import numpy as np
import pytest

from host_tools.errors import HostError
from host_tools.research.methods.population import (
    NO_STRATUM,
    STRATA,
    Population,
    PopulationError,
    balance,
    uniform,
)
from host_tools.research.study.ears import read_table
from tests.host.research.methods.listening import population

TABLE = """\
source,subject,ear,age,sex,t500,t1000,t1000_retest,t2000,t4000,t8000,no_response,mode
A,1,R,43,M,10,5,15,10,15,10,,auto
A,1,L,43,M,20,25,,,30,,8000,mixed

B,1,L,,,110,120,,100,95,,1000_retest;8000,mixed
A,2,R,7.5,f,15,,,,15,5,1000;1000_retest,auto
A,3,R,60,F,20,,30,20,35,5,,auto
"""
NAN = np.nan


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "ears.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path, TABLE)


def make_population(
    people: int, pta4_db_hl: list[float], frequencies_hz: tuple[int, ...] = ()
) -> Population:
    """Two flat ears a person, whose PTA4 go through the list again and again."""
    frequencies = frequencies_hz or (500, 1000, 2000, 4000)
    level = np.resize(np.array(pta4_db_hl), 2 * people)
    return population(
        np.repeat(level[:, None], len(frequencies), axis=1),
        [f"made/{i // 2}" for i in range(2 * people)],
        frequencies,
    )


# --- Reading -------------------------------------------------------------------------------------


def test_a_table_is_read_as_it_stands(table: Path) -> None:
    ears = read_table(table).population

    assert ears.frequencies_hz.tolist() == [500, 1000, 2000, 4000, 8000]
    np.testing.assert_array_equal(
        ears.thresholds_db_hl,
        [
            [10, 10, 10, 15, 10],  # two readings of 1 kHz: their mean
            [20, 25, NAN, 30, 110],  # not heard: the limit at 8 kHz
            [110, 120, 100, 95, 110],  # one of two readings was heard: that one
            [15, 120, NAN, 15, 5],  # none of two was
            [20, 30, 20, 35, 5],  # only the second is there
        ],
    )
    assert np.argwhere(ears.censored).tolist() == [[1, 4], [2, 4], [3, 1]]
    np.testing.assert_array_equal(ears.measured, ~np.isnan(ears.thresholds_db_hl))
    assert ears.person == ("A/1", "A/1", "B/1", "A/2", "A/3")
    assert ears.ear == ("R", "L", "L", "R", "R")
    assert ears.sex == ("M", "M", "", "F", "F")
    np.testing.assert_array_equal(ears.age_years, [43, 43, NAN, 7.5, 60])


@pytest.mark.parametrize(("highest", "limit"), [(100, 120), (125, 125)])
def test_the_limit_is_the_usual_one_or_the_highest_threshold(
    tmp_path: Path, highest: int, limit: float
) -> None:
    path = write(tmp_path, f"t500,no_response\n{highest},\n,500\n")

    ears = read_table(path).population

    assert ears.thresholds_db_hl[:, 0].tolist() == [highest, limit]
    assert ears.censored[:, 0].tolist() == [False, True]
    assert ears.person == ("/row 1", "/row 2")  # nobody is named


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "is not a table of audiograms, its first line has no column tNNN"),
        ("t500\n", "the table has no rows, wanted is at least one"),
        ("t500\n1\n\nx\n", "row 2, column t500: 'x' is not a number of dB HL"),
    ],
)
def test_what_is_wrong_is_said_with_file_row_and_column(
    tmp_path: Path, text: str, words: str
) -> None:
    path = write(tmp_path, text)

    with pytest.raises(HostError) as error:
        read_table(path)

    assert str(error.value).startswith(str(path))
    assert words in str(error.value)


# --- Choosing ears -------------------------------------------------------------------------------


def test_complete_ears_are_measured_everywhere(table: Path) -> None:
    ears = read_table(table).population

    assert ears.complete().person == ("A/1", "B/1", "A/3")
    assert ears.complete(censored=False).person == ("A/1", "A/3")


def test_the_strata_are_half_open_intervals_of_the_pta4() -> None:
    pta4_db_hl = [-10.0, 19.9, 20.0, 39.9, 40.0, 59.9, 60.0, 120.0, NAN, 5.0]
    ears = make_population(5, pta4_db_hl)

    np.testing.assert_allclose(ears.pta4_db_hl, pta4_db_hl)
    assert ears.stratum.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, NO_STRATUM, 0]


def test_the_pta4_is_of_four_frequencies_only(table: Path) -> None:
    ears = read_table(table).population

    np.testing.assert_allclose(ears.pta4_db_hl, [11.25, NAN, 106.25, NAN, 26.25])
    with pytest.raises(PopulationError, match=r"no thresholds at 2000 Hz; .* needs 500, 1000, 2"):
        _ = make_population(2, [10.0], (500, 1000, 4000)).pta4_db_hl


def test_balanced_weights_give_every_stratum_with_ears_the_same() -> None:
    ears = make_population(50, [10.0, 10.0, 10.0, 30.0, 70.0])  # nobody between 40 and 60 dB
    weight = balance(ears.stratum)

    shares = [weight[ears.stratum == index].sum() for index in range(len(STRATA))]
    assert shares == pytest.approx([1 / 3, 1 / 3, 0.0, 1 / 3])
    assert len(np.unique(weight[ears.stratum == 0])) == 1


# --- Splitting by person -------------------------------------------------------------------------


def test_nobody_is_on_both_sides_of_a_split_and_nobody_is_lost() -> None:
    ears = make_population(2000, [10.0, 30.0, 50.0, 70.0])

    first, second = ears.split(0.7, seed=3)

    assert not set(first.person) & set(second.person)
    assert sorted(first.person + second.person) == sorted(ears.person)
    # 2000 people: the share is within 4 SD of 0.7.
    assert len(first) / len(ears) == pytest.approx(0.7, abs=4 * np.sqrt(0.7 * 0.3 / 2000))


def test_the_side_of_a_person_depends_on_nobody_else() -> None:
    ears = make_population(300, [10.0, 30.0])
    everyone = set(ears.split(0.5, seed=8)[0].person)

    few = ears.select(ears.pta4_db_hl > 20.0).select(range(200))

    assert set(few.split(0.5, seed=8)[0].person) == everyone & set(few.person)
    assert set(ears.split(0.5, seed=9)[0].person) != everyone


def test_what_is_random_is_the_same_for_ever() -> None:
    """Numbers noted when this was written: raw Philox words and digests do not change."""
    ears = make_population(50, np.linspace(0.0, 80.0, 100).tolist())

    assert len(ears.split(0.5, seed=1)[0]) == 64
    assert uniform(1, 102, 2).tolist() == [0.06280114857227825, 0.2693515091316988]


@pytest.mark.parametrize("fraction", [-0.1, 1.1, NAN])
def test_a_fraction_is_within_0_to_1(fraction: float) -> None:
    with pytest.raises(ValueError, match="allowed is 0 to 1"):
        make_population(1, [10.0]).split(fraction)
