"""A simulated person who compares two settings of a hearing aid.

The person wants one setting, hears how far each of two is from it, and answers with noise; or does
otherwise, as people do. This is written apart from the firmware's model of people
(`firmware_py/inference/preference`): it is what that model is tested against.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ANSWERS: Final = ("first", "second", "same")
FARTHEST_DB: Final = 12.0  # that anything is wished for: as far as an aid goes
NEVER: Final = 1_000_000  # comparisons
DRIFTS_FOR: Final = 25  # comparisons
PEAK_LOWER: Final = 0.5  # a second optimum than the first, in units of utility
TOO_LOUD: Final = 3.0  # so many times as fast as better below a level, it gets worse above


@dataclass(frozen=True)
class Kind:
    """In what somebody differs from who answers by one wish."""

    words: str
    first_rate: float = 0.0  # share of the comparisons in which "first" is said, whatever is heard
    lapse_rate: float | None = None  # in place of what is usual
    chance_after: int = NEVER  # comparisons: then the answers are by chance
    turns_after: int = NEVER  # comparisons: then the opposite is wanted
    drifts_db: float = 0.0  # the wish moves by so much in `DRIFTS_FOR`
    beyond_db: float = 0.0  # the number that is wished the farthest off is so far off
    second_peak_db: float = 0.0  # from the wish to a second, lower optimum
    loudest_db: float = 0.0  # more overall gain is better up to here
    one_at_a_time: bool = False  # judges the number in which two settings differ the most in value


HONEST, FIRST, RANDOM, CHANGING = "honest", "first", "random", "changing"
ONE_AT_A_TIME, TWO_PEAKS, OFTEN_FIRST, LAPSING = (
    "one-at-a-time", "two-peaks", "often-first", "lapsing",
)  # fmt: skip
BEYOND, DRIFTING, TIRED, LOUDER = "beyond", "drifting", "tired", "louder"
PEOPLE: Final = {
    HONEST: Kind("answers by one wish, with noise and lapses"),
    ONE_AT_A_TIME: Kind("judges the one number that matters most", one_at_a_time=True),
    TWO_PEAKS: Kind("has a second, lower optimum 8 dB away", second_peak_db=8.0),
    OFTEN_FIRST: Kind("says the first in 40 % of comparisons", first_rate=0.4),
    LAPSING: Kind("answers 20 % at random", lapse_rate=0.2),
    BEYOND: Kind("wants 15 dB of one number, beyond its range", beyond_db=15.0),
    DRIFTING: Kind("wants something else by and by, 6 dB in 25 comparisons", drifts_db=6.0),
    TIRED: Kind("answers by chance from the eleventh comparison on", chance_after=10),
    LOUDER: Kind("wants it louder and louder up to discomfort", loudest_db=9.0),
    FIRST: Kind("always says the first", first_rate=1.0),
    RANDOM: Kind("answers by chance", chance_after=0),
    CHANGING: Kind("wants something else from the eleventh comparison on", turns_after=10),
}


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
        The best setting there is for this person; some kinds move it.
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
        self._kind, self._unit_db = PEOPLE[kind], unit_db
        self._sensitivity, self._tie_width = sensitivity, tie_width
        own = self._kind.lapse_rate
        self._lapse_rate = lapse_rate if own is None else own
        self._chance = random.Random(f"{seed} answers")
        self._count = 0
        if self._kind.beyond_db:
            far = max(range(len(self.wish_db)), key=lambda i: abs(self.wish_db[i]))
            self.wish_db[far] = math.copysign(self._kind.beyond_db, self.wish_db[far])
        if self._kind.loudest_db:
            self.wish_db[0] = self._kind.loudest_db
        way = random.Random(f"{seed} way")
        drawn = [way.gauss(0.0, 1.0) for _ in self.wish_db]
        self.way = [each / math.hypot(*drawn) for each in drawn]

    def answer(self, first_db: Sequence[float], second_db: Sequence[float]) -> str:
        """Return "first", "second" or "same"."""
        self._count += 1
        self._move()
        if self._chance.random() < self._kind.first_rate:
            return "first"
        if self._count > self._kind.chance_after or self._chance.random() < self._lapse_rate:
            return self._chance.choice(ANSWERS)
        noted = self._sensitivity * self._better(first_db, second_db)
        noted += self._chance.gauss(0.0, 1.0)
        if abs(noted) < self._tie_width:
            return "same"
        return "first" if noted > 0.0 else "second"

    def _move(self) -> None:
        if self._count == self._kind.turns_after + 1:
            self.wish_db = [-each for each in self.wish_db]
        step_db = self._kind.drifts_db / DRIFTS_FOR
        self.wish_db = self._away_db(step_db) if self._count <= DRIFTS_FOR else self.wish_db

    def _away_db(self, distance_db: float) -> list[float]:
        """Return what lies so far from the wish, on this person's own way."""
        return [each + distance_db * w for each, w in zip(self.wish_db, self.way, strict=True)]

    def _better(self, first_db: Sequence[float], second_db: Sequence[float]) -> float:
        """Return by how much the first is better than the second."""
        if not self._kind.one_at_a_time:
            return self.utility(first_db) - self.utility(second_db)
        differences = (
            self._loss(i, second_db[i]) - self._loss(i, first_db[i]) for i in range(len(first_db))
        )
        return max(differences, key=abs)

    def _loss(self, i: int, value_db: float) -> float:
        """Return how much is lost by one number."""
        off = (value_db - self.wish_db[i]) / self._unit_db
        if i == 0 and self._kind.loudest_db:
            return -off if off < 0.0 else TOO_LOUD * off
        return 0.5 * off**2

    def utility(self, setting_db: Sequence[float]) -> float:
        """Return how good a setting is; 0: as good as any can be."""
        best = -sum(self._loss(i, value_db) for i, value_db in enumerate(setting_db))
        if not self._kind.second_peak_db:
            return best
        peak_db = self._away_db(self._kind.second_peak_db)
        off = math.dist(setting_db, peak_db) / self._unit_db
        return max(best, -PEAK_LOWER - 0.5 * off**2)
