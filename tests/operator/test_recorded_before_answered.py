"""No command is answered before what it did is on the disk: tried with every command there is."""

import errno
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from device.simulator.aid import SimulatedAid
from device.simulator.world import World
from firmware_py.console.arguments import Argument, Choice, Number
from firmware_py.console.command_row import Command
from firmware_py.console.console import OWN_COMMANDS
from firmware_py.console.grammar import MASS_STORAGE
from firmware_py.operator.commands import COMMANDS
from firmware_py.operator.result_desk import COMMANDS as OF_RESULTS
from firmware_py.operator.setting_desk import COMMANDS as OF_SETTINGS
from firmware_py.operator.tuning_desk import COMMANDS as OF_TUNING
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.sessions.attendance import check_of
from tests.firmware.whole_sessions import a_listener
from tests.journal.simulated_disk import Fault, SimulatedDisk

DATA: Final = Path("/data")
# Those of an update, which other devices have, record in no journal.
OF_THIS_DEVICE: Final = (*OWN_COMMANDS, *COMMANDS, *OF_RESULTS, *OF_SETTINGS, *OF_TUNING)
WORDS: Final = {"PIN": "1234", "NAME": "tones_max", "VALUE": "60", "WORD": "P-1"}
TURNS: Final = 3  # of the loop, after which nothing more happens while time stands still


class Watched(World):
    """A whole device with a hearing aid, on a simulated disk."""

    def __init__(self, heard: bool = True) -> None:
        self.simulated = SimulatedDisk()
        listener = a_listener(lapse_rate=0.0 if heard else 1.0)
        super().__init__(
            DATA, listener, aid=SimulatedAid(),
            data=lambda path: DataDirectory(path, None, self.simulated),
        )  # fmt: skip
        self.until(lambda: self.client.connected and self.firmware.tuner.aid.greeted is not None)

    def bytes_kept(self) -> int:
        """Return how many bytes of journals the disk is bound to keep."""
        journals = (path for path in self.simulated.paths() if path.suffix == ".journal")
        return sum(len(self.simulated.durable(path) or b"") for path in journals)

    def come_to_rest(self) -> None:
        """Have done all that is due before time passes."""
        for _ in range(TURNS):
            self.carry()
            self.firmware.step()

    def until_checked(self, check: str) -> None:
        def is_asked() -> bool:
            session = self.runner.session
            return session is not None and check_of(session.test) == check

        self.until(is_asked)


def idle() -> Watched:
    return Watched()


def in_test() -> Watched:
    world = Watched()
    assert world.ask("SESS:STAR LEFT,SEED=3") == ["OK"]
    world.until(lambda: len(world.board.played) > 2)
    return world


def in_pause() -> Watched:
    world = in_test()
    assert world.ask("SESS:PAUS") == ["OK"]
    return world


def asks_which_ear() -> Watched:
    world = Watched()
    assert world.ask("SETT ear_check,true") == ["OK"]
    assert world.ask("SESS:STAR SEED=3") == ["OK"]
    world.until_checked("ear")
    return world


def asks_who_hears() -> Watched:
    world = Watched(heard=False)
    assert world.ask("SESS:STAR LEFT,SEED=3") == ["OK"]
    world.until_checked("equipment")
    return world


def in_tuning() -> Watched:
    world = Watched()
    assert world.ask("TUNE:STAR SEED=3") == ["OK"]
    tuner = world.firmware.tuner
    world.until(lambda: tuner.session is not None and tuner.session.test.takes_answers)
    return world


def tuning_in_pause() -> Watched:
    world = in_tuning()
    assert world.ask("TUNE:PAUS") == ["OK"]
    return world


ALWAYS: Final = {"SESS:PAUS", "SESS:ABOR", "*RST"}
# What is recorded where: a command that records and is not named here is new.
SITUATIONS: Final[dict[Callable[[], Watched], set[str]]] = {
    idle: {"SESS:STAR", "TUNE:STAR"},
    in_test: ALWAYS,
    in_pause: {*ALWAYS, "SESS:CONT"},
    asks_which_ear: {*ALWAYS, "SESS:CONT", "SESS:EAR"},
    asks_who_hears: {*ALWAYS, "SESS:CONT", "SESS:HEAR"},
    in_tuning: {"TUNE:PAUS", "TUNE:ABOR", "TUNE:ANSW"},
    tuning_in_pause: {"TUNE:PAUS", "TUNE:CONT", "TUNE:ABOR"},
}


def lines_of(command: Command) -> Iterator[str]:
    """Yield lines that ask for a command, with each choice that it has."""
    needed = [each for each in command.arguments if not each.optional]
    for texts in itertools.product(*map(_texts, needed)):
        yield f"{command.short} {','.join(texts)}".strip()


def _texts(argument: Argument) -> list[str]:
    match argument.kind:
        case Choice(choices):
            return [*choices]
        case Number(limits=limits):
            return ["1000" if limits is None else f"{limits[0]:g}"]
    return [WORDS[argument.kind.form]]


def lines_that_record(situation: Callable[[], Watched]) -> Iterator[tuple[str, str]]:
    """Yield each command whose line has a journal grow on a healthy disk, and that line."""
    world = situation()
    for command in OF_THIS_DEVICE:
        for line in lines_of(command):
            world.come_to_rest()
            before = world.bytes_kept()
            world.ask(line)
            if world.bytes_kept() > before:
                yield command.short, line
            if world.bytes_kept() > before or world.firmware.is_stopping:
                world = situation()


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_no_command_is_answered_before_it_is_recorded(situation: Callable[[], Watched]) -> None:
    recording = [*lines_that_record(situation)]
    assert {command for command, _ in recording} == SITUATIONS[situation]
    for (_, line), failing in itertools.product(recording, ("write", "fsync")):
        for call in itertools.count(1):
            world = situation()
            world.come_to_rest()
            before, disk = world.bytes_kept(), world.simulated
            only, at = frozenset({failing}), len(disk.calls) + call
            disk.fail(Fault(at, errno.ENOSPC, for_ever=True, only=only))
            (answer,) = world.ask(line)
            if not disk.fault_met:
                assert answer == "OK"
                break
            assert answer.startswith(f"ERROR {MASS_STORAGE},"), line
            assert call > 1 or world.bytes_kept() == before, line
            assert world.ask("*IDN?")[0].startswith("GP-PTA,")
