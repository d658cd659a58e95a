"""Checks of what comes from a file: each takes the place of a value and the value.

A check returns the value, or raises `ResultError`. What a field may be stands beside the field, as
an annotation: `object_of` checks a whole dataclass by those.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from firmware_py.terms.printable import show
from firmware_py.terms.route import EAR, ROUTE, ROUTE_NAMES, Route, gather_routes

COUNT_MAX: Final = 2**31 - 1  # a wide bound: it only keeps nonsense out
ROOM_LEVEL_LIMITS_DB: Final = (-20.0, 140.0)  # of a band of noise, dB SPL: far beyond all rooms

Check = Callable[[str, Any], Any]


class ResultError(ValueError):
    """A result that no test can have found; the message has the field, its value, and the rule."""


def refusal(place: str, value: object, allowed: str) -> ResultError:
    return ResultError(f"{place} is {show(value)}; allowed {allowed}")


def one_of(*allowed: object) -> Check:
    def check(place: str, value: object) -> object:
        if value not in allowed:
            raise refusal(place, value, f"are {', '.join(map(str, allowed))}")
        return allowed[allowed.index(value)]

    return check


def number(low: float, high: float, unit: str, *, or_none: bool = False) -> Check:
    """Allow numbers within these bounds; and null, if that is said."""
    allowed = f"are numbers from {low:g} to {high:g} {unit}".rstrip() + " and null" * or_none

    def check(place: str, value: Any) -> Any:
        # NaN is not between two numbers, and True is no number here.
        is_number = type(value) in (int, float) and low <= value <= high
        if not is_number and not (or_none and value is None):
            raise refusal(place, value, allowed)
        return value

    return check


def number_or_none(low: float, high: float, unit: str) -> Check:
    return number(low, high, unit, or_none=True)


def whole(low: int, high: int, unit: str = "") -> Check:
    def check(place: str, value: Any) -> Any:
        if type(value) is not int or not low <= value <= high:
            raise refusal(place, value, f"are whole numbers from {low} to {high} {unit}".rstrip())
        return value

    return check


count: Final = whole(0, COUNT_MAX)


def switch(place: str, value: object) -> object:
    if type(value) is not bool:  # 1 is not true
        raise refusal(place, value, "are true and false")
    return value


def text(place: str, value: Any) -> Any:
    """Allow a text that can be printed."""
    if not isinstance(value, str) or not value.isprintable():
        raise refusal(place, value, "is a text that can be printed")
    return value


def one_route(place: str, value: Any) -> Route:
    """Allow a route that was gathered from its parts."""
    if not isinstance(value, Route):
        told = value[EAR] if [*value] == [EAR] else value
        raise refusal(place, told, f"are {', '.join(ROUTE_NAMES)}")
    return value


def several(check: Check, at_least: int, at_most: int, key: str = "") -> Check:
    """Allow a list, and check each of it; no two may have the same value of the field `key`."""

    def check_all(place: str, value: Any) -> Any:
        if not isinstance(value, list) or not at_least <= len(value) <= at_most:
            raise refusal(place, value, f"is a list of {at_least} to {at_most}")
        checked = [check(f"{place}[{i}]", each) for i, each in enumerate(value)]
        keys = [getattr(each, key) for each in checked] if key else []
        for i, each in enumerate(keys):
            if each in keys[:i]:
                raise refusal(f"{place}[{i}].{key}", each, "is each one once")
        return tuple(checked)

    return check_all


def optional(check: Check) -> Check:
    """Allow null, and what a check allows."""
    return lambda place, value: None if value is None else check(place, value)


def checks_of(kind: type) -> dict[str, Check]:
    """Return the checks of the fields of a dataclass, by their names: the annotations."""
    return {field.name: field.type.__metadata__[0] for field in fields(kind)}  # type: ignore[union-attr]


def object_of(kind: type) -> Check:
    """Check the fields of a dataclass, each as its annotation allows it, and make one of them."""
    checks = checks_of(kind)
    written_as = {name: EAR if name == ROUTE else name for name in checks}

    def check_object(place: str, record: Any) -> Any:
        values = gather_routes(record) if isinstance(record, dict) and ROUTE in checks else record
        if not isinstance(record, dict) or values.keys() != checks.keys():
            told = list(record) if isinstance(record, dict) else record
            raise refusal(place, told, f"is an object of {', '.join(written_as.values())}")
        checked = {n: check(f"{place}.{written_as[n]}", values[n]) for n, check in checks.items()}
        return kind(**checked)

    return check_object
