"""Every row of the paper of a session is shown by whatever shows one: none is lost on the way."""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final

import pytest

from firmware_py.paper.blocks import Paper
from host_tools.catalogue import LANGUAGES
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import RecordedSession
from tests.budget import quick
from tests.host.commands.report.test_bone import conductive
from tests.host.journals import BOTH, MASKED, session_of
from tests.host.judged import DIFFERENT, a_session
from tests.host.renderers import PAPERS
from tests.host.reports import report_of

# What a renderer has no place for: the name of a drawing, a title of a file, what is signed, what
# an audiogram in characters has no mark of.
WITHOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "page": (),
    "paper": (),
    "text": ("title", "label", "sign", "entries"),
    "elements": ("title",),
}
HEADING: Final = Heading("", "Zoë", date(1957, 3, 8), "A. Meyer", "Room 4", "None.")
SESSIONS: Final[dict[str, Callable[[], RecordedSession]]] = {
    "both": lambda: session_of(BOTH),
    "masked": lambda: session_of(MASKED),
    "bone": conductive,
    "judged": lambda: a_session(DIFFERENT),
}

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]


def rows_shown(value: Any, without: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the rows that stand for themselves, and not in another one."""
    if isinstance(value, dict):
        if "code" in value:
            yield value
            return
        if value.get("block") in without:
            return
        if "block" in value or "name" in value:
            without = tuple(each for each in without if each != "title")
        value = [each for name, each in value.items() if name not in without]
    if isinstance(value, list | tuple):
        for each in value:
            yield from rows_shown(each, without)


def bare(text: str) -> str:
    """Return a text without spaces, and without what HTML and JSON make of signs."""
    text = html.unescape(re.sub(r"</?[a-z][^<>]*>", "", text))
    return re.sub(r"\s", "", text.replace('\\"', '"'))


@pytest.mark.parametrize("language", quick(LANGUAGES, "nl"))
@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize("renderer", PAPERS)
def test_every_row_is_shown(renderer: str, name: str, language: str) -> None:
    report = report_of(SESSIONS[name](), language, heading=HEADING)
    text = PAPERS[renderer](report)
    if renderer == "text":
        text = re.sub(r"(?m)^.*[|.].*[|.] $", "", text)  # the audiogram in characters
    shown = bare(text)
    title = {**report.paper["title"], "person": HEADING.name}
    paper: Paper = {**report.paper, "title": title}
    rows = [*rows_shown(paper, WITHOUT[renderer])]
    assert len(rows) > 50
    assert [row for row in rows if bare(report.shown.say(row)) not in shown] == []
