"""A made-up talker: a sound with the spectrum and the syllables of speech, and no words.

It stands in for a recording where there is none: what it says of a setting, nobody should believe.
"""

from typing import Final

import numpy as np

from device.speech import THIRDS_DB_SPL, THIRDS_HZ, FloatArray

SYLLABLES_PER_S: Final = 4.0
DEPTH_DB: Final = 25.0  # from the middle of a syllable to the gap before the next
PITCH_HZ: Final = (110.0, 140.0)
HIGHEST_HZ: Final = 9000.0
RMS: Final = 0.05  # of full scale


def synthetic_speech(seconds: float, rate_hz: int, seed: int) -> FloatArray:
    """Return the sound of one ear, (frames, 1)."""
    chance = np.random.Generator(np.random.Philox(seed))
    frames = round(seconds * rate_hz)
    time_s = np.arange(frames) / rate_hz
    low_hz, high_hz = PITCH_HZ
    pitch_hz = low_hz + (high_hz - low_hz) * np.cos(2.0 * np.pi * 0.4 * time_s) ** 2
    phase = np.cumsum(pitch_hz) / rate_hz
    # A train of pulses as of the voice, and hiss, coloured as speech is in the long run.
    source = (np.diff(np.floor(phase), prepend=0.0) > 0.0) + 0.05 * chance.standard_normal(frames)
    spectrum = np.fft.rfft(source)
    bins_hz = np.fft.rfftfreq(frames, 1.0 / rate_hz)
    # Levels of thirds of an octave fall by 3 dB an octave for what is as strong at every hertz.
    level_db = np.array(THIRDS_DB_SPL) - 10.0 * np.log10(np.array(THIRDS_HZ) / 1000.0)
    shape_db = np.interp(np.log2(np.maximum(bins_hz, 30.0)), np.log2(THIRDS_HZ), level_db)
    coloured = np.where(bins_hz < HIGHEST_HZ, 10.0 ** (0.05 * shape_db), 0.0)
    voice = np.fft.irfft(spectrum * coloured, frames)
    phase = SYLLABLES_PER_S * time_s + 0.15 * np.sin(2.0 * np.pi * 1.1 * time_s)
    syllables_db = -DEPTH_DB * np.cos(np.pi * phase) ** 2
    speech = voice * 10.0 ** (0.05 * syllables_db)
    samples: FloatArray = (RMS / np.sqrt(np.mean(speech**2)) * speech)[:, None]
    return samples
