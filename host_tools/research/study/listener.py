"""The simulated listener of a study: the same one for every method.

Each ear and seed has its own stream of random numbers from raw Philox words, one number a tone. So
all methods have the same listener with the same luck (common random numbers), and answers do not
depend on what else is simulated, where, or when.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Final

from device.simulator.audiogram import Audiogram
from firmware_py.inference.elementary import normal_cdf
from firmware_py.inference.mixture.population_prior import Sex
from host_tools.research.methods.interface import Array
from host_tools.research.methods.population import uniform

# Parts of the Philox counter, beside the seed and the ear in the key.
_ANSWER_STREAM: Final = 1
_JITTER_STREAM: Final = 2
_DRAW_STREAM: Final = 3


@dataclass(frozen=True)
class Ear:
    """An ear to be measured: its truth is linear in log2 frequency, and constant outside."""

    name: str  # no other ear of the study has it
    stratum: str  # the degree of loss, over which results are averaged in equal parts
    frequencies_hz: tuple[float, ...]  # rising
    thresholds_db_hl: tuple[float, ...]
    age_years: float | None = None  # whose ear it is, as far as that is known
    sex: Sex | None = None

    def jittered(self, seed: int, within_db: float) -> "Ear":
        """Return the ear with thresholds moved evenly within +-`within_db`, by name and seed."""
        draws = uniforms(self.name, seed, _JITTER_STREAM, len(self.thresholds_db_hl)).tolist()
        moved = [
            threshold_db_hl + within_db * (2.0 * draw - 1.0)
            for threshold_db_hl, draw in zip(self.thresholds_db_hl, draws, strict=True)
        ]
        return replace(self, thresholds_db_hl=tuple(moved))


@dataclass(frozen=True)
class Answering:
    """How listeners answer: P = f + (1 - f - l) Phi((level - threshold) / noise)."""

    response_noise_db: float
    lapse_rate: float  # l
    false_alarm_rate: float  # f


class Listener:
    """A listener with this ear, under one seed, who can be asked so many tones."""

    def __init__(self, ear: Ear, answering: Answering, seed: int, tones: int) -> None:
        self._audiogram = Audiogram(ear.frequencies_hz, ear.thresholds_db_hl)
        self._answering = answering
        self._luck = uniforms(ear.name, seed, _ANSWER_STREAM, tones)

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the probability that this tone is answered."""
        how = self._answering
        above_db = level_db_hl - self._audiogram.threshold_db_hl(frequency_hz)
        attentive = 1.0 - how.false_alarm_rate - how.lapse_rate
        phi = float(normal_cdf(above_db / how.response_noise_db))
        return how.false_alarm_rate + attentive * phi

    def hears(self, tone: int, frequency_hz: float, level_db_hl: float) -> bool:
        """Return the answer to tone number 0, 1, 2 ...; each number always has the same luck.

        Of two tones with the same number, the louder is heard whenever the softer is.
        """
        return bool(self._luck[tone] < self.probability_heard(frequency_hz, level_db_hl))


def uniforms(name: str, seed: int, stream: int, count: int) -> Array:
    """Return numbers in [0, 1), multiples of 2**-53, that depend on name, seed and stream alone."""
    word = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
    return uniform(seed, word, count, stream)


def place_in_draw(name: str) -> float:
    """Return a number in [0, 1) that depends on the name alone; the lowest are drawn first."""
    return float(uniforms(name, 1, _DRAW_STREAM, 1)[0])
