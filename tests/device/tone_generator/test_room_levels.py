"""The levels of a room's noise, beside an FFT of the same samples, and when they are measured."""

import math
from array import array

import numpy as np
import pytest
from numpy.typing import NDArray

from device.tone_generator.room_levels import (
    BLOCK_FRAMES,
    MICROPHONE_RATE_HZ,
    SIDE_SLICES,
    SLICE_BLOCKS,
    RoomLevels,
)
from firmware_py.link.messages import ROOM_BANDS_HZ

FULL_SCALE_DB_SPL = 120.0  # an ICS-43434
CENTRES_HZ = np.array(ROOM_BANDS_HZ, dtype=float)
EDGE = 2.0 ** (1.0 / 6.0)
OF_EACH_FILTER = (9, 10)
NOISE_HZ = np.fft.rfftfreq(4 * MICROPHONE_RATE_HZ, 1.0 / MICROPHONE_RATE_HZ)
PINK_DB = 3.0  # an octave of it has as much power as any other while its density falls by so much
TOLERANCE_DB = 1.0
Samples = NDArray[np.float64]  # 1 is full scale


def fill(levels: RoomLevels, samples: Samples, quiet: bool = True) -> None:
    whole = np.round(np.clip(samples, -1.0, 1.0 - 2.0**-23) * 2.0**23).astype(np.int64) << 8
    for at in range(0, len(whole) - BLOCK_FRAMES + 1, BLOCK_FRAMES):
        levels.hear(array("i", whole[at : at + BLOCK_FRAMES].tolist()), quiet)


def measured(samples: Samples) -> NDArray[np.float64]:
    """Return the levels of the last half second of samples."""
    levels = RoomLevels(FULL_SCALE_DB_SPL)
    fill(levels, samples)
    return np.array(levels.newest())


def sine(frequency_hz: float, level_db_spl: float, seconds: float = 0.65) -> Samples:
    phase = 2.0 * np.pi * frequency_hz / MICROPHONE_RATE_HZ
    peak = 10.0 ** ((level_db_spl - FULL_SCALE_DB_SPL) / 20.0)
    return peak * np.sin(phase * np.arange(int(seconds * MICROPHONE_RATE_HZ)))


def noise(density_db: NDArray[np.float64], band: int, level_db_spl: float) -> Samples:
    """Return noise of this density at `NOISE_HZ`, with this level in a band."""
    turn = np.exp(2j * np.pi * np.random.default_rng(band).uniform(size=len(NOISE_HZ)))
    samples = np.fft.irfft(10.0 ** (density_db / 20.0) * turn)
    return samples * 10.0 ** ((level_db_spl - reference(samples)[band]) / 20.0)


def reference(samples: Samples) -> NDArray[np.float64]:
    """Return the third octaves by an FFT: sharp bands, the energy of all samples."""
    power = np.abs(np.fft.rfft(samples)) ** 2 * 2.0 / len(samples) ** 2
    hz = np.fft.rfftfreq(len(samples), 1.0 / MICROPHONE_RATE_HZ)
    sums = [power[(hz >= f / EDGE) & (hz < f * EDGE)].sum() for f in CENTRES_HZ]
    return 10.0 * np.log10(2.0 * np.array(sums)) + FULL_SCALE_DB_SPL


def kept(samples: Samples) -> NDArray[np.float64]:
    """Return the mean of nearly all the samples: of short quiet times, one after the other."""
    levels = RoomLevels(FULL_SCALE_DB_SPL)
    long = SIDE_SLICES * SLICE_BLOCKS * BLOCK_FRAMES
    powers = []
    for at in range(0, len(samples) - long - BLOCK_FRAMES, long + BLOCK_FRAMES):
        fill(levels, samples[at : at + long])
        fill(levels, samples[at + long :][:BLOCK_FRAMES], quiet=False)
        powers.append(10.0 ** (np.array(levels.take()) / 10.0))
    return 10.0 * np.log10(np.mean(powers, axis=0))


@pytest.mark.parametrize(
    ("band", "level_db_spl"),
    [
        *((band, 60.0) for band in range(len(ROOM_BANDS_HZ))),
        *((band, level) for band in OF_EACH_FILTER for level in (10.0, 110.0)),
    ],
)
def test_a_tone_at_the_centre_of_a_band_is_right_within_1_db(
    band: int, level_db_spl: float
) -> None:
    levels = measured(sine(CENTRES_HZ[band], level_db_spl))
    assert levels[band] == pytest.approx(level_db_spl, abs=0.2)
    octave_away = np.abs(np.log2(CENTRES_HZ / CENTRES_HZ[band])) > 0.9
    assert (levels[octave_away] < level_db_spl - 25.0).all() or level_db_spl < 30.0


@pytest.mark.parametrize("band", [0, *OF_EACH_FILTER])
def test_noise_of_a_third_octave_is_right_within_1_db(band: int) -> None:
    ratio = NOISE_HZ / CENTRES_HZ[band]
    within = (ratio >= 1.0 / EDGE) & (ratio < EDGE)
    samples = noise(np.where(within, 0.0, -math.inf), band, 40.0)
    assert kept(samples)[band] == pytest.approx(40.0, abs=TOLERANCE_DB)


@pytest.mark.parametrize("per_octave_db", [3.0, -5.0])
def test_the_noise_of_a_whole_room_is_right_within_1_db(per_octave_db: float) -> None:
    """The microphone's white noise rises by 3 dB an octave; an office falls by 5."""
    octaves = np.log2(np.maximum(NOISE_HZ, CENTRES_HZ[0] / 2.0) / 1000.0)
    samples = noise((per_octave_db - PINK_DB) * octaves, ROOM_BANDS_HZ.index(1000), 30.0)
    assert np.abs(kept(samples) - reference(samples)).max() < TOLERANCE_DB
