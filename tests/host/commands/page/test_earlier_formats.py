"""Records of earlier formats on the page: their result, or why it is not shown here."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.firmware.rig import REPO
from tests.host.commands.page.conftest import Operator, begin_test
from tests.host.commands.page.rig import Device
from tests.host.commands.page.test_breadth import expect_result

pytestmark = pytest.mark.xdist_group("page")
FORMATS = REPO / "tests" / "formats"
FINISHED = "1/session-000001.journal"
UNFINISHED = "1/session-000003.journal"


def take(device: Device, path: Path) -> None:
    device.directory.mkdir(exist_ok=True)
    shutil.copy(path, device.directory / path.name)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (FINISHED, "Session 1 is of an earlier version: gp-pta report shows its result."),
        ("2/session-000001.journal", "Session 1 is of an earlier version"),
        (UNFINISHED, "it was not finished, so it has no result; only the version that began it"),
    ],
)
def test_it_is_said_why_the_last_test_has_no_result_here(
    device: Device, operator: Operator, name: str, told: str
) -> None:
    take(device, FORMATS / name)
    page = operator.join(device)
    expect(page.locator("#view-prepare")).to_be_visible()
    page.click("#last-result")
    expect(page.locator("#problems")).to_contain_text(told)
    expect(page.locator("#problems")).not_to_contain_text("There was no test")
    expect(page.locator("#view-prepare")).to_be_visible()


def test_without_any_test_that_is_said(device: Device, operator: Operator) -> None:
    page = operator.prepare(device)
    page.click("#last-result")
    expect(page.locator("#problems")).to_contain_text("There was no test at this device yet.")


def test_an_earlier_session_of_another_calibration_is_not_laid_over(
    device: Device, operator: Operator
) -> None:
    take(device, FORMATS / FINISHED)
    page = operator.prepare(device)
    page.fill("#identifier", "P-17")
    begin_test(page, "RIGHT")
    device.until_over()
    expect_result(page)
    page.click("#find-earlier")
    page.locator("#earlier-list input").click()
    expect(page.locator("#earlier-list")).to_contain_text("cannot be compared")
    expect(page.locator("#earlier-list input")).not_to_be_checked()
    assert page.locator("#result-paper .earlier").count() == 0
