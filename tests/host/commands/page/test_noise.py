"""The noise of the room on the page: it is asked before a test, told, and its floor is shown."""

import pytest
from playwright.sync_api import expect

from tests.firmware.whole_sessions import a_listener
from tests.host.commands.page.conftest import Operator, begin_test
from tests.host.commands.page.rig import Device

pytestmark = pytest.mark.xdist_group("page")


def test_the_room_is_asked_told_and_its_floor_shown(device: Device, operator: Operator) -> None:
    device.listener = a_listener("N1")
    page = operator.prepare(device)
    expect(page.locator("#room-note")).to_contain_text("Empty: not known")
    page.fill("#room_dba", "40")
    page.select_option("#room_spectrum", "SPEECH")
    page.check("input[name=ears][value=LEFT]")
    begin_test(page)
    device.until_over()
    expect(page.locator("#view-result")).to_be_visible()
    expect(page.locator("#view-result")).to_contain_text("Room: 40 dBA (speech)")
    page.click("#next-person")
    expect(page.locator("#room_dba")).to_have_value("40")
    expect(page.locator("#room-note")).to_contain_text("No softer than 24 dB HL at 500 Hz")
