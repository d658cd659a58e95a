"""The page of people in a real browser: in every language and scheme, wide and narrow.

It needs Chromium on this machine; without it the tests say so and are left out.
"""

from pathlib import Path
from typing import Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from host_tools.catalogue import LANGUAGES
from host_tools.main import main
from tests.host.browsers import NEEDS_CHROMIUM
from tests.host.commands.sessions.clinic import write_clinic

PHONE_PX, TABLET_PX, WIDE_PX = 390, 1024, 1400

pytestmark = [
    NEEDS_CHROMIUM,
    pytest.mark.thorough,  # what draws is that of the report
    pytest.mark.xdist_group("browser"),  # one browser for all of them
]
# Whatever reaches out of the element it stands in, of those that are not to be scrolled.
CUT_OFF: Final = """() => [...document.querySelectorAll("h1, h2, h3, p, li, figcaption, caption")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
  .map((e) => e.textContent)"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the page of a clinic in every language."""
    directory = tmp_path_factory.mktemp("clinic")
    journals = directory / "journals"
    journals.mkdir()
    write_clinic(journals)
    made = {language: directory / f"{language}.html" for language in LANGUAGES}
    for language, out in made.items():
        how = ["--people", "--no-index", "--language", language, "-o", str(out)]
        assert main(["sessions", str(journals), *how]) == 0
    return made


@pytest.mark.parametrize("width_px", [PHONE_PX, TABLET_PX, WIDE_PX])
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_cut_off_and_the_page_asks_for_nothing(
    language: str, width_px: int, browser: Browser, pages: dict[str, Path]
) -> None:
    page = browser.new_page(viewport={"width": width_px, "height": 768})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[language].as_uri())

    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    assert page.evaluate(CUT_OFF) == []
    assert asked == [pages[language].as_uri()]
    assert page.locator("svg .symbol").count() > 20
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(scheme: str, browser: Browser, pages: dict[str, Path]) -> None:
    dark = scheme == "dark"
    page = browser.new_page(color_scheme="dark" if dark else "light")
    page.goto(pages["de"].as_uri())
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.close()
