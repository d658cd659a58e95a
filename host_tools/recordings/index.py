"""The index of journals: what was seen of each file, and what its replay found; each done once.

One SQLite database in the user's cache has all of it, and is no more than that: it may be thrown
away at any time, and is made anew. It is not beside the journals, which may be on a medium that
cannot be written, or that others share. Several processes may use it at once.

A file is read again when its state is another (`folders.state_of`). A session is known by its
device, its number and the digest of its journal, seals and all, so that copies are one. What a
replay found is kept by that digest and by the version of the program that found it.
"""

import argparse
import json
import os
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, Final

from firmware_py.platform.version import full_version
from host_tools.errors import HostError
from host_tools.files import digest_of
from host_tools.recordings.doubles import Doubles, without_doubles
from host_tools.recordings.entry import UNREADABLE, Entry
from host_tools.recordings.folders import Found, files_in, is_journal, state_of
from host_tools.recordings.index_database import (
    COLUMNS,
    in_memory,
    is_damage,
    kept,
    kept_at,
    made_anew,
    remove,
    transaction,
)
from host_tools.terminal import say_aside

BATCH: Final = 500  # read before they are kept: what is interrupted goes on from there
NO_JOURNAL: Final = ""  # in the place of an outcome: a file that is not listed

# What is looked at now. `opened` is the path as it was named, null where it is absolute; as many
# of its last characters are the name as it is shown as `named` says.
SEEN: Final = """
CREATE TEMP TABLE seen (
    path BLOB PRIMARY KEY, opened BLOB, named INTEGER, state TEXT, regular INTEGER, why_not TEXT
) WITHOUT ROWID
"""
LISTED: Final = f"""
FROM seen JOIN files USING (path) JOIN sessions s ON s.id = files.session
WHERE s.outcome <> '{NO_JOURNAL}'
"""
CHANGED: Final = """
SELECT path, opened, named, seen.state, regular, why_not FROM seen LEFT JOIN files USING (path)
WHERE seen.state = '' OR files.state IS NOT seen.state
"""
LOST: Final = """
SELECT count(*) FROM seen JOIN files USING (path)
LEFT JOIN sessions s ON s.id = files.session WHERE s.id IS NULL
"""
TWICE: Final = f"""
AND s.session IS NOT NULL AND (
    s.id IN (SELECT s.id {LISTED} GROUP BY s.id HAVING count(*) > 1)
    OR (s.device, s.session) IN (
        SELECT s.device, s.session {LISTED} AND s.device <> ''
        GROUP BY s.device, s.session HAVING count(*) > 1
    )
    OR s.device = '' AND (s.session, s.started) IN (
        SELECT s.session, s.started {LISTED} AND s.device = ''
        GROUP BY s.session, s.started HAVING count(*) > 1
    )
)
"""

# Wraps what takes long: the items, how many, and what they are.
Watch = Callable[[Iterable[Any], int, str], Iterable[Any]]


@dataclass(frozen=True)
class Where:
    """What is asked of sessions: a condition on their columns, as SQL has it, and its values."""

    condition: str = "1"
    values: Sequence[Any] = ()


ALL: Final = Where()


class Index:
    """The index, with what is in the places that are looked at now."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.create_function("wild", 2, _is_like, deterministic=True)
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(SEEN)

    def look(self, places: Sequence[Path], watch: Watch) -> None:
        """See what is in these places, and read what is new or was changed; `watch` wraps that.

        Errors are those of `files_in`, and those of SQLite.
        """
        with transaction(self._connection, "BEGIN"):
            rows = map(_seen, files_in(places))
            self._connection.executemany(
                "INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?, ?, ?)", rows
            )
        gone = self._gone_from(places)
        new = [_found(*row) for row in self._connection.execute(CHANGED)]
        looked = map(_look_at, watch(new, len(new), "reading"))
        while batch := [*islice(looked, BATCH)]:
            with transaction(self._connection):
                for each in batch:
                    self._note(*each)
        if gone or new:
            self._forget(gone)
        ((lost,),) = self._connection.execute(LOST).fetchall()
        if lost:
            raise sqlite3.DatabaseError("files without what they are")

    def close(self) -> None:
        self._connection.close()

    def counts(self) -> Counter[str]:
        """Return how many files were looked at, by outcome."""
        query = f"SELECT s.outcome, count(*) {LISTED} GROUP BY s.outcome"
        return Counter(dict(self._connection.execute(query)))

    def entries(self, where: Where = ALL) -> list[Entry]:
        """Return the files that were looked at and are as asked."""
        columns = ["ifnull(opened, path)", "named", *(f"s.{name}" for name in COLUMNS), "checked"]
        rows = self._connection.execute(
            f"SELECT {', '.join(columns)} {LISTED} AND ({where.condition})", where.values
        )
        return [_entry(*row) for row in rows]

    def doubles(self) -> Doubles[Entry]:
        """Return which of these files count, of those that may be there twice."""
        return without_doubles(self.entries(Where(f"1 {TWICE}")), lambda entry: entry.about)

    def found(
        self, path: Path, content: str, kind: str, find: Callable[[Path], Mapping[str, Any]]
    ) -> Any:
        """Return what a replay of a journal of this content found, as JSON values.

        What the index does not have is found, by kind, and kept; but nothing of a journal that was
        changed meanwhile, or without a content.
        """
        version = full_version()
        known = self._known(content, version, kind)
        if known is not None:
            return known
        found = find(path)
        if content and _has(path, content):
            rows = [
                (content, version, each, zlib.compress(json.dumps(values).encode(), 1))
                for each, values in found.items()
            ]
            with suppress(sqlite3.Error), transaction(self._connection):  # else it is found again
                others = "DELETE FROM findings WHERE content = ? AND version <> ?"
                self._connection.execute(others, (content, version))
                self._connection.executemany(
                    "INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?)", rows
                )
        return found[kind]

    def _known(self, *key: str) -> Any:
        """Return what is kept of content, version and kind; None: nothing, or it is damaged."""
        query = "SELECT found FROM findings WHERE (content, version, kind) = (?, ?, ?)"
        try:
            row = self._connection.execute(query, key).fetchone()
            return None if row is None else json.loads(zlib.decompress(row[0]))
        except (sqlite3.Error, zlib.error, ValueError, TypeError):
            return None

    def _note(self, found: Found, entry: Entry) -> None:
        """Keep what a file is; one without a content is like no other, unless it is no journal."""
        values = [getattr(entry, name) for name in COLUMNS]
        if entry.outcome != NO_JOURNAL:
            values[COLUMNS.index("content")] = entry.content or None
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        ((key,),) = self._connection.execute(
            f"INSERT INTO sessions ({', '.join(COLUMNS)}, checked) VALUES ({marks}) "
            "ON CONFLICT DO UPDATE SET content = excluded.content RETURNING id",
            (*values, _check(values)),
        ).fetchall()
        self._connection.execute(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?)",
            (os.fsencode(found.absolute), found.state, key),
        )

    def _gone_from(self, places: Sequence[Path]) -> list[tuple[bytes]]:
        """Return the files of directories in which they are no more, but of folders not read."""
        unread = self._connection.execute("SELECT path FROM seen WHERE why_not <> ''")
        folders = tuple(path + b"/" for (path,) in unread)
        query = (
            "SELECT path FROM files WHERE path > ? AND path < ? "
            "AND path NOT IN (SELECT path FROM seen)"
        )
        keys = [os.fsencode(os.path.abspath(place).rstrip("/")) for place in places]
        rows = (self._connection.execute(query, (key + b"/", key + b"0")) for key in keys)
        return [row for of_one in rows for row in of_one if not row[0].startswith(folders)]

    def _forget(self, gone: Sequence[tuple[bytes]]) -> None:
        """Forget files, and sessions of which there is no file any more."""
        with transaction(self._connection):
            self._connection.executemany("DELETE FROM files WHERE path = ?", gone)
            self._connection.execute(
                "DELETE FROM sessions WHERE id NOT IN (SELECT session FROM files)"
            )
            self._connection.execute(
                "DELETE FROM findings WHERE content NOT IN "
                "(SELECT content FROM sessions WHERE content IS NOT NULL)"
            )


def _look_at(found: Found) -> tuple[Found, Entry]:
    """Return what a file is; it has no state if it is to be looked at again the next time."""
    name = os.path.basename(found.name)
    if found.why_not:
        return found, Entry(name, UNREADABLE, found.why_not)
    if not is_journal(found):
        return found, Entry(name, NO_JOURNAL, session=0)
    from host_tools.recordings.look import entry_of

    entry = entry_of(Path(found.path))
    # Who may read a file can change without a change of its state.
    if entry.outcome == UNREADABLE:
        return found._replace(state=""), entry
    if state_of(found.path) != found.state:  # it was written to meanwhile
        return found._replace(state=""), replace(entry, content="")
    return found, entry


def add_index_argument(p: argparse.ArgumentParser, words: str) -> None:
    p.add_argument("--no-index", action="store_true", help=words)


@contextmanager
def looked_at(places: Sequence[Path], watch: Watch, *, keep: bool = True) -> Iterator[Index]:
    """Yield the index when it has seen these places; `HostError` if one cannot be read.

    Not to `keep` anything, or where there is no room for that, is to read every journal anew. One
    that turns out to be damaged is removed, and a `HostError` says so.
    """
    with closing(_looked(places, watch, keep)) as index:
        try:
            yield index
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise HostError(
                    f"the index {kept_at()} cannot be read: {error}; --no-index does without it"
                ) from None
            remove()
            raise HostError(
                f"the index {kept_at()} was damaged ({error}), and is removed: type that again"
            ) from None


def _looked(places: Sequence[Path], watch: Watch, keep: bool) -> Index:
    connect = kept if keep else in_memory
    while True:
        index = None
        try:
            index = Index(connect())
            index.look(places, watch)
        except BaseException as error:
            if index is not None:
                index.close()
            if connect is in_memory or not isinstance(error, (OSError, sqlite3.Error)):
                raise
            damaged = is_damage(error) and connect is kept
            connect = made_anew if damaged else in_memory
            if not damaged:
                say_aside(f"no index is used, and every journal is read: {error}")
        else:
            return index


def _has(path: Path, content: str) -> bool:
    try:
        return digest_of(path) == content
    except OSError:
        return False


def _seen(found: Found) -> tuple[Any, ...]:
    path = os.fsencode(found.absolute)
    opened = None if found.path == found.absolute else os.fsencode(found.path)
    return path, opened, len(found.name), found.state, found.regular, found.why_not


def _found(
    path: bytes, opened: bytes | None, named: int, state: str, regular: int, why_not: str
) -> Found:
    absolute = os.fsdecode(path)
    told = absolute if opened is None else os.fsdecode(opened)
    return Found(told, absolute, told[-named:], state, bool(regular), why_not)


def _entry(opened: bytes, named: int, *row: Any) -> Entry:
    path, values = os.fsdecode(opened), row[:-1]
    if row[-1] != _check(values):
        raise sqlite3.DatabaseError(f"what it says of {path} is not what was kept")
    told = dict(zip(COLUMNS, values, strict=True))
    told["content"] = told["content"] or ""
    return Entry(name=path[-named:], path=path, **told)


def _check(values: Sequence[Any]) -> int:
    """Return what tells that a row is as it was kept: the database does not see a changed bit."""
    return zlib.crc32(repr([*values]).encode())


def _is_like(value: str | None, pattern: str) -> bool:
    return value is not None and fnmatchcase(value, pattern.replace("[", "[[]"))
