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


def sine(frequency_hz: float, level_db_spl: float, seconds: float = 0.8) -> Samples:
    phase = 2.0 * np.pi * frequency_hz / MICROPHONE_RATE_HZ
    peak = 10.0 ** ((level_db_spl - FULL_SCALE_DB_SPL) / 20.0)
    return peak * np.sin(phase * np.arange(int(seconds * MICROPHONE_RATE_HZ)))


def noise(shape_db: NDArray[np.float64], seconds: float, seed: int = 1) -> Samples:
    """Return noise whose third octaves have these levels, straight between over octaves."""
    frames = int(seconds * MICROPHONE_RATE_HZ)
    hz = np.fft.rfftfreq(frames, 1.0 / MICROPHONE_RATE_HZ)
    octaves = np.log2(np.maximum(hz, 1.0))
    density_db = np.interp(octaves, np.log2(CENTRES_HZ), shape_db) - 10.0 * np.log10(
        np.maximum(hz, 1.0)
    )
    turn = np.exp(2j * np.pi * np.random.default_rng(seed).uniform(size=len(hz)))
    samples = np.fft.irfft(10.0 ** (density_db / 20.0) * turn, frames)
    wanted = shape_db[4] - FULL_SCALE_DB_SPL
    return samples * 10.0 ** ((wanted - reference(samples)[4] + FULL_SCALE_DB_SPL) / 20.0)


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


@pytest.mark.parametrize("level_db_spl", [10.0, 60.0, 110.0])
@pytest.mark.parametrize("band", range(len(ROOM_BANDS_HZ)))
def test_a_tone_at_the_centre_of_a_band_is_right_within_1_db(
    band: int, level_db_spl: float
) -> None:
    levels = measured(sine(CENTRES_HZ[band], level_db_spl))
    assert levels[band] == pytest.approx(level_db_spl, abs=0.2)
    octave_away = np.abs(np.log2(CENTRES_HZ / CENTRES_HZ[band])) > 0.9
    assert (levels[octave_away] < level_db_spl - 25.0).all() or level_db_spl < 30.0


@pytest.mark.parametrize("band", range(len(ROOM_BANDS_HZ)))
def test_noise_of_a_third_octave_is_right_within_1_db(band: int) -> None:
    frames = 6 * MICROPHONE_RATE_HZ
    hz = np.fft.rfftfreq(frames, 1.0 / MICROPHONE_RATE_HZ)
    within = (hz >= CENTRES_HZ[band] / EDGE) & (hz < CENTRES_HZ[band] * EDGE)
    turn = np.exp(2j * np.pi * np.random.default_rng(band).uniform(size=len(hz)))
    samples = np.fft.irfft(within * turn, frames)
    samples *= 10.0 ** ((40.0 - reference(samples)[band]) / 20.0)

    levels = RoomLevels(FULL_SCALE_DB_SPL)
    powers = []
    for second in range(6):
        fill(levels, samples[second * MICROPHONE_RATE_HZ :][:MICROPHONE_RATE_HZ])
        powers.append(10.0 ** (levels.newest()[band] / 10.0))
    level_db_spl = 10.0 * math.log10(np.mean(powers[1:]))
    assert level_db_spl == pytest.approx(40.0, abs=TOLERANCE_DB + (CENTRES_HZ[band] < 300) * 0.5)


@pytest.mark.parametrize("per_octave_db", [0.0, -5.0])
def test_the_noise_of_a_whole_room_is_right_within_1_db(per_octave_db: float) -> None:
    """The microphone's white noise rises by 3 dB an octave below it; a quiet room is 20 dB."""
    shape_db = 30.0 + per_octave_db * np.log2(CENTRES_HZ / 1000.0)
    samples = noise(shape_db, seconds=30.0)
    assert np.abs(kept(samples) - reference(samples)).max() < TOLERANCE_DB
