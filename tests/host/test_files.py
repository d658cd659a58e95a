"""Files that are written: whole or not at all, and nothing unfinished stays."""

from pathlib import Path

import pytest

from host_tools.errors import HostError
from host_tools.files import write_text, written


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_comes_to_no_end_leaves_nothing_and_changes_nothing(
    error: BaseException, tmp_path: Path
) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before")

    def fail_half_way() -> None:
        with written(path) as unfinished:
            unfinished.write_text("half")
            raise error

    with pytest.raises(HostError if isinstance(error, OSError) else type(error)):
        fail_half_way()
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "before"


def test_what_a_killed_process_has_left_is_not_written_into(tmp_path: Path) -> None:
    left, path = tmp_path / "out.csv.part", tmp_path / "out.csv"
    left.symlink_to(tmp_path / "other")
    write_text(path, "whole")

    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "whole"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    path = tmp_path / "a-file" / "out.csv"
    with pytest.raises(HostError, match=r"a-file/out\.csv cannot be written: Not a directory"):
        write_text(path, "whole")
