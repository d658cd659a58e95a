"""Any paper as HTML; what came from a file, or names one, acts on nothing."""

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Final

from firmware_py.findings.rows import Cell
from firmware_py.paper.blocks import Block, Paper, Section, Table
from firmware_py.terms.printable import printable
from host_tools import drawing_js
from host_tools.papers import Shown, ear_of, turn
from host_tools.terminal import NO_BREAK


def escape(text: str) -> str:
    return html.escape(NO_BREAK.join(map(printable, text.split(NO_BREAK))))


def page_as_html(shown: Shown, title: str, sheet: str, body: str, script: str = "") -> str:
    """Return a page that needs nothing from outside.

    The title is in words; all that follows is of CSS (beside that of all pages), HTML and
    JavaScript, as elements.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    policy += "; script-src 'unsafe-inline'" if script else ""
    return f"""<!doctype html>
<html lang="{shown.name}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(title)}</title>
<style>
{drawing_js.sheet()}{style()}{sheet}</style>
</head>
<body>
{body}
{script}</body>
</html>
"""


def style() -> str:
    return (files("host_tools.papers") / "paper.css").read_text(encoding="utf-8")


def header_as_html(paper: Paper, shown: Shown) -> str:
    """Return the head of a page: what it is, and whether it is final."""
    kind = "standing" if paper["final"] else "standing open"
    return (
        f"<header><h1>{_say(paper['headline'], shown)}</h1>\n"
        f'<p class="{kind}">{_say(paper["standing"], shown)}</p></header>'
    )


def sections_as_html(sections: Iterable[Section], shown: Shown) -> str:
    """Return sections in order, each with its name as `id`."""
    return "\n".join(_section(each, shown) for each in sections)


def _section(section: Section, shown: Shown) -> str:
    blocks = "\n".join(_BLOCKS.get(each["block"], _rows)(each, shown) for each in section["blocks"])
    name, title = escape(section["name"]), _say(section["title"], shown)
    if not title:
        return f'<div id="{name}">\n{blocks}\n</div>'
    heading = f'<h2 id="{name}-title">{title}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">\n{heading}\n{blocks}\n</section>'


def _say(cell: Cell | None, shown: Shown) -> str:
    return escape(shown.say(cell))


def _lines(rows: Sequence[Cell], shown: Shown) -> str:
    return "".join(f"<p>{_say(each, shown)}</p>" for each in rows)


def _alarm(block: Block, shown: Shown) -> str:
    kind = "verdict" if block["calm"] else "verdict alarm"
    headline = _say(block["headline"], shown)
    told = " ".join(_say(each, shown) for each in block["rows"])
    return f'<div class="{kind}"><h2>{headline}</h2>{told and f"<p>{told}</p>"}</div>'


def _facts(block: Block, shown: Shown) -> str:
    pairs = (
        f'<div><dt>{escape(name)}</dt><dd dir="auto">{escape(value)}</dd></div>'
        for name, value in shown.facts(block["facts"])
    )
    return f'<dl class="facts">{"".join(pairs)}</dl>'


def _audiograms(block: Block, shown: Shown) -> str:
    figures = (
        f'<figure><h3 class="{ear_of(each["route"])}">{_say(each["title"], shown)}</h3>'
        f"{shown.drawings.get(each['route'], '')}"
        f"<figcaption>{_lines(each['rows'], shown)}</figcaption></figure>"
        for each in block["of"]
    )
    return f'<div class="pair">{"".join(figures)}</div>'


def _figure(block: Block, shown: Shown) -> str:
    drawn = shown.drawings.get(block["name"], "")
    return f'<figure aria-label="{_say(block["label"], shown)}">{drawn}</figure>'


def _legend(block: Block, shown: Shown) -> str:
    entries = (shown.entry(*each) for each in block["entries"])
    said = "".join(f"<li>{svg}{escape(text)}</li>" for svg, text in entries)
    return f'<ul class="legend">{said}</ul>'


def _rows(block: Block, shown: Shown) -> str:
    """Return rows as lines; those of a block of a later version, too."""
    kind, rows = ' class="note"' if block.get("small") else "", block.get("rows", [])
    if len(rows) == 1:
        return f"<p{kind}>{_say(rows[0], shown)}</p>"
    return f"<ul{kind}>{''.join(f'<li>{_say(each, shown)}</li>' for each in rows)}</ul>"


def _tables(block: Block, shown: Shown) -> str:
    if not block["turned"]:
        return "\n".join(_wide(each, shown) for each in block["tables"])
    rows = ("".join(table_as_html(turn(each), shown) for each in beside)
            for beside in _beside(block["tables"]))  # fmt: skip
    return "\n".join(f'<div class="pair">{each}</div>' for each in rows)


def _beside(tables: Iterable[Table]) -> Iterator[list[Table]]:
    """Yield the tables that stand beside one another: of one ear there is one among them."""
    row: list[Table] = []
    for table in tables:
        if ear_of(table["of"]) in {ear_of(each["of"]) for each in row}:
            yield row
            row = []
        row.append(table)
    if row:
        yield row


def _wide(table: Table, shown: Shown) -> str:
    """Return a table that can be scrolled sideways where it has no room."""
    label = _say(table["caption"], shown)
    about = f'class="wide" role="group" aria-label="{label}" tabindex="0"'
    return f"<div {about}>{table_as_html(table, shown)}</div>"


def table_as_html(table: Table, shown: Shown, identifier: str = "") -> str:
    """Return a table with a caption, which has the `id`, and a head for each row and column."""
    head = "".join(_head_of_column(_say(each, shown)) for each in table["columns"])
    body = "".join(
        f'<tr><th scope="row">{_say(name, shown)}</th>'
        f"{''.join(f'<td>{_say(cell, shown)}</td>' for cell in cells)}</tr>\n"
        for name, cells in table["rows"]
    )
    about = f' id="{identifier}"' if identifier else ""
    about += f' class="{ear_of(table["of"])}"' if table["of"] else ""
    return (
        f"<table><caption{about}>{_say(table['caption'], shown)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    )


def _head_of_column(name: str) -> str:
    return f'<th scope="col">{name}</th>' if name else "<td></td>"


def _comments(block: Block, shown: Shown) -> str:
    title, text = f"<h2>{_say(block['title'], shown)}</h2>", shown.heading.comments
    if not text:
        return f'<div class="to-sign"><div>{title}<div class="to-write"></div></div></div>'
    return f'{title}<p dir="auto">{"<br>".join(map(escape, text.splitlines()))}</p>'


def _sign(block: Block, shown: Shown) -> str:
    lines = ""
    for name, value in block["lines"]:
        typed = _say(value, shown)
        lines += f"<p>{_say(name, shown)}{': ' if typed else ''}{typed}</p>"
    return f'<div class="to-sign">{lines}</div>'


_BLOCKS: Final[Mapping[str, Callable[[Block, Shown], str]]] = {
    "alarm": _alarm,
    "facts": _facts,
    "audiograms": _audiograms,
    "figure": _figure,
    "legend": _legend,
    "tables": _tables,
    "rows": _rows,
    "comments": _comments,
    "sign": _sign,
}
