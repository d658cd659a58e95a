"""What the bands of a paper hold beside the answers, which part is the largest, and what to do."""

from collections.abc import Iterator
from typing import Final

from firmware_py.findings.room_noise import known_room, unknown_room
from firmware_py.findings.rows import Cell, Row, band_row, row
from firmware_py.findings.whole_band import Part, Whole, largest_of
from firmware_py.paper.source import Source
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import in_nominal_db
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import AIR, BONE, ROUTE_KINDS
from firmware_py.terms.shown_threshold import as_shown
from firmware_py.terms.verdicts import has_thresholds

_LARGEST: Final = {AIR: "whole-largest", BONE: "whole-largest-bone"}


def band_rows(source: Source, ear: EarResult) -> Iterator[tuple[Row, list[Cell]]]:
    """Yield the rows of both bands of a table; of nominal levels that of the answers alone."""
    found = ear.thresholds
    yield row("row-band-answers"), [band_row(as_shown(t)) for t in found]
    if not source.nominal:
        shown = [source.uncertainty.shown(ear.route, t) for t in found]
        yield row("row-band-whole"), [band_row(each) for each in shown]


def whole_rows(source: Source) -> Iterator[Row]:
    """Say whose part of the whole is the largest, by kind of route, and what is not in it."""
    ears = [ear for ear in source.ears if has_thresholds(ear)]
    if not ears:
        return
    if source.nominal:
        yield row("whole-nominal")
    for kind in () if source.nominal else ROUTE_KINDS:
        if parts := [*_largest(source, [ear for ear in ears if ear.route.kind is kind])]:
            yield row(_LARGEST[kind.transducer], parts=parts)
    if known_room(source.result) is None:
        told = unknown_room(source.earphones, bone=any(ear.route.by_bone for ear in ears))
        yield row("remark", of=in_nominal_db(told) if source.nominal else told)


def _largest(source: Source, ears: list[EarResult]) -> Iterator[Row]:
    """Yield each part that is the largest where something was measured, and what makes it smaller.

    Of a frequency that both ears have it is that of both together.
    """
    at_hz: dict[int, list[Whole]] = {}
    for ear in ears:
        for found in ear.thresholds:
            whole = source.uncertainty.of(ear.route, found)
            if whole is not None and found.mark == Outcome.MEASURED:
                at_hz.setdefault(found.frequency_hz, []).append(whole)
    largest = {f: largest_of([each.parts for each in wholes]) for f, wholes in at_hz.items()}
    for part in (each for each in Part if each in largest.values()):
        told = row(f"largest-{part}")
        here_hz = sorted(f for f, each in largest.items() if each == part)
        everywhere = len(here_hz) == len(largest)
        yield told if everywhere else row("largest-at", frequencies_hz=here_hz, part=told)
