"""The constant in the samples, and what an earphone makes of its edge: `-s` prints the figures."""

import math
from array import array
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.build.budget import Build, rows, worked_build
from device.build.parts import BUILDS, EARPHONES, HDA280, TDH39
from device.tone_generator.constant import MOVE_MS, STEP, Constant
from device.tone_generator.synthesis import LEFT, RIGHT
from device.tone_generator.voices import NoiseVoice, ToneVoice
from firmware_py.link.messages import NOISE_DBFS_MAX
from tests.device.tone_generator.sound import RATE_HZ, TABLE, as_frames, next_block

MOVE_FRAMES = int(MOVE_MS * RATE_HZ / 1000.0)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(1, 4096)), max_size=60))
def test_it_moves_in_silence_and_a_dac_is_open_while_it_stands(
    blocks: list[tuple[bool, bool, int]],
) -> None:
    """Something that would sound does so only where it may."""
    constant, silent, open_frames = Constant(RATE_HZ), True, 0
    for wanted, would_sound, frames in blocks:
        before = (constant.sample, constant.unmuted)
        constant.wanted = wanted
        constant.advance(silent, frames)
        assert constant.sample == before[0] or silent
        assert constant.unmuted == before[1] or silent
        assert constant.sample in (0, STEP)
        assert constant.sample >= STEP * constant.unmuted >= STEP * constant.ready
        open_frames = open_frames + frames if constant.sample else 0
        assert not constant.ready or open_frames >= 2 * MOVE_FRAMES
        silent = not (would_sound and (constant.ready or not silent))
    for _ in range(2 * MOVE_FRAMES // 256 + 1):
        constant.wanted = True
        constant.advance(silent, 256)
    assert constant.ready


@pytest.mark.parametrize("level_dbfs", [0.0, -6.0, -90.0, -160.0])
def test_a_sound_is_the_same_with_it_and_full_scale_has_room_for_it(level_dbfs: float) -> None:
    voices: tuple[Any, Any] = (ToneVoice(TABLE, RATE_HZ), NoiseVoice(TABLE, RATE_HZ))
    again: tuple[Any, Any] = (ToneVoice(TABLE, RATE_HZ), NoiseVoice(TABLE, RATE_HZ))
    for tone, noise in (voices, again):
        tone.start(LEFT, 1000.0, level_dbfs, (50, 20, 2, 10))
        noise.start(RIGHT, 1000.0, min(level_dbfs, NOISE_DBFS_MAX))
    for _ in range(24):
        alone = as_frames(next_block(voices[0])) + as_frames(next_block(voices[1]))
        block = array("i", [STEP] * 512)  # which refuses what has more than 32 bits
        for voice in again:
            voice.fill(block, 256)
        assert (as_frames(block) - STEP == alone).all()


# The edge: one step of the DAC, as the builds have it at an earphone, and those without a resistor.
LIMIT_DB_HL = -20.0
UNFIT = {
    f"no resistor, {earphone.name}": replace(worked_build("B", earphone), attenuator_ohm=0.0)
    for earphone in (TDH39, HDA280)
}
FIT = {f"{build}, {earphone.name}": worked_build(build, earphone)
       for build in BUILDS for earphone in EARPHONES.values()}  # fmt: skip
STEP_16_BITS = 1 << 16
CLICK_DB_SPL = 31.5  # peak-equivalent, at which clicks are heard with the HDA 280, says its maker


def edge_db_spl(build: Build, step: int) -> float:
    """Return the level of the tone of 1 kHz whose peak is a step's: nothing of it is louder."""
    volts = build.full_scale_vrms * build.share() * step / 2.0**31
    return build.earphone.sensitivity_at(1000) + 20.0 * math.log10(volts)


def noise_db_hl(name: str) -> float:
    """Return what the edge has to be below: the noise of the build, or what it should be."""
    return LIMIT_DB_HL if name in UNFIT else max(row.noise.db_hl for row in rows(FIT[name]))


@pytest.mark.parametrize("name", [*FIT, *UNFIT])
def test_its_edge_is_below_the_noise_of_the_builds_with_a_resistor(name: str) -> None:
    build = (FIT | UNFIT)[name]
    retspl = build.earphone.retspl_db_spl[1000]
    level, of_16_bits = (edge_db_spl(build, step) - retspl for step in (STEP, STEP_16_BITS))
    noise = noise_db_hl(name)

    print(f"{name}: an edge of {level:.1f} dB HL (of 16 bits {of_16_bits:.1f}), noise {noise:.0f}")
    assert (level < noise) == (name in FIT)
    assert of_16_bits > noise or build.amplifier is None, "so it is a step of 24 bits"


def test_its_edge_is_far_below_a_click_that_is_heard() -> None:
    for build in BUILDS:
        assert edge_db_spl(worked_build(build, HDA280), STEP) < CLICK_DB_SPL - 50.0
