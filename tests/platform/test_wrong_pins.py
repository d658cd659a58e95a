"""Wrong PINs are counted over a power cycle, which ends no wait."""

import errno
import itertools
import os
from collections.abc import Callable
from hashlib import pbkdf2_hmac
from pathlib import Path
from typing import Any

import pytest

from firmware_py.console.grammar import ConsoleError
from firmware_py.console.pin import DELAY_S_MAX, RELOCK_S, UNLOCKED, PinHash, PinLock
from firmware_py.journal import Disk
from firmware_py.journal.disk import PARTS_MAX
from firmware_py.platform.wrong_pins import COUNT_MAX, WrongPinsOnDisk
from tests.budget import either
from tests.journal.simulated_disk import Fault, PowerLoss, PowerLostError, SimulatedDisk
from tests.strange_files import link, second_name

PIN = "271828"
SALT = b"0123456789abcdef"
ITERATIONS = 1000  # the fewest there may be: here nobody computes them all
STORED = PinHash(ITERATIONS, SALT, pbkdf2_hmac("sha256", PIN.encode(), SALT, ITERATIONS))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wrong-pins"


def switch_on(path: Path) -> tuple[PinLock, list[float]]:
    """Return the lock of a firmware that was just started, and its clock, which begins anew."""
    clock = [0.0]
    return PinLock(STORED, lambda: clock[0], WrongPinsOnDisk(path)), clock


def wait_for(lock: PinLock, pin: str) -> float:
    """Return how long the lock says that the next one has to wait."""
    with pytest.raises(ConsoleError) as refusal:
        lock.enter(pin)
    return float(str(refusal.value).split()[-2])


def test_switching_off_does_not_end_the_wait(path: Path) -> None:
    lock, clock = switch_on(path)
    for wait_s in (1, 2, 4, 8):
        assert wait_for(lock, "0000") == wait_s
        clock[0] += wait_s

    lock, clock = switch_on(path)
    assert wait_for(lock, PIN) == 8
    clock[0] += 8
    assert wait_for(lock, "0000") == 16
    clock[0] += 16
    lock.enter(PIN)
    assert wait_for(lock, "0000") == 1


def test_a_right_one_begins_the_count_again_for_the_next_start_too(path: Path) -> None:
    lock, clock = switch_on(path)
    wait_for(lock, "0000")
    clock[0] += 1
    lock.enter(PIN)
    switch_on(path)[0].enter(PIN)
    assert path.stat().st_size == 0


def test_one_is_counted_before_it_is_looked_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or else who cuts the power at the answer tries for nothing."""

    def power_goes(*_: object) -> bool:
        raise KeyboardInterrupt

    lock, _ = switch_on(path)
    monkeypatch.setattr(PinHash, "is_of", power_goes)
    with pytest.raises(KeyboardInterrupt):
        lock.enter("0000")
    assert wait_for(switch_on(path)[0], PIN) == 1


@pytest.mark.parametrize("name", ["open", "size"])
def test_one_read_error_at_the_start_ends_no_wait(path: Path, name: str) -> None:
    disk = SimulatedDisk()
    for _ in range(4):
        WrongPinsOnDisk(path, disk).expect()
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
                WrongPinsOnDisk(path, disk).expect()
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
        assert wrong.expect()
    assert path.stat().st_size == COUNT_MAX
    assert wait_for(switch_on(path)[0], PIN) == DELAY_S_MAX


HOUR_S = 3600
GUESSES_PER_HOUR_MAX = 15
LIVES_S = (2, 100, 599, 601, 700, HOUR_S)  # from one power cut to the next


class BadDisk(Disk):
    """A disk on which some calls fail, and syncing takes no time."""

    def __init__(self, error: int = 0, *failing: str) -> None:
        self._error, self._failing = error, failing

    def __getattribute__(self, name: str) -> Any:
        if name in object.__getattribute__(self, "_failing"):
            error = object.__getattribute__(self, "_error")
            raise OSError(error, os.strerror(error))
        return super().__getattribute__(name)

    def fsync(self, handle: int) -> None:
        """Leave it to the system."""


def a_link(path: Path) -> None:
    path.with_name("outside").touch()
    link(path)


def a_part_that_stays(path: Path) -> None:
    path.with_name(f"{path.name}.part").mkdir()


def bytes_of(size: int) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        path.touch()
        os.truncate(path, size)

    return put


WHATEVER: dict[str, tuple[Callable[[Path], None], Disk]] = {
    "a link": (a_link, BadDisk()),
    "a link that leads nowhere": (lambda path: path.symlink_to("nowhere"), BadDisk()),
    "a link to itself": (lambda path: path.symlink_to(path), BadDisk()),
    "a directory": (Path.mkdir, BadDisk()),
    "a pipe": (os.mkfifo, BadDisk()),
    "nothing": (lambda _: None, BadDisk()),
    "no byte": (bytes_of(0), BadDisk()),
    "garbage": (bytes_of(10_000), BadDisk()),
    "a sparse terabyte": (bytes_of(2**40), BadDisk()),
    "what may not be read": (bytes_of(0), BadDisk(errno.EACCES, "open")),
    "what has no size": (bytes_of(0), BadDisk(errno.EIO, "size")),
    "a full disk": (bytes_of(0), BadDisk(errno.ENOSPC, "write")),
    "a disk without a free file": (bytes_of(0), BadDisk(errno.ENOSPC, "create")),
    "a disk that keeps its names": (bytes_of(0), BadDisk(errno.EROFS, "rename")),
    "a disk that syncs nothing": (bytes_of(0), BadDisk(errno.EIO, "fsync")),
    "a directory that is not synced": (bytes_of(0), BadDisk(errno.EIO, "fsync_directory")),
    "a part of it that cannot be removed": (a_part_that_stays, BadDisk()),
}


def guesses_in(hour_s: float, life_s: float, path: Path, disk: Disk) -> int:
    """Return how many wrong PINs are looked at by a device switched off and on all the time."""
    clock, guesses = [0.0], 0
    while clock[0] < hour_s:
        lock = PinLock(STORED, lambda: clock[0], WrongPinsOnDisk(path, disk))
        off_s = min(clock[0] + life_s, hour_s)
        while clock[0] < off_s:
            with pytest.raises(ConsoleError) as refusal:
                lock.enter("0000")
            words = str(refusal.value)
            guesses += words.startswith("wrong PIN;")
            clock[0] += min(float(words.split()[-2]), off_s - clock[0])
    return guesses


@pytest.mark.parametrize("there", WHATEVER)
def test_whatever_the_file_is_there_are_fifteen_guesses_an_hour(path: Path, there: str) -> None:
    put, disk = WHATEVER[there]
    for life_s in LIVES_S[:: either(2, 1)]:
        directory = path.parent / str(life_s)
        directory.mkdir()
        put(directory / path.name)
        guesses = guesses_in(HOUR_S, life_s, directory / path.name, disk)
        assert guesses <= GUESSES_PER_HOUR_MAX, life_s


@pytest.mark.parametrize("there", WHATEVER)
def test_whatever_the_file_is_the_right_one_opens_after_ten_minutes(path: Path, there: str) -> None:
    put, disk = WHATEVER[there]
    put(path)
    clock = [0.0]
    lock = PinLock(STORED, lambda: clock[0], WrongPinsOnDisk(path, disk))
    clock[0] = DELAY_S_MAX
    lock.enter(PIN)
    clock[0] += RELOCK_S
    lock.enter(PIN)
    assert lock.state == UNLOCKED


def test_a_disk_that_works_again_ends_the_wait_for_it(path: Path) -> None:
    parts = [path.with_name(f"wrong-pins.part{number or ''}") for number in range(PARTS_MAX)]
    for part in parts:
        part.mkdir()
    lock, clock = switch_on(path)
    with pytest.raises(ConsoleError) as refusal:
        lock.enter(PIN)
    assert str(refusal.value) == (
        "wrong PINs cannot be counted on the disk: the first one is looked at in 600 s"
    )
    parts[-1].rmdir()
    assert wait_for(lock, "9999") == 1.0  # as the first wrong one of any disk
    clock[0] = 1.0
    lock.enter(PIN)


@pytest.mark.parametrize("put", [link, second_name])
def test_it_is_written_through_no_link(path: Path, put: Callable[[Path], None]) -> None:
    outside = path.with_name("outside")
    outside.write_bytes(b"not yours")
    put(path)
    wrong = WrongPinsOnDisk(path)
    assert wrong.expect()
    assert path.stat().st_size > 0
    wrong.clear()
    assert outside.read_bytes() == b"not yours"


@pytest.mark.parametrize("there", ["a link", "a link that leads nowhere", "a pipe", "garbage"])
def test_what_is_in_its_place_makes_way_for_the_count(path: Path, there: str) -> None:
    WHATEVER[there][0](path)
    wrong = WrongPinsOnDisk(path)
    assert wrong.count() >= COUNT_MAX, "nobody knows how many there were"
    assert wrong.expect()
    assert path.stat().st_size == COUNT_MAX
    wrong.clear()
    assert WrongPinsOnDisk(path).count() == 0
