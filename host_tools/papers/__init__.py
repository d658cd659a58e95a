"""How any paper is shown: as HTML, on paper and on a terminal.

A paper (`firmware_py/paper/blocks.py`) is in no language. A renderer lays out its blocks and says
its rows; it computes, rounds, compares and decides nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from firmware_py.findings.rows import Cell
from firmware_py.paper.blocks import Paper, Table
from firmware_py.terms.words import Language
from host_tools.catalogue import ENGLISH, catalogue_of, language_of
from host_tools.recordings.heading import NO_HEADING, Heading

Mark = Sequence[str]  # the name of one, such as ("symbol", "right", "masked")

NO_TEXT: Final = ""
SVG: Final = "<svg"  # so a drawing begins


def no_mark(_mark: Mark) -> str:
    return NO_TEXT


@dataclass(frozen=True)
class Shown:
    """What a renderer has beside a paper."""

    name: str = ENGLISH  # of the language, one of `LANGUAGES`
    heading: Heading = NO_HEADING  # what was typed on the host
    # By route, or by the name of a figure; each an SVG, or for a page HTML.
    drawings: Mapping[str, str] = field(default_factory=dict)
    # Returns a mark of a legend: an SVG, a sign, or "" of one that is not drawn.
    mark: Callable[[Mark], str] = no_mark

    @property
    def language(self) -> Language:
        return language_of(self.name)

    def say(self, cell: Cell | None) -> str:
        """Return a row, a number, or what somebody wrote; "" of what nobody typed, and of None."""
        if cell is None:
            return NO_TEXT
        if isinstance(cell, Mapping) and "typed" in cell:
            return self.field_of(cell["typed"])
        return self.language.cell(cell)

    def title_of(self, paper: Paper) -> str:
        """Return the title of a paper, with the name of whom it is about if that was typed."""
        title, name = paper["title"], self.heading.name
        return self.say({**title, "person": name} if name and "person" in title else title)

    def field_of(self, name: str) -> str:
        """Return what was typed in a field; "": nothing."""
        if name == "birth_date":
            born = self.heading.birth_date
            return NO_TEXT if born is None else catalogue_of(self.name).date(born.isoformat())
        told: str = getattr(self.heading, name)
        return told

    def facts(self, pairs: Sequence[Sequence[Cell]]) -> list[tuple[str, str]]:
        """Return names with values, without those that nobody typed."""
        said = [(self.say(name), self.say(value)) for name, value in pairs]
        return [(name, value) for name, value in said if value]

    def entry(self, mark: Mark, meaning: Cell) -> tuple[str, str]:
        """Return an entry of a legend: its mark as an SVG or "", and what it means."""
        drawn, text = self.mark(mark), self.say(meaning)
        return (drawn, text) if drawn.startswith(SVG) else ("", f"{drawn} {text}".strip())


def ear_of(route: str) -> str:
    """Return the ear of a route, whose colour it has; "" of none."""
    return route.partition("-")[0]


def turn(table: Table) -> Table:
    """Return a table with a line for each of its columns."""
    head, *columns = table["columns"]
    cells = zip(*(cells for _, cells in table["rows"]), strict=True)
    return {
        **table,
        "columns": [head, *(name for name, _ in table["rows"])],
        "rows": [*zip(columns, cells, strict=True)],
    }
