"""The page in a real browser: every tone clicked and keyed through, and compared with the journal.

It needs Chromium on this machine; without it the tests say so and are left out.
"""

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from device.simulator.world import World
from firmware_py.ear.caps import ATTENTION_TONES_MAX
from firmware_py.terms.person import Person
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from host_tools.main import main
from host_tools.recordings.recorded_session import Trial
from tests.firmware.whole_sessions import a_listener
from tests.host.browsers import NEEDS_CHROMIUM
from tests.host.journals import cut, session_of

SETTLED_MS: Final = 60_000  # on a busy machine
STANDS_STILL: Final = datetime.datetime(2031, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)

pytestmark = [
    NEEDS_CHROMIUM,
    pytest.mark.xdist_group("browser"),  # one browser for all of them
]


FORTY_TONES: Final = Settings(ears="right", tones_max=40, retest=False, stop_half_width_db=1.0)


@pytest.fixture(scope="module")
def forty_tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a session of forty tones, of a man of 65."""
    world = World(tmp_path_factory.mktemp("forty"), a_listener("N3", lapse_rate=0.3))
    world.begin(FORTY_TONES, Person(65, "M", "P-17"))
    return world.end()


@pytest.fixture(scope="module")
def html(forty_tones: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of the session of forty tones."""
    out = tmp_path_factory.mktemp("page") / "session.html"
    assert main(["report", str(forty_tones), "-o", str(out)]) == 0
    return out


@pytest.fixture
def page(browser: Browser, html: Path) -> Iterator[Page]:
    """Return the page, opened from its file; whatever it says or asks for is an error."""
    opened = browser.new_page(viewport={"width": 1000, "height": 900})
    opened.set_default_timeout(SETTLED_MS)
    wrong: list[str] = []
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda request: wrong.append(request.url))
    opened.goto(html.as_uri())
    yield opened
    assert wrong == [html.as_uri()]
    opened.close()


def answers_in(journal: Path) -> list[Trial]:
    """Return what was answered, as a replay has it of the records; no tone was disturbed."""
    return session_of(journal).trials


def words_of(tone: Trial) -> str:
    if tone.frequency_hz is None or tone.level_db_hl is None:
        return "catch trial, no tone"
    level = f"{tone.level_db_hl:g}".replace("-", "−")
    return f"{tone.frequency_hz:g} Hz at {level} dB HL"


def check_words(text: str, tone: Trial) -> None:
    assert text.startswith(f"Presentation {tone.number}, right ear: {words_of(tone)}")
    if tone.frequency_hz is None:
        assert re.search("not pressed|a false positive", text)
    elif tone.response_ms is None:
        assert ", not heard." in text
    else:
        assert f", heard after {tone.response_ms:.0f} ms." in text


def stand_still(page: Page) -> None:
    """Let the time of a page pass by `run_for` only: by itself it passes while a test looks."""
    page.clock.install(time=STANDS_STILL)
    page.clock.pause_at(STANDS_STILL + datetime.timedelta(seconds=1))


def now(page: Page) -> str:
    return page.locator("#now").inner_text()


# What a step shows: its words, how many marks, and the count.
SHOWN: Final = """() => [
  document.getElementById("now").innerText,
  document.querySelectorAll(".panel .tones .tone").length,
  document.getElementById("count").innerText,
]"""
CLICKED_THROUGH: Final = f"""(times) => Array.from({{ length: times }}, () => {{
  document.getElementById("next").click();
  return ({SHOWN})();
}})"""


@pytest.mark.thorough
def test_every_tone_is_stepped_through_by_clicks_as_the_journal_has_it(
    page: Page, forty_tones: Path
) -> None:
    answered = answers_in(forty_tones)
    tones = [tone for tone in answered if tone.frequency_hz is not None]
    assert 40 <= len(tones) <= 40 + ATTENTION_TONES_MAX
    page.locator("#step").focus()
    page.keyboard.press("Home")
    assert now(page).startswith("Before the first answer.")
    assert f"Next, right ear: {words_of(answered[0])}" in now(page)

    page.click("#next")
    shown = [page.evaluate(SHOWN), *page.evaluate(CLICKED_THROUGH, len(answered) - 1)]
    for step, (tone, (text, marks, count)) in enumerate(zip(answered, shown, strict=True), 1):
        check_words(text, tone)
        if step < len(answered):
            assert f"Next, right ear: {words_of(answered[step])}" in text
        else:
            assert text.endswith("No further tone.")
        heard_so_far = [t for t in answered[:step] if t.frequency_hz is not None]
        assert marks == len(heard_so_far)
        assert count == f"{step} / {len(answered)}"


@pytest.mark.thorough
def test_the_last_tone_is_ringed_where_its_mark_stands(page: Page, forty_tones: Path) -> None:
    answered = answers_in(forty_tones)
    steps = [step for step, tone in enumerate(answered, 1) if tone.frequency_hz is not None]
    for step in steps[-4:]:
        page.locator("#step").fill(str(step))
        mark = page.locator(".panel.right .tone").last.get_attribute("transform") or ""
        ring = page.locator(".panel.right .last")
        centre = [ring.get_attribute("cx"), ring.get_attribute("cy")]
        assert re.findall(r"[-\d.]+", mark)[:2] == centre


def test_the_steps_keep_the_symbols_and_end_as_the_audiogram_above(page: Page) -> None:
    places = (
        "marks => marks.map(m => [m.dataset.frequencyHz, m.dataset.kind,"
        " m.getAttribute('transform')])"
    )
    found = page.eval_on_selector_all("#audiogram-right .threshold", places)
    assert len(found) > 5
    assert page.eval_on_selector_all(".panel.right .threshold", places) == found
    page.locator("#step").fill("20")
    halfway = page.eval_on_selector_all(".panel.right .threshold", places)
    assert 1 < len(halfway) <= len(found)
    assert halfway != found
    circle = page.locator(".panel.right .threshold .symbol").first.get_attribute("d") or ""
    assert circle.count("C") == 4, "an O"


def test_the_curve_and_the_objective_are_the_estimators(page: Page, forty_tones: Path) -> None:
    estimator = session_of(forty_tones).test.ears[Route("right")].estimator
    path = page.locator(".panel .mean").get_attribute("d") or ""
    points = [tuple(map(float, p.split())) for p in path[1:].split("L")]
    frequencies_hz = [125.0 * 2.0 ** ((x - 70.0) / 60.0) for x, _ in points]
    clipped = [min(max(f, 125.0), 8000.0) for f in frequencies_hz]
    mean_db_hl, _ = estimator.threshold(clipped)
    levels = [-10.0 + (y - 8.0) / 3.0 for _, y in points]
    shown = page.eval_on_selector_all(
        ".panel.current .cell", "cells => cells.map(c => +c.getAttribute('fill-opacity'))"
    )
    expected = estimator.objective([-10.0 + 2.5 * i for i in range(45)])

    assert levels == pytest.approx(mean_db_hl.tolist(), abs=0.15)
    # To one character in 63 of the root.
    assert [s / 0.75 for s in shown] == pytest.approx((expected**0.5).ravel().tolist(), abs=0.017)


def test_keys_and_slider_go_to_any_step(page: Page, forty_tones: Path) -> None:
    answered = answers_in(forty_tones)
    page.locator("#step").focus()
    for key, step in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
        page.keyboard.press(key)
        assert page.locator("#step").input_value() == str(step)
    check_words(now(page), answered[0])
    page.keyboard.press("End")
    check_words(now(page), answered[-1])
    page.keyboard.press("ArrowRight")
    check_words(now(page), answered[-1])
    page.locator("#previous").focus()
    page.keyboard.press("Enter")
    check_words(now(page), answered[-2])
    page.locator("#step").fill("7")
    check_words(now(page), answered[6])
    assert page.locator("#step").get_attribute("aria-valuetext") == f"7 of {len(answered)} answers"
    page.locator("#session summary").click()
    row = page.locator("tr[aria-current=step]")
    assert row.locator("th").inner_text() == str(answered[6].number)


def test_it_plays_to_the_end_and_pauses(page: Page, forty_tones: Path) -> None:
    answered = answers_in(forty_tones)
    stand_still(page)
    page.click("#previous")
    page.click("#play")
    page.clock.run_for(700)
    assert page.get_by_role("button", name="Play").is_visible()  # it has come to the end
    check_words(now(page), answered[-1])
    page.click("#play")
    assert page.locator("#play").inner_text() == "Pause"
    assert now(page).startswith("Before the first answer.")
    page.clock.run_for(1400)
    assert page.locator("#count").inner_text() == f"2 / {len(answered)}"
    page.click("#play")
    step = int(page.locator("#step").input_value())
    check_words(now(page), answered[step - 1])
    assert page.locator("#play").inner_text() == "Play"
    page.clock.run_for(1000)
    assert page.locator("#step").input_value() == str(step) != str(len(answered))


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, html: Path, scheme: Any) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1000, "height": 900})
    page.set_default_timeout(SETTLED_MS)
    page.goto(html.as_uri())
    for fold in page.locator("summary").all():
        fold.click()
    results = Axe().run(page)
    page.close()
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("records", [1, pytest.param(60, marks=pytest.mark.thorough)])
def test_an_unfinished_session_can_be_stepped_through(
    records: int, browser: Browser, forty_tones: Path, tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    assert main(["report", str(cut(forty_tones, tmp_path, records)), "-o", str(out)]) == 3
    page = browser.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(out.as_uri())
    text = now(page)
    page.close()
    assert wrong == []
    assert ("Next, right ear: " in text) == (records > 1)
    assert "UNFINISHED" in out.read_text(encoding="utf-8")
