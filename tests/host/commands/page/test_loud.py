"""The sign while more than 100 dB HL are on: there with the sound, in words, and gone with it."""

import re

import pytest
from playwright.sync_api import Page, expect

from firmware_py.installation.configuration import Configuration
from firmware_py.terms.settings import LOUD_DB_HL, Settings
from tests.firmware.whole_sessions import a_listener
from tests.host.commands.page.conftest import Operator, begin_test
from tests.host.commands.page.rig import Device, StandIn, by_line

pytestmark = pytest.mark.xdist_group("page")
WORDS = "Loud: more than 100 dB HL is on"
UP_TO_120 = Configuration(Settings(level_max_db_hl=120.0, loud_confirmed=True, ears="left"))


def confirmed(device: Device, operator: Operator, end: StandIn | None = None) -> Page:
    """Return the page of a device that may play tones by hand above 100 dB HL."""
    device.start(UP_TO_120)
    device.cable.type(b"SETT loud_confirmed,true\n")
    device.until_told("OK")
    page = operator.connect(end or device.stand_in())
    page.locator("#view-prepare > details.card summary").click()
    return page


def play(page: Page, device: Device, level_db_hl: float) -> None:
    """Play a tone by hand, as soon as the page knows that it may be so loud."""
    allowed = re.compile(rf" to (?:{level_db_hl:.0f}|120) dB HL")
    expect(page.locator("#tone-limit")).to_have_text(allowed)
    page.fill("#tone-level", f"{level_db_hl:g}")
    page.click("#tone-form button[type=submit]")
    device.until_told("! manual-tone ")


def expect_paused(page: Page) -> None:
    """Wait until the page knows it: before that the button would pause once more."""
    expect(page.locator("#pause")).to_have_attribute("aria-pressed", "true")


def test_it_is_there_with_a_tone_by_hand_and_with_no_softer_one(
    device: Device, operator: Operator
) -> None:
    page = confirmed(device, operator)
    sign = page.locator("#sign")
    for level_db_hl in (40.0, 60.0, 80.0, LOUD_DB_HL, LOUD_DB_HL + 1.0):
        play(page, device, level_db_hl)
        expect(page.locator("#tone-told")).to_have_text("The tone sounds.")
        if level_db_hl > LOUD_DB_HL:
            expect(sign).to_be_visible()
            expect(sign).to_have_text(WORDS)
            page.select_option("#language", "de")
            expect(sign).to_have_text("Laut: mehr als 100 dB HL an")
            page.select_option("#language", "en")
        else:
            expect(sign).to_be_hidden()
        device.until_told("! manual-tone-over")
        expect(page.locator("#tone-told")).to_have_text("The tone is over.")
        expect(sign).to_be_hidden()


@pytest.mark.parametrize("is_pulled", [False, True])
def test_it_goes_with_a_tone_that_is_stopped_and_with_the_device(
    device: Device, operator: Operator, is_pulled: bool
) -> None:
    page = confirmed(device, operator, end := device.stand_in())
    for level_db_hl in (40.0, 60.0, 80.0, 100.0, 110.0):
        play(page, device, level_db_hl)
    expect(page.locator("#sign")).to_be_visible()
    if is_pulled:
        end.pull()
    else:
        page.click("#tone-stop")
        device.until_told("! manual-tone-over")
    expect(page.locator("#sign")).to_be_hidden()


def test_it_is_there_from_the_announcement_of_a_tone_of_a_test_to_its_answer(
    device: Device, operator: Operator
) -> None:
    device.listener = a_listener("N7")
    page = operator.join(device, configuration=UP_TO_120)
    page.locator("#start-form details summary").first.click()
    page.check("#loud_confirmed")
    begin_test(page)
    sign = page.locator("#sign")
    expect(sign).to_be_hidden()
    loud = re.compile(rb"! tone .* level_db_hl=(10[1-9]|1[12]\d) ")

    def is_announced() -> bool:
        lines = device.cable.told.splitlines()
        said = [line for line in lines if line.startswith((b"! tone ", b"! answer "))]
        return bool(said) and loud.match(said[-1]) is not None

    device.until(is_announced)
    expect(sign).to_be_visible()
    page.click("#pause")
    device.until_told("! paused")
    expect_paused(page)
    expect(sign).to_be_hidden()
    page.click("#pause")
    device.until_over()
    expect(page.locator("#view-result")).to_be_visible()
    expect(sign).to_be_hidden()


@pytest.mark.parametrize(
    ("told", "loud"),
    [(rb" masking=\S+", rb" masking=101"), (rb"^! tone ", rb"\g<0>noise_db_hl=101 ")],
)
def test_noise_that_is_due_is_not_on_in_a_pause(
    device: Device, operator: Operator, told: bytes, loud: bytes
) -> None:
    device.cable.change = by_line(lambda line: re.sub(told, loud, line))
    page = operator.join(device)
    begin_test(page)
    sign = page.locator("#sign")
    device.until_told("! tone ")
    expect(sign).to_be_visible()
    page.click("#pause")
    expect_paused(page)
    expect(sign).to_be_hidden()
    page.click("#pause")
    device.until_told("! tone ")
    expect(sign).to_be_visible()
    page.click("#abort")
    expect(page.locator("#view-result")).to_be_visible()
    expect(sign).to_be_hidden()
