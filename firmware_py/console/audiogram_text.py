"""An audiogram in characters, as clinics draw it: level downward, frequency in octaves.

One octave is as wide as 20 dB is high, taking a character to be twice as high as wide. What was
found by bone stands outside that of air, on the side of its ear: `<OX>`.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.results import ThresholdResult
from firmware_py.terms.route import RIGHT, ROUTES, Route
from firmware_py.terms.shown_threshold import Kind, as_shown

MASKING_WORDS: Final = {MaskingMark.MASKED: "masked", MaskingMark.UNCERTAIN: "or the other ear"}
# At the limit that the threshold lies beyond, surely or perhaps.
ARROWS: Final = {Kind.ABOVE: "v", Kind.AT_MOST: "^", Kind.PERHAPS_ABOVE: "?"}
INFERRED: Final = "i"  # of either ear: no tone was asked there, so it has none of the symbols
BAND: Final = ":"
TRUTH: Final = "+"
ROW_DB: Final = 5
COLUMNS_PER_OCTAVE: Final = 8
MARGIN: Final = 6
TOP_DB_HL: Final = -10
BOTTOM_DB_HL: Final = 120
LOW_HZ: Final = 125.0
OCTAVES: Final = 6


def axis_unit(*, nominal: bool) -> str:
    """Return the unit of levels in short, beside the frequencies; `nominal`: no calibration."""
    return "dB" if nominal else "dB HL"


def draw_audiogram(
    ears: Mapping[Route, Sequence[ThresholdResult]],
    truth: Sequence[tuple[float, float]] = (),
    unit: str = "dB HL",
) -> list[str]:
    """Draw the thresholds of one or both ears, in lines of at most 60 ASCII characters.

    `truth` are a simulated listener's frequencies with thresholds, marked `+`; `unit` is
    `axis_unit`. What is only inferred by bone is not drawn beside air: there is no room between
    frequencies.
    """
    rows = _grid()
    for frequency_hz, threshold_db_hl in truth:
        _put(rows, frequency_hz, threshold_db_hl, TRUTH)
    shown = _with_room(ears)
    for (_, thresholds), shift in shown:
        for threshold in thresholds:
            _draw_band(rows, threshold, shift)
    for (route, thresholds), shift in shown:
        for threshold in thresholds:
            _draw_threshold(rows, threshold, _symbol(route, threshold), shift)
    return [_frequency_labels(unit), *(_label(i) + "".join(row) for i, row in enumerate(rows))]


def legend(ears: Mapping[Route, Sequence[ThresholdResult]]) -> str:
    parts = [f"{route.character(MaskingMark.NOT_MASKED)} {route}" for route in ears]
    for mark, words in MASKING_WORDS.items():
        marked = [
            f"{route.character(mark)} {route} {words}"
            for route, thresholds in ears.items()
            if any(each.masking == mark for each in thresholds)
        ]
        parts += marked
    if any(as_shown(each).kind == Kind.INFERRED for each in chain(*ears.values())):
        parts.append(f"{INFERRED} inferred, not asked there")
    parts += [f"{BAND} 95 %, answers", "v no response, ? perhaps", "^ all heard"]
    return "   ".join(parts)


def characters_of_mark(kind: str, *names: str) -> str:
    """Return what a mark of the legend of a paper is in this drawing; "": it has none of it."""
    if kind == "symbol":
        route, masking = names
        return next(each.character(MaskingMark(masking)) for each in ROUTES if str(each) == route)
    if names == (MaskingMark.UNCERTAIN.value,):  # in the place of the sign that tables have
        return " ".join(each.character(MaskingMark.UNCERTAIN) for each in ROUTES)
    arrow = ARROWS[Kind.ABOVE] if kind == "arrow" else ""
    return {("band",): BAND, ("line", Kind.INFERRED.value): INFERRED}.get((kind, *names), arrow)


def _with_room(
    ears: Mapping[Route, Sequence[ThresholdResult]],
) -> list[tuple[tuple[Route, Sequence[ThresholdResult]], int]]:
    """Return what is drawn of each route, and by how many columns beside its frequencies."""
    by_air = [route for route in ears if not route.by_bone]
    if not by_air:
        return [(drawn, shift) for shift, drawn in enumerate(ears.items())]
    shown: list[tuple[tuple[Route, Sequence[ThresholdResult]], int]] = []
    for route, thresholds in ears.items():
        if route.by_bone:
            asked = [each for each in thresholds if as_shown(each).kind != Kind.INFERRED]
            shown.append(((route, asked), -1 if route.ear == RIGHT else len(by_air)))
        else:
            shown.append(((route, thresholds), by_air.index(route)))
    return shown


def _grid() -> list[list[str]]:
    rows = []
    for row in range((BOTTOM_DB_HL - TOP_DB_HL) // ROW_DB + 1):
        tens = (TOP_DB_HL + row * ROW_DB) % 20 == 0
        line = []
        for column in range(OCTAVES * COLUMNS_PER_OCTAVE + 2):
            octave = column % COLUMNS_PER_OCTAVE == 0
            line.append("|" if octave and tens else "." if octave else "-" if tens else " ")
        rows.append(line)
    return rows


def _draw_band(rows: list[list[str]], found: ThresholdResult, shift: int) -> None:
    reading = as_shown(found)
    if reading.low_db_hl is None or reading.high_db_hl is None:
        return
    for row in range(_row(reading.low_db_hl), _row(reading.high_db_hl) + 1):
        rows[row][_column(found.frequency_hz, shift)] = BAND


def _draw_threshold(rows: list[list[str]], found: ThresholdResult, symbol: str, shift: int) -> None:
    level_db_hl = as_shown(found).level_db_hl
    if level_db_hl is not None:
        _put(rows, found.frequency_hz, level_db_hl, symbol, shift)


def _symbol(route: Route, found: ThresholdResult) -> str:
    kind = as_shown(found).kind
    if kind == Kind.INFERRED:
        return INFERRED
    own = route.character(found.masking or MaskingMark.NOT_MASKED)
    return ARROWS.get(kind, own)


def _put(
    rows: list[list[str]], frequency_hz: float, level_db_hl: float, symbol: str, shift: int = 0
) -> None:
    if math.isfinite(level_db_hl):
        rows[_row(level_db_hl)][_column(frequency_hz, shift)] = symbol


def _row(level_db_hl: float) -> int:
    inside_db_hl = min(max(level_db_hl, TOP_DB_HL), BOTTOM_DB_HL)
    return round((inside_db_hl - TOP_DB_HL) / ROW_DB)


def _column(frequency_hz: float, shift: int) -> int:
    column = round(COLUMNS_PER_OCTAVE * math.log2(frequency_hz / LOW_HZ)) + shift
    return min(max(column, 0), OCTAVES * COLUMNS_PER_OCTAVE + 1)


def _label(row: int) -> str:
    level_db_hl = TOP_DB_HL + row * ROW_DB
    text = str(level_db_hl) if level_db_hl % 10 == 0 else ""
    return text.rjust(MARGIN - 1) + " "


def _frequency_labels(unit: str) -> str:
    line = unit.ljust(MARGIN)
    for octave in range(OCTAVES + 1):
        frequency_hz = LOW_HZ * 2**octave
        text = f"{frequency_hz:g}" if frequency_hz < 1000 else f"{frequency_hz / 1000:g}k"
        line = line.ljust(MARGIN + octave * COLUMNS_PER_OCTAVE - (octave > 0)) + text
    return line + " Hz"
