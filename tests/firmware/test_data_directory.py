"""The directory of the journals belongs to one firmware, and says what is wrong with it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_py.data_directory import DataDirectory, DataDirectoryError


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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_data_directory_that_may_only_be_read_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DataDirectoryError, match="cannot be written: Permission denied"):
        DataDirectory(tmp_path)
    tmp_path.chmod(0o700)
