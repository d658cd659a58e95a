"""Tables with a threshold a row: a column of frequencies, and one or two of levels."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from device.audiogram_tables.columns import Column, Columns
from device.audiogram_tables.ears import NO_RESPONSE, AudiogramError, TableEar, TableThreshold
from device.audiogram_tables.grid import Row
from device.audiogram_tables.headings import Role, frequency_of, mistaken_for, says_hertz
from device.audiogram_tables.levels import plain, reading_of
from device.audiogram_tables.people import Someone, ear_of, letter, someone
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT

_YES, _NO = {"1", "yes", "y", "true", "x", "nr", "no response"}, {"", "0", "no", "n", "false"}


@dataclass
class _Person:
    of: Someone
    number: int
    # By ear, route and frequency: what is known, and where it stands.
    found: dict[tuple[str, str, float], tuple[TableThreshold | None, Row]] = field(
        default_factory=dict
    )
    remarks: dict[str, tuple[str, ...]] = field(default_factory=dict)


class LongTable:
    """A table with a threshold a row; its rows are people."""

    both = True
    unused: Collection[Role] = (Role.MARKS, Role.CODE)

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._levels = _levels(columns)
        who = [c for role in (Role.SOURCE, Role.SUBJECT, Role.SESSION) for c in columns.of(role)]
        people: dict[tuple[str, ...], _Person] = {}
        for given in columns.grid.rows:
            row = columns.whole(given)
            key = tuple(plain(row.cells[column.index]) for column in who)
            if any(map(plain, row.cells)):
                if key not in people:
                    people[key] = _Person(someone(columns, row), len(people) + 1)
                self._take(people[key], row)
        self._people = list(people.values())
        self._check_frequencies()

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self._people)

    def frequencies_hz(self, route: str) -> list[float]:
        """Return the frequencies of a route, rising."""
        found = {f for each in self._people for _, by, f in each.found if by == route}
        return sorted(found)

    def names(self, number: int) -> tuple[str, ...]:
        """Return all that a person is called."""
        return self._people[number - 1].of.names

    def ears(self, number: int) -> list[TableEar]:
        """Return the ears of a person, from 1 on."""
        person = self._people[number - 1]
        met = dict.fromkeys(side for side, _, _ in person.found)
        sides = [side for side in (RIGHT, LEFT, "") if side in met]
        return [self._ear(person, side) for side in sides]

    def _ear(self, person: _Person, side: str) -> TableEar:
        of = replace(person.of, remarks=person.remarks.get(side, ()))
        name = person.of.person or f"person {person.number}"
        where = f"{self.columns.grid.path}, {name}" + (f", {side} ear" if side else "")
        by: dict[str, dict[float, TableThreshold]] = {AIR: {}, BONE: {}}
        unknown = []
        for (ear, route, frequency_hz), (reading, _) in sorted(
            person.found.items(), key=lambda item: item[0]
        ):
            if ear == side and reading is not None:
                by[route][frequency_hz] = reading
            elif ear == side and route == AIR:
                unknown.append(frequency_hz)
        known = of.ear(where, letter(side) if side else "", side)
        return replace(
            known, by_air=by[AIR], by_bone=by[BONE], unknown_hz=tuple(unknown), row=person.number
        )

    def _check_frequencies(self) -> None:
        """Refuse a frequency of one ear that nobody tests, where one that everybody does lacks."""
        met = Counter(place[2] for person in self._people for place in person.found)
        for person in self._people:
            for side, route, frequency_hz in person.found:
                beside = {f for s, r, f in person.found if (s, r) == (side, route)}
                usual = mistaken_for(frequency_hz, beside) if met[frequency_hz] == 1 else None
                if usual is None:
                    continue
                row = person.found[side, route, frequency_hz][1]
                column = self.columns.of(Role.FREQUENCY)[0]
                if not says_hertz(row.cells[column.index]):
                    raise AudiogramError(
                        f"{self.columns.grid.place(row)}, column {column.text}: {frequency_hz:g} "
                        f"Hz, and this ear has none at {usual:g} Hz: did you mean {usual:g}? Write "
                        f"it so, or with its unit, as {frequency_hz:g} Hz, if it is meant as it is"
                    )

    def _take(self, person: _Person, row: Row) -> None:
        columns, where = self.columns, self.columns.grid.place(row)
        column = columns.of(Role.FREQUENCY)[0]
        text = row.cells[column.index]
        frequency_hz = frequency_of(text, kilo=column.heading.kilo)
        if frequency_hz is None:
            raise AudiogramError(
                f"{where}, column {column.text}: {show(text)} is not a frequency; allowed are 100 "
                "to 50000 Hz, written 500, 500 Hz or 0.5 kHz"
            )
        _, of_row, route = ear_of(columns, row, must=not self._levels[0].heading.side)
        for level in self._levels:
            side, by = level.heading.side or of_row, level.heading.route
            by = route if by == AIR else by
            reading = self._reading(row, level)
            place = side, by, frequency_hz
            if place in person.found:
                first = person.found[place][1].where
                ear = f" of the {side} ear" if side else ""
                raise AudiogramError(
                    f"{where}: {frequency_hz:g} Hz{ear} comes twice (first in {first}); allowed is "
                    "once for each person, who is told by a column subject, and a session by a "
                    "column session"
                )
            person.found[place] = reading, row
            if by == AIR:
                remarks = person.remarks.get(side, ())
                told = someone(columns, row).remarks
                person.remarks[side] = tuple(dict.fromkeys((*remarks, *told)))

    def _reading(self, row: Row, level: Column) -> TableThreshold | None:
        columns, where = self.columns, self.columns.grid.place(row)
        try:
            reading = reading_of(row.cells[level.index])
            limit = columns.cell(row, Role.LIMIT)
            mark = columns.cell(row, Role.MARK)
            if reading is None and mark == Outcome.NO_RESPONSE:
                return reading_of(f">{limit}" if limit else "NR")
            if reading is None and mark == Outcome.HEARS_ALL and limit:
                return reading_of(limit)
        except ValueError as error:
            raise AudiogramError(f"{where}, column {level.text}: {error}") from None
        return self._unless_silent(row, level, reading)

    def _unless_silent(
        self, row: Row, level: Column, reading: TableThreshold | None
    ) -> TableThreshold | None:
        for column in self.columns.of(Role.NO_RESPONSE):
            if column.heading.side not in ("", level.heading.side):
                continue
            where, word = self.columns.grid.place(row), plain(row.cells[column.index]).casefold()
            if word not in _YES | _NO:
                raise AudiogramError(
                    f"{where}, column {column.text}: {show(word)}, allowed are yes and no; no "
                    "response may stand in the column of levels, too: NR, or >110 up to a limit"
                )
            if word in _YES and reading is not None and reading.heard:
                raise AudiogramError(
                    f"{where}, column {level.text}: {reading.level_db_hl:g} dB HL, and {word} in "
                    f"column {column.text}; allowed is one of the two: an empty cell, or "
                    f">{reading.level_db_hl:g} if that was the limit"
                )
            if word in _YES:
                return reading or NO_RESPONSE
        return reading


def _levels(columns: Columns) -> list[Column]:
    """Return the columns of levels: one, or one for each ear or route."""
    found = columns.of(Role.LEVEL)
    path = columns.grid.path
    if not found:
        raise AudiogramError(
            f"{path}: has a column of frequencies, and none of levels; wanted is threshold, or "
            "left and right"
        )
    with_side = [c for c in found if c.heading.side]
    places = [(c.heading.side, c.heading.route) for c in found]
    if len({*places}) < len(places) or (with_side and len(with_side) < len(found)):
        named = ", ".join(show(c.text) for c in found)
        raise AudiogramError(
            f"{path}: columns {named} may all be levels; allowed is one, or one for each ear (left "
            "and right)"
        )
    if with_side and columns.of(Role.EAR):
        raise AudiogramError(
            f"{path}: column {show(columns.of(Role.EAR)[0].text)} says an ear, and so does "
            f"{show(with_side[0].text)}; allowed is one of the two"
        )
    return found
