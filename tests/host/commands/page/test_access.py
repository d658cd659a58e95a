"""Whether everybody can use the page: every view in every scheme, size and language; on paper."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from host_tools.catalogue import LANGUAGES
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import Device
from tests.host.commands.page.test_breadth import expect_result, start_short
from tests.host.commands.page.test_whole import await_answers

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("page-access")]
SCHEMES: list[dict[str, Any]] = [
    {"color_scheme": "light"},
    {"color_scheme": "dark"},
    {"color_scheme": "light", "contrast": "more"},
    {"color_scheme": "dark", "contrast": "more"},
    {"color_scheme": "light", "forced_colors": "active"},
]
SIZES = ((1024, 768), (390, 844))


def check_access(page: Page, view: str) -> None:
    """Expect nothing of axe, and nothing beside the screen, in every scheme and size."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            page.emulate_media(**{"contrast": "no-preference", "forced_colors": "none", **scheme})
            found = Axe().run(page)
            words = [
                (each["id"], each["nodes"][0]["html"]) for each in found.response["violations"]
            ]
            assert words == [], (view, width, scheme)
        wide = "document.documentElement.scrollWidth"
        assert page.evaluate(wide) <= width, (view, width)


def unfold_all(page: Page) -> None:
    for closed in page.locator("#view-prepare summary").all():
        if not closed.evaluate("each => each.parentElement.open"):
            closed.click()


def test_everybody_can_use_every_view(device: Device, operator: Operator) -> None:
    device.start()
    end = device.stand_in()
    page = operator.open(end, bypass_csp=True)  # axe is put into the page as a script
    check_access(page, "off")
    page.click("#choose")
    expect(page.locator("#view-prepare")).to_be_visible()
    unfold_all(page)
    page.click("#check summary")
    check_access(page, "prepare")
    page.fill("#birth_year", "12")
    page.click("#start")
    expect(page.locator("#birth_year-wrong")).to_be_visible()
    check_access(page, "problem")
    page.fill("#birth_year", "")
    page.click("#start")
    await_answers(page, device, 3)
    page.click("#pause")
    expect(page.locator("#now-state")).to_have_text("PAUSED")
    check_access(page, "live")
    page.click("#abort")
    expect_result(page)
    check_access(page, "result")


def test_a_screen_reader_hears_what_changes(page: Page, device: Device) -> None:
    status = page.locator("#status")
    assert status.get_attribute("aria-live") == "polite"
    assert page.locator("#problems").get_attribute("role") == "alert"
    heard: list[str] = []
    page.expose_function("heard", lambda words: heard.append(words))  # noqa: PLW0108 - it is wrapped
    page.evaluate(
        "new MutationObserver(() => heard(document.getElementById('status').textContent))"
        ".observe(document.getElementById('status'), {childList: true})"
    )
    start_short(page)
    device.until_over()
    expect_result(page)
    expect(status).to_have_text("The test is over.")
    assert "A test is under way." in heard
    assert any(" finished: " in each for each in heard)
    assert len(heard) < 30, "tones are not spoken one by one"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_room_on_the_page(
    language: str, device: Device, operator: Operator
) -> None:
    device.start()
    page = operator.open(device.stand_in())
    page.select_option("#language", language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    page.click("#choose")
    expect(page.locator("#view-prepare")).to_be_visible()
    unfold_all(page)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#start")
    await_answers(page, device, 2)
    page.click("#pause")
    expect(page.locator("body")).to_have_attribute("data-status", "paused")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        spilt = "each => each.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
        assert page.locator(".figures div, button, .chip").evaluate_all(spilt) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
