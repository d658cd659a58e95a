"""ACCURACY: the error of the whole method, against the figures the project has promised.

Not a test of a piece of code but of the product: ten standard audiograms, response noise 2 dB,
profile "default" with default arguments, RMSE at the ten audiogram frequencies after 10, 20 and 30
tones. `pytest tests/inference/test_accuracy.py -s` prints the table.
"""

import numpy as np
import pytest

from firmware_py import ThresholdEstimator
from tests.inference.listeners import AUDIOGRAMS, listener, rmse_db, session
from tests.reference import FloatArray

AFTER_TONES = (10, 20, 30)
RMSE_DB_MAX = (4.0, 2.4, 1.8)  # mean over the sessions
SEEDS = 60
SEEDS_OF_THE_PAPER = 20
FEW_SEEDS = 6  # keep the promise too


def _errors_db(profile: str, seeds: int) -> FloatArray:
    """RMSE in dB of each session, shape (audiogram, seed, AFTER_TONES)."""
    errors_db = np.zeros((len(AUDIOGRAMS), seeds, len(AFTER_TONES)))
    for i, audiogram in enumerate(AUDIOGRAMS):
        for seed in range(seeds):
            estimator = ThresholdEstimator(profile)
            hears = listener(audiogram, seed)
            for _ in session(estimator, hears, max(AFTER_TONES)):
                if estimator.trial_count in AFTER_TONES:
                    column = AFTER_TONES.index(estimator.trial_count)
                    errors_db[i, seed, column] = rmse_db(estimator, audiogram)
    return errors_db


def _row(name: str, values: FloatArray) -> str:
    return f"{name:<14}" + "".join(f"{value:8.2f}" for value in values)


@pytest.mark.parametrize(
    ("seeds", "seeds_of_the_paper"),
    [
        (FEW_SEEDS, FEW_SEEDS),
        pytest.param(SEEDS, SEEDS_OF_THE_PAPER, marks=pytest.mark.thorough),
    ],
)
def test_accuracy_after_10_20_and_30_tones(seeds: int, seeds_of_the_paper: int) -> None:
    own = _errors_db("default", seeds)
    paper = _errors_db("gp-pta-2015", seeds_of_the_paper)
    mean_db, mean_of_paper_db = own.mean(axis=(0, 1)), paper.mean(axis=(0, 1))
    print("\nRMSE in dB after  10      20      30 tones")
    for audiogram, of_audiogram in zip(AUDIOGRAMS, own.mean(axis=1), strict=True):
        print(_row(audiogram, of_audiogram))
    print(_row("default", mean_db))
    print(_row("  at most", np.array(RMSE_DB_MAX)))
    print(_row("gp-pta-2015", mean_of_paper_db))

    assert np.all(mean_db <= RMSE_DB_MAX)
    assert np.all(mean_of_paper_db > mean_db)
