"""Nothing of one person reaches another: whose a result, a test, a limit and a name is."""

import re
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from device.simulator.world import World
from firmware_py.terms.person import Person
from firmware_py.terms.settings import Settings
from host_tools.commands.page import assemble
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.in_javascript import run
from tests.host.commands.page.rig import LOCKED, Device
from tests.host.commands.page.test_breadth import expect_result, save, start_short
from tests.host.commands.page.test_whole import await_answers, enter_pin
from tests.host.journals import BOTH

pytestmark = pytest.mark.xdist_group("page-words")
TYPED = ("identifier", "birth_year", "sex", "name", "tester", "place", "remarks")
NOBODY = dict.fromkeys(TYPED, "")
# What is typed is kept with one session, and asked for with others.
KEPT: Final = """
const kept = new Map();
Object.defineProperty(globalThis, "sessionStorage", {
  value: { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) },
});
const { serial, ...begun } = given.begun;
bindTyped(serial, begun, { name: "Anna" });
return given.asked.map(({ serial, ...result }) => whoseIs(serial, result));
"""


def fields_of_person(page: Page) -> dict[str, str]:
    return {name: page.input_value(f"#{name}") for name in TYPED}


def type_b(page: Page) -> None:
    """Type another person, with limits of their own."""
    for name, text in {"identifier": "P-B", "birth_year": "1990", "name": "Bert"}.items():
        page.fill(f"#{name}", text)
    page.select_option("#sex", "M")
    if not page.locator("#level_max_db_hl").is_visible():
        page.locator("#start-form details summary").first.click()
    page.fill("#level_max_db_hl", "115")
    page.check("#loud_confirmed")


def is_of_a(page: Page, name: str) -> None:
    """Expect that all of the result is of the first person, who has this name."""
    about = page.locator("#result-facts")
    expect(about).to_contain_text("P-A")
    expect(about).to_contain_text("1958" if name else "age")
    assert ("Anna" in about.inner_text()) == bool(name)
    assert not {"Bert", "P-B", "1990", "male"} & set(about.inner_text().split())
    (session,) = save(page, "#save-json")["sessions"]
    assert session["session"] == 1
    assert session["person"]["identifier"] == "P-A"
    assert session["person"]["sex"] == "F"


def test_what_is_typed_for_the_next_person_has_no_way_to_the_last_result(
    page: Page, device: Device
) -> None:
    page.fill("#name", "Anna")
    start_short(page, "P-A")
    expect(page.locator("#whose")).to_have_text("Anna · P-A · session 1")
    device.until_over()
    expect_result(page)
    is_of_a(page, "Anna")
    page.reload()
    expect_result(page)
    is_of_a(page, "Anna")

    page.click("#same-person")
    expect(page.locator("#same-note")).to_contain_text("The same person as in session 1.")
    of_a = {"identifier": "P-A", "birth_year": "1958", "sex": "F", "name": "Anna"}
    assert fields_of_person(page) == NOBODY | of_a
    expect(page.locator("#loud_confirmed")).not_to_be_checked()
    page.click("#last-result")
    page.click("#next-person")
    expect(page.locator("#view-prepare")).to_be_visible()
    assert fields_of_person(page) == NOBODY
    expect(page.locator("#unnamed")).to_contain_text("found by its number alone")

    expect(page.locator("#differs-part")).to_be_hidden()
    type_b(page)
    expect(page.locator("#differs")).to_have_text("Loudest tone, dB HL: 115, not 100")
    expect(page.locator("#unnamed")).to_be_empty()
    page.click("#last-result")
    expect_result(page)
    is_of_a(page, "")
    page.click("#next-person")
    expect(page.locator("#level_max_db_hl")).to_have_value("100")
    expect(page.locator("#loud_confirmed")).not_to_be_checked()

    type_b(page)
    page.reload()
    expect_result(page)
    is_of_a(page, "")
    page.click("#next-person")
    expect(page.locator("#view-prepare")).to_be_visible()
    assert fields_of_person(page) == NOBODY
    assert page.evaluate("sessionStorage.getItem('gp-pta-session')") is None


def test_what_was_typed_is_of_the_session_of_that_device_number_and_start_alone() -> None:
    own = {"serial": "box-1", "session": 1, "started": "2026-11-29T08:00:00+00:00"}
    others = {"serial": "box-2", "session": 2, "started": "2026-11-29T09:00:00+00:00"}
    asked = [own, *({**own, field: value} for field, value in others.items())]
    found, *of_others = run("person.js", KEPT, begun={**own, "identifier": "P-A"}, asked=asked)
    assert (found["identifier"], found["typed"]) == ("P-A", {"name": "Anna"})
    for other, told in zip(asked[1:], of_others, strict=True):
        about = {name: other[name] for name in ("session", "started")}
        assert told == {**about, "typed": {}}, other


def test_a_pause_asks_for_the_person_and_either_answer_is_one_click(
    page: Page, device: Device
) -> None:
    page.click("#start")
    expect(page.locator("#whose")).to_have_text("no name · session 1")
    page.click("#pause")
    expect(page.locator("#check-question")).to_have_text("Paused. Is it still the same person?")
    expect(page.locator("#check-whose")).to_contain_text("no name · session 1 · begun ")
    page.click("#same-go-on")
    expect(page.locator("#live-check")).to_be_hidden()
    device.until_answers(1)
    page.click("#pause")
    page.click("#another-end")
    expect(page.locator("#result-outcome")).to_have_text("NOT FINAL: aborted")
    page.click("#next-person")
    expect(page.locator("#unnamed")).to_contain_text("as in the last test")


def test_a_test_of_before_is_gone_on_with_only_when_it_is_said_whose_it_is(
    device: Device, operator: Operator
) -> None:
    device.start(LOCKED)
    end = device.stand_in()
    page = operator.connect(end)
    page.fill("#name", "Anna")
    page.fill("#identifier", "P-A")
    page.click("#start")
    enter_pin(page)
    # Time that passes before the page has begun the test is silence, after which the PIN is due.
    expect(page.locator("#whose")).to_have_text("Anna · P-A · session 1")
    await_answers(page, device, 2)
    device.today.ahead = timedelta(hours=3, minutes=5)
    device.start(LOCKED)

    page.reload()
    expect(page.locator("#check-question")).to_have_text("Is it the same person?")
    expect(page.locator("#check-why")).to_contain_text("it was broken off 3 hours ago")
    expect(page.locator("#check-whose")).to_have_text("session 1")
    # What the page knows is packed in a script, and has any three letters.
    assert "P-A" not in re.sub(r"<script.*?</script>", "", page.content(), flags=re.DOTALL)
    expect(page.locator("#pause")).to_be_disabled()
    expect(page.locator("#live-ears")).to_be_hidden()
    page.keyboard.press("Escape")
    page.click("#live-unlock")
    enter_pin(page)
    expect(page.locator("#live-ears")).to_be_visible()
    expect(page.locator("#check-whose")).to_contain_text("Anna · P-A · session 1 · begun ")
    expect(page.locator("#now-state")).to_have_text("PAUSED")
    page.click("#same-go-on")
    expect(page.locator("#live-check")).to_be_hidden()
    device.until_answers(1)

    device.plug_board("0ther")
    device.until_told("! tone-generator")
    expect(page.locator("#check-why")).to_contain_text("are the levels the same?")
    page.click("#another-end")
    expect(page.locator("#result-outcome")).to_have_text("NOT FINAL: aborted")


def test_one_identifier_is_of_one_person(device: Device, operator: Operator) -> None:
    world = World(device.directory, device.listener)
    world.begin(Settings(ears="right", tones_max=20), Person(40.0, "F", "P-A"))
    world.end()
    page = operator.join(device)
    expect_result(page)
    page.click("#next-person")
    expect(page.locator("#view-prepare")).to_be_visible()

    words = page.locator("#ask-words")
    page.fill("#identifier", " p-a ")
    page.select_option("#sex", "M")
    page.click("#start")
    expect(words).to_have_text("The device does not know p-a, but P-A. Is P-A meant?")
    page.click("#ask-yes")
    expect(words).to_contain_text("sex female, not male. Is it the same person?")
    page.click("#ask-no")
    expect(page.locator("#identifier")).to_be_focused()
    assert not device.journal(2).exists()

    page.select_option("#sex", "F")
    page.fill("#birth_year", "1931")
    page.click("#start")
    expect(words).to_contain_text("year of birth")
    page.keyboard.press("Escape")
    assert not device.journal(2).exists()
    page.click("#start")
    page.click("#ask-yes")
    expect(page.locator("#whose")).to_have_text("P-A · session 2")
    page.click("#abort")
    page.click("#find-earlier")
    page.locator("#earlier-list input").check()
    expect(page.locator("#earlier-list")).to_contain_text("1931: is it the same person?")


def test_a_form_can_be_emptied_only_when_something_stands_in_it(page: Page) -> None:
    empty = page.locator("#new-person")
    expect(empty).to_be_hidden()
    for name in ("identifier", "tester"):
        page.fill(f"#{name}", "X-1")
        expect(empty).to_have_text("Empty all fields")
        empty.click()
        expect(empty).to_be_hidden()
        expect(page.locator(f"#{name}")).to_have_value("")
    assert page.locator("#first_ear option").all_inner_texts() == [
        "the better one",
        "right",
        "left",
    ]


def test_an_order_for_another_person_is_asked_about(
    tmp_path: Path, device: Device, operator: Operator
) -> None:
    ordered = {"identifier": "4711", "birth_year": 1950, "sex": "M", "name": "Jürgen Müßig"}
    html = tmp_path / "ordered.html"
    html.write_text(assemble.page(ordered), encoding="utf-8")
    device.start()
    page = operator.open(device.stand_in(), html.as_uri())
    page.click("#choose")
    expect(page.locator("#view-prepare")).to_be_visible()
    wanted = {name: str(text) for name, text in ordered.items()}
    assert fields_of_person(page) == {**NOBODY, **wanted}

    words = page.locator("#ask-words")
    page.fill("#identifier", "P-B")
    page.click("#start")
    expect(words).to_have_text("The order is for 4711, not P-B. Is 4711 tested?")
    page.keyboard.press("Escape")
    assert not device.journal().exists()
    page.fill("#identifier", "")
    page.click("#start")
    expect(words).to_have_text("The order is for 4711, not -. Is 4711 tested?")
    page.click("#ask-yes")
    expect(page.locator("#whose")).to_have_text("Jürgen Müßig · 4711 · session 1")
    assert "Müßig".encode() not in device.journal().read_bytes()
    page.click("#abort")
    expect_result(page)
    page.reload()
    expect_result(page)
    page.click("#next-person")
    expect(page.locator("#view-prepare")).to_be_visible()
    assert fields_of_person(page) == NOBODY, "the order has had its test"
    page.fill("#identifier", "P-B")
    page.click("#start")
    expect(page.locator("#whose")).to_have_text("P-B · session 2")  # the order is answered
    page.click("#abort")


def test_an_order_waits_behind_the_result_of_the_person_before(
    tmp_path: Path, device: Device, operator: Operator
) -> None:
    html = tmp_path / "ordered.html"
    html.write_text(assemble.page({"identifier": "4711", "name": "Jürgen Müßig"}), encoding="utf-8")
    device.directory.mkdir(exist_ok=True)
    shutil.copy(BOTH, device.journal())
    device.start()
    page = operator.open(device.stand_in(), html.as_uri())
    page.click("#choose")
    expect_result(page)
    page.click("#next-person")
    expect(page.locator("#identifier")).to_have_value("4711")
    page.click("#new-person")
    expect(page.locator("#identifier")).to_have_value("")
