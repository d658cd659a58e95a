"""The page's result begins with the verdict on the test, and says no more than that allows."""

import re

import pytest
from playwright.sync_api import expect

from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.results import SessionResult
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import Device
from tests.host.judged import DIFFERENT, judge

pytestmark = pytest.mark.xdist_group("page-words")


@pytest.mark.usefixtures("as_if_calibrated")
def test_the_result_begins_with_the_verdicts(
    device: Device, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = HearingTest.result

    def judge_at_its_end(test: HearingTest) -> SessionResult:
        result = found(test)
        return judge(result, DIFFERENT) if result.outcome else result

    monkeypatch.setattr(HearingTest, "result", judge_at_its_end)
    device.start()
    page = operator.connect(device.stand_in())
    page.click("#start")
    expect(page.locator("#view-live")).to_be_visible()
    device.until_over()
    expect(page.locator("#view-result")).to_be_visible()
    expect(page.locator("#result-outcome")).to_have_text(
        re.compile("^NOT FINAL: .*left ear: could not be tested")
    )
    verdicts = page.locator("#result-verdict b").all_inner_texts()
    assert sorted(verdicts) == [
        "Verdict on the test, left ear: COULD NOT BE TESTED",
        "Verdict on the test, right ear: DOUBTFUL",
    ]
    reasons = page.locator("#result-verdict").inner_text()
    assert "o tone was ever answered: check earphones and button" in reasons
    marks = page.locator("#result-paper .watermark").all_text_contents()
    assert marks == ["DOUBTFUL", "COULD NOT BE TESTED"]
    assert page.locator("#result-thresholds table").count() == 1
    assert page.locator("#result-thresholds table.left").count() == 0
    assert page.locator("#result-thresholds figure.left g.threshold").count() == 0
    assert re.search("none, its test is doubtful", page.locator("#result-grade").inner_text())
