"""Find the newest session, for a command that was given no journal."""

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from firmware_py.journal import JournalError, JournalUnstartedError, read_journal
from host_tools.errors import HostError
from host_tools.terminal import say_aside

JOURNALS: Final = "session-*.journal"
SESSIONS: Final = Path("sessions")  # where the pages have the firmware put them
# Where demo and listen put a journal that was given no other place.
DEMO_PREFIX: Final = "gp-pta-demo-"
LISTEN_PREFIX: Final = "gp-pta-listen-"


def add_journal_argument(p: argparse.ArgumentParser) -> None:
    """Add the journal, which may be left out."""
    p.add_argument(
        "journal", type=Path, nargs="?",
        help="of a session (default: the newest in the directory sessions, else of demo or listen)",
    )  # fmt: skip


def journal_or_newest(named: Path | None) -> Path:
    """Return the journal that was named, or else the newest session, and say which that is.

    Sessions in the directory `SESSIONS` come before those of demonstrations. So nobody takes a
    simulated listener for a person who was tested here.

    Raises
    ------
    HostError
        If there is none.
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


def _temporary() -> Iterator[Path]:
    """Return the user's own journals of demonstrations, the newest first."""
    found: list[tuple[float, Path]] = []
    place = Path(tempfile.gettempdir())
    for prefix in (DEMO_PREFIX, LISTEN_PREFIX):
        for directory in place.glob(f"{prefix}*"):
            with suppress(OSError):  # it may go at any time
                if directory.stat().st_uid == os.getuid():
                    found += ((j.stat().st_mtime, j) for j in _newest_first(directory))
    yield from (journal for _, journal in sorted(found, reverse=True))


def _newest_first(directory: Path) -> list[Path]:
    return sorted(directory.glob(JOURNALS), reverse=True)


def _is_started(journal: Path) -> bool:
    try:
        read_journal(journal)
    except JournalUnstartedError:
        return False
    except JournalError:  # the command that reads it says what is wrong
        return True
    return True
