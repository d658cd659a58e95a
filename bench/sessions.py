"""Sessions that stand just before their n-th answer: the same six listeners in every case."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from tests.reference import AUDIOGRAM_FREQUENCIES_HZ, STANDARD_AUDIOGRAMS_DB_HL, warp

TRIALS = (8, 16, 32, 64, 128)
AUDIOGRAMS = ("N1", "N3", "N5", "N7", "S1", "S2")
RESPONSE_NOISE_DB = 2.0
# The words of a case that follow its profile: the listener is told; tones are off the knots, too.
WORDS: dict[str, dict[str, Any]] = {
    "told": {
        "response_noise_db": RESPONSE_NOISE_DB,
        "lapse_rate": 0.01,
        "false_alarm_rate": 0.01,
    },
    "bends": {"candidates": 20},
}


class Answer(NamedTuple):
    frequency_hz: float
    level_db_hl: float
    heard: bool


def new_estimator(case: str) -> ThresholdEstimator:
    """Return the estimator of a case: a profile, and perhaps some of `WORDS`."""
    profile, *words = case.split()
    options = {name: value for word in words for name, value in WORDS[word].items()}
    return ThresholdEstimator(profile, max_trials=max(TRIALS), **options)


@cache
def answers_of(audiogram: str, case: str) -> tuple[Answer, ...]:
    rng = np.random.default_rng([list(STANDARD_AUDIOGRAMS_DB_HL).index(audiogram), 1])
    x = warp(AUDIOGRAM_FREQUENCIES_HZ)
    estimator = new_estimator(case)
    answers = []
    for _ in range(max(TRIALS)):
        tone = BITS.choose(estimator)
        threshold_db_hl = np.interp(
            warp(tone.frequency_hz), x, STANDARD_AUDIOGRAMS_DB_HL[audiogram]
        )
        z = (tone.level_db_hl - threshold_db_hl) / RESPONSE_NOISE_DB
        answers.append(Answer(tone.frequency_hz, tone.level_db_hl, bool(rng.random() < ndtr(z))))
        estimator.observe(*answers[-1])
    return tuple(answers)


@cache
def estimator_before(audiogram: str, case: str, trials: int) -> ThresholdEstimator:
    """Return the estimator with all but the last of so many answers; copy it before use."""
    estimator = new_estimator(case)
    for answer in answers_of(audiogram, case)[: trials - 1]:
        estimator.observe(*answer)
    return estimator
