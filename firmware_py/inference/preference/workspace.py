"""The memory of the preference inference."""

import numpy as np

from firmware_py.inference.model import Memory
from firmware_py.inference.preference.arrays import (
    PEOPLE_ENTRIES,
    Comparisons,
    People,
    Scratch,
    Space,
    Wishes,
)
from firmware_py.inference.preference.points import POINTS
from firmware_py.inference.preference.selection import CHOICE_ENTRIES


class Workspace(Memory):
    """All arrays of the inference, allocated once.

    Parameters
    ----------
    comparisons, numbers, kinds : int
        Answers there is room for, numbers of a setting, kinds of people.
    """

    def __init__(self, comparisons: int, numbers: int, kinds: int) -> None:
        d, square = (numbers,), (numbers, numbers)
        self.asked, self.asked_later = (
            Comparisons(
                np.zeros((comparisons, numbers)), np.zeros(comparisons),
                np.zeros(comparisons, np.int64),
            )
            for _ in range(2)
        )  # fmt: skip
        self.people = People(np.zeros((kinds, PEOPLE_ENTRIES)), np.zeros(kinds))
        self.wishes, self.later = (
            Wishes(
                np.zeros((kinds, numbers)), np.zeros((kinds, *square)),
                *np.zeros((2, kinds, comparisons)), *np.zeros((2, kinds)),
            )
            for _ in range(2)
        )  # fmt: skip
        self.log_evidence = np.zeros(comparisons + 1)  # of the first answers, from one wish
        self.space = Space(np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(1))
        self.scratch = Scratch(*np.zeros((3, *square)), *np.zeros((5, numbers)))
        self.slope, self.first, self.second = np.zeros((3, *d))
        self.choice = np.zeros(CHOICE_ENTRIES)
        self.centre, self.mean = np.zeros((2, *d))
        self.factor, self.covariance = np.zeros((2, *square))
        self.kinds = np.zeros(kinds)
        self.wish, self.weight = np.zeros((POINTS, numbers)), np.zeros(POINTS)
        self.claim()
