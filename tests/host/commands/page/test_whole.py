"""A whole test from the page by clicks, on a real firmware, over both ways to the device."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.rows import row
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.reasons import NOMINAL_DB
from host_tools.catalogue import language_of
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import LOCKED, PIN, Device, FarPort, StandIn

pytestmark = pytest.mark.xdist_group("page")


WORDS = language_of("en")
TABLES = "#result-thresholds table"


def type_person(page: Page) -> None:
    page.fill("#identifier", "P-17")
    page.fill("#birth_year", "1958")
    page.select_option("#sex", "F")
    page.fill("#name", "Zoë <b>Bold</b>")


def enter_pin(page: Page, pin: str = PIN) -> None:
    page.fill("#pin", pin)
    page.click("#pin-dialog button.main")


def await_answers(page: Page, device: Device, count: int, before: int = 0) -> None:
    """Let so many tones be answered, and wait until they are listed after those of before."""
    device.until_answers(count)
    page.locator("#answers tr").nth(before + count - 1).wait_for(state="attached")


def run_whole_test(
    page: Page, device: Device, end: StandIn | FarPort, replug: Callable[[], None]
) -> None:
    """Run a test of both ears: a PIN, a pause with a reload in it, and a pulled cable."""
    expect(page.locator("#status")).to_have_text("Connected. No test is under way.")
    type_person(page)
    page.click("#start")
    enter_pin(page)
    expect(page.locator("#view-live")).to_be_visible()
    await_answers(page, device, 3)

    page.click("#pause")
    expect(page.locator("#now-state")).to_have_text("PAUSED")
    tones = page.locator("#live-ears figcaption").all_inner_texts()
    page.reload()
    expect(page.locator("#now-state")).to_have_text("PAUSED")
    page.locator("#view-live summary").click()
    expect(page.locator("#answers-before")).to_be_visible()
    assert page.locator("#live-ears figcaption").all_inner_texts() == tones

    page.click("#pause")
    expect(page.locator("#now-state")).not_to_have_text("PAUSED")
    await_answers(page, device, 2)
    device.until_told("! tone ")
    expect(page.locator("#now-tone")).to_contain_text("Hz at")  # a tone sounds
    end.pull()
    expect(page.locator("#problems")).to_contain_text("The device is gone")
    expect(page.locator("#problems")).to_contain_text("It goes on at the device")
    device.until_answers(1)
    replug()
    expect(page.locator("#view-live")).to_be_visible()
    device.until_over()
    expect(page.locator("#view-result")).to_be_visible()
    expect(page.locator("#result-outcome")).to_have_text("FINAL")


def check_result(page: Page, journal: Path) -> None:
    ears = page.locator("#result-thresholds figcaption").all_inner_texts()
    assert ears == ["right ear", "left ear"]
    recorded = recorded_result(journal)
    assert recorded.result.outcome == "complete"
    assert len(recorded.result.ears) == 2
    assert recorded.header.person.identifier == "P-17"
    assert recorded.header.person.sex == "F"
    about = page.locator("#result-facts").inner_text()
    assert "Zoë <b>Bold</b>" in about
    assert "P-17" in about
    stray = recorded.result.stray_presses
    presses = "1 press" if stray == 1 else f"{stray} presses"
    expect(page.locator("#result-remarks")).to_contain_text(f"{presses} without a tone")


@pytest.mark.usefixtures("as_if_real")
def test_a_whole_test_by_clicks_over_web_serial(
    device: Device, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    device.start(LOCKED)
    end = device.stand_in()
    page = operator.connect(end)

    def replug() -> None:
        end.plug()
        page.evaluate("navigator.serial.plug()")

    run_whole_test(page, device, end, replug)
    check_result(page, device.journal())
    assert page.evaluate("navigator.serial.asked") == 0, "nobody chose the port again"
    columns = page.locator(f"{TABLES}.right th[scope=col]")
    assert columns.all_inner_texts()[1] == WORDS.say(row("row-level", ear="right"))
    assert page.locator("#result-grade li").count() == 3, "of each ear, and of the person"

    # The same without a calibration: nothing follows that needs dB HL.
    monkeypatch.setattr(CalibrationInForce, "nominal", True)
    page.reload()
    expect(page.locator("#result-outcome")).to_have_text("NOT FINAL: UNCALIBRATED")
    nominal = row("row-level", ear="right", unit=NOMINAL_DB)
    assert columns.all_inner_texts()[1] == WORDS.say(nominal)
    assert page.locator("#result-grade p").all_inner_texts() == [WORDS.say(row("no-mean-nominal"))]
    unit = WORDS.say(row("unit-nominal-db"))
    assert unit in page.locator("#result-thresholds svg").first.inner_html()


@pytest.mark.thorough
@pytest.mark.usefixtures("as_if_real")
def test_a_whole_test_by_clicks_through_the_served_bridge(
    device: Device, operator: Operator, serve: Callable[[FarPort], str]
) -> None:
    device.start(LOCKED)
    end = device.far_port()
    address = serve(end)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
    page = operator.open(url=address)
    run_whole_test(page, device, end, end.plug)
    check_result(page, device.journal())
