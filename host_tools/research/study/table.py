"""A table of a study: what is run for it, what is read off, and how it is printed."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from host_tools.research.study.sessions import Json, Sessions
from host_tools.research.study.work import Where, all_done

if TYPE_CHECKING:
    import pyarrow as pa

Unit = TypeVar("Unit")
Made = TypeVar("Made")
Row = dict[str, Any]  # JSON values
Chunk = tuple[Callable[[Unit], Made], Sequence[Unit]]

UNIT = "unit"  # what was run: known from the plan, so not kept with what it gave


@dataclass(frozen=True, eq=False)
class Table(Sessions[Chunk[Unit, Made], Made]):
    """A table that can be asked for: cases, by the method that runs them, and measures.

    Attributes
    ----------
    units : sequence
        Sessions to be run; all that is read off goes by their order.
    run : callable
        Runs one: always the same for the same unit. At the top of a module.
    made : type
        What it returns, a dataclass.
    rows : callable
        Reads the rows off what all of them gave.
    about : dict
        What JSON says beside the rows.
    lines : callable
        Says the rows, as people read them.
    plan : mapping
        As of `Sessions`; of a table that is kept.
    """

    units: Sequence[Unit]
    run: Callable[[Unit], Made]
    made: type[Made]
    rows: Callable[[Sequence[Made]], list[Row]]
    about: Json
    lines: Callable[[list[Row]], list[str]]
    plan: Json = field(default_factory=dict)

    @property
    def sessions(self) -> int:
        return len(self.units)

    def chunk(self, index: int) -> Chunk[Unit, Made]:
        """Return the units of a chunk, and what runs them."""
        return self.run, [self.units[number] for number in self.numbers_in(index)]

    @staticmethod
    def run_chunk(chunk: Chunk[Unit, Made]) -> list[Made]:
        """Run the sessions of a chunk."""
        run, units = chunk
        return [run(unit) for unit in units]

    @property
    def schema(self) -> "pa.Schema":
        """Return the one column of a part: what a session gave, as JSON."""
        import pyarrow as pa

        return pa.schema([("session", pa.string())])

    def rows_of(self, made: list[Made]) -> "pa.Table":
        """Return the parts' rows, one a session."""
        return self.schema.empty_table().from_pydict(
            {"session": [as_json(each) for each in made]}, schema=self.schema
        )

    def print(self, where: Where, directory: Path | None, *, json_wanted: bool) -> None:
        """Run the sessions, keep them in a directory if there is one, and print the table."""
        made = (
            all_done(self.run, self.units, where)
            if directory is None
            else list(self._kept(directory, where))
        )
        rows = self.rows(made)
        if json_wanted:
            print(json.dumps({**self.about, "rows": rows}))
        else:
            print("\n".join(self.lines(rows)))

    def _kept(self, directory: Path, where: Where) -> Iterator[Made]:
        """Run what is not done in a directory, and yield what all sessions gave."""
        from host_tools.research.study.store import Store

        store = Store(directory, self)
        store.run_what_is_missing(where)
        kept = (text for part in store.parts() for text in part.column("session").to_pylist())
        for unit, text in zip(self.units, kept, strict=True):
            made = from_json(self.made, json.loads(text))
            yield replace(made, unit=unit) if hasattr(made, UNIT) else made


def as_json(made: Any) -> str:
    """Return what a session gave as JSON, without its unit; `from_json` gives the same bits."""
    bare = replace(made, unit=None) if hasattr(made, UNIT) else made
    return json.dumps(bare, default=_plain)


def from_json(kind: Any, value: Any) -> Any:
    """Return the value of a type that JSON was made of."""
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
