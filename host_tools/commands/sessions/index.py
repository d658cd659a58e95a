"""The index of a directory of journals: what was seen of each file, so that it is read once.

It may be thrown away at any time, and is made anew. It lies in the user's cache and not beside the
journals, which may be on a medium that cannot be written, or on one that others share. An entry is
stale when size, time of change or inode of its file are others.
"""

import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware_py.platform.named_file import content_of
from host_tools.commands.sessions.entry import UNREADABLE, Entry, entry_of
from host_tools.files import cannot_be_read, user_directory
from host_tools.recordings.newest import by_number

# An index of other fields is made anew; the number is for what else may change.
FORMAT: Final = zlib.crc32(" ".join(["4", *Entry.__dataclass_fields__]).encode()) >> 1
ENDING: Final = ".journal"
BYTES_MAX: Final = 1 << 30  # half a million journals
BATCH: Final = 500  # read before they are kept: what is interrupted goes on from there

# Size, time of change in ns, inode.
State = tuple[int, int, int]
# Wraps what takes long: the items, how many, and what they are.
Watch = Callable[[Iterable[Path], int, str], Iterable[Path]]


def entries_of(directory: Path, watch: Watch, use_index: bool = True) -> list[Entry]:
    """Return an entry for every journal of a directory, by name; `HostError` if it cannot be read.

    `watch` wraps the files that have to be read; without the index these are all.
    """
    states = _states(directory)
    if not use_index:
        return [entry_of(path) for path in watch(_paths(directory, states), len(states), "reading")]
    place = _place(directory)
    kept = _read_kept(place)
    known = {name: kept[name][1] for name, state in states.items() if _is_fresh(kept, name, state)}
    new = [name for name in states if name not in known]
    for done, path in enumerate(watch(_paths(directory, new), len(new), "reading"), 1):
        known[path.name] = entry_of(path)
        if done % BATCH == 0:
            _keep(place, known, states)
    if new or kept.keys() - known.keys():
        _keep(place, known, states)
    return [known[name] for name in states]


def _states(directory: Path) -> dict[str, State]:
    """Return the state of every file that has the name of a journal, by their numbers."""
    try:
        with os.scandir(directory) as files:
            found = [_state(file) for file in files if file.name.endswith(ENDING)]
    except OSError as error:
        raise cannot_be_read(directory, error) from None
    return dict(sorted(found, key=lambda each: by_number(each[0])))


def _state(file: "os.DirEntry[str]") -> tuple[str, State]:
    try:
        about = file.stat()
    except OSError:  # a link to nowhere; the entry will say so
        return file.name, (0, 0, 0)
    return file.name, (about.st_size, about.st_mtime_ns, about.st_ino)


def _paths(directory: Path, names: Iterable[str]) -> Iterable[Path]:
    return (directory / name for name in names)


def _place(directory: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:24]
    return user_directory("XDG_CACHE_HOME", ".cache") / "gp-pta" / f"sessions-{digest}.json"


def _read_kept(place: Path) -> dict[str, tuple[State, Entry]]:
    """Return the entries that were kept; none of a damaged index, or of another version."""
    try:
        told = json.loads(content_of(place, BYTES_MAX))
        entries = told["entries"] if told["format"] == FORMAT else {}
        return {name: (tuple(state), Entry(**entry)) for name, (state, entry) in entries.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _is_fresh(kept: dict[str, tuple[State, Entry]], name: str, state: State) -> bool:
    return name in kept and kept[name][0] == state


def _keep(place: Path, known: dict[str, Entry], states: dict[str, State]) -> None:
    """Keep entries, each with the state its file had before it was read; whole, or not at all.

    Who may read a file can change without a change of its state.
    """
    readable = {name: each for name, each in known.items() if each.outcome != UNREADABLE}
    entries = {name: (states[name], vars(each)) for name, each in readable.items()}
    with suppress(OSError):  # it is only an index
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as directory:
            index = Path(directory, place.name)
            index.touch(0o600)  # identifiers are in it
            index.write_text(json.dumps({"format": FORMAT, "entries": entries}))
            index.replace(place)
