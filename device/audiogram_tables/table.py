"""The one reader of tables of audiograms.

A table is CSV (separated by comma, semicolon, tab or bar, with decimal points or commas, in UTF-8
or UTF-16), JSON or Parquet. It has an ear a row (``t500``, ``t1000`` ..., ``b500`` ... by bone,
``ucl500`` ... of discomfort), a person a row (``R500``, ``L500`` ..., the variables of NHANES,
`gp-pta export`), or a threshold a row (``ear``, ``frequency``, ``threshold``, or
``frequency``, ``left``, ``right``). In `documents` and `fhir` is which JSON is read. Other headings
are said by a mapping. What is not understood is refused with its place, the value, and what is
allowed, of headings the mapping to type; what is of no threshold is passed over, and named.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Final, Self

from device.audiogram_tables.columns import Columns, columns_of
from device.audiogram_tables.documents import HOW
from device.audiogram_tables.ears import AudiogramError, TableEar
from device.audiogram_tables.levels import plain
from device.audiogram_tables.mapping import METAVAR, OPTION, mapping_of
from device.audiogram_tables.opening import sheet_of
from device.audiogram_tables.people import names_of
from device.audiogram_tables.places import DISCOMFORT, FREQUENCY_ROLES, Role, side_of
from device.audiogram_tables.rows import check_shape, ears_of
from device.audiogram_tables.sheet import Row, list_names
from firmware_py.platform.named_file import content_or_stream
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT

TABLE_BYTES_MAX: Final = 1 << 28
ROW_MAX: Final = 999_999_999
_IN_ORDER: Final = (RIGHT, LEFT)  # of rows, where there are two
# Of columns that have no meaning beside others, those that are named.
_UNUSED: Final = (Role.THRESHOLD, Role.MARK, Role.LIMIT)


@dataclass(frozen=True, eq=False)
class Table:
    """A table of audiograms; `columns` says what each column has."""

    path: str
    columns: Columns

    @staticmethod
    def bytes_of(path: Path) -> bytes:
        return content_or_stream(path, TABLE_BYTES_MAX)

    @classmethod
    def read(
        cls, path: str | Path, content: bytes | None = None, columns: str | None = None
    ) -> Self:
        """Read a table of audiograms; `AudiogramError` if it is none, or cannot be read.

        `content` is that of the file, where it was read already: a pipe can be read once. `columns`
        says which heading has which place, ``right.500=R500,...``, or names the file that says it.
        What is wrong with a row is said when it is asked for.
        """
        name, said = str(path), mapping_of(columns)
        try:
            content = cls.bytes_of(Path(path)) if content is None else content
        except OSError as error:
            raise AudiogramError(f"{name}: cannot be read: {error.strerror}") from error
        found = columns_of(sheet_of(name, content), said)
        if not found.of(Role.AT, *FREQUENCY_ROLES):
            first = show(" ".join(found.sheet.header)) if found.sheet.header else "it is empty"
            how = f"cells are taken to be separated by a {found.sheet.separator}"
            raise AudiogramError(
                f"{name}: is not a table of audiograms, its first line has no column tNNN (t500, "
                f"t1000 ...): {first}; {how if found.sheet.separator else HOW}; allowed is such a "
                f"column, or {OPTION} {METAVAR}"
            )
        check_shape(found)
        return cls(name, found)

    @classmethod
    def ears_named(
        cls, named: str, ear: str | None = None, columns: str | None = None
    ) -> tuple[dict[str, TableEar], list[str]]:
        """Return the ears with thresholds that rows have, by side, and what to know of the tables.

        `named` is ``FILE:ROW``, or ``FILE:ROW,FILE:ROW`` of the right and the left ear; without
        `ear` they are all that the rows have. `AudiogramError` if a row is not there, cannot be
        read, has no such ear, or does not say which ear it is.
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
            table = cls.read(file_name, columns=columns)
            remarks += table.remarks
            ears |= _ears_of(table.ears(row), _IN_ORDER[k] if len(parts) > 1 else ear, part)
        if ear is not None and ear not in ears:
            raise AudiogramError(f"{named}: the {ear} ear has no threshold by air")
        wanted = [side for side in _IN_ORDER if side in ears and ear in (None, side)]
        return {side: ears[side] for side in wanted}, [*dict.fromkeys(remarks)]

    def __len__(self) -> int:
        return len(self._groups)

    @property
    def both(self) -> bool:
        """Return whether one number may name both ears."""
        return self._grouped or self._sides_in_columns

    @property
    def _sides_in_columns(self) -> bool:
        return any(place.side for _, place in self.columns.of(Role.AT))

    @cached_property
    def _grouped(self) -> bool:
        """Return whether a person has several rows: a threshold each, or a route each."""
        return not self.columns.of(Role.AT) or any(
            (side_of(cell) or ("", ""))[1] in (BONE, DISCOMFORT)
            for heading, _ in self.columns.of(Role.EAR, Role.ROUTE)
            for cell in self.columns.sheet.cells(heading)
        )

    @cached_property
    def _groups(self) -> list[list[Row]]:
        rows = self.columns.sheet.rows
        if not self._grouped:
            return [[row] for row in rows]
        groups: dict[tuple[str, ...], list[Row]] = {}
        for row in rows:
            if row.fault or any(row.cells.values()):
                groups.setdefault(self._who(row), []).append(row)
        return [*groups.values()]

    def _who(self, row: Row) -> tuple[str, ...]:
        """Return what tells a row from those of other people and other sessions."""
        who = self.columns.of(Role.SOURCE, Role.SUBJECT, Role.SESSION)
        return tuple(row[text] for text, _ in who)

    @property
    def remarks(self) -> list[str]:
        """Return what a person should know of how it was read."""
        columns = self.columns
        told = [f"{self.path}: passed over: {each}" for each in columns.sheet.passed_over]
        unused = [*_UNUSED] * bool(columns.of(Role.AT)) + [Role.EAR] * self._sides_in_columns
        others = [*columns.passed_over, *(text for text, _ in columns.of(*unused))]
        if others and not columns.of(Role.CONVENTION):
            told.append(
                f"{self.path}: passed over, as nothing is known of them: columns "
                f"{list_names(others)}"
            )
        return told

    def doubts(self) -> list[str]:
        """Return of how many ears a test is not valid, or levels are no dB HL."""
        if not self.columns.of(Role.VERDICT, Role.UNIT):
            return []
        counts = Counter(remark for ear in self.all_ears() for remark in ear.remarks)
        return [f"{self.path}: {count} ears: {remark}" for remark, count in counts.items()]

    def frequencies_hz(self, route: str) -> list[float]:
        """Return the frequencies of a route, rising."""
        if self._grouped:
            ears = (ear for number in range(len(self)) for ear in self._of_number(number + 1))
            by = ((*e.by_air, *e.unknown_hz) if route == AIR else (*e.by_bone,) for e in ears)
            return sorted({*chain.from_iterable(by)})
        places = [place for _, place in self.columns.of(Role.AT)]
        return sorted({p.frequency_hz for p in places if (p.route or AIR) == route})

    def all_ears(self) -> Iterator[TableEar]:
        """Yield every ear; of rows with both those that anything is known of.

        `AudiogramError` where two rows are of one ear of somebody, and of one session.
        """
        first: dict[tuple[str, ...], Row] = {}
        for number, (row, *_) in enumerate(self._groups, start=1):
            for ear in self._of_number(number):
                if ear.known and ear.person and self.columns.names_people:
                    self._check_once(first, row, ear)
                if ear.known or not self.both:
                    yield ear

    def _check_once(self, first: dict[tuple[str, ...], Row], row: Row, ear: TableEar) -> None:
        earlier = first.setdefault((*self._who(row), ear.side or ear.ear), row)
        if earlier is not row:
            raise AudiogramError(
                f"{row.where}: {ear.side or 'an'} ear of {show(ear.person)} comes twice (first in "
                f"{earlier.where}); allowed is once, or once for each session, told by a column "
                "session, visit or date"
            )

    def ears(self, row: str) -> list[TableEar]:
        """Return the ears of a row by its number, from 1, or of a person by name."""
        if re.fullmatch("[1-9][0-9]{0,8}", row, re.ASCII):
            if int(row) <= len(self):
                return self._of_number(int(row))
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

    def _of_number(self, number: int) -> list[TableEar]:
        rows = self._groups[number - 1]
        return ears_of(self.columns, rows, number, grouped=self._grouped)

    def _ears_by_name(self, name: str) -> list[TableEar] | None:
        known, columns = plain(name), self.columns
        rows = [
            n for n, group in enumerate(self._groups, start=1)
            if known and known in names_of(columns, group[0])
        ]  # fmt: skip
        if not rows:
            return None
        ears = [ear for number in rows for ear in self._of_number(number)]
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
