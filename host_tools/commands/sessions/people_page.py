"""People as one page of HTML that needs nothing from outside: thresholds over the years."""

from collections.abc import Iterator, Sequence
from importlib.resources import files

from firmware_py.findings.rows import row
from firmware_py.platform.version import full_version
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.shown_threshold import as_shown
from firmware_py.terms.verdicts import may_conclude
from host_tools.commands.sessions.people import EARS, Comparison, Person, Visit
from host_tools.commands.sessions.people_paper import (
    history,
    method_row,
    name_row,
    summary,
    unit_of,
)
from host_tools.commands.sessions.time_chart import chart
from host_tools.papers import Shown
from host_tools.papers.html import escape, page_as_html, sections_as_html

Compared = tuple[Person, Sequence[Comparison]]


def people_page(people: Sequence[Compared], language: str) -> str:
    """Return a page of people, each with what came of their ears."""
    shown = Shown(language)
    heading = shown.say(row("people-heading"))
    title = shown.say(name_row(people[0][0])) if len(people) == 1 else heading
    sheet = (files("host_tools.commands.sessions") / "assets/people.css").read_text("utf-8")
    body = "\n".join(part for number, each in enumerate(people, 1)
                     for part in _sections(number, *each, shown))  # fmt: skip
    footer = escape(f"gp-pta {full_version()}. {shown.say(method_row())}")
    return page_as_html(
        shown, title, sheet,
        f"<header><h1>{escape(heading)}</h1></header>\n<main>\n{body}\n</main>\n"
        f"<footer><p>{footer}</p></footer>",
    )  # fmt: skip


def _sections(
    number: int, person: Person, comparisons: Sequence[Comparison], shown: Shown
) -> Iterator[str]:
    yield sections_as_html([summary(number, person, comparisons)], shown)
    for nominal in (False, True):
        if visits := person.visits_by(nominal):
            found = history(number, person, comparisons, nominal=nominal)
            drawn = {found["name"]: _charts(visits, nominal, shown)}
            yield sections_as_html([found], Shown(shown.name, drawings=drawn))


def _charts(visits: Sequence[Visit], nominal: bool, shown: Shown) -> str:
    """Draw the thresholds at each frequency over time."""
    span = (min(visit.at for visit in visits), max(visit.at for visit in visits))
    first, last = (visits[i].entry.started[:4] for i in (0, -1))
    figures = ""
    for f in AUDIOGRAM_FREQUENCIES_HZ:
        lines = {
            ear: [
                (visit.at, reading, may_conclude(visit.ears[ear]))
                for visit in visits
                if ear in visit.ears
                for each in visit.ears[ear].thresholds
                if each.frequency_hz == f and (reading := as_shown(each)).level_db_hl is not None
            ]
            for ear in EARS
        }
        if any(lines.values()):
            label = shown.say(row("people-chart", frequency_hz=f, **unit_of(nominal)))
            drawn = chart(lines, span, (first, "" if first == last else last))
            figures += (
                f'<figure><svg viewBox="0 0 170 190" role="img" aria-label="{escape(label)}">'
                f"{drawn}</svg><figcaption>{f} Hz</figcaption></figure>"
            )
    return f'<div class="charts">{figures}</div>'
