"""Measures what comes out of the aid at most, in each band, through the real engine.

`python -m device.hearing_aid.most_output` prints the table of the page: for the ten standard
audiograms, as prescribed and at extreme settings, how far below its limit each band stays at least.
"""

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.hearing_aid.band_limits import halfway_hz
from device.hearing_aid.chain import FULL_SCALE_DB_SPL, SAMPLE_RATE_HZ, full_scale_of
from device.hearing_aid.electroacoustics import STANDARD_NAMES, standard_fit, tone
from device.hearing_aid.fit import Fit
from device.hearing_aid.openmha import Installation, OpenMhaError
from device.hearing_aid.processing import FileAid, file_aid
from device.hearing_aid.rules import CAMFIT, NAL_R
from device.speech import FloatArray
from firmware_py.comparisons.space import DIMENSIONS, PRESCRIPTION, Setting
from firmware_py.platform.program import run_program
from firmware_py.terms.route import LEFT, RIGHT

TONES_DB_SPL: Final = (80.0, 90.0, 100.0, 110.0, 114.0)  # a sine of more is clipped at the input
NOISES_DB_SPL: Final = (80.0, 95.0, 105.0)  # so are the peaks of a noise of more
# Of the frequency of a band's centre or edge: on the edge itself a tone is in two bands.
NEAR: Final = (0.94, 1.0, 1.06)
TONE_S: Final = 0.5
NOISE_S: Final = 1.0
MEASURED_S: Final = 0.25  # of a sound, at its end
MEASURED_FRAMES: Final = round(MEASURED_S * SAMPLE_RATE_HZ)
SEED: Final = 1
# Each number of a setting as far as it goes, and all together where that is loudest.
EXTREMES: Final = tuple(
    Setting(overall_db=overall, tilt_db=tilt, mid_db=mid, soft_db=soft)
    for overall, tilt, mid, soft in (
        (12.0, 12.0, 12.0, -12.0), (12.0, -12.0, 0.0, -12.0), (12.0, 0.0, -12.0, 12.0),
        (-12.0, 12.0, 12.0, 12.0),
    )
)  # fmt: skip
assert {d.limit_db for d in DIMENSIONS} == {12.0}


@dataclass(frozen=True)
class Loudest:
    """The sound with which a band came nearest to its limit, or exceeded it the most."""

    above_db: float  # the limit
    ear: str
    center_hz: float  # of the band
    sound: str


def tones(
    fit: Fit, levels_db_spl: Sequence[float] = TONES_DB_SPL
) -> Iterator[tuple[str, FloatArray]]:
    """Yield tones in all bands, at centres and beside the edges, soft to as loud as they can be."""
    centers_hz = fit.ears[0].table.center_hz
    for at_hz in np.sort(np.concatenate((centers_hz, halfway_hz(centers_hz)))).tolist():
        for frequency_hz in (near * at_hz for near in NEAR):
            for level in levels_db_spl:
                words = f"{frequency_hz:.0f} Hz, {level:g} dB SPL"
                yield words, tone(frequency_hz, level, TONE_S)


def noises(fit: Fit) -> Iterator[tuple[str, FloatArray]]:
    """Yield noise in each band, and in all of them."""
    edges_hz = [60.0, *halfway_hz(fit.ears[0].table.center_hz).tolist(), 0.49 * SAMPLE_RATE_HZ]
    chance = np.random.default_rng(SEED)
    bands = [*itertools.pairwise(edges_hz), (edges_hz[0], edges_hz[-1])]
    for low_hz, high_hz in bands:
        frames = round(NOISE_S * SAMPLE_RATE_HZ)
        spectrum = np.fft.rfft(chance.normal(size=frames))
        at_hz = np.fft.rfftfreq(frames, 1.0 / SAMPLE_RATE_HZ)
        one = np.fft.irfft(np.where((low_hz <= at_hz) & (at_hz < high_hz), spectrum, 0.0), frames)
        one /= np.sqrt(np.mean(one**2))
        for level in NOISES_DB_SPL:
            sized = one * full_scale_of(level)
            words = f"noise of {low_hz:.0f} to {high_hz:.0f} Hz, {level:g} dB SPL"
            yield words, np.stack([sized, sized], axis=1)


def band_levels_db_spl(fit: Fit, heard: FloatArray) -> FloatArray:
    """Return the level of a sound, (frames, 2), in each band of each ear, (2, m)."""
    centers_hz = fit.ears[0].table.center_hz
    window = np.hanning(len(heard))
    power = np.abs(np.fft.rfft(heard.T * window)) ** 2 * 2.0 / (len(heard) * np.sum(window**2))
    bins_hz = np.fft.rfftfreq(len(heard), 1.0 / SAMPLE_RATE_HZ)
    of_bin = np.searchsorted(halfway_hz(centers_hz), bins_hz)
    sums = np.stack([np.bincount(of_bin, each, len(centers_hz)) for each in power])
    return FULL_SCALE_DB_SPL + 10.0 * np.log10(np.maximum(sums, 1e-20))


def loudest(aid: FileAid, fit: Fit, sounds: Sequence[tuple[str, FloatArray]]) -> Loudest:
    """Return what comes nearest to the limit of its band, of these sounds one after the other."""
    heard = aid.process(np.concatenate([sound for _, sound in sounds]))
    ears = (LEFT, RIGHT)
    limits = np.array([[b.output_max_db_spl for b in fit.of_ear(ear).bands] for ear in ears])
    found, end = [], 0
    for words, sound in sounds:
        end += len(sound)
        above_db = band_levels_db_spl(fit, heard[end - MEASURED_FRAMES : end]) - limits
        ear, band = np.unravel_index(above_db.argmax(), above_db.shape)
        center_hz = float(fit.ears[0].bands[band].center_hz)
        found.append(Loudest(float(above_db[ear, band]), ears[ear], center_hz, words))
    return max(found, key=lambda each: each.above_db)


def worst(
    fit: Fit, settings: Sequence[Setting], installation: Installation | None = None
) -> list[Loudest]:
    """Return the loudest of tones and of noises, at each setting in turn, with the fit's limits."""
    found = []
    with file_aid(fit, installation) as aid:
        for setting in settings:
            tuned = fit.tune(setting)
            aid.fit(tuned)
            found += [loudest(aid, tuned, list(make(fit))) for make in (tones, noises)]
    return found


def table_lines() -> Iterator[str]:
    yield "| audiogram | rule | tones | noise |"
    yield "|---|---|---|---|"
    for name in STANDARD_NAMES:
        for rule in (NAL_R, CAMFIT):
            found = worst(standard_fit(name, rule), (PRESCRIPTION, *EXTREMES))
            of_tones, of_noises = (
                max(found[first::2], key=lambda each: each.above_db) for first in (0, 1)
            )
            yield f"| {name} | {rule} | {_words(of_tones)} | {_words(of_noises)} |"


def _words(found: Loudest) -> str:
    return f"{found.above_db:+.2f} dB ({found.ear}, {found.center_hz:g} Hz: {found.sound})"


def main(argv: Sequence[str] | None = None) -> int:
    argparse.ArgumentParser(
        prog="python -m device.hearing_aid.most_output", description=__doc__
    ).parse_args(argv)
    try:
        for line in table_lines():
            print(line, flush=True)
    except OpenMhaError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
