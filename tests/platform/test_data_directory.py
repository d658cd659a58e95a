"""The directory of the journals belongs to one firmware, and says what is wrong with it."""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from firmware_py.journal import (
    Disk,
    JournalError,
    JournalExistsError,
    JournalWriteError,
    JournalWriter,
)
from firmware_py.platform.data_directory import (
    SESSION_NUMBER_MAX,
    TUNING,
    DataDirectory,
    DataDirectoryError,
    NoRoomError,
)
from tests.journal.simulated_disk import SimulatedDisk
from tests.read_only import only_read
from tests.strange_files import full, hollow


@pytest.fixture
def data(tmp_path: Path) -> Iterator[DataDirectory]:
    data = DataDirectory(tmp_path / "data")
    yield data
    data.close()


def test_it_is_made_and_its_first_session_is_number_1(data: DataDirectory) -> None:
    assert data.path.is_dir()
    assert data.journals() == []
    assert data.next_number() == 1
    assert data.journal_path(1).name == "session-000001.journal"


def test_journals_are_in_the_order_of_their_numbers(data: DataDirectory) -> None:
    for number in (7, 1_000_000, 999_999):
        data.journal_path(number).touch()
    for name in (
        "session-1.journal",
        "session-000001.journal.cut-7",
        "notes",
        "session-٠٠٠٠٠١.journal",
    ):
        (data.path / name).touch()
    assert data.journals() == [data.journal_path(n) for n in (7, 999_999, 1_000_000)]
    assert data.next_number() == 1_000_001


def test_numbers_go_on_when_all_journals_are_moved_away(data: DataDirectory) -> None:
    for number in (1, 2):
        data.journal_path(number).touch()
        data.remember(number)
    data.remember(5, TUNING)
    for path in data.path.glob("*.journal"):
        path.unlink()
    assert (data.next_number(), data.next_number(TUNING)) == (3, 6)
    data.close()
    again = DataDirectory(data.path)
    assert (again.next_number(), again.next_number(TUNING)) == (3, 6)
    again.journal_path(9).touch()  # by somebody else
    assert again.next_number() == 10
    again.close()
    with (data.path / "firmware.lock").open("ab") as file:
        file.write(b"session 99 tun")  # the power went
    last = DataDirectory(data.path)
    assert last.next_number(TUNING) == 6
    last.close()


def test_numbers_go_on_after_journals_that_another_program_left(tmp_path: Path) -> None:
    (tmp_path / "session-000050.journal").touch()
    data = DataDirectory(tmp_path)
    (tmp_path / "session-000050.journal").unlink()
    assert (data.next_number(), data.next_number(TUNING)) == (51, 1)
    data.close()
    again = DataDirectory(tmp_path)
    assert again.next_number() == 51
    again.close()


def test_the_last_numbers_take_no_more_room_with_the_years(data: DataDirectory) -> None:
    for number in range(1, 500):
        data.remember(number)
    assert (data.path / "firmware.lock").stat().st_size < 4200
    data.close()
    again = DataDirectory(data.path)
    assert again.next_number() == 500
    again.close()


def test_the_last_numbers_are_written_through_no_other_name(
    data: DataDirectory, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").hardlink_to(data.path / "firmware.lock")
    data.remember(7)
    assert (tmp_path / "elsewhere").read_bytes() == b""
    assert data.next_number() == 8, "as long as it runs"


def test_a_disk_that_refuses_the_last_numbers_refuses_no_session() -> None:
    disk = SimulatedDisk()
    data = DataDirectory(Path("/data"), disk=disk)
    disk.free = 5
    data.remember(7)
    assert data.next_number() == 8


def test_it_is_for_one_firmware(data: DataDirectory) -> None:
    with pytest.raises(DataDirectoryError, match="is in use by another firmware"):
        DataDirectory(data.path)
    data.close()
    again = DataDirectory(data.path)
    data._lock = os.dup(again._lock)
    again.close()


def test_what_cannot_be_a_data_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, why in (
        (tmp_path / "file", "File exists"),
        (tmp_path / "file" / "data", "Not a directory"),
        (tmp_path / "none" / "data", "No such file or directory"),
    ):
        with pytest.raises(DataDirectoryError) as refusal:
            DataDirectory(path)
        assert str(refusal.value) == f"data directory {str(path)!r} cannot be written: {why}"


def test_a_data_directory_that_may_only_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    refused = pytest.raises(DataDirectoryError, match="cannot be written: Permission denied")
    with only_read(tmp_path / "data"), refused:
        DataDirectory(tmp_path / "data")


class WornOutDisk(Disk):
    """A medium that cannot be written any more."""

    def open(self, path: Path, *, writable: bool) -> int:
        if writable and path.exists():
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return super().open(path, writable=writable)

    def create(self, path: Path) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_what_cannot_be_written_any_more_is_read_by_one_firmware(tmp_path: Path) -> None:
    before = DataDirectory(tmp_path)
    before.journal_path(1).touch()
    with pytest.raises(DataDirectoryError, match="is in use by another firmware"):
        DataDirectory(tmp_path, disk=WornOutDisk())
    before.close()
    with closing(DataDirectory(tmp_path, disk=WornOutDisk())) as worn_out:
        assert worn_out.journals() == [before.journal_path(1)]
        with pytest.raises(DataDirectoryError, match="cannot be written: Read-only file system"):
            worn_out.try_writing()


def test_a_directory_without_a_lock_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataDirectoryError, match="cannot be written: Read-only file system"):
        DataDirectory(tmp_path, disk=WornOutDisk())


def test_room_is_there_or_the_error_has_both_figures() -> None:
    disk = SimulatedDisk()
    data, disk.free = DataDirectory(Path("/data"), disk=disk), 200_000
    assert data.require_room(200_000) == 200_000
    assert data.lacks_room(200_000) == ()
    with pytest.raises(NoRoomError, match="only 200 kB are free on the disk, and 201 kB") as error:
        data.require_room(200_001)
    assert data.lacks_room(200_001) == (error.value.why,)


def test_a_trial_that_does_not_fit_leaves_nothing() -> None:
    disk = SimulatedDisk()
    data, disk.free = DataDirectory(Path("/data"), disk=disk), 10
    with pytest.raises(DataDirectoryError, match="cannot be written: No space left on device"):
        data.try_writing()
    assert disk.paths() == [Path("/data/firmware.lock")]
    assert disk.free == 10


# What somebody else has put there


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a file that nothing here may change."""
    path = tmp_path / "outside"
    path.write_bytes(b"not yours\n")
    return path


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_the_self_test_writes_through_no_link(
    data: DataDirectory, outside: Path, link: Callable[[Path, Path], None]
) -> None:
    link(data.path / "self-test.tmp", outside)
    data.try_writing()
    assert outside.read_bytes() == b"not yours\n"
    assert [path.name for path in data.path.iterdir()] == ["firmware.lock"]


@pytest.mark.parametrize("there", [True, False])
def test_the_lock_is_made_through_no_link(tmp_path: Path, outside: Path, there: bool) -> None:
    if not there:
        outside.unlink()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "firmware.lock").symlink_to(outside)
    with pytest.raises(DataDirectoryError, match="cannot be written: Too many levels of symbolic"):
        DataDirectory(tmp_path / "data")
    assert outside.exists() == there


@pytest.mark.parametrize("target", ["outside", "nowhere", "/dev/zero", "/dev/tty", "."])
def test_a_link_is_no_journal_and_its_number_is_not_used(
    data: DataDirectory, outside: Path, target: str
) -> None:
    data.journal_path(7).symlink_to(outside if target == "outside" else target)
    assert data.journals() == []
    assert data.next_number() == 8
    with pytest.raises(JournalExistsError):
        JournalWriter.create(data.journal_path(7), {})
    with pytest.raises(JournalWriteError, match="cannot be opened for writing"):
        JournalWriter.resume(data.journal_path(7))
    assert outside.read_bytes() == b"not yours\n"
    assert not (data.path / "nowhere").exists()


def test_pipes_sockets_and_directories_are_no_journals(
    data: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(data.journal_path(1))
    data.journal_path(2).mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        monkeypatch.chdir(data.path)  # the path of a socket may have some hundred characters
        listening.bind(data.journal_path(3).name)
        data.journal_path(4).touch()
        assert data.journals() == [data.journal_path(4)]
    for number in (1, 2, 3):
        with pytest.raises(JournalError, match="cannot be opened"):
            JournalWriter.resume(data.journal_path(number))


def test_a_file_with_a_second_name_is_not_changed_unless_it_is_a_journal(
    data: DataDirectory, outside: Path
) -> None:
    data.journal_path(1).hardlink_to(outside)
    with pytest.raises(JournalError, match="is no journal"):
        JournalWriter.resume(data.journal_path(1))
    assert outside.read_bytes() == b"not yours\n"


TORN = b'{"n": 1, "sy'


def torn_journal(data: DataDirectory) -> tuple[Path, int]:
    """Make a journal that ends in the middle of a line; return it, and where the line begins."""
    path = data.journal_path(1)
    JournalWriter.create(path, {}).close()
    whole = path.stat().st_size
    path.write_bytes(path.read_bytes() + TORN)
    return path, whole


def test_a_saved_cut_is_written_through_no_link(data: DataDirectory, outside: Path) -> None:
    path, whole = torn_journal(data)
    path.with_name(f"{path.name}.part").symlink_to(outside)
    path.with_name(f"{path.name}.cut-{whole}").symlink_to(outside)
    journal, _ = JournalWriter.resume(path)
    journal.close()
    assert outside.read_bytes() == b"not yours\n"
    assert path.with_name(f"{path.name}.cut-{whole}.2").read_bytes() == TORN


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, full, hollow])
def test_what_lies_where_a_cut_is_to_be_saved_keeps_no_journal_from_going_on(
    data: DataDirectory, make: Callable[[Path], object]
) -> None:
    """Nor a new one from beginning: the number of a cut is not used again."""
    path, whole = torn_journal(data)
    for name in (f"cut-{whole}", f"cut-{whole}.2.part", "cut-7"):
        make(path.with_name(f"{path.name}.{name}"))
    journal, recovered = JournalWriter.resume(path)
    journal.close()
    assert recovered.torn_bytes == len(TORN)
    assert path.with_name(f"{path.name}.cut-{whole}.2").read_bytes() == TORN
    make(data.path / "session-000002.journal.cut-9")
    assert data.next_number() == 3
    assert data.journals() == [path]


def test_after_the_last_number_there_is_none(data: DataDirectory) -> None:
    data.journal_path(SESSION_NUMBER_MAX).touch()
    with pytest.raises(DataDirectoryError, match=r"session-999999999\.journal', the last there"):
        data.next_number()
