"""The page asks which ear is which, without saying which it could be, and tells what was said."""

import re

import pytest
from playwright.sync_api import Page, expect

from firmware_py.sessions.archive import recorded_result
from tests.firmware.whole_sessions import a_listener
from tests.host.commands.page.conftest import Operator, begin_test, check_buttons
from tests.host.commands.page.rig import Device

pytestmark = pytest.mark.xdist_group("page")
SHOWN = "#live-check"
OTHER = {"left": "right", "right": "left"}


def begin_asking(page: Page, device: Device) -> str:
    """Begin a test that asks, and return the ear in which the tone is."""
    page.check("#ear_check")
    begin_test(page)
    device.until_told("! ear-check ")
    expect(page.locator(SHOWN)).to_be_visible()
    return ear_of_last_tone(device)


def ear_of_last_tone(device: Device) -> str:
    *_, last = re.findall(rb"! tone [^\n]*ear=(left|right)", device.cable.told)
    return str(last.decode())


def test_it_is_ticked_in_a_clinical_test_and_offered_in_a_brisk_one(
    device: Device, operator: Operator
) -> None:
    device.listener = a_listener("N1")
    page = operator.prepare(device)
    expect(page.locator("#ear_check")).not_to_be_checked()
    page.select_option("#conduct", "clinical")
    expect(page.locator("#ear_check")).to_be_checked()
    expect(page.locator("#instruction")).to_contain_text("say in which ear you hear it")
    page.select_option("#conduct", "brisk")
    expect(page.locator("#ear_check")).not_to_be_checked()
    expect(page.locator("#instruction")).not_to_contain_text("say in which ear you hear it")
    page.check("input[name=ears][value=LEFT]")
    expect(page.locator("#ear_check")).to_be_hidden()


def test_the_question_does_not_say_which_ear_it_could_be(
    device: Device, operator: Operator
) -> None:
    question, named = "In which ear is the tone?", ["Right ear", "Left ear", "Not sure"]
    device.listener = a_listener("N1")
    page = operator.prepare(device)
    ear = begin_asking(page, device)
    expect(page.locator("#check-question")).to_have_text(question)
    assert check_buttons(page) == named
    assert page.get_attribute("body", "data-status") == "asking"
    assert page.locator("#answers td:nth-child(2)").all_text_contents() == ["–"]
    page.reload()
    expect(page.locator("#check-question")).to_have_text(question)
    assert check_buttons(page) == named

    page.click(f"#ear-{ear}")
    expect(page.locator(SHOWN)).to_be_hidden()
    device.until_over()
    expect(page.locator("#view-result")).to_be_visible()
    expect(page.locator("#result-facts")).to_contain_text("confirmed by the listener")
    assert recorded_result(device.journal()).result.which_ear == "confirmed"


def test_the_other_ear_holds_the_test_until_the_earphones_were_looked_at(
    device: Device, operator: Operator
) -> None:
    device.listener = a_listener("N1")
    page = operator.prepare(device)
    ear = begin_asking(page, device)
    page.click(f"#ear-{OTHER[ear]}")
    expect(page.locator("#check-question")).to_contain_text("the wrong way round?")
    expect(page.locator("#check-why")).to_contain_text("turn the earphones round if the red")
    assert check_buttons(page) == ["Continue"]
    assert page.get_attribute("body", "data-status") == "paused"

    page.click("#check-passed")
    device.until_told("! ear-check ")
    expect(page.locator("#check-question")).to_have_text("In which ear is the tone?")
    page.click("#ear-unsure")
    expect(page.locator(SHOWN)).to_be_hidden()
