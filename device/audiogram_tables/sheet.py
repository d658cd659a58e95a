"""A table as headings and rows of cells, whatever file it came from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.levels import plain

SEPARATORS: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
NAMED_MAX: Final = 8  # so many columns are named in a message


@dataclass(frozen=True)
class Row:
    """One row: its place for messages, its cells by heading, and why it cannot be read."""

    where: str
    cells: Mapping[str, str]
    fault: str = ""

    def __getitem__(self, heading: str) -> str:
        if self.fault:
            raise AudiogramError(f"{self.where}{self.fault}")
        return self.cells.get(heading, "")

    def place(self, heading: str) -> str:
        return f"{self.where}, column {heading}"


@dataclass(frozen=True)
class Sheet:
    """Headings, without what nobody sees, and rows."""

    path: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    separator: str = ""  # by name; "": it is no CSV
    passed_over: tuple[str, ...] = ()  # of what is no row

    @classmethod
    def of_records(
        cls,
        path: str,
        records: Iterable[tuple[str, Mapping[str, Any]]],
        passed_over: Sequence[str] = (),
    ) -> "Sheet":
        """Return rows of named values, each with its place, as a table."""
        rows = [
            Row(f"{path}, {where}", {plain(name): plain(cell_of(v)) for name, v in record.items()})
            for where, record in records
        ]
        header = dict.fromkeys(name for row in rows for name in row.cells)
        return cls(path, (*header,), (*rows,), passed_over=(*passed_over,))

    def cells(self, heading: str) -> Iterator[str]:
        return filter(None, (row.cells.get(heading, "") for row in self.rows))


def numbered(records: Iterable[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return records with their places: row 1, row 2 and so on."""
    return [(f"row {number}", record) for number, record in enumerate(records, start=1)]


def cell_of(value: object) -> str:
    """Return a value of JSON or Parquet as a cell."""
    if isinstance(value, list):
        return "; ".join(map(cell_of, value))
    return "" if value is None else str(value)


def list_names(names: Sequence[str]) -> str:
    """Return names for a message, not too many of them."""
    told = ", ".join(names[:NAMED_MAX])
    return told if len(names) <= NAMED_MAX else f"{told} and {len(names) - NAMED_MAX} more"
