"""Values that are known at some frequencies, at others: on lines over log frequency."""

from collections.abc import Sequence

import numpy as np

from device.speech import FloatArray


def line_weights(
    frequency_hz: float | Sequence[float] | FloatArray,
    known_hz: Sequence[float] | FloatArray,
    beyond: float | None = None,
) -> FloatArray:
    """Return how much each known frequency counts at each frequency, (..., k).

    Beyond the ends the nearest counts alone; with `beyond` each counts so much.
    """
    at, known = np.log2(frequency_hz), np.log2(known_hz)
    units = np.eye(len(known))
    rows = [np.interp(at, known, unit, left=beyond, right=beyond) for unit in units]
    return np.stack(rows, axis=-1)
