"""How loud a tone can be, wherever that is known."""

import math
from collections.abc import Callable

# Of ear and frequency in Hz: the highest level that can be reached there, dB HL.
Highest = Callable[[str, float], float]


def unlimited(_ear: str, _frequency_hz: float) -> float:
    """Return that any level can be reached."""
    return math.inf
