"""The operator's guide: all that the page asks, in its own sentences, on one sheet."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from firmware_py.board.self_check import PARTS as CHECKED
from firmware_py.console.grammar import WARMS_UP
from host_tools.catalogue import ENGLISH, LANGUAGES, catalogue_of, has_words, language_of
from host_tools.commands.page import guide as its
from host_tools.commands.page.assemble import ASSETS
from host_tools.commands.page.guide import COLUMNS, GuideShown, guide, guide_as_html
from host_tools.commands.page.knowledge import sentences_of
from host_tools.papers.pdf import PDF, set_paper
from tests.host.journals import GpPta

PAGE = catalogue_of(ENGLISH).tables["page"]


def codes(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from [value["code"]] if "code" in value else []
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for each in value:
            yield from codes(each)


def test_every_question_of_the_page_is_there_with_each_of_its_answers() -> None:
    told = set(codes(guide()))
    asked = {key for key in PAGE if f"{key}_note" in PAGE and key.startswith("check_")}
    assert len(asked) == len(its.QUESTIONS)
    assert {f"page-{key}{note}" for key in asked for note in ("", "_note")} <= told
    scripts = (ASSETS / "prepare.js").read_text("utf-8")
    assert {f"page-{key}" for key in re.findall(r'say\("(ask_\w+)"', scripts)} <= told
    # The buttons beside a question, and those of a dialog.
    beside = (ASSETS / "page.html").read_text("utf-8").partition('id="live-check"')[2]
    buttons = re.findall(r'data-say="(\w+)"', beside.partition("</section>")[0])
    buttons += re.findall(r'"((?:ask|same)_\w+)", "(\w+)"\)', scripts)[0]
    assert len(buttons) >= 10
    assert {f"page-{key}" for key in buttons} <= told


def test_the_steps_stand_in_their_order_and_the_instruction_is_whole() -> None:
    names = [section["name"] for section in guide()["sections"]]
    assert names == ["connect", "check", "prepare", "instruction", "live", "result"]
    told = [code for code in codes(guide()) if code.startswith("instruction-")]
    assert told == [f"instruction-{key}" for key in catalogue_of(ENGLISH).tables["instruction"]]
    assert set(its.PARTS) <= {*CHECKED}
    assert f"page-error_{WARMS_UP}" in {*codes(guide())}, "no test can begin before"


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_has_no_sentence_that_the_page_has_not(language: str) -> None:
    page = sentences_of(language)
    own = {code for code in codes(guide()) if code not in page}
    said = language_of(language).sentences
    assert [code for code in own if has_words(said.get(code, code))] == []
    assert "page-" not in guide_as_html(language), "each is said"
    assert "{" not in re.sub(r"<style>.*?</style>", "", guide_as_html(language), flags=re.DOTALL)


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_one_sheet_with_every_sentence(language: str) -> None:
    shown = GuideShown(language)
    (sheet,) = PdfReader(BytesIO(set_paper(guide(), shown, PDF, columns=COLUMNS))).pages
    text = " ".join(sheet.extract_text().split())
    for section in guide()["sections"]:
        assert shown.say(section["title"]) in text


def test_it_is_shown_and_written_by_the_command(tmp_path: Path, gp_pta: GpPta) -> None:
    code, out, _ = gp_pta("page", "--guide", "--language", "nl")
    assert (code, catalogue_of("nl").say("page", "check_ear") in out) == (0, True)
    assert gp_pta("page", "--guide", "-o", tmp_path / "guide.html")[0] == 0
    assert (tmp_path / "guide.html").read_text("utf-8") == guide_as_html(ENGLISH)
    assert gp_pta("page", "--guide", "-o", tmp_path / "guide.pdf")[0] == 0
