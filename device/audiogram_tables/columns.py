"""The columns of a table: which mean what, which are passed over, and what is refused of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.grid import SEPARATORS, Grid, Row
from device.audiogram_tables.headings import (
    SUBJECTS,
    Heading,
    Role,
    heading_of,
    is_sound_pressure,
    mistaken_for,
    nearly,
    says_hertz,
)
from device.audiogram_tables.levels import plain
from firmware_py.terms.printable import show

SEVERAL: Final = (Role.SUBJECT, Role.SESSION, Role.EAR)  # a table may have more than one of them
NO_TABLE: Final = (
    "is not a table of audiograms, its first line has no column tNNN (t500, t1000 ...)"
)
NAMED_MAX: Final = 8  # so many columns are named in a message


@dataclass(frozen=True)
class Column:
    """A column whose heading is understood."""

    index: int
    text: str  # the heading as it stands
    heading: Heading


@dataclass(frozen=True)
class Columns:
    """All columns of a table."""

    grid: Grid
    known: tuple[Column, ...]
    passed_over: tuple[str, ...]  # nothing is known of them
    renamed: tuple[str, ...]  # "T8000 as t8000"
    unnamed: tuple[int, ...]
    trailing: bool  # rows, of which there are several, have all as many cells
    by_role: dict[Role, list[Column]] = field(default_factory=dict)

    def of(self, role: Role) -> list[Column]:
        """Return the columns of a role, in the order of the table; those of people by rank."""
        return self.by_role.get(role, [])

    def cell(self, row: Row, role: Role) -> str:
        """Return the cell of the first column of a role; "": there is none."""
        found = self.of(role)
        return plain(row.cells[found[0].index]) if found else ""

    @cached_property
    def names_people(self) -> bool:
        """Return whether the first column of people has anybody in it."""
        index = [column.index for column in self.of(Role.SUBJECT)[:1]]
        return any(plain(row.cells[i]) for i in index for row in self.grid.rows if row.cells[i:])

    def thresholds(self) -> list[Column]:
        """Return the columns of thresholds at a frequency."""
        return self.of(Role.THRESHOLD)

    def whole(self, row: Row) -> Row:
        """Return a row with a cell for each column.

        Raises
        ------
        AudiogramError
            It has more or fewer, or one in a column without a name.
        """
        cells, count = list(row.cells), len(self.grid.header)
        if self.trailing and not any(map(plain, cells[count:])):
            del cells[count:]
        missing = self.grid.header[len(cells) :]
        if missing and not any(map(plain, missing)):
            cells += [""] * len(missing)
        if len(cells) != count:
            name = SEPARATORS.get(self.grid.separator, show(self.grid.separator))
            hint = f"; cells are separated by a {name}, and one with that in it is quoted"
            raise AudiogramError(
                f"{self.grid.place(row)}: {len(cells)} cells, the header has {count} columns{hint}"
            )
        for index in self.unnamed:
            if index and plain(cells[index]):
                raise AudiogramError(
                    f"{self.grid.place(row)}, column {index + 1}: {show(cells[index])}, and the "
                    "column has no name; name it, or leave it empty"
                )
        return Row(row.where, cells)


def columns_of(grid: Grid) -> Columns:
    """Return what the headings of a table mean.

    Raises
    ------
    AudiogramError
        One comes twice, or is nearly one that means something.
    """
    known, passed_over, renamed, unnamed = [], [], [], []
    for index, text in enumerate(grid.header):
        if not plain(text):
            unnamed.append(index)
            continue
        heading = heading_of(text)
        if heading is None:
            passed_over.append(_unless_nearly(grid, text))
            continue
        known.append(Column(index, plain(text), heading))
        if heading.role in (Role.THRESHOLD, Role.NO_RESPONSE) and _differs(text, heading):
            renamed.append(f"{show(text)} as {heading.name}")
    _check_once(grid, known, passed_over)
    if unnamed[:1] == [0] and any(r.cells and plain(r.cells[0]) for r in grid.rows):
        passed_over.insert(0, "the first one, without a name")
    by_role: dict[Role, list[Column]] = {}
    for column in known:
        by_role.setdefault(column.heading.role, []).append(column)
    by_role.get(Role.SUBJECT, []).sort(key=_rank)
    _check_frequencies(grid, by_role.get(Role.THRESHOLD, []))
    return Columns(
        grid, tuple(known), tuple(passed_over), tuple(renamed), tuple(unnamed),
        len(grid.rows) > 1 and len({len(row.cells) for row in grid.rows}) == 1, by_role,
    )  # fmt: skip


def _check_frequencies(grid: Grid, thresholds: Sequence[Column]) -> None:
    """Refuse a frequency that nobody tests, where one that everybody does is missing."""
    for column in thresholds:
        own = column.heading
        beside = {
            c.heading.frequency_hz for c in thresholds
            if (c.heading.side, c.heading.route) == (own.side, own.route)
        }  # fmt: skip
        usual = mistaken_for(own.frequency_hz, beside)
        if usual is not None and not says_hertz(column.text):
            raise AudiogramError(
                f"{grid.path}: column {show(column.text)} is at {own.frequency_hz:g} Hz, and there "
                f"is none at {usual:g} Hz: did you mean {usual:g}? Write it so, or with its unit, "
                f"as {own.frequency_hz:g} Hz, if it is meant as it is"
            )


def _rank(column: Column) -> int:
    compact = "".join(c for c in column.text.casefold() if c.isalnum())
    return SUBJECTS.index(compact)


def _differs(text: str, heading: Heading) -> bool:
    """Return whether a heading is one that was probably meant to be written otherwise."""
    return text.strip() != plain(text) or (
        plain(text) != heading.name and plain(text).casefold() == heading.name.casefold()
    )


def _unless_nearly(grid: Grid, text: str) -> str:
    if is_sound_pressure(text):
        raise AudiogramError(
            f"{grid.path}: column {show(text)} is in dB SPL; allowed are thresholds in dB HL, and "
            "columns that have another name"
        )
    if not grid.header[1:] and len(text.split()) > 1 and all(map(heading_of, text.split())):
        raise AudiogramError(
            f"{grid.path}: cells are separated by spaces in its first line, {show(text)}; allowed "
            f"are {', '.join(SEPARATORS.values())}"
        )
    if meant := nearly(text):
        raise AudiogramError(
            f"{grid.path}: column {show(text)} is nearly one that means something: did you mean "
            f"{meant}? Write it so, or, if it is something else, rename it or take it out"
        )
    return plain(text)


def _check_once(grid: Grid, known: Sequence[Column], others: Sequence[str]) -> None:
    names = [c.text for c in known] + [*others]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise AudiogramError(f"{grid.path}: column {', '.join(twice)} comes twice, allowed is once")
    met: dict[Heading, Column] = {}
    for column in known:
        if column.heading.role in SEVERAL or column.heading.role == Role.LEVEL:
            continue
        if other := met.get(column.heading):
            raise AudiogramError(
                f"{grid.path}: columns {show(other.text)} and {show(column.text)} are both "
                f"{column.heading.name}; allowed is one of them"
            )
        met[column.heading] = column


def list_names(names: Sequence[str]) -> str:
    """Return names for a message, not too many of them."""
    told = ", ".join(names[:NAMED_MAX])
    return told if len(names) <= NAMED_MAX else f"{told} and {len(names) - NAMED_MAX} more"
