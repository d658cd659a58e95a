"""Levels of discomfort that somebody measured elsewhere, as rows: no result, but told beside it."""

from collections.abc import Iterable, Iterator

from firmware_py.findings.rows import Row, row
from firmware_py.terms.discomfort_levels import DiscomfortLevel
from firmware_py.terms.events import DiscomfortTold


def told_rows(told: Iterable[DiscomfortTold]) -> Iterator[Row]:
    """Say of each ear which levels were measured, by whom and when, as far as that was told."""
    for each in told:
        places = [
            row("discomfort-at", level=measured_row(level), frequency_hz=level.frequency_hz)
            for level in each.levels
        ]
        by = row("told", told=each.about) if each.about else row("discomfort-by-nobody")
        if places:
            yield row("discomfort-told", ear=each.ear, places=places, by=by)


def measured_row(level: DiscomfortLevel) -> Row:
    return row("level-above" if level.above else "level", level=level.level_db_hl)
