"""Every way in which a session is shown to people, but for exports and what needs a valid test.

Whoever tests what all of them have to keep goes over `RENDERERS`.
"""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console

from firmware_py.operator.replies import audiogram_lines, result_words
from host_tools.commands.report.session_report import SessionReport
from host_tools.commands.watch.directory import view_of
from host_tools.commands.watch.screen import draw as watched
from host_tools.devices.live import show_result
from host_tools.papers.characters import show_paper
from host_tools.recordings.recorded_session import ReplayedSession
from host_tools.recordings.source import source_of
from tests.host.reports import page, report_of, typst

WIDE: Final = 200  # characters: nothing is broken into lines


@dataclass(frozen=True)
class Shown:
    """A session, and its journal, which says the same."""

    session: ReplayedSession
    journal: Path


def _watch(shown: Shown) -> str:
    screen = Console(file=io.StringIO(), width=WIDE)
    screen.print(watched(view_of(shown.journal)))
    text: str = screen.file.getvalue()  # type: ignore[attr-defined]
    return text


def _live(shown: Shown) -> str:
    screen = Console(file=io.StringIO(), width=WIDE)
    session = shown.session
    show_result(screen, session.result, nominal=session.header.calibration.nominal)
    text: str = screen.file.getvalue()  # type: ignore[attr-defined]
    return text


def _text(report: SessionReport) -> str:
    screen = Console(file=io.StringIO(), width=WIDE)
    show_paper(screen, report.paper, report.in_characters(), details=True)
    text: str = screen.file.getvalue()  # type: ignore[attr-defined]
    return text


# Of these every row of a paper is asked for.
PAPERS: Final[dict[str, Callable[[SessionReport], str]]] = {
    "page": lambda report: page(report).split("<script>")[0],
    "paper": typst,
    "text": _text,
}


def _on_paper(render: Callable[[SessionReport], str], shown: Shown) -> str:
    return render(report_of(shown.session))


RENDERERS: Final[dict[str, Callable[[Shown], str]]] = {
    "watch": _watch,
    "live": _live,
    "AUD": lambda of: "\n".join(audiogram_lines(source_of(of.session))),
    "SESS:RES?": lambda of: result_words(of.session.result, of.session.header, named=True),
    **{name: partial(_on_paper, render) for name, render in PAPERS.items()},
    "report JSON": lambda of: json.dumps(report_of(of.session).as_json()),
}
