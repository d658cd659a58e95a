"""A session as one page of HTML that needs nothing from outside: what was found, and how."""

import html
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, Final

from firmware_py import __version__
from firmware_py.calibration.in_force import CALIBRATED
from firmware_py.procedure.printable import printable
from firmware_py.procedure.settings import LEFT, RIGHT
from host_tools.audiogram_paper import GRID
from host_tools.commands.report import audiogram, words
from host_tools.commands.report.findings import EarFindings, Findings
from host_tools.commands.report.grades import GRADES_DB_HL
from host_tools.commands.report.history import History
from host_tools.drawing import EAR_COLOURS, GREY, INK
from host_tools.recorded import RecordedSession, Trial

ASSETS: Final = files("host_tools.commands.report") / "assets"
# The page's own colours in the place of the picture's: it has light and dark ones.
COLOURS: Final = {
    INK: "--ink",
    GREY: "--grey",
    GRID: "--line",
    audiogram.ZONE: "--zone",
    audiogram.ZONE_WORD: "--zone-word",
    EAR_COLOURS[RIGHT]: "--right",
    EAR_COLOURS[LEFT]: "--left",
    audiogram.WATERMARK: "--watermark",
}
CONFIRMED_LEGEND: Final = (
    "<li>bar: confirmed, the threshold by the Hughson-Westlake rule after the test</li>"
)
NO_BREAK: Final = "\u00a0"  # between a number and its unit
NORM_LEGEND: Final = "<li>dashed and dotted: usual at this age, median and 10 to 90 %</li>"


def escape(text: str) -> str:
    """Return a text as the page has it: what came from a file, or names one, acts on nothing."""
    return html.escape(NO_BREAK.join(map(printable, text.split(NO_BREAK))))


def page_of(findings: Findings, session: RecordedSession, history: History) -> str:
    """Return the page."""
    state = findings.calibration_state
    parts = {
        "title": escape(f"Audiogram, {words.session(findings)}"),
        "style": _asset("page.css"),
        "session": escape(words.session(findings)),
        "person": escape(words.person(findings)),
        "calibration": "" if state == CALIBRATED else escape(state),
        "alarms": _alarms(findings),
        "audiograms": "\n".join(_audiogram(ear, findings, session) for ear in findings.ears),
        "norm_legend": NORM_LEGEND if findings.norm_title else "",
        "confirmed_legend": CONFIRMED_LEGEND if findings.confirmed else "",
        "tones_legend": _tones_legend(findings),
        "threshold_tables": "\n".join(_thresholds(ear, findings) for ear in findings.ears),
        "norm_note": escape(_norm_note(findings)),
        "grades": _grades(findings),
        "quality": _quality(findings),
        "remarks": _list(words.remarks(findings)),
        "steps": str(len(session.trials)),
        "trials": _trials(session.trials),
        "footer": escape(words.footer(__version__)),
        "history": _json(history.as_json(session)),
        "program": _asset("page.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """Return JSON that cannot end the element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _alarms(findings: Findings) -> str:
    parts = [
        f'<div class="alarm"><h2>{escape(headline)}</h2><p>{escape(text)}</p></div>'
        for headline, text in words.alarms(findings)
    ]
    if findings.calibration_state == CALIBRATED:
        parts.append(f"<p>{escape(findings.calibration)}</p>")
    return "\n".join(parts)


def _audiogram(ear: EarFindings, findings: Findings, session: RecordedSession) -> str:
    svg = audiogram.audiogram_svg(ear, findings, session)
    for colour, name in COLOURS.items():
        svg = svg.replace(colour, f"var({name})")
    label = f"Audiogram of the {ear.ear} ear; the table below has its numbers"
    named = svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
    return f"<figure>{named}</figure>"


def _thresholds(ear: EarFindings, findings: Findings) -> str:
    columns = ["Hz", "dB HL", "95 % band", "SD"]
    again = any(t.confirmed is not None for t in ear.thresholds)
    columns += ["confirmed"] if again else []
    columns += ["usual", "peers who hear better"] if findings.norm_title else []
    rows = []
    for t in ear.thresholds:
        cells = [f"{t.frequency_hz}", words.threshold(t), words.band(t), words.spread(t)]
        cells += [words.confirmed(t)] if again else []
        if findings.norm_title:
            cells += [words.norm(t), words.percent(t.norm_share_better)]
        rows.append(cells)
    caption = f"{ear.ear} ear: {words.ear_outcome(ear)}"
    return _table(caption, columns, rows, caption_class=ear.ear)


def _tones_legend(findings: Findings) -> str:
    said = []
    if findings.beside:
        said.append(f"small and round: {' or '.join(findings.beside)}; no threshold rests on it")
    if findings.retested:
        said.append("ringed: retest")
    return "\n".join(f"<li>{escape(each)}</li>" for each in said)


def _norm_note(findings: Findings) -> str:
    if not findings.norm_title:
        return f"No age norm: {findings.norm_missing}."
    return (
        f"Usual, and peers: {findings.norm_title}; the median, and the band from 10 to 90 % where "
        "the standard's figures bear one at this age."
    )


def _grades(findings: Findings) -> str:
    ears = [ear for ear in findings.ears if ear.pta4 is not None]
    columns = [f"{ear.ear} ear" for ear in ears]
    shares = [ear.pta4.grades for ear in ears if ear.pta4 is not None]
    if findings.better_ear is not None and findings.better_ear.both_ears:
        columns.append("person (better ear)")
        shares.append(findings.better_ear.grades)
    lines = _list(words.grades(findings))
    if not shares:
        return lines
    rows = [[_grade_name(name), *[_share(each[name]) for each in shares]] for name in GRADES_DB_HL]
    caption = "How likely each grade is"
    return lines + _table(caption, ["grade", *columns], rows, made=True)


def _grade_name(name: str) -> str:
    edges = [*GRADES_DB_HL.values()]
    place = [*GRADES_DB_HL].index(name)
    if place == 0:
        return f"{name} (below {edges[1]:g} dB HL)"
    until = f" to {edges[place + 1]:g}" if place + 1 < len(edges) else " and more"
    return f"{name} ({edges[place]:g}{until})"


def _share(share: float) -> str:
    return f'<td class="share" style="--share: {100.0 * share:.1f}%">{words.percent(share)}</td>'


def _quality(findings: Findings) -> str:
    ears = [words.quality_rows(ear) for ear in findings.ears]
    rows = [[each[0][0], *[value for _, value in each]] for each in zip(*ears, strict=True)]
    columns = ["", *[f"{ear.ear} ear" for ear in findings.ears]]
    return _table("By ear", columns, rows)


def _trials(trials: Sequence[Trial]) -> str:
    columns = ["number", "ear", "purpose", "Hz", "dB HL", "answer", "response, ms", "at, s"]
    masked = any(t.noise_db_hl is not None for t in trials)
    if masked:
        columns.append("noise, dB HL")
    rows = []
    for t in trials:
        tone = ["-", "-"]
        if t.frequency_hz is not None and t.level_db_hl is not None:
            tone = [f"{t.frequency_hz:g}", f"{t.level_db_hl:g}"]
        response = "-" if t.response_ms is None else f"{t.response_ms:.0f}"
        answer = words.answer(t.heard, catch=t.frequency_hz is None)
        at = f"{t.at_us / 1e6:.1f}"
        row = [str(t.number), t.ear, t.purpose, *tone, answer, response, at]
        noise = "-" if t.noise_db_hl is None else f"{t.noise_db_hl:g}"
        rows.append([*row, noise] if masked else row)
    return _table("Presentations, in the order of their answers", columns, rows, "presentations")


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
