"""While nobody seems to listen the page says so, and the operator can say what is true."""

import re

import pytest
from playwright.sync_api import Page, expect

from firmware_py.sessions.archive import recorded_result
from firmware_py.terms.reasons import Code
from firmware_py.terms.words import say
from tests.firmware.whole_sessions import ASLEEP, AWAKE, Moody, a_listener
from tests.host.commands.page.conftest import Operator, begin_test, check_buttons
from tests.host.commands.page.rig import Device

pytestmark = pytest.mark.xdist_group("page-words")
SHOWN = "#live-check"


def begin(operator: Operator, device: Device) -> Page:
    page = operator.prepare(device)
    begin_test(page, "RIGHT")
    return page


def test_a_check_is_told_in_words_and_ends_at_a_click(device: Device, operator: Operator) -> None:
    why = r"tones without an answer since tone 1\d: \d+; check earphones, button and listener"
    offered = ["Continue", "I hear it", "The other ear hears it"]
    device.listener = listener = Moody(a_listener("S2"))
    page = begin(operator, device)
    expect(page.locator(SHOWN)).to_be_hidden()
    device.until_answers(12)
    listener.mood = ASLEEP
    device.until_told("! listener-check ")
    question = "Right ear: paused. Is anything heard?"
    expect(page.locator("#check-question")).to_have_text(question)
    expect(page.locator("#check-why")).to_have_text(re.compile(why))
    assert check_buttons(page) == offered
    assert page.get_attribute("body", "data-status") == "checking"

    page.reload()
    expect(page.locator("#check-why")).to_have_text(re.compile(why))
    assert check_buttons(page) == offered

    listener.mood = AWAKE
    page.click("#check-passed")
    expect(page.locator(SHOWN)).to_be_hidden()
    expect(page.locator("#view-live")).to_be_visible()
    assert page.get_attribute("body", "data-status") == "under_way"
    device.until_over()
    expect(page.locator("#view-result")).to_be_visible()
    (remark, *_) = recorded_result(device.journal()).result.remarks
    assert say(remark).startswith(
        "right ear: paused to check the responses, times: 1; tones without "
    )


@pytest.mark.parametrize(
    ("button", "remark"),
    [
        pytest.param(
            "#hear-operator",
            "right ear: nothing was heard; the equipment was heard by the operator",
            marks=pytest.mark.thorough,
        ),
        ("#hear-other", "right ear: nothing was heard; the equipment was heard by the other ear"),
        ("#hear-nobody", None),
    ],
)
def test_the_operator_says_who_hears_the_tones(
    device: Device, operator: Operator, button: str, remark: str | None
) -> None:
    device.listener = Moody(a_listener("S2"), ASLEEP)
    page = begin(operator, device)
    device.until_told("! equipment-check ")
    expect(page.locator("#check-question")).to_have_text("Right ear: who hears the tones?")
    page.reload()
    expect(page.locator("#check-why")).to_contain_text("nothing was heard in this ear: hold ")
    assert check_buttons(page) == ["I hear it", "The other ear hears it", "Nobody hears it"]

    page.click(button)
    expect(page.locator("#view-result")).to_be_visible()
    result = recorded_result(device.journal()).result
    heard = [say(each) for each in result.remarks if each.code == Code.EQUIPMENT_HEARD]
    assert heard == ([remark] if remark else [])
    shown = page.locator("#result-verdict").inner_text()
    assert ("COULD NOT BE TESTED" in shown) == (remark is None)
    assert page.locator("#result-thresholds table").count() == (remark is not None)
