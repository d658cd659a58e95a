"""Recovery: the torn end of a journal is saved in a file of its own, cut off, and noted.

The power may go after any step. The next recovery then finds either the torn end as it was, or a
saved cut without its note, and does the rest.
"""

import re
from pathlib import Path
from typing import Final

from firmware_py.journal.disk import Disk, open_to_read, write_whole
from firmware_py.journal.errors import JournalReadError
from firmware_py.journal.reader import scan
from firmware_py.journal.records import JOURNAL_BYTES_MAX, UNSYNCED_BYTES_MAX
from firmware_py.journal.recovered import Record, Recovered, is_recovery_note

CUTS_PER_OFFSET_MAX: Final = 1000
"""Different torn ends at one place: each takes a power cut within a recovery."""

_CUT_SUFFIX: Final = re.compile(r"cut-([0-9]{1,18})(?:\.([0-9]{1,4}))?")


def read_from_disk(disk: Disk, handle: int, path: Path) -> Recovered:
    """Return what an open journal has on the disk, whatever the system has of it in memory."""
    disk.fsync_directory(path.parent)  # a `create` that was cut short may not have done it
    disk.fsync(handle)
    disk.drop_cache(handle)  # after a failed fsync memory may hold what the disk does not
    recovered = scan(disk, handle, path)
    if recovered.good_bytes + UNSYNCED_BYTES_MAX > JOURNAL_BYTES_MAX:
        raise JournalReadError(path, f"is full: it has {recovered.good_bytes} bytes")
    return recovered


def cut_torn_end(disk: Disk, handle: int, recovered: Recovered) -> None:
    """Save the torn end of an open journal beside it, then cut it off; may raise ``OSError``."""
    if not recovered.torn_bytes:
        return
    torn = disk.read(handle, recovered.good_bytes, recovered.torn_bytes)
    _save(disk, recovered.path, recovered.good_bytes, torn)
    disk.truncate(handle, recovered.good_bytes)
    disk.fsync(handle)


def missing_notes(disk: Disk, recovered: Recovered) -> list[Record]:
    """Return a note for every saved cut that the journal does not mention yet."""
    noted = {record.get("saved_as") for record in recovered.records if is_recovery_note(record)}
    notes: list[Record] = []
    for offset, suffix in saved_cuts(disk, recovered.path):
        if suffix not in noted:
            with open_to_read(disk, cut_path(recovered.path, suffix)) as handle:
                about = {"offset": offset, "bytes": disk.size(handle), "saved_as": suffix}
            notes.append({"kind": "note", "what": "recovered", **about})
    return notes


def cut_path(path: Path, suffix: str) -> Path:
    """Return the file of a saved cut: ``s017.jsonl.cut-512`` for the suffix ``cut-512``."""
    return path.with_name(f"{path.name}.{suffix}")


def saved_cuts(disk: Disk, path: Path) -> list[tuple[int, str]]:
    """Return offset and suffix of every cut saved beside a journal, in order."""
    named = _named_cuts(disk, path)
    return [each for each in named if disk.is_file(cut_path(path, each[1]))]


def _named_cuts(disk: Disk, path: Path) -> list[tuple[int, str]]:
    """Return the same of all that has the name of one, whatever it is."""
    start = f"{path.name}."
    suffixes = [name[len(start) :] for name in disk.names(path.parent) if name.startswith(start)]
    found = [match for suffix in suffixes if (match := _CUT_SUFFIX.fullmatch(suffix))]
    found.sort(key=lambda match: (int(match[1]), int(match[2] or 1)))
    return [(int(match[1]), match[0]) for match in found]


def _save(disk: Disk, path: Path, offset: int, torn: bytes) -> None:
    """Keep torn bytes in a file of their own, which is whole from the moment it has its name."""
    taken = {suffix for _, suffix in _named_cuts(disk, path)}
    saved = {suffix for _, suffix in saved_cuts(disk, path)}
    suffix = f"cut-{offset}"
    for number in range(2, CUTS_PER_OFFSET_MAX):
        if suffix not in taken:
            write_whole(disk, cut_path(path, suffix), torn)
            break
        if suffix in saved:
            with open_to_read(disk, cut_path(path, suffix)) as handle:
                if disk.read(handle, 0, len(torn) + 1) == torn:
                    break  # an earlier recovery came so far
        suffix = f"cut-{offset}.{number}"
    else:
        raise OSError(f"more than {CUTS_PER_OFFSET_MAX} files {path.name}.cut-{offset}*")
    disk.fsync_directory(path.parent)
