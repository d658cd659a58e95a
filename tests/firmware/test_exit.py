"""The end that the operator asks for: what it waits for is bounded, however busy the machine is."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from firmware_py.board_connection import FALL_SILENT_S
from firmware_py.configuration import Configuration
from firmware_py.console_connection import LAST_WORDS_S
from firmware_py.firmware import EXIT_S_MAX, WRITES_AT_THE_END, Firmware, Ports
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.ports import CLOSE_S, DRAIN_LOOK_S, WRITE_TIMEOUT_S, Port
from firmware_py.platform.waiting import Waiting
from tests.firmware.test_firmware import SPEED, BoardPort, OperatorPort

pytestmark = pytest.mark.usefixtures("quick_disk")


class CountedClock(SteadyClock):
    """A clock whose seconds pass only while somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.s = 0.0

    def now_us(self) -> int:
        return round(self.s * 1e6)

    def world_s(self) -> float:
        return self.s

    def waiting(self) -> Waiting:
        return CountedWaiting(self)

    def seconds_until(self, at_us: int) -> float:
        return max(at_us / 1e6 - self.s, 0.0)


class CountedWaiting:
    """Waits by moving that clock."""

    def __init__(self, clock: CountedClock) -> None:
        self._clock = clock

    def wait(self, ports: Sequence[Port], seconds: float) -> None:
        self._clock.s += 0.01

    def sleep(self, seconds: float) -> None:
        self._clock.s += seconds

    def ring(self) -> None:
        """Go on."""

    def close(self) -> None:
        """Hold nothing."""


class DeafBoard(BoardPort):
    """Answers nothing any more once it is deaf; if it is lost, to open it again takes seconds."""

    is_deaf = False

    def open(self) -> None:
        assert not self.is_deaf, "it is opened once more"
        super().open()

    def write(self, data: bytes) -> None:
        if not self.is_deaf:
            super().write(data)


class FullPort(OperatorPort):
    """Takes none of the last words."""

    def drain(
        self,
        seconds: float,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        until_s = now_s() + seconds
        while now_s() < until_s:
            sleep(DRAIN_LOOK_S)


@pytest.mark.parametrize("lost", [False, True])
def test_the_end_waits_for_a_deaf_board_and_a_full_console_no_longer_than_is_said(
    tmp_path: Path, lost: bool
) -> None:
    """The rest of what `EXIT_S_MAX` allows is for writing to the ports, and closing them."""
    clock, tones, operator = CountedClock(), DeafBoard(SPEED), FullPort()
    data = DataDirectory(tmp_path)
    firmware = Firmware(Configuration(), Ports(tones, operator), data, clock, lambda: "0000000a")
    told_at_s = list[float]()

    def told() -> bool:
        if clock.s < 1.0:  # until then it meets its board
            return False
        told_at_s.append(clock.s)
        tones.is_deaf, tones.is_open = True, not lost
        return True

    operator.lines.append(("SYST:EXIT", told))
    firmware.run()
    data.close()

    waited_s = clock.s - told_at_s[0]
    assert operator.heard == "OK\r\n"
    assert waited_s <= EXIT_S_MAX - 2 * CLOSE_S - WRITES_AT_THE_END * WRITE_TIMEOUT_S
    assert lost or waited_s >= FALL_SILENT_S + LAST_WORDS_S, "the test has met every wait"
