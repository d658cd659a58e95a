"""The samples themselves: frequency, level, purity and envelope."""

import math
from array import array

import numpy as np
import pytest

from device.tone_generator.outputs import I2S_RATE_HZ, true_rate_hz
from device.tone_generator.synthesis import LEFT, RIGHT, SINE_MAX, gain_and_shift, phase_step
from device.tone_generator.voices import CUT_MS, NoiseVoice, ToneVoice
from firmware_py.link.messages import NOISE_DBFS_MAX
from firmware_py.terms.settings import PLATEAU_MS_MIN, RISE_TIME_MS, Settings
from tests.budget import either, quick
from tests.device.tone_generator.sound import (
    BLOCK_FRAMES,
    FULL_SCALE,
    RATE_HZ,
    TABLE,
    as_frames,
    distortion,
    envelope,
    level_dbfs,
    measured_hz,
    next_block,
    play,
    power_spectrum,
    raised_cosine,
    span_ms,
    steady,
)

FREQUENCIES_HZ = (125.0, 250.0, 500.0, 750.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 6000.0)
ALL_HZ = (*FREQUENCIES_HZ, 8000.0, 12000.0, 137.51, 5657.42)
DAC_BITS_LOST = 8  # of 32: what a DAC of 24 bits does not see
# The lowest takes the longest sound; the quick suite has the one in the middle.
LOW_MIDDLE_HIGH = pytest.mark.parametrize("frequency_hz", quick([125.0, 1000.0, 8000.0], 1000.0))


def test_the_rate_is_the_one_the_clock_divider_gives() -> None:
    # 125 MHz / (2 cycles * 64 bits * 48 kHz) is 20.345, of which the PIO can do 20 + 88/256.
    assert true_rate_hz(125_000_000) == pytest.approx(125e6 / (128 * (20 + 88 / 256)), rel=1e-12)
    assert abs(true_rate_hz(125_000_000) / I2S_RATE_HZ - 1.0) < 1e-4


@pytest.mark.parametrize("frequency_hz", ALL_HZ)
@pytest.mark.parametrize("wanted_dbfs", quick([0.0, -60.0], 0.0))
def test_frequency_and_distortion_are_within_a_thousandth(
    frequency_hz: float, wanted_dbfs: float
) -> None:
    samples = steady(play(frequency_hz, wanted_dbfs))
    found_hz, share = measured_hz(samples, frequency_hz), distortion(samples, frequency_hz)

    assert found_hz == pytest.approx(frequency_hz, rel=1e-5)  # wanted: 1e-3
    assert share < 1e-4  # wanted: 1e-3


def test_what_is_not_the_tone_is_far_below_it() -> None:
    samples = steady(play(1000.0))
    phase = 2.0 * np.pi * 1000.0 / RATE_HZ * np.arange(len(samples))
    columns = np.stack([np.cos(phase), np.sin(phase)], axis=1)
    parts = np.linalg.lstsq(columns, samples, rcond=None)[0]
    rest = samples - columns @ parts

    share = float(np.std(rest) * math.sqrt(2.0) / np.hypot(*parts))
    assert share < 1e-4


@LOW_MIDDLE_HIGH
def test_levels_are_right_down_to_minus_90_dbfs(frequency_hz: float) -> None:
    for wanted in (*np.arange(0.0, -90.1, -either(15, 5)), -0.1, -6.02, -89.9, -59.95):
        whole = play(frequency_hz, float(wanted))
        for frames in (whole, whole >> DAC_BITS_LOST << DAC_BITS_LOST):
            found = level_dbfs(steady(frames), frequency_hz)
            assert found == pytest.approx(wanted, abs=0.02)  # wanted: 0.1


def test_steps_of_a_tenth_of_a_decibel_are_steps_of_a_tenth() -> None:
    levels = [level_dbfs(steady(play(1000.0, -89.0 - 0.1 * i)), 1000.0) for i in range(11)]

    assert np.diff(levels) == pytest.approx(-0.1, abs=0.002)


@pytest.mark.parametrize("channel", [LEFT, RIGHT])
def test_left_and_right_are_apart(channel: int) -> None:
    frames = play(1000.0, 0.0, (100, 50, 2, 20), channel)
    peaks = abs(frames).max(axis=0) / FULL_SCALE

    assert peaks[1 - channel] == 0.0
    assert peaks[channel] > 0.999


@pytest.mark.parametrize("rise_ms", [20, 35, 86])
def test_rise_and_fall_are_raised_cosines(rise_ms: int) -> None:
    frames = play(4001.3, 0.0, (225, 0, 1, rise_ms))
    wanted = raised_cosine(225, rise_ms)
    found = envelope(frames, 4001.3)[: len(wanted)]

    assert found == pytest.approx(wanted, abs=2e-3)


@pytest.mark.parametrize(
    ("pulse_on_ms", "rise_ms"),
    [
        (Settings.pulse_on_ms, Settings.rise_ms),
        (220, Settings.rise_ms),  # the shortest pulse there may be
        (322, 86),  # the longest rise
    ],
)
def test_rises_and_plateaus_are_those_of_iec_60645_1(pulse_on_ms: int, rise_ms: int) -> None:
    found = envelope(play(4001.3, 0.0, (pulse_on_ms, 0, 1, rise_ms)), 4001.3)
    whole, plateau = (span_ms(found, level_db) for level_db in (-20.0, -1.0))
    measured_ms = (plateau[0] - whole[0], whole[1] - plateau[1])
    plateau_ms = plateau[1] - plateau[0]

    assert all(RISE_TIME_MS[0] <= ms <= RISE_TIME_MS[1] for ms in measured_ms)
    assert plateau_ms >= PLATEAU_MS_MIN


def test_a_test_has_pulses_and_gaps_of_225_ms() -> None:
    """IEC 60645-1 has +-35 ms, between the points 5 dB below the level."""
    s = Settings()
    found = envelope(play(4001.3, 0.0, (s.pulse_on_ms, 0, 1, s.rise_ms)), 4001.3)
    begins_ms, ends_ms = span_ms(found, -5.0)
    on_ms = ends_ms - begins_ms
    off_ms = s.pulse_on_ms + s.pulse_off_ms - on_ms

    assert on_ms == pytest.approx(225.0, abs=5.0)  # wanted: 35
    assert off_ms == pytest.approx(225.0, abs=5.0)


def test_pulses_have_their_times() -> None:
    frames = play(4000.0, 0.0, (200, 100, 3, 25), RIGHT)[:, RIGHT]
    sounding = np.flatnonzero(frames)
    gaps = np.flatnonzero(np.diff(sounding) > 1000)

    ms = RATE_HZ / 1000.0
    assert len(gaps) == 2
    assert (sounding[-1] - sounding[0]) / ms == pytest.approx(800.0, abs=0.3)
    for gap in gaps:
        assert (sounding[gap + 1] - sounding[gap]) / ms == pytest.approx(100.0, abs=0.3)


def test_gating_has_no_clicks() -> None:
    for frequency_hz in (125.0, 1000.0, 4000.0):
        frames = play(frequency_hz, 0.0, (260, 0, 1, 35))[:, LEFT] / FULL_SCALE
        wanted = raised_cosine(260, 35)
        phase = 2.0 * np.pi * frequency_hz / RATE_HZ * np.arange(len(wanted))
        ideal = wanted * np.sin(phase)
        abrupt = (wanted > 0.0) * np.sin(phase)
        shares_db = []
        for samples in (frames[: len(wanted)], ideal, abrupt):
            frequencies, power = power_spectrum(samples)
            far = np.abs(frequencies - frequency_hz) > 100.0
            shares_db.append(10.0 * math.log10(power[far].sum() / power.sum()))

        assert shares_db[0] < shares_db[1] + 1.0
        assert shares_db[0] < shares_db[2] - 25.0


@pytest.mark.parametrize("block_frames", [1, 7, 480])
def test_blocks_of_any_length_give_the_same_samples(block_frames: int) -> None:
    whole = play(1000.0, -20.0, (60, 30, 2, 20))
    cut = play(1000.0, -20.0, (60, 30, 2, 20), block_frames=block_frames)

    length = min(len(whole), len(cut))
    assert (whole[:length] == cut[:length]).all()
    assert not whole[length:].any()
    assert not cut[length:].any()


def test_a_voice_says_where_a_tone_begins_and_ends() -> None:
    voice = ToneVoice(TABLE, RATE_HZ)
    next_block(voice)
    assert (voice.began_frame, voice.ended_frame) == (-1, -1)
    voice.start(LEFT, 1000.0, -20.0, (50, 0, 1, 20))
    next_block(voice)
    assert voice.began_frame == 0
    frames = BLOCK_FRAMES
    while voice.channel >= 0:
        next_block(voice)
        assert voice.began_frame == -1
        frames += BLOCK_FRAMES
    assert frames - BLOCK_FRAMES + voice.ended_frame == round(0.050 * RATE_HZ)


@pytest.mark.parametrize("after_ms", [5, 60, 120, 195, 230])
def test_a_cut_fades_within_its_time_and_without_a_click(after_ms: int) -> None:
    voice = ToneVoice(TABLE, RATE_HZ)
    voice.start(LEFT, 500.0, 0.0, (200, 100, 2, 25))
    samples: array[int] = array("i")
    while len(samples) < 2 * after_ms * RATE_HZ / 1000.0:
        samples.extend(next_block(voice))
    cut_frame = len(samples) // 2
    voice.cut()
    for _ in range(4):
        samples.extend(next_block(voice))

    frames = as_frames(samples)[:, LEFT]
    last = np.flatnonzero(frames)[-1]
    steepest = 2.0 * np.pi * 500.0 / RATE_HZ + np.pi / 2.0 / (CUT_MS * RATE_HZ / 1000.0)
    assert voice.channel == -1
    assert last - cut_frame <= CUT_MS * RATE_HZ / 1000.0 + 1
    assert np.abs(np.diff(frames)).max() / FULL_SCALE <= steepest


def test_a_tone_after_a_cut_waits_for_the_fade() -> None:
    voice = ToneVoice(TABLE, RATE_HZ)
    voice.start(LEFT, 500.0, 0.0, (200, 0, 1, 25))
    for _ in range(20):
        next_block(voice)
    voice.cut()
    voice.start(RIGHT, 500.0, -6.0, (100, 0, 1, 25))

    fading = as_frames(next_block(voice))
    next_block(voice)
    rising = as_frames(next_block(voice))

    assert fading[0, LEFT] != 0
    assert not fading[:, RIGHT].any()
    assert rising[-1, RIGHT] != 0
    assert not rising[:, LEFT].any()


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(ValueError, match=r"level 0\.1 dB re full scale, allowed is 0 or less"):
        gain_and_shift(0.1)
    with pytest.raises(ValueError, match=r"25000\.0 Hz, allowed is above 0 and below 24001"):
        phase_step(25000.0, RATE_HZ)
    with pytest.raises(ValueError, match=r"noise -9\.0 dBFS, allowed is -10\.0 or less"):
        NoiseVoice(TABLE, RATE_HZ).start(LEFT, 1000.0, -9.0)


def test_a_gain_has_fifteen_bits_at_every_level() -> None:
    for level in np.arange(0.0, -160.1, -0.37):
        gain, shift = gain_and_shift(float(level))
        assert 16383 <= gain <= SINE_MAX
        assert 20.0 * math.log10(gain / SINE_MAX) - shift * 20.0 * math.log10(2.0) == (
            pytest.approx(level, abs=0.001)
        )


# Masking noise


def some_noise(frequency_hz: float, wanted_dbfs: float, seconds: float = 6.0) -> np.ndarray:
    voice = NoiseVoice(TABLE, RATE_HZ)
    voice.start(RIGHT, frequency_hz, wanted_dbfs)
    samples: array[int] = array("i")
    while len(samples) < 2 * seconds * RATE_HZ:
        samples.extend(next_block(voice))
    frames = as_frames(samples)
    assert not frames[:, LEFT].any()
    return frames[4800:, RIGHT] / FULL_SCALE


@LOW_MIDDLE_HIGH
def test_noise_is_between_a_third_and_half_an_octave_wide(frequency_hz: float) -> None:
    samples = some_noise(frequency_hz, -30.0, 40.0 if frequency_hz < 200.0 else 8.0)
    length = 1 << math.ceil(math.log2(40.0 * RATE_HZ / frequency_hz))
    begins = range(0, len(samples) - length, length // 2)
    window = np.hanning(length)
    spectra = [np.abs(np.fft.rfft(samples[i : i + length] * window)) ** 2 for i in begins]
    power = np.convolve(np.mean(spectra, axis=0), np.ones(3) / 3.0, mode="same")
    frequencies = np.fft.rfftfreq(length, 1.0 / RATE_HZ)
    inside = (frequencies > 0.75 * frequency_hz) & (frequencies < 1.3 * frequency_hz)
    middle = (frequencies > 0.95 * frequency_hz) & (frequencies < 1.05 * frequency_hz)
    level = 10.0 * math.log10(2.0 * np.mean(samples**2))
    half = power[middle].mean() / 2.0
    above = frequencies[inside][power[inside] > half]
    low, high = above.min() / frequency_hz, above.max() / frequency_hz

    assert level == pytest.approx(-30.0, abs=0.5)
    assert 0.232 <= high - low <= 0.348  # of a third and a half of an octave
    assert (low + high) / 2.0 == pytest.approx(1.0, abs=0.05)
    far = (frequencies < 0.5 * frequency_hz) | (frequencies > 2.0 * frequency_hz)
    assert power[far].max() < power[middle].mean() / 10**1.2  # 12 dB an octave


def test_noise_is_loud_enough_and_never_wraps_around() -> None:
    samples = some_noise(1000.0, NOISE_DBFS_MAX)

    assert np.abs(samples).max() <= 1.0
    assert np.mean(np.abs(samples) > 0.999) < 1e-3
    assert np.abs(np.diff(samples)).max() < 0.5


def test_noise_rises_and_fades() -> None:
    voice = NoiseVoice(TABLE, RATE_HZ)
    assert voice.channel == -1
    voice.start(LEFT, 1000.0, -20.0)
    blocks = [as_frames(next_block(voice))[:, LEFT] for _ in range(40)]
    voice.cut()
    fading = [as_frames(next_block(voice))[:, LEFT] for _ in range(12)]

    assert abs(blocks[0]).max() < 0.2 * abs(blocks[-1]).max()
    assert voice.channel == -1
    assert abs(fading[0]).max() > 0
    assert not fading[-1].any()


def test_other_noise_comes_when_the_first_has_faded() -> None:
    voice = NoiseVoice(TABLE, RATE_HZ)
    voice.start(LEFT, 1000.0, -20.0)
    for _ in range(20):
        next_block(voice)
    voice.start(RIGHT, 2000.0, -20.0)
    blocks = [as_frames(next_block(voice)) for _ in range(40)]

    assert blocks[0][:, LEFT].any()
    assert not blocks[0][:, RIGHT].any()
    assert blocks[-1][:, RIGHT].any()
    assert not blocks[-1][:, LEFT].any()
