"""Files that are written: whole or not at all, and nothing unfinished stays."""

import os
from pathlib import Path

import pytest

from device.hearing_aid.fit_file import write_fit
from device.sound_card.wav import WavOutput
from firmware_py.platform.data_directory import DataDirectory
from host_tools.devices.live import data_directory
from host_tools.errors import HostError
from host_tools.files import file_to_write, write_text
from tests.device.hearing_aid.fits import plain_fit


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_comes_to_no_end_leaves_nothing_and_changes_nothing(
    error: BaseException, tmp_path: Path
) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before")

    def fail_half_way() -> None:
        with file_to_write(path) as unfinished:
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


def test_what_may_tell_of_a_person_is_for_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        data = DataDirectory(tmp_path / "data", None)
        data.disk.close(data.disk.create(data.journal_path(1)))
        data.close()
        written_before = tmp_path / "report.html"
        written_before.touch(0o644)
        write_text(written_before, "of somebody")
        write_fit(tmp_path / "a.fit", plain_fit())
        write_text(tmp_path / "page.html", "of nobody", for_all=True)
        data_directory(tmp_path / "out", "gp-pta-")
        WavOutput(tmp_path / "heard.wav").close()
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes.pop("page.html") == 0o644
    assert modes.pop("data") == modes.pop("out") == 0o700
    assert modes == {"firmware.lock": 0o600, "session-000001.journal": 0o600, "report.html": 0o600,
                     "a.fit": 0o600, "heard.wav": 0o600}  # fmt: skip


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    path = tmp_path / "a-file" / "out.csv"
    with pytest.raises(HostError, match=r"a-file/out\.csv cannot be written: Not a directory"):
        write_text(path, "whole")
