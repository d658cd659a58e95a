"""What the marks of an audiogram mean: of those that this one has, each drawn, with its words."""

import re
from collections.abc import Iterator
from typing import Final

from firmware_py.procedure.outcomes import MaskingMark
from firmware_py.procedure.reading import Kind, read
from firmware_py.procedure.route import Route
from firmware_py.procedure.verdicts import has_thresholds
from host_tools.commands.report.findings import Findings
from host_tools.commands.report.words import Words
from host_tools.drawings.drawing import EAR_COLOURS, GREY, INK
from host_tools.drawings.symbols import ear_colour, symbol_table

HALF: Final = 8.0  # the drawing reaches so far to every side
SYMBOL_UNITS: Final = 5.5
TONE_UNITS: Final = 4.0
# A tone's answer, with what is filled of its mark.
ANSWERS: Final = {"answer_heard": "whole", "answer_unsure": "half", "answer_not_heard": "nothing"}

Entry = tuple[str, str]


def legend_of(findings: Findings) -> list[Entry]:
    """Return the marks of these audiograms, each as an SVG or "", with what it means."""
    words = Words.of(findings)
    return [*_thresholds(findings, words), *_tones(findings, words), *_signs(findings, words)]


def _svg(*parts: str) -> str:
    size = f"{-HALF:g} {-HALF:g} {2 * HALF:g} {2 * HALF:g}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}">{"".join(parts)}</svg>'


def _stroke(path: str, colour: str, scale: float = 1.0, width: float = 1.5, more: str = "") -> str:
    return (
        f'<path d="{path}" transform="scale({scale:g})" fill="none" stroke="{colour}" '
        f'stroke-width="{width / scale:g}"{more}/>'
    )


def _symbol(route: Route, masking: str) -> str:
    path = symbol_table()["symbols"][str(route)][masking]["path"]
    drawn = _stroke(path, ear_colour(route.ear), SYMBOL_UNITS, 2)
    beside = _middle(path) * SYMBOL_UNITS
    return _svg(f'<g transform="translate({-beside:g})">{drawn}</g>' if beside else drawn)


def _middle(path: str) -> float:
    """Return the middle of a path from left to right; 0: it does not stand beside its place."""
    across = [float(x) for x in re.findall(r"-?[\d.]+", path)[::2]]
    return (min(across) + max(across)) / 2


def _swatch(fill: float, edge: float) -> str:
    """Return a piece of a band, as dense as this; grey, for it stands for both ears."""
    edges = "".join(
        f'<path d="M-8 {y}H8" stroke="{INK}" stroke-opacity="{edge:g}"/>' for y in (-5, 5)
    )
    return _svg(f'<path d="M-8-5H8V5H-8Z" fill="{INK}" fill-opacity="{fill:g}"/>', edges)


def _line(dash: str, colour: str = INK) -> str:
    return _svg(
        f'<path d="M-8 0H8" stroke="{colour}" stroke-width="1.4" stroke-dasharray="{dash}"/>'
    )


def _thresholds(findings: Findings, words: Words) -> Iterator[Entry]:
    routes = [ear.route for ear in findings.ears if has_thresholds(ear)]
    if not routes:
        return
    readings = [read(t) for ear in findings.ears for t in ear.thresholds]
    masked = {
        ear.route.transducer
        for ear in findings.ears
        if any(read(t).symbol == MaskingMark.MASKED for t in ear.thresholds)
    }
    for route in routes:
        name = words.say(str(route))
        yield _symbol(route, MaskingMark.NOT_MASKED), words.say("mark_threshold", ear=name)
    for route in (each for each in routes if each.transducer in masked):
        names = {"ear": words.say(str(route)), "other": words.say(str(route.noise))}
        yield _symbol(route, MaskingMark.MASKED), words.say("mark_masked", **names)
    yield _swatch(0.3, 0.8), words.say("mark_band")
    if any(findings.besides(ear) for ear in findings.drawn):
        bar = f'<path d="M0-8V8" stroke="{INK}" stroke-opacity="0.6"/>'
        yield _svg(bar), words.say("mark_bar")
    yield _swatch(0.1, 0.3), words.say("mark_pale")
    if any(reading.kind == Kind.INFERRED for reading in readings):
        yield _line("1.5 2"), words.say("mark_inferred")
    if findings.confirmed:
        bar = _stroke(symbol_table()["confirmed"]["path"], INK, SYMBOL_UNITS, 2)
        yield _svg(bar), words.say("mark_confirmed")


def _tone(filled: str, shape: str = "counts") -> str:
    path = symbol_table()["tones"][shape]
    outline = _stroke(path, INK, TONE_UNITS, 1.0)
    inside = {"whole": path, "half": symbol_table()["tones"][f"{shape}_half"], "nothing": ""}[
        filled
    ]
    return _svg(outline, f'<path d="{inside}" transform="scale({TONE_UNITS:g})" fill="{INK}"/>')


def _tones(findings: Findings, words: Words) -> Iterator[Entry]:
    if not findings.replayed:
        return
    for key, filled in ANSWERS.items():
        yield _tone(filled), words.say(key)
    if findings.beside:
        purposes = words.purposes(findings.beside)
        yield _tone("whole", "beside"), words.say("legend_beside", purposes=purposes)
    if findings.retested:
        ring = f'<circle r="6.4" fill="none" stroke="{INK}"/>'
        yield _svg(ring), words.say("mark_retest")


def _signs(findings: Findings, words: Words) -> Iterator[Entry]:
    thresholds = [t for ear in findings.ears for t in ear.thresholds]
    kinds = {read(t).kind for t in thresholds}
    if kinds & {Kind.ABOVE, Kind.PERHAPS_ABOVE}:
        ear = findings.ears[-1].route.ear
        side = symbol_table()["ears"][ear]["side"]
        arrow = _stroke(symbol_table()["arrows"]["path"], EAR_COLOURS[ear], 6.0, 2)
        turned = f'<g transform="scale({side} 1) translate(-8.5 -8.5)">{arrow}</g>'
        yield _svg(turned), words.say("mark_limit_arrow")
    if findings.replayed:
        yield _line("8 0", GREY), words.say("mark_limit")
    if any(read(t).doubtful for t in thresholds):
        yield "", f"{symbol_table()['signs']['uncertain']} {words.say('mark_doubtful')}"
    if any(t.wide for t in thresholds):
        yield "", f"{symbol_table()['signs']['wide']} {words.say('mark_wide')}"
    if findings.norm_title:
        yield _line("5 2", GREY), words.say("mark_norm")
