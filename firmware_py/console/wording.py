"""How verdicts, words and figures are written where people read them."""

from collections.abc import Sequence
from typing import Final

from firmware_py.procedure.outcomes import Verdict
from firmware_py.procedure.results import EarResult
from firmware_py.procedure.verdicts import Explained
from firmware_py.procedure.words import say

DECIMALS_MAX: Final = 3  # tells every tone from every other


def readable(words: str) -> str:
    """Return words of the record, which are ASCII, with the signs that people use."""
    return words.replace("+-", "±")


def figure(value: float) -> str:
    """Return a number with the decimals it needs, at most `DECIMALS_MAX`."""
    text = f"{value:.{DECIMALS_MAX}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def verdict_lines(ears: Sequence[EarResult]) -> list[str]:
    """Return the verdict on each ear with its reasons, or one line that is true of all.

    They stand above what was found.
    """
    lines = [_line(ear) for ear in ears]
    if len({*lines}) == 1:
        return [f"verdict: {lines[0]}"]
    return [f"verdict, {ear.route.words}: {line}" for ear, line in zip(ears, lines, strict=True)]


def verdict_word(verdict: str) -> str:
    """Return a verdict as people read it."""
    return verdict.replace("-", " ")


def verdict_words(ear: Explained) -> str:
    return ": ".join(filter(None, (verdict_word(ear.verdict), say(ear.reasons))))


def which_ear_words(which_ear: str, ears: int) -> list[str]:
    """Return whether the listener confirmed which ear is which; nothing of one ear."""
    return [] if ears < 2 else [f"which ear is which: {which_ear.replace('-', ' ')}"]


def _line(ear: EarResult) -> str:
    """Return the same as it stands above a result: what is not valid in capitals."""
    word = verdict_word(ear.verdict)
    words = readable(verdict_words(ear))
    return words if ear.verdict == Verdict.VALID else words.replace(word, word.upper(), 1)
