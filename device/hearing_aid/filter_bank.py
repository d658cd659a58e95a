"""What the filter bank makes of a table of gains, and the table that makes what was asked.

openMHA's bands overlap: between two centres each bin of the spectrum has a share of both, a raised
cosine over log frequency. So at a low centre, where bins are far apart, the gain is partly that of
its neighbours. `correct` solves for the table whose gain at each centre is the one that is asked.
"""

from typing import Final

import numpy as np

from device.hearing_aid.fit import INPUT_LEVELS_DB_SPL
from device.speech import FloatArray

ROUNDS: Final = 40
LEAST_DB: Final = -20.0  # of a corrected gain
LEVEL_MIN_DB: Final = -60.0  # of what leaks into a band; less does nothing


def shares(center_hz: FloatArray, bins_hz: FloatArray) -> FloatArray:
    """Return the share of each band in each bin, (bands, bins)."""
    x = np.log2(np.maximum(bins_hz, 1.0))
    centers = np.log2(center_hz)
    found = np.zeros((len(centers), len(x)))
    left = np.clip(np.searchsorted(centers, x, side="right") - 1, 0, len(centers) - 1)
    for b, k in enumerate(left.tolist()):
        if x[b] <= centers[0] or k == len(centers) - 1:
            found[k, b] = 1.0
            continue
        at = (x[b] - centers[k]) / (centers[k + 1] - centers[k])
        found[k, b] = 0.5 + 0.5 * np.cos(np.pi * at)
        found[k + 1, b] = 1.0 - found[k, b]
    return found


def _bins_hz(rate_hz: int, fft_frames: int) -> FloatArray:
    return np.linspace(0.0, 0.5 * rate_hz, fft_frames // 2 + 1)


def responses(center_hz: FloatArray, rate_hz: int, fft_frames: int) -> FloatArray:
    """Return what each band (columns) has of the gain for a tone at each centre (rows)."""
    bins_hz = _bins_hz(rate_hz, fft_frames)
    impulse = np.fft.irfft(shares(center_hz, bins_hz), fft_frames)
    n = np.arange(fft_frames)
    n = np.where(n < fft_frames // 2, n, n - fft_frames)
    return np.cos(2.0 * np.pi * np.outer(center_hz, n) / rate_hz) @ impulse.T


def leaks_db(
    center_hz: FloatArray, rate_hz: int, fft_frames: int, window_frames: int
) -> FloatArray:
    """Return the level that each band (columns) sees of a tone at each centre (rows), dB."""
    bins_hz = _bins_hz(rate_hz, fft_frames)
    window = np.hanning(window_frames + 1)[:-1]
    n = np.arange(window_frames)
    found = np.zeros((len(center_hz), len(center_hz)))
    share = shares(center_hz, bins_hz)
    for k, frequency_hz in enumerate(center_hz.tolist()):
        phase = 2.0 * np.pi * np.outer(bins_hz - frequency_hz, n) / rate_hz
        power = (np.cos(phase) @ window) ** 2 + (np.sin(phase) @ window) ** 2
        found[k] = (share**2 @ power) / power.sum()
    return np.maximum(10.0 * np.log10(np.maximum(found, 1e-12)), LEVEL_MIN_DB)


def correct(
    center_hz: FloatArray,
    gains_db: FloatArray,
    rate_hz: int,
    fft_frames: int,
    window_frames: int,
) -> FloatArray:
    """Return the table whose gains at the centres are those asked, as far as there is one.

    Gains, (m, levels), are asked at each centre and each of `INPUT_LEVELS_DB_SPL`, and not below 0.
    None becomes more than what was asked of any neighbour.
    """
    levels = np.array(INPUT_LEVELS_DB_SPL)
    mixing = responses(center_hz, rate_hz, fft_frames)
    leaks = leaks_db(center_hz, rate_hz, fft_frames, window_frames)
    wanted = 10.0 ** (0.05 * gains_db)
    found = gains_db.copy()
    for _ in range(ROUNDS):
        for k in range(len(center_hz)):
            others = sum(
                mixing[k, j] * 10.0 ** (0.05 * np.interp(levels + leaks[k, j], levels, found[j]))
                for j in range(len(center_hz))
                if j != k and abs(mixing[k, j]) > 1e-4
            )
            own = np.maximum((wanted[k] - others) / mixing[k, k], 10.0 ** (0.05 * LEAST_DB))
            # The band sees the tone a little softer than it is: part of it lies in other bands.
            found[k] = np.interp(levels, levels + leaks[k, k], 20.0 * np.log10(own))
    most_db: FloatArray = gains_db.max(axis=0)
    return np.clip(found, LEAST_DB, most_db)
