"""What recorded reasons say, in the firmware's English; and an example of every reason."""

from typing import Any, Final

from firmware_py.operator.replies import unasked_line
from firmware_py.terms.reasons import DATES, SEVERAL, TEXTS, WORDS, Code, Reason, reason, reasons_at
from firmware_py.terms.tells import Tell
from firmware_py.terms.words import say

_REASONS: Final[dict[str, Reason | list[Reason]]] = {
    "why": reason(Code.FELL_SILENT, count=9),
    "doubt": reason(Code.MISSES, missed=4, asked=60),
    "differs": reason(Code.DIFFERS_NOW, field="board", was="", now="'pico e662'"),
    "ago": reason(Code.HOURS, count=3),
    "signs": [reason(Code.RUN_AWAY, away=5), reason(Code.MISSES, missed=4, asked=60)],
    "limits": [reason(Code.LIMIT_AT, limit_db_hl=80.5, frequency_hz=f) for f in (3000, 6000)],
    "by_ear": [reason(Code.BOARDS_OF_EAR, ear="left", boards=["pico e661", "pico e662"])],
}
_NUMBERS: Final = {"half_width_db": 4.96, "information_bits": 0.025, "difference_db": -12.4}


def reason_words(recorded: Any) -> str:
    """Return one reason in words, or several in one line."""
    several = recorded if isinstance(recorded, list) else [recorded]
    return say(reasons_at("recorded", several))


def line_of(told: Tell) -> str:
    """Return the line in which the console tells it unasked."""
    return unasked_line(told.WHAT, told.figures())


def each_said(recorded: list[Any]) -> list[str]:
    return [reason_words(each) for each in recorded]


def example(code: Code) -> Reason:
    return reason(code, **{name: _example(name) for name in code.parts})


def _example(name: str) -> Any:
    if name in _REASONS:
        return _REASONS[name]
    one: Any = "2026-11-25" if name in DATES else "sim 7" if name in TEXTS else 63.0
    one = WORDS[name][-1] if name in WORDS else one
    one = _NUMBERS.get(name, one)
    return [one, one] if name in SEVERAL else one
