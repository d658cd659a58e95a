"""Every shape of table opens at once, or with the mapping that its refusal proposes, as it is."""

import json
import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.mapping import OPTION
from device.audiogram_tables.table import Table

Levels = dict[tuple[str, str, float], float]  # by ear, route and frequency
AIR_500: Final[Levels] = {("right", "air", 500.0): 10.0, ("left", "air", 500.0): 20.0}
BOTH: Final[Levels] = {**AIR_500, ("right", "air", 1000.0): 15.0, ("left", "air", 1000.0): 25.0}

# Headings that are known, and others that are guessed: ear, route and frequency.
KNOWN: Final = {
    "t500": ("", "air", 500), "T8000": ("", "air", 8000), "R500": ("right", "air", 500),
    "right_500_hz_db_hl": ("right", "air", 500), "AUXU1K1R": ("right", "air", 1000),
    "auxu8kl": ("left", "air", 8000), "b500": ("", "bone", 500), "bone500": ("", "bone", 500),
    "t1000_retest": ("", "air", 1000), "right.bone.500": ("right", "bone", 500),
}  # fmt: skip
GUESSED: Final = {
    "500": ("", "air", 500), "t6k": ("", "air", 6000), "t8000.0": ("", "air", 8000),
    "t 1,000 Hz": ("", "air", 1000), "500L": ("left", "air", 500), "RT 500": ("right", "air", 500),
    "L AC 500 Hz": ("left", "air", 500), "0.5kHz Right": ("right", "air", 500),
    "AC_R_500": ("right", "air", 500), "Threshold at 4 kHz (left ear)": ("left", "air", 4000),
    "0,5 kHz rechts": ("right", "air", 500), "Izquierdo 500 Hz": ("left", "air", 500),
    "R BC 500": ("right", "bone", 500), "bcl500": ("left", "bone", 500), "t0.5": ("", "air", 500),
    "OD500": ("right", "air", 500), "OG 500": ("left", "air", 500), "t800": ("", "air", 800),
    "R 500 masked": ("right", "air", 500), "LL re 0,5 kHz": ("right", "air", 500),
    "KL li 4 kHz": ("left", "bone", 4000), "LLre500": ("right", "air", 500),
    "Luft 500": ("", "air", 500), "Knochen 500": ("", "bone", 500),
    "Luftleitung rechtes Ohr 1 kHz": ("right", "air", 1000),
    "Hörschwelle linkes Ohr 500": ("left", "air", 500), "gauche 500": ("left", "air", 500),
}  # fmt: skip

LISTENER: Final = {
    "name": "L1", "audiogram_cfs": [500, 1000, 2000], "audiogram_levels_l": [20, 25, None],
    "audiogram_levels_r": [10, 15, None],
}  # fmt: skip
AT_ONCE: Final = {
    "an ear a row": "subject,ear,t500,t1000\nA,R,10,15\nA,L,20,25\n",
    "a person a row": "id,R500,R1000,L500,L1000\nA,10,15,20,25\n",
    "NHANES": "SEQN,AUAMODE,AUXR1K1L,AUXU500R,AUXU1K1R,AUXU500L,AUXU1K1L\n1,1,5,10,15,20,25\n",
    "a threshold a row": "patient;ear;frequency;threshold\nA;R;500;10\nA;R;1000;15\nA;L;500;20\n"
    "A;L;1000;25\n",
    "two thresholds a row": "id,Frequency (Hz),Right (dB HL),Left (dB HL)\nA,500,10,20\n"
    "A,1000,15,25\n",
    "pyclarity": json.dumps({"L1": LISTENER}),
    "listeners": json.dumps([LISTENER]),
    "a listener": json.dumps(LISTENER),
    "LibrePods": json.dumps({"left": {"500": 20, "1000": 25}, "right": {"500": 10, "1000": 15},
                             "amplification": 0.0}),
    "ears by name": json.dumps({"Ann": {"left": {"500": 20, "1000": 25},
                                        "right": {"500": 10, "1000": 15}}}),
    "rows of JSON": json.dumps([{"ear": "R", "t500": 10, "t1000": 15, "t2000": None},
                                {"ear": "L", "t500": 20, "t1000": 25}]),
}  # fmt: skip
WITH_COLUMNS: Final = {
    "a clinic's": "Name\tR AC 500 Hz\tR AC 1 kHz\tL AC 500 Hz\tL AC 1 kHz\nA\t10\t15\t20\t25\n",
    "frequencies above ears": "Frequency,500,1000\nRight,10,15\nLeft,20,25\n",
    "German": "Name;Alter;Geschlecht;Ohr;Frequenz (Hz);Schwelle;threshold\nA;60;w;rechts;500;;10\n"
    "A;60;w;rechts;1000;;15\nA;60;w;links;500;;20\nA;60;w;links;1000;;25\n",
    "German letters": "Ohr,Leitung,Frequenz,Schwelle\nre,LL,500,10\nre,LL,1000,15\n"
    "linkes Ohr,LL,500,20\nlinkes Ohr,LL,1000,25\n",
    "ears in French": "id;OD 500;OD 1000;OG 500;OG 1000\nA;10;15;20;25\n",
    "with other columns": "id,R500,R1000,L500,L1000,UCL 500,PTA4,masked\nA,10,15,20,25,100,12,y\n",
    "columns twice": "id,R500,Right 500 Hz retest,R1000,L500,L1000\nA,10,10,15,20,25\n",
}


def read_as_proposed(path: str, content: str) -> tuple[Table, str | None]:
    """Return a table, and the mapping that had to be typed; None: none."""
    try:
        return Table.read(path, content.encode()), None
    except AudiogramError as refusal:
        (columns,) = shlex.split(str(refusal).partition(f"{OPTION} ")[2])
        return Table.read(path, content.encode(), columns), columns


def levels_of(table: Table) -> Levels:
    return {
        (ear.side, route, frequency_hz): reading.level_db_hl
        for ear in table.all_ears()
        for route, by in (("air", ear.by_air), ("bone", ear.by_bone))
        for frequency_hz, reading in by.items()
    }


@pytest.mark.parametrize("heading", [*KNOWN, *GUESSED])
def test_a_heading_is_known_or_its_place_is_proposed(heading: str) -> None:
    table, columns = read_as_proposed("t.csv", f'"{heading}",notes\n35,x\n')
    assert (columns is None) == (heading in KNOWN)
    assert levels_of(table) == {(KNOWN | GUESSED)[heading]: 35.0}
    assert table.remarks == ["t.csv: passed over, as nothing is known of them: columns notes"]


@pytest.mark.parametrize("shape", [*AT_ONCE, *WITH_COLUMNS])
def test_every_shape_opens(shape: str) -> None:
    table, columns = read_as_proposed("t.csv", (AT_ONCE | WITH_COLUMNS)[shape])
    assert levels_of(table) == BOTH
    assert (columns is None) == (shape in AT_ONCE)
    assert {ear.person for ear in table.all_ears()} <= {"A", "1", "L1", "Ann", "person 1", ""}


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ("ear,t500,t1000,kind\nR,60,60,AC\nR,10,NR,BC\nL,20,25,AC\n", 10.0),
        ('[{"ear": "right", "frequency": 500, "threshold": 60, "testType": "AC"},'
         ' {"ear": "right", "frequency": 500, "threshold": 10, "testType": "BC"}]', 10.0),
        ("Hz,500,1000\nRight AC,60,60\nRight BC,10,15\nLeft AC,10,15\n", 10.0),
        ("ear,frequency,AC,BC\nright,500,60,10\n", 10.0),
        ("R AC 500,R BC 500\n60,10\n", 10.0),
    ],
)  # fmt: skip
def test_air_and_bone_are_of_one_ear(cells: str, wanted: float) -> None:
    table, columns = read_as_proposed("t.csv", cells)
    assert columns
    right = table.ears("1")[0]
    assert right.by_air[500.0].level_db_hl == 60.0
    assert right.by_bone[500.0].level_db_hl == wanted


@pytest.mark.parametrize(
    ("content", "columns", "words"),
    [
        ("ear,t500,kind\nR,60,AC\nR,90,MCL\n", "route=kind", "row 2, column kind: 'MCL', allowed"),
        ("ear,t500,kind\nR,60,aided\n", "route=kind", "'aided', allowed are AC, BC and UCL"),
        ("ear,t500\nSF,60\n", None, "column ear: 'SF', allowed are R and L"),
        ("ear,t500,kind\nR,60,UCL\nR,5,x\n", None, "what is in 'kind' has to be said"),
        ("a,PTA4,t500\n1,2,3\n", "ignore=a", f"{OPTION} ignore=a,ignore=PTA4"),
        ("t500,aided\n10,yes\n", None, f"{OPTION} route=aided"),
        ("t500,UCL\n10,100\n", None, f"{OPTION} ignore=UCL"),
        ("t500,mcl500\n10,100\n", None, f"{OPTION} ignore=mcl500"),
        ("ear,t500,UCL 500 SPL\nR,10,100\n", None, f"{OPTION} 'ignore=UCL 500 SPL'"),
        ("t500,t1000 dB SPL\n10,20\n", None, f"{OPTION} 'ignore=t1000 dB SPL'"),
        ("t500,t8O00\n10,20\n", None, f"{OPTION} ignore=t8O00"),
        ("t500,No_Respons\n10,\n", None, f"{OPTION} no_response=No_Respons"),
        ("x 500,UCL 500\n10,9\n", None, "is, with right, left, right.bone or left.bone for EAR, "
         f"{OPTION} 'EAR.500=x 500,ignore=UCL 500'"),
        ("ear,x 500,PTA4\nR,10,9\n", None, "with air, bone or ucl for ROUTE and a place such as "
         f"right.500, or ignore, for PLACE, {OPTION} 'ROUTE.500=x 500,PLACE=PTA4'"),
        ("Ohr,Hz,x\nR,500,10\n", None, "what is in 'Ohr' has to be said (cells are separated by "
         f"a comma); allowed is, with the column of levels for HEADING, {OPTION} ear=Ohr,threshold"
         "=HEADING"),
        ("a,UCL 500\n1,100\n", None, "is not a table of audiograms, its first line has no"),
        ("a,b\n10,20\n", "t500=0,5", "has '5'; allowed is PLACE=HEADING"),
        ("a,b\n10,20\n", "t500=0,5", "with a comma in it is quoted, '\"t500=0,5 kHz\"'; in a"),
        ("125\t29.6\n133.9\t30.7\n", None, "has no headings: its first line is '125 29.6'"),
        ("10,15,20\n10,15,25\n", None, "has no headings"),
        ("a,b\n10,20\n", "right.500=c", "names column 'c', and t.csv has none; it has 'a', 'b'"),
        ("a,b\n10,20\n", "right.50=a", "has 'right.50=a'; allowed is PLACE=HEADING"),
        ("a,b\n10,20\n", "t500=", "has 't500='; allowed is PLACE=HEADING"),
        ("a,b\n10,20\n", "t500=a,t1000=a", "has 'a' twice; allowed is once"),
        ("a,b\n10,20\n", "t500=a,t500=b", "columns 'a' and 'b' are both t500; allowed is one"),
        ("a,b\n10,20\n", '"t500=a', "allowed is PLACE=HEADING,..."),
        ("a,b\n10,20\n", "none.txt", "'none.txt': No such file or directory; allowed are PLACE"),
        ("a,b\n10,20\n", None, "has no column tNNN (t500, t1000 ...): 'a b'; cells are taken"),
        ("<?xml version='1.0'?><a/>", None, "no threshold in it; XML of OtoAccess that is read"),
    ],
)  # fmt: skip
def test_what_has_to_be_said_is_refused(content: str, columns: str | None, words: str) -> None:
    with pytest.raises(AudiogramError, match=re.escape(words)):
        [*Table.read("t.csv", content.encode(), columns).all_ears()]


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("ear,air500,bone500,ucl500,ucl1000\nR,10,5,95,>110\n", None),
        ("R500,R_UCL500,R_UCL1000\n10,95,>110\n", None),
        ("ear,t500,LDL 500,LDL 1000\nR,10,95,>110\n", "ucl500=LDL 500,ucl1000=LDL 1000"),
        ("ear,hz,dB,kind\nR,500,10,AC\nR,500,95,UCL\nR,1000,>110,UCL\n",
         "threshold=dB,route=kind"),
        ('[{"ear": "right", "frequency": 500, "threshold": 10, "testType": "AC"},'
         '{"ear": "right", "frequency": 500, "threshold": 95, "testType": "UCL"},'
         '{"ear": "right", "frequency": 1000, "threshold": ">110", "testType": "UCL"}]',
         "route=testType"),
    ],
)  # fmt: skip
def test_levels_of_discomfort_are_no_thresholds(content: str, columns: str | None) -> None:
    (ear,) = Table.read("t.csv", content.encode(), columns).all_ears()
    assert [*ear.by_air] == [500.0]
    assert ear.by_air[500.0].level_db_hl == 10.0
    assert ear.discomfort[500.0].level_db_hl == 95.0
    assert (ear.discomfort[1000.0].heard, ear.discomfort[1000.0].limit_db_hl) == (False, 110.0)


def test_a_mapping_may_be_a_file_and_overrules_headings(tmp_path: Path) -> None:
    path = tmp_path / "columns.txt"
    path.write_text('right.500=a\n"left.500=b, second"\nignore=t500\nhz=c\nignore=c 2\n')
    content = b'a,"b, second",t500\n10,20,30\n'
    with pytest.raises(AudiogramError, match="names column 'c'"):
        Table.read("t.csv", content, str(path))
    for second in ('"left.500=b, second"', "left.500=b, second"):
        path.write_text(f"# Of the clinic\nright.500=a\n\n {second} \nignore=t500\n#t500=a")
        assert levels_of(Table.read("t.csv", content, str(path))) == AIR_500
