"""Board, listener and firmware in the test's process, in place of processes joined by ptys."""

import argparse
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from device.simulator.aid import SimulatedAid
from device.simulator.listener import Listener
from device.simulator.virtual_clock import microseconds
from device.simulator.world import World
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.installation.configuration import Configuration
from firmware_py.operator.console_connection import SILENCE_S
from firmware_py.platform.own_prior import OwnPrior
from host_tools.commands.console import command as console
from host_tools.commands.console.command import Talk
from host_tools.commands.workbench import OperatorsEnd
from host_tools.devices.patience import Wait
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Simulator
from host_tools.devices.simulation import Started, listener_of

# How long a look at the console takes at most that waits for nothing: while there is a test it goes
# on until something is said, and without one an operator may be slow.
LOOK_AT_TEST_S: Final = 10.0
LOOK_S: Final = 0.02
# Of a busy machine who looks may look often before who types is there: time waits for them, or the
# operator would seem to have left.
UNTYPED_S: Final = 0.5 * SILENCE_S


class Board(Simulator):
    port = "/dev/tone-generator"

    def __init__(self) -> None:
        """Start nothing."""

    def work_s(self) -> float:
        return 0.0


class Device(FirmwareProcess):
    """A firmware that goes on whenever somebody looks at its console, in no time.

    Two threads may use it: who types, and who reads.

    Attributes
    ----------
    world : World
    when_said : tuple of str and callable, optional
        What happens, once, when the console has said these words.
    stands_still : bool
        Nothing happens but that what is typed is answered: a state stays until somebody saw it.
    """

    def __init__(
        self,
        data: Path,
        listener: Listener,
        configuration: Configuration | None = None,
        calibration: CalibrationOnFile = NO_CALIBRATION,
        aid: SimulatedAid | None = None,
    ) -> None:
        self.world = World(
            data, listener, configuration=configuration, calibration=calibration, aid=aid
        )
        self.kills = 0
        self.when_said: tuple[str, Callable[[], object]] | None = None
        self.stands_still = False
        self.lock = threading.RLock()
        self._typed_us = 0
        self._is_there, self._was_killed = True, False

    def work_s(self) -> float:
        return 0.0

    def wait_for(self, what: str) -> Wait:
        return Wait("the firmware", what, self.work_s)

    def hear(self, wait: Wait) -> None:
        """It says nothing but at its console."""

    def kill(self) -> bool:
        with self.lock:
            if not self._is_there:
                return False
            self._was_killed = True
            self.end()
            return True

    def has_ended(self) -> bool:
        return not self._is_there

    def restart_if_killed(self) -> bool:
        with self.lock:
            if not self._was_killed:
                return False
            self.kills += 1
            self.world.restart()
            self._is_there, self._was_killed = True, False
            return True

    def wait(self) -> int:
        with self.lock:
            while self._is_there:
                self._step()
            return 0

    def end(self) -> None:
        with self.lock:
            if self._is_there:
                self._is_there = False
                self.world.close()

    def type(self, octets: bytes) -> None:
        """Have somebody type this; it is lost if there is no firmware."""
        with self.lock:
            if self._is_there:
                self._typed_us = self.world.clock.us
                self.world.console.incoming += octets

    def listen(self, seconds: float) -> str:
        """Go on until something is said, or so much time has passed; return whole lines."""
        with self.lock:
            is_idle = seconds == 0.0 and self.world.runner.session is None
            seconds = seconds or (LOOK_S if is_idle else LOOK_AT_TEST_S)
            until_us = self.world.clock.us + microseconds(seconds)
            if is_idle:
                until_us = min(until_us, self._typed_us + microseconds(UNTYPED_S))
            while self._is_there and not self.world.heard and self.world.clock.us < until_us:
                if self.stands_still and not self.world.console.incoming:
                    break
                self._step()
            heard, self.world.terminal.heard = self.world.heard, ""
            if self.when_said and self.when_said[0] in heard:
                happen, self.when_said = self.when_said[1], None
                happen()
            return heard

    def _step(self) -> None:
        self.world.step()
        if self.world.firmware.is_stopping:
            self.end()


class Cable(ConsoleLine):
    """The operator's end of a cable to such a firmware."""

    port = "/dev/console"

    def __init__(self, device: Device) -> None:
        self._device = device
        self._unread: deque[str] = deque()

    def send(self, line: str | bytes) -> None:
        self._device.type((line.encode() if isinstance(line, str) else line) + b"\n")

    def lines(self, timeout_s: float) -> Iterator[str]:
        if not self._unread:
            self._unread += self._device.listen(timeout_s).splitlines()
        while self._unread:
            yield self._unread.popleft()

    def close(self) -> None:
        """There is nothing to close."""


@contextmanager
def talks_with(
    device: Device, command: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Have the conversations that a command opens, whatever the port, be with this device."""

    def talk(_url: str, show: Callable[[str], None]) -> Talk:
        return Talk(OperatorsEnd(Cable(device), device), show)

    with monkeypatch.context() as patch:
        patch.setattr(command, "Talk", talk)
        patch.setattr(console, "POLL_S", 0.001)  # between two looks at what costs no time
        try:
            yield
        finally:
            device.end()


class Benches:
    """What `demo` and `workbench` start in a test; `prepare` is given each firmware first."""

    def __init__(self) -> None:
        self.prepare: Callable[[Device], None] = lambda _: None
        self.devices: list[Device] = []

    @contextmanager
    def start_devices(
        self, arguments: argparse.Namespace, data: Path, _tell: object, hearing_aid: str = ""
    ) -> Iterator[Started]:
        aid = SimulatedAid() if hearing_aid else None
        own = None if arguments.prior is None else OwnPrior.read(arguments.prior)
        device = Device(data, listener_of(arguments), Configuration(prior=own), aid=aid)
        self.devices.append(device)
        self.prepare(device)
        try:
            yield Started(Board(), Cable(device), device)
        finally:
            device.end()
