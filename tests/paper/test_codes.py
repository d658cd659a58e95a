"""Every code of a row has a sentence, and every sentence a code: in all languages, with figures."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from firmware_py.findings import rows
from firmware_py.paper import blocks
from firmware_py.paper.blocks import Paper
from firmware_py.paper.session_paper import paper_of
from firmware_py.paper.words import lines_of
from firmware_py.terms.outcomes import Outcome, Verdict
from host_tools.catalogue import LANGUAGES, SAID, catalogue_of, language_of
from host_tools.recordings.source import source_of
from tests.host.journals import GOLDEN, session_of
from tests.host.judged import DIFFERENT, HALF, NOBODY, a_session
from tests.host.reports import check_said

ROOT: Final = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once
MAKERS: Final = ("firmware_py/paper", "firmware_py/findings", "host_tools")
CALLS: Final = ("row", "count_row", "rows.row")
JOURNALS: Final = sorted(GOLDEN.glob("*.journal"))


@cache
def made_codes() -> frozenset[str]:
    """Return the codes that rows are made with, each as a pattern."""
    found = {f"^{re.escape(code)}(-not)?$" for code in _tables_of_codes()}
    for path in sorted(each for top in MAKERS for each in (ROOT / top).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS and node.args:
                found |= {*_patterns(node.args[0], one="(-one)?" * (len(node.args) > 1))}
    return frozenset(found)


def _tables_of_codes() -> set[str]:
    """Return the literals that look like codes and stand in a table of a module."""
    text = "".join(
        path.read_text("utf-8") for top in MAKERS[:2] for path in (ROOT / top).glob("*.py")
    )
    return {*re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)*)"', text)}


def _patterns(node: ast.expr, one: str) -> list[str]:
    if isinstance(node, ast.Constant):
        return [f"^{re.escape(str(node.value))}{one}$"]
    if isinstance(node, ast.JoinedStr):
        parts = [
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*"
            for part in node.values
        ]
        return [f"^{''.join(parts)}{one}$"]
    if isinstance(node, ast.Name):  # the function is given it, as its literals are
        return []
    if isinstance(node, ast.IfExp):
        return [*_patterns(node.body, one), *_patterns(node.orelse, one)]
    return []


def test_no_sentence_of_a_paper_is_left_over() -> None:
    made = re.compile("|".join(made_codes()))
    own = [code for place in ("paper", "people") for code in catalogue_of("en").tables[place]]
    assert [code for code in own if not made.match(code)] == []


def test_each_literal_code_has_a_sentence() -> None:
    sentences = language_of("en").sentences
    for path in sorted((ROOT / "firmware_py/paper").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "row":
                for pattern in _patterns(node.args[0], one=""):
                    assert any(re.match(pattern, code) for code in sentences), pattern


def test_no_two_tables_have_one_code() -> None:
    tables = catalogue_of("en").tables
    codes = [code for place in SAID for code in tables[place]]
    assert sorted({code for code in codes if codes.count(code) > 1}) == []


@cache
def papers() -> list[Paper]:
    """Return the papers of all golden sessions, and of tests that were none."""
    judged = [a_session(verdicts) for verdicts in (DIFFERENT, HALF, NOBODY)]
    return [paper_of(source_of(each)) for each in (*map(session_of, JOURNALS), *judged)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_rows_of_a_paper_are_said(language: str) -> None:
    check_said(papers(), language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_of_lists_have_their_rows(language: str) -> None:
    sentences = language_of(language).sentences
    assert {f"test-{verdict}" for verdict in Verdict} <= sentences.keys()
    assert {f"outcome-{each}" for each in (Outcome.NO_RESPONSE, Outcome.HEARS_ALL)} <= (
        sentences.keys()
    )


def test_an_unknown_code_is_shown_with_its_figures() -> None:
    """It is of a later version: nothing that was found is lost."""
    told = rows.row("later", ear="right", level=45.4, of=[rows.row("unknown"), "x"])
    assert language_of("en").say(told) == "later (ear right ear, level 45, of not known, x)"
    assert language_of("de").say(rows.row("later")) == "later"


def test_a_console_leaves_out_what_is_to_be_typed_and_nothing_else() -> None:
    name, one = rows.row("fact-name"), rows.row("fact-identifier")
    told = blocks.facts([(name, blocks.to_type("name")), (one, "typed-1"), (one, 17.0)])
    assert [*lines_of([blocks.section("facts", None, told)])] == [
        "identifier: typed-1", "identifier: 17",
    ]  # fmt: skip
