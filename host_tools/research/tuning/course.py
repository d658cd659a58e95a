"""A person's comparisons by one method: the best setting so far, and its regret."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.simulator.preferences import SimulatedWearer
from firmware_py.inference.kernel import Array
from firmware_py.inference.preference.regret import UNIT_DB
from host_tools.research.tuning.methods import METHODS, OBJECTIVES, new_estimator
from host_tools.research.tuning.people import NUMBERS, Person, SettingDb

COUNTS: Final = (0, 5, 10, 15, 20, 25)  # comparisons, of which the tables tell
COMPARISONS: Final = COUNTS[-1]
LOOKED_AT: Final = {*range(16), *COUNTS}  # when the best setting is asked for, which takes longest
NEAR_DB: Final = 3.0


@dataclass(frozen=True)
class Course:
    """What one method found for one person.

    Attributes
    ----------
    method : str
    person : Person
    best_db : dict
        The best setting so far, by the number of comparisons.
    """

    method: str
    person: Person
    best_db: dict[int, SettingDb]

    def regret(self, count: int) -> float:
        """Return how much worse the best setting is than the wished one, after so many."""
        return regret(self.best_db[count], self.person.wish_db)

    def is_near(self, count: int, *, each: bool) -> bool:
        """Return whether the best setting is within 3 dB of the wish.

        Parameters
        ----------
        count : int
            Comparisons.
        each : bool
            In each number, or else in the root of the mean square of all.
        """
        off_db = np.array(self.best_db[count]) - np.array(self.person.wish_db)
        furthest_db = abs(off_db).max() if each else math.sqrt((off_db**2).mean())
        return bool(furthest_db <= NEAR_DB)


def regret(setting_db: Sequence[float], wish_db: Sequence[float]) -> float:
    """Return how much worse a setting is than the wished one; one half: 3 dB in one number."""
    return 0.5 * math.dist(setting_db, wish_db) ** 2 / UNIT_DB**2


def run_course(job: tuple[str, Person]) -> Course:
    """Tune for a person by a method, in `COMPARISONS` comparisons."""
    method, person = job
    estimator = new_estimator(OBJECTIVES.get(method, "gain"))
    chosen = METHODS[method]
    chance = np.random.default_rng([person.seed, sum(method.encode())])
    wearer: SimulatedWearer = person.wearer()
    best_db: dict[int, SettingDb] = {0: (0.0,) * NUMBERS}  # the prescription
    for count in range(1, COMPARISONS + 1):
        pair = chosen(estimator, chance)
        first, second = pair if chance.random() < 0.5 else pair[::-1]
        estimator.observe(first, second, wearer.answer(first, second))
        if count in LOOKED_AT:
            best_db[count] = estimator.best()
    return Course(method, person, best_db)


def regrets(courses: Sequence[Course], count: int) -> Array:
    """Return the regret of each course after so many comparisons."""
    return np.array([course.regret(count) for course in courses])


def share(courses: Sequence[Course], count: int, *, median: bool) -> float:
    """Return the mean or median regret, as a share of the prescription's."""
    middle = np.median if median else np.mean
    return float(middle(regrets(courses, count)) / middle(regrets(courses, 0)))


def error_of_share(courses: Sequence[Course], count: int) -> float:
    """Return the standard error of the share of the mean regret (of a ratio of two means)."""
    after, before = regrets(courses, count), regrets(courses, 0)
    off = after - before * after.mean() / before.mean()
    return float(off.std(ddof=1) / math.sqrt(len(off)) / before.mean())


def comparisons_to(courses: Sequence[Course], goal: float) -> int | None:
    """Return from which comparison on the share of the median regret is this or less.

    None: it is not.
    """
    counts = sorted(courses[0].best_db)
    above = [count for count in counts if share(courses, count, median=True) > goal]
    later = [count for count in counts if not above or count > above[-1]]
    return later[0] if later else None
