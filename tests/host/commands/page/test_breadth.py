"""What else the page does: tones by hand, files, earlier sessions, a hearing aid, keys, access."""

import json
import re
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from axe_playwright_python.sync_playwright import Axe
from fhir.resources.R4B.bundle import Bundle
from playwright.sync_api import Page, expect

from device.simulator.aid import SimulatedAid
from firmware_py.console.words import readable
from firmware_py.procedure.tuning.space import DIMENSIONS
from host_tools.catalogue import LANGUAGES
from host_tools.commands.export.formats import schema_text
from host_tools.commands.report.findings import findings_of
from host_tools.commands.report.words import Words
from host_tools.recorded import read_session
from tests.firmware.rig import Peer
from tests.firmware.world import a_listener
from tests.host.commands.page.conftest import SETTLED_MS, Operator
from tests.host.commands.page.rig import Device, StandIn
from tests.host.commands.page.test_whole import answers_of
from tests.host.journals import GpPta

pytestmark = pytest.mark.xdist_group("page")
expect.set_options(timeout=SETTLED_MS)
SHORT = {"tones": "20", "width": "40"}  # a test of a few tones


def start_short(page: Page, identifier: str = "P-17") -> None:
    page.locator("#start-form details summary").first.click()
    page.fill("#tones_max", SHORT["tones"])
    page.fill("#stop_half_width_db", SHORT["width"])
    page.fill("#identifier", identifier)
    page.fill("#birth_year", "1958")
    page.select_option("#sex", "F")
    page.click("#start")


def finished(page: Page) -> None:
    expect(page.locator("#view-result")).to_be_visible(timeout=3 * SETTLED_MS)


@pytest.fixture
def connected(device: Device, operator: Operator) -> tuple[Page, StandIn]:
    device.start()
    end = device.stand_in()
    page = operator.connect(end)
    expect(page.locator("#view-prepare")).to_be_visible()
    return page, end


def test_a_tone_by_hand_has_its_limit(connected: tuple[Page, StandIn]) -> None:
    page, _ = connected
    page.locator("#view-prepare > details.card summary").click()
    page.fill("#tone-level", "70")
    page.click("#tone-form button[type=submit]")
    expect(page.locator("#problems")).to_contain_text("does not allow this value")
    expect(page.locator("#problems")).to_contain_text("the first tone in an ear")
    page.fill("#tone-level", "40")
    page.click("#tone-form button[type=submit]")
    expect(page.locator("#tone-told")).to_have_text("The tone is over.")
    page.fill("#tone-level", "60")
    page.click("#tone-form button[type=submit]")
    expect(page.locator("#tone-told")).to_have_text("The tone is over.")
    page.click("#tone-stop")
    assert page.locator("#tone-limit").inner_text() == "at most 100 dB HL at this frequency"


def saved(page: Page, button: str) -> dict[str, Any]:
    with page.expect_download() as waiting:
        page.click(button)
    read: dict[str, Any] = json.loads(Path(waiting.value.path()).read_text("utf-8"))
    return read


# Names that an export makes of the whole journal, which a page does not have.
MADE_NAMES = ("id", "fullUrl", "reference")


def without_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_names(v) for k, v in value.items() if k not in MADE_NAMES}
    return [without_names(each) for each in value] if isinstance(value, list) else value


def test_what_is_saved_is_what_an_export_of_the_journal_has(
    connected: tuple[Page, StandIn], device: Device, gp_pta: GpPta
) -> None:
    page, _ = connected
    start_short(page)
    finished(page)
    journal = device.rig.journal()

    findings = findings_of(read_session(journal))
    assert page.locator("#result-means li").all_inner_texts() == Words.of(findings).grades(findings)
    why = [f"{ear.ear.title()} ear: {readable(ear.why)}" for ear in findings.ears]
    assert page.locator("#result-remarks li").all_inner_texts()[: len(why)] == why
    assert "±" in why[0]

    mine = saved(page, "#save-json")
    jsonschema.validate(mine, json.loads(schema_text()))
    theirs = json.loads(gp_pta("export", journal, "--format", "json")[1])
    told, recorded = mine["sessions"][0], theirs["sessions"][0]
    assert mine["format"] == theirs["format"]
    assert told["settings"] is None, "the console does not tell those of a session"
    assert told["calibration"]["state"] == recorded["calibration"]["state"]
    for name in recorded.keys() - {"settings", "calibration"}:
        assert told[name] == recorded[name], name

    bundle = saved(page, "#save-fhir")
    Bundle.model_validate(bundle)
    exported = json.loads(gp_pta("export", journal, "--format", "fhir")[1])
    headline = recorded["calibration"]["words"]
    text = json.dumps(without_names(exported)).replace(headline, told["calibration"]["words"])
    assert without_names(bundle) == json.loads(text)
    names = [entry["resource"]["id"] for entry in bundle["entry"]]
    assert len(names) == len(set(names))


def test_earlier_sessions_of_this_person_are_laid_over(
    connected: tuple[Page, StandIn],
) -> None:
    page, _ = connected
    for identifier in ("P-17", "Q-1", "P-17", "P-17"):
        start_short(page, identifier)
        finished(page)
        if identifier == "Q-1":
            page.click("#find-earlier")
            expect(page.locator("#earlier-list")).to_contain_text("There is no earlier session")
        page.reload()  # which closes what was opened
        finished(page)
        page.click("#next-test")
    page.click("#last-result")
    finished(page)
    page.click("#find-earlier")
    boxes = page.locator("#earlier-list input")
    expect(boxes).to_have_count(2)
    assert page.locator("#result-ears .earlier").count() == 0
    boxes.first.check()
    expect(page.locator("#result-ears .earlier").first).to_be_attached()
    boxes.first.uncheck()
    expect(page.locator("#result-ears .earlier")).to_have_count(0)


def test_a_test_is_run_by_keys_alone(connected: tuple[Page, StandIn], device: Device) -> None:
    page, _ = connected
    page.locator("#identifier").focus()
    page.keyboard.type("K-1")
    page.keyboard.press("Enter")  # of the form: it starts the test
    answers_of(page, 2)
    assert page.evaluate("document.activeElement.id") == "live-heading"
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    journal = device.rig.journal().read_text("utf-8")
    assert '"operator"' not in journal.replace("aborted by the operator", "")
    expect(page.locator("#now-state")).not_to_have_text("PAUSED")
    page.keyboard.press("F8")
    expect(page.locator("#now-state")).to_have_text("PAUSED")
    page.keyboard.press("F8")
    expect(page.locator("#now-state")).not_to_have_text("PAUSED")
    page.keyboard.press("F9")
    expect(page.locator("#result-outcome")).to_contain_text("ended by the operator")


def test_limits_beyond_the_usual_need_a_word_and_reach_the_device(
    connected: tuple[Page, StandIn], device: Device
) -> None:
    page, _ = connected
    page.locator("#start-form details summary").first.click()
    page.select_option("#conduct", "clinical")
    expect(page.locator("#tones_max")).to_have_value("40")
    page.fill("#level_max_db_hl", "110")
    expect(page.locator("#loud")).to_be_visible()
    page.click("#start")
    expect(page.locator("#view-prepare")).to_be_visible()  # the word is missing
    assert not device.rig.journal().exists()
    page.check("#loud_confirmed")
    page.check("#unsure_button")
    expect(page.locator("#instruction")).to_contain_text("press the other button")
    page.click("#start")
    answers_of(page, 1)
    header = device.rig.journal().read_text("utf-8").split("\n", 1)[0]
    for wanted in ('"conduct":"clinical"', '"level_max_db_hl":110', '"unsure_button":true'):
        assert wanted in header.replace(" ", ""), wanted
    page.click("#abort")
    finished(page)
    page.click("#next-test")
    expect(page.locator("#level_max_db_hl")).to_have_value("110")
    page.fill("#level_max_db_hl", "90")
    page.click("#start")
    expect(page.locator("#view-live")).to_be_visible()
    header = device.rig.journal(2).read_text("utf-8").split("\n", 1)[0]
    assert '"level_max_db_hl":90' in header.replace(" ", "")


def test_a_hearing_aid_is_tuned_by_comparison(device: Device, operator: Operator) -> None:
    simulated = SimulatedAid()

    def answer(data: bytes) -> bytes:
        now_us = round(time.monotonic() * device.rig.speed * 1e6)
        simulated.advance(now_us)
        simulated.receive(data, now_us)
        return simulated.transmit()

    with ExitStack() as undo:
        aid = Peer(answer)
        undo.callback(aid.stop)
        device.start("--hearing-aid", aid.port)
        page = operator.connect(device.stand_in())
        expect(page.locator("#tuning")).to_be_visible()
        expect(page.locator("#tune-fit")).to_contain_text("The hearing aid is ready")
        page.fill("#tune-count", "5")
        page.click("#tune-form button")
        for comparison in range(1, 6):
            second = re.compile(f"Comparison {comparison}: the second setting sounds")
            expect(page.locator("#tune-now")).to_have_text(second)
            page.click("#tune-first")
            answered = page.locator("#tune-told li").first
            expect(answered).to_have_text(f"Comparison {comparison}: The first was better")
        expect(page.locator("#tune-state")).to_contain_text("The tuning is over.")
        page.click("#tune-result")
        found = page.locator("#tune-found")
        expect(found).to_contain_text("Comparisons: 5; without a difference: ")
        expect(found.locator("tbody th")).to_have_text([each.meaning for each in DIMENSIONS])


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


def test_everybody_can_use_every_view(device: Device, operator: Operator) -> None:
    device.start()
    end = device.stand_in()
    page = operator.open(end, bypass_csp=True)  # axe is put into the page as a script
    check_access(page, "off")
    page.click("#choose")
    expect(page.locator("#view-prepare")).to_be_visible()
    for closed in page.locator("#view-prepare summary").all():
        if not closed.evaluate("each => each.parentElement.open"):
            closed.click()
    page.click("#check summary")
    check_access(page, "prepare")
    page.fill("#birth_year", "12")
    page.click("#start")
    expect(page.locator("#problems .alert")).to_be_visible()
    check_access(page, "problem")
    page.fill("#birth_year", "")
    page.click("#start")
    answers_of(page, 3)
    page.click("#pause")
    expect(page.locator("#now-state")).to_have_text("PAUSED")
    check_access(page, "live")
    page.click("#abort")
    finished(page)
    check_access(page, "result")


def test_a_screen_reader_hears_what_changes(connected: tuple[Page, StandIn]) -> None:
    page, _ = connected
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
    finished(page)
    expect(status).to_have_text("The test is over.")
    assert "A test is under way." in heard
    assert any("ear is over: " in each for each in heard)
    assert len(heard) < 30, "tones are not spoken one by one"


def test_the_page_prints_what_was_found_and_no_buttons(connected: tuple[Page, StandIn]) -> None:
    page, _ = connected
    start_short(page)
    finished(page)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("#result-ears svg").first.is_visible()
    for hidden in ("header", "#print", "#next-test", "footer"):
        assert not page.locator(hidden).first.is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"


def test_an_unanswered_listener_is_shown_with_arrows_and_without_numbers(
    device: Device, operator: Operator
) -> None:
    device.rig.listener = a_listener("N7", lapse_rate=1.0)
    device.rig.new_board()
    device.rig.plug(device.rig.served.port, device.cable.port)
    device.start()
    page = operator.connect(device.stand_in())
    page.check("input[name=ears][value=RIGHT]")
    start_short(page)
    finished(page)
    levels = page.locator("#result-tables td:nth-child(2)").all_inner_texts()
    assert not any(each.lstrip("−").isdigit() for each in levels), levels
    expect(page.locator("#result-means")).not_to_contain_text(": 5")


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
    for closed in page.locator("#view-prepare summary").all():
        if not closed.evaluate("each => each.parentElement.open"):
            closed.click()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.click("#start")
    answers_of(page, 2)
    page.click("#pause")
    expect(page.locator("body")).to_have_attribute("data-status", "paused")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        spilt = "each => each.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
        assert page.locator(".figures div, button, .chip").evaluate_all(spilt) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_chromium_has_web_serial_for_a_page_from_a_file(operator: Operator) -> None:
    """Without the stand-in: the browser's own, which has no port here."""
    page = operator.open()
    assert page.evaluate("isSecureContext && navigator.serial instanceof Serial")
    assert page.evaluate("navigator.serial.getPorts().then((ports) => ports.length)") == 0
    expect(page.locator("#choose")).to_be_visible()
    expect(page.locator("#connect-none")).to_be_hidden()


def test_a_browser_without_web_serial_is_told_what_to_do(operator: Operator) -> None:
    page = operator.open(before="delete Navigator.prototype.serial")
    expect(page.locator("#choose")).to_be_hidden()
    expect(page.locator("#connect-none")).to_contain_text("gp-pta page PORT")
