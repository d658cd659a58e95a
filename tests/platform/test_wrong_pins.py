"""Wrong PINs are counted over a power cycle, which ends no wait."""

import errno
import itertools
import os
from pathlib import Path

import pytest

from firmware_py.console.grammar import ConsoleError
from firmware_py.console.pin import DELAY_S_MAX, PinHash, PinLock
from firmware_py.platform.wrong_pins import COUNT_MAX, WrongPinsOnDisk
from tests.journal.simulated_disk import Fault, PowerLoss, PowerLostError, SimulatedDisk

PIN = "271828"
STORED = PinHash.of(PIN, b"0123456789abcdef")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wrong-pins"


def switched_on(path: Path) -> tuple[PinLock, list[float]]:
    """Return the lock of a firmware that was just started, and its clock, which begins anew."""
    clock = [0.0]
    return PinLock(STORED, lambda: clock[0], WrongPinsOnDisk(path)), clock


def wait_for(lock: PinLock, pin: str) -> float:
    """Return how long the lock says that the next one has to wait."""
    with pytest.raises(ConsoleError) as refusal:
        lock.enter(pin)
    return float(str(refusal.value).split()[-2])


def test_switching_off_does_not_end_the_wait(path: Path) -> None:
    lock, clock = switched_on(path)
    for wait_s in (1, 2, 4, 8):
        assert wait_for(lock, "0000") == wait_s
        clock[0] += wait_s

    lock, clock = switched_on(path)
    assert wait_for(lock, PIN) == 8
    clock[0] += 8
    assert wait_for(lock, "0000") == 16
    clock[0] += 16
    lock.enter(PIN)
    assert wait_for(lock, "0000") == 1


def test_a_right_one_begins_the_count_again_for_the_next_start_too(path: Path) -> None:
    lock, clock = switched_on(path)
    wait_for(lock, "0000")
    clock[0] += 1
    lock.enter(PIN)
    switched_on(path)[0].enter(PIN)
    assert path.stat().st_size == 0


def test_one_is_counted_before_it_is_looked_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or else who cuts the power at the answer tries for nothing."""

    def power_goes(*_: object) -> bool:
        raise KeyboardInterrupt

    lock, _ = switched_on(path)
    monkeypatch.setattr(PinHash, "is_of", power_goes)
    with pytest.raises(KeyboardInterrupt):
        lock.enter("0000")
    assert wait_for(switched_on(path)[0], PIN) == 1


@pytest.mark.parametrize("name", ["open", "size"])
def test_one_read_error_at_the_start_ends_no_wait(path: Path, name: str) -> None:
    disk = SimulatedDisk()
    for _ in range(4):
        WrongPinsOnDisk(path, disk).add()
    at = len(disk.calls) + 1 + (name == "size")
    disk.fail(Fault(at, errno.EIO, only=frozenset({name})))
    assert WrongPinsOnDisk(path, disk).count() == 4
    assert disk.fault_met


@pytest.mark.parametrize("loss", PowerLoss)
def test_the_power_may_go_at_any_write(path: Path, loss: PowerLoss) -> None:
    for at in itertools.count(1):
        disk = SimulatedDisk(Fault(at))
        counted = 0
        try:
            for _ in range(3):
                WrongPinsOnDisk(path, disk).add()
                counted += 1
        except PowerLostError:
            kept = WrongPinsOnDisk(path, disk.after_power_loss(loss, at)).count()
            assert counted <= kept <= counted + 1
        else:
            break
    assert at > 9  # it went in every write, sync and so on of the three


def test_the_file_stays_small_and_the_wait_at_its_most(path: Path) -> None:
    wrong = WrongPinsOnDisk(path)
    for _ in range(2 * COUNT_MAX):
        wrong.add()
    assert path.stat().st_size == COUNT_MAX
    assert wait_for(switched_on(path)[0], PIN) == DELAY_S_MAX


def test_a_count_that_cannot_be_kept_holds_until_the_power_goes(path: Path) -> None:
    path.parent.rmdir()
    lock, clock = switched_on(path)
    assert wait_for(lock, "0000") == 1
    assert wait_for(lock, PIN) == 1
    clock[0] += 1
    lock.enter(PIN)
    switched_on(path)[0].enter(PIN)


def test_it_is_written_through_no_link(path: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"not yours")
    path.symlink_to(outside)
    wrong = WrongPinsOnDisk(path)
    wrong.add()
    wrong.clear()
    assert outside.read_bytes() == b"not yours"


def test_a_pipe_in_its_place_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    wrong = WrongPinsOnDisk(path)
    wrong.add()
    assert wrong.count() == 1
    wrong.clear()
    assert wrong.count() == 0
