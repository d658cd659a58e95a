"""The paper of a session, and ways to look at its rows."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from firmware_py.paper.blocks import Block, Paper, Section, Table
from firmware_py.terms.person import Person
from firmware_py.terms.results import EarResult
from host_tools.catalogue import language_of
from host_tools.commands.report.page import page_of
from host_tools.commands.report.session_report import SessionReport
from host_tools.papers import Shown
from host_tools.papers.pdf import document_of, set_paper
from host_tools.recordings.heading import NO_HEADING, Heading
from host_tools.recordings.recorded_session import RecordedSession, ReplayedSession
from tests.host.journals import NoSteps
from tests.host.pdfs import ReadPdf

Row = dict[str, Any]


def report_of(
    session: RecordedSession,
    language: str = "en",
    convention: str | None = None,
    heading: Heading = NO_HEADING,
) -> SessionReport:
    return SessionReport.of(session, convention, Shown(language, heading))


def page(report: SessionReport) -> str:
    """Return its page, without the steps of the session."""
    return page_of(report, NoSteps())


def typst(report: SessionReport) -> str:
    """Return what Typst is given of it."""
    told = document_of(report.paper, report.on_paper(), details=True)
    return json.dumps(told, ensure_ascii=False)


def pdf(report: SessionReport, *, details: bool = False) -> ReadPdf:
    return ReadPdf(set_paper(report.paper, report.on_paper(), ".pdf", details=details))


def rows_in(value: Any) -> Iterator[Row]:
    """Yield all rows of a paper, or of a part of one, and those in them."""
    if isinstance(value, dict):
        if "code" in value:
            yield value
        value = [*value.values()]
    if isinstance(value, list | tuple):
        for each in value:
            yield from rows_in(each)


def codes_in(value: Any) -> list[str]:
    return [row["code"] for row in rows_in(value)]


def rows_of(value: Any, code: str) -> list[Row]:
    """Return the rows of this code, in order."""
    return [row for row in rows_in(value) if row["code"] == code]


def check_said(value: Any, language: str) -> None:
    """Expect that a language says all rows: with no figure left out, and no code in its place."""
    said = language_of(language)
    for row in rows_in(value):
        text = said.say(row)
        assert row["code"] in said.sentences, row
        assert "{" not in text, row
        assert text.strip(), row


def with_ears(session: ReplayedSession, ears: Iterable[EarResult]) -> ReplayedSession:
    """Return a session as if it had recorded these ears."""
    return replace(session, recorded=replace(session.result, ears=tuple(ears)))


def with_person(session: ReplayedSession, person: Person) -> ReplayedSession:
    return replace(session, header=replace(session.header, person=person))


def section(paper: Paper, name: str) -> Section | None:
    """Return a section, or that of the details; None: there is none."""
    sections = [*paper["sections"], *paper["details"]]
    return next((each for each in sections if each["name"] == name), None)


def blocks(paper: Paper, kind: str) -> list[Block]:
    """Return the blocks of a kind of what a clinic files."""
    return [b for each in paper["sections"] for b in each["blocks"] if b["block"] == kind]


def facts(paper: Paper) -> dict[str, Any]:
    """Return the facts at its head, by their codes."""
    return {
        name["code"]: value for block in blocks(paper, "facts") for name, value in block["facts"]
    }


def tables(paper: Paper, name: str) -> dict[str, Table]:
    """Return the tables of a section by their routes; none where there is none."""
    found = section(paper, name)
    shown = [] if found is None else [b for b in found["blocks"] if b["block"] == "tables"]
    return {table["of"]: table for block in shown for table in block["tables"]}


def cells(table: Table, code: str) -> dict[Any, Any]:
    """Return the cells of a row of a table, by its columns."""
    (row,) = (cells for name, cells in table["rows"] if name["code"] == code)
    return dict(zip(table["columns"][1:], row, strict=True))


def sentence(paper: Paper, route: str) -> Row:
    """Return what is said of an ear below its audiogram."""
    (found,) = (row for row in rows_of(paper, "ear-sentence") if row["ear"] == route)
    return found
