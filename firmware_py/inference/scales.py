"""Frequency scales: the warp from hertz to the axis on which thresholds are smooth.

The paper uses the invertible Bark formula of Wang, Sekey & Gersho (1991), equation 6 there; the
method does not depend on the choice, and three other scales are offered.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from firmware_py.inference.elementary import LOG_2, exp, log


@dataclass(frozen=True)
class Scale:
    """An invertible map between frequency in hertz and a position x on a psychoacoustic axis."""

    name: str
    unit: str
    warp: Callable[[float], float]
    unwarp: Callable[[float], float]


def _bark(frequency_hz: float) -> float:
    u = frequency_hz / 600.0
    return 6.0 * log(u + math.sqrt(u * u + 1.0))


def _bark_inverse(x: float) -> float:
    e = exp(x / 6.0)
    return 300.0 * (e - 1.0 / e)


def _traunmuller(frequency_hz: float) -> float:
    return 26.81 * frequency_hz / (1960.0 + frequency_hz) - 0.53


def _traunmuller_inverse(x: float) -> float:
    return 1960.0 * (x + 0.53) / (26.28 - x)


_MEL_PER_NEPER: Final = 2595.0 / math.log(10.0)


def _mel(frequency_hz: float) -> float:
    return _MEL_PER_NEPER * log(1.0 + frequency_hz / 700.0)


def _mel_inverse(x: float) -> float:
    return 700.0 * (exp(x / _MEL_PER_NEPER) - 1.0)


def _octaves(frequency_hz: float) -> float:
    return log(frequency_hz / 1000.0) / LOG_2


def _octaves_inverse(x: float) -> float:
    return 1000.0 * exp(x * LOG_2)


SCALES: Final = {
    # Wang, Sekey & Gersho 1991, equation 6 of the paper.
    "bark": Scale("bark", "Bark", _bark, _bark_inverse),
    # Traunmueller, J. Acoust. Soc. Am. 88 (1990) 97-100.
    "traunmuller": Scale("traunmuller", "Bark", _traunmuller, _traunmuller_inverse),
    # O'Shaughnessy, Speech Communication (1987).
    "mel": Scale("mel", "mel", _mel, _mel_inverse),
    # Octaves above 1 kHz, the axis of an audiogram.
    "log2": Scale("log2", "octave", _octaves, _octaves_inverse),
}


def scale_named(name: str) -> Scale:
    """Return the scale of this name.

    Raises
    ------
    ValueError
        If there is no such scale.
    """
    try:
        return SCALES[name]
    except (KeyError, TypeError):
        raise ValueError(f"scale is {name!r}; allowed are {', '.join(SCALES)}") from None
