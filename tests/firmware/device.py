"""A whole device that is run from its start to its end, with an operator who types line by line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from device.simulator.listener import Listener
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import MS
from device.simulator.world import WholeRun
from firmware_py.installation.configuration import Configuration
from tests.firmware.whole_sessions import a_listener

SPEED = 40
POLL_US = 20 * MS


class Device(WholeRun):
    """A device with somebody at its board, and a line is typed when the board was met."""

    def __init__(
        self, directory: Path, configuration: Configuration | None = None, speed: int = SPEED,
        listener: Listener | None = None, **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            directory, listener or a_listener("S2"), boot=1, speed=speed,
            configuration=configuration, **more,
        )  # fmt: skip

    def type(self, line: str, when: Callable[[], bool] | None = None) -> None:
        super().type(line, when or self.is_greeted)

    def is_greeted(self) -> bool:
        return self.client.connected

    def is_playing(self) -> bool:
        return len(self.board.played) > 2 and self.board.tone is not None

    def is_silent(self) -> bool:
        return self.board.tone is None


def answers_to(device: Device, *lines: str) -> list[str]:
    for line in (*lines, "SYST:EXIT"):
        device.type(line)
    return device.run_out().splitlines()


class Peer(SimulatedBoard):
    """Something else at the other end of a line: `answer` is given what comes, and time."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        super().__init__(a_listener())
        self._answer = answer
        self._said = b""
        self._due_us = 0

    def next_deadline_us(self) -> int | None:
        return self._due_us

    def advance(self, now_us: int) -> None:
        if now_us >= self._due_us:
            self._due_us = now_us + POLL_US
            self._said += self._answer(b"")

    def receive(self, data: bytes, now_us: int) -> None:
        self._said += self._answer(data)

    def transmit(self, frames_max: int | None = None) -> bytes:
        said, self._said = self._said, b""
        return said
