"""What a tuning of a hearing aid found, in rows: no figure of what was not found."""

from collections.abc import Mapping, Sequence

from firmware_py.comparisons.result import TuningFinding, TuningResult
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.findings.rows import Cell, Row, no_value, row
from firmware_py.inference.preference.regret import off_db
from firmware_py.paper.blocks import Table, table


def finding_row(result: TuningResult) -> Row:
    return row(f"finding-{result.finding}")


def comparisons_row(result: TuningResult) -> Row:
    counts = {"comparisons": result.comparisons, "same": result.same}
    return row("finding-value", finding=finding_row(result), **counts)


def off_rows(result: TuningResult) -> list[Row]:
    """Say how far the setting is expected to be from what is wanted, if that was found."""
    off = off_db(result.expected_regret)
    return [row("tuning-off", offset_db=off)] if _is_known(result) else []


def setting_table(
    result: TuningResult,
    allowed_db: Mapping[str, tuple[float, float]] | None = None,
    truth_db: Sequence[float] | None = None,
) -> Table:
    """Return a row for each number of the setting, as a difference from the prescription.

    `allowed_db`: within which ends each number is of use; `truth_db`: what a simulated person
    wanted.
    """
    known = _is_known(result)
    columns: dict[str, list[Row]] = {
        "setting-set": [*map(_change, result.setting_db)],
        "setting-wish": [_change(wish) if known else no_value() for wish in result.wish_db],
        "row-band": [
            _band(*ends) if known else no_value()
            for ends in zip(result.low_db, result.high_db, strict=True)
        ],
    }
    if allowed_db is not None:
        columns["setting-allowed"] = [_band(*allowed_db[each.name]) for each in DIMENSIONS]
    if truth_db is not None:
        columns["setting-true"] = [*map(_change, truth_db)]
    names = (row(f"dimension-{each.name.replace('_', '-')}") for each in DIMENSIONS)
    lines = zip(names, zip(*columns.values(), strict=True), strict=True)
    heads: list[Cell] = [row("setting-number"), *map(row, columns)]
    return table(row("setting-of"), heads, lines)


def _is_known(result: TuningResult) -> bool:
    return result.finding != TuningFinding.NONE


def _change(value_db: float) -> Row:
    return row("change", change_db=value_db)


def _band(low_db: float, high_db: float) -> Row:
    return row("band", low=_change(low_db), high=_change(high_db))
