"""`gp-pta report`: what a session found, as a page to look through or a picture."""

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from host_tools.catalogue import add_language_argument
from host_tools.extras import need
from host_tools.files import check_name, write_text
from host_tools.recordings.convention import add_convention_argument
from host_tools.recordings.heading import EXAMPLE as HEADING_EXAMPLE
from host_tools.recordings.heading import add_heading_argument, read_heading
from host_tools.recordings.newest import add_journal_argument, journal_or_newest
from host_tools.recordings.replayed import DAMAGED, DIFFERENT, UNFINISHED, code_of
from host_tools.terminal import say, say_aside

if TYPE_CHECKING:  # these bring Numba with them, which other commands do without
    from firmware_py.session.hearing import HearingTest
    from host_tools.commands.report.history import History
    from host_tools.commands.report.session_report import SessionReport
    from host_tools.recordings.recorded_session import Trial, TrialWatcher

EXAMPLE = f"""\
examples:
  gp-pta report
  gp-pta report sessions/session-000001.journal -o session.html
  gp-pta report sessions/session-000001.journal -o session.pdf --heading person.toml --force
  gp-pta report sessions/session-000001.journal --text --details --language nl
  gp-pta report sessions/session-000001.journal --json

The page (.html) is one file that needs no network, and steps through the session. Paper (.pdf) is
what a clinic files: tagged PDF of A4, with room for comments and a line to sign; .png and .svg are
a picture of it.

{HEADING_EXAMPLE}
exit codes: 0 written, and the record is whole; 2 nothing was written; 6 nothing was written, for a
record of the journal says what no session can have recorded; otherwise it was written, but 1
something of the record comes out differently, 3 the session is not finished, 4 the journal is
damaged
"""

NEEDS: Final = {"-o PICTURE": ("matplotlib", "quickjs", "typst")}
ENDINGS: Final = (".html", ".png", ".svg", ".pdf")
PAGE: Final = ".html"
# Of the record, by the exit code.
STATES: Final = {
    DIFFERENT: "; something of the record comes out differently",
    UNFINISHED: "; the session is not finished",
    DAMAGED: "; the journal is damaged",
}
QUIET_S: Final = 1.0  # before progress is shown


def add_arguments(p: argparse.ArgumentParser) -> None:
    add_journal_argument(p)
    p.add_argument(
        "-o", "--out", type=Path, metavar="FILE",
        help=f"a name in {', '.join(ENDINGS)} (default, without --text and --json: that of the "
        f"journal in {PAGE}, here)",
    )  # fmt: skip
    p.add_argument("--force", action="store_true", help="overwrite FILE if it is there")
    add_heading_argument(p, "page, paper and --text")
    add_convention_argument(p)
    add_language_argument(p, "of the page, the picture and --text")
    p.add_argument(
        "--details", action="store_true", help="with what a clinic does not file; the page has it"
    )
    p.add_argument("--text", action="store_true", help="print the paper in characters")
    p.add_argument(
        "--json", action="store_true",
        help="print the result, and its paper as codes and figures, as one JSON object",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    journal = journal_or_newest(arguments.journal)
    out: Path | None = arguments.out
    if out is None and not (arguments.text or arguments.json):
        out = Path(journal.stem + PAGE)
    if out is not None:
        check_name(out, "-o", ENDINGS, arguments.force)
        if out.suffix != PAGE:
            need(f"-o {out}", *NEEDS["-o PICTURE"], use="report -o PICTURE")
    heading = read_heading(arguments.heading)

    from host_tools.commands.report.history import History
    from host_tools.commands.report.session_report import SessionReport
    from host_tools.papers import Shown
    from host_tools.recordings.recorded_session import read_session, watch_nothing

    history = History(arguments.convention)
    page = out is not None and out.suffix == PAGE
    with progress(history if page else watch_nothing) as watch:
        session = read_session(journal, watch)
    heading.check(arguments.heading, session.person, session.header.started)
    shown = Shown(arguments.language, heading)
    report = SessionReport.of(session, arguments.convention, shown)
    code = code_of(session.differences, session.damage, complete=session.complete)
    _tell(report, history, arguments, out)
    if out is not None:
        say_aside(f"{out} written{STATES.get(code, '')}")
    return code


def _tell(
    report: "SessionReport", history: "History", arguments: argparse.Namespace, out: Path | None
) -> None:
    from rich.console import Console

    from host_tools.commands.report.page import page_of
    from host_tools.papers.characters import show_paper

    details: bool = arguments.details
    if out is not None and out.suffix == PAGE:
        write_text(out, page_of(report, history))
    elif out is not None:
        from host_tools.papers.pdf import write_paper  # which needs an extra

        write_paper(report.paper, report.on_paper(), out, details=details)
    if arguments.text:
        show_paper(Console(), report.paper, report.in_characters(), details=details)
    if arguments.json:
        say(json.dumps(report.as_json()))


@contextmanager
def progress(watch: "TrialWatcher") -> Iterator["TrialWatcher"]:
    """Say on a terminal how far the reading is, if it takes more than a second."""
    from rich.console import Console

    began_s = time.monotonic()
    screen = Console(stderr=True)
    status = screen.status("")

    def tell(test: "HearingTest", trial: "Trial") -> None:
        watch(test, trial)
        if screen.is_terminal and time.monotonic() - began_s > QUIET_S:
            status.update(f"reading the session: presentation {trial.number}")
            status.start()

    try:
        yield tell
    finally:
        status.stop()
