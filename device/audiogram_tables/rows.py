"""What rows say of ears: thresholds in columns of a frequency, or at the frequency of the row."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from device.audiogram_tables.columns import Columns
from device.audiogram_tables.ears import (
    NO_RESPONSE,
    AudiogramError,
    TableEar,
    TableThreshold,
    merge,
)
from device.audiogram_tables.levels import reading_of
from device.audiogram_tables.people import LETTERS, ear_of, person_of, remarks_of
from device.audiogram_tables.places import (
    DISCOMFORT,
    FREQUENCY_ROLES,
    Place,
    Role,
    frequency_of,
    guess,
    place_named,
)
from device.audiogram_tables.sheet import Row
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT

Threshold = tuple[str, str, float]  # ear, route, frequency
Found = tuple[Threshold, TableThreshold | None]  # None: it is not known

_YES: Final = {"1", "yes", "y", "true", "x", "nr", "no response"}
_NO: Final = {"", "0", "no", "n", "false"}
# "4000 no-response >100; 6000 hears-all <=-10", as `gp-pta export` writes it.
_MARK: Final = re.compile(r"(\d+) (no-response|hears-all)(?:[^;>]*?(?:>|<=) ?(-?[\d.,]+))?")


def check_shape(columns: Columns) -> None:
    path, at, levels = columns.sheet.path, columns.of(Role.AT), columns.of(Role.THRESHOLD)
    found, frequencies, ears = at or levels, columns.of(*FREQUENCY_ROLES), columns.of(Role.EAR)
    with_side = [text for text, place in found if place.side]
    why = ""
    if at and frequencies:
        why = (
            f"column {show(frequencies[0][0])} has a frequency for each row, and column "
            f"{show(at[0][0])} thresholds at one; allowed is one of the two"
        )
    elif not found:
        why = "has a column of frequencies, and none of levels; wanted is threshold, or left, right"
    elif with_side and len(with_side) < len(found):
        of_none = next(text for text, place in found if not place.side)
        why = (
            f"column {show(with_side[0])} says an ear, {show(of_none)} says none; allowed is that "
            "all say one (R500, L500), or none (t500, and a column ear)"
        )
    elif with_side and ears and not at:
        why = (
            f"column {show(ears[0][0])} says an ear, and so does {show(with_side[0])}; allowed is "
            "one of the two"
        )
    if why:
        raise AudiogramError(f"{path}: {why}")


def ears_of(columns: Columns, rows: Sequence[Row], number: int, *, grouped: bool) -> list[TableEar]:
    """Return the ears of a row, or of all rows of a person, right before left."""
    of, where = person_of(columns, rows[0]), rows[0].where
    found, remarks = _found_in(columns, rows)
    both = grouped or any(place.side for _, place in columns.of(Role.AT))
    letter = "" if both else ear_of(columns, rows[0])[0]
    if grouped:
        where = f"{columns.sheet.path}, {of['person'] or f'person {number}'}"
    ears = []
    for side in (side for side in (RIGHT, LEFT, "") if any(side == of[0] for of in found)):
        mine = sorted((place[1:], each) for place, each in found.items() if place[0] == side)
        by_air, by_bone, discomfort = (
            {f: merge(each) for (by, f), each in mine if by == route and each}
            for route in (AIR, BONE, DISCOMFORT)
        )
        ears.append(
            TableEar(
                f"{where}, {side} ear" if side and both else where,
                ear=letter or LETTERS[side], side=side, by_air=by_air, by_bone=by_bone,
                discomfort=discomfort,
                unknown_hz=tuple(f for (by, f), each in mine if by == AIR and not each),
                remarks=tuple(dict.fromkeys(remarks.get(side, ()))), row=number, **of,
            )
        )  # fmt: skip
    return ears


def _found_in(
    columns: Columns, rows: Sequence[Row]
) -> tuple[dict[Threshold, tuple[TableThreshold, ...]], dict[str, list[str]]]:
    """Return all readings of each threshold, none where it is not known, and remarks by ear."""
    found: dict[Threshold, tuple[TableThreshold, ...]] = {}
    first: dict[Threshold, Row] = {}
    remarks: dict[str, list[str]] = {}
    read = _at_columns if columns.of(Role.AT) else _at_frequency
    for row in rows:
        for place, reading in read(columns, row):
            side, route, frequency_hz = place
            if first.setdefault(place, row) is not row:
                raise AudiogramError(
                    f"{row.where}: {frequency_hz:g} Hz{f' of the {side} ear' * bool(side)} comes "
                    f"twice (first in {first[place].where}); allowed is once for each person, who "
                    "is told by a column subject, and a session by a column session, visit or date"
                )
            found[place] = found.get(place, ()) + ((reading,) if reading else ())
            if route != BONE:
                remarks.setdefault(side, []).extend(remarks_of(columns, row, side))
    return found, remarks


def _level_in(row: Row, heading: str, where: str = "") -> TableThreshold | None:
    try:
        return reading_of(row[heading])
    except ValueError as error:
        raise AudiogramError(f"{where or row.where}, column {heading}: {error}") from None


def _at_frequency(columns: Columns, row: Row) -> Iterator[Found]:
    (heading, place), *_ = columns.of(*FREQUENCY_ROLES)
    levels = columns.of(Role.THRESHOLD)
    frequency_hz = frequency_of(row[heading], place.role)
    if frequency_hz is None:
        raise AudiogramError(
            f"{row.place(heading)}: {show(row[heading])} is not a frequency of audiometry; allowed "
            "are 125 to 16000, or others, 100 to 50000, with their unit: 800 Hz or 0.8 kHz, or in "
            "a column named hz or khz"
        )
    _, of_row, route = ear_of(columns, row, must=not levels[0][1].side)
    limit, mark = columns.cell(row, Role.LIMIT), columns.cell(row, Role.MARK)
    for text, level in levels:
        reading = _level_in(row, text)
        if reading is None:
            reading = _of_mark(mark, limit)
        side = level.side or of_row
        for silent, of in columns.of(Role.NO_RESPONSE):
            word = row[silent].casefold()
            if word not in _YES | _NO:
                raise AudiogramError(
                    f"{row.place(silent)}: {show(word)}, allowed are yes and no; no response may "
                    "stand in the column of levels, too: NR, or >110 up to a limit"
                )
            if word in _YES and of.side in ("", side):
                reading = _silent(reading, row.place(text), silent)
        yield (side, level.route or route or AIR, frequency_hz), reading


def _at_columns(columns: Columns, row: Row) -> Iterator[Found]:
    _, of_row, route = ear_of(columns, row)
    silent = {
        _listed(columns, entry, of, row.place(text)): text
        for text, of in columns.of(Role.NO_RESPONSE)
        for entry in map(str.strip, re.split(r"[;,|/]", row[text]))
        if entry
    }
    for text, place in columns.of(Role.AT):
        where = f"{row.where}{f', {place.side} ear' * bool(place.side)}"
        reading = _level_in(row, text, where)
        if text in silent:
            reading = _silent(reading, f"{where}, column {text}", silent[text])
        for marks, of in columns.of(Role.MARKS):
            for hertz, mark, limit in _MARK.findall(row[marks]):
                same = (of.side, of.route, float(hertz)) == place[1:4]
                if same and reading is None:
                    reading = _of_mark(mark, limit)
        yield (place.side or of_row, place.route or route or AIR, place.frequency_hz), reading


def _of_mark(mark: str, limit: str) -> TableThreshold | None:
    """Return what our exports say of a threshold whose number is blank."""
    if mark == Outcome.NO_RESPONSE:
        return reading_of(f">{limit}" if limit else "NR")
    return reading_of(limit) if mark == Outcome.HEARS_ALL else None


def _silent(reading: TableThreshold | None, where: str, column: str) -> TableThreshold:
    """Return no response, as a column of them says it; with a limit, if the cell has one."""
    if reading is not None and reading.heard:
        raise AudiogramError(
            f"{where}: {reading.level_db_hl:g} dB HL, and no response by column {column}; allowed "
            f"is one of the two: an empty cell, or >{reading.level_db_hl:g} if that was the limit"
        )
    return reading or NO_RESPONSE


def _listed(columns: Columns, entry: str, of: Place, where: str) -> str:
    """Return the column of thresholds that an entry of no response names."""
    named, at = place_named(entry, said=True) or guess(entry), columns.of(Role.AT)
    if named is None or named.role != Role.AT:
        raise AudiogramError(
            f"{where}: {show(entry)} is not a frequency, allowed are numbers of Hz separated by ;"
        )
    side = named.side or of.side
    if not side and at[0][1].side:
        raise AudiogramError(
            f"{where}: {show(entry)} says no ear; allowed are such as R4000, L4000, or a column "
            "no_response_right and one no_response_left"
        )
    wanted = named.route or of.route or AIR, named.frequency_hz, named.again
    for text, place in at:
        same = (place.route or AIR, place.frequency_hz, place.again) == wanted
        if same and place.side in ("", side):
            return text
    allowed = sorted({place.frequency_hz for _, place in at})
    raise AudiogramError(
        f"{where}: {show(entry)} is no frequency of the table, allowed are "
        f"{', '.join(f'{f:g}' for f in allowed)}, separated by ;"
    )
