"""Whoever is to do or say something is called: by the tab's title and icon, and by a sound."""

import re

import pytest
from playwright.sync_api import Page, expect

from device.simulator.aid import SimulatedAid
from tests.firmware.whole_sessions import ASLEEP, AWAKE, Moody, a_listener
from tests.host.commands.page.conftest import Operator, begin_test
from tests.host.commands.page.rig import Device
from tests.host.commands.page.test_placing import choose_bone
from tests.host.commands.page.test_which_ear import begin_asking

pytestmark = pytest.mark.xdist_group("page")
TITLE = "GP-PTA hearing test"
# Counts what sounds, and lets it sound.
COUNTS = """{
  globalThis.sounded = 0;
  const { start } = OscillatorNode.prototype;
  OscillatorNode.prototype.start = function (...when) {
    sounded += 1;
    return start.apply(this, when);
  };
}
"""


def open_page(device: Device, operator: Operator, aid: SimulatedAid | None = None) -> Page:
    device.start(aid=aid)
    page = operator.open(device.stand_in(), before=COUNTS)
    page.click("#choose")
    expect(page.locator("#view-prepare")).to_be_visible()
    assert page.title() == TITLE
    return page


def icon(page: Page) -> str:
    return page.locator("link[rel=icon]").get_attribute("href") or ""


def test_who_is_to_place_the_vibrator_is_called_until_it_is_placed(
    device: Device, operator: Operator
) -> None:
    page = open_page(device, operator)
    usual = icon(page)
    choose_bone(page)
    begin_test(page)
    device.until_told("! placing")
    expect(page).to_have_title("● Bone conduction: please place the vibrator or the earphones")
    assert icon(page) != usual
    assert page.evaluate("sounded") > 0
    page.select_option("#language", "de")
    expect(page).to_have_title(
        "● Knochenleitung: bitte Knochenleitungshörer oder Kopfhörer anlegen"
    )
    page.select_option("#language", "en")

    page.click("#check-passed")
    device.until_answers(1)
    expect(page).to_have_title(TITLE)
    assert icon(page) == usual


def test_a_sound_that_was_turned_off_stays_off(device: Device, operator: Operator) -> None:
    page = open_page(device, operator)
    expect(page.locator("#sound")).to_be_checked()
    page.uncheck("#sound")
    page.reload()
    expect(page.locator("#view-prepare")).to_be_visible()
    expect(page.locator("#sound")).not_to_be_checked()
    begin_asking(page, device)
    expect(page).to_have_title("● In which ear is the tone?")
    assert page.evaluate("sounded") == 0


def test_the_operator_is_called_when_nobody_seems_to_listen(
    device: Device, operator: Operator
) -> None:
    device.listener = listener = Moody(a_listener("S2"))
    page = open_page(device, operator)
    begin_test(page, "RIGHT")
    device.until_answers(12)
    assert page.title() == TITLE
    listener.mood = ASLEEP
    device.until_told("! listener-check ")
    expect(page).to_have_title("● Right ear: paused. Is anything heard?")
    sounded = page.evaluate("sounded")
    assert sounded > 0
    # What was found until now stays in sight, in grey.
    expect(page.locator("#now-so-far")).to_have_text("being checked")
    expect(page.locator("#live-ears .threshold.grey")).not_to_have_count(0)
    expect(page.locator("#live-ears .threshold:not(.grey)")).to_have_count(0)
    listener.mood = AWAKE
    device.until_told("! continued")
    expect(page).to_have_title(TITLE)
    expect(page.locator("#live-check")).to_be_hidden()  # without a click
    assert page.evaluate("sounded") == sounded


def test_nobody_is_called_for_a_pause_of_their_own_but_for_one_of_the_device(
    device: Device, operator: Operator
) -> None:
    page = open_page(device, operator)
    begin_test(page, "RIGHT")
    device.until_answers(2)
    page.click("#pause")
    expect(page.locator("#check-question")).to_have_text("Paused. Is it still the same person?")
    assert page.title() == TITLE
    page.click("#same-go-on")
    expect(page.locator("#live-check")).to_be_hidden()
    device.pull_board()
    device.until_told("! board-lost")
    expect(page).to_have_title("● The tone generator is lost. The test waits for it.")
    assert page.evaluate("sounded") > 0


def test_a_tuning_that_waits_calls_but_for_no_pause_of_their_own(
    device: Device, operator: Operator
) -> None:
    page = open_page(device, operator, SimulatedAid())
    page.click("#tune-form button")
    pause, state = page.locator("#tune-pause"), page.locator("#tune-state")
    pause.click()
    expect(state).to_contain_text("The tuning is paused.")
    assert page.title() == TITLE
    pause.click()
    expect(state).to_contain_text("The tuning is under way.")
    device.until_told("! nobody-answers")
    expect(page).to_have_title(re.compile("^● The tuning is paused."))
    assert page.evaluate("sounded") > 0
    pause.click()
    expect(page).to_have_title(TITLE)
