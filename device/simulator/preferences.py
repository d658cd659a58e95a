"""A simulated person who compares two settings of a hearing aid.

The person wants one setting, hears how far each of two is from it, and answers with noise. This is
written apart from the firmware's model of people (`firmware_py/inference/preference`): it is what
that model is tested against.
"""

import math
import random
from collections.abc import Sequence
from typing import Final

HONEST, FIRST, RANDOM, CHANGING = "honest", "first", "random", "changing"
PEOPLE: Final = {
    HONEST: "answers by one wish, with noise and lapses",
    FIRST: "always says the first",
    RANDOM: "answers by chance",
    CHANGING: "wants something else from the eleventh comparison on",
}
CHANGES_AFTER: Final = 10  # comparisons
FARTHEST_DB: Final = 12.0  # that anything is wished for: as far as an aid goes
ANSWERS: Final = ("first", "second", "same")


def drawn_wish_db(sd_db: Sequence[float], seed: int) -> list[float]:
    """Return what a person wants, of each number of a setting, drawn with these SDs."""
    chance = random.Random(seed)
    drawn = (chance.gauss(0.0, sd) for sd in sd_db)
    return [min(max(each, -FARTHEST_DB), FARTHEST_DB) for each in drawn]


class SimulatedWearer:
    """Says which of two settings is better.

    Parameters
    ----------
    wish_db : sequence of float
        The best setting there is for this person.
    kind : str
        One of `PEOPLE`; others are a `ValueError`.
    unit_db : float
        So far from the wish, in one number, the utility is half a unit below the best.
    sensitivity : float
        How many SDs of the noise of a comparison a unit of utility is.
    tie_width : float
        A smaller difference, in those SDs, is none to this person.
    lapse_rate : float
        Share of the answers that mean nothing.
    """

    def __init__(
        self,
        wish_db: Sequence[float],
        kind: str = HONEST,
        *,
        unit_db: float = 3.0,
        sensitivity: float = 1.4,
        tie_width: float = 0.3,
        lapse_rate: float = 0.1,
        seed: int = 1,
    ) -> None:
        if kind not in PEOPLE:
            raise ValueError(f"the kind of person is {kind!r}; allowed are {', '.join(PEOPLE)}")
        self.wish_db = list(wish_db)
        self._kind, self._unit_db = kind, unit_db
        self._sensitivity, self._tie_width = sensitivity, tie_width
        self._lapse_rate = lapse_rate
        self._chance = random.Random(f"{seed} answers")
        self._count = 0

    def answer(self, first_db: Sequence[float], second_db: Sequence[float]) -> str:
        """Return "first", "second" or "same"."""
        self._count += 1
        if self._kind == CHANGING and self._count == CHANGES_AFTER + 1:
            self.wish_db = [-each for each in self.wish_db]
        if self._kind == FIRST:
            return "first"
        if self._kind == RANDOM or self._chance.random() < self._lapse_rate:
            return self._chance.choice(ANSWERS)
        better = self.utility(first_db) - self.utility(second_db)
        noted = self._sensitivity * better + self._chance.gauss(0.0, 1.0)
        if abs(noted) < self._tie_width:
            return "same"
        return "first" if noted > 0.0 else "second"

    def utility(self, setting_db: Sequence[float]) -> float:
        """Return how good a setting is; 0: as good as any can be."""
        return -0.5 * math.dist(setting_db, self.wish_db) ** 2 / self._unit_db**2
