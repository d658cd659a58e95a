"""Levels of discomfort of a person, as somebody measured them with tones, in dB HL.

They are written ``right 1000:95, left 500:100 1000:>110 (Dr Cox, 2026-11-02)``: HZ:DBHL of each
ear, ``>`` before a level up to which nothing was uncomfortable, and who measured them, and when.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from firmware_py.terms.discomfort_levels import DiscomfortLevels, levels_at
from firmware_py.terms.events import DiscomfortTold
from firmware_py.terms.record_checks import refusal
from firmware_py.terms.route import LEFT, RIGHT

HOW: Final = (
    "are levels of tones in dB HL by frequency, such as right 1000:95, left 500:100 1000:>110 (> "
    "up to which nothing was uncomfortable)"
)
_EARS: Final = {"right": RIGHT, "r": RIGHT, "left": LEFT, "l": LEFT}
_PAIR: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?):(>?)([+-]?[0-9]{1,6}(?:\.[0-9]{1,6})?)")
# What is no level of a tone in dB HL.
_SPL: Final = re.compile(r"spl|dba|db\(a\)", re.IGNORECASE)
_ABOUT: Final = re.compile(r"\s*\(([^()]*)\)\s*$")
_DAY: Final = re.compile(r"(20[0-9]{2})-([0-9]{2})-([0-9]{2})")
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LIKE_A_DAY: Final = re.compile(r"[0-9]{1,4}[-./][0-9]{1,4}[-./][0-9]{1,4}")
_BROADBAND: Final = re.compile(r"noise|speech|broad|music|wbn|nbn", re.IGNORECASE)


def levels_of_words(text: str, place: str = "discomfort") -> DiscomfortLevels:
    """Return the levels of one ear, HZ:DBHL, separated by spaces or semicolons."""
    _refuse_other_units(place, text)
    records = []
    for part in re.split(r"[\s;]+", text.strip()):
        pair = _PAIR.fullmatch(part)
        if pair is None:
            raise refusal(place, part, HOW)
        hz = float(pair[1])
        records.append(record_of(hz, float(pair[3]), above=bool(pair[2])))
    return rising(place, records)


def _refuse_other_units(place: str, text: str) -> None:
    if _SPL.search(text):
        raise refusal(place, text, f"{HOW}; dB SPL are none: type what the audiometer's dial shows")
    if _BROADBAND.search(text):
        raise refusal(place, text, f"{HOW}; a level of noise or speech has no frequency")


def record_of(frequency_hz: float, level_db_hl: float, *, above: bool) -> dict[str, Any]:
    whole = int(frequency_hz) if frequency_hz == int(frequency_hz) else frequency_hz
    return {"frequency_hz": whole, "level_db_hl": level_db_hl, "above": above}


def rising(place: str, records: Sequence[dict[str, Any]]) -> DiscomfortLevels:
    """Return levels by frequency; `ResultError` if one can be none, or comes twice."""
    return tuple(sorted(levels_at(place, [*records]), key=lambda level: level.frequency_hz))


def told_of_words(text: str, place: str = "discomfort") -> dict[str, DiscomfortTold]:
    """Return the levels of ears, ``right 1000:95, left 500:100 (source, day)``."""
    _refuse_other_units(place, text)
    about = _ABOUT.search(text)
    parts = [part.strip() for part in about[1].split(",")] if about else []
    days = [day_of(part) for part in parts if _LIKE_A_DAY.fullmatch(part)]
    if len(days) > 1:
        raise refusal(f"{place} day", ", ".join(days), "is one")
    day = days[0] if days else ""
    source = ", ".join(part for part in parts if part != day)
    found: dict[str, DiscomfortTold] = {}
    for part in _ABOUT.sub("", text).split(","):
        word, _, levels = part.strip().partition(" ")
        ear = _EARS.get(word.casefold())
        if ear is None or not levels.strip():
            raise refusal(place, part.strip(), HOW)
        if ear in found:
            raise refusal(place, f"the {ear} ear twice", "is each ear once")
        at = f"{place} of the {ear} ear"
        found[ear] = DiscomfortTold(ear, levels_of_words(levels, at), source, day_of(day))
    return found


def day_of(text: str) -> str:
    """Return a day as it is recorded, 2026-11-02, or ""; `ResultError` if it is none."""
    if text and not _is_day(text):
        raise refusal("discomfort day", text, "is one such as 2026-11-02")
    return text


def _is_day(text: str) -> bool:
    found = _DAY.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    if not 1 <= month <= len(_DAYS) or not 1 <= day <= _DAYS[month - 1]:
        return False
    return (month, day) != (2, 29) or year % 4 == 0  # so it is in this century
