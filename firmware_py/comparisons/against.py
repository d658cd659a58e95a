"""Whether the settings that were found are better than the prescription, by its own comparisons.

A model of people finds a best setting in almost any answers. So before one is used it is heard
beside the prescription itself, until two answers at least tell a difference and more were won than
lost. The best setting may move from one of these to the next, for they are answers as all others:
it goes on from what it won and lost.
"""

from dataclasses import dataclass
from typing import Final

from firmware_py.comparisons.space import PRESCRIPTION
from firmware_py.inference.preference.answer import Answer
from firmware_py.inference.preference.estimator import Pair

COUNT_MIN: Final = 2  # comparisons that told a difference
RESERVED: Final = 4  # of all comparisons: the last ones, if nothing was decided before

PRESCRIPTION_DB: Final = PRESCRIPTION.values_db()


@dataclass
class AgainstPrescription:
    """The comparisons of a best setting with the prescription."""

    asked: int = 0
    won: int = 0
    lost: int = 0
    prescription_was_first: bool = False  # in the last of them

    @property
    def is_won(self) -> bool:
        return self.won + self.lost >= COUNT_MIN and self.won > self.lost

    def ask(self, best_db: tuple[float, ...], drawn: float) -> Pair:
        """Return the next pair; of each two the first has the order that was drawn."""
        begins_two = self.asked % 2 == 0
        first = drawn < 0.5 if begins_two else not self.prescription_was_first
        self.prescription_was_first = first
        return (PRESCRIPTION_DB, best_db) if first else (best_db, PRESCRIPTION_DB)

    def take(self, answer: Answer) -> None:
        self.asked += 1
        if answer != Answer.SAME:
            kept = (answer == Answer.FIRST) == self.prescription_was_first
            self.lost += kept
            self.won += not kept
