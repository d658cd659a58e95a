"""How verdicts, words and figures are written where people read them."""

from typing import Final

from firmware_py.terms.verdicts import Explained
from firmware_py.terms.words import say

DECIMALS_MAX: Final = 3  # tells every tone from every other


def readable(words: str) -> str:
    """Return words of the record, which are ASCII, with the signs that people use."""
    return words.replace("+-", "±")


def figure(value: float) -> str:
    """Return a number with the decimals it needs, at most `DECIMALS_MAX`."""
    text = f"{value:.{DECIMALS_MAX}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def verdict_word(verdict: str) -> str:
    return verdict.replace("-", " ")


def verdict_words(ear: Explained) -> str:
    return ": ".join(filter(None, (verdict_word(ear.verdict), say(ear.reasons))))


def which_ear_words(which_ear: str, ears: int) -> list[str]:
    """Return whether the listener confirmed which ear is which; nothing of one ear."""
    return [] if ears < 2 else [f"which ear is which: {which_ear.replace('-', ' ')}"]
