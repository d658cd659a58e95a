"""The table of NHANES, made from transport files that this test writes byte by byte."""

import csv
import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from device.simulator.audiograms import audiogram_named
from host_tools.main import main
from host_tools.research.nhanes import COLUMNS, CYCLES, MODE

DATE: Final = b"01JAN00:00:00:00"
PEOPLE: Final[dict[str, list[float]]] = {
    "SEQN": [1, 2, 3, 4],
    "RIDAGEYR": [43, 71, 6, 0],
    "RIAGENDR": [1, 2, 2, 1],
}
BLANK: Final = math.nan
# Person 1 is whole, 2 has codes, of 3 nobody tried the left ear, 4 has nothing, 9 is nobody.
RIGHT: Final[dict[str, list[float]]] = {
    "AUXU500R": [10, 15, 0, BLANK, 5],
    "AUXU1K1R": [5, 666, 5, BLANK, 5],
    "AUXU1K2R": [-5, 666, 5, BLANK, 5],
    "AUXU2KR": [10, 888, 10, BLANK, 5],
    "AUXU3KR": [10, 100, 10, BLANK, 5],
    "AUXU4KR": [15, BLANK, 0, BLANK, 5],
    "AUXU6KR": [15, 105, 5, BLANK, 5],
    "AUXU8KR": [10, 666, -10, BLANK, 5],
}
LEFT: Final[dict[str, list[float]]] = {
    name[:-1] + "L": [values[0] + 5, 666, BLANK, BLANK, 5] for name, values in RIGHT.items()
}
AUDIOMETRY: Final[dict[str, list[float]]] = {
    "SEQN": [1, 2, 3, 4, 9],
    MODE: [2, 1, 3, BLANK, 2],
    **RIGHT,
    **LEFT,
}


def ibm(value: float) -> bytes:
    """Return a number as a mainframe of 1964 has it: sign, power of 16, and 56 bits."""
    if math.isnan(value):
        return b"." + bytes(7)
    if value == 0:
        return bytes(8)
    power = 0
    size = abs(value)
    while size >= 1:
        size, power = size / 16, power + 1
    return bytes([(128 if value < 0 else 0) | (64 + power)]) + round(size * 2**56).to_bytes(7)


def header(kind: str, numbers: str = "0" * 30) -> bytes:
    return f"HEADER RECORD*******{kind:<8}HEADER RECORD!!!!!!!{numbers}  ".encode()


def pad(data: bytes) -> bytes:
    return data + b" " * (-len(data) % 80)


def transport(table: Mapping[str, Sequence[float]]) -> bytes:
    """Return a table as a SAS transport file, version 5."""
    variables = b"".join(
        struct.pack(
            ">hhhh8s40s8shhh2s8shhl52s", 1, 0, 8, number, name.ljust(8).encode(), b" " * 40,
            b" " * 8, 0, 0, 0, b"  ", b" " * 8, 0, 0, 8 * (number - 1), bytes(52),
        )
        for number, name in enumerate(table, 1)
    )  # fmt: skip
    rows = b"".join(ibm(value) for row in zip(*table.values(), strict=True) for value in row)
    return b"".join([
        header("LIBRARY "), pad(b"SAS     SAS     SASLIB  9.4     X64     ")[:64] + DATE,
        pad(DATE), header("MEMBER", "0" * 17 + "1600000000140"), header("DSCRPTR"),
        pad(b"SAS     TABLE   SASDATA 9.4     X64     ")[:64] + DATE, pad(DATE),
        header("NAMESTR", f"000000{len(table):04}" + "0" * 20), pad(variables), header("OBS"),
        pad(rows),
    ])  # fmt: skip


def put(folder: Path, **tables: Mapping[str, Sequence[float]]) -> None:
    for name, table in tables.items():
        (folder / f"{name}.XPT").write_bytes(transport(table))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_an_ear_a_row_with_codes_as_the_table_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, AUX_C=AUDIOMETRY, DEMO_C=PEOPLE)
    out = tmp_path / "ears.csv"
    assert main(["nhanes", str(tmp_path), "-o", str(out)]) == 0
    said = capsys.readouterr().err
    lines = out.read_text("utf-8").splitlines()

    assert lines[0] == ",".join(COLUMNS)
    assert lines[1:] == [
        "NHANES 2003-2004,1,R,43,M,10,5,-5,10,10,15,15,10,,auto",
        "NHANES 2003-2004,2,R,71,F,15,,,,100,,105,,1000;1000_retest;8000,manual",
        "NHANES 2003-2004,3,R,6,F,0,5,5,10,10,0,5,-10,,mixed",
        "NHANES 2003-2004,1,L,43,M,15,10,0,15,15,20,20,15,,auto",
        "NHANES 2003-2004,2,L,71,F,,,,,,,,,500;1000;1000_retest;2000;3000;4000;6000;8000,manual",
    ]
    assert "2003-2004: 5 ears of 3 people; 2 people without a threshold" in said
    assert said.count("(no ") == len(CYCLES) - 1
    assert "left out: 1999-2000 (no AUX1, no DEMO), 2001-2002 (no" in said
    of_row = audiogram_named(f"{out}:1")["right"]
    assert of_row.threshold_db_hl(4000.0) == 15.0
    assert of_row.threshold_db_hl(1000.0) == 0.0, "the mean of both readings"


def test_cycles_stand_in_the_order_of_years_and_files_may_be_named_in_small_letters(
    tmp_path: Path,
) -> None:
    put(tmp_path, P_AUX=AUDIOMETRY, P_DEMO=PEOPLE, aux1=AUDIOMETRY, demo=PEOPLE)
    out = tmp_path / "ears.csv"
    assert main(["nhanes", str(tmp_path), "-o", str(out)]) == 0
    sources = [row["source"] for row in rows_of(out)]
    assert sources == ["NHANES 1999-2000"] * 5 + ["NHANES 2017-2020"] * 5


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "has no cycle of NHANES; wanted are pairs of files: AUX1.XPT with DEMO.XPT"),
        ({"AUX1": b"SEQN,AUXU500R\n1,5\n", "DEMO": b""}, "AUX1.XPT is no SAS transport file"),
        ({"AUX1": transport({"X": [1]}), "DEMO": b""}, "AUX1.XPT has no variable SEQN, AUXU500R"),
        ({"AUX1": transport({"SEQN": [1]}), "DEMO": b""}, "AUX1.XPT has no variable AUXU500R"),
        ({"AUX1": transport(AUDIOMETRY), "DEMO": transport({"SEQN": [1]})},
         "DEMO.XPT has no variable RIDAGEYR"),
    ],
)  # fmt: skip
def test_what_is_no_cycle_is_named(
    files: dict[str, bytes], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in files.items():
        (tmp_path / f"{name}.XPT").write_bytes(content)
    out = tmp_path / "ears.csv"
    assert main(["nhanes", str(tmp_path), "-o", str(out)]) == 2
    assert words in capsys.readouterr().err
    assert not out.exists()
