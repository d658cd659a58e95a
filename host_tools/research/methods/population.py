"""A population of measured ears: read from a table, split by person, sorted by severity.

What a table may be, `device.audiogram_tables.table` says.

What is random is made of raw Philox words or of digests, which are the same everywhere for ever.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from device.audiogram_tables.table import Table
from firmware_py.terms.results import PTA4_FREQUENCIES_HZ
from firmware_py.terms.route import AIR
from host_tools.errors import HostError
from host_tools.research.methods.interface import Array

Bools = np.ndarray[Any, np.dtype[np.bool_]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Sex = Literal["F", "M", ""]

# Of the PTA4: each wide enough to hold people.
STRATUM_EDGES_DB_HL: Final = (20.0, 40.0, 60.0)
STRATA: Final = ("below 20 dB HL", "20-40 dB HL", "40-60 dB HL", "60 dB HL and above")
NO_STRATUM: Final = -1  # the PTA4 is not known

# Where the NHANES audiometer ended: no threshold in its tables is higher.
AUDIOMETER_LIMIT_DB_HL: Final = 120.0
AUDIOMETER_LIMIT_8_KHZ_DB_HL: Final = 110.0

_SEXES: Final[Mapping[str, Sex]] = {"": "", "F": "F", "M": "M"}


class PopulationError(HostError):
    """A table that holds no population, or one that cannot give what is asked of it."""


@dataclass(frozen=True, eq=False)
class Population:
    """Ears, one a row."""

    frequencies_hz: Array  # (m,) rising
    # (n, m) NaN where not measured, the audiometer's limit where nothing was heard.
    thresholds_db_hl: Array
    censored: Bools  # (n, m) nothing was heard at the limit: the threshold lies above it
    person: tuple[str, ...]  # source and subject; the two ears of one person have the same
    ear: tuple[str, ...]  # as in the table
    age_years: Array  # (n,) NaN where not known
    sex: tuple[Sex, ...]

    def __len__(self) -> int:
        return len(self.person)

    @property
    def measured(self) -> Bools:
        """Return (n, m), where a threshold or its limit is known."""
        known: Bools = ~np.isnan(self.thresholds_db_hl)
        return known

    @property
    def pta4_db_hl(self) -> Array:
        """Return (n,) the mean at 0.5, 1, 2 and 4 kHz, a limit counted as it is; NaN: not known.

        A `PopulationError`: one of the four frequencies is not in the table.
        """
        missing = [f for f in PTA4_FREQUENCIES_HZ if f not in self.frequencies_hz]
        if missing:
            raise PopulationError(
                f"the table has no thresholds at {_list_numbers(missing)} Hz; the PTA4, by which "
                f"ears are sorted, needs {_list_numbers(PTA4_FREQUENCIES_HZ)} Hz"
            )
        columns = np.searchsorted(self.frequencies_hz, PTA4_FREQUENCIES_HZ)
        average: Array = self.thresholds_db_hl[:, columns].mean(axis=1)
        return average

    @property
    def stratum(self) -> Integers:
        """Return (n,) the index in `STRATA`, or `NO_STRATUM`."""
        pta4_db_hl = self.pta4_db_hl
        index = np.searchsorted(STRATUM_EDGES_DB_HL, pta4_db_hl, side="right")
        return np.where(np.isnan(pta4_db_hl), NO_STRATUM, index).astype(np.int64)

    def select(self, ears: Iterable[int] | Integers | Bools) -> "Population":
        """Return the population of these ears: indices, in any order and as often, or a mask."""
        index = np.asarray(ears if isinstance(ears, np.ndarray) else list(ears))
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)
        index = index.astype(np.int64)
        return replace(
            self,
            thresholds_db_hl=self.thresholds_db_hl[index],
            censored=self.censored[index],
            person=tuple(self.person[i] for i in index),
            ear=tuple(self.ear[i] for i in index),
            age_years=self.age_years[index],
            sex=tuple(self.sex[i] for i in index),
        )

    def complete(self, *, censored: bool = True) -> "Population":
        """Return the ears measured at every frequency; a limit will do, unless told otherwise."""
        kept = self.measured if censored else self.measured & ~self.censored
        return self.select(np.flatnonzero(kept.all(axis=1)))

    def split(self, fraction: float, seed: int = 1) -> tuple["Population", "Population"]:
        """Split by person: about `fraction` of the people with all their ears, and the others.

        On which side a person is depends on the person and the seed only, not on who else is in the
        table: no filter of the table moves anyone from one side to the other.
        """
        if not 0.0 <= fraction <= 1.0:
            raise ValueError(f"fraction is {fraction!r}; allowed is 0 to 1")
        place = {person: _place_of(person, seed) for person in self.person}
        first = np.array([place[person] < fraction for person in self.person], dtype=np.bool_)
        return self.select(first), self.select(~first)


def population_of(table: Table, route: str = AIR) -> Population:
    """Return the ears of a table by a route.

    The audiometer is taken to have ended at 120 dB HL below 8 kHz and at 110 from there on, as with
    NHANES, or at the highest threshold in the table, if that is higher; but where the table says
    the limit of a no response, at that. Where nobody is named every row is a person of its own. An
    error says where a row or a value is not what it has to be.
    """
    ears = list(table.all_ears())
    if not ears:
        raise PopulationError(f"{table.path}: the table has no rows, wanted is at least one")
    frequencies_hz = table.frequencies_hz(route)
    if not frequencies_hz:
        raise PopulationError(f"{table.path}: the table has no thresholds by {route}")
    readings = [
        [(ear.by_air if route == AIR else ear.by_bone).get(f) for f in frequencies_hz]
        for ear in ears
    ]
    levels_db_hl = np.array(
        [[_number(r.level_db_hl if r else None) for r in of] for of in readings]
    )
    told = np.array([[_number(r.limit_db_hl if r else None) for r in of] for of in readings])
    censored = np.isposinf(levels_db_hl)
    limits = _limits(frequencies_hz, np.where(censored, np.nan, levels_db_hl))
    limits = np.where(np.isnan(told), limits, told)
    return Population(
        frequencies_hz=np.array(frequencies_hz),
        thresholds_db_hl=np.where(censored, limits, levels_db_hl),
        censored=censored,
        person=tuple(f"{ear.source}/{ear.person or f'row {ear.row}'}" for ear in ears),
        ear=tuple(ear.ear for ear in ears),
        age_years=np.array([ear.age_years for ear in ears]),
        sex=tuple(_SEXES[ear.sex] for ear in ears),
    )


def _number(level_db_hl: float | None) -> float:
    return math.nan if level_db_hl is None else level_db_hl


def _limits(frequencies_hz: list[float], heard_db_hl: Array) -> Array:
    limits = []
    for frequency_hz, column in zip(frequencies_hz, heard_db_hl.T, strict=True):
        usual = AUDIOMETER_LIMIT_DB_HL if frequency_hz < 8000.0 else AUDIOMETER_LIMIT_8_KHZ_DB_HL
        limits.append(float(np.max(column, initial=usual, where=~np.isnan(column))))
    return np.array(limits)


def balance(stratum: np.ndarray[Any, Any]) -> Array:
    """Return (n,) weights, together 1, that give every stratum in (n,) the same share."""
    _, index, count = np.unique(stratum, return_inverse=True, return_counts=True)
    weight: Array = 1.0 / (len(count) * count[index])
    return weight


def uniform(seed: int, stream: int, count: int, part: int = 0) -> Array:
    """Return numbers in [0, 1), multiples of 2**-53, from the raw words of a stream of a seed."""
    key = np.array([seed, stream], dtype=np.uint64)
    counter = np.array([0, part, 0, 0], dtype=np.uint64)
    words = np.random.Philox(key=key, counter=counter).random_raw(count)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _place_of(person: str, seed: int) -> float:
    # A number in [0, 1) that belongs to this person under this seed.
    digest = hashlib.blake2b(f"{seed} {person}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) * 2.0**-53


def _list_numbers(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)
