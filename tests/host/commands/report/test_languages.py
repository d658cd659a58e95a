"""A report in every language: nothing is cut off, on its pictures and in a browser."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from playwright.sync_api import Browser

from firmware_py.calibration.in_force import OVERDUE, SIMULATED, UNCALIBRATED
from firmware_py.journal import read_journal
from firmware_py.platform.version import full_version
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.report.findings import findings_of
from host_tools.main import main
from host_tools.recordings.particulars import simulated_words
from tests.budget import quick
from tests.host.browsers import NEEDS_CHROMIUM
from tests.host.commands.report.test_picture import drawings
from tests.host.journals import GOLDEN, LEFT_S2, session_of, write_again

PHONE_PX, TABLET_PX = 390, 1024
PAPER_UNITS = 390.0  # how high an audiogram's paper is; it is wider


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_paper_says_that_nobody_was_tested_and_how_the_clock_ran(language: str) -> None:
    catalogue = catalogue_of(language)
    nobody, board = (catalogue.say("report", k) for k in ("simulated_means", "clock_of_board"))
    fast = catalogue.say("report", "clock_ran", speed="60")
    marks = [catalogue.say("report", key) for key in ("simulated_mark", "clock_mark")]

    assert simulated_words(False, 1.0, catalogue) == []
    assert simulated_words(False, 60.0, catalogue) == [(marks[1], fast)]
    assert simulated_words(True, 1.0, catalogue) == [(marks[0], nobody)]
    assert simulated_words(True, 60.0, catalogue) == [(marks[0], f"{nobody} {fast}")]
    assert simulated_words(True, None, catalogue) == [(marks[0], f"{nobody} {board}")]


@pytest.mark.parametrize("state", [UNCALIBRATED, OVERDUE, SIMULATED])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_state_of_the_calibration_is_whole_across_an_audiogram(
    language: str, state: str
) -> None:
    session = session_of(LEFT_S2)
    found = replace(findings_of(session, language), calibration_state=state)
    key = "simulated_mark" if state == SIMULATED else state.lower()
    word = catalogue_of(language).say("report", key)
    mark = drawings(found, session)[0].of_class("watermark")[0]
    size_px = float(mark.get("style", "").removeprefix("font-size: ").removesuffix("px"))
    bold = FontProperties(weight="bold")
    box = TextPath((0, 0), word, size=size_px, prop=bold).get_extents()
    reach = math.sin(math.radians(42.0)) * box.height + math.cos(math.radians(42.0)) * box.width

    assert mark.text == word
    assert reach < PAPER_UNITS


@pytest.mark.usefixtures("as_if_calibrated")
@pytest.mark.parametrize("language", quick(LANGUAGES, "nl"))
def test_json_says_its_sentences_in_the_language_and_its_words_in_english(
    language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(GOLDEN / "masked.journal"), "--json", "--language", language]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    words = catalogue_of(language)

    assert found["language"] == language
    assert found["ears"][0]["outcome"] == "measured"
    assert found["norm_missing"] == words.say("report", "norm_needs", standard="ISO 7029:2017")
    (asymmetry,) = found["asymmetries"]
    assert words.say("report", "criterion_nice") in asymmetry


@NEEDS_CHROMIUM
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("language", quick(LANGUAGES, "de"))
def test_the_page_is_as_wide_as_its_window_and_speaks_one_language(
    language: str, browser: Browser, tmp_path: Path
) -> None:
    out, journal = tmp_path / "report.html", tmp_path / "session-000001.journal"
    header, *records = read_journal(GOLDEN / "clinical.journal").records
    person = {**header["person"], "age_years": 68.0, "sex": "F"}  # with a norm, the widest table
    write_again(journal, {**header, "person": person, "firmware": full_version()}, records)
    main(["report", str(journal), "-o", str(out), "--language", language])
    words = catalogue_of(language)
    assert words.say("report", "column_peers") in out.read_text("utf-8")
    for width_px in (PHONE_PX, TABLET_PX):
        page = browser.new_page(viewport={"width": width_px, "height": 768})
        page.goto(out.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width_px
        assert page.locator("html").get_attribute("lang") == language
        page.locator("#step").fill("0")
        assert words.say("steps", "before_first") in page.locator("#now").inner_text()
        page.locator("#next").click()
        assert words.say("report", "left_ear") in page.locator("#now").inner_text()
        page.close()
