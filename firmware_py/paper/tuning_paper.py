"""What a tuning of a hearing aid found, in rows: no figure of what was not found."""

from collections.abc import Iterator, Mapping, Sequence

from firmware_py.comparisons.result import TuningFinding, TuningResult
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.findings.rows import Cell, Row, no_value, row
from firmware_py.paper.blocks import Table, table
from firmware_py.terms.reasons import Code


def finding_row(result: TuningResult) -> Row:
    return row(f"finding-{result.finding}")


def comparisons_row(result: TuningResult) -> Row:
    counts = {"comparisons": result.comparisons, "same": result.same}
    return row("finding-value", finding=finding_row(result), **counts)


def setting_table(
    result: TuningResult,
    allowed_db: Mapping[str, tuple[float, float]] | None = None,
    truth_db: Sequence[float] | None = None,
    comes_out_db: Sequence[float] | None = None,
) -> Table:
    """Return a row for each number of the setting, as a difference from the prescription.

    `allowed_db`: within which ends each number is of use; `truth_db`: what a simulated person
    wanted; `comes_out_db`: what comes out of the setting within the limits, where that is less.
    Beyond the end of a range nothing was heard, so no figure is said of it.
    """
    wishes, bands = zip(*_wishes(result), strict=True)
    columns: dict[str, list[Row]] = {
        "setting-set": [*map(_change, result.setting_db)],
        **({} if comes_out_db is None else {"setting-heard": [*map(_change, comes_out_db)]}),
        "setting-wish": [*wishes],
        "row-band": [*bands],
    }
    if allowed_db is not None:
        columns["setting-allowed"] = [_band(*allowed_db[each.name]) for each in DIMENSIONS]
    if truth_db is not None:
        columns["setting-true"] = [*map(_change, truth_db)]
    names = (row(f"dimension-{each.word}") for each in DIMENSIONS)
    lines = zip(names, zip(*columns.values(), strict=True), strict=True)
    heads: list[Cell] = [row("setting-number"), *map(row, columns)]
    return table(row("setting-of"), heads, lines)


def _wishes(result: TuningResult) -> Iterator[tuple[Row, Row]]:
    """Return what is wanted of each number, and its band."""
    remarks = (remark.to_record() for remark in result.remarks)
    ends_db = {e["dimension"]: e["change_db"] for e in remarks if e["code"] == Code.RANGE_END.word}
    found = zip(DIMENSIONS, result.wish_db, result.low_db, result.high_db, strict=True)
    for dimension, wish_db, low_db, high_db in found:
        end_db = ends_db.get(dimension.word)
        if result.finding == TuningFinding.NONE:
            yield no_value(), no_value()
        elif end_db is None:
            yield _change(wish_db), _band(low_db, high_db)
        elif end_db > 0.0:
            yield (
                row("wish-end", change_db=end_db),
                _band(min(low_db, end_db), end_db, "-open-above"),
            )
        else:
            yield (
                row("wish-end", change_db=end_db),
                _band(end_db, max(high_db, end_db), "-open-below"),
            )


def _change(value_db: float) -> Row:
    return row("change", change_db=value_db)


def _band(low_db: float, high_db: float, is_open: str = "") -> Row:
    return row(f"band{is_open}", low=_change(low_db), high=_change(high_db))
