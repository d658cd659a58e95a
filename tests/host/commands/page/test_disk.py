"""What the page says of a memory card that is full, or fails while a test is under way."""

import errno
import os
from typing import NoReturn

import pytest
from playwright.sync_api import Page, expect

from firmware_py.journal import Disk
from firmware_py.platform.room_on_disk import TO_END_BYTES
from tests.host.commands.page.conftest import Operator, begin_test
from tests.host.commands.page.rig import Device

pytestmark = pytest.mark.xdist_group("page")
REFUSED = "#problems [data-number='-250']"


def expect_fault(page: Page, words: str) -> None:
    expect(page.locator("#parts")).to_contain_text(words)
    expect(page.locator("#check-words")).to_be_visible()


def begin(page: Page, device: Device) -> None:
    expect(page.locator("#view-prepare")).to_be_visible()
    begin_test(page)
    device.until_answers(3)


def leave_room(monkeypatch: pytest.MonkeyPatch, free_bytes: int) -> None:
    monkeypatch.setattr(Disk, "free_bytes", lambda *_: free_bytes)


def test_a_card_without_room_for_a_test_is_shown_at_once_and_when_it_is_begun(
    device: Device, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_room(monkeypatch, 200_000)
    page = operator.join(device)
    expect_fault(page, "only 200 kB are free on the disk")
    page.click("#start")
    expect(page.locator(REFUSED)).to_contain_text("no test was begun")
    expect(page.locator("#view-prepare")).to_be_visible()


def test_a_test_that_a_full_card_ends_is_shown_with_its_result_and_why(
    device: Device, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = operator.join(device)
    begin(page, device)
    leave_room(monkeypatch, TO_END_BYTES - 1)
    device.until_over()
    expect(page.locator("#view-result")).to_be_visible()
    expect(page.locator(REFUSED)).to_contain_text("session 1 was ended, and its result is kept")


def test_a_test_that_a_card_refuses_is_said_to_be_left(
    device: Device, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    page = operator.join(device)
    begin(page, device)
    monkeypatch.setattr(Disk, "write", refuse)
    device.until_told("is left as it is")
    expect(page.locator("#view-prepare")).to_be_visible()
    expect(page.locator(REFUSED)).to_contain_text("session 1 is left as it is")
    expect_fault(page, "No space left on device")
