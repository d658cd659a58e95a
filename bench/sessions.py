"""Sessions that stand just before their n-th answer: the same six listeners in every case."""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from firmware_py import ThresholdEstimator
from firmware_py.procedure.objective import BITS
from tests.reference import AUDIOGRAM_FREQUENCIES_HZ, STANDARD_AUDIOGRAMS_DB_HL, warp

TRIALS = (8, 16, 32, 64, 128)
AUDIOGRAMS = ("N1", "N3", "N5", "N7", "S1", "S2")
RESPONSE_NOISE_DB = 2.0


# What is told of the listener in a case whose profile alone does not say it.
TOLD: dict[str, dict[str, float]] = {
    "default told": {
        "response_noise_db": RESPONSE_NOISE_DB,
        "lapse_rate": 0.01,
        "false_alarm_rate": 0.01,
    },
}


class Answer(NamedTuple):
    frequency_hz: float
    level_db_hl: float
    heard: bool


def new_estimator(case: str) -> ThresholdEstimator:
    """Return the estimator of a case: a profile, and perhaps what it is told."""
    profile = case.removesuffix(" told")
    return ThresholdEstimator(profile, max_trials=max(TRIALS), **TOLD.get(case, {}))  # type: ignore[arg-type]


@cache
def answers_of(audiogram: str, case: str) -> tuple[Answer, ...]:
    """Return a whole session of the estimator with a simulated listener."""
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
