"""The form of everything that a journal records, a line for each part of it.

`python -m tests.formats.form_of_records` prints it, for `form.txt` of a new format.
"""

import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from firmware_py.calibration.in_force import MEASURED_KEYS, NOMINAL_KEYS
from firmware_py.comparisons.events import AidEvent
from firmware_py.comparisons.result import TuningResult
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.platform.program import run_program
from firmware_py.sessions.earlier_formats import EarlierSettings
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms import outcomes
from firmware_py.terms.calibration_states import STATES
from firmware_py.terms.events import Event, RecordedAction
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.reasons import WORDS, Code
from firmware_py.terms.record_checks import ResultError, checks_of
from firmware_py.terms.results import (
    ConfirmedThreshold,
    EarResult,
    MeanGap,
    MeanThreshold,
    SessionResult,
    ThresholdResult,
)
from firmware_py.terms.route import ROUTE_NAMES
from firmware_py.tuning.tuning_record import TuningHeader

# What a format may gain: no journal of before has it, and so every one is read as it was.
ADDED: Final = ("event ", "action ", "reason ", "word ")
CHECKED: Final = (
    SessionResult, EarResult, ThresholdResult, MeanThreshold, MeanGap, ConfirmedThreshold,
    TuningResult, TuningSettings,
)  # fmt: skip
NOTHING: Final = ("nothing",)  # that no check allows


def form_of_records() -> list[str]:
    """Return the lines, sorted."""
    return sorted({*_headers(), *_fields(), *_settings(), *_events(), *_words()})


def _headers() -> Iterator[str]:
    for header in (SessionHeader, TuningHeader):
        for name in checks_of(header):
            rare = ", if there is one" if name in header.RARE else ""
            yield f"header {header.KIND}: {name}{rare}"
    yield f"header calibration: {' '.join(NOMINAL_KEYS)}; {' '.join(MEASURED_KEYS)}"
    yield f"header person: {' '.join(UNKNOWN.as_record())}"
    yield from (f"word of calibration: {each}" for each in STATES)


def _fields() -> Iterator[str]:
    for kind in CHECKED:
        for name, check in checks_of(kind).items():
            yield f"field {kind.__name__}.{name}: {_rule_of(check)}"


def _rule_of(check: Any) -> str:
    """Return the rule of a number or a text; what is one of several words has lines of its own."""
    try:
        check("it", NOTHING)
    except ResultError as error:
        rule = str(error).partition("; allowed ")[2]
        return rule if rule.startswith(("are numbers", "are whole", "is a")) else "a word"
    raise AssertionError("a check allows anything")


def _settings() -> Iterator[str]:
    for field in fields(EarlierSettings):
        annotated: Any = field.type
        kind = _name_of(getattr(annotated, "__origin__", annotated))
        allowed = getattr(annotated, "__metadata__", ((),))[0]
        if kind.startswith(("str", "tuple")):
            yield from (f"word of setting {field.name}: {each}" for each in allowed)
            allowed = ()
        yield f"setting {field.name}: {' '.join(map(str, (kind, *allowed)))}"


def _events() -> Iterator[str]:
    for name, kind in {**Event.KINDS, **AidEvent.KINDS}.items():
        yield f"event {name}: {_fields_of(kind)}"
    for action in _kinds_of(RecordedAction):
        yield f"action {action.WHAT}: {_fields_of(action)}"


def _kinds_of(base: type[Any]) -> Iterator[type[Any]]:
    for kind in base.__subclasses__():
        yield from _kinds_of(kind)
        if kind.WHAT:
            yield kind


def _fields_of(kind: type[Any]) -> str:
    return " ".join(f"{each.name}={_name_of(each.type)}" for each in fields(kind))


def _name_of(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _words() -> Iterator[str]:
    for code in Code:
        yield f"reason {code.word}: {' '.join(code.parts)}"
    for name, words in {**WORDS, "route": ROUTE_NAMES}.items():
        yield from (f"word of {name}: {each}" for each in words)
    for kind in (outcomes.Outcome, outcomes.Verdict, outcomes.MaskingMark, outcomes.Bound,
                 outcomes.WhichEar, outcomes.SessionOutcome, outcomes.Why):  # fmt: skip
        yield from (f"word of {kind.__name__}: {each}" for each in kind)


if __name__ == "__main__":
    sys.exit(run_program(lambda: print(*form_of_records(), sep="\n")))
