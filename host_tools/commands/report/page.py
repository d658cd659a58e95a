"""A session as one page of HTML that needs nothing from outside: its paper, and tone by tone."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any, Final

from firmware_py.findings.rows import Cell, no_value, row
from firmware_py.paper.blocks import Table, table
from firmware_py.paper.source import Source
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.route import BY_AIR, LEFT, RIGHT, ROUTES
from host_tools import drawing_js
from host_tools.commands.report.drawn import watermark
from host_tools.commands.report.history import History
from host_tools.commands.report.legend import draw_mark
from host_tools.commands.report.session_report import SessionReport
from host_tools.drawings.drawing import EAR_COLOURS, GREY, INK
from host_tools.papers import Mark, Shown
from host_tools.papers.html import (
    escape,
    header_as_html,
    page_as_html,
    sections_as_html,
    table_as_html,
)
from host_tools.recordings.recorded_session import ReplayedSession, Trial

ASSETS: Final = files("host_tools.commands.report") / "assets"
# The page's own colours in the place of the legend's: it has light and dark ones.
COLOURS: Final = {
    INK: "--ink",
    GREY: "--grey",
    EAR_COLOURS[RIGHT]: "--right",
    EAR_COLOURS[LEFT]: "--left",
}
HIDDEN: Final = '<svg aria-hidden="true"'
STEP: Final = "step-"  # so the codes of the page's program begin
COLUMNS: Final = ("number", "ear", "purpose", "hertz", "level", "answer", "response", "at", "noise")


def page_of(report: SessionReport, history: History) -> str:
    """Return the page; `history`: what watched the session, where it was replayed."""
    paper, session, source = report.paper, report.session, report.source
    places = {str(ear.route): f'<svg id="audiogram-{ear.route}"></svg>' for ear in source.drawn}
    shown = replace(report.shown, drawings=places, mark=_mark)
    details = sections_as_html(paper["details"], shown)
    main = [
        sections_as_html(paper["sections"], shown),
        f"<noscript><p>{escape(shown.say(row('step-no-script')))}</p></noscript>",
        f"<details><summary>{escape(shown.say(row('details')))}</summary>\n{details}\n</details>",
    ]
    if isinstance(session, ReplayedSession):
        main.append(_steps(session, source, shown))
    footer = f"<footer><p>{escape(shown.say(paper['footer']))}</p></footer>"
    body = "\n".join([header_as_html(paper, shown), "<main>", *main, "</main>", footer])
    script = (
        f'<script type="application/json" id="history">{_json(_program_data(report, history))}'
        f"</script>\n<script>\n{drawing_js.inline_script()}\n{_asset('page.js')}\n</script>\n"
    )
    style = _asset("page.css") + drawing_js.style()
    return page_as_html(shown, shown.title_of(paper), style, body, script)


def _mark(mark: Mark) -> str:
    """Return a mark in the page's own colours."""
    drawn = draw_mark(mark).replace("<svg", HIDDEN, 1)
    for colour, name in COLOURS.items():
        drawn = drawn.replace(colour, f"var({name})")
    return drawn


def _steps(session: ReplayedSession, source: Source, shown: Shown) -> str:
    trials = table_as_html(_trials(session.trials, source), shown, "presentations")
    parts = {"steps": str(len(session.trials)), "trials": trials}

    def fill(found: re.Match[str]) -> str:
        return parts.get(found[1]) or escape(shown.say(row(found[1])))

    return re.sub(r"\{\{([\w-]+)\}\}", fill, _asset("session.html"))


def _trials(trials: Sequence[Trial], source: Source) -> Table:
    """Return every presentation, in a table; with a column of noise if there was any."""
    count = len(COLUMNS) - (not any(trial.noise_db_hl is not None for trial in trials))
    columns = [row(f"step-column-{name}", **source.unit) for name in COLUMNS[:count]]
    rows = [(trial.number, _trial(trial)[: count - 1]) for trial in trials]
    return table(row("step-presentations"), columns, rows)


def _trial(trial: Trial) -> list[Cell]:
    figures = (trial.frequency_hz, trial.level_db_hl)
    tone = [no_value() if each is None else each for each in figures]
    silence = trial.frequency_hz is None
    answer = {None: "unsure", True: "heard", False: "not-heard"}[trial.heard]
    if silence and trial.heard is not None:
        answer = "pressed" if trial.heard else "not-pressed"
    return [
        row("the-ear", ear=str(trial.route)),
        row(f"purpose-{trial.purpose}"),
        *tone,
        row(f"step-{answer}"),
        no_value() if trial.response_ms is None else row("whole", ms=trial.response_ms),
        round(trial.at_us / 1e6, 1),
        no_value() if trial.noise_db_hl is None else trial.noise_db_hl,
    ]


def _program_data(report: SessionReport, history: History) -> dict[str, Any]:
    source, session, shown = report.source, report.session, report.shown
    blocks = [block for section in report.paper["sections"] for block in section["blocks"]]
    drawn = [each for block in blocks if block["block"] == "audiograms" for each in block["of"]]
    labels = {each["route"]: shown.say(each["label"]) for each in drawn}
    audiograms = [
        {
            **ear.route.parts(),
            "data": report.audiogram(ear),
            "label": labels[str(ear.route)],
        }
        for ear in source.drawn
    ]
    steps = history.as_json(session) if isinstance(session, ReplayedSession) else {}
    return {
        **steps,
        "words": _words_of_steps(source, shown),
        "unit": shown.say(row("step-column-level", **source.unit)),
        "paper": report.drawing_words,
        "watermark": watermark(source, shown),
        "audiograms": audiograms,
    }


def _words_of_steps(source: Source, shown: Shown) -> dict[str, str]:
    sentences = shown.language.sentences
    tested = {ear.route for ear in source.ears}
    routes = [route for route in ROUTES if route.kind is BY_AIR or route in tested]
    codes = [*(f"ear-{route}" for route in routes), *(f"purpose-{each}" for each in Purpose)]
    codes += [code for code in sentences if code.startswith(STEP)]
    words = {code: sentences[code] for code in codes}
    return {**words, "decimal": shown.language.spell(".")}


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """Return JSON that cannot end the element it stands in."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")
