"""Levels of discomfort on the page: typed before a test, checked there, and told as it begins."""

import pytest
from playwright.sync_api import expect

from host_tools.commands.export.schema import check_session
from tests.firmware.whole_sessions import a_listener
from tests.host.commands.page.conftest import Operator, begin_test
from tests.host.commands.page.rig import Device
from tests.host.commands.page.test_breadth import save

pytestmark = pytest.mark.xdist_group("page")


def test_levels_are_checked_told_and_forgotten(device: Device, operator: Operator) -> None:
    device.listener = a_listener("N1")
    page = operator.prepare(device)
    page.check("input[name=ears][value=LEFT]")
    page.locator("summary", has_text="Levels of discomfort").click()
    for wrong in ("95", "1000:95 1000:90", "800:95", "1000:140", "1000:95 dB SPL"):
        page.fill("#discomfort_left", wrong)
        page.click("#start")
        expect(page.locator("#discomfort_left")).to_have_attribute("aria-invalid", "true")
        expect(page.locator("body")).to_contain_text(f"{wrong} is none: allowed are HZ:DBHL")
    page.fill("#discomfort_left", "500:100  1000:>110")
    page.fill("#discomfort_source", "Müller, ENT")
    page.fill("#discomfort_day", "2026-11-02")
    begin_test(page)
    device.until_over()
    expect(page.locator("#result-paper")).to_contain_text(
        "discomfort measured elsewhere (Müller ENT, 2026-11-02): "
        "100 dB HL at 500 Hz, > 110 dB HL at 1000 Hz"
    )
    expect(page.locator("#result-paper .audiogram .discomfort")).to_have_count(2)
    (session,) = save(page, "#save-json")["sessions"]
    check_session("session", session)
    (told,) = session["discomfort"]
    assert (told["ear"], told["source"], told["day"]) == ("left", "Müller ENT", "2026-11-02")
    assert [each["above"] for each in told["levels"]] == [False, True]
    page.click("#next-person")
    expect(page.locator("#discomfort_left")).to_have_value("")
