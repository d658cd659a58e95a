"""The one reader of what a firmware, a board or an aid tells: who it is, and figures by name.

What is missing, or is not what it has to be, is a `HostError` that names it.
"""

import json
import math
import re
import secrets
import shlex
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import fields
from enum import StrEnum
from types import UnionType
from typing import Any, Final

from firmware_py.link.frames import FrameError, decode, encode
from firmware_py.link.messages import WIRE_VERSION
from firmware_py.terms.outcomes import UNSURE, Bound
from firmware_py.terms.printable import show
from firmware_py.terms.reasons import Reason, Reasons, reasons_at
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import EAR, ROUTE, ROUTE_NAMES, Route, gather_routes, spell_routes
from firmware_py.terms.shown_threshold import NUMBERS, SIGNS, Kind
from firmware_py.terms.tells import Tell
from host_tools.errors import HostError

UNASKED: Final = "!"
DIGITS_MAX: Final = 18
BEYOND_LIMIT: Final = {SIGNS[Bound.AT_LEAST]: math.inf, SIGNS[Bound.AT_MOST]: -math.inf}
HEARD: Final[dict[str, bool | None]] = {"true": True, "false": False, UNSURE: None}
IDENTIFY: Final = b"\x15\r*IDN?\r"  # ^U: the console forgets a line that was typed in part
IDENTITY: Final = "GP-PTA,"  # how a firmware's answer begins
CONSOLE_WANTED: Final = (
    "the operator's console is wanted: the port that gp-pta-device has as --console, or the other "
    "end of its cable"
)
BOARD_WANTED: Final = (
    "the board's own port is wanted, the one that gp-pta-device has as --tone-generator, and "
    "nothing else may have it open meanwhile"
)
_SEQUENCE: Final = 1
_REASONS: Final = re.compile(r" reasons=(\S*)$")


def not_understood(command: str, why: str) -> HostError:
    return HostError(f"the answer to {command} is not understood: {why}")


@contextmanager
def understanding(command: str) -> Iterator[None]:
    try:
        yield
    except (
        AttributeError,
        KeyError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise not_understood(command, str(error)) from None


class AnswerFields(dict[str, str]):
    """What was told, by name; without a name that is asked for it is not understood."""

    def __init__(self, command: str, fields: dict[str, str]) -> None:
        super().__init__(fields)
        self._command = command

    def __missing__(self, name: str) -> str:
        raise not_understood(self._command, f"it has no {name}")

    def number(
        self,
        name: str,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        other: float | None = None,
    ) -> float:
        if other is not None and name not in self:
            return other
        with understanding(self._command):
            value = float(self[name])
        if not low <= value <= high:  # NaN is not between two numbers
            raise self._wrong(name, f"are numbers from {low:g} to {high:g}")
        return value

    def whole(self, name: str, low: int = 0, high: int = 10**DIGITS_MAX) -> int:
        digits = self[name]
        right = digits.isascii() and digits.isdigit() and len(digits) <= DIGITS_MAX
        if not right or not low <= int(digits) <= high:
            raise self._wrong(name, f"are whole numbers from {low} to {high}")
        return int(digits)

    def one_of(self, name: str, allowed: Collection[str]) -> str:
        if self[name] not in allowed:
            raise self._wrong(name, f"are {', '.join(allowed)}")
        return self[name]

    @property
    def route(self) -> Route:
        route = gather_routes(self).get(ROUTE)
        if not isinstance(route, Route):
            raise self._wrong(EAR, f"are {', '.join(ROUTE_NAMES)}")
        return route

    def _wrong(self, name: str, allowed: str) -> HostError:
        return not_understood(self._command, f"{name} is {show(self[name])}; allowed {allowed}")


def told_pairs(command: str, answer: str) -> AnswerFields:
    """Take an answer of pairs, ``state=idle calibration=NONE why="..."``."""
    with understanding(command):
        return AnswerFields(command, dict(word.partition("=")[::2] for word in shlex.split(answer)))


def told_values(command: str, answer: str, *names: str) -> AnswerFields:
    """Take an answer of values with commas between them, each with its name; the last has the rest.

    One without as many is an answer without the last of them.
    """
    values = answer.split(",", len(names) - 1)
    return AnswerFields(command, dict(zip(names, values, strict=False)))


def told_word(command: str, answer: str, allowed: Collection[str]) -> str:
    return AnswerFields(command, {"it": answer}).one_of("it", allowed)


def told_unasked(line: str) -> tuple[str, Tell | None]:
    """Take a line that came unasked, ``! tone ear=left``: its name, and what it tells.

    "" of a line that was asked for; None of one that tells nothing of a test, a tuning or an error.
    """
    if not line.startswith(UNASKED):
        return "", None
    what, _, rest = line.removeprefix(UNASKED).strip().partition(" ")
    if (kind := Tell.KINDS.get(what)) is None:
        return what, None
    about, why = told_pairs(f"{UNASKED} {what}", rest), _REASONS.search(rest)
    with understanding(f"{UNASKED} {what}"):
        reasons = reasons_at("reasons", json.loads(why[1])) if why else ()
        told = {each.name: _value_of(each.name, each.type, about, reasons) for each in fields(kind)}
        return what, kind(**told)


def _value_of(name: str, kind: Any, about: AnswerFields, reasons: Reasons) -> Any:
    if kind == Reasons:
        return reasons
    if kind == bool | None:
        return HEARD[about.one_of(name, HEARD)]
    if isinstance(kind, UnionType):
        return _value_of(name, kind.__args__[0], about, reasons) if name in about else None
    if kind is Reason:
        (first,) = reasons[:1]
        return first
    if kind is int:
        return about.whole(name)
    if kind is float:
        return about.number(name)
    if issubclass(kind, StrEnum):
        return kind(about.one_of(name, [*kind]))
    return about.route if kind is Route else about[name]


def told_result(answer: str) -> SessionResult:
    """Take the answer to SESS:RES?, in which its verdict stands as well, and whose it is."""
    with understanding("SESS:RES?"):
        told = json.loads(answer)
        told = {field.name: told[field.name] for field in fields(SessionResult)}
        told["ears"] = [_recorded_ear(ear) for ear in told["ears"]]
        return SessionResult.from_record(told, so_far=True)


def _recorded_ear(told: dict[str, Any]) -> dict[str, Any]:
    """Return an ear as a result has it; what follows from its thresholds is not shown here."""
    values = gather_routes(told) | {"pta4": None, "gap": None}
    ear = spell_routes({field.name: values[field.name] for field in fields(EarResult)})
    return ear | {"thresholds": [_as_recorded(each) for each in told["thresholds"]]}


def _as_recorded(told: dict[str, Any]) -> dict[str, Any]:
    """Return a threshold as a result has it: with the numbers that were inferred in their place."""
    names = [field.name for field in fields(ThresholdResult)]
    inferred, reading = told["inferred"] or {}, told["reading"]
    numbers = {name: inferred[short] for name, short in NUMBERS.items() if inferred}
    recorded = {name: told.get(name) for name in names} | numbers
    if reading["kind"] in (Kind.MEASURED, Kind.INFERRED):
        # what was told as a limit lies beyond it, or a bound would be read as a number
        _put_beyond(recorded, "threshold_db_hl", BEYOND_LIMIT.get(reading["sign"]))
        _put_beyond(recorded, "low_db_hl", -math.inf if reading["low_open"] else None)
        _put_beyond(recorded, "high_db_hl", math.inf if reading["high_open"] else None)
    return recorded


def _put_beyond(recorded: dict[str, Any], name: str, towards: float | None) -> None:
    if towards is not None:
        recorded[name] = math.nextafter(recorded[name], towards)


def hello() -> bytes:
    """Return a frame that a tone generator answers in any state."""
    return encode(_SEQUENCE, "hello", (("wire", WIRE_VERSION), ("host", secrets.token_hex(4))))


def answer_to_hello(line: bytes) -> tuple[str, dict[str, str]] | None:
    """Return the answer of a tone generator to `hello`; None if the line is something else.

    It is ``ok`` with what it says about itself, or ``error`` with its ``code``.
    """
    try:
        sequence, verb, fields = decode(line)
    except FrameError:
        return None
    return (verb, fields) if sequence == _SEQUENCE and verb in ("ok", "error") else None
