"""The database of the index: where it lies, its tables, and how it is made, or made anew."""

import errno
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from firmware_py import __version__
from host_tools.files import user_directory
from host_tools.recordings.entry import Entry

# An index of other fields, or of another release, is made anew; the number is for what else may
# change.
COLUMNS: Final = tuple(name for name in Entry.__dataclass_fields__ if name not in ("name", "path"))
FORMAT: Final = zlib.crc32(" ".join(["7", __version__, *COLUMNS]).encode()) >> 1
NAME: Final = "sessions.sqlite"
BEFORE: Final = "sessions-*.json"  # what earlier versions kept
BUSY_S: Final = 10.0  # for which another process may be writing

SCHEMA: Final = f"""
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, {", ".join(COLUMNS)}, checked INTEGER,
    UNIQUE (device, session, content)
);
CREATE TABLE files (
    path BLOB PRIMARY KEY, state TEXT NOT NULL, session INTEGER NOT NULL REFERENCES sessions (id)
) WITHOUT ROWID;
CREATE INDEX files_by_session ON files (session);
CREATE TABLE findings (
    content TEXT, version TEXT, kind TEXT, found BLOB, PRIMARY KEY (content, version, kind)
) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
"""
TABLES: Final = ("findings", "files", "sessions")


def is_damage(error: BaseException) -> bool:
    """Tell whether the index is damaged, and not in use, without room or closed to us."""
    return type(error) is sqlite3.DatabaseError


def in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _create(connection)
    return connection


def kept() -> sqlite3.Connection:
    """Open the index that is kept; an `sqlite3.DatabaseError` says that it is no such one."""
    place = kept_at()
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(place, os.O_CREAT | os.O_EXCL, 0o600))  # identifiers are in it
    connection = sqlite3.connect(place, timeout=BUSY_S, isolation_level=None)
    try:
        if not _is_ours(connection):
            with transaction(connection):
                if not _is_ours(connection):  # no other process has made it meanwhile
                    _create(connection)
                    for before in place.parent.glob(BEFORE):
                        before.unlink(missing_ok=True)
    except BaseException:
        connection.close()
        raise
    return connection


def made_anew() -> sqlite3.Connection:
    remove()
    return kept()


def remove() -> None:
    place = kept_at()
    for each in (place, place.with_name(f"{NAME}-journal")):
        each.unlink(missing_ok=True)


def kept_at() -> Path:
    try:
        return user_directory("XDG_CACHE_HOME", ".cache") / "gp-pta" / NAME
    except RuntimeError as error:
        raise FileNotFoundError(errno.ENOENT, str(error)) from None


def _is_ours(connection: sqlite3.Connection) -> bool:
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return version == FORMAT and tables.issuperset(TABLES)


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables, in the place of those of another version."""
    for table in TABLES:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in SCHEMA.split(";"):
        connection.execute(statement)


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """Have all that is written within this kept together, or nothing of it."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
