"""The memory of the preference inference."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.inference.model import Memory
from firmware_py.inference.preference.arrays import (
    PEOPLE_ENTRIES,
    Comparisons,
    People,
    Sample,
    Scratch,
    Space,
    Wishes,
)
from firmware_py.inference.preference.points import POINTS


@dataclass
class Workspace(Memory):
    """All arrays of the inference, allocated once."""

    asked: Comparisons
    asked_later: Comparisons  # scratch
    people: People
    wishes: Wishes
    later: Wishes  # scratch
    log_evidence: Array  # of the first answers, from one wish
    space: Space
    scratch: Scratch
    slope: Array  # scratch
    first: Array  # of the pair that was chosen
    second: Array
    centre: Array  # of the wish by expectation propagation
    factor: Array
    kinds: Array  # scratch
    sample: Sample

    @classmethod
    def with_room_for(cls, comparisons: int, numbers: int, kinds: int) -> Self:
        """Return a workspace for so many answers, numbers of a setting, kinds of people."""
        d, square = (numbers,), (numbers, numbers)

        def of_comparisons() -> Comparisons:
            return Comparisons(
                np.zeros((comparisons, numbers)), np.zeros(comparisons),
                *np.zeros((2, comparisons), np.int64),
            )  # fmt: skip

        def of_wishes() -> Wishes:
            return Wishes(
                np.zeros((kinds, numbers)), np.zeros((kinds, *square)),
                *np.zeros((2, kinds, comparisons)), *np.zeros((2, kinds)),
            )  # fmt: skip

        made = cls(
            asked=of_comparisons(),
            asked_later=of_comparisons(),
            people=People(np.zeros((kinds, PEOPLE_ENTRIES)), np.zeros(kinds)),
            wishes=of_wishes(),
            later=of_wishes(),
            log_evidence=np.zeros(comparisons + 1),
            space=Space(np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(1)),
            scratch=Scratch(*np.zeros((3, *square)), *np.zeros((3, numbers))),
            slope=np.zeros(d),
            first=np.zeros(d),
            second=np.zeros(d),
            centre=np.zeros(d),
            factor=np.zeros(square),
            kinds=np.zeros(kinds),
            sample=Sample(
                np.zeros((POINTS, numbers)), np.zeros(POINTS), np.zeros(d), np.zeros(square)
            ),
        )
        made.claim()
        return made
