"""The same on the machine's own file system: its limits, its locks, its kill."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from firmware_py.journal import (
    Disk,
    JournalExistsError,
    JournalLockedError,
    JournalReadError,
    JournalWriteError,
    JournalWriter,
    is_recovery_note,
    read_journal,
)
from tests.journal.simulated_disk import Laid, SimulatedDisk

ROOT = Path(__file__).parents[2]
NOTE = {"kind": "note", "text": "n"}

PROGRAM_S_MAX = 120.0  # on a very busy machine, and emulated

FILE_SIZE_LIMIT_BYTES = 2990  # within a line
FILL_TO_THE_LIMIT = f"""
import resource, sys
from firmware_py.journal import JournalWriteError, JournalWriter
writer = JournalWriter.create(sys.argv[1], {{"seed": 1}})
resource.setrlimit(resource.RLIMIT_FSIZE, ({FILE_SIZE_LIMIT_BYTES}, resource.RLIM_INFINITY))
try:
    for count in range(100):
        writer.append({{"kind": "note", "count": count, "text": "x" * 100}})
        writer.sync()
except JournalWriteError as error:
    print(writer.synced_count, error)
"""

ACKNOWLEDGE_UNTIL_KILLED = """
import sys
from firmware_py.journal import JournalWriter
writer = JournalWriter.create(sys.argv[1], {"seed": 1})
for count in range(1, 1_000_000):
    for part in range(3):
        writer.append({"kind": "note", "count": count, "part": part})
    writer.sync()
    print(count, flush=True)
"""


def start(program: str, path: Path) -> subprocess.Popen[str]:
    """Run a program of this project in another process."""
    # -B: where files have a limit it would keep half of any module that it imports.
    command = [sys.executable, "-B", "-c", program, str(path)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_write_read_tear_and_resume(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with JournalWriter.create(str(path), {"seed": 1}) as writer:
        writer.append(NOTE)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"n": 2, "syn')

    assert read_journal(path).torn_bytes == 13
    writer, recovered = JournalWriter.resume(path)
    writer.append({"kind": "end"})
    writer.close()

    saved = f"s.jsonl.cut-{len(whole)}"
    assert (tmp_path / saved).read_bytes() == b'{"n": 2, "syn'
    assert sorted(os.listdir(tmp_path)) == ["s.jsonl", saved]
    assert (recovered.torn_bytes, recovered.good_bytes) == (13, len(whole))
    assert path.read_bytes().startswith(whole)
    again = read_journal(str(path))
    assert again.complete
    assert again.records[1] == NOTE
    assert is_recovery_note(again.records[2])


def test_the_limit_of_a_file_is_an_error_and_no_loss(tmp_path: Path) -> None:
    """The kernel takes a part of the line, then refuses: EFBIG."""
    path = tmp_path / "s.jsonl"
    output, _ = start(FILL_TO_THE_LIMIT, path).communicate(timeout=PROGRAM_S_MAX)
    synced_text, message = output.split(" ", 1)
    synced = int(synced_text)

    assert f"{path}: cannot be written: File too large (EFBIG); record {synced} not" in message
    assert f"the file was cut back to {path.stat().st_size} bytes" in message
    assert FILE_SIZE_LIMIT_BYTES - 200 < path.stat().st_size < FILE_SIZE_LIMIT_BYTES
    writer, recovered = JournalWriter.resume(path)
    writer.close()
    assert [record["count"] for record in recovered.records[1:]] == list(range(synced - 1))
    assert recovered.torn_bytes == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error_and_no_loss(tmp_path: Path) -> None:
    class FullDisk(Disk):
        def write(self, handle: int, data: bytes) -> int:
            with open("/dev/full", "wb", buffering=0) as full:
                return full.write(data)

    path = tmp_path / "s.jsonl"
    with JournalWriter.create(path, {"seed": 1}) as writer:
        writer.append(NOTE)
    before = path.read_bytes()
    writer, _ = JournalWriter.resume(path, disk=FullDisk())
    writer.append(NOTE)

    with pytest.raises(JournalWriteError, match=re.escape("No space left on device (ENOSPC)")):
        writer.close()
    assert path.read_bytes() == before

    with pytest.raises(JournalWriteError, match="record 0 not recorded, no record safe"):
        JournalWriter.create(tmp_path / "other.jsonl", {}, disk=FullDisk())
    assert os.listdir(tmp_path) == ["s.jsonl"]


def test_a_killed_process_loses_nothing_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with start(ACKNOWLEDGE_UNTIL_KILLED, path) as process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline() for _ in range(20)]
            with pytest.raises(JournalLockedError, match="another writer"):
                JournalWriter.resume(path)
        finally:
            process.kill()
        lines += process.stdout.readlines()
    acknowledged = sum(line.endswith("\n") for line in lines)

    writer, recovered = JournalWriter.resume(path)
    writer.close()
    data = [record for record in recovered.records[1:] if not is_recovery_note(record)]
    assert len(data) >= 3 * acknowledged >= 60
    assert [(r["count"], r["part"]) for r in data] == [
        (1 + number // 3, number % 3) for number in range(len(data))
    ]


def test_a_second_writer_in_the_same_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with JournalWriter.create(path, {}):
        with pytest.raises(JournalLockedError, match=re.escape(f"{path}: another writer")):
            JournalWriter.resume(path)
        with pytest.raises(JournalExistsError, match="exists already"):
            JournalWriter.create(path, {})
        assert read_journal(path).header["journal"] == 3
    resumed, _ = JournalWriter.resume(path)
    with resumed, pytest.raises(JournalLockedError):
        JournalWriter.resume(path)


def test_paths_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "s.jsonl"
    with pytest.raises(JournalWriteError, match=r"s\.jsonl: cannot be created: No such file"):
        JournalWriter.create(missing, {})
    with pytest.raises(JournalReadError, match=r"s\.jsonl: cannot be opened: No such file"):
        JournalWriter.resume(missing)
    with pytest.raises(JournalWriteError, match=r"cannot be opened for writing: Is a directory"):
        JournalWriter.resume(tmp_path)
    with pytest.raises(JournalExistsError, match="exists already"):
        JournalWriter.create(tmp_path, {})


@pytest.mark.parametrize("disk", [Disk(), SimulatedDisk()], ids=["real", "simulated"])
def test_the_simulated_disk_behaves_as_the_real_one(disk: Disk, tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    handle = disk.create(path)
    with pytest.raises(FileExistsError):
        disk.create(path)
    with pytest.raises(FileNotFoundError):
        disk.open(other, writable=True)
    assert disk.write(handle, b"hello world") == 11
    disk.truncate(handle, 5)
    assert disk.write(handle, b"!") == 1
    disk.fsync(handle)
    disk.drop_cache(handle)
    assert (disk.size(handle), disk.read(handle, 0, 99)) == (6, b"hello!")
    assert (disk.read(handle, 4, 1), disk.read(handle, 6, 1)) == (b"o", b"")
    second = disk.open(path, writable=True)
    disk.lock(second)
    with pytest.raises(BlockingIOError):
        disk.lock(handle)
    disk.close(second)
    disk.lock(handle)
    disk.rename(path, other)
    disk.fsync_directory(tmp_path)
    assert disk.names(tmp_path) == ["b"]
    assert disk.write(handle, b"?") == 1
    disk.close(handle)
    disk.remove(other)
    assert disk.names(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        disk.remove(other)


@pytest.mark.parametrize("what", Laid)
def test_what_lies_on_the_simulated_disk_is_met_there_as_on_the_real_one(
    tmp_path: Path, what: Laid
) -> None:
    laid, target, file = (tmp_path / name for name in ("laid", "target", "file"))
    real, simulated = Disk(), SimulatedDisk()
    lay: dict[Laid, Callable[[Path], object]] = {
        Laid.LINK: lambda path: path.symlink_to(target),
        Laid.LOOSE_LINK: lambda path: path.symlink_to(tmp_path / "nowhere"),
        Laid.PIPE: os.mkfifo,
        Laid.DIRECTORY: Path.mkdir,
    }
    lay[what](laid)
    simulated.lay(laid, what, target if what is Laid.LINK else tmp_path / "nowhere")
    for path in (target, file):
        path.write_bytes(b"content")
        simulated.put(path, b"content")
    assert _outcomes(real, laid, file) == _outcomes(simulated, laid, file)


def _outcomes(disk: Disk, laid: Path, file: Path) -> list[object]:
    """Return what comes of every call that may meet what was laid there."""

    def names() -> list[str]:
        return sorted(disk.names(laid.parent))

    def read() -> int:
        return disk.size(disk.open(laid, writable=False))

    return [
        _what_came_of(call)
        for call in (
            partial(disk.create, laid), partial(disk.open, laid, writable=True), read,
            partial(disk.is_file, laid), names, partial(disk.rename, file, laid),
            partial(disk.remove, laid), names,
        )
    ]  # fmt: skip


def _what_came_of(call: Callable[[], object]) -> object:
    try:
        return call()
    except OSError as error:
        return error.errno
