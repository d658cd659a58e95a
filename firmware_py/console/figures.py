"""How words and figures are written where people read them."""

from typing import Final

DECIMALS_MAX: Final = 3  # tells every tone from every other


def readable(words: str) -> str:
    """Return words of the record, which are ASCII, with the signs that people use."""
    return words.replace("+-", "±")


def figure(value: float) -> str:
    """Return a number with the decimals it needs, at most `DECIMALS_MAX`."""
    text = f"{value:.{DECIMALS_MAX}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
