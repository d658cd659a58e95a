"""Each shape of table, and each refusal with its cure."""

import json
import math
import re
from pathlib import Path
from typing import Final

import pytest

from device.audiogram_tables.ears import (
    NO_RESPONSE,
    AudiogramError,
    TableEar,
    TableThreshold,
    merge,
)
from device.audiogram_tables.levels import plain, reading_of
from device.audiogram_tables.table import Table

PATH: Final = "t.csv"
LISTENER: Final = {"audiogram_cfs": [500, 1000], "audiogram_levels_r": [40, None]}


def read(content: str | bytes) -> Table:
    return Table.read(PATH, content.encode() if isinstance(content, str) else content)


def ears_of(content: str | bytes) -> list[TableEar]:
    return list(read(content).all_ears())


def levels(ear: TableEar, route: str = "air") -> dict[float, float]:
    readings = ear.by_air if route == "air" else ear.by_bone
    return {frequency_hz: reading.level_db_hl for frequency_hz, reading in readings.items()}


def test_a_row_says_whose_ear_it_is_and_what_is_not_known() -> None:
    (ear,) = ears_of(
        "source,subject,ear,age,sex,t500,t1000,t2000,no_response\nA,7,L,67.5,f,10,,,2000\n"
    )
    assert (ear.person, ear.source, ear.ear, ear.side) == ("7", "A", "L", "left")
    assert (ear.age_years, ear.sex) == (67.5, "F")
    assert levels(ear) == {500.0: 10.0, 2000.0: math.inf}
    assert ear.unknown_hz == (1000.0,)


@pytest.mark.parametrize("words", ["Alter Geschlecht w", "Leeftijd Geslacht Vrouw"])
def test_age_and_sex_are_known_in_german_and_dutch(words: str) -> None:
    age, sex, woman = words.split()
    content = f"Name;{age};{sex};t500\nA;60;{woman};10\nB;61;m;10\n".encode()
    ears = Table.read(PATH, content, f"age={age},sex={sex}").all_ears()
    assert [(ear.age_years, ear.sex) for ear in ears] == [(60.0, "F"), (61.0, "M")]


def test_bone_is_beside_air_or_has_rows_of_its_own() -> None:
    (ear,) = ears_of("t500,b500,b1000\n30,10,15\n")
    assert (levels(ear), levels(ear, "bone")) == ({500.0: 30.0}, {500.0: 10.0, 1000.0: 15.0})
    (ear,) = ears_of("ear,conduction,t500,t1000\nR,BC,10,15\n")
    assert (levels(ear), levels(ear, "bone")) == ({}, {500.0: 10.0, 1000.0: 15.0})


def test_an_index_without_a_name_is_passed_over_and_said() -> None:
    table = read(",t500,mode,left\n0,10,auto,x\n")
    (remark,) = table.remarks
    assert "passed over" in remark
    assert all(name in remark for name in ("the first one", "mode", "left"))


def test_each_ear_is_one_and_an_ear_of_which_nothing_is_known_is_none() -> None:
    first, second, third = ears_of("id,R500,L500,L1000,Age\n1,10,20,NR,30\n2,,5,10,\n")
    assert [each.side for each in (first, second, third)] == ["right", "left", "left"]
    assert [each.person for each in (first, second, third)] == ["1", "1", "2"]
    assert levels(second) == {500.0: 20.0, 1000.0: math.inf}


def test_nhanes_has_codes_two_readings_and_the_sex_in_a_number() -> None:
    right, left = ears_of(
        "SEQN,RIDAGEYR,RIAGENDR,AUXU500R,AUXU1K1R,AUXU1K2R,AUXU8KR,AUXU500L,AUXU8KL\n"
        "41475.0,62,2.0,10,20,30,666.0,888,15\n"
    )
    assert (right.person, right.age_years, right.sex) == ("41475.0", 62.0, "F")
    assert levels(right) == {500.0: 10.0, 1000.0: 25.0, 8000.0: math.inf}
    assert (levels(left), left.unknown_hz) == ({8000.0: 15.0}, (500.0,))


def test_no_response_may_be_listed_by_ear() -> None:
    right, left = ears_of("R500,R4000,L500,L4000,no_response\n10,,20,30,R4000\n")
    assert (levels(right)[4000.0], levels(left)[4000.0]) == (math.inf, 30.0)
    right, left = ears_of("R500,R4000,L500,L4000,no_response_left\n10,20,20,,4000\n")
    assert (levels(right)[4000.0], levels(left)[4000.0]) == (20.0, math.inf)


def test_ears_people_and_sessions_are_told_apart() -> None:
    content = (
        "patient,visit,ear,frequency,threshold\nP1,a,R,500,10\nP1,a,R,1000,NR\n"
        "P1,a,L,500,20\nP1,b,R,500,15\nP2,a,R,500,\n"
    )
    table = read(content)
    assert len(table) == 3
    (again,) = table.ears("b")
    assert levels(again) == {500.0: 15.0}
    right, left = table.ears("1")
    assert levels(right) == {500.0: 10.0, 1000.0: math.inf}
    assert levels(left) == {500.0: 20.0}
    assert [ear.person for ear in table.all_ears() if not ear.known] == []


def test_two_columns_may_be_the_two_ears_and_kilohertz_are_told_by_the_heading() -> None:
    right, left = ears_of("kHz;Right;Left (dB HL)\n0,5;10;20\n4;>110;\n")
    assert (levels(right), levels(left)) == ({500.0: 10.0, 4000.0: math.inf}, {500.0: 20.0})
    assert right.by_air[4000.0].limit_db_hl == 110.0


def test_no_response_may_be_a_column_of_yes_and_no() -> None:
    (ear,) = ears_of("ear,hz,level,no response\nR,500,10,no\nR,4000,,yes\n")
    assert levels(ear) == {500.0: 10.0, 4000.0: math.inf}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("t500,t1000\n10\n", "row 1: 1 cells, the header has 2 columns; cells are separated"),
        ("t500,t1000\n10,20,\n", "row 1: 3 cells, the header has 2 columns"),
        ("t500,\n10,20\n", "row 1, column 2: '20', and the column has no name; name it, or"),
        ("t500,T500\n10,20\n", "columns 't500' and 'T500' are both t500; allowed is one"),
        ("t500,R1000\n10,20\n", "'R1000' says an ear, 't500' says none; allowed is that all"),
        ("t500,frequency\n10,20\n", "'frequency' has a frequency for each row, and column"),
        ("t500 t1000\n10 20\n", "what is in 't500 t1000' has to be said (cells are separated"),
        ("id,t500\n1,10\n,20\n", "row 2, column id: is empty, allowed is anything that tells"),
        ("subject,t500\n,10\n", "column subject: is empty, allowed is anything that tells"),
        ("t500,age\n10,old\n", "row 1, column age: 'old' is not a number of years"),
        ("t500,age\n10,200\n", "200 years, allowed are 0 to 130"),
        ("t500,sex\n10,q\n", "column sex: 'Q', allowed are F, M and an empty cell"),
        ("t500,route\n10,up\n", "column route: 'up', allowed are AC, BC and UCL, or air,"),
        ("t500,no_response\n10,500\n", "column t500: 10 dB HL, and no response by column no"),
        ("t500,no_response\n,700\n", "'700' is no frequency of the table, allowed are 500"),
        ("t500,no_response\n,x\n", "'x' is not a frequency, allowed are numbers of Hz"),
        ("R500,L500,no_response\n1,,500\n", "'500' says no ear; allowed are such as R4000"),
        ("hz,age\n500,10\n", "has a column of frequencies, and none of levels; wanted is"),
        ("hz,level,threshold\n500,10,10\n", "columns 'level' and 'threshold' are both thresh"),
        ("frequency,level\n800,10\n", "'800' is not a frequency of audiometry; allowed are"),
        ("t500\n10,5\n", "row 1: 2 cells, the header has 1 columns; cells are separated by a"),
        ("t500,t1000\n10,15\nt500,t1000\n", "row 2, column t500: 't500' is not a number of"),
        ("Our clinic\nt500,t1000\n10,15\n", "is not a table of audiograms, its first line has"),
        ('t500,t1000\n10,"15\n', "is not a CSV file in UTF-8: unexpected end of data (cells"),
        ("t500,t1000\n10,'15'\n", "row 1, column t1000: \"'15'\" is not a number of dB HL"),
        ("hz,ear,left\n500,L,10\n", "'ear' says an ear, and so does 'left'; allowed is one"),
        ("hz,level\n-500,10\n", "row 1, column hz: '-500' is not a frequency of audiometry"),
        ("hz,level\n.5,10\n", "row 1, column hz: '.5' is not a frequency of audiometry"),
        ("ear,side,t500\nR,left,1\n", "column side: 'left', and 'R' in another column; all"),
        ("hz,ear,level\n500,X,10\n", "row 1, column ear: 'X', allowed are R and L, or right"),
        ("hz,level\n500,10\n500,20\n", "row 2: 500 Hz comes twice (first in t.csv, row 1); a"),
        ("id,ear,t500\nA,L,9\nA,R,10\nA,right,20\n", "row 3: right ear of 'A' comes twice (first"
         " in t.csv, row 2); allowed is once, or once for each session, told by a column session"),
        ("id,visit,R500,L500\nA,a,10,20\nA,b,10,\nA,a,,20\n", "row 3: left ear of 'A' comes tw"),
        ("id,t500\nA,10\nA,20\n", "row 2: an ear of 'A' comes twice (first in t.csv, row 1)"),
        (json.dumps([{"name": "A", **LISTENER}] * 2), "'A' comes twice, allowed is once"),
        ("hz,level,NR\n500,10,maybe\n", "column NR: 'maybe', allowed are yes and no"),
        ("hz,level,NR\n500,10,yes\n", "10 dB HL, and no response by column NR; allowed is one"),
        ("[1, 2", "is no JSON, and no CSV table"),
        ("{}", "no threshold in it; JSON that is read"),
        ("[3]", "no audiogram is found in it; JSON that is read"),
        ("[" * 5000, "is nested too deep"),
        ('{"left": {"500": 10}, "left": {}}', "'left' comes twice, allowed is once"),
        ('{"A": {"left": 10}}', "JSON that is read: "),
        ('{"A": {"left": {"500": 10}, "up": {"500": 1}}}', "'up' is no ear; allowed are left"),
        ('{"A": {"left": {"500": true}}}', "'true' is not a number of dB HL"),
        ('{"A": {"left": {"9": 10}}}', "'9' is not a frequency of audiometry; allowed"),
        (
            json.dumps({"L1": {**LISTENER, "audiogram_levels_l": [45]}}),
            "allowed is a list of as many levels as audiogram_cfs has frequencies",
        ),
        (
            json.dumps({"L1": {**LISTENER, "audiogram_levels_left": [1, 2]}}),
            "'audiogram_levels_left' is not known; allowed are audiogram_levels_l",
        ),
        ('{"resourceType": "Bundle", "entry": [{}]}', "entry 1: is no observation"),
        ('{"resourceType": "Bundle"}', "no threshold in it; JSON that is read"),
        ('{"sessions": [{"person": {}}]}', "session 1: is none of gp-pta export"),
        (b"PK\x03\x04....", "is a workbook or an archive; save it as CSV"),
        (b"PAR1 and no more", "is no Parquet file that can be read"),
        ("t500\n1\nZoë\n".encode("latin-1"), "byte 0xeb in line 3 is of another encoding"),
    ],
)  # fmt: skip
def test_a_refusal_names_place_value_and_cure(content: str | bytes, words: str) -> None:
    with pytest.raises(AudiogramError, match=f"^{re.escape(PATH)}.*{re.escape(words)}"):
        ears_of(content)


def test_a_name_that_several_rows_have_is_one_only_where_they_are_its_two_ears() -> None:
    table = read("id,ear,t500\nAnn,R,10\nAnn,L,20\nBob,R,10\nBob,R,15\n")
    assert [ear.side for ear in table.ears("Ann")] == ["right", "left"]
    with pytest.raises(AudiogramError, match="'Bob' names rows 3, 4; allowed is one row, or"):
        table.ears("Bob")
    with pytest.raises(AudiogramError, match="allowed is a number from 1"):
        table.ears("Zoe")


@pytest.mark.parametrize(
    "content",
    [
        "id,ear,date,t500\nA,R,1,10\nA,R,2,10\nA,L,1,10\n",
        "ear,t500\nR,10\nR,10\nR,20\n",
        "id,ear,t500\n,R,10\n,R,10\n,R,10\n",
        "source,id,R500,L500\na,A,10,\nb,A,10,\nb,B,10,\n",
    ],
)
def test_ears_of_other_sessions_people_and_sources_and_of_nobody_known_are_others(
    content: str,
) -> None:
    assert len(ears_of(content)) == 3


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(AudiogramError, match=r"no\.csv: cannot be read: No such file"):
        Table.read(tmp_path / "no.csv")


@pytest.mark.parametrize("entry", ["8000", " 8000 ", "8000;", "8000 Hz", "t8000", "8 kHz"])
@pytest.mark.parametrize("name", ["no_response", "No_Response", "NO RESPONSE", "NoResponse", "NR"])
def test_no_response_is_listed_however_it_is_written(name: str, entry: str) -> None:
    (ear,) = ears_of(f"t500,T8000,{name}\n10,,{entry}\n")
    assert levels(ear) == {500.0: 10.0, 8000.0: math.inf}


def test_a_frequency_that_says_its_unit_is_meant_as_it_is() -> None:
    for content in ("frequency,level\n800 Hz,20\n", "hz,level\n800,20\n", "khz,level\n0.8,20\n"):
        (ear,) = ears_of(content)
        assert levels(ear) == {800.0: 20.0}


TWO: Final = "ear;t500;t1000\nR;12.5;>105\nL;-5;\n"
SPELT: Final[dict[str, str | bytes]] = {
    **{f"by {sign!r}": TWO.replace(";", sign) for sign in ",\t|"},
    "sep=": f"sep=;\n{TWO}",
    "SEP= of its own": "SEP=/\n" + TWO.replace(";", "/"),
    "BOM": f"\ufeff{TWO}",
    "UTF-16": TWO.encode("utf-16"),
    "CRLF": TWO.replace("\n", "\r\n"),
    "CR": TWO.replace("\n", "\r"),
    "quoted": re.sub("[^;\n]+", r'"\g<0>"', TWO),
    "empty lines": TWO.replace("\n", "\n\n"),
    "empty columns": TWO.replace("\n", ";;\n"),
    "trailing separators": re.sub("\n(.+)", r"\n\1;", TWO),
    "decimal commas": TWO.replace("12.5", "12,5"),
    "what nobody sees": TWO.replace("t500", "t\u200b500").replace("12.5", "1\u00ad2.5\u00a0"),
    "other case": TWO.upper(),
    "other columns first": re.sub("(?m)^(.*?);(.*?);(.*)$", r"\2;\1;\3", TWO),
}


@pytest.mark.parametrize("spelling", SPELT)
def test_a_table_is_read_however_it_is_spelt(spelling: str) -> None:
    right, left = ears_of(SPELT[spelling])
    assert (right.side, levels(right)) == ("right", {500.0: 12.5, 1000.0: math.inf})
    assert right.by_air[1000.0].limit_db_hl == 105.0
    assert (left.side, levels(left), left.unknown_hz) == ("left", {500.0: -5.0}, (1000.0,))


def test_what_speaks_against_a_fit_is_told_with_the_ear() -> None:
    table = read("hz,level,level_unit,verdict\n500,10,nominal dB,doubtful\n")
    assert table.doubts() == [f"{PATH}: 1 ears: {remark}" for remark in table.ears("1")[0].remarks]
    assert read("t500\n10\n").doubts() == []
    (ear,) = table.ears("1")
    assert ear.remarks == ("its test is not valid: doubtful", "its levels are no dB HL: nominal dB")


def test_two_rows_are_right_and_left_and_one_has_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ear,t500,laps\nL,10,1\nR,20,2\n")
    both, remarks = Table.ears_named(f"{path}:2, {path}:1")
    assert [(side, levels(ear)) for side, ear in both.items()] == [
        ("right", {500.0: 20.0}), ("left", {500.0: 10.0}),
    ]  # fmt: skip
    assert remarks == Table.read(path).remarks != []
    path.write_text("t500\n10\n")
    (side,) = Table.ears_named(f"{path}:1", "left")[0]
    assert side == "left"


@pytest.mark.parametrize(
    ("content", "named", "ear", "words"),
    [
        ("t500\n10\n", "{}", None, "allowed is FILE:ROW, a row of a table, such as "),
        ("t500\n10\n", "{}:1,{}:1,{}:1", None, "has 3 rows; allowed are one, or right,left"),
        ("t500\n10\n", "{}:2", None, "row 2 is not there, allowed are 1 to 1"),
        ("t500\n10\n", "{}:1", None, "which ear it is; say it with --ear left or --ear right"),
        ("ear,t500\nR,\n", "{}:1", None, "no threshold by air in it, so nothing is prescribed"),
        ("ear,t500\nR,10\n", "{}:1", "left", "is of the right ear; asked for is the left one"),
        ("ear,t500\nL,10\n", "{}:1,{}:1", None, "of the left ear; asked for is the right one"),
    ],
)
def test_what_is_no_ear_of_a_row_is_refused(
    content: str, named: str, ear: str | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(AudiogramError, match=re.escape(words)):
        Table.ears_named(named.replace("{}", str(path)), ear)


# What a cell says: a level, no response up to a limit, or that nothing is known; nothing else


@pytest.mark.parametrize(
    ("cell", "level"),
    [
        ("45", 45.0), ("45.5", 45.5), ("45,5", 45.5), (" -5 ", -5.0), ("−5", -5.0), ("+10", 10.0),
        ("45 dB", 45.0), ("45 dB HL", 45.0), ("45.", 45.0), ("４５", 45.0), ("4\u200b5", 45.0),
        ("1e1", 10.0), ("-30", -30.0), ("140", 140.0),
    ],
)  # fmt: skip
def test_a_level_is_read_however_it_is_written(cell: str, level: float) -> None:
    assert reading_of(cell) == TableThreshold(level)


SILENT = ["NR", "n.r.", "No response", "DNR", "not heard", "666", "666.0"]
LIMITED = [">110", "> 110 dB HL", "110+", "110 NR", "NR110", "NR @ 110", "110 (NR)", "＞110"]
UNKNOWN = ["", "  ", "-", "—", "NA", "n/a", "NT", "CNT", "888", "888.0"]


@pytest.mark.parametrize("cell", [*SILENT, *LIMITED, *UNKNOWN])
def test_no_response_may_have_a_limit_and_what_was_not_measured_is_unknown(cell: str) -> None:
    limit_db_hl = 110.0 if cell in LIMITED else None
    known = None if cell in UNKNOWN else TableThreshold(math.inf, limit_db_hl)
    assert reading_of(cell) == known


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("x", "'x' is not a number of dB HL; a level is written 45"),
        ("45?", "'45?' is not a number"), ("4¹", "'4¹' is not a number"),
        ("<10", "'<10' is not a number"), ("45 dB SPL", "is not a number"),
        ("1.000,5", "is not a number"), ("nan", "nan dB HL, allowed are -30 to 140"),
        ("999", "999 dB HL, allowed are -30 to 140"), ("-31", "-31 dB HL, allowed"),
        (">999", ">999 dB HL, allowed"), ("10 20", "is not a number"),
    ],
)  # fmt: skip
def test_what_is_none_of_these_is_refused_with_how_it_is_written(cell: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"no response NR, or >110 up to a limit") as error:
        reading_of(cell)
    assert words in str(error.value)


def test_of_several_readings_those_heard_count() -> None:
    assert merge(
        (TableThreshold(20.0), TableThreshold(30.0), TableThreshold(math.inf, 110.0))
    ) == TableThreshold(25.0)
    assert merge((TableThreshold(math.inf, 100.0), NO_RESPONSE)) == TableThreshold(math.inf, 100.0)
    assert merge((NO_RESPONSE, NO_RESPONSE)) == NO_RESPONSE


def test_plain_text_has_nothing_that_nobody_sees_and_keeps_what_has_a_meaning() -> None:
    assert plain("\ufeff t\u00a0500\u200b ") == "t 500"
    assert plain("t500²") == "t500²"
    assert plain("Jose\u0301") == plain("Jos\u00e9")
