"""The simulated people of the study: what each wants, and how finely each hears it."""

import random
from dataclasses import dataclass
from typing import Final

from device.simulator.preferences import HONEST, SimulatedWearer, drawn_wish_db

NUMBERS: Final = 4  # of a setting
WISH_SD_DB: Final = 5.0
LIMIT_DB: Final = 12.0  # each number of a setting goes so far, up and down

# A just-noticeable change of gain differs between people: its quartiles are 1.5 and 2.7 dB for all
# frequencies, 2.9 and 4.7 for the middle ones (Caswell-Midwinter & Whitmer 2019, Trends in Hearing
# 23): as of log-normal distributions with a log SD of about 0.4. The median person here tells what
# he wants from what is 3.6 dB off, in one number of a setting, with d' = 1.
SENSITIVITY: Final = 1.4  # median
SENSITIVITY_LOG_SD: Final = 0.45
TIE_WIDTHS: Final = (0.1, 0.6)
LAPSE_RATE: Final = 0.1

SettingDb = tuple[float, ...]


@dataclass(frozen=True)
class Person:
    """One simulated person; all else as of `SimulatedWearer`."""

    wish_db: SettingDb  # the best setting for this person
    sensitivity: float
    tie_width: float
    lapse_rate: float
    seed: int  # of the answers
    kind: str = HONEST  # one of `PEOPLE`

    def wearer(self) -> SimulatedWearer:
        """Return this person before the first comparison."""
        return SimulatedWearer(
            self.wish_db, self.kind, sensitivity=self.sensitivity, tie_width=self.tie_width,
            lapse_rate=self.lapse_rate, seed=self.seed,
        )  # fmt: skip


def drawn_person(seed: int, kind: str = HONEST, sensitivity: float = SENSITIVITY) -> Person:
    """Return the person of a seed; people of all kinds with one seed want the same.

    `sensitivity` is the median of what people have.
    """
    chance = random.Random(f"{seed} person")
    return Person(
        tuple(drawn_wish_db([WISH_SD_DB] * NUMBERS, seed)),
        sensitivity * chance.lognormvariate(0.0, SENSITIVITY_LOG_SD),
        chance.uniform(*TIE_WIDTHS),
        LAPSE_RATE,
        seed,
        kind,
    )
