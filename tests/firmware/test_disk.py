"""The whole device on a disk that is full, or fills, or cannot be written: its console answers."""

import errno
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.virtual_clock import S
from device.simulator.world import World
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.console.grammar import MASS_STORAGE
from firmware_py.journal import read_journal
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.room_on_disk import TO_END_BYTES, of_test, of_tuning
from firmware_py.sessions.replay import replay
from firmware_py.terms.outcomes import SessionOutcome
from firmware_py.terms.settings import Settings
from tests.budget import quick
from tests.firmware.whole_sessions import ONE_EAR, a_listener
from tests.journal.simulated_disk import FREE_BYTES, Fault, SimulatedDisk
from tests.tuning.bench import Bench

DATA: Final = Path("/data")
FIRST: Final = DATA / "session-000001.journal"
SETTINGS: Final = Settings.from_record(ONE_EAR)
USUAL_BYTES: Final = of_test(Settings())
GROWS: Final = frozenset({"create", "write"})
CHANGES: Final = frozenset({"create", "write", "truncate", "rename", "remove", "fsync"})
LAST_WRITES: Final = 6  # of a session; its result is in one of them


class SmallWorld(World):
    """A whole device on a simulated disk."""

    def __init__(self, free_bytes: int = FREE_BYTES, disk: SimulatedDisk | None = None) -> None:
        self.simulated = disk or SimulatedDisk()
        self.simulated.free = free_bytes
        data = partial(DataDirectory, disk=self.simulated)
        super().__init__(DATA, a_listener("S2"), data=data)
        self.until(lambda: self.client.connected)

    def fail(self, error: int, only: frozenset[str], after: int = 1) -> None:
        """Have every call of these fail from the next one on, or from a later one."""
        self.simulated.fail(
            Fault(len(self.simulated.calls) + after, error, for_ever=True, only=only)
        )

    def play(self, tones: int) -> None:
        self.until(lambda: len(self.board.played) >= tones)

    def records(self, path: Path = FIRST) -> list[Any]:
        return [*read_journal(path, disk=self.simulated).records]


def assert_answers(world: SmallWorld) -> None:
    assert world.ask("*IDN?")[0].startswith("GP-PTA,")
    assert world.ask("SESS:STAT?")[0].startswith("state=idle")
    played = len(world.board.played)
    world.run(5 * S)
    assert world.board.tone is None
    assert len(world.board.played) == played


def has_all(text: str, words: Iterable[str]) -> bool:
    return all(each in text for each in words)


# Before a test


def test_a_disk_without_room_for_a_test_says_so_at_the_start_and_refuses_it() -> None:
    world = SmallWorld(200_000)
    words = ("only 200 kB are free on the disk", f"{-(-USUAL_BYTES // 1000)} kB are needed")

    assert has_all(world.ready, words)
    (error,) = world.errors()
    assert error.startswith(f"{MASS_STORAGE},")
    assert has_all(error, words)
    code, _, parts = world.ask("*TST?")[0].partition(",")
    assert int(code) == 16
    assert has_all(parts.replace(",", ", and"), ["disk FAULT", "only 200 kB are free"])
    (answer,) = world.ask("SESS:STAR")
    assert answer.startswith(f"ERROR {MASS_STORAGE},")
    assert has_all(answer, (*words, "no test was begun"))
    assert world.data.journals() == []
    assert_answers(world)


@pytest.mark.parametrize("short_bytes", [0, 1])
def test_the_self_test_agrees_with_what_is_begun(short_bytes: int) -> None:
    world = SmallWorld(USUAL_BYTES - short_bytes)
    works = world.ask("*TST?")[0].startswith("0,")
    assert works == (world.ask("SESS:STAR") == ["OK"]) == (short_bytes == 0)
    assert ("kB are needed" in world.ready) == (not works)


def test_a_test_that_needs_less_may_be_begun_where_another_is_refused() -> None:
    world = SmallWorld(of_test(Settings(ears="left")))
    assert world.ask("SESS:STAR")[0].startswith(f"ERROR {MASS_STORAGE},")
    assert world.ask("SESS:STAR LEFT") == ["OK"]


def test_a_second_test_is_refused_when_the_first_has_taken_its_room() -> None:
    world = SmallWorld(of_test(SETTINGS))
    assert world.errors()  # a usual test needs more
    world.begin(SETTINGS)
    world.finish()
    assert world.errors() == []
    assert world.runner.last_test is not None
    assert world.runner.last_test.outcome == SessionOutcome.COMPLETE
    for name, value in ONE_EAR.items():
        assert world.ask(f"SETT {name},{value}") == ["OK"]
    assert "no test was begun" in world.ask("SESS:STAR LEFT")[0]
    assert world.data.journals() == [FIRST]


def test_no_tuning_is_begun_without_room_for_it() -> None:
    bench = Bench()
    bench.until(lambda: bench.tuner.aid.greeted is not None)
    greeted = bench.tuner.aid.greeted
    assert greeted is not None
    needed_bytes = of_tuning(TuningSettings(greeted.fit, greeted.ranges_db, greeted.prior_sd_db))
    bench.simulated_disk.free = needed_bytes - 1
    (answer,) = bench.ask("TUNE:STAR")
    assert answer.startswith(f"ERROR {MASS_STORAGE},")
    assert has_all(answer, ["kB are free on the disk", "no tuning was begun"])
    bench.simulated_disk.free = needed_bytes
    assert bench.ask("TUNE:STAR") == ["OK"]


# While one is under way


def test_a_test_ends_with_its_result_while_there_is_room_for_it() -> None:
    world = SmallWorld()
    world.ask("SYST:EVEN ON")
    world.begin(SETTINGS)
    world.play(5)
    world.simulated.free = TO_END_BYTES - 1
    world.finish()

    (error,) = world.errors()
    assert has_all(error, ["session 1 was ended, and its result is kept", "kB are free on the"])
    assert "! finished outcome=aborted" in world.heard
    assert '"code":"no-room"' in world.heard
    state = replay(world.records())
    assert state.result is not None
    assert state.result.outcome == SessionOutcome.ABORTED
    assert state.result.presentations >= 4
    assert world.records()[-1]["kind"] == "end"
    assert world.ask("SESS:STAT?")[0].startswith("state=finished outcome=aborted")
    assert "no test was begun" in world.ask("SESS:STAR")[0]


def test_a_test_under_way_needs_no_more_room_than_to_end() -> None:
    world = SmallWorld()
    world.begin(SETTINGS)
    world.play(5)
    world.simulated.free = TO_END_BYTES + 10_000
    assert world.ask("*TST?")[0].startswith("0,")
    world.run(2 * S)
    assert world.runner.session is not None


def test_a_tuning_ends_with_its_result_while_there_is_room_for_it() -> None:
    bench = Bench()
    bench.tune()
    bench.run_to("speech", 2)
    bench.simulated_disk.free = TO_END_BYTES - 1
    bench.until(lambda: bench.tuner.session is None)
    assert bench.tuner.last_test is not None
    assert bench.tuner.last_test.outcome == SessionOutcome.ABORTED
    path = DATA / "tuning-000001.journal"
    assert read_journal(path, disk=bench.simulated_disk).complete
    assert "tuning 1 was ended, and its result is kept" in bench.ask("SYST:ERR?")[0]


@pytest.fixture(scope="module")
def quiet() -> SmallWorld:
    """Return a device that has finished its test."""
    world = SmallWorld()
    world.begin(SETTINGS)
    world.finish()
    return world


@pytest.mark.parametrize("before_end", quick(range(LAST_WRITES), 0, 1))
@pytest.mark.parametrize(("error", "only"), [(errno.ENOSPC, GROWS), (errno.EROFS, CHANGES)])
def test_a_session_of_which_a_last_write_fails_is_left_and_goes_on_at_the_next_start(
    quiet: SmallWorld, before_end: int, error: int, only: frozenset[str]
) -> None:
    calls = quiet.simulated.calls
    writes = [at for at, name in enumerate(calls, start=1) if name == "write"]
    world = SmallWorld()
    world.simulated.fail(Fault(writes[-1 - before_end], error, for_ever=True, only=only))
    world.begin(SETTINGS)
    world.until(lambda: world.runner.session is None)

    (told,) = world.errors()
    assert told.startswith(f"{MASS_STORAGE},")
    assert has_all(told, ["session 1 is left as it is", "not recorded", "at the next start"])
    assert_answers(world)
    assert world.ask("*TST?")[0].startswith("16,")
    assert world.ask("SESS:STAR LEFT")[0].startswith(f"ERROR {MASS_STORAGE},")
    recorded = world.simulated.durable(FIRST)
    assert recorded is not None
    world.simulated.heal()
    world.restart()
    world.finish()
    whole = world.simulated.durable(FIRST)
    assert whole is not None
    assert whole.startswith(recorded)
    assert replay(world.records()).result == replay(quiet.records()).result


class WithoutOnsets(SimulatedDisk):
    """A disk that takes everything but that a tone has begun."""

    def write(self, handle: int, data: bytes) -> int:
        if b'"what": "tone-on"' in data:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return super().write(handle, data)


def test_a_tone_whose_beginning_cannot_be_recorded_ends_at_once() -> None:
    world = SmallWorld(disk=WithoutOnsets())
    world.board.hand.listener = a_listener(lapse_rate=1.0)  # no press ends it
    world.begin(SETTINGS)
    world.until(lambda: world.runner.session is None)
    world.run(S)
    assert [tone.cut for tone in world.board.played] == [True]


# At a start


def disk_with_a_test() -> SimulatedDisk:
    """Return a disk with a test that was broken off."""
    world = SmallWorld()
    world.begin(SETTINGS)
    world.play(6)
    world.close()
    return world.simulated


@pytest.mark.parametrize("free_bytes", [0, 60_000, None])
def test_an_unfinished_test_is_left_and_named_until_there_is_room_and_it_can_be_written(
    quiet: SmallWorld, free_bytes: int | None
) -> None:
    disk = disk_with_a_test()
    before, few = disk.durable(FIRST), "Read-only file system"
    if free_bytes is None:
        disk.fail(Fault(1, errno.EROFS, for_ever=True, only=CHANGES))
    else:
        few = f"only {free_bytes // 1000} kB are free on the disk"
    world = SmallWorld(FREE_BYTES if free_bytes is None else free_bytes, disk)
    assert "goes on, tones so far" not in world.ready
    assert "no test can be recorded: " in world.ready
    left, full = world.errors()
    assert has_all(left, [FIRST.name, "is left as it is", few, "at the next start"])
    assert has_all(full, ["no test can be recorded", few])
    assert has_all(world.ask("*TST?")[0], ["16,", "disk FAULT, "])
    assert has_all(world.ask("SESS:STAR")[0], [f"ERROR {MASS_STORAGE}", few])
    assert_answers(world)
    assert disk.durable(FIRST) == before

    disk.heal()
    disk.free = FREE_BYTES
    world.restart()
    world.finish()
    assert replay(world.records()).result == replay(quiet.records()).result


def test_a_finished_test_is_shown_from_a_disk_that_is_full(quiet: SmallWorld) -> None:
    disk = SimulatedDisk()
    disk.put(FIRST, quiet.simulated.durable(FIRST) or b"")
    world = SmallWorld(0, disk)
    assert world.ask("SESS:STAT?")[0].startswith("state=finished outcome=complete")
    assert "left=" in world.ask("THR?")[0]


def test_a_tuning_that_was_left_holds_up_no_test() -> None:
    """What the board tells of the test is acknowledged, whatever of the tuning was not recorded."""
    bench = Bench()
    bench.tune()
    bench.run_to("speech", 2)
    disk = bench.simulated_disk
    disk.fail(Fault(len(disk.calls) + 1, errno.ENOSPC, for_ever=True, only=GROWS))
    bench.until(lambda: bench.tuner.session is None)
    disk.heal()
    assert "tuning 1 is left as it is" in bench.ask("SYST:ERR?")[0]
    bench.runner.begin(SETTINGS)
    bench.until(lambda: len(bench.board.played) > 5)
    outbox = bench.board.server.outbox
    assert outbox.newest_event > 8
    assert len(outbox.events) <= 2, "all but the newest are acknowledged"
