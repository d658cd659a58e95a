"""What else the page does: tones by hand, files, earlier sessions, a hearing aid, keys, access."""

import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from playwright.sync_api import Page, expect

from device.simulator.aid import SimulatedAid
from device.simulator.world import World
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.findings.rows import row
from firmware_py.paper.session_paper import paper_of
from firmware_py.terms.person import Person
from firmware_py.terms.settings import Settings
from host_tools.catalogue import ENGLISH, LANGUAGES, language_of
from host_tools.commands.export.schema import schema_text
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import replay_session
from host_tools.recordings.source import source_of
from tests.host.commands.page.conftest import Operator, begin_test
from tests.host.commands.page.rig import LOCKED, Device
from tests.host.commands.page.test_whole import await_answers, enter_pin
from tests.host.journals import GOLDEN, GpPta
from tests.host.pdfs import ReadPdf
from tests.host.test_what_every_form_says import rows_shown

pytestmark = pytest.mark.xdist_group("page")
SHORT = {"tones": "20", "width": "40"}  # a test of a few tones


def start_short(page: Page, identifier: str = "P-17") -> None:
    page.locator("#start-form details summary").first.click()
    page.fill("#tones_max", SHORT["tones"])
    page.fill("#stop_half_width_db", SHORT["width"])
    page.fill("#identifier", identifier)
    page.fill("#birth_year", "1958")
    page.select_option("#sex", "F")
    begin_test(page)


def expect_result(page: Page) -> None:
    expect(page.locator("#view-result")).to_be_visible()


def test_a_tone_by_hand_has_its_limit(page: Page, device: Device) -> None:
    page.locator("#view-prepare > details.card summary").click()
    limit = page.locator("#tone-limit")
    expect(limit).to_have_text("now −10 to 40 dB HL")
    page.fill("#tone-level", "70")
    page.click("#tone-form button[type=submit]")
    expect(page.locator("#tone-level-wrong")).to_contain_text("Allowed are −10 to 40 dB HL.")
    page.fill("#tone-level", "40")
    expect(page.locator("#tone-level-wrong")).to_have_count(0)
    page.click("#tone-form button[type=submit]")
    device.until_told("! manual-tone-over")
    expect(page.locator("#tone-told")).to_have_text("The tone is over.")
    expect(limit).to_have_text("now −10 to 60 dB HL")
    page.fill("#tone-level", "60")
    page.click("#tone-form button[type=submit]")
    expect(page.locator("#tone-told")).to_have_text("The tone sounds.")
    device.until_told("! manual-tone-over")
    expect(page.locator("#tone-told")).to_have_text("The tone is over.")
    expect(limit).to_have_text("now −10 to 80 dB HL")
    page.select_option("#tone-ear", "LEFT")
    expect(limit).to_have_text("now −10 to 40 dB HL")
    page.click("#tone-stop")


def test_a_tone_that_is_over_before_the_page_hears_that_it_was_taken_is_over(
    device: Device, operator: Operator
) -> None:
    page = operator.join(device)
    page.locator("#view-prepare > details.card summary").click()
    device.cable.gather()
    page.click("#tone-form button[type=submit]")
    device.until_told("! manual-tone-over")
    device.cable.give()
    expect(page.locator("#tone-told")).to_have_text("The tone is over.")


def save(page: Page, button: str) -> dict[str, Any]:
    with page.expect_download() as waiting:
        page.click(button)
    read: dict[str, Any] = json.loads(Path(waiting.value.path()).read_text("utf-8"))
    return read


HEADING = Heading(name="Zoë", tester="A. Meyer", place="Room 4", comments="None.")


def flat(text: str) -> str:
    return " ".join(text.split())


def check_paper(page: Page, journal: Path) -> None:
    """Expect that the page shows every row of the paper of a journal, and its print no button."""
    told = json.loads(json.dumps(paper_of(source_of(replay_session(journal)))))
    del told["title"], told["footer"]  # which has the version that shows it
    shown = flat(page.locator("#view-result").text_content() or "")
    drawn = page.locator("#result-paper svg").evaluate_all(
        "each => each.map((e) => e.getAttribute('aria-label'))"
    )
    said = [flat(language_of(ENGLISH).say(row)) for row in rows_shown(told, ())]
    assert [text for text in said if text not in shown and text not in drawn] == []
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("#result-thresholds svg").first.is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    for hidden in ("header", "#print", "#next-person", "footer", "#problems", "#result-details"):
        expect(page.locator(hidden).first).to_be_hidden()
    page.emulate_media(media="screen", color_scheme="light")


@pytest.mark.parametrize(("name", "most"), [("masked", 1), ("bone", 2)])
def test_a_result_by_air_fits_one_sheet_and_with_bone_two(
    name: str, most: int, device: Device, operator: Operator
) -> None:
    page = operator.show(device, GOLDEN / f"{name}.journal")
    for language in LANGUAGES:
        page.select_option("#language", language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        shut = ReadPdf(page.pdf(prefer_css_page_size=True))
        assert shut.pages <= most, language
    page.locator("#result-fold summary").click()
    details = ReadPdf(page.pdf(prefer_css_page_size=True))
    quality = language_of(language).say(row("quality"))
    assert (quality in shut.text, quality in details.text) == (False, True)


def test_what_is_saved_is_what_an_export_of_the_journal_has(
    page: Page, device: Device, gp_pta: GpPta
) -> None:
    for name in ("name", "tester", "place"):
        page.fill(f"#{name}", getattr(HEADING, name))
    page.fill("#remarks", HEADING.comments)
    start_short(page)
    device.until_over()
    expect_result(page)
    recorded_in = device.journal()

    check_paper(page, recorded_in)
    facts = page.locator("#result-facts").inner_text().splitlines()
    assert {HEADING.name, HEADING.tester, HEADING.place, "1958"} <= {*facts}
    assert page.locator("#result-signature .comments").inner_text().endswith(HEADING.comments)
    expect(page.locator("#result-signature .to-sign")).to_contain_text(HEADING.tester)

    mine = save(page, "#save-json")
    jsonschema.validate(mine, json.loads(schema_text()))
    theirs = json.loads(gp_pta("export", recorded_in, "--format", "json")[1])
    told, recorded = mine["sessions"][0], theirs["sessions"][0]
    assert mine["format"] == theirs["format"]
    assert told.keys() == recorded.keys()
    for name in recorded:
        assert told[name] == recorded[name], name

    saved = recorded_in.with_name("saved.json")
    saved.write_text(json.dumps(mine))
    for form in ("fhir", "csv"):
        made = [gp_pta("export", each, "--format", form) for each in (saved, recorded_in)]
        assert made[0] == made[1], form
    code, _, said = gp_pta("export", saved, recorded_in, "--format", "csv")
    assert (code, said) == (0, f"left out: {saved}: sessions[0] is a copy of {recorded_in}\n")


def test_earlier_sessions_of_this_person_are_laid_over(device: Device, operator: Operator) -> None:
    for identifier in ("P-17", "P-17", "Q-1"):
        world = World(device.directory, device.listener)
        world.begin(Settings(ears="right", tones_max=20), Person(identifier=identifier))
        world.end()
    page = operator.join(device)
    expect_result(page)
    page.click("#find-earlier")
    expect(page.locator("#earlier-list")).to_contain_text("There is no earlier session")
    page.click("#next-person")
    start_short(page, "P-17")
    device.until_over()
    expect_result(page)
    page.reload()  # which closes what was opened
    expect_result(page)
    page.click("#next-person")
    page.click("#last-result")
    expect_result(page)
    page.click("#find-earlier")
    boxes = page.locator("#earlier-list input")
    expect(boxes).to_have_count(2)
    assert page.locator("#result-paper .earlier").count() == 0
    boxes.first.check()
    expect(page.locator("#result-paper .earlier").first).to_be_attached()
    page.evaluate("document.body.dataset.status = ''")
    device.plug_board()
    device.until_told("! tone-generator")
    expect(page.locator("body")).to_have_attribute("data-status", "finished")  # it has looked
    expect(boxes.first).to_be_checked()
    assert page.locator("#result-paper .earlier").count() > 0
    boxes.first.uncheck()
    expect(page.locator("#result-paper .earlier")).to_have_count(0)


def test_a_test_is_run_by_keys_alone(page: Page, device: Device) -> None:
    page.locator("#identifier").focus()
    page.keyboard.type("K-1")
    page.keyboard.press("Enter")  # of the form: it starts the test
    await_answers(page, device, 2)
    expect(page.locator("#live-heading")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    journal = device.journal().read_text("utf-8")
    assert '"operator"' not in journal.replace("aborted by the operator", "")
    expect(page.locator("#now-state")).not_to_have_text("PAUSED")
    assert page.locator("#pause kbd").inner_text() == "Esc"
    assert page.locator("#abort kbd").inner_text() == "⇧ E"
    page.keyboard.press("Escape")
    expect(page.locator("#now-state")).to_have_text("PAUSED")
    page.locator("#language").focus()
    page.keyboard.press("Escape")  # what is done in a field is not for the test
    page.locator("#check-question").click()
    page.keyboard.press("Escape")
    expect(page.locator("#now-state")).not_to_have_text("PAUSED")
    page.keyboard.press("e")
    page.keyboard.press("Shift+E")
    expect(page.locator("#result-outcome")).to_have_text("NOT FINAL: aborted")


def test_limits_beyond_the_usual_need_a_word_and_reach_the_device(
    page: Page, device: Device
) -> None:
    page.locator("#start-form details summary").first.click()
    page.select_option("#conduct", "clinical")
    expect(page.locator("#tones_max")).to_have_value("40")
    page.fill("#level_max_db_hl", "110")
    expect(page.locator("#loud")).to_be_visible()
    page.click("#start")
    expect(page.locator("#loud_confirmed")).to_be_focused()  # the word is missing
    expect(page.locator("#loud_confirmed-wrong")).to_contain_text("at most 100 dB HL")
    assert not device.journal().exists()
    page.check("#loud_confirmed")
    page.check("#unsure_button")
    expect(page.locator("#instruction")).to_contain_text("press the other button")
    begin_test(page)
    await_answers(page, device, 1)
    header = device.journal().read_text("utf-8").split("\n", 1)[0]
    for wanted in ('"conduct":"clinical"', '"level_max_db_hl":110', '"unsure_button":true'):
        assert wanted in header.replace(" ", ""), wanted
    page.click("#abort")
    expect_result(page)
    page.click("#next-person")
    expect(page.locator("#level_max_db_hl")).to_have_value("100")  # that was one test's
    expect(page.locator("#conduct")).to_have_value("brisk")
    expect(page.locator("#unsure_button")).not_to_be_checked()
    expect(page.locator("#loud_confirmed")).not_to_be_checked()
    page.fill("#level_max_db_hl", "90")
    begin_test(page)
    header = device.journal(2).read_text("utf-8").split("\n", 1)[0]
    assert '"level_max_db_hl":90' in header.replace(" ", "")


def test_a_hearing_aid_is_tuned_by_comparison(device: Device, operator: Operator) -> None:
    page = operator.join(device, aid=SimulatedAid())
    expect(page.locator("#tuning")).to_be_visible()
    expect(page.locator("#tune-fit")).to_contain_text("The hearing aid is ready")
    page.fill("#tune-count", "5")
    page.click("#tune-form button")
    now = page.locator("#tune-now")
    expect(now).to_have_text(re.compile("Comparison 1: the first setting sounds"))
    for comparison in range(1, 6):
        device.until_told("! speech", 2)
        second = re.compile(f"Comparison {comparison}: the second setting sounds")
        expect(now).to_have_text(second)
        page.click("#tune-first")
        answered = page.locator("#tune-told li").first
        expect(answered).to_have_text(f"Comparison {comparison}: The first was better")
    expect(page.locator("#tune-state")).to_have_text("The tuning is over.")
    page.click("#tune-result")
    found = page.locator("#tune-found")
    expect(found).to_contain_text("Comparisons: 5; without a difference: ")
    expect(found.locator("tbody th")).to_have_text([each.meaning for each in DIMENSIONS])


def test_what_is_saved_has_its_number_while_the_device_is_asked_again(
    device: Device, operator: Operator
) -> None:
    page = operator.join(device, configuration=LOCKED)
    with ExitStack() as undo:
        undo.callback(device.cable.release)
        page.click("#unlock")
        enter_pin(page)
        start_short(page)
        expect(page.locator("#view-live")).to_be_visible()
        device.until_over()
        expect_result(page)
        page.click("#lock")
        device.cable.hold(b"SESS:IDEN?")
        page.click("#unlock")
        enter_pin(page)
        device.cable.until_asked()
        assert save(page, "#save-json")["sessions"][0]["session"] == 1


def test_chromium_has_web_serial_for_a_page_from_a_file(operator: Operator) -> None:
    """Without the stand-in: the browser's own, which has no port here."""
    page = operator.open()
    assert page.evaluate("isSecureContext && navigator.serial instanceof Serial")
    assert page.evaluate("navigator.serial.getPorts().then((ports) => ports.length)") == 0
    expect(page.locator("#choose")).to_be_visible()
    expect(page.locator("#connect-none")).to_be_hidden()


@pytest.mark.thorough
def test_a_browser_without_web_serial_is_told_what_to_do(operator: Operator) -> None:
    page = operator.open(before="delete Navigator.prototype.serial")
    expect(page.locator("#choose")).to_be_hidden()
    expect(page.locator("#connect-none")).to_contain_text("gp-pta page PORT")
