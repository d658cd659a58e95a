"""Levels of discomfort of a person, as somebody measured them with tones, in dB HL.

They are written ``right 1000:95, left 500:100 1000:>110``: HZ:DBHL of each ear, and ``>`` before a
level up to which nothing was uncomfortable.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from firmware_py.terms.record_checks import (
    ResultError,
    number,
    object_of,
    one_of,
    refusal,
    several,
    switch,
)
from firmware_py.terms.route import LEFT, RIGHT

# Between those at which it was learned how people differ, and those themselves.
LEVELS_HZ: Final = (500, 750, 1000, 1500, 2000, 3000, 4000)
LEVEL_LIMITS_DB_HL: Final = (0.0, 130.0)
HOW: Final = (
    "are levels of tones in dB HL by frequency, such as right 1000:95, left 500:100 1000:>110 (> "
    "up to which nothing was uncomfortable)"
)
_EARS: Final = {"right": RIGHT, "r": RIGHT, "left": LEFT, "l": LEFT}
_PAIR: Final = re.compile(r"(\d+(?:\.\d+)?):(>?)([+-]?\d+(?:\.\d+)?)")
# What is no level of a tone in dB HL.
_SPL: Final = re.compile(r"spl|dba|db\(a\)", re.IGNORECASE)
_BROADBAND: Final = re.compile(r"noise|speech|broad|music|wbn|nbn", re.IGNORECASE)


@dataclass(frozen=True)
class DiscomfortLevel:
    """From which level a tone is uncomfortable; `above`: it was not yet at the highest tried."""

    frequency_hz: Annotated[int, one_of(*LEVELS_HZ)]
    level_db_hl: Annotated[float, number(*LEVEL_LIMITS_DB_HL, "dB HL")]
    above: Annotated[bool, switch] = False

    @property
    def words(self) -> str:
        return f"{self.frequency_hz}:{'>' * self.above}{self.level_db_hl:g}"


DiscomfortLevels = tuple[DiscomfortLevel, ...]
levels_at: Final = several(
    object_of(DiscomfortLevel), 0, len(LEVELS_HZ), key="frequency_hz"
)  # of one ear; none: they are taken back
_one_level: Final = object_of(DiscomfortLevel)


def level_at(place: str, frequency_hz: float, level_db_hl: float, *, above: bool) -> DiscomfortLevel:
    """Return a level that can be one, or raise a `ResultError` that says what is allowed."""
    record = {"frequency_hz": frequency_hz, "level_db_hl": level_db_hl, "above": above}
    found: DiscomfortLevel = _one_level(place, record)
    return found


def levels_of_words(text: str, place: str = "discomfort") -> DiscomfortLevels:
    """Return the levels of one ear, HZ:DBHL, separated by spaces or semicolons."""
    if _SPL.search(text):
        raise refusal(place, text, f"{HOW}; dB SPL are none: type what the audiometer's dial shows")
    if _BROADBAND.search(text):
        raise refusal(place, text, f"{HOW}; a level of noise or speech has no frequency")
    found = []
    for part in re.split(r"[\s;]+", text.strip()):
        pair = _PAIR.fullmatch(part)
        if pair is None:
            raise refusal(place, part, HOW)
        hz = float(pair[1])
        found.append(
            level_at(place, int(hz) if hz == int(hz) else hz, float(pair[3]), above=bool(pair[2]))
        )
    return once(found, place)


def once(levels: Sequence[DiscomfortLevel], place: str) -> DiscomfortLevels:
    """Return levels by rising frequency; `ResultError` if one comes twice."""
    known = [level.frequency_hz for level in levels]
    if twice := [f for k, f in enumerate(known) if f in known[:k]]:
        raise refusal(f"{place} at {twice[0]} Hz", "there twice", "is each frequency once an ear")
    return tuple(sorted(levels, key=lambda level: level.frequency_hz))


def ears_of_words(text: str, place: str = "discomfort") -> dict[str, DiscomfortLevels]:
    """Return the levels of ears, ``right 1000:95, left 500:100``."""
    found: dict[str, DiscomfortLevels] = {}
    for part in text.split(","):
        word, _, levels = part.strip().partition(" ")
        ear = _EARS.get(word.casefold())
        if ear is None or not levels.strip():
            raise refusal(place, part.strip(), HOW)
        if ear in found:
            raise refusal(place, f"the {ear} ear twice", "is each ear once")
        found[ear] = levels_of_words(levels, f"{place} of the {ear} ear")
    return found
