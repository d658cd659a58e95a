"""No device behind the port, or one that somebody else has: the page says so, and does nothing."""

import re
from collections.abc import Callable
from queue import SimpleQueue

import pytest
from playwright.sync_api import expect

from device.simulator.simulated_board import SimulatedBoard
from tests.firmware.whole_sessions import a_listener
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import WAIT_S_MAX, Device, FarPort, Stranger
from tests.host.commands.page.test_bad_input import is_off, problems
from tests.host.commands.page.test_whole import await_answers

# A page gives up after seconds of its own, whatever this machine does.
pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("page-no-device")]
PROMPT = "login: \x1b[2J\u202e<b>x</b>\n"


def test_another_device_behind_the_port_is_named_and_left_alone(
    device: Device, operator: Operator
) -> None:
    typed = bytearray()

    def answer(data: bytes) -> bytes:
        typed.extend(data)
        return PROMPT.encode() if b"\r" in data else b""

    page = operator.connect(device.stand_in(Stranger(answer)))
    expect(page.locator("#problems")).to_contain_text("Something else answers at this port")
    is_off(page)
    assert "login: \\u{1b}[2J\\u{202e}<b>x</b>" in problems(page)
    assert set(bytes(typed).split(b"\r")) == {b"\x15", b"*IDN?", b""}, "no more than who it is"


def test_a_tone_generator_behind_the_port_is_no_console(device: Device, operator: Operator) -> None:
    board = SimulatedBoard(a_listener("N3"), boot=1)

    def answer(data: bytes) -> bytes:
        board.receive(data, board.now_us + 1000)
        return board.transmit()

    page = operator.connect(device.stand_in(Stranger(answer)))
    words = re.compile("Something else answers|Nothing answers")
    expect(page.locator("#problems")).to_contain_text(words)
    is_off(page)


def test_a_silent_port_is_said_so(device: Device, operator: Operator) -> None:
    page = operator.connect(device.stand_in(Stranger(lambda _: b"")))
    expect(page.locator("#problems")).to_contain_text("Nothing answers at this port")
    is_off(page)


def test_a_second_page_is_told_that_another_has_the_device(
    device: Device, operator: Operator, serve: Callable[[FarPort], str],
    bridge_says: SimpleQueue[str],
) -> None:  # fmt: skip
    device.start()
    address = serve(device.far_port())
    first = operator.open(url=address)
    expect(first.locator("#view-prepare")).to_be_visible()
    second = operator.open(url=address)
    expect(second.locator("#problems")).to_contain_text("one operator at a time")
    is_off(second)
    first.click("#start")
    await_answers(first, device, 2)
    first.close()
    while "the page is closed" not in bridge_says.get(timeout=WAIT_S_MAX):
        continue
    second.click("#again")
    expect(second.locator("#view-live")).to_be_visible()


def test_a_second_tab_is_told_that_the_port_is_in_use(device: Device, operator: Operator) -> None:
    device.start()
    end = device.stand_in()
    first = operator.connect(end)
    expect(first.locator("#view-prepare")).to_be_visible()
    second = operator.connect(end)
    expect(second.locator("#problems")).to_contain_text("Another tab or another program")
    is_off(second)
    expect(first.locator("#view-prepare")).to_be_visible()
