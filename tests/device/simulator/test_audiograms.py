"""Audiograms by name: standard ones, rows of tables, and errors that say where."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from device.audiogram_tables.ears import AudiogramError
from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named, gaps_named, remarks_on
from device.simulator.listener import Ear
from device.simulator.odd_ears import odd_ear

TABLE = """\
source,subject,ear,t500,t1000,t1000_retest,t2000,t3000,t4000,t6000,t8000,no_response,mode
A,1,R,10,5,10,10,10,15,15,10,,auto
A,2,L,20,25,,,30,,,,6000;8000,mixed
A,3,L,,120,,100,105,95,105,100,500;1000_retest,mixed
A,4,R,20,,30,5,5,5,5,5,1000,auto
A,5,R,,,,,,,,,500;1000;1000_retest;2000;3000;4000;6000;8000,manual
A,6,R,x,5,5,5,5,5,5,5,,auto
A,7,R,5,5,5,5,5,5,5,500,,auto
A,8,R,5,5,5,5,5,5,5,5,high,auto
A,9,R,5,5
A,10,R,,,,,,,,,,auto
A,11,R,nan,5,5,5,5,5,5,5,,auto
"""


Written = Callable[[str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Write a table, and return where it is."""

    def write(text: str) -> Path:
        path = tmp_path / "table.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def table(written: Written) -> Path:
    return written(TABLE)


def words_of_error(text: str) -> str:
    with pytest.raises(AudiogramError) as error:
        audiogram_named(text)
    return str(error.value)


class TestStandardNames:
    def test_one_name_gives_both_ears_the_same(self) -> None:
        ears = audiogram_named("N3")

        assert ears["left"] == ears["right"]
        assert ears["left"].threshold_db_hl(4000.0) == 60.0
        assert ears["left"].threshold_db_hl(125.0) == 35.0

    def test_two_names_are_right_and_left(self) -> None:
        ears = audiogram_named("N1, S3")

        assert ears["right"] == audiogram_named("N1")["right"]
        assert ears["left"] == audiogram_named("S3")["left"]

    @pytest.mark.parametrize("name", ["N8", "n3", "", "ears.csv"])
    def test_an_unknown_name_lists_the_names(self, name: str) -> None:
        assert words_of_error(name) == (
            f"no audiogram is called {name!r}, allowed are N1, N2, N3, N4, N5, N6, N7, S1, S2, S3, "
            "island, narrow-notch, cookie-bite, reverse, tent, corner, cliff, good-spot, sawtooth, "
            "random-curve, two-notches, low-shelf, dead-middle, ski-slope, or FILE.csv:ROW"
        )

    def test_an_odd_ear_is_the_typical_one_or_another_of_its_family(self) -> None:
        assert audiogram_named("island")["left"] == odd_ear("island")
        assert audiogram_named("tent:3, cliff")["right"] == odd_ear("tent", 3)

    @pytest.mark.parametrize("number", ["0", "-1", "x", "", "1000001", "12345678"])
    def test_the_number_of_an_odd_ear_is_checked(self, number: str) -> None:
        assert words_of_error(f"island:{number}") == (
            f"ear {number!r} of island, allowed is a number from 1 to 1000000"
        )

    def test_three_parts_are_too_many(self) -> None:
        assert "has 3 parts, allowed are one for both ears, or RIGHT,LEFT" in words_of_error(
            "N1,N2,N3"
        )


class TestTables:
    @pytest.mark.parametrize(
        ("row", "ear", "thresholds_db_hl"),
        [
            (1, "right", (10.0, 7.5, 10.0, 10.0, 15.0, 15.0, 10.0)),  # the retest is averaged
            # Of two readings at 1 kHz the one that was heard counts.
            (3, "left", (math.inf, 120.0, 100.0, 105.0, 95.0, 105.0, 100.0)),
            (4, "left", (20.0, 30.0, 5.0, 5.0, 5.0, 5.0, 5.0)),
            (5, "left", (math.inf,) * 7),  # deaf
        ],
    )
    def test_a_row_is_read(
        self, table: Path, row: int, ear: Ear, thresholds_db_hl: tuple[float, ...]
    ) -> None:
        frequencies_hz = (500.0, 1000.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0)
        read = audiogram_named(f"{table}:{row}")[ear]
        assert (read.frequencies_hz, read.thresholds_db_hl) == (frequencies_hz, thresholds_db_hl)

    def test_blank_is_not_measured_and_no_response_is_never_heard(self, table: Path) -> None:
        ear = audiogram_named(f"{table}:2")["left"]
        assert ear.frequencies_hz == (500.0, 1000.0, 3000.0, 6000.0, 8000.0)
        assert ear.thresholds_db_hl == (20.0, 25.0, 30.0, math.inf, math.inf)

    def test_rows_and_names_can_be_mixed(self, table: Path) -> None:
        ears = audiogram_named(f"{table}:1,N2")

        assert ears["right"] == audiogram_named(f"{table}:1")["right"]
        assert ears["left"] == audiogram_named("N2")["left"]

    def test_other_columns_are_read_and_a_table_may_be_small(self, written: Written) -> None:
        path = written("\ufefft125, t500,t750,t1000,t2000,t4000\n\n5, 10,15,20,-10,32.5\n")

        ear = audiogram_named(f"{path}:1")["left"]
        assert ear.frequencies_hz == (125.0, 500.0, 750.0, 1000.0, 2000.0, 4000.0)
        assert ear.thresholds_db_hl == (5.0, 10.0, 15.0, 20.0, -10.0, 32.5)


class TestErrors:
    @pytest.mark.parametrize(
        ("row", "words"),
        [
            ("12", "table.csv: row 12 is not there, allowed are 1 to 11"),
            ("6", "table.csv, row 6, column t500: 'x' is not a number of dB HL"),
            ("7", "table.csv, row 7, column t8000: 500 dB HL, allowed are -30 to 140"),
            ("8", "table.csv, row 8, column no_response: 'high' is not a frequency, allowed are"),
            ("9", "table.csv, row 9: 5 cells, the header has 13 columns"),
            ("10", "table.csv, row 10: no threshold in it, wanted is at least one tNNN cell"),
            ("11", "table.csv, row 11, column t500: nan dB HL, allowed are -30 to 140"),
            ("0", "row '0' of "),
            ("first", "row 'first' of "),
            ("", "row '' of "),
            ("-1", "allowed is a number from 1 (the row after the header) to 999999999"),
            ("9" * 5000, "allowed is a number from 1 (the row"),
        ],
    )
    def test_of_rows_name_the_place(self, table: Path, row: str, words: str) -> None:
        message = words_of_error(f"{table}:{row}")

        assert words in message
        assert str(table) in message

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", "is not a table of audiograms, its first line has no column tNNN (t500, t1000"),
            (b"<html>\n", "is no XML of OtoAccess that can be read: no element found: line 2"),
            (b"<html></html>\n", "no threshold in it; XML of OtoAccess that is read"),
            (b"\x89PNG\r\n\x1a\n\xff\xfe", "is not a CSV file in UTF-8: "),
            (b't500,"t1000\n', "is not a CSV file in UTF-8: "),
            (b"t500,t1000,t8O00\n1,2,3\n", "what is in 't8O00' has to be said (cells are"),
            (b"t500,t500,t1000,t2000,t4000\n", "column t500 comes twice, allowed is once"),
            (b"t500,t1000,t2000,t4000\n", "row 1 is not there, the table has no rows"),
        ],
    )
    def test_a_file_that_is_no_table_is_named(
        self, tmp_path: Path, content: bytes, words: str
    ) -> None:
        path = tmp_path / "odd.csv"
        path.write_bytes(content)

        message = words_of_error(f"{path}:1")

        assert words in message
        assert str(path) in message


NHANES_HEADER = "SEQN,AUXU500R,AUXU1K1R,AUXU1K2R,AUXU8KR,AUXU500L,AUXU1K1L,AUXU2KL"


def test_a_person_of_nhanes_gives_each_ear_its_own(written: Written) -> None:
    path = written(f"{NHANES_HEADER}\n41475,10,20,30,666.0,888,-5,\n41476,,,,,15,15,15\n")
    first, second = (audiogram_named(f"{path}:{row}") for row in (1, 2))

    assert first["right"].frequencies_hz == (500.0, 1000.0, 8000.0)
    assert first["right"].thresholds_db_hl == (10.0, 25.0, math.inf)
    assert (first["left"].frequencies_hz, first["left"].thresholds_db_hl) == ((1000.0,), (-5.0,))
    assert second["right"].thresholds_db_hl == second["left"].thresholds_db_hl, "one is there"
    assert second["left"].knows(1000.0)
    assert not any(map(second["right"].knows, second["right"].frequencies_hz)), "made up"
    mixed = audiogram_named(f"{path}:1,{path}:2")
    assert (mixed["right"], mixed["left"]) == (first["right"], second["left"])


def test_a_person_without_a_threshold_is_refused(written: Written) -> None:
    path = written(f"{NHANES_HEADER}\n41475,,,,,,,\n41476,500,,,,,,\n")
    with pytest.raises(AudiogramError, match="row 1: no threshold in it"):
        audiogram_named(f"{path}:1")
    with pytest.raises(AudiogramError, match="row 2, right ear, column AUXU500R: 500 dB HL, al"):
        audiogram_named(f"{path}:2")


class TestWhatIsNotKnown:
    def test_is_made_up_and_never_called_known(self, written: Written) -> None:
        path = written("SEQN,AUXU500L,AUXU1K1L,AUXU2KL,AUXU8KL,AUXU500R\n1,15,35,888,888,20\n")
        left = audiogram_named(f"{path}:1")["left"]

        assert left.frequencies_hz == (500.0, 1000.0)
        assert left.threshold_db_hl(4000.0) == 35.0, "the edge, for a listener has to hear somehow"
        assert [left.knows(f) for f in (250, 500, 750, 1000, 2000, 8000)] == [
            False, True, True, True, False, False
        ]  # fmt: skip
        assert left.makes_up(2000.0)
        (remark,) = remarks_on(f"{path}:1")
        assert (
            "row 1, left ear: not known at 2000, 8000 Hz; what is heard there is made up" in remark
        )

    def test_between_two_that_are_known_is_what_was_asked_in_vain_or_more_than_an_octave(
        self, written: Written
    ) -> None:
        path = written("t500,t1000,t1500,t2000,t8000\n10,20,,30,70\n")
        ear = audiogram_named(f"{path}:1")["right"]

        assert [ear.knows(f) for f in (750, 1500, 3000, 8000)] == [True, False, False, True]
        (remark,) = remarks_on(f"{path}:1")
        assert "not known at 1500, 3000, 4000, 6000 Hz" in remark

    def test_an_ear_of_which_nothing_is_known_is_said(self, written: Written) -> None:
        path = written("id,R500,R1000,L500,L1000\nAnn,10,20,,\n")
        both = audiogram_named(f"{path}:Ann")
        assert both["left"].threshold_db_hl(1000.0) == 20.0
        assert not both["left"].knows(1000.0)
        assert both["right"].knows(1000.0)
        assert any("nothing is known of the left ear" in line for line in remarks_on(f"{path}:Ann"))

    @pytest.mark.parametrize("name", ["N3", "S2,N1", "island", "island:2"])
    def test_nothing_of_it_is_said_of_audiograms_by_name(self, name: str) -> None:
        assert remarks_on(name) == []
        assert audiogram_named(name)["right"].knows(1000.0)


def test_gaps_are_those_of_both_columns_where_both_were_heard(written: Written) -> None:
    path = written("t500,b500,t1000,b1000,t2000,b2000\n40,10,50,NR,>90,20\n")
    gap = gaps_named(f"{path}:1")["right"]
    assert isinstance(gap, Audiogram)
    assert gap.threshold_db_hl(500.0) == gap.threshold_db_hl(2000.0) == 30.0
    assert gaps_named("N3") == {}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("t500,t1000,t2000,t4000\n10,20,30,110\n", 110.0), ("patient,hz,left\nA,500,15\n", 15.0),
        ('{"left": {"500": 25}}', 25.0),
    ],
)  # fmt: skip
def test_every_shape_of_table_can_be_simulated(written: Written, name: str, wanted: float) -> None:
    assert audiogram_named(f"{written(name)}:1")["left"].thresholds_db_hl[-1] == wanted
