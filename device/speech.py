"""Conversational speech: its level in the bands of an aid."""

from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

CONVERSATION_DB_SPL: Final = 65.0
SOFT_DB_SPL: Final = 50.0
LOUD_DB_SPL: Final = 80.0
SPEECH_LEVELS_DB_SPL: Final = (SOFT_DB_SPL, CONVERSATION_DB_SPL, LOUD_DB_SPL)
PEAKS_DB: Final = 12.0  # of speech, above its long-term level in a band

# The long-term average spectrum of speech at 70 dB SPL, men and women together: one-third-octave
# levels in dB SPL (Byrne et al., J. Acoust. Soc. Am. 96 (1994) 2108-2120).
SPECTRUM_DB_SPL: Final = 70.0
THIRDS_HZ: Final = (
    63, 80, 100, 125, 160, 200, 250, 315, 400, 500, 630, 800, 1000, 1250, 1600, 2000, 2500, 3150,
    4000, 5000, 6300, 8000, 10000, 12500, 16000,
)  # fmt: skip
THIRDS_DB_SPL: Final = (
    38.6, 43.5, 54.4, 57.7, 56.8, 60.2, 60.3, 59.0, 62.1, 62.1, 60.5, 56.8, 53.7, 53.0, 52.0, 48.7,
    48.1, 46.8, 45.6, 44.5, 44.3, 43.7, 43.4, 41.3, 40.7,
)  # fmt: skip


def a_weighting_db(frequency_hz: FloatArray) -> FloatArray:
    """Return the A-weighting above 0 Hz, dB: 0 at 1 kHz (IEC 61672-1, annex E)."""
    square = np.square(np.asarray(frequency_hz, dtype=np.float64))
    low, second, third, high = (np.square(pole_hz) for pole_hz in (20.6, 107.7, 737.9, 12194.0))
    response = (
        high * square**2
        / ((square + low) * np.sqrt((square + second) * (square + third)) * (square + high))
    )  # fmt: skip
    weighting_db: FloatArray = 20.0 * np.log10(response) + 2.0
    return weighting_db


def speech_in_bands(center_hz: FloatArray, a_weighted: bool = False) -> FloatArray:
    """Return the level of conversational speech in each band, dB SPL or dB(A), with rising centres.

    Within a third of an octave speech is taken to be spread evenly over log frequency. The bands
    meet halfway on log frequency; the first and the last have no end. It is 0 where there is less,
    or no speech at all.
    """
    thirds = np.log2(THIRDS_HZ)
    third_edges = np.concatenate(([thirds[0] - 1 / 6], 0.5 * (thirds[1:] + thirds[:-1]), [15.0]))
    levels_db = np.array(THIRDS_DB_SPL) + CONVERSATION_DB_SPL - SPECTRUM_DB_SPL
    if a_weighted:
        levels_db = levels_db + a_weighting_db(np.array(THIRDS_HZ, dtype=np.float64))
    below = np.concatenate(([0.0], np.cumsum(10.0 ** (0.1 * levels_db))))
    edges = 0.5 * (np.log2(center_hz[1:]) + np.log2(center_hz[:-1]))
    at_edges = np.interp(edges, third_edges, below)
    in_bands = np.diff(np.concatenate(([0.0], at_edges, [below[-1]])))
    return 10.0 * np.log10(np.maximum(in_bands, 1.0))
