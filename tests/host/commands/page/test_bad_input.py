"""What goes wrong at a page: each ends in a sentence and a safe state, and nothing is lost."""

import re
import shutil
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from firmware_py.console.command_row import Command
from firmware_py.console.console import Console
from firmware_py.operator.commands import COMMANDS
from firmware_py.sessions.archive import recorded_result
from host_tools.catalogue import catalogue_of
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import (
    LOCKED,
    PIN,
    Device,
    FarPort,
    Stranger,
    by_line,
    of_a_clock_never_set,
)
from tests.host.commands.page.test_whole import await_answers, enter_pin
from tests.host.journals import LEFT_S2

pytestmark = pytest.mark.xdist_group("page-words")
MARKUP = "<img/src=x/onerror=document.title='run'>"
# A socket that is closed at once, of which the page is told when the test says so.
TOLD_LATE = """
window.WebSocket = class extends WebSocket {
  set onclose(tell) {
    super.onclose = (event) => {
      document.documentElement.dataset.closedWith ??= event.code;
      window.tellIt = () => tell(event);
    };
  }
};
"""


def problems(page: Page) -> str:
    return page.locator("#problems").inner_text()


def is_off(page: Page) -> None:
    """Expect that nothing but the way to the device is offered."""
    expect(page.locator("#view-off")).to_be_visible()
    for view in ("#view-prepare", "#view-live", "#view-result"):
        expect(page.locator(view)).to_be_hidden()


def firmware_with(commands: list[Command]) -> Callable[[bytes], bytes]:
    """Return a console with these commands only, as an older firmware has it."""

    class Old:
        def identify(self) -> str:
            return "GP-PTA,fitting device,0,0.0.1"

    rows = [
        Command(row.header, lambda _: Old().identify(), row.help) if row.header == "*IDN?" else row
        for row in commands
    ]
    console = Console(rows, Old())
    return lambda data: "".join(f"{line}\r\n" for line in console.receive(data)).encode()


def test_an_older_firmware_is_refused_before_anything_is_done(
    device: Device, operator: Operator
) -> None:
    old = [row for row in COMMANDS if row.header != "SESSion:STATe?"]
    page = operator.connect(device.stand_in(Stranger(firmware_with(old))))
    expect(page.locator("#problems")).to_contain_text("does not fit this page")
    is_off(page)
    assert "GP-PTA,fitting device,0,0.0.1" in problems(page)
    assert "SESSion:STATe?" in problems(page)


def test_a_question_to_a_socket_that_closes_does_not_hide_why(
    device: Device, operator: Operator, serve: Callable[[FarPort], str]
) -> None:
    device.start()
    end = device.far_port()
    page = operator.open(url=serve(end), before=TOLD_LATE)
    expect(page.locator("#view-prepare")).to_be_visible()
    end.pull()
    # No condition in a script: what is polled is an `eval`, and this page allows none.
    expect(page.locator("html")).to_have_attribute("data-closed-with", "4002")
    page.evaluate("document.getElementById('check-again').click()")  # it is folded away
    page.evaluate("window.tellIt()")
    expect(page.locator("#problems")).to_contain_text("The device is gone")
    assert "does not answer any more" not in problems(page)


def test_a_clock_that_was_never_set_is_told_with_what_to_do(
    device: Device, operator: Operator
) -> None:
    device.cable.change = by_line(of_a_clock_never_set)
    page = operator.join(device)
    expect(page.locator("#view-prepare")).to_be_visible()
    clock = page.locator("#parts li").last
    expect(clock).to_contain_text("Clock FAULT never set: it says 1970-01-01T00:00:05+00:00")
    expect(clock).to_contain_text("sessions get a wrong date. Have it set before the test.")
    expect(page.locator("#problems")).to_contain_text("The clock of the device says 1 January 1970")
    parts = page.locator("#parts")
    expect(parts).to_contain_text("button not yet checked not pressed since the start")
    expect(parts).to_contain_text("Calibration works CALIBRATED (simulated board)")
    expect(page.locator("#calibration")).to_have_text("CALIBRATED (simulated board)")


def test_a_firmware_that_makes_no_papers_is_said_not_to_fit(
    device: Device, operator: Operator
) -> None:
    device.directory.mkdir(exist_ok=True)
    shutil.copy(LEFT_S2, device.journal())
    device.cable.change = by_line(lambda line: line.replace(b'"paper": {', b'"other": {'))
    page = operator.join(device)
    expect(page.locator("#problems")).to_contain_text("does not fit this page")
    assert "SESSion:PAPer?" in problems(page)
    expect(page.locator("#result")).to_be_hidden()


def test_markup_in_what_is_typed_acts_on_nothing(page: Page, device: Device) -> None:
    page.fill("#name", MARKUP)
    page.fill("#remarks", MARKUP)
    page.fill("#identifier", MARKUP[:32])
    page.click("#start")
    expect(page.locator("#problems")).to_contain_text("does not allow this value")
    expect(page.locator("#view-prepare")).to_be_visible()
    page.fill("#identifier", "a b,c")
    page.click("#start")
    wrong = page.locator("#identifier-wrong")
    expect(wrong).to_have_text("Identifier is a b,c. Blanks and commas are not allowed in it.")
    assert not device.journal().exists(), "no test was begun"

    page.fill("#identifier", "Zoë-7")
    page.click("#start")
    await_answers(page, device, 2)
    expect(page.locator("#view-live")).to_be_visible()  # before that no key ends a test
    expect(page.locator("#problems")).to_be_empty()  # what was refused is no matter of the test
    page.keyboard.press("Shift+E")
    expect(page.locator("#result-facts")).to_contain_text(MARKUP)
    expect(page.locator("#result-outcome")).to_have_text("NOT FINAL: aborted")
    assert page.title() == "GP-PTA hearing test"
    assert page.locator("img").count() == 0
    recorded = recorded_result(device.journal())
    assert recorded.header.person.identifier == "Zoë-7"
    assert MARKUP not in device.journal().read_text("utf-8")


def test_a_wrong_pin_is_told_and_nothing_is_done_without_the_right_one(
    device: Device, operator: Operator
) -> None:
    page = operator.join(device, configuration=LOCKED)
    page.fill("#identifier", "P-17")
    page.click("#start")
    enter_pin(page, "0000")
    expect(page.locator("#pin-why")).to_contain_text("wrong PIN; the next one is looked at in 1 s")
    page.click("#pin-cancel")
    expect(page.locator("#problems")).to_contain_text("No PIN was entered. Nothing was done.")
    assert not device.journal().exists()
    expect(page.locator("#lock-words")).to_have_text("locked")

    page.click("#start")
    device.pass_time(1.0)  # as the device said
    enter_pin(page, PIN)
    expect(page.locator("#view-live")).to_be_visible()
    expect(page.locator("#lock-words")).to_have_text("unlocked")
    assert PIN not in page.content()


def test_a_lost_tone_generator_is_said_and_the_test_goes_on_when_it_is_back(
    page: Page, device: Device
) -> None:
    page.click("#start")
    await_answers(page, device, 2)
    device.pull_board()
    expect(page.locator("#board")).to_have_text("tone generator lost")
    expect(page.locator("#status")).to_contain_text("The tone generator is lost. The test waits")
    expect(page.locator("#now-state")).to_have_text("tone generator lost")
    expect(page.locator("#now-left")).to_have_text("–")
    page.reload()
    expect(page.locator("#now-left")).to_have_text("–")
    expect(page.locator("#board")).to_have_text("tone generator lost")
    device.plug_board()
    device.until_board()
    expect(page.locator("#board")).to_have_text("tone generator ready")
    expect(page.locator("#now-left")).to_have_text(re.compile(r"^\d+:\d\d$"))
    before = page.locator("#answers tr").count()
    await_answers(page, device, 2, before)


@pytest.mark.thorough
def test_a_laptop_that_slept_finds_the_test_where_it_is(device: Device, operator: Operator) -> None:
    page = operator.join(device)
    page.click("#start")
    await_answers(page, device, 2)
    assert operator.context is not None
    session = operator.context.new_cdp_session(page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    device.until_over()
    session.send("Page.setWebLifecycleState", {"state": "active"})
    expect(page.locator("#view-result")).to_be_visible()
    assert recorded_result(device.journal()).result.outcome == "complete"


@pytest.mark.parametrize(
    "year",
    ["58", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("1800", "2999", "x"))],
)
def test_a_year_of_birth_that_cannot_be_is_refused(year: str, page: Page, device: Device) -> None:
    field, told = page.locator("#birth_year"), page.locator("#birth_year-wrong")
    field.fill(year)
    page.click("#start")
    expect(told).to_contain_text(f"The year of birth is {year}.")
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_attribute("aria-describedby", "birth_year-wrong")
    expect(told).to_have_attribute("role", "alert")
    assert not device.journal().exists()
    field.fill("1958")
    expect(told).to_have_count(0)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    page.locator("#start-form details summary").first.click()
    page.fill("#tones_max", "")
    page.locator("#start-form details summary").first.click()  # folded away
    page.click("#start")
    expect(page.locator("#tones_max")).to_be_focused()
    expect(page.locator("#tones_max-wrong")).to_have_text("A value is missing: Most tones an ear.")


LONG = "Ελένη محمد 李 Wilhelmina-Konstantinopoulou " * 5


def test_the_language_changes_at_once_in_every_state_and_nothing_is_lost(
    device: Device, operator: Operator
) -> None:
    german, spanish = (catalogue_of(each).tables["page"] for each in ("de", "es"))
    device.start()
    page = operator.open(device.stand_in())
    page.evaluate("window.kept = true")

    def speak(language: str) -> None:
        page.select_option("#language", language)
        expect(page.locator("html")).to_have_attribute("lang", language)

    speak("de")
    expect(page.locator("#choose")).to_have_text(german["connect"])
    page.click("#choose")
    page.fill("#name", LONG[:200])
    page.fill("#birth_year", "57")
    page.click("#start")
    wrong = page.locator("#birth_year-wrong")
    expect(wrong).to_contain_text("Geburtsjahr")
    speak("es")
    expect(wrong).to_contain_text("nacimiento")
    assert page.input_value("#name") == LONG[:200]
    page.fill("#birth_year", "1957")
    page.click("#start")
    await_answers(page, device, 3)
    speak("de")
    expect(page.locator("#pause-words")).to_have_text(german["pause"])
    assert page.locator("#answers tr").count() == 3
    expect(page.locator("#answers td:nth-child(2)").first).to_have_text(
        re.compile("linkes Ohr|rechtes Ohr")
    )
    expect(page.locator("#whose")).to_contain_text(LONG[:200].strip())
    for button in ("#pause", "#abort"):  # a long name pushes neither off the screen
        expect(page.locator(button)).to_be_in_viewport(ratio=1)
    page.click("#pause")
    expect(page.locator("#check-question")).to_have_text(german["check_pause"])
    speak("es")
    expect(page.locator("#check-question")).to_have_text(spanish["check_pause"])
    page.click("#another-end")
    expect(page.locator("#view-result")).to_be_visible()
    ears = page.locator("#result-thresholds figcaption")
    expect(ears.first).to_have_text("oído derecho")
    speak("de")
    expect(ears.first).to_have_text("rechtes Ohr")
    expect(page.locator("#status")).to_have_text(german["status_finished"])
    assert page.evaluate("window.kept")  # it was never loaded again
    page.reload()
    expect(page.locator("#status")).to_have_text(german["status_finished"])


@pytest.mark.parametrize("language", ["en", pytest.param("de", marks=pytest.mark.thorough)])
def test_a_test_under_way_is_seen_at_one_glance(language: str, page: Page, device: Device) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.select_option("#language", language)
    page.fill("#name", "Zoë Konstantinopoulou")
    page.click("#start")
    await_answers(page, device, 2)
    drawn = page.locator("#live-ears svg")
    for seen in ("#whose", "#now-tone", "#now-left", "#now-so-far", "#pause", "#abort"):
        expect(page.locator(seen)).to_be_in_viewport(ratio=1)
    for ear in (0, 1):
        expect(drawn.nth(ear)).to_be_in_viewport(ratio=1)
    expect(page.locator("#now-presses")).to_have_text(re.compile(r"^0 \w+ \d+$"))
    expect(page.locator("#answers").first).to_be_hidden()  # folded away
    expect(page.locator("#view-live .legend")).to_be_visible()
