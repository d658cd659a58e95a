"""The last thing before a sound leaves for an ear: it holds the limits of a fit, whoever made it.

The engine limits, too. It is a program of others, and this does not rely on it.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from device.hearing_aid.band_limits import LimitedBands, limited_bands
from device.hearing_aid.chain import SAMPLE_RATE_HZ, full_scale_of
from device.hearing_aid.fit import Fit
from device.speech import FloatArray
from firmware_py.terms.route import LEFT, RIGHT

WINDOW_FRAMES: Final = 256
HOP_FRAMES: Final = WINDOW_FRAMES // 4  # the windows add up to 2
LOUDEST: Final = 1e6  # of full scale: what is no number, or above this, is none of an aid

_WINDOW = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(WINDOW_FRAMES) / WINDOW_FRAMES)
# of the squares of half a spectrum, so that a sum over bins is the square of an RMS
_OF_POWER = 2.0 / (WINDOW_FRAMES * np.sum(_WINDOW**2))


class LastLimiter:
    """Lets pass what is within the limits of a fit of both ears; the rest is made softer."""

    def __init__(self, fit: Fit) -> None:
        ears = (fit.of_ear(LEFT), fit.of_ear(RIGHT))
        # the largest sample of each ear, of full scale
        self.largest = full_scale_of(np.array([ear.output_max_db_spl for ear in ears]))
        self._banks = [_Bank(bands) for bands in limited_bands(ears, SAMPLE_RATE_HZ)]

    def limit(self, samples: FloatArray) -> FloatArray:
        """Return a sound within the limits of each band, and with no larger sample than allowed.

        It is (frames, 2), left and right; an RMS of 1 is `chain.FULL_SCALE_DB_SPL`.
        """
        numbers = np.clip(np.nan_to_num(samples), -LOUDEST, LOUDEST)
        return np.clip(self._in_bands(numbers), -self.largest, self.largest)

    def _in_bands(self, samples: FloatArray) -> FloatArray:
        behind = -len(samples) % HOP_FRAMES + WINDOW_FRAMES
        padded = np.pad(samples, ((WINDOW_FRAMES, behind), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, WINDOW_FRAMES, axis=0)
        spectra = np.fft.rfft(windows[::HOP_FRAMES] * _WINDOW)
        had_to = [bank.hold(spectra) for bank in self._banks]
        if not any(had_to):
            return samples
        found = np.zeros_like(padded)
        parts = np.fft.irfft(spectra).transpose(0, 2, 1)
        for first in range(WINDOW_FRAMES // HOP_FRAMES):
            several = parts[first :: WINDOW_FRAMES // HOP_FRAMES].reshape(-1, samples.shape[1])
            start = first * HOP_FRAMES
            found[start : start + len(several)] += 0.5 * several
        return found[WINDOW_FRAMES : WINDOW_FRAMES + len(samples)]


class _Bank:
    """A set of bands over the bins of a spectrum."""

    def __init__(self, bands: LimitedBands) -> None:
        bins_hz = np.fft.rfftfreq(WINDOW_FRAMES, 1.0 / SAMPLE_RATE_HZ)
        band_of_bin = np.searchsorted(bands.edges_hz[1:-1], bins_hz, side="right")
        used, self._first_bins = np.unique(band_of_bin, return_index=True)
        self._bins: npt.NDArray[np.int64] = np.diff(self._first_bins, append=len(bins_hz))
        self._largest = full_scale_of(bands.limits_db_spl)[:, used]

    def hold(self, spectra: npt.NDArray[np.complex128]) -> bool:
        """Make bands of spectra, (..., ears, bins), softer; return whether any had to be."""
        power = np.add.reduceat(np.abs(spectra) ** 2, self._first_bins, axis=-1) * _OF_POWER
        gains = self._largest / np.maximum(np.sqrt(power), self._largest)
        if gains.min() == 1.0:
            return False
        spectra *= np.repeat(gains, self._bins, axis=-1)
        return True
