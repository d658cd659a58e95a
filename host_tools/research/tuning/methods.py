"""Ways to choose the next comparison; all are judged by the same inference."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from firmware_py.inference.elementary import normal_cdf
from firmware_py.inference.kernel import Array
from firmware_py.inference.preference.estimator import Pair, PreferenceEstimator
from firmware_py.inference.preference.regret import UNIT_DB
from host_tools.research.study.arguments import TUNINGS
from host_tools.research.tuning.people import (
    LIMIT_DB,
    NUMBERS,
    STEP_DB,
    WISH_SD_DB,
    SettingDb,
    on_grid,
)

CANDIDATES: Final = 1024  # of which expected improvement is computed
WIDER: Final = 1.5  # than the posterior: where the candidates lie

# Takes what is known and a source of chance, and returns the next two settings, dB.
Method = Callable[[PreferenceEstimator, np.random.Generator], Pair]


def regret(setting_db: Sequence[float], wish_db: Sequence[float]) -> float:
    """Return how much worse a setting is than the wished one; one half: 3 dB in one number."""
    return 0.5 * math.dist(setting_db, wish_db) ** 2 / UNIT_DB**2


def new_estimator(objective: str = "gain") -> PreferenceEstimator:
    return PreferenceEstimator(
        ranges_db=[(-LIMIT_DB, LIMIT_DB)] * NUMBERS,
        prior_sd_db=[WISH_SD_DB] * NUMBERS,
        objective=objective,
    )


def _own(estimator: PreferenceEstimator, _chance: np.random.Generator) -> Pair:
    return estimator.next_pair()


def _random(_estimator: PreferenceEstimator, chance: np.random.Generator) -> Pair:
    return _two(lambda: WISH_SD_DB * chance.standard_normal(NUMBERS))


def _thompson(estimator: PreferenceEstimator, chance: np.random.Generator) -> Pair:
    """Compare the best settings for two people of the posterior.

    The posterior is taken as the Gaussian with its mean and covariance.
    """
    mean_db, covariance_db2 = estimator.wish()
    root = np.linalg.cholesky(covariance_db2)
    return _two(lambda: mean_db + root @ chance.standard_normal(NUMBERS))


def _two(drawn: Callable[[], Array]) -> Pair:
    first = second = _setting(drawn())
    while second == first:
        second = _setting(drawn())
    return first, second


def _setting(values_db: Array) -> SettingDb:
    return on_grid(tuple(values_db.tolist()))


def _improvement(estimator: PreferenceEstimator, chance: np.random.Generator) -> Pair:
    """Compare the best setting with that of the highest expected improvement on it."""
    mean_db, covariance_db2 = estimator.wish()
    best_db = estimator.best()
    root = WIDER * np.linalg.cholesky(covariance_db2)
    drawn_db = mean_db + chance.standard_normal((CANDIDATES, NUMBERS)) @ root.T
    gridded_db = np.clip(np.round(drawn_db / STEP_DB) * STEP_DB, -LIMIT_DB, LIMIT_DB) + 0.0
    expected = expected_improvement(gridded_db, np.array(best_db), mean_db, covariance_db2)
    return best_db, tuple(gridded_db[int(expected.argmax())].tolist())


def expected_improvement(
    candidates_db: Array, best_db: Array, mean_db: Array, covariance_db2: Array
) -> Array:
    """Return the expected improvement of each candidate on the best setting, in units.

    With u(x) = -|x - theta|**2 / 2 the difference of two utilities is linear in theta, so for a
    Gaussian theta it is Gaussian.

    From (m, d) candidates, and (d,) of the others: (m,).
    """
    step = (candidates_db - best_db) / UNIT_DB
    middle = (mean_db - 0.5 * (candidates_db + best_db)) / UNIT_DB
    mean = (step * middle).sum(axis=1)
    variance = ((step @ (covariance_db2 / UNIT_DB**2)) * step).sum(axis=1)
    found = np.zeros(len(mean))
    for at, (m, v) in enumerate(zip(mean.tolist(), variance.tolist(), strict=True)):
        if v > 0.0:
            sd = math.sqrt(v)
            bell = math.exp(-0.5 * (m / sd) ** 2) / math.sqrt(2.0 * math.pi)
            found[at] = m * normal_cdf(m / sd) + sd * bell
    return found


_WAYS: Final[tuple[Method, ...]] = (_own, _own, _random, _thompson, _improvement)
METHODS: Final = dict(zip(TUNINGS, _WAYS, strict=True))
PRODUCT, BITS, *_ = TUNINGS
OBJECTIVES: Final = {BITS: "bits"}  # of the estimator; "gain" where none is named
_TITLES: Final = (
    "the product: expected gain", "bits (BALD)", "random pairs", "Thompson sampling",
    "expected improvement",
)  # fmt: skip
TITLES: Final = dict(zip(TUNINGS, _TITLES, strict=True))
