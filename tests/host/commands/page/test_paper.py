"""A paper on the page: every row is shown, what was typed is filled in, nothing is computed."""

import re
from typing import Final

import pytest

from firmware_py.paper.session_paper import paper_of
from host_tools.catalogue import LANGUAGES
from host_tools.commands.page.assemble import modules
from host_tools.recordings.source import source_of
from tests.host.commands.page.in_javascript import run, text_of_paper, words
from tests.host.journals import GOLDEN, session_of
from tests.host.papers.test_papers import ROUTES, a_paper
from tests.paper.test_codes import rows_in

pytestmark = pytest.mark.xdist_group("page-words")
WITHOUT: Final = {"x-whole", "x-chart"}  # it is no file, and has no other drawings
# What whoever rounds, compares or counts would need.
COMPUTES: Final = re.compile(r"toFixed|Math\.|Number\(|_db_hl|frequency_hz|[<>]=? ?\d")
DRAWN: Final = """
return given.marks.map((mark) => {
  const drawing = document.createElement("svg");
  drawMark(drawing, mark);
  return drawing.children[0].children.length;
});
"""
ONE_TABLE: Final = """
useWords(given, "en");
const [found] = sectionsOf([{ name: "x", title: null, blocks: [given.block] }], {});
const [tables] = found.children;
return tables.children.map((each) => textOf(each).split("\\n"));
"""


def test_every_row_of_a_paper_is_shown() -> None:
    text = text_of_paper(a_paper(), typed={"name": "Zoë"})
    codes = {row["code"] for row in rows_in(a_paper()) if row["code"][:2] == "x-"}
    assert {each for each in codes if each not in text} == WITHOUT


def test_what_was_typed_is_filled_in_and_a_fact_that_nobody_typed_is_left_out() -> None:
    typed = {"name": "Zoë <b>", "birth_date": "1957", "tester": "A. Meyer", "remarks": "One."}
    told, nothing = text_of_paper(a_paper(), typed=typed), text_of_paper(a_paper())
    assert [len(re.findall("x-fact", each)) for each in (told, nothing)] == [2, 0]
    for value in ("Zoë <b>", "1957", "x-signed: A. Meyer", "x-comments\nOne."):
        assert value in told
    assert "x-signed\n" in nothing


def test_a_block_of_a_later_version_shows_its_rows() -> None:
    block = {"block": "later", "rows": [{"code": "x-one"}, {"code": "x-two"}]}
    paper = a_paper() | {"sections": [{"name": "x", "title": None, "blocks": [block]}]}
    assert "x-one\nx-two" in text_of_paper(paper)


@pytest.mark.parametrize("turned", [True, False])
def test_a_table_that_is_turned_has_a_line_a_column(turned: bool) -> None:
    *_, block = (each for each in a_paper()["sections"][1]["blocks"] if each["block"] == "tables")
    tables = run("paper.js", ONE_TABLE, block={**block, "turned": turned}, **words())
    assert len(tables) == len(ROUTES)
    names = ["x-level-right", "x-band-right"]
    columns = [f"{hz}" for hz in (250, 1000, 12500)]
    caption, head, *cells = tables[0]
    assert (caption, head) == ("x-caption-right", "x-hz")
    assert cells[: len(names if turned else columns)] == (names if turned else columns)
    first = ["250", "x-level (level 17)"] if turned else ["x-level-right", "x-level (level 17)"]
    assert cells[len(names if turned else columns) :][:2] == first


def test_each_mark_of_a_legend_is_drawn() -> None:
    papers = [paper_of(source_of(session_of(path))) for path in GOLDEN.glob("*.journal")]
    marks = {
        tuple(mark)
        for paper in papers
        for section in paper["sections"]
        for block in section["blocks"]
        if block["block"] == "legend"
        for mark, _ in block["entries"]
    }
    assert len(marks) > 15
    drawn = run("paper.js", DRAWN, marks=sorted(marks))
    assert [mark for mark, count in zip(sorted(marks), drawn, strict=True) if not count] == []


@pytest.mark.parametrize("name", ["paper.js", "result.js"])
def test_what_shows_a_result_computes_nothing_of_it(name: str) -> None:
    assert COMPUTES.findall(modules()[name]) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_head_is_said_in_each_language(language: str) -> None:
    paper = a_paper() | {"headline": {"code": "audiogram"}, "standing": {"code": "final"}}
    assert text_of_paper(paper, language).splitlines()[:2] == [
        words()["words"][language][words()["codes"].index(code)] for code in ("audiogram", "final")
    ]
