"""The index of a directory of journals: what was seen of each file, so that it is read once.

It may be thrown away at any time, and is made anew. It lies in the user's cache and not beside the
journals, which may be on a medium that cannot be written, or on one that others share. An entry is
stale when size, time of change or inode of its file are others.
"""

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Final

from host_tools.commands.sessions.entry import UNREADABLE, Entry, entry_of
from host_tools.files import cannot_be_read, user_directory

# An index of other fields is made anew; the number is for what else may change.
FORMAT: Final = zlib.crc32(" ".join(["3", *Entry.__dataclass_fields__]).encode()) >> 1
ENDING: Final = ".journal"
LOCKED_S_MAX: Final = 5.0  # then it is done without
BATCH: Final = 500  # entries kept at once: what is interrupted goes on from there

# Size, time of change in ns, inode.
State = tuple[int, int, int]
# Wraps what takes long: the items, how many, and what they are.
Watch = Callable[[Iterable[Path], int, str], Iterable[Path]]


def entries_of(directory: Path, watch: Watch, use_index: bool = True) -> list[Entry]:
    """Return an entry for every journal of a directory, by name.

    Parameters
    ----------
    directory : Path
    watch : callable
        Wraps the files that have to be read.
    use_index : bool
        False: read every file.

    Raises
    ------
    HostError
        The directory cannot be read.
    """
    states = _states(directory)
    if not use_index:
        return [entry_of(path) for path in watch(_paths(directory, states), len(states), "reading")]
    with closing(_Index(_place(directory))) as index:
        known = index.known(states)
        new = {name: state for name, state in states.items() if name not in known}
        index.forget_all_but(states)
        paths = watch(_paths(directory, new), len(new), "reading")
        for some in _batches(entry_of(path) for path in paths):
            index.keep(some, new)
            known |= {entry.name: entry for entry in some}
    return [known[name] for name in states]


def _states(directory: Path) -> dict[str, State]:
    """Return the state of every file that has the name of a journal, sorted by name."""
    try:
        with os.scandir(directory) as files:
            found = [_state(file) for file in files if file.name.endswith(ENDING)]
    except OSError as error:
        raise cannot_be_read(directory, error) from None
    return dict(sorted(found))


def _state(file: "os.DirEntry[str]") -> tuple[str, State]:
    try:
        about = file.stat()
    except OSError:  # a link to nowhere; the entry will say so
        return file.name, (0, 0, 0)
    return file.name, (about.st_size, about.st_mtime_ns, about.st_ino)


def _paths(directory: Path, names: Iterable[str]) -> Iterable[Path]:
    return (directory / name for name in names)


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while some := list(islice(entries, BATCH)):
        yield some


def _place(directory: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:24]
    return user_directory("XDG_CACHE_HOME", ".cache") / "gp-pta" / f"sessions-{digest}.sqlite3"


class _Index:
    """Entries by name, in a database; in memory, if there is no other place for it.

    A name is kept as the bytes it has on the disk, which need not be UTF-8.
    """

    def __init__(self, place: Path) -> None:
        self._database = _opened(place)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def known(self, states: dict[str, State]) -> dict[str, Entry]:
        """Return the entries that are not stale."""
        rows = self._asked("SELECT name, size, mtime_ns, inode, entry FROM entries")
        return {
            os.fsdecode(name): Entry(**json.loads(entry))
            for name, *state, entry in rows
            if states.get(os.fsdecode(name)) == tuple(state)
        }

    def keep(self, entries: list[Entry], states: dict[str, State]) -> None:
        """Keep entries, each with the state its file had before it was read.

        Who may read a file can change without a change of its state.
        """
        readable = [entry for entry in entries if entry.outcome != UNREADABLE]
        rows = [(os.fsencode(e.name), *states[e.name], json.dumps(asdict(e))) for e in readable]
        with suppress(sqlite3.Error), self._database:  # it is only an index
            self._database.executemany("REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", rows)

    def forget_all_but(self, names: Iterable[str]) -> None:
        """Forget files that are gone."""
        kept = {os.fsencode(name) for name in names}
        gone = {name for (name,) in self._asked("SELECT name FROM entries")} - kept
        with suppress(sqlite3.Error), self._database:
            self._database.executemany(
                "DELETE FROM entries WHERE name = ?", [(name,) for name in gone]
            )

    def _asked(self, query: str) -> list[Any]:
        try:
            return self._database.execute(query).fetchall()
        except sqlite3.Error:
            return []


def _opened(place: Path) -> sqlite3.Connection:
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _prepared(place)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # it cannot be written, or is in use
            return _prepared(":memory:")
    except OSError:
        return _prepared(":memory:")
    place.unlink(missing_ok=True)  # no database, or a damaged one
    return _prepared(place)


def _prepared(place: Path | str) -> sqlite3.Connection:
    if isinstance(place, Path):
        place.touch(0o600)  # identifiers are in it
    database = sqlite3.connect(place, timeout=LOCKED_S_MAX)
    try:
        if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("damaged")
        with database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != FORMAT:
                database.execute("DROP TABLE IF EXISTS entries")
                database.execute(f"PRAGMA user_version = {FORMAT}")
            database.execute(
                "CREATE TABLE IF NOT EXISTS entries (name BLOB PRIMARY KEY, size INTEGER, "
                "mtime_ns INTEGER, inode INTEGER, entry TEXT) WITHOUT ROWID"
            )
    except sqlite3.Error:
        database.close()
        raise
    return database
