"""Parquet by month: a directory that readers of data sets take for one table (Hive's names)."""

import datetime
from itertools import groupby
from pathlib import Path
from typing import Final

from firmware_py.platform.clock import was_clock_set
from host_tools.commands.export.document_session import Sessions
from host_tools.commands.export.formats import Encode
from host_tools.files import directory_to_write

UNKNOWN: Final = "unknown"  # the month of a session whose clock was never set
FILE: Final = "answers.parquet"
OURS: Final = f"month=*/{FILE}"


def month_of(started: str) -> str:
    """Return the month in which a session began, by the clock and the zone that it recorded."""
    if not was_clock_set(started):
        return UNKNOWN
    return f"{datetime.datetime.fromisoformat(started):%Y-%m}"


def write_by_month(sessions: Sessions, encode: Encode, out: Path) -> None:
    """Write sessions, those of a month after one another, to a file a month; one is open at a time.

    In a directory that is there they take the place of all such files, and of no others.
    """
    with directory_to_write(out, OURS) as unfinished:
        for month, each in groupby(sessions, lambda session: month_of(session.record["started"])):
            place = unfinished / f"month={month}" / FILE
            place.parent.mkdir(0o700)
            place.touch(0o600)
            with place.open("wb") as file:
                file.writelines(encode(Sessions(each, sessions.routes)))
