"""The one reader of tables of audiograms.

A table is CSV (separated by comma, semicolon, tab or bar, with decimal points or commas, in UTF-8
or UTF-16), JSON or Parquet. It has an ear a row (``t500``, ``t1000`` ..., and ``b500`` ... by
bone), a person a row (``R500``, ``L500`` ..., the variables of NHANES, `gp-pta export`), or a
threshold a row (``ear``, ``frequency``, ``threshold``, or ``frequency``, ``left``, ``right``). In
`documents` is which JSON is read. What is not understood is refused with its place, the value, and
how it is written here; columns of which nothing is known are passed over, and named.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol, Self

from device.audiogram_tables.columns import NO_TABLE, Columns, columns_of, list_names
from device.audiogram_tables.documents import HOW
from device.audiogram_tables.ears import AudiogramError, TableEar
from device.audiogram_tables.grid import SEPARATORS
from device.audiogram_tables.headings import Heading, Role, side_of
from device.audiogram_tables.levels import plain
from device.audiogram_tables.long import LongTable
from device.audiogram_tables.opening import grid_of
from device.audiogram_tables.wide import WideTable
from firmware_py.platform.named_file import content_or_stream
from firmware_py.terms.printable import show
from firmware_py.terms.route import LEFT, RIGHT

TABLE_BYTES_MAX: Final = 1 << 28
ROW_MAX: Final = 999_999_999
_IN_ORDER: Final = (RIGHT, LEFT)  # of rows, where there are two


class Shape(Protocol):
    """What every shape of table can tell."""

    columns: Columns
    both: bool  # ears a row
    unused: Collection[Role]  # of columns that mean nothing in this shape

    def __len__(self) -> int:
        """Return the number of rows, or of people where each has several rows."""

    def frequencies_hz(self, route: str) -> list[float]:
        """Return the frequencies of a route, rising."""

    def ears(self, number: int) -> list[TableEar]:
        """Return the ears of a row, from 1 on."""

    def names(self, number: int) -> tuple[str, ...]:
        """Return all that a row calls its person."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of audiograms."""

    path: str
    shape: Shape

    @staticmethod
    def bytes_of(path: Path) -> bytes:
        """Return what is in the file of a table; `OSError` if it cannot be read."""
        return content_or_stream(path, TABLE_BYTES_MAX)

    @classmethod
    def read(cls, path: str | Path, content: bytes | None = None) -> Self:
        """Read a table of audiograms.

        Parameters
        ----------
        path : str or Path
        content : bytes, optional
            Of the file, where it was read already: a pipe can be read once.

        Raises
        ------
        AudiogramError
            The file cannot be read, or is no table of audiograms. What is wrong with a row is said
            when it is asked for, but for a table with a threshold a row.
        """
        name = str(path)
        try:
            content = cls.bytes_of(Path(path)) if content is None else content
        except OSError as error:
            raise AudiogramError(f"{name}: cannot be read: {error.strerror}") from error
        columns = columns_of(grid_of(name, content))
        return cls(name, _shape_of(columns))

    @classmethod
    def ears_named(
        cls, named: str, ear: str | None = None
    ) -> tuple[dict[str, TableEar], list[str]]:
        """Return the ears with thresholds that rows have, by side, and what to know of the tables.

        Parameters
        ----------
        named : str
            ``FILE:ROW``, or ``FILE:ROW,FILE:ROW`` of the right and the left ear.
        ear : str, optional
            "left" or "right"; None: all that the rows have.

        Raises
        ------
        AudiogramError
            It names no row, one cannot be read, has no such ear, or does not say which ear it is.
        """
        parts = [part.strip() for part in named.split(",")]
        if len(parts) > len(_IN_ORDER):
            raise AudiogramError(
                f"--audiogram has {len(parts)} rows; allowed are one, or right,left"
            )
        ears: dict[str, TableEar] = {}
        remarks: list[str] = []
        for k, part in enumerate(parts):
            file_name, colon, row = part.rpartition(":")
            if not colon:
                raise AudiogramError(
                    f"--audiogram is {named!r}; allowed is FILE:ROW, a row of a table, such as "
                    f"{part}:1"
                )
            table = cls.read(file_name)
            remarks += table.remarks
            ears |= _ears_of(table.ears(row), _IN_ORDER[k] if len(parts) > 1 else ear, part)
        if ear is not None and ear not in ears:
            raise AudiogramError(f"{named}: the {ear} ear has no threshold by air")
        wanted = [side for side in _IN_ORDER if side in ears and ear in (None, side)]
        return {side: ears[side] for side in wanted}, [*dict.fromkeys(remarks)]

    def __len__(self) -> int:
        """Return the number of rows, or of people where each has several rows."""
        return len(self.shape)

    @property
    def remarks(self) -> list[str]:
        """Return what a person should know of how it was read."""
        columns = self.shape.columns
        told = []
        if columns.renamed:
            told.append(f"{self.path}: read {list_names(columns.renamed)}")
        others = [*columns.passed_over, *(c.text for r in self.shape.unused for c in columns.of(r))]
        if others and not columns.of(Role.CONVENTION):
            told.append(
                f"{self.path}: passed over, as nothing is known of them: columns "
                f"{list_names(others)}"
            )
        return told

    def doubts(self) -> list[str]:
        """Return of how many ears a test is not valid, or levels are no dB HL."""
        columns = self.shape.columns
        if not columns.of(Role.VERDICT) and not columns.of(Role.UNIT):
            return []
        counts = Counter(remark for ear in self.all_ears() for remark in ear.remarks)
        return [f"{self.path}: {count} ears: {remark}" for remark, count in counts.items()]

    def frequencies_hz(self, route: str) -> list[float]:
        """Return the frequencies of a route, rising."""
        return self.shape.frequencies_hz(route)

    def all_ears(self) -> Iterator[TableEar]:
        """Yield every ear; of rows with both those that anything is known of."""
        for number in range(1, len(self) + 1):
            for ear in self.shape.ears(number):
                if ear.known or not self.shape.both:
                    yield ear

    def ears(self, row: str) -> list[TableEar]:
        """Return the ears of a row by its number, from 1, or of a person by name.

        Raises
        ------
        AudiogramError
            There is no such row, or a cell of it is not what it has to be.
        """
        if re.fullmatch("[1-9][0-9]{0,8}", row, re.ASCII):
            if int(row) <= len(self):
                return self.shape.ears(int(row))
            if (found := self._ears_by_name(row)) is not None:
                return found
            count = len(self)
            allowed = f"allowed are 1 to {count}" if count else "the table has no rows"
            raise AudiogramError(f"{self.path}: row {row} is not there, {allowed}")
        found = self._ears_by_name(row)
        if found is None:
            raise AudiogramError(
                f"row {show(row)} of {self.path}, allowed is a number from 1 (the row after the "
                f"header) to {ROW_MAX}, or the name of somebody in the table"
            )
        return found

    def _ears_by_name(self, name: str) -> list[TableEar] | None:
        columns = self.shape.columns
        if not columns.of(Role.SUBJECT) and not columns.of(Role.SESSION):
            return None
        known = plain(name)
        rows = [n for n in range(1, len(self) + 1) if known and known in self.shape.names(n)]
        if not rows:
            return None
        ears = [ear for number in rows for ear in self.shape.ears(number)]
        sides = [ear.side for ear in ears]
        if len(rows) > 1 and (len({*sides}) < len(sides) or "" in sides):
            raise AudiogramError(
                f"{self.path}: {show(name)} names rows {list_names([*map(str, rows)])}; allowed "
                "is one row, or one for each ear; say which by its number"
            )
        return ears


def _ears_of(ears: Sequence[TableEar], wanted: str | None, named: str) -> dict[str, TableEar]:
    """Return the ears of a row by side: the one that is wanted, or all."""
    known = [each for each in ears if each.by_air]
    if not known:
        raise AudiogramError(f"{named}: no threshold by air in it, so nothing is prescribed")
    if len(known) == 1 and not known[0].side:
        if wanted is None:
            raise AudiogramError(
                f"{known[0].where}: does not say which ear it is; say it with --ear left or --ear "
                "right"
            )
        return {wanted: known[0]}
    found = {each.side: each for each in known if each.side == (wanted or each.side)}
    if not found:
        raise AudiogramError(
            f"{known[0].where}: is of the {known[0].side} ear; asked for is the {wanted} one"
        )
    return found


def _shape_of(columns: Columns) -> Shape:
    thresholds, frequency = columns.thresholds(), columns.of(Role.FREQUENCY)
    if thresholds and not frequency:
        return WideTable(columns)
    if thresholds:
        return WideTable(_with_ears(columns))
    if frequency:
        return LongTable(columns)
    first = columns.grid.header
    sign = columns.grid.separator
    shown = show((sign or ", ").join(first)) if first else "it is empty"
    if not sign:
        raise AudiogramError(f"{columns.grid.path}: no audiogram is found in it, {shown}; {HOW}")
    raise AudiogramError(
        f"{columns.grid.path}: {NO_TABLE}: {shown}; cells are taken to be separated by a "
        f"{SEPARATORS.get(sign, sign)}"
    )


def _with_ears(columns: Columns) -> Columns:
    """Return columns in which that of frequencies has ears, as in a table `Frequency,250,500`."""
    column = columns.of(Role.FREQUENCY)[0]
    cells = [
        plain(row.cells[column.index]) for row in columns.grid.rows if len(row.cells) > column.index
    ]
    if columns.of(Role.EAR) or not all((side_of(cell) or ("",))[0] for cell in cells):
        raise AudiogramError(
            f"{columns.grid.path}: column {show(column.text)} has a frequency for each row, and "
            f"column {show(columns.thresholds()[0].text)} thresholds at one; allowed is one of the "
            "two"
        )
    by_role = {**columns.by_role, Role.EAR: [replace(column, heading=Heading(Role.EAR))]}
    del by_role[Role.FREQUENCY]
    return replace(columns, by_role=by_role)
