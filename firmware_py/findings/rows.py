"""The rows of papers: what is said of a person, as a code with its figures, in no language.

A row is an object of JSON: its `code`, and its figures by name. A figure is a number, rounded as
its name says (`terms/reasons.py`); a text that somebody wrote; another row, such as the name of
an ear; or several of these. `terms/words.py` says it by the sentence that a catalogue has for
the code; a paper is rows in order (`paper/`). Nothing is rounded, compared or decided after this.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from firmware_py.terms.outcomes import Bound
from firmware_py.terms.printable import printable
from firmware_py.terms.reasons import Reason, round_part
from firmware_py.terms.shown_threshold import Kind, ShownThreshold

Row = dict[str, Any]
Cell = Row | int | float | str  # of a table: a row, a number, or what somebody wrote

LEAST_SHARE: Final = 0.01  # nothing measured is certain: less is below it, and so at the other end
_OF_LIMIT: Final = {
    Bound.NONE: "level", Bound.AT_LEAST: "level-above", Bound.AT_MOST: "level-at-most"
}  # fmt: skip


def row(code: str, /, **figures: Any) -> Row:
    return {"code": code, **{name: _figure(name, each) for name, each in figures.items()}}


def count_row(code: str, count: int, /, **figures: Any) -> Row:
    """Return a row about so many things, `count` among its figures; one has a code of its own."""
    return row(f"{code}-one" if count == 1 else code, count=count, **figures)


def no_value() -> Row:
    return row("no-value")


def verdict_row(verdict: str) -> Row:
    return row(f"test-{verdict}")


def verdicts_row(by_route: Mapping[str, str]) -> Row:
    return rows_by_ear({ear: verdict_row(verdict) for ear, verdict in by_route.items()})


def rows_by_ear(of: Mapping[str, Row]) -> Row:
    """Return what is told of each ear, once if it is the same of all."""
    first, *others = of.values()
    if all(each == first for each in others):
        return first
    return row("joined", parts=[row("of-ear-short", ear=ear, of=each) for ear, each in of.items()])


def share_row(share: float | None) -> Row:
    """Return a probability in percent, never 0 or 100; None: it is not known."""
    if share is None:
        return no_value()
    if share < LEAST_SHARE:
        return row("percent-below", percent=100.0 * LEAST_SHARE)
    if share > 1.0 - LEAST_SHARE:
        return row("percent-above", percent=100.0 * (1.0 - LEAST_SHARE))
    return row("percent", percent=100.0 * share)


def level_row(reading: ShownThreshold | None, *, wide: bool = False) -> Row:
    """Return a threshold in short: whether it is a limit, was inferred, or is wider than wanted."""
    if reading is None or reading.level_db_hl is None:
        return no_value()
    perhaps = reading.kind == Kind.PERHAPS_ABOVE
    code = "level-perhaps-above" if perhaps else _OF_LIMIT[reading.limit]
    told = row(code, level=reading.level_db_hl)
    if reading.kind == Kind.INFERRED:
        return row("inferred", value=told)
    told = row("doubtful", value=told) if reading.doubtful else told
    return row("wide", value=told) if wide else told


def band_row(reading: ShownThreshold | None) -> Row:
    """Return the 95 % band of a threshold; of one that was inferred it says so."""
    if reading is None or reading.low_db_hl is None or reading.high_db_hl is None:
        return no_value()
    ends = f"{'-below' * reading.low_open}{'-above' * reading.high_open}"
    told = row(f"band{ends and f'-open{ends}'}", low=reading.low_db_hl, high=reading.high_db_hl)
    return row("inferred", value=told) if reading.kind == Kind.INFERRED else told


def _figure(name: str, value: Any) -> Any:
    if isinstance(value, Reason):
        return value.to_record()
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Iterable):
        return [_figure(name, each) for each in value]
    return round_part(name, float(value) if isinstance(value, float) else value)
