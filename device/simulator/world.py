"""A whole device in one process and in no time: firmware, ports, board, listener and operator.

The firmware is the real one, its loop and console included; there is no thread, and no port of the
system. Time stands still while anything is done, and jumps to the next moment at which anything is
due while the firmware waits: a test of minutes takes a part of a second, and is the same each time.
"""

import itertools
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from device.simulator.aid import SimulatedAid
from device.simulator.listener import Listener
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.stepped import SteppedFirmware
from device.simulator.surroundings import Surroundings
from device.simulator.virtual_clock import S
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.firmware import Ports
from firmware_py.installation.configuration import Configuration
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.supervisor import Supervisor
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.settings import Settings

STEPS_MAX: Final = 100_000  # a session of two ears has some five thousand
TURNS_MAX: Final = 100  # of the loop without time passing; usually some five
NONCES_OF_A_START: Final = 0x10000
UNASKED: Final = "! "  # how a line begins that answers nothing


class World(Surroundings):
    """A device, and all around it, gone through step by step (`until`, `ask` ...).

    Parameters
    ----------
    directory : Path
        Of the journals.
    listener : Listener, optional
        Who sits at the board; without one, and without a board, nobody answers at its port.
    boot : int
        The number of this start of the board.
    speed : int
        How many times faster than the wire the test and the board run, as in a demonstration.
    board : SimulatedBoard, optional
        Another board than the usual one.
    data : callable
        Returns the data directory that is at a path.
    aid : SimulatedAid, optional
        A hearing aid that can be tuned here.
    wait : bool
        Whether the firmware waits for a board that is not there yet.

    Attributes
    ----------
    starts : bool
        Whether the firmware is started at once.
    ready : str
        What the firmware said when it was ready; empty: it was not yet.
    """

    starts = True

    def __init__(  # noqa: PLR0913 - each is a part of the world
        self,
        directory: Path,
        listener: Listener | None = None,
        *,
        boot: int = 0xB007,
        speed: int = 1,
        calibration: CalibrationOnFile = NO_CALIBRATION,
        board: SimulatedBoard | None = None,
        data: Callable[[Path], DataDirectory] = DataDirectory,
        configuration: Configuration | None = None,
        aid: SimulatedAid | None = None,
        wait: bool = False,
    ) -> None:
        if board is None and listener is not None:
            board = SimulatedBoard(listener, boot=boot, host_silence_us=speed * S)
        super().__init__(board, speed, aid)
        self.calibration, self._data_at = calibration, data
        self.configuration, self._waits = configuration or Configuration(), wait
        self._nonces = itertools.count(1)
        self._power_on(directory)
        if self.starts:
            self.firmware.start()

    def _power_on(self, directory: Path) -> None:
        self.plug_in()
        self.directory, self.ready = directory, ""
        self.data = self._data_at(directory)
        aids = self.aids if self.aid is not None else None
        ports = Ports(self.tones, self.console, aids, self._waits)
        self.firmware = SteppedFirmware(
            self.configuration, ports, self.data, self.clock, lambda: f"{next(self._nonces):08x}",
            Supervisor({}, self._is_ready), self.calibration,
        )  # fmt: skip
        firmware = self.firmware
        self.runner, self.client = firmware.runner, firmware.client
        self.meter_tone = firmware.meter_tone
        self.told, self.notices, self.wrong = firmware.told, firmware.notices, firmware.wrong

    def _is_ready(self, words: str) -> None:
        self.ready = words

    # Tests

    def begin(self, settings: Settings | None = None, person: Person = UNKNOWN) -> None:
        """Meet the board, and start a test."""
        self.until(lambda: self.client.connected)
        self.runner.begin(settings or Settings(), person)

    def finish(self) -> None:
        self.until(lambda: self.runner.session is None)

    def live(self, changes: Mapping[str, Any] | None = None) -> Path:
        """Run a whole session with these settings changed, close, and return the journal."""
        self.begin(Settings.from_record(dict(changes or {})))
        return self.end()

    def end(self) -> Path:
        """Go on until the test is over, close, and return the journal."""
        self.finish()
        self.close()
        return self.journal()

    def journal(self) -> Path:
        return self.data.journals()[-1]

    def ask(self, line: str) -> list[str]:
        """Type a line now, and return the lines of its answer."""
        before = len(self.heard)
        self.terminal.type_now(line)
        self.firmware.step()
        lines = self.heard[before:].split("\r\n")[:-1]
        return [each for each in lines if not each.startswith(UNASKED)]

    def errors(self) -> list[str]:
        """Return all errors that the firmware has for the operator."""
        return [*iter(lambda: self.ask("SYST:ERR?")[0], '0,"No error"')]

    # Steps

    def until(self, come: Callable[[], bool]) -> None:
        for _ in range(STEPS_MAX):
            if come():
                return
            self.step()
        raise AssertionError(f"it did not come in {STEPS_MAX} steps; last told: {self.told[-5:]}")

    def run(self, duration_us: int) -> None:
        end_us = self.clock.us + duration_us
        self.until(lambda: self.clock.us >= end_us)

    def step(self) -> None:
        """Do all that is due, and let time pass until there is more."""
        for _ in range(TURNS_MAX):
            self.carry()
            self.has_sent = False
            self.firmware.step()
            if self.firmware.is_stopping or not (self.has_sent or self.is_anything_ready()):
                break
        else:
            raise AssertionError(f"bytes go back and forth for ever; last told: {self.told[-5:]}")
        self.firmware.let_time_pass()

    def close(self) -> None:
        """Leave what is open, as a firmware that is killed does; what was recorded is recorded."""
        self.firmware.leave()
        with suppress(OSError):
            self.data.close()

    def restart(self) -> None:
        """Kill the firmware, and start it again."""
        self.close()
        self._nonces = itertools.count(next(self._nonces) + NONCES_OF_A_START)
        self._power_on(self.directory)
        self.firmware.start()

    def fork(self, directory: Path) -> Self:
        """Return the world in which the firmware was killed here and started again.

        Its disk holds what is on the disk here now; the board, which has its own power, goes on.
        """
        shutil.copytree(self.directory, directory)
        other = self.parallel()
        other._nonces = itertools.count(NONCES_OF_A_START)
        other._power_on(directory)
        other.firmware.start()
        return other


class WholeRun(World):
    """A device whose firmware runs from its start to its end."""

    starts = False

    def run_out(self) -> str:
        """Run the firmware until it ends; return all that was said to the operator."""
        try:
            self.firmware.run()
        finally:
            with suppress(OSError):
                self.data.close()
        return self.heard
