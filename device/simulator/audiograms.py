"""Audiograms by name: a standard one, an odd one, or a row of a table of real ears.

`device.audiogram_tables.table` has what a table may be. A row with both ears gives each its own.
A row with one ear gives it for both.

A table does not know everything: a frequency may not have been measured, or could not be. What a
simulated listener hears there is made up from what is known: on the line over log frequency between
neighbours, beyond the last as at the last. `Audiogram.knows` tells it from what is in the table: a
frequency that was measured, and one between two that were, an octave apart or less, with none
between them that the table asked for in vain.
"""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from device.audiogram_tables.ears import AudiogramError, TableEar
from device.audiogram_tables.table import TABLE_BYTES_MAX, Table
from device.simulator.audiogram import Audiogram
from device.simulator.head import GapDb
from device.simulator.listener import EARS, Ear
from device.simulator.odd_ears import NUMBERS_MAX as ODD_NUMBERS_MAX
from device.simulator.odd_ears import ODD_EARS, odd_ear
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from firmware_py.platform.named_file import content_of
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ

NEIGHBOURS: Final = 2.0  # so far apart two frequencies may be for what is between them to be known
EVERYWHERE: Final = ((0.0, math.inf),)


def audiogram_named(text: str, columns: str | None = None) -> dict[Ear, Audiogram]:
    """Find the audiograms a text names.

    Parameters
    ----------
    text : str
        ``N1`` ... ``N7``, ``S1`` ... ``S3`` (Bisgaard et al. 2010), one of `ODD_EARS` or the
        n-th of its family, ``NAME:N``, or ``FILE:ROW``, where row 1 is the first one after the
        header, or ``FILE:NAME``, of somebody in the table. One such text is for both ears;
        ``TEXT,TEXT`` is right ear, left ear.  A row with both ears gives each its own.
    columns : str, optional
        What a table's columns have, as of `Table.read`.

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
    audiograms = [_both_named(name.strip(), columns) for name in names]
    right, left = EARS
    return {right: audiograms[0][right], left: audiograms[-1][left]}


def gaps_named(text: str, columns: str | None = None) -> dict[str, GapDb]:
    """Return the air-bone gaps, over frequency, of ears that a text names; of others none.

    Errors as of `audiogram_named`.
    """
    names = [name.strip() for name in text.split(",")][: len(EARS)]
    named = dict(zip(EARS, (names[0], names[-1]), strict=True))
    gaps = {ear: _gap_named(name, ear, columns) for ear, name in named.items()}
    return {ear: gap for ear, gap in gaps.items() if gap is not None}


def _gap_named(name: str, ear: Ear, columns: str | None) -> Audiogram | None:
    file_name, colon, row = name.rpartition(":")
    if not colon or not file_name or file_name in ODD_EARS:
        return None
    table = _table(file_name, columns)
    found = _of_ear(table, table.ears(row), ear)
    if found is None:
        return None
    gaps_db = {
        frequency_hz: found.by_air[frequency_hz].level_db_hl - by_bone.level_db_hl
        for frequency_hz, by_bone in found.by_bone.items()
        if by_bone.heard and frequency_hz in found.by_air and found.by_air[frequency_hz].heard
    }
    return Audiogram((*gaps_db,), (*gaps_db.values(),)) if gaps_db else None


def _both_named(name: str, columns: str | None) -> dict[Ear, Audiogram]:
    if name in STANDARD_AUDIOGRAMS_DB_HL:
        frequencies_hz = tuple(map(float, FREQUENCIES_HZ))
        audiogram = Audiogram(frequencies_hz, STANDARD_AUDIOGRAMS_DB_HL[name])
        return dict.fromkeys(EARS, audiogram)
    if name in ODD_EARS:
        return dict.fromkeys(EARS, odd_ear(name))
    file_name, colon, row = name.rpartition(":")
    if not colon and Path(name).is_file():
        raise AudiogramError(
            f"audiogram {name!r} is a table; allowed is a row of it, such as {name}:1"
        )
    if not colon:
        raise AudiogramError(
            f"no audiogram is called {name!r}, allowed are "
            f"{', '.join((*STANDARD_AUDIOGRAMS_DB_HL, *ODD_EARS))}, or FILE.csv:ROW"
        )
    if file_name in ODD_EARS:
        return dict.fromkeys(EARS, _odd_ear(file_name, row))
    return _from_table(_table(file_name, columns), row)


def _odd_ear(name: str, number: str) -> Audiogram:
    if re.fullmatch("[1-9][0-9]{0,6}", number, re.ASCII) and int(number) <= ODD_NUMBERS_MAX:
        return odd_ear(name, int(number))
    raise AudiogramError(
        f"ear {number!r} of {name}, allowed is a number from 1 to {ODD_NUMBERS_MAX}"
    )


def remarks_on(text: str, columns: str | None = None) -> list[str]:
    """Return what a person should know of the tables that a text names, and of what they lack.

    Errors as of `audiogram_named`.
    """
    told: list[str] = []
    for name in dict.fromkeys(part.strip() for part in text.split(",")):
        file_name, colon, row = name.rpartition(":")
        if colon and file_name not in ODD_EARS:
            table = _table(file_name, columns)
            told += table.remarks
            told += _lacks(table, row, name)
    return list(dict.fromkeys(told))


def _lacks(table: Table, row: str, name: str) -> Iterator[str]:
    """Yield what is not known of a row's ears, and of what is made up in its place."""
    found = table.ears(row)
    by_ear = {ear: _of_ear(table, found, ear) for ear in EARS}
    for each in {id(known): known for known in by_ear.values() if known is not None}.values():
        audiogram = _audiogram(each) if each.by_air else None
        if audiogram and (unknown := _unknown_hz(each, audiogram)):
            yield (
                f"{each.where}: not known at {', '.join(f'{f:g}' for f in unknown)} Hz; what is "
                "heard there is made up, is not shown as true, and no error is counted there"
            )
        yield from (f"{each.where}: {remark}" for remark in each.remarks)
    for ear, known in by_ear.items():
        if known is None or not known.by_air:
            yield (
                f"{name}: nothing is known of the {ear} ear; it is made up to hear as the other "
                "one, and no error is counted"
            )


def _unknown_hz(ear: TableEar, audiogram: Audiogram) -> list[float]:
    between = {
        float(f) for f in AUDIOGRAM_FREQUENCIES_HZ
        if audiogram.frequencies_hz[0] < f < audiogram.frequencies_hz[-1] and audiogram.makes_up(f)
    }  # fmt: skip
    return sorted(between | {*ear.unknown_hz})


def _table(file_name: str, columns: str | None) -> Table:
    try:
        return Table.read(file_name, content_of(Path(file_name), TABLE_BYTES_MAX), columns)
    except OSError as error:
        raise AudiogramError(f"{file_name}: cannot be read: {error.strerror}") from error


def _from_table(table: Table, row: str) -> dict[Ear, Audiogram]:
    ears = table.ears(row)
    known = {ear: found for ear in EARS if (found := _of_ear(table, ears, ear)) and found.by_air}
    if not known:
        where = f"{table.path}, row {ears[0].row}" if ears else table.path
        raise AudiogramError(f"{where}: no threshold in it, wanted is at least one tNNN cell")
    audiograms = {ear: _audiogram(found) for ear, found in known.items()}
    other = next(iter(audiograms.values()))
    made_up = Audiogram(other.frequencies_hz, other.thresholds_db_hl, EVERYWHERE)
    return {ear: audiograms.get(ear, made_up) for ear in EARS}


def _of_ear(table: Table, ears: Sequence[TableEar], ear: Ear) -> TableEar | None:
    """Return an ear of a row: that of its side; the only ear of a row stands for both."""
    if len(ears) == 1 and (not table.both or not ears[0].side):
        return ears[0]
    return next((each for each in ears if each.side == ear), None)


def _audiogram(ear: TableEar) -> Audiogram:
    frequencies_hz = tuple(ear.by_air)
    lacking = [
        (low, high)
        for low, high in pairwise(frequencies_hz)
        if high > NEIGHBOURS * low or any(low < f < high for f in ear.unknown_hz)
    ]
    levels_db_hl = tuple(reading.level_db_hl for reading in ear.by_air.values())
    outside = ((0.0, frequencies_hz[0]), (frequencies_hz[-1], math.inf))
    return Audiogram(frequencies_hz, levels_db_hl, (*outside, *lacking))
