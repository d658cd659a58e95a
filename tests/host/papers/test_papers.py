"""Any paper, as HTML, on paper, on a terminal and on the operator's page: every row is shown."""

import io
import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any, Final

import pytest
from rich.console import Console

from firmware_py.findings.rows import Cell, Row, no_value, row
from firmware_py.paper import blocks
from firmware_py.paper.blocks import Paper, Table
from host_tools.papers import Shown
from host_tools.papers.characters import show_paper
from host_tools.papers.html import header_as_html, page_as_html, sections_as_html
from host_tools.papers.pdf import ENDINGS, document_of, set_paper
from host_tools.recordings.heading import Heading
from tests.host.commands.page.in_javascript import elements_of
from tests.host.pdfs import ReadPdf, check_tagged

SVG: Final = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'
HEADING: Final = Heading(
    name="Zoë <b> #strong[x] أحمد",
    birth_date=date(1957, 3, 8),
    tester="A. Meyer",
    comments="One.\n= Two.",
)
SHOWN: Final = Shown(
    heading=HEADING,
    drawings={"right": SVG, "left": SVG, "right-bone": SVG, "chart": SVG},
    mark=lambda mark: SVG if mark else "",
)
HZ: Final = (250, 1000, 12500)
ROUTES: Final = ("right", "left", "right-bone")
FOUND: Final = 17.0


def _new(name: str) -> Row:
    # Of a later version: a code that no catalogue has is shown as it is.
    return row(f"x-{name}")


def _table(route: str, *, last: Row | None = None) -> Table:
    cells: list[Cell] = [
        row("x-level", level=FOUND),
        {"code": "level", "level": 5.0},
        last or no_value(),
    ]
    bands: list[Cell] = [1.5, "<i>", no_value()]
    rows = [(_new(f"level-{route}"), cells), (_new(f"band-{route}"), bands)]
    return blocks.table(_new(f"caption-{route}"), [_new("hz"), *HZ], rows, of=route, main=1)


def a_paper() -> Paper:
    """Return a paper with every kind of block."""
    told = [(_new("fact"), blocks.to_type(name)) for name in ("name", "birth_date", "place")]
    ears = [(each, _new(f"title-{each}"), _new("label"), [_new(f"ear-{each}")])
            for each in ("right", "left")]  # fmt: skip
    return blocks.paper(
        title=_new("whole"), headline=_new("headline"), standing=_new("standing"), final=False,
        footer=_new("footer"),
        sections=[
            blocks.section(
                "about", None,
                blocks.alarm(_new("calm"), [], calm=True),
                blocks.alarm(_new("alarm"), [_new("alarm-1"), _new("alarm-2")]),
                blocks.facts([*told, (_new("own-fact"), "P-17 <i>")]),
            ),
            blocks.section(
                "thresholds", _new("thresholds"),
                blocks.audiograms(ears),
                blocks.figure("chart", _new("chart")),
                blocks.legend([(["symbol", "right"], _new("mark")), ([], _new("sign"))]),
                blocks.tables(map(_table, ROUTES), turned=True),
                blocks.rows([_new("row-1"), _new("row-2")]),
                blocks.rows([_new("note")], small=True),
                {"block": "later", "rows": [_new("later")]},  # of a later version
                {"block": "later", "what": 1},
                blocks.comments(_new("comments")),
                blocks.sign([(_new("signed"), blocks.to_type("tester")), (_new("on"), None)]),
            ),
        ],
        details=[blocks.section("more", _new("more"), blocks.tables([_table("")]))],
    )  # fmt: skip


def _html(paper: Paper, shown: Shown) -> str:
    sections = sections_as_html([*paper["sections"], *paper["details"]], shown)
    body = f"{header_as_html(paper, shown)}{sections}<p>{shown.say(paper['footer'])}</p>"
    return page_as_html(shown, shown.title_of(paper), "", body)


def _typst(paper: Paper, shown: Shown) -> str:
    return json.dumps(document_of(paper, shown, details=True), ensure_ascii=False)


def _characters(paper: Paper, shown: Shown) -> str:
    screen = Console(file=io.StringIO(), width=300)
    show_paper(screen, paper, shown, details=True)
    text: str = screen.file.getvalue()  # type: ignore[attr-defined]
    return text


RENDERERS: Final[dict[str, Callable[[Paper, Shown], str]]] = {
    "html": _html,
    "pdf": _typst,
    "characters": _characters,
    "elements": elements_of,
}
# What a renderer has no place for: a terminal is not signed, has no pictures, no title and no
# entry of a legend without a mark; what an audiogram on a page is called, the program that draws it
# says.
WITHOUT: Final = {
    "html": {"x-label"},
    "pdf": set[str](),
    "characters": {"x-whole", "x-label", "x-chart", "x-sign", "x-signed", "x-on"},
    "elements": {"x-whole", "x-chart"},
}


def _codes(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["code"]} if "code" in value else set()
        return own.union(*map(_codes, value.values()))
    return set().union(*map(_codes, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("name", RENDERERS)
def test_every_row_of_a_paper_is_shown(name: str) -> None:
    paper = a_paper()
    shown = RENDERERS[name](paper, SHOWN)
    assert {each for each in _codes(paper) if each[:2] == "x-" and each not in shown} == (
        WITHOUT[name]
    )


@pytest.mark.parametrize("name", RENDERERS)
def test_what_was_typed_is_filled_in_and_a_fact_that_nobody_typed_is_left_out(name: str) -> None:
    paper, render = a_paper(), RENDERERS[name]
    told, nothing = render(paper, SHOWN), render(paper, Shown())
    facts = [len(re.findall("x-fact", each)) for each in (told, nothing)]
    assert facts == [2, 0]
    assert ("8 March 1957" in told, "1957" in nothing) == (True, False)
    for value in () if name == "characters" else ("A. Meyer", "One."):
        assert value in told


def test_nothing_that_was_typed_is_markup() -> None:
    paper = a_paper()
    page = _html(paper, SHOWN)
    assert "Zoë &lt;b&gt; #strong[x] أحمد" in page
    assert "P-17 &lt;i&gt;" in page
    assert re.search("<(b|i)>", page) is None
    pdf = ReadPdf(set_paper(paper, SHOWN, ".pdf"))
    assert "Zoë <b> #strong[x]" in pdf.text
    assert "= Two." in pdf.text


def test_tables_stand_turned_on_a_page_and_ears_beside_one_another_bone_below() -> None:
    page = _html(a_paper(), SHOWN)
    pairs = page.split('<div class="pair"><table')[1:]
    assert [re.findall("x-caption-([a-z-]+)", each) for each in pairs] == [
        ["right", "left"], ["right-bone"],
    ]  # fmt: skip
    assert re.findall('<th scope="col">x-([a-z-]+)', pairs[0])[:3] == [
        "hz", "level-right", "band-right",
    ]  # fmt: skip
    assert re.findall(r'<th scope="row">(\d+)', pairs[0])[:3] == [f"{hz}" for hz in HZ]
    assert page.count("<caption") == page.count("<table")


def test_on_paper_tables_of_the_same_columns_are_one_and_what_is_certain_stands_out() -> None:
    told = document_of(a_paper(), SHOWN)
    (block,) = (each for each in told["sections"][1]["blocks"] if each["block"] == "tables")
    (table,) = block["tables"]
    assert [row["cells"][0] for row in table["rows"]] == [
        name for each in ROUTES for name in (f"x-caption-{each}, x-level-{each}", f"x-band-{each}")
    ]  # fmt: skip
    first, second, *_ = table["rows"]
    assert (first["bold"], first["small"]) == ([True, False, True, False], False)
    assert (any(second["bold"]), second["small"]) == (False, True)
    assert first["colour"] != second["colour"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_paper_is_set_with_the_same_bytes_every_time(ending: str) -> None:
    one, other = (set_paper(a_paper(), SHOWN, ending) for _ in range(2))
    assert one == other


def test_a_pdf_is_tagged_has_its_language_and_says_in_words_what_is_drawn() -> None:
    pdf = ReadPdf(set_paper(a_paper(), Shown("nl", HEADING, SHOWN.drawings), ".pdf"))
    check_tagged(pdf, "nl")
    assert sorted(pdf.alternatives) == ["x-chart", "x-label", "x-label"]
    assert pdf.title == "x-whole"
