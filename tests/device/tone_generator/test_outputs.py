"""The two outputs, on a fake `machine`: what they do, when they say so, and that all is silent."""

import math

import numpy as np
import pytest

from device.tone_generator.outputs import (
    BLOCK_FRAMES,
    IDLE_MS,
    QUEUE_BLOCKS,
    STANDSTILL_US,
    I2SOutput,
    PwmOutput,
)
from device.tone_generator.settings import DEFAULT_PINS
from device.tone_generator.synthesis import LEFT, RIGHT
from firmware_py.link.messages import IN_NOISE_DBFS_MAX, NOISE_DBFS_MAX
from tests.device.tone_generator.fakes import I2S, PWM, FakeTime, power_on, ticks_us
from tests.device.tone_generator.sound import RATE_HZ, READY_US, hear

MS = 1000
BLOCK_US = 1e6 * BLOCK_FRAMES / RATE_HZ
TIMES_MS = (200, 100, 2, 25)


@pytest.fixture(autouse=True)
def _power() -> None:
    power_on()


@pytest.fixture
def i2s() -> I2SOutput:
    """An output that has a host; what it sent before that counted is forgotten."""
    output = I2SOutput(DEFAULT_PINS)
    output.attend(True)
    step_i2s(output, READY_US)
    del I2S.made[0].samples[:]
    return output


def step_i2s(output: I2SOutput, us: float) -> list[str]:
    """Let the driver ask for blocks for a while; returns what was told."""
    told = []
    for _ in range(round(us / BLOCK_US)):
        FakeTime.us += round(BLOCK_US)
        I2S.made[0].turn()
        before = (output.began_us, output.ended_us)
        output.advance(ticks_us(), FakeTime.us)
        told += ["began"] * (output.began_us is not None and before[0] is None)
        told += ["ended"] * (output.ended_us is not None and before[1] is None)
    return told


def test_i2s_is_wired_and_started_with_silence() -> None:
    I2SOutput(DEFAULT_PINS)
    wiring = I2S.made[0].wiring

    assert [wiring[name].number for name in ("sck", "ws", "sd")] == [10, 11, 12]
    assert (wiring["bits"], wiring["rate"]) == (32, 48000)
    assert wiring["ibuf"] == 4 * 2 * BLOCK_FRAMES * QUEUE_BLOCKS
    assert not any(I2S.made[0].samples)


def test_i2s_plays_a_tone_when_it_says(i2s: I2SOutput) -> None:
    step_i2s(i2s, 100_000)
    sent_us = len(I2S.made[0].samples) // 2 / RATE_HZ * 1e6
    i2s.play(RIGHT, 1000.0, -20.0, TIMES_MS)
    began_after_us = FakeTime.us
    told = step_i2s(i2s, 600_000)

    frames = hear(I2S.made[0].samples)
    sounding = np.flatnonzero(frames[:, RIGHT])
    assert told == ["began", "ended"]
    assert not frames[:, LEFT].any()
    assert sounding[0] / RATE_HZ * 1e6 == pytest.approx(sent_us, abs=100.0)
    assert i2s.began_us is not None
    assert i2s.ended_us == pytest.approx(i2s.began_us + 500_000, abs=200)
    assert i2s.began_us - began_after_us == pytest.approx((1 + QUEUE_BLOCKS) * BLOCK_US, abs=50)


def test_i2s_is_cut_within_a_fade(i2s: I2SOutput) -> None:
    i2s.play(LEFT, 1000.0, -20.0, TIMES_MS)
    step_i2s(i2s, 100_000)
    sent = len(I2S.made[0].samples)
    i2s.cut()
    assert step_i2s(i2s, 200_000) == []

    rest = np.flatnonzero(hear(I2S.made[0].samples[sent:])[:, LEFT])
    assert 0 < rest[-1] <= 0.005 * RATE_HZ + 1


def test_i2s_tells_of_the_tone_after_a_cut_and_not_of_the_cut(i2s: I2SOutput) -> None:
    i2s.play(LEFT, 1000.0, -20.0, TIMES_MS)
    step_i2s(i2s, 100_000)
    i2s.cut()
    i2s.play(RIGHT, 1000.0, -20.0, TIMES_MS)
    assert step_i2s(i2s, 700_000) == ["began", "ended"]
    assert i2s.began_us is not None
    assert i2s.ended_us == pytest.approx(i2s.began_us + 500_000, abs=200)


def test_i2s_begins_a_tone_when_the_noise_in_that_ear_has_faded(i2s: I2SOutput) -> None:
    i2s.mask(LEFT, 1000.0, -30.0)
    step_i2s(i2s, 200_000)
    i2s.unmask()
    i2s.play(LEFT, 500.0, -10.0, (200, 0, 1, 25))
    told = step_i2s(i2s, 500_000)
    samples = hear(I2S.made[0].samples)[:, LEFT] / 2.0**31

    assert told == ["began", "ended"]
    assert np.abs(np.diff(samples)).max() < 0.032  # the steepest of such a tone, and a little

    i2s.play(LEFT, 500.0, -10.0, (200, 0, 1, 25))
    step_i2s(i2s, 100_000)
    i2s.cut()
    i2s.mask(LEFT, 500.0, -30.0)
    step_i2s(i2s, 200_000)
    samples = hear(I2S.made[0].samples)[:, LEFT] / 2.0**31
    assert np.abs(np.diff(samples)).max() < 0.032


def test_i2s_adds_a_quiet_tone_to_the_noise_of_its_ear_once_that_is_there(i2s: I2SOutput) -> None:
    """The loudest of both are not clipped, and neither is another than it is alone."""

    def sound(noise_dbfs: float | None, tone_dbfs: float | None) -> np.ndarray:
        power_on()
        output = I2SOutput(DEFAULT_PINS)
        output.attend(True)
        step_i2s(output, READY_US)
        del I2S.made[0].samples[:]
        if noise_dbfs is not None:
            output.mask(LEFT, 1000.0, noise_dbfs)
        if tone_dbfs is not None:
            output.play(LEFT, 500.0, tone_dbfs, (200, 0, 1, 25))
        told = step_i2s(output, 300_000)
        assert told == (["began", "ended"] if tone_dbfs is not None else [])
        return hear(I2S.made[0].samples)[:, LEFT]

    loudest = NOISE_DBFS_MAX, IN_NOISE_DBFS_MAX
    both, noise, tone = sound(*loudest), sound(loudest[0], None), sound(None, loudest[1])
    assert np.abs(both).max() < 2**31
    began = int(np.flatnonzero(tone)[0])
    of_tone = both - noise
    at = int(np.flatnonzero(of_tone)[0])
    assert at >= BLOCK_FRAMES, "the noise begins first"
    length = len(tone) - max(at, began)
    assert (of_tone[at : at + length] == tone[began : began + length]).all()


def test_i2s_that_stands_still_is_an_error(i2s: I2SOutput) -> None:
    step_i2s(i2s, 50_000)
    FakeTime.us += STANDSTILL_US - 10
    i2s.advance(ticks_us(), FakeTime.us)
    FakeTime.us += 20
    with pytest.raises(OSError, match="I2S stands still"):
        i2s.advance(ticks_us(), FakeTime.us)


def test_i2s_says_nothing_after_mute(i2s: I2SOutput) -> None:
    i2s.play(LEFT, 1000.0, -20.0, TIMES_MS)
    step_i2s(i2s, 100_000)
    i2s.mute()
    assert not I2S.made[0].open
    I2S.made[0].turn()  # a request that was under way


def play_pwm(
    output: PwmOutput, ear: int, level_dbfs: float, duration_ms: int
) -> list[tuple[int, int]]:
    """Play, advance as asked for, and return the duties with their times."""
    FakeTime.us = 1_000_000
    output.play(ear, 1000.4, level_dbfs, TIMES_MS)
    end_us = FakeTime.us + MS * duration_ms
    while FakeTime.us < end_us:
        output.advance(ticks_us(), FakeTime.us)
        FakeTime.us += max(1, min(output.due_ms, IDLE_MS)) * MS
    return PWM.made[DEFAULT_PINS["pwm_left" if ear == LEFT else "pwm_right"]].duties


def amplitude(duty: int) -> float:
    return math.sin(math.pi * duty / 65536)


@pytest.mark.parametrize("ear", [LEFT, RIGHT])
def test_pwm_plays_pulses_with_rises(ear: int) -> None:
    output = PwmOutput(DEFAULT_PINS)
    duties = play_pwm(output, ear, -6.0, 520)
    silent = PWM.made[DEFAULT_PINS["pwm_right" if ear == LEFT else "pwm_left"]]
    pwm = PWM.made[DEFAULT_PINS["pwm_left" if ear == LEFT else "pwm_right"]]

    peaks = [us for us, duty in duties if amplitude(duty) == pytest.approx(0.501, abs=1e-3)]
    assert pwm.frequency_hz == 1000
    assert {duty for _, duty in silent.duties} == {0}
    assert len(peaks) == 2
    assert peaks[0] - 1_000_000 == pytest.approx(25_000, abs=1000)
    assert peaks[1] - peaks[0] == pytest.approx(300_000, abs=2000)
    assert pwm.duty == 0
    assert output.began_us == 1_000_000
    assert output.ended_us == pytest.approx(1_500_000, abs=50)
    rising = [duty for us, duty in duties if 1_000_000 < us <= peaks[0]]
    assert rising == sorted(rising)
    assert len(rising) >= 12


def test_pwm_levels_are_those_of_the_fundamental() -> None:
    for level in (0.0, -20.0, -60.0):
        duties = play_pwm(PwmOutput(DEFAULT_PINS), LEFT, level, 100)
        found = 20.0 * math.log10(amplitude(max(duty for _, duty in duties)))
        assert found == pytest.approx(level, abs=0.5)
    assert max(duty for _, duty in play_pwm(PwmOutput(DEFAULT_PINS), LEFT, -90.0, 100)) == 0


@pytest.mark.parametrize("cut", [True, False])
def test_pwm_is_cut_at_once_or_catches_up_when_it_was_not_looked_after(cut: bool) -> None:
    output = PwmOutput(DEFAULT_PINS)
    play_pwm(output, LEFT, 0.0, 100)
    pwm = PWM.made[DEFAULT_PINS["pwm_left"]]
    assert pwm.duty > 0
    if cut:
        output.cut()
        assert pwm.duty == 0
    FakeTime.us += 2_000_000
    output.advance(ticks_us(), FakeTime.us)
    assert output.ended_us == (None if cut else pytest.approx(1_500_000, abs=50))
    assert pwm.duty == 0


def test_pwm_has_no_noise() -> None:
    output = PwmOutput(DEFAULT_PINS)
    output.unmask()
    with pytest.raises(NotImplementedError, match="PWM has no noise"):
        output.mask(LEFT, 1000.0, -30.0)
