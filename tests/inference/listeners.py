"""Listeners with a standard audiogram, and sessions with them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from tests.reference import AUDIOGRAM_FREQUENCIES_HZ, STANDARD_AUDIOGRAMS_DB_HL, FloatArray, warp

AUDIOGRAMS = list(STANDARD_AUDIOGRAMS_DB_HL)


class Answer(NamedTuple):
    frequency_hz: float
    level_db_hl: float
    heard: bool


Listener = Callable[[float, float], bool]


def listener(audiogram: str, seed: int, noise_db: float = 2.0, lapse_rate: float = 0.0) -> Listener:
    """Hear with probability Phi((h - g)/sigma), g straight on the Bark scale; lapse at times."""
    rng = np.random.default_rng([AUDIOGRAMS.index(audiogram), seed])
    x = warp(AUDIOGRAM_FREQUENCIES_HZ)
    g = STANDARD_AUDIOGRAMS_DB_HL[audiogram]

    def hears(frequency_hz: float, level_db_hl: float) -> bool:
        threshold_db_hl = np.interp(warp(frequency_hz), x, g)
        if rng.random() < lapse_rate:
            return bool(rng.random() < 0.5)
        return bool(rng.random() < ndtr((level_db_hl - threshold_db_hl) / noise_db))

    return hears


def session(estimator: ThresholdEstimator, hears: Listener, trials: int) -> Iterator[Answer]:
    """Ask what the estimator wants to know; each answer has been observed when it is yielded."""
    for _ in range(trials):
        tone = BITS.choose(estimator)
        heard = hears(tone.frequency_hz, tone.level_db_hl)
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)
        yield Answer(tone.frequency_hz, tone.level_db_hl, heard)


def rmse_db(estimator: ThresholdEstimator, audiogram: str) -> float:
    mean_db_hl, _ = estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)
    error_db: FloatArray = mean_db_hl - np.array(STANDARD_AUDIOGRAMS_DB_HL[audiogram])
    return float(np.sqrt(np.mean(error_db**2)))


# Sessions of a listener from hell, by name: (estimator, trial) -> the answer to observe.
Adversary = Callable[[ThresholdEstimator, int], Answer]
_CHANCE = np.random.default_rng(20260106).random((128, 3))


def _answers(rule: Callable[[int], bool]) -> Adversary:
    def answer(estimator: ThresholdEstimator, trial: int) -> Answer:
        tone = BITS.choose(estimator)
        return Answer(tone.frequency_hz, tone.level_db_hl, rule(trial))

    return answer


def _against_the_level(estimator: ThresholdEstimator, trial: int) -> Answer:
    odd = trial % 2 == 1
    return Answer(BITS.choose(estimator).frequency_hz, -10.0 if odd else 120.0, odd)


def _odd(trial: int) -> bool:
    return trial % 2 == 1


def _chance(trial: int) -> bool:
    return bool(_CHANCE[trial, 0] < 0.5)


ADVERSARIES: dict[str, Adversary] = {
    "hears everything": _answers(lambda trial: True),
    "hears nothing": _answers(lambda trial: False),
    "alternates": _answers(_odd),
    "guesses": _answers(_chance),
    "hears the faint and not the loud": _against_the_level,
    "contradicts at one point": lambda _, n: Answer(1000.0, 50.0, _odd(n)),
    "contradicts across the range": lambda _, n: Answer(1000.0, (120.0, -10.0)[n % 2], _odd(n)),
    "guesses at one frequency": lambda _, n: Answer(
        1000.0, -10.0 + 130.0 * _CHANCE[n, 1], _chance(n)
    ),
    "gets one tone again and again": lambda _, n: Answer(4000.0, 60.0, True),
    "hears the lowest at the borders": lambda _, n: Answer((125.0, 8000.0)[n % 2], -10.0, True),
    "misses the highest at the borders": lambda _, n: Answer((125.0, 8000.0)[n % 2], 120.0, False),
    "is a comb": lambda _, n: Answer(
        125.0 * 64.0 ** (n % 16 / 15.0), (120.0, -10.0)[n % 2], _odd(n)
    ),
    "gets all but one tone": lambda _, n: Answer(1000.0 + 1e-3 * n, 40.0 + 1e-3 * (n % 2), _odd(n)),
    "guesses anywhere": lambda _, n: Answer(
        125.0 * 64.0 ** _CHANCE[n, 2], -10.0 + 130.0 * _CHANCE[n, 1], _chance(n)
    ),
}
