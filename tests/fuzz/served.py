"""A console at which somebody types, of a device whose data directory has hostile journals."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from device.simulator.world import WholeRun
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.firmware import FirmwareError
from firmware_py.platform.data_directory import DataDirectory
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


def serve(data: bytes, _directory: Path) -> None:
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
    told = answers_to(disk, lines)
    assert all(is_harmless(each) for line in told for each in line), told
    listed, identity, done = told[-3:]
    assert (identity.startswith("GP-PTA,"), done) == (True, "OK"), told
    assert listed.count(";") == len(numbers) - 1, told


def answers_to(
    disk: SimulatedDisk, lines: Sequence[str], calibration: CalibrationOnFile = NO_CALIBRATION
) -> list[str]:
    """Return the lines that a firmware says to what is typed at once; it has no tone generator."""
    world = WholeRun(
        DATA, data=lambda path: DataDirectory(path, None, disk), calibration=calibration
    )
    world.type("\r\n".join(lines))
    try:
        told = world.run_out()
    except FirmwareError as error:
        raise AssertionError(f"the firmware ends: {error}") from error
    assert told.endswith("\r\n")
    return told.removesuffix("\r\n").split("\r\n")
