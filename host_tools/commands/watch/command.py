"""`gp-pta watch`: look on while a session runs."""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from host_tools.errors import HostError
from host_tools.files import cannot_be_read

if TYPE_CHECKING:  # they bring Numba with them, which the other commands can do without
    from host_tools.commands.watch.view import View

EXAMPLE = """\
example:
  gp-pta watch sessions
  gp-pta watch /dev/ttyACM0
  gp-pta watch sessions --once
  gp-pta watch sessions/session-000003.journal

A data directory is only read, so any number of people may look on while the operator has the
console; when its last session is over, the next one is waited for. At the console's port nobody
else can be; start the session first, or let it be one that is gone on with. It ends with the
session, or with ^C, which the session does not notice. A session that is over is shown by its
journal.

exit codes: 0 the session is over, 2 there is nothing to look at, 6 a record of the journal says
what no session can have recorded, 130 ended by ^C
"""

NEEDS: Final[dict[str, tuple[str, ...]]] = {}
LOOK_S: Final = 0.25


class Watch(Protocol):
    """Something a session can be seen through."""

    def look(self) -> "View":
        """Return what there is to see now."""

    def close(self) -> None:
        """Leave everything as it was found."""


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument(
        "source", metavar="PORT|DIR|JOURNAL",
        help="the firmware's data directory, one journal of it, or its console: a port, or a URL "
        "of pyserial",
    )  # fmt: skip
    p.add_argument("--once", action="store_true", help="show how it is now, and end")


def run(arguments: argparse.Namespace) -> int:
    """Show the session until it is over."""
    from rich.console import Console
    from rich.live import Live

    from host_tools.commands.watch.screen import draw

    watch = watch_of(arguments.source, awaits_next=not arguments.once)
    screen = Console(highlight=False)
    try:
        if arguments.once:
            screen.print(draw(watch.look()))
            return 0
        with Live(console=screen, auto_refresh=False) as live:
            over = False
            while not over:
                view = watch.look()
                live.update(draw(view), refresh=True)
                over = view.over
                time.sleep(0.0 if over else LOOK_S)
    finally:
        watch.close()
    return 0


def watch_of(source: str, awaits_next: bool = False) -> Watch:
    """Return what looks on at a directory or a journal, or else at a port.

    Parameters
    ----------
    source : str
    awaits_next : bool
        Whether a directory whose last session is over is one where the next is waited for.

    Raises
    ------
    HostError
        If there is neither, or nobody may look.
    """
    path = Path(source)
    try:
        is_directory, is_file = path.is_dir(), path.is_file()
        is_there = "://" in source or path.exists()
    except OSError as error:
        raise cannot_be_read(path, error) from None
    if is_directory or is_file:
        from host_tools.commands.watch.directory import DirectoryWatch, JournalWatch

        return DirectoryWatch(path, awaits_next) if is_directory else JournalWatch(path)
    if not is_there:
        raise HostError(f"{source!r} is no directory, journal or port: it is not there")
    from host_tools.commands.watch.port import PortWatch

    return PortWatch(source)
