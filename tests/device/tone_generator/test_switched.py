"""Switches to the bone vibrator: they move in silence, and what wants them begins at rest."""

from typing import Any, Final

import numpy as np
import pytest

from device.tone_generator.outputs import BLOCK_FRAMES, I2SOutput, PwmOutput
from device.tone_generator.settings import DEFAULT_PINS
from device.tone_generator.switched import SETTLE_US, TAIL_US, SwitchedOutput
from device.tone_generator.synthesis import LEFT, RIGHT
from tests.device.tone_generator.fakes import I2S, TICKS, FakeTime, Pin, power_on, ticks_us
from tests.device.tone_generator.sound import RATE_HZ, READY_US, hear

PINS: Final = {**DEFAULT_PINS, "bone_left": 14, "bone_right": 15}
TIMES_MS: Final = (200, 100, 2, 25)
BLOCK_US: Final = round(1e6 * BLOCK_FRAMES / RATE_HZ)
SECOND_US: Final = 1_000_000


class Bench:
    """An I2S output with switches, whose blocks and switches are watched."""

    def __init__(self) -> None:
        self.output = SwitchedOutput(I2SOutput(PINS), PINS)
        self.moved: list[tuple[int, int]] = []  # of either channel: from this frame on it is so
        self.output.attend(True)
        self.run(READY_US)
        del I2S.made[0].samples[:]
        self.moved.clear()

    def run(self, us: float) -> None:
        for _ in range(round(us / BLOCK_US)):
            FakeTime.us += BLOCK_US
            I2S.made[0].turn()
            before = self.switches
            self.output.advance(ticks_us(), FakeTime.us)
            for ear in (LEFT, RIGHT):
                if self.switches[ear] != before[ear]:
                    self.moved.append((ear, len(I2S.made[0].samples) // 2))

    @property
    def switches(self) -> tuple[int, int]:
        return Pin.made[14].level, Pin.made[15].level

    def sounds(self) -> np.ndarray[Any, Any]:
        """Return in which frames each channel sounds; zero is the constant of silence."""
        return hear(I2S.made[0].samples) != 0


@pytest.fixture
def bench() -> Bench:
    power_on()
    return Bench()


def test_at_rest_both_channels_lead_to_the_earphones(bench: Bench) -> None:
    assert bench.switches == (0, 0)
    bench.output.lead(RIGHT, 0)
    bench.output.play(RIGHT, 1000.0, -20.0, TIMES_MS)
    bench.run(SECOND_US)
    assert bench.moved == []
    assert bench.sounds()[:, RIGHT].any()


def test_a_tone_by_bone_begins_when_its_switch_has_come_to_rest(bench: Bench) -> None:
    bench.output.lead(LEFT, 1)
    bench.output.play(LEFT, 1000.0, -20.0, TIMES_MS)
    assert bench.output.began_us is None
    bench.run(SECOND_US)

    ((ear, moved),) = bench.moved
    sounding = np.flatnonzero(bench.sounds()[:, LEFT])
    assert (ear, bench.switches) == (LEFT, (1, 0))
    assert SETTLE_US * RATE_HZ / 1e6 <= sounding[0] - moved < (SETTLE_US + 2 * BLOCK_US) * 0.048
    assert not bench.sounds()[:, RIGHT].any()
    assert bench.output.began_us is not None
    assert bench.output.ended_us == pytest.approx(bench.output.began_us + 500_000, abs=200)


def test_the_next_tone_there_moves_nothing(bench: Bench) -> None:
    for _ in range(2):
        bench.output.lead(LEFT, 1)
        bench.output.play(LEFT, 1000.0, -20.0, TIMES_MS)
        bench.run(SECOND_US)
    assert len(bench.moved) == 1


@pytest.mark.parametrize("other", ["noise", "tone"])
def test_after_a_cut_no_switch_moves_before_the_channel_is_silent(bench: Bench, other: str) -> None:
    bench.output.lead(LEFT, 1)
    bench.output.play(LEFT, 1000.0, -20.0, TIMES_MS)
    bench.run(0.25 * SECOND_US)
    bench.output.cut()
    bench.output.lead(LEFT, 0)
    if other == "noise":
        bench.output.mask(LEFT, 1000.0, -20.0)
    else:
        bench.output.play(LEFT, 1000.0, -20.0, TIMES_MS)
    bench.run(0.5 * SECOND_US)

    moves = [frame for _, frame in bench.moved]
    sounding = np.flatnonzero(bench.sounds()[:, LEFT])
    assert bench.switches == (0, 0)
    assert len(moves) == 2
    gap = (sounding[sounding < moves[1]].max(), sounding[sounding > moves[1]].min())
    assert moves[1] - gap[0] >= 4 * BLOCK_FRAMES  # what is queued has come out
    assert gap[1] - moves[1] >= SETTLE_US * RATE_HZ / 1e6
    assert gap[1] - gap[0] < 0.2 * RATE_HZ  # as the wire's page promises


def test_noise_in_the_other_ear_goes_on_while_a_switch_moves(bench: Bench) -> None:
    bench.output.lead(RIGHT, 0)
    bench.output.mask(RIGHT, 1000.0, -20.0)
    bench.run(0.3 * SECOND_US)
    bench.output.lead(LEFT, 1)
    bench.output.play(LEFT, 1000.0, -20.0, TIMES_MS)
    bench.run(0.3 * SECOND_US)

    noise = bench.sounds()[round(0.1 * RATE_HZ) :, RIGHT]
    assert noise.mean() > 0.99
    assert bench.sounds()[:, LEFT].any()
    assert [ear for ear, _ in bench.moved] == [LEFT]


def test_noise_that_was_cut_is_silent_before_its_channel_is_switched(bench: Bench) -> None:
    bench.output.mask(RIGHT, 1000.0, -20.0)
    bench.run(0.3 * SECOND_US)
    bench.output.unmask()
    bench.output.lead(RIGHT, 1)
    bench.output.play(RIGHT, 1000.0, -20.0, TIMES_MS)
    bench.run(0.3 * SECOND_US)
    ((_, moved),) = bench.moved
    before = np.flatnonzero(bench.sounds()[:moved, RIGHT])
    assert moved - before[-1] >= 4 * BLOCK_FRAMES


def test_what_is_cut_while_it_waits_never_sounds(bench: Bench) -> None:
    bench.output.lead(LEFT, 1)
    bench.output.play(LEFT, 1000.0, -20.0, TIMES_MS)
    bench.output.cut()
    bench.run(SECOND_US)
    assert not bench.sounds().any()
    assert bench.output.began_us is bench.output.ended_us is None


@pytest.mark.parametrize("later", [TAIL_US, TICKS // 2 - 1, TICKS // 2 + TAIL_US, TICKS - 1])
def test_a_long_silence_is_no_reason_to_wait(later: int) -> None:
    """Ticks wrap around after 18 minutes."""
    power_on()
    output = SwitchedOutput(PwmOutput(PINS), PINS)
    output.cut()
    FakeTime.us += later
    output.lead(LEFT, 1)
    output.play(LEFT, 1000.0, -20.0, TIMES_MS)
    for _ in range(2 * (TAIL_US + SETTLE_US) // 1000):
        FakeTime.us += 1000
        output.advance(ticks_us(), FakeTime.us)
    assert Pin.made[14].level == 1
    assert output.began_us is not None


def test_muting_leaves_the_switches_where_they_are(bench: Bench) -> None:
    """What is queued for the vibrator would be far too loud in an earphone."""
    bench.output.lead(LEFT, 1)
    bench.output.play(LEFT, 1000.0, -20.0, TIMES_MS)
    bench.run(0.3 * SECOND_US)
    bench.output.mute()
    assert bench.switches == (1, 0)
    assert not I2S.made[0].open


def test_it_has_what_its_output_has() -> None:
    power_on()
    assert not SwitchedOutput(PwmOutput(PINS), PINS).has_noise
    assert SwitchedOutput(I2SOutput(PINS), PINS).has_noise
    assert SwitchedOutput(PwmOutput(PINS), PINS).transducers == 3
