"""Crash sweeps: power lost, or a call failing, at every place in turn, also within recovery.

Method, after SQLite's crash tests: run a session on a disk in memory and let it fail at call
1, 2, 3 ... until a run meets no fault.  After each failure look at every disk that may be left,
recover, and demand: what a sync returned for is there, everything else whole or absent, no byte
found is lost, the journal goes on and is sealed.
"""

import errno
import itertools
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from firmware_py.journal import (
    JournalDamagedError,
    JournalError,
    JournalReadError,
    JournalWriteError,
    JournalWriter,
    SealKey,
    first_broken,
    is_recovery_note,
)
from firmware_py.journal.recovery import cut_path, saved_cuts
from tests.journal.simulated_disk import Fault, PowerLoss, PowerLostError, SimulatedDisk

PATH = Path("/data/s.jsonl")
FAULTS_MAX = 100
AFTER = {"kind": "note", "what": "after"}
BATCHES: list[list[dict[str, Any]]] = [
    [{"kind": "output", "what": "tone", "level_db_hl": 42.5}],
    [{"kind": "input", "what": "button-down", "us": us} for us in (81250113, 81250999, 81251777)],
    [{"kind": "end"}],
]
KEY = SealKey(bytes(range(32)))
GIVEN = [
    {"kind": "header", "journal": 3, "seal_key": KEY.name, "seed": 1},
    *itertools.chain(*BATCHES),
]


class Session:
    """A session that counts the records whose sync has returned."""

    def __init__(self) -> None:
        self.acknowledged = 0

    def run(self, disk: SimulatedDisk) -> None:
        with JournalWriter.create(PATH, {"seed": 1}, disk=disk, seal_key=KEY) as writer:
            self.acknowledged = 1
            for batch in BATCHES:
                for record in batch:
                    writer.append(record)
                writer.sync()
                self.acknowledged += len(batch)


def holds(disk: SimulatedDisk, content: bytes | None) -> bool:
    """Return whether a journal and its cuts still have all bytes that were found once."""
    if content is None:
        return True
    journal = disk.content(PATH) or b""
    found = [journal[: len(content)]]
    for offset, suffix in saved_cuts(disk, PATH):
        found.append(journal[:offset] + (disk.content(cut_path(PATH, suffix)) or b""))
    return content in found


def check(disk: SimulatedDisk, acknowledged: int, where: object) -> None:
    """Recover, demand all promises, go on, and demand them again."""
    before = disk.content(PATH)
    try:
        writer, recovered = JournalWriter.resume(PATH, disk=disk, seal_key=KEY)
    except JournalDamagedError as error:
        raise AssertionError(f"{where}: a power loss is no damage") from error
    except JournalReadError:
        assert acknowledged == 0, f"{where}: the journal is lost"
        assert disk.content(PATH) == before, where
        return
    data = [record for record in recovered.records if not is_recovery_note(record)]
    assert len(data) >= acknowledged, f"{where}: a synced record is lost"
    assert data == GIVEN[: len(data)], where
    assert holds(disk, before), f"{where}: bytes are lost"
    check_notes(disk, list(recovered.records), where)
    check_going_on(disk, writer, list(recovered.records), where)


def check_notes(disk: SimulatedDisk, records: list[dict[str, Any]], where: object) -> None:
    """Demand that each saved cut is noted once, with its size and place."""
    noted = [(r["offset"], r["saved_as"], r["bytes"]) for r in records if is_recovery_note(r)]
    saved = [
        (offset, suffix, len(disk.content(cut_path(PATH, suffix)) or b""))
        for offset, suffix in saved_cuts(disk, PATH)
    ]
    assert sorted(noted) == sorted(saved), where


def check_going_on(
    disk: SimulatedDisk, writer: JournalWriter, records: list[dict[str, Any]], where: object
) -> None:
    """Demand that the resumed writer writes, that it lasts, and that resuming again is idle."""
    if records[-1]["kind"] != "end" and GIVEN[-1] not in records:
        writer.append(AFTER)
        records = [*records, AFTER]
    writer.close()
    rebooted = disk.after_power_loss(PowerLoss.DROPPED)
    paths, content = rebooted.paths(), rebooted.content(PATH) or b""
    again, recovered = JournalWriter.resume(PATH, disk=rebooted, seal_key=KEY)
    again.close()
    assert list(recovered.records) == records, where
    assert recovered.torn_bytes == 0, where
    assert (rebooted.paths(), rebooted.content(PATH)) == (paths, content), where
    assert first_broken(KEY, content.splitlines(keepends=True)) is None, where


def sweep_power() -> int:
    """Lose the power at every change of a session, and again at every one of its recovery."""
    checks = 0
    for at in range(1, FAULTS_MAX):
        session, disk = Session(), SimulatedDisk(Fault(at))
        with suppress(PowerLostError):
            session.run(disk)
        for loss in PowerLoss:
            where = f"power lost at {disk.calls}, {loss}"
            check(disk.after_power_loss(loss, at), session.acknowledged, where)
            checks += 1 + sweep_recovery(disk, loss, at, session.acknowledged)
        if not disk.fault_met:
            return checks
    raise AssertionError("the sweep does not end")


def sweep_recovery(disk: SimulatedDisk, loss: PowerLoss, seed: int, acknowledged: int) -> int:
    """Lose the power at every change of the recovery from a power loss."""
    checks = 0
    for at in range(1, FAULTS_MAX):
        second = disk.after_power_loss(loss, seed, Fault(at))
        found = second.content(PATH)
        try:
            JournalWriter.resume(PATH, disk=second, seal_key=KEY)
        except PowerLostError:
            pass
        except JournalReadError:
            assert acknowledged == 0
        if not second.fault_met:
            return checks
        for then in PowerLoss:
            where = f"power lost at {disk.calls}, {loss}; again at {second.calls}, {then}"
            third = second.after_power_loss(then, seed + at)
            assert holds(third, found), f"{where}: bytes are lost"
            check(third, acknowledged, where)
            assert holds(third, found), f"{where}: bytes are lost"
            checks += 1
    raise AssertionError("the sweep does not end")


def sweep_errors(error: int, *, for_ever: bool) -> int:
    """Let every call of a session fail; go on with the machine up, and after a power loss."""
    for at in range(1, FAULTS_MAX):
        session, disk = Session(), SimulatedDisk(Fault(at, error, for_ever))
        failed = False
        try:
            session.run(disk)
        except JournalWriteError:
            failed = True
        where = f"{errno.errorcode[error]} at {disk.calls}"
        for loss in PowerLoss:
            check(disk.after_power_loss(loss, at), session.acknowledged, (where, loss))
        disk.heal()
        check(disk, session.acknowledged, where)
        assert failed == disk.fault_met, f"{where}: a fault must be an error, and only a fault"
        if not failed:
            return at
    raise AssertionError("the sweep does not end")


def test_power_lost_anywhere_loses_nothing_synced() -> None:
    assert sweep_power() > 1000


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_a_call_failing_anywhere_loses_nothing_synced(error: int, for_ever: bool) -> None:
    assert sweep_errors(error, for_ever=for_ever) > 10


@pytest.mark.parametrize("for_ever", [False, True])
def test_a_call_failing_in_recovery_loses_nothing(for_ever: bool) -> None:
    torn = SimulatedDisk(Fault(7))
    session = Session()
    with pytest.raises(PowerLostError):
        session.run(torn)
    for at in range(1, FAULTS_MAX):
        disk = torn.after_power_loss(PowerLoss.HALF, 0, Fault(at, errno.EIO, for_ever))
        found = disk.content(PATH)
        failed = False
        try:
            JournalWriter.resume(PATH, disk=disk, seal_key=KEY)[0].close()
        except JournalError:
            failed = True
        assert failed == disk.fault_met, disk.calls
        disks = [disk.after_power_loss(loss, at) for loss in PowerLoss]
        disk.heal()
        for left in (*disks, disk):
            assert holds(left, found), disk.calls
            check(left, session.acknowledged, disk.calls)
        if not failed:
            break
    assert at > 15


def test_a_disk_that_takes_few_bytes_at_a_time_is_enough() -> None:
    session, disk = Session(), SimulatedDisk(write_bytes_max=7)
    session.run(disk)

    assert disk.calls.count("write") > 50
    check(disk, len(GIVEN), "short writes")
