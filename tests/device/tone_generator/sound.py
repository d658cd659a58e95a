"""Listens to samples: the level, purity and envelope of what a voice plays."""

import math
from array import array
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from device.tone_generator.constant import MOVE_MS, STEP
from device.tone_generator.outputs import true_rate_hz
from device.tone_generator.synthesis import sine_table
from device.tone_generator.voices import ToneVoice
from tests.device.tone_generator.fakes import CPU_HZ

Samples = NDArray[np.float64]

RATE_HZ: Final = true_rate_hz(CPU_HZ)
BLOCK_FRAMES: Final = 256
FULL_SCALE: Final = 2.0**31
TABLE: Final = sine_table()
HARMONICS_MAX: Final = 10
READY_US: Final = 1000 * (2 * MOVE_MS + 6)  # from a greeting to a sound: a block more


def play(
    frequency_hz: float,
    level_dbfs: float = 0.0,
    times_ms: tuple[int, int, int, int] = (1000, 0, 1, 25),
    channel: int = 0,
    block_frames: int = BLOCK_FRAMES,
) -> NDArray[np.int64]:
    """Return the frames of a whole tone, left and right."""
    voice = ToneVoice(TABLE, RATE_HZ)
    voice.start(channel, frequency_hz, level_dbfs, times_ms)
    frames = next_block(voice, block_frames)
    while voice.channel >= 0:
        frames.extend(next_block(voice, block_frames))
    return as_frames(frames)


def next_block(voice: Any, block_frames: int = BLOCK_FRAMES) -> "array[int]":
    block: array[int] = array("i", [0] * (2 * block_frames))
    voice.fill(block, block_frames)
    return block


def as_frames(samples: "array[int]") -> NDArray[np.int64]:
    return np.array(samples, dtype=np.int64).reshape(-1, 2)


def hear(samples: "array[int]") -> NDArray[np.int64]:
    """Return the frames of a board with a host, without the constant that is in all of them."""
    return as_frames(samples) - STEP


def steady(frames: NDArray[np.int64], channel: int = 0) -> Samples:
    """Return the middle of a tone of a second, re full scale."""
    return frames[4800:37568, channel] / FULL_SCALE


def harmonics(samples: Samples, frequency_hz: float) -> Samples:
    """Return the amplitudes of a tone and its harmonics, by least squares."""
    count = min(HARMONICS_MAX, int(0.5 * RATE_HZ / frequency_hz))
    phase = 2.0 * np.pi * frequency_hz / RATE_HZ * np.arange(len(samples))
    columns = [wave(k * phase) for k in range(1, count + 1) for wave in (np.cos, np.sin)]
    parts = np.linalg.lstsq(np.stack(columns, axis=1), samples, rcond=None)[0]
    return np.hypot(parts[::2], parts[1::2])


def level_dbfs(samples: Samples, frequency_hz: float) -> float:
    return 20.0 * math.log10(harmonics(samples, frequency_hz)[0])


def distortion(samples: Samples, frequency_hz: float) -> float:
    amplitudes = harmonics(samples, frequency_hz)
    return float(np.sqrt(np.sum(amplitudes[1:] ** 2)) / amplitudes[0])


def measured_hz(samples: Samples, near_hz: float) -> float:
    """Return the frequency of a tone from how its phase drifts against one near it."""
    turning = samples * np.exp(-2j * np.pi * near_hz / RATE_HZ * np.arange(len(samples)))
    window = np.hanning(len(samples) // 2)
    first, last = turning[: len(window)] @ window, turning[-len(window) :] @ window
    apart_s = (len(samples) - len(window)) / RATE_HZ
    return near_hz + float(np.angle(last / first)) / (2.0 * np.pi * apart_s)


def envelope(frames: NDArray[np.int64], frequency_hz: float, channel: int = 0) -> Samples:
    """Return a tone's amplitude from frame to frame, where its sine is not near zero."""
    samples = frames[:, channel] / FULL_SCALE
    sine = np.sin(2.0 * np.pi * frequency_hz / RATE_HZ * np.arange(len(samples)))
    seen = np.flatnonzero(np.abs(sine) > 0.5)
    return np.interp(np.arange(len(samples)), seen, samples[seen] / sine[seen])


def raised_cosine(on_ms: int, rise_ms: int) -> Samples:
    frames, rise = round(on_ms * RATE_HZ / 1000.0), round(rise_ms * RATE_HZ / 1000.0)
    slope = 0.5 - 0.5 * np.cos(np.pi * np.arange(rise) / rise)
    return np.concatenate([slope, np.ones(frames - 2 * rise), 1.0 - slope])


def span_ms(amplitudes: Samples, level_db: float) -> tuple[float, float]:
    """Return when a pulse first, and when it last, is above a level in dB re its plateau."""
    above = np.flatnonzero(amplitudes >= 10.0 ** (level_db / 20.0))
    return 1000.0 * above[0] / RATE_HZ, 1000.0 * above[-1] / RATE_HZ


def power_spectrum(samples: Samples) -> tuple[Samples, Samples]:
    power = np.abs(np.fft.rfft(samples, 8 * len(samples))) ** 2
    frequencies = np.fft.rfftfreq(8 * len(samples), 1.0 / RATE_HZ)
    return frequencies.astype(np.float64), power.astype(np.float64)
