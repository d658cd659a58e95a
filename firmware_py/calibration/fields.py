"""What a table of a calibration file may have: keys, texts, numbers and dates."""

import datetime
from typing import Any, Final

from firmware_py.platform.named_file import unknown_key
from firmware_py.terms.printable import show

TEXT_CHARACTERS_MAX: Final = 80


class CalibrationError(ValueError):
    """A calibration that cannot be read, or says something that is not allowed."""


class NoLevelsError(CalibrationError):
    """A good file that has checks, and no levels."""


def number(place: str, value: object, limits: tuple[float, float], unit: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not limits[0] <= value <= limits[1]:  # type: ignore[operator]
        raise CalibrationError(
            f"{place} is {show(value)}; allowed are numbers from {limits[0]:g} to {limits[1]:g} "
            f"{unit}"
        )
    return float(value)  # type: ignore[arg-type]


def check_text(place: str, value: object) -> None:
    """Refuse, by a `CalibrationError`, what is no text for a calibration file."""
    good = isinstance(value, str) and value.isascii() and value.isprintable()
    if not good or not 0 < len(str(value).strip()) <= len(str(value)) <= TEXT_CHARACTERS_MAX:
        raise CalibrationError(
            f"{place} is {show(value)}; allowed are 1 to {TEXT_CHARACTERS_MAX} printable ASCII "
            "characters"
        )


def check_keys(place: str, table: dict[str, Any], wanted: tuple[str, ...]) -> None:
    if unknown := unknown_key(table, wanted):
        name, hint = unknown
        raise CalibrationError(f"{place}{show(name)} is not known; {hint}")
    for name in wanted:
        if name not in table:
            raise CalibrationError(f"{place}{name!r} is missing")


def table_of(place: str, content: dict[str, Any], name: str) -> dict[str, Any]:
    table = content[name]
    if not isinstance(table, dict):
        raise CalibrationError(f"{place}{show(name)} is {show(table)}; it has to be a table")
    return table


def date_of(place: str, value: object) -> datetime.date:
    try:
        date = datetime.date.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        date = None
    if date is None or date.isoformat() != value:
        raise CalibrationError(f"{place} is {show(value)}; allowed is a date such as 2026-01-31")
    return date
