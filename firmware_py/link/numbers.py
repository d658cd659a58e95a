"""Numbers in the lines of a program of somebody else: in their range before they are numbers."""

from typing import Final

from firmware_py.link.frames import FrameError, parse_decimal, parse_whole

DIGITS_MAX: Final = 24  # with sign and point: more than any number of a line needs


def whole_between(text: str, low: int, high: int) -> int:
    """Read a whole number; `ValueError` if it is none, or not in its range."""
    value = parse_whole(_short(text))
    if not low <= value <= high:
        raise _outside(text, low, high)
    return value


def decimal_between(text: str, low: float, high: float) -> float:
    """Read a decimal; `ValueError` if it is none, or not in its range."""
    value = parse_decimal(_short(text))
    if not low <= value <= high:
        raise _outside(text, low, high)
    return value


def _short(text: str) -> str:
    if len(text) > DIGITS_MAX:
        raise FrameError(f"number of {len(text)} characters; allowed are {DIGITS_MAX}")
    return text


def _outside(text: str, low: float, high: float) -> FrameError:
    return FrameError(f"number {text}; allowed is {low:g} to {high:g}")
