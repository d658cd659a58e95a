"""Tables with an ear or a person a row, and a column a frequency."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from device.audiogram_tables.columns import Column, Columns
from device.audiogram_tables.ears import AudiogramError, TableEar, TableThreshold, merge
from device.audiogram_tables.grid import Row
from device.audiogram_tables.headings import Heading, Role, heading_of
from device.audiogram_tables.levels import plain, reading_of
from device.audiogram_tables.people import ear_of, letter, names_of, someone
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT

# "4000 no-response >100; 6000 hears-all <=-10", as `gp-pta export` writes it.
_LIMIT: Final = re.compile(r"(\d+) (no-response|hears-all)[^;>]*?(?:>|<=) ?(-?[\d.,]+)")


class WideTable:
    """A table with an ear or both ears a row."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        sides = {c.heading.side for c in columns.thresholds()}
        if "" in sides and len(sides) > 1:
            of_one = next(c.text for c in columns.thresholds() if c.heading.side)
            of_none = next(c.text for c in columns.thresholds() if not c.heading.side)
            raise AudiogramError(
                f"{columns.grid.path}: column {show(of_one)} says an ear, {show(of_none)} says "
                "none; allowed is that all say one (R500, L500), or none (t500, and a column ear)"
            )
        self.both = sides != {""}  # ears a row
        others = (Role.EAR,) if self.both else ()
        self.unused: Collection[Role] = (Role.LEVEL, Role.MARK, Role.LIMIT, *others)
        self._sides = [side for side in (RIGHT, LEFT) if side in sides] if self.both else [""]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.columns.grid.rows)

    def frequencies_hz(self, route: str) -> list[float]:
        """Return the frequencies of the columns of a route, rising."""
        found = {c.heading.frequency_hz for c in self._thresholds() if c.heading.route == route}
        return sorted(found)

    def ears(self, number: int) -> list[TableEar]:
        """Return the ears of a row, from 1 on: one, or both, of which one may be unknown."""
        row = self.columns.whole(self.columns.grid.rows[number - 1])
        return [replace(self._ear(row, side), row=number) for side in self._sides]

    def names(self, number: int) -> tuple[str, ...]:
        """Return all that a row calls its person."""
        return names_of(self.columns, self.columns.grid.rows[number - 1])

    def _thresholds(self, side: str | None = None) -> list[Column]:
        return [c for c in self.columns.thresholds() if side is None or c.heading.side == side]

    def _ear(self, row: Row, side: str) -> TableEar:
        where = self.columns.grid.place(row)
        of = someone(self.columns, row)
        if self.both:
            where = f"{where}, {side} ear"
            words = [c for c in self.columns.of(Role.VERDICT) if c.heading.side == side]
            verdicts = [plain(row.cells[c.index]) for c in words if c.heading.route == AIR]
            of = of.with_verdict(verdicts[0] if verdicts else "")
            ear = of.ear(where, letter(side), side)
            route = AIR
        else:
            name, its_side, route = ear_of(self.columns, row)
            ear = of.ear(where, name, its_side)
        readings = self._readings(row, side, where)
        found: dict[str, dict[float, list[TableThreshold]]] = {AIR: {}, BONE: {}}
        asked: set[float] = set()
        for column, reading in readings.items():
            by = BONE if route == BONE else column.route
            if by == AIR:
                asked.add(column.frequency_hz)
            if reading is not None:
                found[by].setdefault(column.frequency_hz, []).append(reading)
        by_air, by_bone = (
            {f: merge(tuple(found[by][f])) for f in sorted(found[by])} for by in (AIR, BONE)
        )
        unknown = tuple(sorted(asked - by_air.keys()))
        return replace(ear, by_air=by_air, by_bone=by_bone, unknown_hz=unknown)

    def _readings(self, row: Row, side: str, where: str) -> dict[Heading, TableThreshold | None]:
        found: dict[Heading, TableThreshold | None] = {}
        for column in self._thresholds(side):
            try:
                found[column.heading] = reading_of(row.cells[column.index])
            except ValueError as error:
                raise AudiogramError(f"{where}, column {column.text}: {error}") from None
        for heading, reading in self._codes(row, side).items():
            if found.get(heading) is None:
                found[heading] = reading
        for heading in self._not_heard(row, side, where):
            reading = found[heading]
            if reading is not None and reading.heard:
                column = next(c for c in self._thresholds(side) if c.heading == heading)
                raise AudiogramError(
                    f"{where}, column {column.text}: {reading.level_db_hl:g} dB HL, and listed in "
                    "column no_response; allowed is one of the two: an empty cell, or "
                    f">{reading.level_db_hl:g} if that was the limit, or nothing in no_response"
                )
            if reading is None:
                found[heading] = reading_of("NR")
        return found

    def _codes(self, row: Row, side: str) -> Mapping[Heading, TableThreshold | None]:
        """Return what our exports say of frequencies whose number is blank."""
        limits: dict[tuple[str, int], tuple[str, str]] = {}
        for column in self.columns.of(Role.MARKS):
            if column.heading.side == side:
                for found in _LIMIT.finditer(row.cells[column.index]):
                    limits[column.heading.route, int(found[1])] = found[2], found[3]
        coded: dict[Heading, TableThreshold | None] = {}
        thresholds = {(c.heading.route, c.heading.frequency_hz): c for c in self._thresholds(side)}
        for column in self.columns.of(Role.CODE):
            place = column.heading.route, column.heading.frequency_hz
            word = plain(row.cells[column.index])
            if column.heading.side != side or place not in thresholds:
                continue
            limit = limits.get((place[0], int(place[1])), ("", ""))[1]
            if word == Outcome.NO_RESPONSE:
                coded[thresholds[place].heading] = reading_of(f">{limit}" if limit else "NR")
            elif word == Outcome.HEARS_ALL and limit:
                coded[thresholds[place].heading] = reading_of(limit)
        return coded

    def _not_heard(self, row: Row, side: str, where: str) -> Iterable[Heading]:
        """Yield the thresholds that columns of no response list."""
        for column in self.columns.of(Role.NO_RESPONSE):
            if self.both and column.heading.side not in ("", side):
                continue
            place = f"{where}, column {column.text}"
            for entry in re.split(r"[;,|/]", plain(row.cells[column.index])):
                heading = (
                    self._in_list(entry.strip(), column.heading, side, place)
                    if entry.strip()
                    else None
                )
                if heading is not None:
                    yield heading

    def _in_list(self, entry: str, column: Heading, side: str, place: str) -> Heading | None:
        """Return the threshold that an entry of no response names; None: of the other ear."""
        named = heading_of(entry) or heading_of("t" + entry)
        if named is None or named.role != Role.THRESHOLD:
            raise AudiogramError(
                f"{place}: {show(entry)} is not a frequency, allowed are numbers of Hz separated "
                f"by ;"
            )
        of = named.side or column.side
        if self.both and not of:
            raise AudiogramError(
                f"{place}: {show(entry)} says no ear; allowed are such as R4000, L4000, or a "
                "column no_response_right and one no_response_left"
            )
        if self.both and of != side:
            return None
        for each in self._thresholds(side):
            same = each.heading.frequency_hz == named.frequency_hz
            route = named.route if named.route != AIR else column.route
            if same and each.heading.route == route and each.heading.again == named.again:
                return each.heading
        allowed = ", ".join(
            f"{f:g}" for f in self.frequencies_hz(named.route) or self.frequencies_hz(AIR)
        )
        raise AudiogramError(
            f"{place}: {show(entry)} is no frequency of the table, allowed are {allowed}, "
            f"separated by ;"
        )
