"""What a paper consists of: sections, blocks in them, and rows in these; all values of JSON.

A paper is made once from a result, by `session_paper.py`; one of several sessions, or of a fit, by
the host tools. Whoever shows one (HTML, PDF, the operator's page, a terminal) lays the blocks out
and says the rows by the catalogue of a language, and does nothing else.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from firmware_py.findings.rows import Cell, Row

Block = dict[str, Any]
Section = dict[str, Any]
Table = dict[str, Any]
Paper = dict[str, Any]


def paper(
    *,
    title: Row,
    headline: Row,
    standing: Row,
    final: bool,
    footer: Row,
    sections: Iterable[Section],
    details: Iterable[Section] = (),
) -> Paper:
    """Return a paper; sections without a block are left out.

    `title`: of the file, for who looks at a list of them. Beside the `headline` stands whether it
    is final. `sections`: what a clinic files, in order; `details`: the rest, for who asks for it.
    """
    return {
        "title": title, "headline": headline, "standing": standing, "final": final,
        "footer": footer, "sections": _with_blocks(sections), "details": _with_blocks(details),
    }  # fmt: skip


def _with_blocks(sections: Iterable[Section]) -> list[Section]:
    return [each for each in sections if each["blocks"]]


def section(name: str, title: Row | None, *blocks: Block | None) -> Section:
    """Return a section; its name is that of its element; without a title it has no heading."""
    return {"name": name, "title": title, "blocks": [each for each in blocks if each is not None]}


def alarm(headline: Row, rows: Iterable[Row], *, calm: bool = False) -> Block:
    """Return what must not be overlooked; `calm`: such as a verdict that is as it should be."""
    return {"block": "alarm", "headline": headline, "rows": [*rows], "calm": calm}


def facts(pairs: Iterable[tuple[Row, Cell]]) -> Block:
    """Return names with values; one that is `to_type(...)` is filled in by who knows it."""
    return {"block": "facts", "facts": [list(pair) for pair in pairs]}


def to_type(field: str) -> Row:
    """Return a value that the device does not tell, and somebody may have typed.

    It is never told `name`, `birth_date`, `tester` and `place`; `identifier` it keeps while locked.
    """
    return {"typed": field}


def is_to_type(cell: Cell) -> bool:
    return isinstance(cell, dict) and "typed" in cell


def audiograms(of: Iterable[tuple[str, Row, Row, Sequence[Row]]]) -> Block:
    """Return audiograms beside one another: route, title, what it is, and the sentences below."""
    names = ("route", "title", "label", "rows")
    return {"block": "audiograms", "of": [dict(zip(names, each, strict=True)) for each in of]}


def figure(name: str, label: Row) -> Block:
    return {"block": "figure", "name": name, "label": label}


def legend(entries: Iterable[tuple[Sequence[str], Row]]) -> Block:
    """Return marks with what they mean; a mark is named, such as ("symbol", "right", "masked")."""
    return {"block": "legend", "entries": [[list(mark), row] for mark, row in entries]}


def table(
    caption: Row,
    columns: Iterable[Cell],
    rows: Iterable[tuple[Cell, Sequence[Cell]]],
    *,
    of: str = "",
    main: int = 0,
) -> Table:
    """Return a table for `tables`, its rows each a name and cells.

    `columns`: the head of the names of the rows, and those of the columns, such as frequencies in
    Hz. `of`: the route it is of, whose colour it has; "": of none. `main`: so many of the first
    rows are what the table is for; the others stand small.
    """
    return {
        "caption": caption, "columns": [*columns], "of": of, "main": main,
        "rows": [[name, list(cells)] for name, cells in rows],
    }  # fmt: skip


def tables(of: Iterable[Table], *, turned: bool = False) -> Block | None:
    """Return tables of the same columns, one an ear; None of none.

    Paper sets them below one another in one table; where it is narrow they stand beside one
    another, `turned`, with a line a column.
    """
    found = [*of]
    return {"block": "tables", "tables": found, "turned": turned} if found else None


def rows(of: Iterable[Row], *, small: bool = False) -> Block | None:
    """Return sentences, each a line; `small`: a note; None of none."""
    found = [*of]
    return {"block": "rows", "rows": found, "small": small} if found else None


def comments(title: Row) -> Block:
    """Return what somebody wrote, or room to write: a renderer is given it as `comments`."""
    return {"block": "comments", "title": title}


def sign(lines: Iterable[tuple[Row, Row | None]]) -> Block:
    """Return lines to fill in by hand: what belongs on each, and what may be typed there."""
    return {"block": "sign", "lines": [list(line) for line in lines]}
