"""A document of paper: a tagged PDF of real text (PDF/UA-1), or one picture of the same.

Typst sets it from blocks of data, such as a table or a figure. `document.typ` says what each looks
like; what a block has is said at its function here.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Final, Literal

from host_tools.drawings.drawing import DOTS_PER_INCH, drawable_with
from host_tools.errors import HostError
from host_tools.files import write_bytes
from host_tools.recordings.verdicts import ToldVerdict

PDF: Final = ".pdf"
SVG: Final = "<svg "  # so a drawing begins
PDF_STANDARD: Final = "ua-1"
FORMATS: Final[dict[str, Literal["pdf", "svg", "png"]]] = {
    PDF: "pdf",
    ".svg": "svg",
    ".png": "png",
}
ENDINGS: Final = (*FORMATS,)

Block = dict[str, Any]


@dataclass(frozen=True)
class Document:
    """What stands on the paper."""

    language: str  # as IETF BCP 47 names it
    title: str  # of the file, for who looks at a list of them, and for who hears it read out
    headline: str
    standing: str  # beside the headline: whether it is final
    final: bool
    footer: str
    blocks: Sequence[Block] = field(default_factory=list)


def facts(pairs: Sequence[tuple[str, str]]) -> Block:
    """Return names with values, in two columns, a row at a time."""
    return {"kind": "facts", "facts": [list(pair) for pair in pairs]}


def alarm(headline: str, text: str) -> Block:
    """Return what must not be overlooked."""
    return {"kind": "alarm", "headline": headline, "text": text}


def verdict(told: ToldVerdict) -> Block:
    """Return whether there was a test: a line if it was a valid one, else an alarm."""
    kind = "verdict" if told.valid else "alarm"
    return {"kind": kind, "headline": told.headline, "text": told.text}


def figure(svg: str, alt: str, title: str = "", colour: str = "", sentence: str = "") -> Block:
    """Return a figure for `figures`: a drawing, what it is, and what stands above and below it."""
    return {"svg": svg, "alt": alt, "title": title, "colour": colour, "sentence": sentence}


def figures(of: Sequence[Block], *, wide: bool = False) -> Block:
    """Return figures beside one another; one alone is as wide as the page only if it is `wide`."""
    return {"kind": "figures", "figures": list(of), "full": wide or len(of) > 1}


def legend(entries: Sequence[tuple[str, str]]) -> Block:
    """Return marks, each an SVG or "", with what they mean."""
    return {"kind": "legend", "entries": [{"svg": svg, "text": text} for svg, text in entries]}


def row(
    cells: Sequence[str], colour: str = "", *, bold: bool = False, small: bool = False
) -> Block:
    """Return a row for `numbers`: its name and its cells."""
    return {"cells": list(cells), "colour": colour, "bold": bold, "small": small}


def numbers(columns: Sequence[str], rows: Sequence[Block]) -> Block:
    """Return a table: the names of its columns, and rows as wide."""
    return {"kind": "numbers", "columns": list(columns), "rows": list(rows)}


def section(title: str, lines: Sequence[str]) -> Block:
    """Return a title with sentences below it."""
    return {"kind": "section", "title": title, "lines": list(lines)}


def note(text: str) -> Block:
    """Return small print."""
    return {"kind": "note", "text": text}


def comments(title: str, text: str) -> Block:
    """Return what someone wrote, or lines to write on."""
    return {"kind": "comments", "title": title, "text": text}


def sign(lines: Sequence[tuple[str, str]]) -> Block:
    """Return lines to fill in by hand: what belongs on each, and what stands there already."""
    return {"kind": "sign", "lines": [list(line) for line in lines]}


def write_document(document: Document, path: Path) -> None:
    """Write a document, in the format of the name's ending.

    Parameters
    ----------
    document : Document
    path : Path
        A name in one of `ENDINGS`. A PDF has pages of A4, a picture one sheet as long as it needs.

    Raises
    ------
    HostError
        It cannot be set or written.
    """
    write_bytes(path, set_document(document, path.suffix))


def set_document(document: Document, ending: str) -> bytes:
    """Return the content of a file with this ending; all else as of `write_document`."""
    import typst

    told, fonts, directories = _drawable(vars(document) | {"one_sheet": ending != PDF})
    content = json.dumps({**told, "fonts": fonts})
    options: Any = {"pdf_standards": PDF_STANDARD} if ending == PDF else {"ppi": DOTS_PER_INCH}
    with as_file(files("host_tools.document") / "document.typ") as program:
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
