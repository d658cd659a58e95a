"""A console at which somebody types, of a device whose data directory has hostile journals."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from device.simulator.clock import VirtualClock
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.configuration import Configuration
from firmware_py.firmware import Firmware, FirmwareError, Ports
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.ports import Port
from tests.fuzz.commands import is_harmless
from tests.fuzz.hostile import TEXTS, Choices, hostile_journal
from tests.journal.simulated_disk import SimulatedDisk

DATA: Final = Path("/data")
LINES: Final = (
    "SESS:LIST?", "SESS:LIST? 50", "SESS:RES? {}", "THR? {}", "THR? LEFT,{}", "AUD {}",
    "SESS:STAT?", "SESS:MEAN?",
    "SESS:RES?", "THR?", "AUD", "SESS:PAUS", "SESS:CONT", "SESS:ABOR", "SYST:EVEN ON", "SYST:ERR?",
    "*TST?", "CAL?", "CAL:LIM?", "SETT?", "HELP", "*RST", "*CLS", "*IDN?", "SYST:VERS?",
    "SESS:STAR ID=P",
    "SYST:PIN?", "SYST:TIME?", "TONE LEFT,1000,40", "CAL:TONE?", "SETT tones_max,{}", "{}",
)  # fmt: skip
NUMBERS: Final = ("1", "2", "3", "0", "999999999", "-1", "1.5", "LEFT", *TEXTS)
TYPED_MAX: Final = 8
JOURNALS_MAX: Final = 2
TURNS_MAX: Final = 2000


class Line(Port):
    """A serial port in memory: what is typed comes in, what is answered is kept."""

    is_open = False

    def __init__(self, typed: bytes = b"") -> None:
        super().__init__("/dev/fuzz", "")
        self._typed = typed
        self.told = b""

    def open(self) -> None:
        self.is_open = True

    def close(self) -> None:
        self.is_open = False

    def read(self) -> bytes:
        typed, self._typed = self._typed, b""
        return typed

    def write(self, data: bytes) -> None:
        self.told += data

    def drain(self, seconds: float, *_clocks: object) -> None:
        pass

    @property
    def is_full(self) -> bool:
        return False


class Clock(VirtualClock):
    """A clock that goes on by what is waited; it is also what the loop waits with."""

    def __init__(self) -> None:
        super().__init__(1)
        self.turns = 0

    def world_s(self) -> float:
        return self.us / 1e6

    def of_wire(self) -> VirtualClock:
        return self

    def waiting(self) -> "Clock":
        return self

    def wait(self, ports: Sequence[Port], seconds: float) -> None:
        self.turns += 1
        assert self.turns < TURNS_MAX, "the firmware does not end"
        self.sleep(max(seconds, 1e-3))

    def sleep(self, seconds: float) -> None:
        self.us += round(1e6 * seconds)

    def ring(self) -> None:
        pass

    def close(self) -> None:
        pass


def served(data: bytes, _directory: Path) -> None:
    """A device starts whatever journals it has, and every answer is a line that acts on nothing."""
    choices = Choices(data)
    disk = SimulatedDisk()
    numbers = range(1, 2 + choices.below(JOURNALS_MAX))
    for number in numbers:
        disk.put(DATA / f"session-{number:06d}.journal", hostile_journal(choices))
    typed = [
        choices.of(LINES).format(choices.of(NUMBERS)) for _ in range(1 + choices.below(TYPED_MAX))
    ]
    lines = [*typed, "SYST:EVEN OFF", "SESS:LIST?", "*IDN?", "SYST:EXIT"]
    console = Line("".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogatepass"))
    told = told_by(disk, console)
    assert all(is_harmless(each) for line in told for each in line), told
    listed, identity, done = told[-3:]
    assert (identity.startswith("GP-PTA,"), done) == (True, "OK"), told
    assert listed.count(";") == len(numbers) - 1, told


def told_by(
    disk: SimulatedDisk, console: Line, calibration: CalibrationOnFile = NO_CALIBRATION
) -> list[str]:
    """Return the lines that a firmware says to what is typed."""
    clock, nonces = Clock(), itertools.count(1)
    firmware = Firmware(
        Configuration(), Ports(Line(), console), DataDirectory(DATA, disk=disk), clock,
        lambda: f"{next(nonces):08x}", calibration=calibration,
    )  # fmt: skip
    try:
        firmware.run()
    except FirmwareError as error:
        raise AssertionError(f"the firmware ends: {error}") from error
    told = console.told.decode()
    assert told.endswith("\r\n")
    return told.removesuffix("\r\n").split("\r\n")
