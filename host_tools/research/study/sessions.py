"""The sessions of a study in chunks, as a runner runs and a store keeps them, and tables."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from host_tools.terminal import markdown

if TYPE_CHECKING:
    import pyarrow as pa

# A worker is given a chunk of sessions, and what is done is kept by the chunk. Their number depends
# on that of the sessions only, so the files do not depend on the workers.
CHUNK_SESSIONS_MIN: Final = 8
CHUNKS_MAX: Final = 4096
DECIMALS: Final = 6  # of numbers that --json prints: three more than any table has
UNIT: Final = "unit"  # what was run: known from the plan, so not kept with what it gave

Json = Mapping[str, Any]
Row = dict[str, Any]  # JSON values
Line = tuple[str, Callable[[Row], str]]  # what a line is called, and what a row has there
Unit = TypeVar("Unit")
Made = TypeVar("Made")
Chunk = tuple[Callable[[Unit], Made], Sequence[Unit]]  # sessions that are run together


class Sessions(Generic[Unit, Made]):
    """The sessions of a study; there may be millions, so that each is made when it is needed."""

    units: Sequence[Unit]  # what is to be run
    run: Callable[[Unit], Made]  # runs one: always the same for the same unit
    plan: Json  # JSON values: two studies with the same plan have the same results
    about: Json  # JSON values: what else a reader should know
    rows_per_session: int = 1  # of the parts in which they are kept

    @property
    def sessions(self) -> int:
        return len(self.units)

    @property
    def chunk_sessions(self) -> int:
        """Return how many sessions a chunk has; the last one may have fewer."""
        return max(CHUNK_SESSIONS_MIN, -(-self.sessions // CHUNKS_MAX))

    @property
    def chunks(self) -> range:
        return range(-(-self.sessions // self.chunk_sessions))

    def numbers_in(self, index: int) -> range:
        first = index * self.chunk_sessions
        return range(first, min(first + self.chunk_sessions, self.sessions))

    def make(self, indices: Iterable[int]) -> Iterator[tuple[int, Chunk[Unit, Made]]]:
        """Yield chunks with their indices, each made when it is needed."""
        for index in indices:
            yield index, (self.run, [self.units[number] for number in self.numbers_in(index)])

    @property
    def schema(self) -> "pa.Schema":
        """Return the columns of a part: one, what a session gave as JSON."""
        import pyarrow as pa

        return pa.schema([("session", pa.string())])

    def rows_of(self, made: list[Made]) -> "pa.Table":
        """Return the rows of sessions, each `rows_per_session`."""
        return self.schema.empty_table().from_pydict(
            {"session": [as_json(each) for each in made]}, schema=self.schema
        )

    def ready_in(self, directory: Path) -> Self:
        """Return the study with what has to be known before its first session."""
        return self


def run_chunk(chunk: Chunk[Unit, Made]) -> list[Made]:
    run, units = chunk
    return [run(unit) for unit in units]


@dataclass(frozen=True, eq=False)
class Table(Sessions[Unit, Made]):
    """A table that can be asked for: cases, by the method that runs them, and measures."""

    units: Sequence[Unit]  # all that is read off goes by their order
    run: Callable[[Unit], Made]
    made: type[Made]  # a dataclass, or what JSON has
    rows: Callable[[Sequence[Made]], list[Row]]  # reads them off what all units gave
    about: Json
    lines: Callable[[list[Row]], list[str]]  # says the rows, as people read them
    plan: Json = field(default_factory=dict)


def in_columns(rows: Sequence[Row], lines: Sequence[Line]) -> list[str]:
    """Return a table in Markdown, a column for each row."""
    return markdown([[name, *(say(row) for row in rows)] for name, say in lines])


def rounded(value: Any) -> Any:
    """Return JSON values with no more decimals than their reader has use of."""
    if isinstance(value, Mapping):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return round(value, DECIMALS) if isinstance(value, float) else value


def as_json(made: Any) -> str:
    """Return what a session gave as JSON, without its unit; `from_json` gives the same bits."""
    bare = replace(made, unit=None) if hasattr(made, UNIT) else made
    return json.dumps(bare, default=_plain)


def from_json(kind: Any, value: Any) -> Any:
    origin, given = get_origin(kind), get_args(kind)
    if value is None or origin in (Union, UnionType):
        return value
    if hasattr(kind, "__dataclass_fields__"):
        hints = get_type_hints(kind)
        return kind(**{name: from_json(hints[name], each) for name, each in value.items()})
    if origin is np.ndarray:
        return np.array(value, dtype=float)
    if origin is dict:
        return {given[0](name): from_json(given[1], each) for name, each in value.items()}
    if origin in (tuple, list):
        return origin(from_json(given[0], each) for each in value)
    return value


def _plain(value: Any) -> Any:
    """Return what JSON can say of what it does not know."""
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return value.tolist()
