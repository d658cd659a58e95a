"""The audiograms of a paper: the sentence of each ear, what the marks mean, and the numbers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from firmware_py.findings.checks import counted_purposes
from firmware_py.findings.norms import AgeNorm
from firmware_py.findings.rows import Cell, Row, count_row, level_row, no_value, row, verdict_row
from firmware_py.paper.blocks import Table, table
from firmware_py.paper.source import Source
from firmware_py.paper.whole import band_rows
from firmware_py.presenting.answers_given import Answered
from firmware_py.terms.outcomes import MaskingMark, Outcome, Purpose, Verdict
from firmware_py.terms.results import ConfirmedThreshold, EarResult, ThresholdResult
from firmware_py.terms.shown_threshold import Kind, as_shown, is_wide
from firmware_py.terms.verdicts import has_thresholds

Mark = tuple[Sequence[str], Row]

# In the order in which they are said, after what was measured.
PARTS: Final = {
    Kind.ABOVE: "part-above",
    Kind.AT_MOST: "part-at-most",
    Kind.PERHAPS_ABOVE: "part-perhaps-above",
    Kind.UNKNOWN: "part-unknown",
    Kind.INFERRED: "part-inferred",
}
# What is to be known before any frequency.
FIRST: Final = {Outcome.UNRELIABLE: "part-unreliable", Outcome.INCOMPLETE: "part-incomplete"}
ANSWERS: Final = {"heard": True, "unsure": None, "not-heard": False}


# The sentence that says what came of an ear: each frequency is in one part of it, by its reading.


def ear_sentence(source: Source, ear: EarResult) -> Row:
    return row("ear-sentence", ear=str(ear.route), parts=_parts(source, ear))


def _parts(source: Source, ear: EarResult) -> Iterator[Row]:
    if ear.verdict != Verdict.VALID:
        yield verdict_row(ear.verdict)
    if not has_thresholds(ear):
        yield from (reason.to_record() for reason in ear.reasons)
        return
    if ear.outcome in FIRST:
        yield row(FIRST[Outcome(ear.outcome)])
    if measured := _of_kind(ear, Kind.MEASURED):
        yield _measured_row(source, ear, measured)
    for kind, code in PARTS.items():
        if found := _of_kind(ear, kind):
            yield row(code, frequencies_hz=_hertz(found))
    if doubtful := [each for each in ear.thresholds if as_shown(each).doubtful]:
        yield row("part-doubtful", frequencies_hz=_hertz(doubtful))


def _measured_row(source: Source, ear: EarResult, measured: list[ThresholdResult]) -> Row:
    figures: dict[str, Any] = {
        "of": len(ear.thresholds),
        "half_width_db": max(each.half_width_db or 0.0 for each in measured),
    }
    wide = [each for each in measured if _is_wide(source, ear, each)]
    if ear.outcome != Outcome.MEASURED or not wide:
        return count_row("part-measured", len(measured), **figures)
    wanted_db = min(source.wanted_db(ear, each) for each in wide)
    figures |= {"wanted_db": wanted_db, "frequencies_hz": _hertz(wide)}
    return count_row("part-wide", len(measured), **figures)


def _of_kind(ear: EarResult, kind: Kind) -> list[ThresholdResult]:
    return [each for each in ear.thresholds if as_shown(each).kind == kind]


def _hertz(found: Iterable[ThresholdResult]) -> list[int]:
    return [each.frequency_hz for each in found]


def _is_wide(source: Source, ear: EarResult, found: ThresholdResult) -> bool:
    return is_wide(found, source.wanted_db(ear, found))


# The numbers, a table an ear.


def threshold_tables(source: Source) -> list[Table]:
    return [_thresholds(source, ear) for ear in source.ears if has_thresholds(ear)]


def _thresholds(source: Source, ear: EarResult) -> Table:
    found = ear.thresholds
    levels = [level_row(as_shown(t), wide=_is_wide(source, ear, t)) for t in found]
    rows: list[tuple[Row, list[Cell]]] = [
        (row("row-level", ear=str(ear.route), **source.unit), [*levels]),
        *band_rows(source, ear),
    ]
    noise = masking_levels(source, ear)
    if noise:
        rows.append((row("row-noise"), [_noise_row(noise.get(t.frequency_hz)) for t in found]))
    again = {each.frequency_hz: each for each in ear.confirmed}
    if again:
        cells: list[Cell] = [_confirmed_cell(again.get(t.frequency_hz)) for t in found]
        rows.append((row("row-confirmed"), cells))
    columns: list[Cell] = [row("hertz"), *(t.frequency_hz for t in found)]
    return table(row("the-ear", ear=str(ear.route)), columns, rows, of=str(ear.route), main=1)


def masking_levels(source: Source, ear: EarResult) -> dict[int, tuple[float, float]]:
    """Return the least and most masking of tones that count, by frequency, if it is replayed."""
    if source.given is None:
        return {}
    return source.given.noise_at(ear.route, counted_purposes(source.settings))


def _noise_row(levels_db: tuple[float, float] | None) -> Row:
    if levels_db is None:
        return no_value()
    low, high = levels_db
    return row("level", level=low) if low == high else row("band", low=low, high=high)


def _confirmed_cell(again: ConfirmedThreshold | None) -> Row:
    if again is None:
        return no_value()
    if again.threshold_db_hl is not None:
        return row("level", level=again.threshold_db_hl)
    return row(f"outcome-{again.mark}")


# What the marks of the drawings mean, of those that they have.


def legend_of(source: Source) -> Iterator[Mark]:
    ears = [ear for ear in source.ears if has_thresholds(ear)]
    if ears:
        yield from _symbols(source, ears)
    if source.given is not None:
        yield from _tones(source, source.given.all)
    yield from _signs(source)


def _symbols(source: Source, ears: Sequence[EarResult]) -> Iterator[Mark]:
    readings = {ear.route: [as_shown(t) for t in ear.thresholds] for ear in ears}
    masked = {
        route.transducer
        for route, found in readings.items()
        if any(each.symbol == MaskingMark.MASKED for each in found)
    }
    for route in readings:
        yield ("symbol", str(route), MaskingMark.NOT_MASKED.value), row("mark-ear", ear=str(route))
        if route.transducer in masked:
            yield ("symbol", str(route), MaskingMark.MASKED.value), row("mark-masked")
    yield ("band",), row("mark-band")
    if source.given is not None:
        yield ("pale",), row("mark-pale")
    if any(source.besides(ear) for ear in source.drawn):
        yield ("bar",), row("mark-bar")
    if any(each.kind == Kind.INFERRED for found in readings.values() for each in found):
        yield ("line", "inferred"), row("mark-inferred")
    if any(ear.confirmed for ear in ears):
        yield ("confirmed",), row("mark-confirmed")
    if any(told.levels for told in source.course.discomfort.values()):
        yield ("discomfort",), row("mark-discomfort")


def _tones(source: Source, answers: Sequence[Answered]) -> Iterator[Mark]:
    heard = {each.heard for each in answers}
    for answer, value in ANSWERS.items():
        if value in heard:
            yield ("tone", answer), row(f"answer-{answer}")
    purposes = {each.presentation.purpose for each in answers}
    counted = (*counted_purposes(source.settings), Purpose.CATCH)
    beside = [each for each in Purpose if each in purposes and each not in counted]
    if beside:
        yield ("beside",), row("mark-beside", of=[row(f"purpose-{each}") for each in beside])
    if Purpose.RETEST in purposes:
        yield ("retest",), row("mark-retest")


def _signs(source: Source) -> Iterator[Mark]:
    readings = [(ear, t, as_shown(t)) for ear in source.ears for t in ear.thresholds]
    if {reading.kind for *_, reading in readings} & {Kind.ABOVE, Kind.PERHAPS_ABOVE}:
        yield ("arrow", source.ears[-1].route.ear), row("mark-arrow")
    if source.given is not None:
        yield ("limit",), row("mark-limit")
    if any(reading.doubtful for *_, reading in readings):
        yield ("sign", "uncertain"), row("mark-doubtful")
    if any(_is_wide(source, ear, found) for ear, found, _ in readings):
        yield ("sign", "wide"), row("mark-wide")
    if isinstance(source.norm, AgeNorm):
        yield ("line", "norm"), row("mark-norm")
