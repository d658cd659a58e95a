"""People as one page of HTML that needs nothing from outside: thresholds over the years."""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Final

from firmware_py.platform.version import full_version
from firmware_py.procedure.results import ThresholdResult
from firmware_py.procedure.route import AUDIOGRAM_FREQUENCIES_HZ
from host_tools import drawing_js
from host_tools.commands.report.page import escape
from host_tools.commands.sessions.change import SHIFT_DB
from host_tools.commands.sessions.choice import clock_was_set
from host_tools.commands.sessions.people import EARS, Comparison, Person, Visit
from host_tools.commands.sessions.people_words import NOTHING, PeopleWords
from host_tools.commands.sessions.time_chart import Point, chart, point_of

_ASSETS: Final = files("host_tools.commands.sessions") / "assets"
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def people_page(people: Sequence[tuple[Person, Sequence[Comparison]]], words: PeopleWords) -> str:
    title = words.name(people[0][0]) if len(people) == 1 else words.say("heading")
    sections = "\n".join(
        _person(number, person, comparisons, words)
        for number, (person, comparisons) in enumerate(people, 1)
    )
    style = drawing_js.sheet() + (_ASSETS / "people.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="{words.catalogue.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<header><h1>{escape(words.say("heading"))}</h1></header>
<main>
{sections}
</main>
<footer><p>gp-pta {escape(full_version())}. {escape(words.method())}</p></footer>
</body>
</html>
"""


def _person(
    number: int, person: Person, comparisons: Sequence[Comparison], words: PeopleWords
) -> str:
    remarks = [
        f"<li{_class(comparisons, i)}>{escape(line)}</li>"
        for i, line in enumerate(words.remarks(person, comparisons))
    ]
    parts = [
        f'<section aria-labelledby="person-{number}">',
        f'<h2 id="person-{number}">{escape(words.name(person))}</h2>',
        f"<p>{escape(words.sessions(person))}</p>",
        f"<ul>{''.join(remarks)}</ul>" if remarks else "",
        _sessions(person, words),
        *_in_each_unit(person, words),
        f'<div class="pair">{"".join(_changes(each, words) for each in comparisons)}</div>',
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _class(comparisons: Sequence[Comparison], index: int) -> str:
    """Mark what says that an ear changed: the first lines are the comparisons, in their order."""
    changed = index < len(comparisons) and comparisons[index].change.changed
    return ' class="changed"' if changed else ""


def _in_each_unit(person: Person, words: PeopleWords) -> Iterable[str]:
    """Yield charts and tables of calibrated sessions, and after them those of the others."""
    for nominal in (False, True):
        visits = [each for each in person.visits if each.nominal == nominal and each.ears]
        if visits:
            unit = words.unit(nominal=nominal)
            yield _charts(visits, unit, words)
            yield f'<p class="note">{escape(words.convention(person))}</p>'
            for ear in EARS:
                yield _thresholds([each for each in visits if ear in each.ears], ear, unit, words)


def _charts(visits: Sequence[Visit], unit: str, words: PeopleWords) -> str:
    when = [visit.at for visit in visits]
    figures = []
    for frequency_hz in AUDIOGRAM_FREQUENCIES_HZ:
        lines = {ear: _points(visits, ear, frequency_hz, when) for ear in EARS}
        if any(lines.values()):
            label = words.say("over_time_label", frequency_hz=str(frequency_hz), unit=unit)
            figures.append(
                f'<figure><svg viewBox="0 0 170 190" role="img" aria-label="{escape(label)}">'
                f"{chart(lines, (min(when), max(when)), _years(visits))}</svg>"
                f"<figcaption>{frequency_hz} Hz</figcaption></figure>"
            )
    right, left = (escape(words.catalogue.say("report", ear)) for ear in EARS)
    legend = (
        f'<p class="note"><span class="right">O</span> {right}, '
        f'<span class="left">X</span> {left}. '
        f"{escape(words.say('legend'))}</p>"
    )
    heading = f"<h3>{escape(words.say('over_time', unit=unit))}</h3>"
    return f'{heading}<div class="charts">{"".join(figures)}</div>{legend}'


def _points(
    visits: Sequence[Visit], ear: str, frequency_hz: int, when: Sequence[float]
) -> list[Point]:
    found = []
    for visit, x in zip(visits, when, strict=True):
        threshold = threshold_at(visit, ear, frequency_hz)
        point = None if threshold is None else point_of(x, threshold, visit.ears[ear])
        if point is not None:
            found.append(point)
    return found


def threshold_at(visit: Visit, ear: str, frequency_hz: int) -> ThresholdResult | None:
    """Return what a session found of an ear at a frequency, None: nothing."""
    result = visit.ears.get(ear)
    found = () if result is None else result.thresholds
    return next((each for each in found if each.frequency_hz == frequency_hz), None)


def _years(visits: Sequence[Visit]) -> tuple[str, str]:
    """Return the first and the last year, the latter only if it is another one."""
    first, last = (visits[i].entry.started[:4] for i in (0, -1))
    return first, "" if first == last else last


def _sessions(person: Person, words: PeopleWords) -> str:
    say = words.say
    columns = [
        say("column_date"), say("column_file"), say("column_outcome"), say("column_verdict"),
        say("column_ears"), say("column_calibration"), say("column_device"),
        *(say("column_pta4", ear=words.catalogue.say("report", ear)) for ear in EARS),
    ]  # fmt: skip
    rows = []
    for visit in person.visits:
        entry = visit.entry
        clock = "" if clock_was_set(entry) else f"\n{say('clock_not_set')}"
        started = f"{words.catalogue.time(entry.started)}{clock}"
        pta4 = [words.pta4(visit, ear) for ear in EARS]
        told = [
            words.outcome(entry), words.verdict(entry), words.ears(entry),
            words.state(entry.calibration), entry.device or NOTHING,
        ]  # fmt: skip
        rows.append([started, entry.name, *told, *pta4])
    return _table(say("sessions_caption"), columns, rows)


def _thresholds(visits: Sequence[Visit], ear: str, unit: str, words: PeopleWords) -> str:
    """Return a row a session; without any, nothing."""
    if not visits:
        return ""
    columns = [words.say("column_date"), *(f"{f} Hz" for f in AUDIOGRAM_FREQUENCIES_HZ)]
    rows = []
    for visit in visits:
        cells = [words.visit_of(visit, ear)]
        for f in AUDIOGRAM_FREQUENCIES_HZ:
            found = threshold_at(visit, ear, f)
            cells.append(f"{words.threshold(found)}\n{words.band(found)}".strip())
        rows.append(cells)
    return _table(
        words.say("thresholds_caption", ear=words.ear(ear), unit=unit), columns, rows, ear
    )


def _changes(found: Comparison, words: PeopleWords) -> str:
    number, date = words.catalogue.number, words.catalogue.date
    share = words.say("column_share", shift_db=number(SHIFT_DB))
    columns = ["Hz", words.say("column_shift"), words.say("column_band"), share]
    rows = []
    for shift in found.change.shifts:
        low, high = number(shift.low_db, "+.0f"), number(shift.high_db, "+.0f")
        band = words.catalogue.say("report", "band", low=low, high=high)
        mean_db = number(shift.mean_db, "+.0f")
        rows.append([f"{shift.frequency_hz}", mean_db, band, words.percent(shift.probability)])
    first, last = (date(visit.entry.started) for visit in (found.first, found.last))
    caption = words.say("changes_caption", ear=words.ear(found.ear), first=first, last=last)
    return _table(caption, columns, rows, found.ear)


def _table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]], kind: str = ""
) -> str:
    """Return a table whose cells may have a second line, and which can be scrolled sideways."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = ""
    for first, *others in rows:
        cells = "".join(f"<td>{_cell(cell)}</td>" for cell in others)
        body += f'<tr><th scope="row">{_cell(first)}</th>{cells}</tr>\n'
    about = f' class="{kind}"' if kind else ""
    return (
        f'<div class="wide" role="group" aria-label="{escape(caption)}" tabindex="0">'
        f"<table><caption{about}>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    first, _, second = text.partition("\n")
    return f"{escape(first)}<br><small>{escape(second)}</small>" if second else escape(first)
