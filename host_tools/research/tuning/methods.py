"""Ways to choose what to compare next; all are judged by the firmware's own inference.

Thompson sampling and expected improvement are those of preferential Bayesian optimisation
(Gonzalez et al., ICML 2017; Brochu et al., 2010), with the posterior of the wish, taken as normal.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.inference.preference.arrays import UNIT_DB
from firmware_py.inference.preference.estimator import PreferenceEstimator
from firmware_py.procedure.tuning.judgement import is_check
from firmware_py.procedure.tuning.space import STEP_DB
from host_tools.research.tuning.people import LIMIT_DB, WISH_SD_DB, Somebody

COMPARISONS: Final = 25
DRAWS: Final = 256

Pair = tuple[tuple[float, ...], tuple[float, ...]]
Chooser = Callable[[PreferenceEstimator, np.random.Generator], Pair]


def of_firmware(estimator: PreferenceEstimator, _chance: np.random.Generator) -> Pair:
    """Choose as a tuning does: now and then it is checked that somebody listens."""
    check = is_check(estimator.comparison_count + 1)
    return estimator.check_pair() if check else estimator.next_pair()


def at_random(_estimator: PreferenceEstimator, chance: np.random.Generator) -> Pair:
    """Choose two settings that people may want."""
    return _on_grid(chance.normal(0.0, WISH_SD_DB)), _on_grid(chance.normal(0.0, WISH_SD_DB))


def by_thompson(estimator: PreferenceEstimator, chance: np.random.Generator) -> Pair:
    """Choose the best settings for two wishes that this person may have."""
    one, other = _wishes_db(estimator, chance, 2)
    return _on_grid(one), _on_grid(other)


def by_expected_improvement(estimator: PreferenceEstimator, chance: np.random.Generator) -> Pair:
    """Choose the best setting, and that which is expected to be better than it by the most."""
    best_db = np.array(estimator.best())
    candidates_db = _wishes_db(estimator, chance, DRAWS)
    wishes_db = _wishes_db(estimator, chance, DRAWS)
    of_best = _utilities(best_db[None], wishes_db)
    better = np.maximum(_utilities(candidates_db, wishes_db) - of_best, 0.0).mean(axis=1)
    return _on_grid(best_db), _on_grid(candidates_db[int(better.argmax())])


# By name: how pairs are chosen, and for what the firmware's estimator chooses.
METHODS: Final[dict[str, tuple[Chooser, str]]] = {
    "gp-pta": (of_firmware, "gain"),
    "gp-pta, bits": (of_firmware, "bits"),
    "expected improvement": (by_expected_improvement, "gain"),
    "thompson": (by_thompson, "gain"),
    "random": (at_random, "gain"),
}


def settings_of(name: str, somebody: Somebody) -> list[tuple[float, ...]]:
    """Return the best setting before the first comparison and after each.

    Parameters
    ----------
    name : str
        Of `METHODS`.
    somebody : Somebody

    Returns
    -------
    list of (d,) dB
        `COMPARISONS` + 1 of them.
    """
    choose, objective = METHODS[name]
    estimator = PreferenceEstimator(
        ranges_db=[(-limit, limit) for limit in LIMIT_DB],
        prior_sd_db=WISH_SD_DB,
        objective=objective,
    )
    wearer, chance = somebody.wearer(), np.random.Generator(np.random.Philox(somebody.seed))
    found = [estimator.best()]
    for _ in range(COMPARISONS):
        first, second = choose(estimator, chance)
        if chance.random() < 0.5:
            first, second = second, first
        estimator.observe(first, second, wearer.answer(first, second))
        found.append(estimator.best())
    return found


def _wishes_db(estimator: PreferenceEstimator, chance: np.random.Generator, count: int) -> Array:
    mean_db, covariance_db2 = estimator.wish()
    return chance.multivariate_normal(mean_db, covariance_db2, count)


def _utilities(settings_db: Array, wishes_db: Array) -> Array:
    """Return the utility of each setting (rows) for each wish (columns)."""
    off = (settings_db[:, None] - wishes_db[None]) / UNIT_DB
    found: Array = -0.5 * (off**2).sum(axis=2)
    return found


def _on_grid(setting_db: Array) -> tuple[float, ...]:
    limits_db = np.array(LIMIT_DB)
    nearest = np.clip(np.round(setting_db / STEP_DB) * STEP_DB, -limits_db, limits_db)
    return tuple(float(each) + 0.0 for each in nearest)
