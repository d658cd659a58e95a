"""A paper on the page: every row is shown, what was typed is filled in, nothing is computed."""

import re
from typing import Final

import pytest

from firmware_py.terms.calibration_states import STATES
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.verdicts import has_thresholds
from host_tools.commands.page.assemble import modules
from host_tools.commands.report.drawn import watermark
from tests.host.commands.page.in_javascript import run, text_of_paper, words
from tests.host.commands.report.test_paper import in_state
from tests.host.judged import DIFFERENT, HALF, a_session
from tests.host.papers.test_papers import ROUTES, a_paper
from tests.host.reports import report_of
from tests.paper.test_codes import papers
from tests.paper.test_thresholds import legend

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once
# What whoever rounds, compares or counts would need.
COMPUTES: Final = re.compile(r"toFixed|Math\.|Number\(|_db_hl|frequency_hz|[<>]=? ?\d")
DRAWN: Final = """
return given.marks.map((mark) => {
  const drawing = document.createElement("svg");
  drawMark(drawing, mark);
  return drawing.children[0]?.children.length ?? 0;
});
"""
ACROSS: Final = """
useWords(given, "en");
const all = (each) => [each, ...each.children.flatMap(all)];
return given.result.ears.map(({ ear }) => {
  const svg = document.createElement("svg");
  drawEar({ dataset: { ear }, querySelector: () => svg }, given.result, ear);
  const of = (name) =>
    all(svg).filter((each) => (each.attributes.class ?? "").split(" ")[0] === name);
  return [of("watermark").map((each) => each.textContent).join(), of("threshold").length > 0];
});
"""
ONE_TABLE: Final = """
useWords(given, "en");
const [found] = sectionsOf([{ name: "x", title: null, blocks: [given.block] }], {});
const [tables] = found.children;
return tables.children.map((each) => textOf(each).split("\\n"));
"""


@pytest.mark.parametrize("name", ["later", "constructor"])
def test_a_block_of_a_later_version_shows_its_rows(name: str) -> None:
    block = {"block": name, "rows": [{"code": "x-one"}, {"code": "x-two"}]}
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
    marks = sorted({tuple(mark) for paper in papers() for mark in legend(paper)})
    assert len(marks) > 15
    drawn = run("paper.js", DRAWN, marks=marks)
    assert [mark for mark, count in zip(marks, drawn, strict=True) if not count] == []


def test_of_a_mark_of_a_later_version_nothing_is_drawn() -> None:
    assert run("paper.js", DRAWN, marks=[["later"], ["__defineGetter__", "constructor"]]) == [0, 0]


@pytest.mark.parametrize("state", STATES)
def test_across_an_audiogram_stands_what_the_report_has_there_and_symbols_of_what_was_tested(
    state: str,
) -> None:
    for verdicts in (DIFFERENT, HALF, dict.fromkeys(("right", "left"), (Verdict.VALID, []))):
        report = in_state(report_of(a_session(verdicts)), state)
        source, told = report.source, report.as_json()["result"]
        result = {**told, "calibration": state, "simulated": source.simulated}
        assert run("draw.js", ACROSS, result=result, **words()) == [
            [watermark(source, report.shown, ear), has_thresholds(ear)] for ear in source.ears
        ]


@pytest.mark.parametrize("name", ["paper.js", "result.js"])
def test_what_shows_a_result_computes_nothing_of_it(name: str) -> None:
    assert COMPUTES.findall(modules()[name]) == []
