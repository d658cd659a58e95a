"""Nothing that came from a file acts on a terminal, a line or a page, by whatever command."""

import itertools
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.console.console import OWN_COMMANDS
from firmware_py.operator.commands import COMMANDS as CONSOLE_COMMANDS
from firmware_py.terms.printable import printable
from host_tools.main import COMMANDS as HOST_COMMANDS
from tests.fuzz.commands import COMMANDS, SLOW, check, is_harmless
from tests.fuzz.hostile import NAMES, journals_full_of
from tests.fuzz.served import DATA, answers_to
from tests.journal.simulated_disk import SimulatedDisk

ROOT: Final = Path(__file__).parents[1]
# It clears a screen, begins a line that looks like one of a list, and turns the direction.
ACTING: Final = "\x1b[2J\x9b31m\r\n2,complete\u2028\u202e\u2066x\u200b\x07\ttab"
SLOW_JOURNALS: Final = 2
# These read no journal; what they show of a firmware's console is shown as any line is.
OF_NO_JOURNAL: Final = {
    "budget", "demo", "workbench", "listen", "simulate", "console", "calibrate",
    "install-board", "study", "learn-prior", "nhanes", "doctor", "completion",
    "tune", "update", "page",
}  # fmt: skip
TYPED: Final = (
    "HELP", "*IDN?", "*TST?", "*CLS", "SYST:ERR?", "SYST:VERS?", "SYST:TIME?", "SYST:PIN?",
    "SYST:PIN 4711", "SYST:LOCK", "SYST:EVEN ON", "SYST:EVEN?", "SESS:STAR ID=P-17", "SESS:CONT",
    "SESS:HEAR OTHER", "SESS:EAR LEFT", "SYST:TEST?", "TONE:LIM?",
    "SESS:DISC LEFT=1000:95", "SESS:DISC?",
    "SESS:PAUS", "SESS:ABOR", "SESS:STAT?", "SESS:RES?", "SESS:MEAN?", "THR?", "AUD",
    "TONE LEFT,1000,40", "TONE:STOP", "CAL?", "CAL:LIM?", "CAL:TONE?", "CAL:MIC?",
    "CAL:NOB",
    "CAL:TONE LEFT,1000,-30",
    "CAL:STOP", "SETT?",
    "SETT pulses,2", "*RST", "SESS:LIST? 50", "SYST:EXIT",
)  # fmt: skip


@cache
def acting_journals() -> list[bytes]:
    return list(journals_full_of(ACTING))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("every", [20, pytest.param(3, marks=pytest.mark.thorough)])
def test_no_host_command_lets_anything_act(command: list[str], every: int, tmp_path: Path) -> None:
    journals = acting_journals()
    assert len(journals) > 100
    # Every place is seen by many commands, and every command sees every kind of place.
    some = journals[COMMANDS.index(command) % every :: every]
    names = itertools.cycle(dict.fromkeys(NAMES))
    for number, content in enumerate(some[-SLOW_JOURNALS:] if command in SLOW else some):
        inside = tmp_path / str(number)
        inside.mkdir()
        journal = inside / next(names)
        journal.write_bytes(content)
        check(command, journal)


def test_every_command_of_the_host_was_walked_or_reads_no_journal() -> None:
    walked = {command[0] for command in COMMANDS}
    assert walked | OF_NO_JOURNAL == {command.name for command in HOST_COMMANDS}
    assert not walked & OF_NO_JOURNAL


def test_no_command_of_the_console_lets_anything_act() -> None:
    journals = acting_journals()
    for newest in (0, 1):  # it is refused, or gone on with
        some = journals[newest::40][:50]
        disk = SimulatedDisk()
        for number, content in enumerate(some, 1):
            disk.put(DATA / f"session-{number:06d}.journal", content)
        asked = [
            f"{query}{number}"
            for query in ("SESS:RES? ", "THR? ", "AUD ")
            for number in range(1, len(some) + 1)
        ]
        lines = [*TYPED[:-2], *asked, *["SYST:ERR?"] * 20, "SYST:EVEN OFF", *TYPED[-2:]]
        told = answers_to(disk, lines, CalibrationOnFile(fault=f"{ACTING}.toml: cannot be read"))
        assert all(is_harmless(each) for line in told for each in line)
        entries = told[-2].split(";")
        assert len(entries) == len(some), "each is one entry"
        assert all(entry.count(",") == 4 for entry in entries)


def test_what_is_printed_goes_through_the_edge() -> None:
    """By one function: of host commands, nothing else prints a line that is not its own text."""
    printing = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "host_tools").rglob("*.py")
        if "research" not in path.parts
        and re.search(r"(?m)^\s*print\(|sys\.std(out|err)\.write\(", path.read_text())
    }
    own_texts = {
        "host_tools/commands/completion.py",
        "host_tools/commands/export/command.py",  # a document, as it would be in a file
    }
    assert printing == {"host_tools/terminal.py", *own_texts}


def test_every_command_of_the_console_is_typed() -> None:
    headers = {line.split()[0] for line in TYPED}
    for row in (*OWN_COMMANDS, *CONSOLE_COMMANDS):
        assert any(row.pattern.fullmatch(header) for header in headers), row.header


def test_what_acts_is_spelt_out_and_all_else_is_left() -> None:
    assert printable(ACTING).isprintable()
    assert printable("a\x1b\n\u202eb\ud800") == "a\\x1b\\n\\u202eb\\ud800"
    assert printable("患者7, Zoë, ±5 dB") == "患者7, Zoë, ±5 dB"
    assert printable(printable(ACTING)) == printable(ACTING)
