"""What a cell says of a threshold: a level, no response, or that nothing is known."""

import math
import re
import unicodedata
from typing import Final

from device.audiogram_tables.ears import (
    NO_RESPONSE,
    THRESHOLD_DB_HL_MAX,
    THRESHOLD_DB_HL_MIN,
    TableThreshold,
)
from device.audiogram_tables.nhanes import COULD_NOT_OBTAIN
from device.audiogram_tables.nhanes import NO_RESPONSE as NO_RESPONSE_CODE
from firmware_py.terms.printable import show

HOW: Final = (
    "a level is written 45 or 45.5, no response NR, or >110 up to a limit, and what was not "
    "measured is left empty"
)
_NUMBER: Final = r"[+-]?(?:\d{1,6}(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d{1,2})?"
_LEVEL: Final = re.compile(rf"({_NUMBER})\s*(?:dbhl|db hl|db|hl)?", re.ASCII)
_NR: Final = r"(?:nr|n\.r\.|no[ _-]?response|noresp|dnr|not heard|no-resp|↓)"
_BEYOND: Final = re.compile(
    rf"(?:>\s*({_NUMBER})|({_NUMBER})\s*\+|({_NUMBER})\s*\(?{_NR}\)?|{_NR}\s*@?\s*\(?({_NUMBER})\)?)"
    r"\s*(?:dbhl|db hl|db|hl)?"
)
_SILENT: Final = re.compile(_NR)
_OTHER_MEANING: Final = ("<super>", "<sub>", "<fraction>", "<circle>")
_UNKNOWN: Final = {
    "", "-", "--", "–", "—", "na", "n/a", "n.a.", "#n/a", "nt", "dnt", "cnt", "not tested",
    "not measured", "null", "none",
}  # fmt: skip


def plain(text: str) -> str:
    """Return a text without what nobody sees: wide and narrow spaces, marks without a width.

    What is raised, such as the number of a footnote, stays as it is: 4¹ is no 41.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    known = unicodedata.normalize("NFC", "".join(map(_usual, text)))
    return "".join(c for c in known if unicodedata.category(c) not in ("Cf", "Cc")).strip()


def _usual(sign: str) -> str:
    """Return a sign as it is usually written: a narrow space as a space."""
    if unicodedata.decomposition(sign).startswith(_OTHER_MEANING):
        return sign
    return "-" if sign == "−" else unicodedata.normalize("NFKC", sign)


def reading_of(cell: str) -> TableThreshold | None:
    """Return what a cell says; None: nothing is known there. `ValueError` has how it is written."""
    text = plain(cell).casefold()
    if text in _UNKNOWN:
        return None
    if _SILENT.fullmatch(text):
        return NO_RESPONSE
    if found := _BEYOND.fullmatch(text):
        limit = next(each for each in found.groups() if each is not None)
        return TableThreshold(math.inf, _within(limit, cell.strip()))
    found = _LEVEL.fullmatch(text)
    if found is None:
        if text.lstrip("+-") == "nan":
            raise ValueError(f"{cell.strip()} dB HL, {_limits_words()}")
        raise ValueError(f"{show(cell.strip())} is not a number of dB HL; {HOW}")
    level = _number(found[1])
    if level == NO_RESPONSE_CODE:
        return NO_RESPONSE
    if level == COULD_NOT_OBTAIN:
        return None
    return TableThreshold(_within(found[1], cell.strip()))


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _within(text: str, shown: str) -> float:
    level_db_hl = _number(text)
    if not THRESHOLD_DB_HL_MIN <= level_db_hl <= THRESHOLD_DB_HL_MAX:
        raise ValueError(f"{shown} dB HL, {_limits_words()}")
    return level_db_hl


def _limits_words() -> str:
    low, high = THRESHOLD_DB_HL_MIN, THRESHOLD_DB_HL_MAX
    return f"allowed are {low:g} to {high:g}; {HOW}"
