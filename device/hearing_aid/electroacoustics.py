"""Measures the aid as aids are measured (ANSI S3.22, IEC 60118), through the real engine.

`python -m device.hearing_aid.electroacoustics` prints the table of the page for the ten standard
audiograms, and `--limit N` plays N hostile sounds at random settings and says what came out.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.hearing_aid.band_limits import limited_bands
from device.hearing_aid.chain import (
    BLOCK_FRAMES,
    FULL_SCALE_DB_SPL,
    LIMITER_EARLY_DB,
    SAMPLE_RATE_HZ,
    WINDOW_FRAMES,
    full_scale_of,
    output_limit,
)
from device.hearing_aid.fit import Fit
from device.hearing_aid.openmha import Installation, OpenMhaError
from device.hearing_aid.prescription import fit_of_thresholds
from device.hearing_aid.processing import FileAid, file_aid
from device.simulator.audiograms import audiogram_named
from device.speech import FloatArray
from firmware_py.comparisons.space import DIMENSIONS, STEP_DB, Setting
from firmware_py.inference.laplace.standard_audiograms import STANDARD_AUDIOGRAMS_DB_HL
from firmware_py.platform.program import run_program
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, LEFT, RIGHT

STANDARD_NAMES: Final = tuple(STANDARD_AUDIOGRAMS_DB_HL)
LEVELS_DB_SPL: Final = (50.0, 65.0, 80.0)
SETTLED_S: Final = 0.5  # the compressor has settled
MEASURED_S: Final = 0.3
STEP_LEVELS_DB_SPL: Final = (55.0, 90.0)  # of attack and release (ANSI S3.22-2014, section 6.15)
ATTACK_WITHIN_DB: Final = 3.0
RELEASE_WITHIN_DB: Final = 4.0
STEP_HZ: Final = 2000.0
NEAR_HZ: Final = 50.0  # so near an edge a tone is on both sides of it
SMOOTH_S: Final = 0.001
FREQUENCIES_HZ: Final = tuple(float(f) for f in AUDIOGRAM_FREQUENCIES_HZ if f >= 250)
ROUNDING: Final = 1e-6  # of a sample: files have 24 bits of it


def amplitude(level_db_spl: float) -> float:
    """Return the peak of a sine of this level, of full scale."""
    return math.sqrt(2.0) * float(full_scale_of(level_db_spl))


def tone(frequency_hz: float, level_db_spl: float, seconds: float) -> FloatArray:
    """Return a tone in both ears, (frames, 2)."""
    t = np.arange(round(seconds * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    one = amplitude(level_db_spl) * np.sin(2.0 * np.pi * frequency_hz * t)
    return np.stack([one, one], axis=1)


def level_db_spl(samples: FloatArray) -> FloatArray:
    rms = np.sqrt(np.mean(samples**2, axis=0))
    found: FloatArray = FULL_SCALE_DB_SPL + 20.0 * np.log10(np.maximum(rms, 1e-12))
    return found


@dataclass(frozen=True)
class Gain:
    """The gain for a tone, as asked and as it came out, left and right."""

    frequency_hz: float
    input_db_spl: float
    asked_db: tuple[float, float]
    least_db: tuple[float, float]  # as far as the limiters may lower it, near a limit and above
    measured_db: tuple[float, float]

    @property
    def error_db(self) -> float:
        """Return how far the gain is from what it may be, the larger of the two ears."""
        triples = zip(self.least_db, self.asked_db, self.measured_db, strict=True)
        return max((m - min(max(m, least), a) for least, a, m in triples), key=abs)


def gains(aid: FileAid, fit: Fit) -> Iterator[Gain]:
    """Yield the gain of pure tones at every audiogram frequency and three levels.

    All tones are in one sound, each long enough for the compressor to settle.
    """
    each_s = SETTLED_S + MEASURED_S
    cases = [(f, level) for level in LEVELS_DB_SPL for f in FREQUENCIES_HZ]
    heard = aid.process(np.concatenate([tone(f, level, each_s) for f, level in cases]))
    frames = round(each_s * SAMPLE_RATE_HZ)
    for place, (frequency_hz, level) in enumerate(cases):
        end = (place + 1) * frames
        part = heard[end - round(MEASURED_S * SAMPLE_RATE_HZ) : end]
        left_db, right_db = (float(x) - level for x in level_db_spl(part))
        left, right = (fit.of_ear(ear).gain_db(frequency_hz, level) for ear in (LEFT, RIGHT))
        of_left, of_right = (float(each) - level for each in held_db_spl(fit, frequency_hz))
        least = (min(left, of_left), min(right, of_right))
        yield Gain(frequency_hz, level, (left, right), least, (left_db, right_db))


def held_db_spl(fit: Fit, frequency_hz: float) -> FloatArray:
    """Return the lowest output that a limiter of the chain may hold a tone to, left and right.

    At a centre two bands meet, of one set of the two, and it may be either of them.
    """
    found = []
    for bands in limited_bands((fit.of_ear(LEFT), fit.of_ear(RIGHT)), SAMPLE_RATE_HZ):
        above = np.searchsorted(bands.edges_hz, (frequency_hz - NEAR_HZ, frequency_hz + NEAR_HZ))
        found.append(bands.limits_db_spl[:, above[0] - 1 : above[1]].min(axis=1))
    lowest: FloatArray = np.minimum(*found) - LIMITER_EARLY_DB
    return lowest


def delay_ms(aid: FileAid) -> float:
    click = np.zeros((SAMPLE_RATE_HZ, 2))
    at = SAMPLE_RATE_HZ // 2
    click[at] = amplitude(65.0)
    heard = np.abs(aid.process(click)[:, 0])
    return 1000.0 * (int(heard.argmax()) - at) / SAMPLE_RATE_HZ


def attack_and_release_ms(aid: FileAid) -> tuple[float, float]:
    """Return how long the output takes to settle after steps up and down, ms.

    From the step until the level stays within 3 dB (4 dB, down) of what it comes to; the delay
    counts.
    """
    soft, loud = STEP_LEVELS_DB_SPL
    parts = [tone(STEP_HZ, level, 1.0) for level in (soft, loud, soft)]
    heard = aid.process(np.concatenate(parts))[:, 0]
    width = round(SMOOTH_S * SAMPLE_RATE_HZ)
    power = np.convolve(heard**2, np.ones(width) / width, mode="same")
    level = 10.0 * np.log10(np.maximum(power, 1e-12))
    return (
        _settling_ms(level[SAMPLE_RATE_HZ : 2 * SAMPLE_RATE_HZ], ATTACK_WITHIN_DB),
        _settling_ms(level[2 * SAMPLE_RATE_HZ : 3 * SAMPLE_RATE_HZ - width], RELEASE_WITHIN_DB),
    )


def _settling_ms(level: FloatArray, within_db: float) -> float:
    final = float(np.median(level[-SAMPLE_RATE_HZ // 10 :]))
    outside = np.flatnonzero(np.abs(level - final) > within_db)
    return 1000.0 * (int(outside[-1]) + 1) / SAMPLE_RATE_HZ if len(outside) else 0.0


def distortion_percent(aid: FileAid, frequency_hz: float, level: float) -> float:
    """Return total harmonic distortion of a tone, percent."""
    heard = aid.process(tone(frequency_hz, level, 1.5))[-SAMPLE_RATE_HZ:, 0]
    power = np.abs(np.fft.rfft(heard * np.hanning(SAMPLE_RATE_HZ))) ** 2

    def around(at_hz: float) -> float:
        return float(power[round(at_hz) - 4 : round(at_hz) + 5].sum())

    harmonics = sum(around(k * frequency_hz) for k in range(2, 6) if k * frequency_hz < 11_900)
    return 100.0 * math.sqrt(harmonics / around(frequency_hz))


def hostile_sounds(chance: np.random.Generator) -> Iterator[FloatArray]:
    """Yield sounds that no room makes, each of a part of a second, without end."""
    frames = SAMPLE_RATE_HZ // 4
    while True:
        size = float(10.0 ** chance.uniform(-2.0, 1.5))  # up to thirty times full scale
        match int(chance.integers(6)):
            case 0:
                one = np.sign(np.sin(np.arange(frames) * chance.uniform(0.001, 3.0)))
            case 1:
                one = chance.uniform(-1.0, 1.0, frames)
            case 2:
                one = np.zeros(frames)
                one[chance.integers(0, frames, 20)] = 1.0
            case 3:
                one = np.ones(frames)
            case 4:
                one = np.sin(np.arange(frames) * chance.uniform(0.001, 3.0))
                one *= chance.random() < np.linspace(0.0, 1.0, frames)
            case _:
                one = np.repeat(chance.choice([-1.0, 1.0], frames // 50), 50)[:frames]
        one = np.resize(one, frames)
        yield np.stack([size * one, size * one[::-1]], axis=1)


def random_setting(fit: Fit, chance: np.random.Generator) -> Setting:
    ranges = fit.ranges_db()
    steps = {
        d.name: (math.ceil(ranges[d.name][0] / STEP_DB), math.floor(ranges[d.name][1] / STEP_DB))
        for d in DIMENSIONS
    }
    return Setting(
        **{n: STEP_DB * int(chance.integers(low, high + 1)) for n, (low, high) in steps.items()}
    )


def loudest(fit: Fit, count: int, seed: int, installation: Installation | None = None) -> float:
    """Return the largest sample that came out of so many hostile sounds, over the fit's limit."""
    chance = np.random.default_rng(seed)
    sounds, largest = hostile_sounds(chance), 0.0
    with file_aid(fit, installation) as aid:
        for _ in range(count):
            aid.fit(fit.tune(random_setting(fit, chance)))
            largest = max(largest, float(np.abs(aid.process(next(sounds))).max()))
    return largest / output_limit(fit)


def standard_fit(name: str, rule: str = "nal-r") -> Fit:
    ear = audiogram_named(name)[LEFT]
    thresholds = [ear.threshold_db_hl(f) for f in FREQUENCIES_HZ]
    return fit_of_thresholds(
        FREQUENCIES_HZ, {LEFT: thresholds, RIGHT: thresholds}, rule, source=f"audiogram {name}"
    )


def table_lines() -> Iterator[str]:
    yield "| audiogram | largest error of gain, dB | attack, ms | release, ms | THD at 65 dB SPL |"
    yield "|---|---|---|---|---|"
    for name in STANDARD_NAMES:
        fit = standard_fit(name)
        with file_aid(fit) as aid:
            worst = max(gains(aid, fit), key=lambda gain: abs(gain.error_db))
            attack_ms, release_ms = attack_and_release_ms(aid)
            percent = max(distortion_percent(aid, f, 65.0) for f in (500.0, 800.0, 1600.0))
        where = f"{worst.frequency_hz:g} Hz, {worst.input_db_spl:g} dB SPL"
        times = f"{attack_ms:.0f} | {release_ms:.0f}"
        yield f"| {name} | {worst.error_db:+.2f} ({where}) | {times} | {percent:.2f} % |"
    with file_aid(standard_fit("N3")) as aid:
        yield f"delay {delay_ms(aid):.1f} ms (window {WINDOW_FRAMES}, block {BLOCK_FRAMES} frames)"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print; exit code 1 if a sample exceeded its limit."""
    p = argparse.ArgumentParser(
        prog="python -m device.hearing_aid.electroacoustics", description=__doc__
    )
    p.add_argument("--limit", type=int, default=0, metavar="N", help="N hostile sounds, no table")
    p.add_argument("--seed", type=int, default=1)
    arguments = p.parse_args(argv)
    try:
        if not arguments.limit:
            print(*table_lines(), sep="\n")
            return 0
        names = STANDARD_NAMES
        each = -(-arguments.limit // len(names))
        found = {n: loudest(standard_fit(n), each, arguments.seed + k) for k, n in enumerate(names)}
    except OpenMhaError as error:
        print(error, file=sys.stderr)
        return 2
    for name, largest in found.items():
        print(f"{name}: {each} sounds, the largest sample {largest:.7f} of the limit")
    return int(max(found.values()) > 1.0 + ROUNDING)


if __name__ == "__main__":
    sys.exit(run_program(main))
