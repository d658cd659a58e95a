"""Levels of discomfort on the page: typed before a test, checked there, and told as it begins."""

import json

import pytest
from playwright.sync_api import expect

from tests.firmware.whole_sessions import a_listener
from tests.host.commands.page.conftest import Operator, begin_test
from tests.host.commands.page.rig import Device

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
    assert json.loads(device.ask("SESS:DISC?")) == [
        {"ear": "left", "source": "Müller  ENT", "day": "2026-11-02", "levels": [
            {"frequency_hz": 500, "level_db_hl": 100.0, "above": False},
            {"frequency_hz": 1000, "level_db_hl": 110.0, "above": True},
        ]},
    ]  # fmt: skip
    device.until_over()
    page.click("#next-person")
    expect(page.locator("#discomfort_left")).to_have_value("")
