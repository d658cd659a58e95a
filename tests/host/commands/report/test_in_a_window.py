"""Pages in windows of any width, and printed: nothing is cut off, and nothing overlaps."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from firmware_py.terms.person import Person
from firmware_py.terms.route import BY_BONE
from host_tools.catalogue import LANGUAGES
from host_tools.commands.report.session_report import SessionReport
from host_tools.commands.sessions.people import Comparison
from host_tools.commands.sessions.people import Person as People
from host_tools.commands.sessions.people_page import people_page
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import ReplayedSession
from tests.budget import quick
from tests.host.browsers import NEEDS_CHROMIUM
from tests.host.commands.report.test_bone import conductive
from tests.host.commands.sessions.clinic import people_in, write_clinic
from tests.host.journals import BOTH, GOLDEN, MASKED, session_of
from tests.host.judged import NOBODY, a_session
from tests.host.pdfs import ReadPdf
from tests.host.reports import page, report_of, with_person

WIDTHS_PX: Final = (390, 720, 1024, 1280, 1920)
HEADINGS: Final = (
    Heading(name="Maria Jansen", tester="A. Meyer", place="Audiology, room 4"),
    Heading(name="W" * 200, tester="مريم الأحمد", comments="x" * 200),
)
JOURNALS: Final = sorted(GOLDEN.glob("*.journal"))

pytestmark = [
    NEEDS_CHROMIUM,
    pytest.mark.xdist_group("browser"),  # one browser for all of them
    pytest.mark.usefixtures("as_if_calibrated"),
]
# Each text that is shown: where it ends, and whether it lies in what can be scrolled.
OUTSIDE: Final = """() => {
  const wide = document.documentElement.clientWidth;
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { parentElement: parent, textContent: text } = walk.currentNode;
    if (!text.trim() || !parent.checkVisibility() || parent.closest(".wide, script, svg")) continue;
    const range = document.createRange();
    range.selectNode(walk.currentNode);
    for (const box of range.getClientRects()) {
      if (box.right > wide + 0.5 || box.left < -0.5) found.push(text.trim().slice(0, 40));
    }
  }
  return [...new Set(found)];
}"""
# What stands beside or below one another: cells of tables, facts, entries of legends, blocks.
OVERLAP: Final = """() => {
  const groups = ["td, th, caption", "dt, dd", ".legend li", "main > *, header > *", "figure"];
  const found = [];
  for (const names of groups) {
    const shown = [...document.querySelectorAll(names)].filter(
      (each) => each.checkVisibility() && each.getBoundingClientRect().width > 0);
    const boxes = shown.map((each) => {
      const range = document.createRange();
      range.selectNodeContents(each);
      return range.getBoundingClientRect();
    });
    for (let i = 0; i < boxes.length; i++) {
      for (let j = i + 1; j < boxes.length; j++) {
        const [a, b] = [boxes[i], boxes[j]];
        const apart = a.right <= b.left + 1 || b.right <= a.left + 1 ||
          a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
        if (!apart && !shown[i].contains(shown[j]) && !shown[j].contains(shown[i])) {
          found.push(`${shown[i].innerText} | ${shown[j].innerText}`.slice(0, 90));
        }
      }
    }
  }
  return found;
}"""


SESSIONS: Final[dict[str, Callable[[], ReplayedSession]]] = {
    "air": lambda: with_person(session_of(BOTH), Person(60.0, "F", "P-1")),  # with an age norm
    "masked": lambda: session_of(MASKED),
    "bone": conductive,
    "nobody": lambda: a_session(NOBODY),
}


@pytest.fixture
def window(browser: Browser) -> Iterator[Page]:
    new = browser.new_page()
    yield new
    new.close()


@pytest.mark.parametrize("heading", HEADINGS, ids=["short", "long"])
@pytest.mark.parametrize("language", quick(LANGUAGES, "nl"))
@pytest.mark.parametrize("name", SESSIONS)
def test_nothing_is_wider_than_the_window_and_nothing_overlaps(
    window: Page, name: str, language: str, heading: Heading
) -> None:
    report = report_of(SESSIONS[name](), language, heading=heading)
    window.set_content(page(report))
    check_room(window, language)


def check_room(window: Page, language: str) -> None:
    assert window.locator("html").get_attribute("lang") == language
    window.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    for width_px in WIDTHS_PX:
        window.set_viewport_size({"width": width_px, "height": 900})
        assert window.evaluate("document.documentElement.scrollWidth") <= width_px
        assert window.evaluate(OUTSIDE) == [], width_px
        assert window.evaluate(OVERLAP) == [], width_px


@pytest.mark.thorough
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_of_people_has_room_too(
    window: Page, language: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    window.set_content(people_page(compared_people(tmp_path_factory.getbasetemp()), language))
    assert window.locator("svg .symbol").count() > 20
    check_room(window, language)
    for scheme in ("light", "dark"):
        window.emulate_media(color_scheme=scheme)
        found = Axe().run(window)
        assert found.violations_count == 0, found.generate_report()


@cache
def compared_people(place: Path) -> list[tuple[People, list[Comparison]]]:
    directory = place / "clinic"
    directory.mkdir()
    write_clinic(directory)
    return [(person, person.comparisons()) for person in people_in(directory).values()]


def sheets(window: Page, report: SessionReport) -> ReadPdf:
    window.set_content(page(report))
    return ReadPdf(window.pdf(prefer_css_page_size=True))


@pytest.mark.parametrize("language", quick(LANGUAGES, "de"))
@pytest.mark.parametrize("path", quick(JOURNALS, MASKED), ids=lambda path: path.stem)
def test_its_print_is_one_sheet_by_air_and_two_with_bone(
    window: Page, path: Path, language: str
) -> None:
    report = report_of(session_of(path), language, heading=HEADINGS[0])
    by_bone = any(ear.route.kind is BY_BONE for ear in report.source.ears)
    assert sheets(window, report).pages <= 1 + by_bone


def test_its_print_is_light_and_has_no_controls_and_no_details(window: Page) -> None:
    report = report_of(session_of(BOTH))
    text = sheets(window, report).text
    for code, shown in (("sign-signature", True), ("row-response", False)):
        assert (report.shown.say({"code": code}) in text) == shown
    window.emulate_media(media="print", color_scheme="dark")
    assert not window.locator(".controls").is_visible()
    assert not window.locator("summary").first.is_visible()
    assert window.locator(".alarm").first.is_visible()
    assert window.locator("figure svg").first.is_visible()
    assert window.locator(".to-sign").last.is_visible()
    background = "getComputedStyle(document.body).backgroundColor"
    assert window.evaluate(background) == "rgb(255, 255, 255)"


def test_what_must_not_be_overlooked_keeps_its_border_in_forced_colours(window: Page) -> None:
    window.emulate_media(forced_colors="active")
    window.set_content(page(report_of(session_of(BOTH))))
    width: Any = window.locator(".alarm").first.evaluate("(e) => getComputedStyle(e).borderWidth")
    assert width == "3px"
