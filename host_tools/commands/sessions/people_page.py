"""People as one page of HTML that needs nothing from outside: thresholds over the years."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Final

from firmware_py.findings.rows import row
from firmware_py.platform.version import full_version
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.shown_threshold import Kind, ShownThreshold, as_shown
from firmware_py.terms.verdicts import may_conclude
from host_tools.commands.sessions.people import EARS, Comparison, Person, Visit
from host_tools.commands.sessions.people_paper import (
    history,
    method_row,
    name_row,
    summary,
    unit_of,
)
from host_tools.drawings.drawing import symbol_table
from host_tools.papers import Shown
from host_tools.papers.html import escape, page_as_html, sections_as_html

LEFT: Final = 30.0
RIGHT: Final = 162.0
TOP: Final = 14.0
BOTTOM: Final = 170.0
INSET: Final = 14.0  # of the first and the last session from the edges
ASIDE: Final = 4.0  # of the ears from one another
SYMBOL: Final = 4.0  # half of its width
TICKS_DB_HL: Final = (0, 20, 40, 60, 80, 100, 120)

Compared = tuple[Person, Sequence[Comparison]]
# When; a reading that has a level; and whether the test that it is of is valid.
Point = tuple[float, ShownThreshold, bool]


def people_page(people: Sequence[Compared], language: str) -> str:
    shown = Shown(language)
    heading = shown.say(row("people-heading"))
    title = shown.say(name_row(people[0][0])) if len(people) == 1 else heading
    sheet = (files("host_tools.commands.sessions") / "assets/people.css").read_text("utf-8")
    body = "\n".join(part for number, each in enumerate(people, 1)
                     for part in _sections(number, *each, shown))  # fmt: skip
    methods = [method_row()]
    if any(person.baselines is not None for person, _ in people):
        methods.append(row("rules-method"))
    footer = escape(f"gp-pta {full_version()}. {' '.join(map(shown.say, methods))}")
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
            drawn = _chart(lines, span, (first, "" if first == last else last))
            figures += (
                f'<figure><svg viewBox="0 0 170 190" role="img" aria-label="{escape(label)}">'
                f"{drawn}</svg><figcaption>{f} Hz</figcaption></figure>"
            )
    return f'<div class="charts">{figures}</div>'


def _chart(
    lines: Mapping[str, Sequence[Point]], span: tuple[float, float], ends: tuple[str, str]
) -> str:
    """Return the inside of an SVG: each ear's points, with the first and last time of all below."""
    first, last = span
    parts = [_paper(ends)]
    for ear, points in lines.items():
        side = symbol_table()["ears"][ear]["side"]
        at = [(_x(when, first, last) + side * ASIDE, *told) for when, *told in points]
        parts.append(
            f'<g class="{ear}">{_line(at)}{"".join(_draw_point(ear, *point) for point in at)}</g>'
        )
    return "".join(parts)


def _x(when: float, first: float, last: float) -> float:
    if first == last:
        return 0.5 * (LEFT + RIGHT)
    return LEFT + INSET + (when - first) / (last - first) * (RIGHT - LEFT - 2.0 * INSET)


def _y(level_db_hl: float) -> float:
    paper = symbol_table()["paper"]
    top_db_hl, bottom_db_hl = paper["top_db_hl"], paper["bottom_db_hl"]
    share = (level_db_hl - top_db_hl) / (bottom_db_hl - top_db_hl)
    return float(TOP + min(max(share, 0.0), 1.0) * (BOTTOM - TOP))


def _paper(ends: tuple[str, str]) -> str:
    grid = "".join(
        f'<path class="grid" d="M{LEFT:g} {_y(level):.1f}H{RIGHT:g}"/>'
        f'<text x="{LEFT - 4:g}" y="{_y(level) + 3:.1f}" text-anchor="end">{level}</text>'
        for level in TICKS_DB_HL
    )
    first, last = map(escape, ends)
    below = BOTTOM + 14.0
    frame = f"M{LEFT:g} {TOP:g}H{RIGHT:g}V{BOTTOM:g}H{LEFT:g}Z"
    return (
        f'{grid}<path class="frame" d="{frame}"/>'
        f'<text x="{LEFT:g}" y="{below:g}">{first}</text>'
        f'<text x="{RIGHT:g}" y="{below:g}" text-anchor="end">{last}</text>'
    )


def _line(at: Sequence[Point]) -> str:
    """Join what was measured in valid tests; what was inferred is no part of it."""
    way = [(x, _y(each.measured_db_hl)) for x, each, valid in at
           if each.measured_db_hl is not None and valid]  # fmt: skip
    if len(way) < 2:
        return ""
    return f'<path class="way" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in way)}"/>'


def _draw_point(ear: str, x: float, point: ShownThreshold, valid: bool) -> str:
    inferred = point.kind == Kind.INFERRED
    drawn = ""
    if point.low_db_hl is not None and point.high_db_hl is not None:
        name = "band inferred" if inferred else "band"
        ends = f"M{x:.1f} {_y(point.low_db_hl):.1f}V{_y(point.high_db_hl):.1f}"
        drawn = f'<path class="{name}" d="{ends}"/>'
    if inferred or point.level_db_hl is None:
        return drawn
    symbols, arrows = symbol_table()["symbols"][ear], symbol_table()["arrows"]
    place = f"translate({x:.1f} {_y(point.level_db_hl):.1f})"
    shape = symbols["masked" if point.masked else "none"]["path"]
    drawn += f'<path class="symbol" transform="{place} scale({SYMBOL:g})" d="{shape}"/>'
    if point.kind in arrows:
        side, way = symbol_table()["ears"][ear]["side"], arrows[point.kind]["way"]
        turned = f"{place} scale({SYMBOL * side:g} {SYMBOL * way:g})"
        drawn += f'<path class="symbol" transform="{turned}" d="{arrows["path"]}"/>'
    return drawn if valid else f'<g class="doubtful">{drawn}</g>'
