"""Checks JSON values by the schema of the documents: by those of its keywords that it has."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from firmware_py.terms.record_checks import ResultError, refusal

ABOUT: Final = frozenset({"$schema", "$id", "$defs", "title", "description"})  # that check nothing
TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,),
    "null": (type(None),), "integer": (int,), "number": (int, float),
}  # fmt: skip
_DEFS: Final = "#/$defs/"


def schema_text() -> str:
    return (files(__package__) / "sessions-1.schema.json").read_text(encoding="utf-8")


def check_session(place: str, value: Any) -> None:
    """Refuse, `ResultError`, what the schema does not allow as a session of a document."""
    _check(place, value, {"$ref": f"{_DEFS}session"})


@cache
def _schema() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(schema_text())
    return told


def _check(place: str, value: Any, schema: Mapping[str, Any]) -> None:
    for keyword, allowed in schema.items():
        if keyword not in ABOUT:
            CHECKS[keyword](place, value, allowed, schema)


def _type(place: str, value: Any, allowed: Any, _schema: Any) -> None:
    names = [allowed] if isinstance(allowed, str) else allowed
    kinds = tuple(kind for name in names for kind in TYPES[name])
    is_bool = isinstance(value, bool)  # which Python takes for a whole number
    if not isinstance(value, kinds) or (is_bool and bool not in kinds):
        raise refusal(place, value, f"is {' or '.join(names)}")


def _names(place: str, value: Any, allowed: Any, _schema: Any) -> None:
    for name in allowed if isinstance(value, dict) else ():
        if name not in value:
            raise ResultError(f"{place} has no {name!r}")


def _properties(place: str, value: Any, allowed: Any, _schema: Any) -> None:
    for name, schema in allowed.items():
        if isinstance(value, dict) and name in value:
            _check(f"{place}.{name}", value[name], schema)


def _others(place: str, value: Any, allowed: Any, schema: Any) -> None:
    for name in value if isinstance(value, dict) else ():
        if name not in schema.get("properties", {}):
            _check(f"{place}.{name}", value[name], allowed)


def _items(place: str, value: Any, allowed: Any, schema: Any) -> None:
    begin = len(schema.get("prefixItems", ()))
    for number, each in enumerate(value if isinstance(value, list) else ()):
        if number >= begin:
            _check(f"{place}[{number}]", each, allowed)


def _first_items(place: str, value: Any, allowed: Any, _schema: Any) -> None:
    several = value if isinstance(value, list) else ()
    for number, (each, schema) in enumerate(zip(several, allowed, strict=False)):
        _check(f"{place}[{number}]", each, schema)


def _enum(place: str, value: Any, allowed: Any, _schema: Any) -> None:
    if not any(value == each and type(value) is type(each) for each in allowed):
        raise refusal(place, value, f"are {', '.join(map(str, allowed))}")


def _const(place: str, value: Any, allowed: Any, _schema: Any) -> None:
    _enum(place, value, [allowed], _schema)


def _one_of(place: str, value: Any, allowed: Any, _schema: Any) -> None:
    """Allow null or something: no other choice is in the schema."""
    null, other = allowed
    if value is not None or null != {"type": "null"}:
        _check(place, value, other)


def _reference(place: str, value: Any, allowed: str, _of: Any) -> None:
    _check(place, value, _schema()["$defs"][allowed.removeprefix(_DEFS)])


def _if(place: str, value: Any, allowed: Any, schema: Any) -> None:
    try:
        _check(place, value, allowed)
    except ResultError:
        _check(place, value, schema.get("else", {}))
    else:
        _check(place, value, schema.get("then", {}))


def _bound(kind: tuple[type, ...], words: str, is_within: Callable[[Any, Any], bool]) -> Any:
    def check(place: str, value: Any, allowed: Any, _schema: Any) -> None:
        measurable = isinstance(value, kind) and not isinstance(value, bool)
        if measurable and not is_within(value, allowed):
            raise refusal(place, value, words.format(allowed))

    return check


_NUMBER: Final = (int, float)
CHECKS: Final[Mapping[str, Callable[[str, Any, Any, Any], None]]] = {
    "type": _type, "enum": _enum, "const": _const, "$ref": _reference, "oneOf": _one_of,
    "required": _names, "properties": _properties, "additionalProperties": _others,
    "items": _items, "prefixItems": _first_items,
    "if": _if, "then": lambda *_: None, "else": lambda *_: None,
    "minimum": _bound(_NUMBER, "are numbers from {} on", lambda v, a: v >= a),
    "maximum": _bound(_NUMBER, "are numbers up to {}", lambda v, a: v <= a),
    "exclusiveMinimum": _bound(_NUMBER, "are numbers above {}", lambda v, a: v > a),
    "minLength": _bound((str,), "has at least {} characters", lambda v, a: len(v) >= a),
    "minItems": _bound((list,), "is a list of at least {}", lambda v, a: len(v) >= a),
    "maxItems": _bound((list,), "is a list of at most {}", lambda v, a: len(v) <= a),
}  # fmt: skip
