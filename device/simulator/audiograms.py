"""Audiograms by name: a standard one, an odd one, or a row of a table of real ears.

The table has the columns of the NHANES file: ``t500``, ``t1000`` ... in dB HL (any ``tNNN``), where
a blank cell is a frequency that was not measured, and ``no_response``, which lists the frequencies,
separated by ``;``, that were not heard at the audiometer's limit.

A table with the variables of NHANES itself (``AUXU500R`` ..., see `nhanes`), which is also what
`gp-pta export` writes, has a person a row: it gives both ears, or the one that is there for both.

A table of ears may have ``b500``, ``b1000`` ... too, the same by bone: where both are numbers their
difference is the ear's air-bone gap, as it stands there, below 0 as well.

A second threshold at 1 kHz (``t1000_retest``, ``1000_retest``) is averaged with the first: both are
readings of one threshold. Where only one of them was heard, that one counts.
"""

import csv
import math
import re
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from device.simulator import nhanes
from device.simulator.audiogram import Audiogram
from device.simulator.head import GapDb
from device.simulator.listener import EARS, Ear
from device.simulator.odd_ears import NUMBERS_MAX as ODD_NUMBERS_MAX
from device.simulator.odd_ears import ODD_EARS, odd_ear
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from firmware_py.platform.named_file import TEXT, open_named
from firmware_py.procedure.printable import show

THRESHOLD_DB_HL_MIN: Final = -30.0  # better ears than this are a unit mistake
THRESHOLD_DB_HL_MAX: Final = 140.0  # so are worse ones: audiometers end at 120
REQUIRED_COLUMNS: Final = ("t500", "t1000", "t2000", "t4000")  # the PTA4, in every audiogram

_BONE_COLUMN: Final = re.compile(r"b[1-9][0-9]{0,5}", re.ASCII)
_THRESHOLD_COLUMN: Final = re.compile(r"t([1-9][0-9]{0,5})(_retest)?", re.ASCII)


class AudiogramError(ValueError):
    """A text that names no audiogram; the message says where and what is allowed."""


def audiogram_named(text: str) -> dict[Ear, Audiogram]:
    """Find the audiograms a text names.

    Parameters
    ----------
    text : str
        ``N1`` ... ``N7``, ``S1`` ... ``S3`` (Bisgaard et al. 2010), one of `ODD_EARS` or the
        n-th of its family, ``NAME:N``, or ``FILE.csv:ROW``, where row 1 is the first one after the
        header. One such text is for both ears;
        ``TEXT,TEXT`` is right ear, left ear.  A row with both ears gives each its own.

    Raises
    ------
    AudiogramError
        A name is unknown, or a file, row, column or value is not what it has to be.
    """
    names = text.split(",")
    if len(names) > len(EARS):
        raise AudiogramError(
            f"audiogram {text!r} has {len(names)} parts, allowed are one for both ears, "
            "or RIGHT,LEFT"
        )
    audiograms = [_both_named(name.strip()) for name in names]
    right, left = EARS
    return {right: audiograms[0][right], left: audiograms[-1][left]}


def gaps_named(text: str) -> dict[str, GapDb]:
    """Return the air-bone gaps, over frequency, of ears that a text names; of others none.

    Raises
    ------
    AudiogramError
        As of `audiogram_named`.
    """
    names = [name.strip() for name in text.split(",")][: len(EARS)]
    gaps = [_gap_named(name) for name in names]
    return {ear: gap for ear, gap in zip(EARS, (gaps[0], gaps[-1]), strict=True) if gap is not None}


def _gap_named(name: str) -> Audiogram | None:
    file_name, _, row = name.rpartition(":")
    if not row.isdecimal() or not file_name or file_name in ODD_EARS:
        return None
    cells = _row_of_table(Path(file_name), int(row))
    where = f"{file_name}, row {row}"
    gaps_db: dict[float, float] = {}
    for column in filter(_BONE_COLUMN.fullmatch, cells):
        by_air, by_bone = cells.get(f"t{column[1:]}", ""), cells[column]
        if by_air and by_bone:
            air_db_hl = _threshold_db_hl(by_air, f"{where}, column t{column[1:]}")
            bone_db_hl = _threshold_db_hl(by_bone, f"{where}, column {column}")
            gaps_db[float(column[1:])] = air_db_hl - bone_db_hl
    rising = sorted(gaps_db)
    return Audiogram(tuple(rising), tuple(gaps_db[f] for f in rising)) if rising else None


def _both_named(name: str) -> dict[Ear, Audiogram]:
    if name in STANDARD_AUDIOGRAMS_DB_HL:
        frequencies_hz = tuple(map(float, FREQUENCIES_HZ))
        audiogram = Audiogram(frequencies_hz, STANDARD_AUDIOGRAMS_DB_HL[name])
        return dict.fromkeys(EARS, audiogram)
    if name in ODD_EARS:
        return dict.fromkeys(EARS, odd_ear(name))
    file_name, colon, row = name.rpartition(":")
    if not colon:
        raise AudiogramError(
            f"no audiogram is called {name!r}, allowed are "
            f"{', '.join((*STANDARD_AUDIOGRAMS_DB_HL, *ODD_EARS))}, or FILE.csv:ROW"
        )
    if file_name in ODD_EARS:
        return dict.fromkeys(EARS, _odd_ear(file_name, row))
    if not re.fullmatch("[1-9][0-9]{0,8}", row, re.ASCII):
        raise AudiogramError(
            f"row {show(row)} of {file_name}, allowed is a number from 1 (the row after the "
            "header) to 999999999"
        )
    return _from_table(Path(file_name), int(row))


def _odd_ear(name: str, number: str) -> Audiogram:
    if re.fullmatch("[1-9][0-9]{0,6}", number, re.ASCII) and int(number) <= ODD_NUMBERS_MAX:
        return odd_ear(name, int(number))
    raise AudiogramError(
        f"ear {number!r} of {name}, allowed is a number from 1 to {ODD_NUMBERS_MAX}"
    )


def _from_table(path: Path, row: int) -> dict[Ear, Audiogram]:
    cells = _row_of_table(path, row)
    where = f"{path}, row {row}"
    if not nhanes.is_of_people(cells):
        return dict.fromkeys(EARS, _from_cells(cells, where))
    ears = {
        ear: _from_cells(own, f"{where}, {ear} ear")
        for ear, own in nhanes.ears_of(cells).items()
        if any(own.values())
    }
    if not ears:
        raise AudiogramError(f"{where}: no threshold in it, wanted is at least one AUXU... cell")
    return {ear: ears.get(ear) or next(iter(ears.values())) for ear in EARS}


def _from_cells(cells: dict[str, str], where: str) -> Audiogram:
    deaf_columns = _deaf_columns(cells.get("no_response", ""), where)
    readings: dict[int, list[float]] = {}
    for column in [*cells, *(deaf_columns - cells.keys())]:
        match = _THRESHOLD_COLUMN.fullmatch(column)
        if match is None or not (column in deaf_columns or cells[column]):
            continue
        threshold_db_hl = (
            math.inf
            if column in deaf_columns
            else _threshold_db_hl(cells[column], f"{where}, column {column}")
        )
        readings.setdefault(int(match[1]), []).append(threshold_db_hl)
    if not readings:
        raise AudiogramError(f"{where}: no threshold in it, wanted is at least one tNNN cell")
    frequencies_hz = sorted(readings)
    return Audiogram(
        tuple(map(float, frequencies_hz)),
        tuple(_mean_of_heard(readings[frequency_hz]) for frequency_hz in frequencies_hz),
    )


def _row_of_table(path: Path, row: int) -> dict[str, str]:
    # The cells of one row by column name.
    try:
        with TextIOWrapper(open_named(path), encoding=TEXT, newline="") as file:
            lines = csv.reader(file, strict=True)
            header = [column.strip() for column in next(lines, [])]
            _check_header(path, header)
            cells = _nth(lines, path, row)
    except OSError as error:
        raise AudiogramError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise AudiogramError(f"{path}: is not a CSV file in UTF-8: {error}") from error
    if len(cells) != len(header):
        raise AudiogramError(
            f"{path}, row {row}: {len(cells)} cells, the header has {len(header)} columns"
        )
    return dict(zip(header, (cell.strip() for cell in cells), strict=True))


def _check_header(path: Path, header: list[str]) -> None:
    twice = sorted({column for column in header if header.count(column) > 1})
    if twice:
        raise AudiogramError(f"{path}: column {', '.join(twice)} comes twice, allowed is once")
    if nhanes.is_of_people(header):
        return
    missing = [column for column in REQUIRED_COLUMNS if column not in header]
    if len(missing) == len(REQUIRED_COLUMNS):
        raise AudiogramError(
            f"{path}: is not a CSV file with audiograms, its first line has none of the columns "
            f"{', '.join(REQUIRED_COLUMNS)}"
        )
    if missing:
        raise AudiogramError(
            f"{path}: column {', '.join(missing)} is missing, wanted are at least "
            f"{', '.join(REQUIRED_COLUMNS)}"
        )


def _nth(lines: Iterator[list[str]], path: Path, row: int) -> list[str]:
    count = 0
    for count, cells in enumerate(filter(None, lines), 1):  # an empty line is no row
        if count == row:
            return cells
    allowed = f"allowed are 1 to {count}" if count else "the table has no rows"
    raise AudiogramError(f"{path}: row {row} is not there, {allowed}")


def _deaf_columns(text: str, where: str) -> set[str]:
    # The columns whose frequencies "no_response" lists.
    columns = set()
    for entry in filter(None, (part.strip() for part in text.split(";"))):
        if not _THRESHOLD_COLUMN.fullmatch("t" + entry):
            raise AudiogramError(
                f"{where}, column no_response: {entry!r} is not a frequency, "
                "allowed are numbers of Hz separated by ;"
            )
        columns.add("t" + entry)
    return columns


def _threshold_db_hl(cell: str, where: str) -> float:
    try:
        threshold_db_hl = float(cell)
    except ValueError:
        raise AudiogramError(f"{where}: {cell!r} is not a number of dB HL") from None
    if not THRESHOLD_DB_HL_MIN <= threshold_db_hl <= THRESHOLD_DB_HL_MAX:
        raise AudiogramError(
            f"{where}: {cell} dB HL, allowed are {THRESHOLD_DB_HL_MIN:g} to {THRESHOLD_DB_HL_MAX:g}"
        )
    return threshold_db_hl


def _mean_of_heard(levels_db_hl: list[float]) -> float:
    heard = [level_db_hl for level_db_hl in levels_db_hl if level_db_hl < math.inf]
    return sum(heard) / len(heard) if heard else math.inf
