"""A population as expectation maximisation needs it: numbers, gaps, limits, weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.terms.results import PTA4_FREQUENCIES_HZ
from host_tools.research.methods.population import (
    STRATUM_EDGES_DB_HL,
    Bools,
    Integers,
    Population,
    PopulationError,
    balance,
)

# Steps of the readings: thresholds in steps of 5 dB, their means of two in steps of 2.5.
STEP_DB: Final = 5.0
FINE_STEP_DB: Final = 1.0
AGE_STEP_YEARS: Final = 1.0


@dataclass(frozen=True, eq=False)
class Sample:
    """Ears as rows of numbers: thresholds in dB HL at m frequencies and, last, age in years."""

    frequencies_hz: Array  # (m,)
    # (n, m + 1) what was read, or the limit above which the threshold lies; without meaning where
    # it is neither observed nor censored.
    values: Array
    observed: Bools
    censored: Bools
    noise: Array  # (m + 1,) variance of rounding, dB² or years²
    female: Array  # (n,) 1, 0, or NaN: not known
    weight: Array  # (n,) together 1
    person: Integers  # (n,)

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def effective_people(self) -> float:
        """Return how many people of equal weight say as much as these of unequal ones (Kish)."""
        per_person = np.bincount(self.person, self.weight)
        return float(1.0 / np.sum(per_person**2))

    def select(self, ears: Integers) -> "Sample":
        """Return these ears, weighed among themselves as before, together 1."""
        _, person = np.unique(self.person[ears], return_inverse=True)
        weight = self.weight[ears]
        return replace(
            self,
            values=self.values[ears],
            observed=self.observed[ears],
            censored=self.censored[ears],
            female=self.female[ears],
            weight=weight / weight.sum(),
            person=person.astype(np.int64),
        )

    def without_age(self) -> "Sample":
        """Return the ears with nothing known but their thresholds."""
        hidden = self.observed.copy()
        hidden[:, -1] = False
        return replace(self, observed=hidden, female=np.full(len(self), np.nan))

    def only_age(self) -> "Sample":
        """Return the ears with nothing known but age and sex."""
        hidden = np.zeros_like(self.observed)
        hidden[:, -1] = self.observed[:, -1]
        return replace(self, observed=hidden, censored=np.zeros_like(self.censored))


def sample_of(ears: Population) -> Sample:
    """Return what can be learned from: the ears whose degree of loss is known.

    An ear's degree is the mean of those of 0.5, 1, 2 and 4 kHz at which it was measured, so that an
    ear with a gap there counts too; a `PopulationError`: there is none. Every degree with ears in
    it has the same share of the weight: severe losses are no rare events. The noise of a frequency
    follows from the steps of its readings: 25/12 dB² with steps of 5 dB (Sheppard), half of it
    where means of two readings are among them, 1/12 dB² with steps of 1 dB, else nothing.
    """
    stratum = degree(ears)
    known = np.flatnonzero(stratum >= 0)
    if not len(known):
        raise PopulationError(
            "no ear was measured at 500, 1000, 2000 or 4000 Hz, by which the degree of its loss is "
            "told"
        )
    ears, stratum = ears.select(known), stratum[known]
    measured, age = ears.measured, ears.age_years
    heard = measured & ~ears.censored
    noise = [
        rounding_variance(column[there])
        for column, there in zip(ears.thresholds_db_hl.T, heard.T, strict=True)
    ]
    _, person = np.unique(np.array(ears.person), return_inverse=True)
    return Sample(
        frequencies_hz=ears.frequencies_hz,
        values=np.nan_to_num(np.column_stack([ears.thresholds_db_hl, age])),
        observed=np.column_stack([heard, ~np.isnan(age)]),
        censored=np.column_stack([ears.censored, np.zeros(len(ears), dtype=np.bool_)]),
        noise=np.array([*noise, AGE_STEP_YEARS**2 / 12.0]),
        female=np.array([{"F": 1.0, "M": 0.0, "": np.nan}[sex] for sex in ears.sex]),
        weight=balance(stratum),
        person=person.astype(np.int64),
    )


def degree(ears: Population) -> Integers:
    """Return (n,) the index in `STRATA` by what is known of the PTA4; -1: nothing is."""
    columns = np.flatnonzero(np.isin(ears.frequencies_hz, PTA4_FREQUENCIES_HZ))
    there = ears.measured[:, columns]
    levels_db_hl = np.where(there, ears.thresholds_db_hl[:, columns], 0.0)
    average = levels_db_hl.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    index = np.searchsorted(STRATUM_EDGES_DB_HL, average, side="right")
    return np.where(there.any(axis=1), index, -1).astype(np.int64)


def rounding_variance(levels_db_hl: Array) -> float:
    """Return the variance of rounding of readings with these steps, dB²."""
    sheppard = STEP_DB**2 / 12.0
    if not np.any(levels_db_hl % STEP_DB):
        return sheppard
    if not np.any(levels_db_hl % (STEP_DB / 2.0)):
        return sheppard / 2.0
    return 0.0 if np.any(levels_db_hl % FINE_STEP_DB) else FINE_STEP_DB**2 / 12.0


def patterns(rows: Sequence[Any] | Bools) -> list[Integers]:
    """Return the indices of equal rows, a group an array, in the order of the rows' bits."""
    _, group = np.unique(np.asarray(rows), axis=0, return_inverse=True)
    group = group.reshape(-1)
    return [np.flatnonzero(group == g).astype(np.int64) for g in range(group.max() + 1)]
