"""The end that the operator asks for: what it waits for is bounded, however busy the machine is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from device.simulator.virtual_clock import S
from firmware_py.board.board_connection import FALL_SILENT_S
from firmware_py.firmware import EXIT_S_MAX, WRITES_AT_THE_END
from firmware_py.operator.console_connection import LAST_WORDS_S
from firmware_py.platform.ports import CLOSE_S, DRAIN_LOOK_S, WRITE_TIMEOUT_S
from tests.firmware.device import Device

pytestmark = pytest.mark.usefixtures("quick_disk")


def take_nothing(
    seconds: float, now_s: Callable[[], float], sleep: Callable[[float], None]
) -> None:
    """Wait as for somebody who takes none of the last words."""
    until_s = now_s() + seconds
    while now_s() < until_s:
        sleep(DRAIN_LOOK_S)


def open_again() -> None:
    """Fail: to open a lost port takes seconds."""
    raise AssertionError("it is opened once more")


@pytest.mark.parametrize("lost", [False, True])
def test_the_end_waits_for_a_deaf_board_and_a_full_console_no_longer_than_is_said(
    tmp_path: Path, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of what `EXIT_S_MAX` allows is for writing to the ports, and closing them."""
    device = Device(tmp_path, speed=1)
    told_at_s = list[float]()
    monkeypatch.setattr(device.console, "drain", take_nothing)

    def tell() -> bool:
        if device.clock.us < S:  # until then it meets its board
            return False
        told_at_s.append(device.clock.seconds)
        device.wire_cut, device.tones.is_open = True, not lost
        monkeypatch.setattr(device.tones, "open", open_again)
        return True

    device.type("SYST:EXIT", tell)
    device.run_out()

    waited_s = device.clock.seconds - told_at_s[0]
    assert device.heard == "OK\r\n"
    assert waited_s <= EXIT_S_MAX - 2 * CLOSE_S - WRITES_AT_THE_END * WRITE_TIMEOUT_S
    assert lost or waited_s >= FALL_SILENT_S + LAST_WORDS_S, "the test has met every wait"
