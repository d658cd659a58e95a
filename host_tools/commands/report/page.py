"""A session as one page of HTML that needs nothing from outside: what was found, and how."""

import html
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, Final

from firmware_py.calibration.in_force import HOLDING
from firmware_py.platform.version import full_version
from firmware_py.procedure.mean_threshold import GRADES_DB_HL
from firmware_py.procedure.outcomes import Bound, Purpose
from firmware_py.procedure.printable import printable
from firmware_py.procedure.route import BY_AIR, LEFT, RIGHT, ROUTES
from firmware_py.procedure.verdicts import has_thresholds
from host_tools import drawing_js
from host_tools.commands.report.drawn import audiogram_as_json, watermark
from host_tools.commands.report.ear_sentence import ear_sentence
from host_tools.commands.report.findings import EarFindings, Findings
from host_tools.commands.report.history import History
from host_tools.commands.report.legend import legend_of
from host_tools.commands.report.notes import notes_of
from host_tools.commands.report.quality_words import masking_levels, noise_level, quality_rows
from host_tools.commands.report.words import NOTHING, Words
from host_tools.drawings.drawing import EAR_COLOURS, GREY, INK
from host_tools.recordings.heading import NO_HEADING, Heading
from host_tools.recordings.particulars import Particulars
from host_tools.recordings.recorded_session import RecordedSession, ReplayedSession, Trial
from host_tools.terminal import NO_BREAK

ASSETS: Final = files("host_tools.commands.report") / "assets"
# The page's own colours in the place of the legend's: it has light and dark ones.
COLOURS: Final = {
    INK: "--ink",
    GREY: "--grey",
    EAR_COLOURS[RIGHT]: "--right",
    EAR_COLOURS[LEFT]: "--left",
}
HIDDEN: Final = '<svg aria-hidden="true"'
# Of the page: from the answers of a replay, and nothing of a session that is not replayed.
STEPS: Final = re.compile(r'<section id="session".*?</section>\n', re.DOTALL)
NORM_COLUMNS: Final = ("usual", "peers")


def escape(text: str) -> str:
    """Return a text as the page has it: what came from a file, or names one, acts on nothing."""
    return html.escape(NO_BREAK.join(map(printable, text.split(NO_BREAK))))


def page_of(
    findings: Findings, session: RecordedSession, history: History, heading: Heading = NO_HEADING
) -> str:
    words = Words.of(findings)
    particulars = Particulars(session, heading, words.catalogue)
    ears = findings.ears
    trials = session.trials if isinstance(session, ReplayedSession) else []
    parts = {
        "language": words.catalogue.language,
        "title": escape(
            particulars.say("audiogram_of", person=particulars.person, when=particulars.day)
        ),
        "style": drawing_js.sheet() + _asset("page.css") + drawing_js.style(),
        "standing": _standing(particulars),
        "verdicts": _verdicts(findings, words),
        "facts": _facts(particulars),
        "alarms": _alarms(findings, words),
        "audiograms": "\n".join(_audiogram(ear, findings, words) for ear in findings.drawn),
        "legend": _legend(findings),
        "threshold_tables": "\n".join(
            _thresholds(ear, findings, session, words) for ear in ears if has_thresholds(ear)
        ),
        "notes": _list(notes_of(findings, words)),
        "grades": _grades(findings, words),
        "gaps": _gaps(findings, words),
        "quality": _quality(findings, words),
        "remarks": _list(words.remarks(findings)),
        "comments": _comments(particulars),
        "sign": _sign(particulars),
        "steps": str(len(trials)),
        "trials": _trials(trials, findings, words),
        "footer": escape(words.footer(full_version())),
        "history": _json(_program_data(findings, session, history, words)),
        "drawing": drawing_js.inline_script(),
        "program": _asset("page.js"),
    }

    def fill(found: re.Match[str]) -> str:
        place, key = found[1], found[2]
        return escape(words.catalogue.say(place, key)) if place else parts[key]

    page = _asset("page.html")
    if not findings.replayed:
        page = STEPS.sub("", page)
    return re.sub(r"\{\{(?:(report|record)\.)?(\w+)\}\}", fill, page)


def _program_data(
    findings: Findings, session: RecordedSession, history: History, words: Words
) -> dict[str, Any]:
    """Return all that the page's program draws and says."""
    audiograms = [
        {
            **ear.route.parts(),
            "data": audiogram_as_json(ear, findings, session),
            "label": words.say("audiogram_of", ear=words.ear(ear.route)),
        }
        for ear in findings.drawn
    ]
    steps = history.as_json(session) if isinstance(session, ReplayedSession) else {}
    return {
        **steps,
        "words": _words_of_steps(findings, words),
        "unit": words.unit(findings),
        "paper": drawing_js.paper_words(words.catalogue, nominal=findings.nominal),
        "watermark": watermark(findings),
        "audiograms": audiograms,
    }


def _standing(particulars: Particulars) -> str:
    kind = "standing" if particulars.final else "standing open"
    return f'<p class="{kind}">{escape(particulars.standing)}</p>'


def _verdicts(findings: Findings, words: Words) -> str:
    """Return whether there was a test, ear by ear if they differ."""
    parts = []
    for told in words.verdicts(findings):
        kind = "verdict" if told.valid else "verdict alarm"
        text = f"<p>{escape(told.text)}</p>" if told.text else ""
        parts.append(f'<div class="{kind}"><h2>{escape(told.headline)}</h2>{text}</div>')
    return "\n".join(parts)


def _facts(particulars: Particulars) -> str:
    pairs = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in particulars.facts()
    )
    return f'<dl class="facts">{"".join(pairs)}</dl>'


def _comments(particulars: Particulars) -> str:
    """Return what a tester wrote; without it, room to write on paper."""
    title = f"<h2>{escape(particulars.say('comments'))}</h2>"
    if not particulars.heading.comments:
        return f'<div class="to-sign"><div>{title}<div class="to-write"></div></div></div>'
    lines = "<br>".join(escape(line) for line in particulars.heading.comments.split("\n"))
    return f"{title}<p>{lines}</p>"


def _sign(particulars: Particulars) -> str:
    """Return the lines to sign on; only paper has them."""
    lines = ""
    for name, value in particulars.signature():
        lines += f"<p>{escape(name)}{': ' if value else ''}{escape(value)}</p>"
    return f'<div class="to-sign">{lines}</div>'


def _words_of_steps(findings: Findings, words: Words) -> dict[str, str]:
    """Return the sentences of the page's program, and the words that these are filled with."""
    tested = {ear.route for ear in findings.ears}
    routes = [route for route in ROUTES if route.kind is BY_AIR or route in tested]
    ears = {f"{route}_ear": words.ear(route) for route in routes}
    purposes = {f"purpose_{each}": words.name_of("purpose", each) for each in Purpose}
    decimal = words.catalogue.say("format", "decimal")
    return {**words.catalogue.tables["steps"], **ears, **purposes, "decimal": decimal}


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """Return JSON that cannot end the element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _alarms(findings: Findings, words: Words) -> str:
    parts = [
        f'<div class="alarm"><h2>{escape(headline)}</h2><p>{escape(text)}</p></div>'
        for headline, text in words.alarms(findings)
    ]
    if findings.calibration_state in HOLDING:
        parts.append(f"<p>{escape(words.calibration(findings))}</p>")
    return "\n".join(parts)


def _audiogram(ear: EarFindings, findings: Findings, words: Words) -> str:
    """Return the place of an ear's audiogram, which the program draws, and what came of the ear."""
    name = escape(words.ear(ear.route))
    of_both = (ear_sentence(each, words) for each in (ear, *findings.besides(ear)))
    sentence = escape(" ".join(of_both))
    return (
        f'<figure><h3 class="{ear.route.ear}">{name}</h3><svg id="audiogram-{ear.route}"></svg>'
        f"<figcaption>{sentence}</figcaption></figure>"
    )


def _thresholds(
    ear: EarFindings, findings: Findings, session: RecordedSession, words: Words
) -> str:
    columns = ["Hz", words.unit(findings), words.say("column_band"), words.say("column_sd")]
    noise = masking_levels(session, ear.route)
    masked = any(masking_levels(session, each.route) for each in findings.ears)
    again = findings.confirmed
    columns += [words.catalogue.say("record", "noise_of")] if masked else []
    columns += [words.say("column_confirmed")] if again else []
    has_norm = bool(findings.norm_title) and ear.route.kind is BY_AIR
    columns += [words.say(f"column_{each}") for each in NORM_COLUMNS if has_norm]
    rows = []
    for t in ear.thresholds:
        cells = [f"{t.frequency_hz}", words.threshold(t), words.band(t), words.spread(t)]
        cells += [noise_level(noise.get(t.frequency_hz), words.catalogue)] if masked else []
        cells += [words.confirmation(t)] if again else []
        if has_norm:
            cells += [words.norm(t), words.percent(t.norm_share_better)]
        rows.append(cells)
    return _table(words.ear(ear.route), columns, rows, caption_class=ear.route.ear)


def _legend(findings: Findings) -> str:
    """Explain the marks; each is drawn in the page's own colours."""
    said = []
    for mark, text in legend_of(findings):
        svg = mark.replace("<svg", HIDDEN, 1)
        for colour, name in COLOURS.items():
            svg = svg.replace(colour, f"var({name})")
        said.append(f"<li>{svg}{escape(text)}</li>")
    return "\n".join(said)


def _gaps(findings: Findings, words: Words) -> str:
    """Return the types of loss, and a table of each ear's gaps; nothing without bone."""
    losses = words.losses(findings)
    if not losses:
        return ""
    columns = ["Hz", *(words.say(key) for key in ("column_gap", "column_band", "column_called"))]
    tables = ""
    for ear in (each for each in findings.gaps if each.gaps):
        rows = [
            [f"{gap.frequencies_hz[0]}", words.gap(gap), words.gap_band(gap),
             words.gap_share(gap, gap.told_share)]
            for gap in ear.gaps
        ]  # fmt: skip
        tables += _table(words.ear(ear.ear), columns, rows, caption_class=ear.ear)
    said = f"\n<h3>{escape(words.say('gaps'))}</h3>\n{_list(losses)}"
    return f'{said}\n<div class="pair">{tables}</div>' if tables else said


def _grades(findings: Findings, words: Words) -> str:
    by_air = [ear for ear in findings.ears if ear.route.kind is BY_AIR]
    ears = [(words.ear(ear.route), ear.pta4) for ear in by_air]
    of = [*ears, (words.say("grade_person"), findings.grade)]
    lines = _list(words.grades(findings))
    # Of a bound no grade has a probability, and the list says all.
    columns = {name: each.shares for name, each in of if each and each.bound == Bound.NONE}
    if not columns:
        return lines
    rows = [
        [_grade_name(name, words), *[_share(shares[place], words) for shares in columns.values()]]
        for place, name in enumerate(GRADES_DB_HL)
    ]
    caption = words.say("grade_caption")
    return lines + _table(caption, [words.say("grade"), *columns], rows, made=True)


def _grade_name(name: str, words: Words) -> str:
    edges = [f"{edge:g}" for edge in GRADES_DB_HL.values()]
    place = [*GRADES_DB_HL].index(name)
    grade = words.name_of("grade", name)
    if place == 0:
        return words.say("grade_below", grade=grade, to=edges[1])
    if place + 1 == len(edges):
        return words.say("grade_and_more", grade=grade, **{"from": edges[place]})
    return words.say("grade_from_to", grade=grade, **{"from": edges[place], "to": edges[place + 1]})


def _share(share: float, words: Words) -> str:
    text = escape(words.percent(share))
    return f'<td class="share" style="--share: {100.0 * share:.1f}%">{text}</td>'


def _quality(findings: Findings, words: Words) -> str:
    ears = [quality_rows(ear, words) for ear in findings.ears]
    rows = [[each[0][0], *[value for _, value in each]] for each in zip(*ears, strict=True)]
    columns = ["", *[words.ear(ear.route) for ear in findings.ears]]
    return _table(words.say("by_ear"), columns, rows)


def _trials(trials: Sequence[Trial], findings: Findings, words: Words) -> str:
    columns = [
        words.say("column_number"), words.say("column_ear"), words.say("column_purpose"), "Hz",
        words.unit(findings), words.say("column_answer"), words.say("column_response"),
        words.say("column_at"),
    ]  # fmt: skip
    masked = any(t.noise_db_hl is not None for t in trials)
    if masked:
        columns.append(words.say("column_noise"))
    rows = []
    for t in trials:
        tone = [NOTHING, NOTHING]
        if t.frequency_hz is not None and t.level_db_hl is not None:
            tone = [f"{t.frequency_hz:g}", words.number(t.level_db_hl, "g")]
        response = NOTHING if t.response_ms is None else words.number(t.response_ms)
        answer = words.answer(t.heard, catch=t.frequency_hz is None)
        at = words.number(t.at_us / 1e6, ".1f")
        purpose = words.name_of("purpose", t.purpose)
        row = [str(t.number), words.say(str(t.route)), purpose, *tone, answer, response, at]
        noise = NOTHING if t.noise_db_hl is None else words.number(t.noise_db_hl, "g")
        rows.append([*row, noise] if masked else row)
    return _table(words.say("presentations"), columns, rows, "presentations")


def _list(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    identifier: str = "",
    caption_class: str = "",
    made: bool = False,
) -> str:
    """Return a table, its first column the names of the rows; `made`: its cells are HTML."""
    head = "".join(
        f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in columns
    )
    body = ""
    for first, *others in rows:
        cells = "".join(cell if made else f"<td>{escape(cell)}</td>" for cell in others)
        body += f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>\n'
    about = f' id="{identifier}"' if identifier else ""
    about += f' class="{caption_class}"' if caption_class else ""
    return (
        f"<table><caption{about}>{escape(caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    )
