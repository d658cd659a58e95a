"""A table with columns of one kind each: as tidy CSV, and as Parquet at full precision."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from host_tools.commands.export.cells import Spelling, about, file_of, with_what
from host_tools.commands.export.document_session import DocumentSession

if TYPE_CHECKING:
    import pyarrow as pa

TEXT, NUMBER, COUNT, YES_OR_NO = "text", "number", "count", "yes or no"
TEXTS, COUNTS = "texts", "counts"
GROUP_ROWS: Final = 5_000  # readers want no small groups, and memory no large
Row = dict[str, Any]


@dataclass(frozen=True)
class LongTable:
    """What the rows of a session are; each has a value, or None, for some of the columns."""

    columns: Mapping[str, str]  # the kind of each; a blank cell is nothing known
    rows_of: Callable[[DocumentSession], Iterable[Row]]

    def as_csv(self, sessions: Iterable[DocumentSession], spelling: Spelling) -> Iterator[bytes]:
        """Yield a file of all rows, numbers to a tenth."""
        rows = (
            {name: spelling.cell(value) for name, value in row.items()}
            for session in sessions
            for row in self._rows(session)
        )
        return file_of([*self.columns], rows, spelling)

    def as_parquet(self, sessions: Iterable[DocumentSession]) -> Iterator[bytes]:
        """Yield a file of all rows, at full precision."""
        import pyarrow.parquet as pq

        written = _Written()
        how = {"compression": "zstd", "write_page_checksum": True}
        with pq.ParquetWriter(written, self.schema(), **how) as writer:
            for group in self._row_groups(sessions):
                writer.write_table(group)
                yield written.take()
        yield written.take()

    def schema(self) -> "pa.Schema":
        import pyarrow as pa

        types = {
            TEXT: pa.string(), NUMBER: pa.float64(), COUNT: pa.int64(), YES_OR_NO: pa.bool_(),
            TEXTS: pa.list_(pa.string()), COUNTS: pa.list_(pa.int32()),
        }  # fmt: skip
        return pa.schema([(name, types[kind]) for name, kind in self.columns.items()])

    def _row_groups(self, sessions: Iterable[DocumentSession]) -> Iterator["pa.Table"]:
        """Yield tables of about `GROUP_ROWS`, and of no part of a session."""
        import pyarrow as pa

        schema, rows = self.schema(), list[Row]()
        for session in sessions:
            rows += self._rows(session)
            if len(rows) >= GROUP_ROWS:
                yield pa.Table.from_pylist(rows, schema=schema)
                rows.clear()
        if rows:
            yield pa.Table.from_pylist(rows, schema=schema)

    def _rows(self, session: DocumentSession) -> Iterator[Row]:
        for row in self.rows_of(session):
            yield {name: _of_kind(self.columns[name], value) for name, value in row.items()}


def _of_kind(kind: str, value: Any) -> Any:
    """Return a number as one of its column: a browser writes 30 for 30.0."""
    return float(value) if kind == NUMBER and value is not None else value


def session_columns(session: DocumentSession) -> Row:
    """Return what the rows of a session have in common."""
    record = session.record
    return {
        **about(session),
        **with_what(session),
        "age_years": record["person"]["age_years"],
        "sex": record["person"]["sex"],
        "conduct": record["settings"]["conduct"],
        "simulated": record["simulated"],
        "prior": record["prior"],
    }


class _Written(io.RawIOBase):
    """A file that is written to and taken away, part by part."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        self._bytes += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._bytes

    def take(self) -> bytes:
        """Return what was written since it was asked the last time."""
        parts = b"".join(self._parts)
        self._parts.clear()
        return parts
