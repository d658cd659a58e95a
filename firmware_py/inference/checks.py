"""Checks of the estimator's arguments: each returns the value, or says what is allowed."""

import math
from collections.abc import Collection, Sequence
from numbers import Real

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.inference.model import FREQUENCY_LIMITS_HZ
from firmware_py.inference.psychometric import HEARD, SILENT, UNSURE


def number(name: str, value: float, low: float, high: float) -> float:
    """Return value as a float, or say which argument is not a number in [low, high]."""
    if type(value) is float and low <= value <= high:  # nearly every one, and soon told
        return value
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; allowed is {low:g} to {high:g}")
    return float(value)


def numbers(
    name: str, values: Collection[float] | Array, kind: type, low: float, high: float
) -> list[float]:
    """Return values as floats, or say what is not in [low, high] or no collection of this kind."""
    single = isinstance(values, str) or (isinstance(values, np.ndarray) and values.ndim == 0)
    if single or not isinstance(values, kind | np.ndarray):
        raise ValueError(
            f"{name} is {values!r}; allowed is a {kind.__name__.lower()} of numbers from {low:g} "
            f"to {high:g}"
        )
    return [number(name, value, low, high) for value in values]


def integer(name: str, value: int, low: int, high: int) -> int:
    """Return value as an int, or say which argument is no whole number in [low, high]."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | np.integer)
        or not low <= value <= high
    ):
        raise ValueError(f"{name} is {value!r}; allowed are whole numbers from {low} to {high}")
    return int(value)


def interval(
    name: str, value: tuple[float, float], limits: tuple[float, float]
) -> tuple[float, float]:
    """Return value as two floats, or say which argument is no interval within the limits."""
    try:
        low, high = (number(name, bound, *limits) for bound in value)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not low < high:
        raise ValueError(
            f"{name} is {value!r}; allowed is (low, high) with "
            f"{limits[0]:g} <= low < high <= {limits[1]:g}"
        )
    return low, high


def curve(points: object, low: float, high: float) -> list[tuple[float, float]]:
    """Return (frequency_hz, value) points, or none if they are not such of rising frequency."""
    try:
        found = [
            (number("", frequency_hz, *FREQUENCY_LIMITS_HZ), number("", value, low, high))
            for frequency_hz, value in points  # type: ignore[attr-defined]
        ]
    except (TypeError, ValueError):
        return []
    frequencies = [frequency_hz for frequency_hz, _ in found]
    return found if sorted(set(frequencies)) == frequencies else []


def answer_code(heard: bool | None, dead_zone: bool) -> int:
    """Return the code of an answer; only with a dead zone a listener may be unsure: None."""
    if heard is None and dead_zone:
        return UNSURE
    if not isinstance(heard, bool | np.bool_):
        unsure = ", and None for unsure" if dead_zone else ""
        raise TypeError(f"heard is {heard!r}; allowed are True and False{unsure}")
    return HEARD if heard else SILENT


def ceilings(
    told: float | Sequence[float] | None, limits_db_hl: tuple[float, float], out: Array
) -> Array:
    """Write the highest level at each candidate, from one for all or one for each."""
    low, high = limits_db_hl
    each = _at_candidates("level_max_db_hl", "ceilings", told, (low, math.inf), out)
    return np.minimum(high if each is None else each, high, out=out)


def floors(
    told: float | Sequence[float] | None, limits_db_hl: tuple[float, float], out: Array
) -> Array:
    """Write the lowest level at each candidate, as `ceilings` the highest."""
    low, _ = limits_db_hl
    each = _at_candidates("level_min_db_hl", "floors", told, (-math.inf, math.inf), out)
    return np.maximum(low if each is None else each, low, out=out)


def _at_candidates(
    name: str,
    what: str,
    told: float | Sequence[float] | None,
    allowed: tuple[float, float],
    out: Array,
) -> float | list[float] | None:
    if told is None:
        return None
    if isinstance(told, str) or not isinstance(told, Sequence):
        return number(name, told, *allowed)
    each = numbers(name, told, Sequence, *allowed)
    if len(each) != len(out):
        raise ValueError(
            f"{name} has {len(each)} {what}; allowed is one, or one for each of the "
            f"{len(out)} candidate frequencies"
        )
    return each
