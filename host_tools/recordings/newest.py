"""The order of journals by the numbers in their names, and the newest of them."""

import argparse
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from firmware_py.journal import JournalError, JournalUnstartedError, read_journal
from host_tools.errors import HostError
from host_tools.recordings.folders import begins_as_tuning, journals_in
from host_tools.terminal import say_aside

NUMBER: Final = re.compile(r"([0-9]+)")
JOURNALS: Final = "session-*.journal"
TUNINGS: Final = "tuning-*.journal"
SESSIONS: Final = Path("sessions")  # where the pages have the firmware put them
# Where demo and listen put a journal that was given no other place.
DEMO_PREFIX: Final = "gp-pta-demo-"
LISTEN_PREFIX: Final = "gp-pta-listen-"
_DEFAULT: Final = "(default: the newest in the directory sessions, else of demo or listen)"


def add_journal_argument(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "journal", type=Path, nargs="?", help=f"of a session {_DEFAULT}"
    )  # fmt: skip


def add_journals_argument(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "journals", type=Path, nargs="*", metavar="JOURNAL",
        help=f"of a session; or a directory, for the journals in it and its folders {_DEFAULT}",
    )  # fmt: skip


def journal_or_newest(named: Path | None) -> Path:
    """Return the journal that was named, or else the newest session, and say which that is.

    Sessions in the directory `SESSIONS` come before those of demonstrations. So nobody takes a
    simulated listener for a person who was tested here. If there is none, it is a `HostError`.
    """
    if named is not None:
        return named
    for journal in (*_newest_first(SESSIONS), *_temporary()):
        if _is_started(journal):
            say_aside(f"the newest session: {journal}")
            return journal
    raise HostError(
        f"no journal is named, and there is no session in {str(SESSIONS)!r} here nor one of gp-pta "
        "demo; name one, as in sessions/session-000001.journal, or make one: gp-pta demo"
    )


def journals_or_newest(named: Sequence[Path], *, tunings: bool = True) -> list[Path]:
    """Return the journals that were named, those in directories and their folders, or the newest.

    `tunings`: those of directories, too. A directory without any is named, and a `HostError` if
    there are no others; so is a folder that cannot be read named.
    """
    if not named:
        return [journal_or_newest(None)]
    found = {path: _journals_of(path, tunings) for path in named}
    empty = [f"no journals in {str(path)!r}" for path, journals in found.items() if not journals]
    if len(empty) == len(found):
        raise HostError("; ".join(empty))
    say_aside(*empty)
    return [journal for path in named for journal in found[path]]


def _journals_of(path: Path, tunings: bool) -> list[Path]:
    if not os.path.isdir(path):
        return [path]  # whatever it is, who reads it says so
    found = [each for each in journals_in([path]) if tunings or not begins_as_tuning(each)]
    for folder in (each for each in found if each.why_not):
        say_aside(f"left out: {folder.path!r} cannot be read: {folder.why_not}")
    journals = sorted((each for each in found if not each.why_not), key=lambda e: by_number(e.name))
    return [Path(each.path) for each in journals]


def _temporary() -> Iterator[Path]:
    """Return the user's own journals of demonstrations, the newest first."""
    found: list[tuple[float, Path]] = []
    place = Path(tempfile.gettempdir())
    for prefix in (DEMO_PREFIX, LISTEN_PREFIX):
        for directory in place.glob(f"{prefix}*"):
            with suppress(OSError):  # it may go at any time
                if directory.stat().st_uid == os.getuid():
                    found += ((j.stat().st_mtime, j) for j in _newest_first(directory))
    found.sort(key=lambda each: (each[0], path_by_number(each[1])), reverse=True)
    yield from (journal for _, journal in found)


def newest_in(directory: Path, names: str = JOURNALS) -> Path:
    """Return the newest journal of a directory that has one of these names."""
    return max(directory.glob(names), key=path_by_number)


def _newest_first(directory: Path) -> list[Path]:
    return sorted(directory.glob(JOURNALS), key=path_by_number, reverse=True)


def _is_started(journal: Path) -> bool:
    try:
        read_journal(journal)
    except JournalUnstartedError:
        return False
    except JournalError:  # the command that reads it says what is wrong
        return True
    return True


def by_number(name: str) -> tuple[list[Any], str]:
    """Return the key by which names are sorted: session-1000000 comes after session-999999."""
    parts: list[Any] = NUMBER.split(name)  # a text, a number, a text, ...
    parts[1::2] = map(int, parts[1::2])
    return parts, name


def path_by_number(path: Path) -> tuple[list[Any], str]:
    return by_number(path.name)
