"""A test by bone from the page by clicks: the page says where the vibrator goes, and waits."""

import re

import pytest
from playwright.sync_api import Page, expect

from device.simulator.audiograms import audiogram_named
from device.simulator.head import Head
from device.simulator.listener import SimulatedListener
from firmware_py.installation.configuration import Configuration
from firmware_py.sessions.archive import recorded_result
from tests.host.commands.page.conftest import Operator, begin_test, check_buttons
from tests.host.commands.page.rig import Device

pytestmark = pytest.mark.xdist_group("page")
RIGHT_GAP_DB = 35.0
AGAIN = 3  # of the places: the right ear, with noise
SHOWN = "#live-check"
ON_MASTOID = "on the mastoid, both ears open"
# The better ear begins; both have a gap, and noise is wanted afterwards.
PLACES = (
    f"behind the left ear, {ON_MASTOID}",
    f"behind the right ear, {ON_MASTOID}",
    "behind the right ear, that ear open, and the left earphone on the left ear for noise",
    "behind the left ear, that ear open, and the right earphone on the right ear for noise",
)


def choose_bone(page: Page) -> None:
    expect(page.locator("#routes")).to_have_value("air")
    expect(page.locator("#instruction")).not_to_contain_text("vibrator")
    page.select_option("#routes", "air, bone")
    expect(page.locator("#instruction")).to_contain_text("a small vibrator")
    expect(page.locator("#differs")).to_have_text("Conduction: air and bone, not air only")


def until_placing_or_over(device: Device, placed: int) -> bool:
    """Let time pass until something is to be placed once more; false: until the test is over."""

    def has_come() -> bool:
        told = device.cable.told
        return told.count(b"! placing") > placed or b"! session-over" in told

    device.until(has_come)
    return device.cable.told.count(b"! placing") > placed


def test_bone_is_chosen_placed_drawn_and_told(device: Device, operator: Operator) -> None:
    right, left = audiogram_named("N3")["right"], audiogram_named("N1")["left"]
    device.listener = SimulatedListener(
        {"right": right, "left": left}, head=Head({"right": RIGHT_GAP_DB, "left": 14.0}), seed=3
    )
    # By chance a test asks an ear again by air in the end, with earphones on again.
    page = operator.join(device, configuration=Configuration(seed=3))
    expect(page.locator("#view-prepare")).to_be_visible()
    choose_bone(page)
    begin_test(page)
    asked: list[str] = []
    while until_placing_or_over(device, len(asked)):
        expect(page.locator(SHOWN)).to_be_visible()
        asked.append(page.locator("#check-why").inner_text())
        assert check_buttons(page) == ["Continue"]
        expect(page.locator("#pause")).to_be_hidden()  # there is one button for it
        expect(page.locator("#now-state")).to_contain_text("waiting")
        assert page.get_attribute("body", "data-status") == "placing"
        # Neither is meant for this question: the second of two clicks, and what was to pause.
        page.locator("#check-passed").dispatch_event("click", {"detail": 2})
        page.keyboard.press("Escape")
        page.click("#check-passed")
        # While time stands still the page is not told of what it asked a moment too early.
        covered = "for noise" in asked[-1]  # two tones show if it arrives
        device.until_answers(3 if covered else 1)
        expect(page.locator(SHOWN)).to_be_hidden()
        if len(asked) == AGAIN:  # what was found without noise is asked again
            expect(page.locator("#live-ears .threshold.grey")).not_to_have_count(0)
        # The page has drawn all tones by air by now, and no tone by bone is drawn as one of them.
        expect(page.locator("#answers tr").first).to_contain_text("ear by bone")
        drawn = page.locator("#live-ears .tones").first.locator(".tone")
        by_air, answers = drawn.count(), page.locator("#answers tr").count()
        device.until_answers(2)
        expect(page.locator("#answers tr")).not_to_have_count(answers)
        expect(drawn).to_have_count(by_air)
        expect(page.locator("#now-state")).to_contain_text("ear by bone")
        counted = re.compile(r"by bone ([2-9]|\d\d+) tones")
        expect(page.locator("#live-ears")).to_contain_text(counted)
        if len(asked) == AGAIN:  # it stays in sight, in grey, when the page is loaded again
            page.reload()
            expect(page.locator("#live-ears .threshold.grey")).not_to_have_count(0)
    expect(page.locator("#view-result")).to_be_visible()

    assert len(asked) == len(PLACES), "\n".join(["", *asked])
    assert device.journal().read_text().count('"what": "continued"') == len(PLACES)
    assert all(place in words for place, words in zip(PLACES, map(str.lower, asked), strict=True))
    ears = {str(ear.route): ear for ear in recorded_result(device.journal()).result.ears}
    assert len(ears) == 4
    expect(page.locator("#result-thresholds table")).to_have_count(4)
    expect(page.locator("#result-gaps")).to_contain_text("Right ear: conductive loss")
    expect(page.locator("#result-grade")).not_to_contain_text("conductive")


def test_without_bone_nothing_is_said_of_gaps_and_no_part_has_a_fault(page: Page) -> None:
    expect(page.locator("#check-words")).to_have_text("no fault found")
    expect(page.locator("#result-gaps")).to_have_count(0)
