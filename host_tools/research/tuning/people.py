"""The simulated people of the study: who wants what, and how well they tell."""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from device.simulator.preferences import HONEST, SimulatedWearer, drawn_wish_db
from firmware_py.inference.preference.arrays import UNIT_DB
from firmware_py.procedure.tuning.space import DIMENSIONS

SENSITIVITY: Final = 1.4  # the median: SDs of a comparison's noise a unit of utility
SENSITIVITY_FACTOR: Final = 1.5  # and by how much people differ in it: one SD of its log
TIE_WIDTH: Final = 0.3
LAPSE_RATE: Final = 0.1
WISH_SD_DB: Final = tuple(dimension.wish_sd_db for dimension in DIMENSIONS)
LIMIT_DB: Final = tuple(dimension.limit_db for dimension in DIMENSIONS)


@dataclass(frozen=True)
class Somebody:
    """A simulated person, as numbers that a peer in another environment takes too."""

    wish_db: Sequence[float]
    kind: str
    sensitivity: float
    seed: int

    def wearer(self) -> SimulatedWearer:
        """Return the person, who has not answered yet."""
        return SimulatedWearer(
            self.wish_db, self.kind, unit_db=UNIT_DB, sensitivity=self.sensitivity,
            tie_width=TIE_WIDTH, lapse_rate=LAPSE_RATE, seed=self.seed,
        )  # fmt: skip

    def regret(self, setting_db: Sequence[float]) -> float:
        """Return what a setting is worse than the wish, in units of the firmware."""
        return -self.wearer().utility(setting_db)

    def as_json(self) -> dict[str, Any]:
        """Return the person as JSON values."""
        return {**asdict(self), "tie_width": TIE_WIDTH, "lapse_rate": LAPSE_RATE}


def drawn_people(count: int, seed: int, kind: str = HONEST) -> list[Somebody]:
    """Draw people."""
    return [_drawn(1000 * seed + number, kind) for number in range(count)]


def _drawn(seed: int, kind: str) -> Somebody:
    chance = random.Random(f"{seed} people")
    sensitivity = SENSITIVITY * SENSITIVITY_FACTOR ** chance.gauss(0.0, 1.0)
    return Somebody(drawn_wish_db(WISH_SD_DB, seed), kind, sensitivity, seed)
