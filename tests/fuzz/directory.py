"""Whatever lies in the data directory, nothing outside of it is changed, and nobody waits."""

import hashlib
import os
import random
import shutil
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from firmware_py.console.console import Console
from firmware_py.installation.card_system import CardSystem
from firmware_py.journal import Disk, JournalError, JournalWriter, read_journal
from firmware_py.operator.update_desk import COMMANDS, UpdateDesk
from firmware_py.platform.data_directory import DataDirectory, DataDirectoryError
from firmware_py.platform.wrong_pins import COUNT_MAX, WrongPinsOnDisk
from host_tools.commands.update import pieces_of
from tests.strange_files import full

BUNDLE: Final = b"hsqs of nobody"
SHA256: Final = hashlib.sha256(BUNDLE).hexdigest()
NAMES: Final = (
    "firmware.lock", "self-test.tmp", "wrong-pins", "wrong-pins.part", "session-000001.journal",
    "session-000002.journal", "session-000001.journal.cut-9", "tuning-000001.journal",
    f"update.part-{SHA256[:16]}", "update.part-0", "update.raucb", "update-older.raucb",
)  # fmt: skip
SEEDS: Final = 30
ENTRIES_MAX: Final = 8


def _bind(path: Path, _outside: Path) -> None:
    os.mknod(path, stat.S_IFSOCK | 0o600)  # a path to bind may not be as long as this


KINDS: Final[tuple[Callable[[Path, Path], object], ...]] = (
    lambda path, outside: path.symlink_to(outside / "file"),
    lambda path, outside: path.symlink_to(outside / "nothing"),
    lambda path, outside: path.symlink_to(outside),
    lambda path, outside: path.hardlink_to(outside / "file"),
    lambda path, _outside: os.mkfifo(path),
    lambda path, _outside: path.mkdir(),
    lambda path, _outside: path.touch(),
    lambda path, _outside: path.write_bytes(b'{"n": 0, "kind"'),
    lambda path, _outside: path.write_bytes(bytes(100)),
    _bind,
    lambda path, _outside: full(path),
)


class QuickDisk(Disk):
    """The machine's own, which is waited for by nobody."""

    def fsync(self, handle: int) -> None:
        pass

    def fsync_directory(self, directory: Path) -> None:
        pass


def data_directory(data: bytes, directory: Path) -> None:
    """Use a directory in which two bytes make an entry: its name, and what it is."""
    place, outside = directory / "data", directory / "outside"
    for each in (place, outside):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir()
    (outside / "file").write_bytes(b"somebody else's")
    before = _look_at(outside)
    for name, kind in zip(data[: 2 * ENTRIES_MAX : 2], data[1::2], strict=False):
        path = place / NAMES[name % len(NAMES)]
        if not os.path.lexists(path):
            KINDS[kind % len(KINDS)](path, outside)
    _use(place)
    assert _look_at(outside) == before


def _use(place: Path) -> None:
    """Do all that the firmware does there; what cannot be is refused by its own error."""
    kept = _refusable(lambda: DataDirectory(place, disk=QuickDisk()))
    if not isinstance(kept, DataDirectory):
        assert str(place) in str(kept)
        return
    try:
        for path in (*kept.journals(), *kept.journals("tuning")):
            _refusable(partial(read_journal, path))
            _go_on(path)
        _refusable(kept.try_writing)
        pins = WrongPinsOnDisk(place / "wrong-pins", kept.disk)
        assert pins.expect() or pins.count() == COUNT_MAX
        pins.clear()
        path = kept.journal_path(kept.next_number())
        writer = _refusable(lambda: JournalWriter.create(path, {}, disk=kept.disk))
        if isinstance(writer, JournalWriter):  # it is not, beside a cut of an older one
            writer.close()
            _go_on(path)
        _update(kept)
    finally:
        kept.close()


def _go_on(path: Path) -> None:
    gone_on = _refusable(lambda: JournalWriter.resume(path, disk=QuickDisk()))
    if isinstance(gone_on, tuple):
        gone_on[0].append({"kind": "x"})
        gone_on[0].close()


def _refusable(do: Callable[[], object]) -> object:
    try:
        return do()
    except (JournalError, DataDirectoryError) as error:
        return error


def _update(kept: DataDirectory) -> None:
    """Send an update; it is whole where it is handed over, or the operator reads why not."""
    system = CardSystem(kept.path / "system", kept)
    console = Console((), None)
    console.add(COMMANDS, UpdateDesk(system, kept, lambda: 10**9))
    was_there = system.updating
    lines = (f"SYST:UPD:BEG {len(BUNDLE)},{SHA256}", *pieces_of(BUNDLE, 0), "SYST:UPD:END")
    answers = [console.execute(line)[-1] for line in lines]
    if answers == ["OK"] * len(lines):
        assert not was_there
        assert (kept.path / "update.raucb").read_bytes() == BUNDLE
    else:
        assert all(answer == "OK" or answer.startswith("ERROR -2") for answer in answers)


def _look_at(outside: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.name: (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in (outside, *outside.iterdir())
    }


def entries() -> Iterator[bytes]:
    """Return directories with one entry, of every name and of every kind, and some by chance."""
    yield from (bytes((number, number)) for number in range(len(NAMES)))
    chance = random.Random(SEEDS)
    yield from (chance.randbytes(2 * ENTRIES_MAX) for _ in range(SEEDS))
