"""Any paper as a document: a tagged PDF of real text (PDF/UA-1), or one picture of the same.

Typst sets it. What it is given are the blocks of the paper with their rows in words; `paper.typ`
says what each looks like.
"""

import json
from collections.abc import Iterable, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final, Literal

from firmware_py.findings.rows import Cell
from firmware_py.paper.blocks import Block, Paper, Section, Table
from firmware_py.terms.words import LISTED
from host_tools.drawings.drawing import DOTS_PER_INCH, EAR_COLOURS, INK, drawable_with
from host_tools.errors import HostError
from host_tools.files import write_bytes
from host_tools.papers import SVG, Shown, ear_of

PDF: Final = ".pdf"
PDF_STANDARD: Final = "ua-1"
FORMATS: Final[dict[str, Literal["pdf", "svg", "png"]]] = {
    PDF: "pdf",
    ".svg": "svg",
    ".png": "png",
}
ENDINGS: Final = (*FORMATS,)
PLAIN: Final = "level"  # the code of a measured threshold without a doubt


def write_paper(
    paper: Paper, shown: Shown, path: Path, *, details: bool = False, columns: int = 1
) -> None:
    """Write a paper, in the format of the name's ending; `HostError` if it cannot be set.

    A PDF has pages of A4, a picture one sheet as long as it needs.
    """
    content = set_paper(paper, shown, path.suffix, details=details, columns=columns)
    write_bytes(path, content)


def set_paper(
    paper: Paper, shown: Shown, ending: str, *, details: bool = False, columns: int = 1
) -> bytes:
    """Return the content of a file with this ending; all else as of `write_paper`."""
    import typst

    document = document_of(paper, shown, details=details)
    document |= {"one_sheet": ending != PDF, "columns": columns}
    told, fonts, directories = _drawable(document)
    content = json.dumps({**told, "fonts": fonts})
    options: Any = {"pdf_standards": PDF_STANDARD} if ending == PDF else {"ppi": DOTS_PER_INCH}
    with as_file(files("host_tools.papers") / "paper.typ") as program:
        try:
            done: Any = typst.compile(
                program,
                format=FORMATS[ending],
                sys_inputs={"document": content},
                font_paths=directories,
                ignore_system_fonts=True,
                **options,
            )
        except typst.TypstError as error:
            raise HostError(f"the document cannot be set: {error.message}") from None
    return bytes(done)


def document_of(paper: Paper, shown: Shown, *, details: bool = False) -> dict[str, Any]:
    """Return what Typst is given: a paper with all of its rows in words."""
    heads = {name: shown.say(paper[name]) for name in ("headline", "standing", "footer")}
    return {
        **heads,
        "title": shown.title_of(paper),
        "final": paper["final"],
        "language": shown.name,
        "sections": [_section(each, shown) for each in paper["sections"]],
        "details": [_section(each, shown) for each in paper["details"] if details],
    }


def _section(section: Section, shown: Shown) -> dict[str, Any]:
    blocks = [_block(each, shown) for each in section["blocks"]]
    return {"title": shown.say(section["title"]), "blocks": blocks}


def _block(block: Block, shown: Shown) -> Block:
    kind = block["block"]
    if kind == "facts":
        return {**block, "facts": shown.facts(block["facts"])}
    if kind == "tables":
        return {"block": kind, "tables": _tables(block["tables"], shown)}
    told: Block = _in_words(block, shown)
    if kind == "audiograms":
        for each in told["of"]:
            each |= {"svg": shown.drawings.get(each["route"], ""), "colour": _colour(each["route"])}
    if kind == "figure":
        told["svg"] = shown.drawings.get(block["name"], "")
    if kind == "legend":
        told["entries"] = [shown.entry(*each) for each in block["entries"]]
    if kind == "comments":
        told["text"] = shown.heading.comments
    return told


def _in_words(value: Any, shown: Shown) -> Any:
    if isinstance(value, dict):
        if "code" in value or "typed" in value:
            return shown.say(value)
        return {name: _in_words(each, shown) for name, each in value.items()}
    return [_in_words(each, shown) for each in value] if isinstance(value, list) else value


def _tables(tables: Iterable[Table], shown: Shown) -> list[dict[str, Any]]:
    """Return tables; those of ears that have the same columns are one, below one another."""
    found: list[dict[str, Any]] = []
    for table in tables:
        told = _table(table, shown)
        if table["of"]:
            first = told["rows"][0]["cells"]
            first[0] = LISTED.join((told.pop("caption"), first[0]))
        if table["of"] and found and found[-1]["columns"] == told["columns"]:
            found[-1]["rows"] += told["rows"]
        else:
            found.append({"caption": "", **told})
    return found


def _table(table: Table, shown: Shown) -> dict[str, Any]:
    rows = []
    for place, (name, cells) in enumerate(table["rows"]):
        main = place < table["main"]
        rows.append({
            "cells": [shown.say(each) for each in (name, *cells)],
            "bold": [main, *(main and _is_plain(each) for each in cells)],
            "colour": _colour(table["of"]) if main else INK,
            "small": not main,
        })  # fmt: skip
    columns = [shown.say(each) for each in table["columns"]]
    return {"caption": shown.say(table["caption"]), "columns": columns, "rows": rows}


def _is_plain(cell: Cell) -> bool:
    return isinstance(cell, Mapping) and cell["code"] == PLAIN


def _colour(route: str) -> str:
    return EAR_COLOURS.get(ear_of(route), INK)


def _drawable(told: dict[str, Any]) -> tuple[dict[str, Any], list[str], list[Path]]:
    """Return what is told in letters that there are, the fonts that have them, and where."""
    fonts: dict[str, str] = {}

    def each(value: Any) -> Any:
        if isinstance(value, str):
            if value.startswith(SVG):
                return value
            shown, found = drawable_with(value)
            fonts.update(found)
            return shown
        if isinstance(value, dict):
            return {name: each(inner) for name, inner in value.items()}
        return [each(inner) for inner in value] if isinstance(value, list | tuple) else value

    shown = each(told)
    return shown, [*fonts], sorted({Path(file).parent for file in fonts.values()})
