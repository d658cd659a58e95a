"""A data directory with the journals of a year: what is read of them does not grow."""

from pathlib import Path
from typing import Final

from device.simulator.world import World
from firmware_py.platform.data_directory import DataDirectory
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import journal
from tests.journal.simulated_disk import SimulatedDisk

DATA: Final = Path("/data")
FEW, MANY = 12, 1500
FIRST: Final = 1001  # all numbers have four digits


class CountingDisk(SimulatedDisk):
    """Counts which journals were looked at, and how much was read of any."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_at: list[str] = []
        self.read_bytes = 0

    def is_file(self, path: Path) -> bool:
        self.looked_at.append(path.name)
        return super().is_file(path)

    def read(self, handle: int, offset: int, count: int) -> bytes:
        data = super().read(handle, offset, count)
        self.read_bytes += len(data)
        return data

    def cost(self) -> tuple[int, int, int, int]:
        """Return what was done since the last time: files opened and looked at, reads, bytes."""
        found = (
            self.calls.count("open"), len(self.looked_at), self.calls.count("read"),
            self.read_bytes,
        )  # fmt: skip
        self.calls.clear()
        self.looked_at.clear()
        self.read_bytes = 0
        return found


def with_journals(count: int) -> tuple[World, CountingDisk]:
    """Return a device that was just started; none but its newest journals can be read."""
    disk = CountingDisk()
    numbers = range(FIRST, FIRST + count)
    for number in numbers:
        content = journal("left-ear-s2", number) if number in numbers[-FEW:] else b"x"
        disk.put(DATA / f"session-{number:06d}.journal", content)
    world = World(DATA, a_listener(), data=lambda path: DataDirectory(path, disk=disk))
    world.until(lambda: bool(world.ready))
    return world, disk


def test_a_start_and_a_test_cost_as_much_with_many_journals_as_with_few() -> None:
    told = []
    for count in (FEW, MANY):
        world, disk = with_journals(count)
        start = disk.cost()
        assert world.wrong == []
        world.ask("SESS:LIST?")
        opened, _, *read = disk.cost()
        world.begin()
        assert world.data.next_number() == FIRST + count + 1
        world.close()
        told.append((start, opened, read, disk.cost()))
    assert told[0] == told[1]
    (opened_at_start, looked_at, *_), listed, *_ = told[0]
    assert (opened_at_start, looked_at, listed) == (3, 1, 10)


def test_the_newest_that_is_no_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "session-000003.journal").mkdir()
    for number in (1, 2):
        (tmp_path / f"session-{number:06d}.journal").touch()
    data = DataDirectory(tmp_path)
    assert [path.name for path in data.newest_first()] == [
        "session-000002.journal", "session-000001.journal",
    ]  # fmt: skip
    assert data.journals() == [*data.newest_first()][::-1]
    data.close()
