"""A whole test from the page by clicks, on a real firmware, over both ways to the device."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.procedure.reading import Kind, is_wide, read
from firmware_py.procedure.route import BY_AIR
from firmware_py.sessions.archive import Found, recorded_result
from host_tools.catalogue import catalogue_of
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import LOCKED, PIN, Device, FarPort, StandIn

pytestmark = pytest.mark.xdist_group("page")


WORDS = catalogue_of("en")


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


def shown_levels(page: Page) -> dict[str, list[str]]:
    """Return the levels of the result's tables by ear, as they are written."""
    return {
        ear: page.locator(f"#result-tables table.{ear} tbody tr td:nth-child(2)").all_inner_texts()
        for ear in ("right", "left")
        if page.locator(f"#result-tables table.{ear}").count()
    }


def level_words(level_db_hl: float) -> str:
    """Return a level as a browser rounds it: halves away from zero."""
    whole = int(abs(level_db_hl) + 0.5)
    return f"−{whole}" if level_db_hl < 0 and whole else str(whole)


def recorded_levels(recorded: Found) -> dict[str, list[str]]:
    """Return the same of the journal's result."""
    found: dict[str, list[str]] = {}
    wanted_db = partial(recorded.header.settings.wanted_half_width_db, BY_AIR)
    for ear in recorded.result.ears:
        words = found.setdefault(ear.route.ear, [])
        for threshold in ear.thresholds:
            reading = read(threshold)
            if reading.level_db_hl is None:
                words.append("–")
                continue
            level = f"{reading.sign} {level_words(reading.level_db_hl)}".strip()
            wide = "~ " * is_wide(threshold, wanted_db(threshold.frequency_hz))
            inferred = reading.kind == Kind.INFERRED
            words.append(f"({level})" if inferred else f"{wide}{level}{'*' * reading.doubtful}")
    return found


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
    ears = page.locator("#result-ears figcaption").all_inner_texts()
    assert [each.split(" · ")[0] for each in ears] == ["Right ear", "Left ear"]
    recorded = recorded_result(journal)
    assert recorded.result.outcome == "complete"
    assert [ear.route.ear for ear in recorded.result.ears] != []
    assert len(recorded.result.ears) == 2
    assert shown_levels(page) == recorded_levels(recorded)
    assert recorded.header.person.identifier == "P-17"
    assert recorded.header.person.sex == "F"
    about = page.locator("#result-about").inner_text()
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
    columns = page.locator("#result-tables table.right th[scope=col]")
    assert columns.all_inner_texts()[1] == "dB HL"
    assert page.locator("#result-means li").count() == 3, "of each ear, and of the person"
    meant = page.locator("#result-meant li")
    assert meant.count() == 3, "which thresholds, of the grades, and of the age norm"

    # The same without a calibration: nothing follows that needs dB HL.
    monkeypatch.setattr(CalibrationInForce, "nominal", True)
    page.reload()
    expect(page.locator("#result-outcome")).to_have_text("NOT FINAL: UNCALIBRATED")
    assert columns.all_inner_texts()[1] == "dB (not calibrated)"
    assert page.locator("#result-means li").all_inner_texts() == [WORDS.say("report", "nominal")]
    none = WORDS.say("report", "no_norm", why=WORDS.say("report", "nominal_why"))
    assert meant.all_inner_texts()[1:] == [none], "and no word of grades"
    assert "nominal dB" in page.locator("#result-ears svg").first.inner_html()
    assert shown_levels(page) == recorded_levels(recorded_result(device.journal()))


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
