"""A table as headings and rows of cells, whatever file it came from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

SEPARATORS: Final = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


@dataclass(frozen=True)
class Row:
    """One row; `where` is its place for messages."""

    where: str
    cells: Sequence[str]


@dataclass(frozen=True)
class Grid:
    """Headings and rows, as they stand in a file."""

    path: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    separator: str  # "": it is no CSV

    def place(self, row: Row) -> str:
        """Return where a row is."""
        return f"{self.path}, {row.where}"


def grid_of_records(
    path: str, header: Sequence[str], records: Sequence[dict[str, Any]], places: Sequence[str] = ()
) -> Grid:
    """Return rows of named values as a grid; without places they are row 1, row 2 and so on."""
    rows = [
        Row(
            places[number] if places else f"row {number + 1}",
            [cell_of(record.get(name)) for name in header],
        )
        for number, record in enumerate(records)
    ]
    return Grid(path, tuple(header), tuple(rows), separator="")


def cell_of(value: object) -> str:
    """Return a value of JSON or Parquet as a cell."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "; ".join(map(cell_of, value))
    return str(value)
