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
from host_tools.devices.live import show_result
from host_tools.papers.characters import show_paper
from host_tools.recordings.recorded_session import ReplayedSession
from host_tools.recordings.source import source_of
from tests.host.commands.page.in_javascript import elements_of
from tests.host.reports import page, report_of, typst

WIDE: Final = 200  # characters: nothing is broken into lines


@dataclass(frozen=True)
class Shown:
    """A session, and its journal, which says the same."""

    session: ReplayedSession
    journal: Path


def on_screen(show: Callable[[Console], None], width: int = WIDE) -> str:
    """Return what is shown on a screen."""
    told = io.StringIO()
    show(Console(file=told, width=width))
    return told.getvalue()


def _live(shown: Shown) -> str:
    result, nominal = shown.session.result, shown.session.header.calibration.nominal
    return on_screen(lambda screen: show_result(screen, result, nominal=nominal))


def _text(report: SessionReport) -> str:
    shown = report.in_characters()
    return on_screen(lambda screen: show_paper(screen, report.paper, shown, details=True))


# Of these every row of a paper is asked for.
PAPERS: Final[dict[str, Callable[[SessionReport], str]]] = {
    "page": lambda report: page(report).split("<script>")[0],
    "paper": typst,
    "text": _text,
    "elements": lambda report: elements_of(report.paper, report.shown),  # of the operator's page
}


def _on_paper(render: Callable[[SessionReport], str], shown: Shown) -> str:
    return render(report_of(shown.session))


RENDERERS: Final[dict[str, Callable[[Shown], str]]] = {
    "live": _live,
    "AUD": lambda of: "\n".join(audiogram_lines(source_of(of.session))),
    "SESS:RES?": lambda of: result_words(of.session.result, of.session.header, named=True),
    **{name: partial(_on_paper, render) for name, render in PAPERS.items()},
    "report JSON": lambda of: json.dumps(report_of(of.session).as_json()),
}
