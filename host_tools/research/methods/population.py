"""A population of measured ears: read from a table, split by person, sorted by severity.

The table is a CSV file with a header and one ear a row, in the columns of the NHANES file:
thresholds in ``t500``, ``t1000`` ... (any ``tNNN``, dB HL; blank: not measured), ``no_response``
(frequencies, separated by ``;``, not heard at the audiometer's limit), ``source`` and ``subject``
(who it was), ``ear``, ``age``, ``sex``. Only a threshold column is a must; columns of other names
are passed over.

What is random is made of raw Philox words or of digests, which are the same everywhere for ever.
"""

import csv
import hashlib
import io
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from device.simulator.audiograms import THRESHOLD_DB_HL_MAX, THRESHOLD_DB_HL_MIN
from firmware_py.platform.named_file import TEXT, content_or_stream
from firmware_py.procedure.results import PTA4_FREQUENCIES_HZ
from host_tools.errors import HostError
from host_tools.research.methods.interface import Array

Bools = np.ndarray[Any, np.dtype[np.bool_]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Sex = Literal["F", "M", ""]

# Of the PTA4: each wide enough to hold people.
STRATUM_EDGES_DB_HL: Final = (20.0, 40.0, 60.0)
TABLE_BYTES_MAX: Final = 1 << 28
STRATA: Final = ("below 20 dB HL", "20-40 dB HL", "40-60 dB HL", "60 dB HL and above")
NO_STRATUM: Final = -1  # the PTA4 is not known

# Where the NHANES audiometer ended: no threshold in its tables is higher.
AUDIOMETER_LIMIT_DB_HL: Final = 120.0
AUDIOMETER_LIMIT_8_KHZ_DB_HL: Final = 110.0

AGE_MAX_YEARS: Final = 130.0

_THRESHOLD_COLUMN: Final = re.compile(r"t([1-9][0-9]{0,5})(_retest)?", re.ASCII)
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
        """Return the number of ears."""
        return len(self.person)

    @property
    def measured(self) -> Bools:
        """Return (n, m), where a threshold or its limit is known."""
        known: Bools = ~np.isnan(self.thresholds_db_hl)
        return known

    @property
    def pta4_db_hl(self) -> Array:
        """Return (n,) the mean at 0.5, 1, 2 and 4 kHz, a limit counted as it is; NaN: not known.

        Raises
        ------
        PopulationError
            One of the four frequencies is not in the table.
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
        """Return the ears measured at every frequency.

        Parameters
        ----------
        censored : bool
            Keep those that heard nothing at the limit of some frequency.
        """
        kept = self.measured if censored else self.measured & ~self.censored
        return self.select(np.flatnonzero(kept.all(axis=1)))

    def split(self, fraction: float, seed: int = 1) -> tuple["Population", "Population"]:
        """Split by person: about `fraction` of the people with all their ears, and the others.

        On which side a person is depends on the person and the seed only, not on who else is in the
        table: no filter of the table moves anyone from one side to the other.

        Raises
        ------
        ValueError
            `fraction` is not within 0 to 1.
        """
        if not 0.0 <= fraction <= 1.0:
            raise ValueError(f"fraction is {fraction!r}; allowed is 0 to 1")
        place = {person: _place_of(person, seed) for person in self.person}
        first = np.array([place[person] < fraction for person in self.person], dtype=np.bool_)
        return self.select(first), self.select(~first)


def read_population(path: str | Path, content: bytes | None = None) -> Population:
    """Read a table of ears.

    A second reading of a frequency (``t1000_retest``) is averaged with the first, as both are
    readings of one threshold; where one of them was heard and the other not, the one heard counts.
    The audiometer is taken to have ended at 120 dB HL below 8 kHz and at 110 from there on, as with
    NHANES, or at the highest threshold in the table, if that is higher.

    Parameters
    ----------
    path : str or Path
        A CSV file in UTF-8. Without a column ``subject`` every row is a person of its own.
    content : bytes, optional
        Of the file, where it was read already: a pipe can be read once.

    Raises
    ------
    PopulationError
        The file, a column, a row or a value is not what it has to be; the message says where.
    """
    table = _Table(Path(path), content)
    ears = [table.readings(row, cells) for row, cells in table.rows()]
    if not ears:
        raise PopulationError(f"{path}: the table has no rows, wanted is at least one")
    frequencies_hz = sorted({frequency_hz for frequency_hz, _ in table.threshold_columns.values()})
    thresholds_db_hl = np.array(
        [[_reading(ear, frequency_hz) for frequency_hz in frequencies_hz] for ear in ears]
    )
    censored = np.isposinf(thresholds_db_hl)
    limits = _limits(frequencies_hz, np.where(censored, np.nan, thresholds_db_hl))
    return Population(
        frequencies_hz=np.array(frequencies_hz),
        thresholds_db_hl=np.where(censored, limits, thresholds_db_hl),
        censored=censored,
        person=tuple(table.person),
        ear=tuple(table.ear),
        age_years=np.array(table.age_years),
        sex=tuple(table.sex),
    )


class _Table:
    # The file being read: its header, and what the rows read so far say about people.

    def __init__(self, path: Path, content: bytes | None) -> None:
        self.path = path
        self.person: list[str] = []
        self.ear: list[str] = []
        self.age_years: list[float] = []
        self.sex: list[Sex] = []
        lines = _lines(path, content)
        self.header = [column.strip() for column in lines[0]] if lines else []
        self._lines = [cells for cells in lines[1:] if cells]  # an empty line is no row
        # Column name: frequency, and whether it is a second reading.
        self.threshold_columns: dict[str, tuple[float, bool]] = {}
        for column in self.header:
            if match := _THRESHOLD_COLUMN.fullmatch(column):
                self.threshold_columns[column] = (float(match[1]), bool(match[2]))
        self._check_header()
        self._at = {column: self.header.index(column) for column in self.header}

    def _check_header(self) -> None:
        if not self.threshold_columns:
            raise PopulationError(
                f"{self.path}: is not a table of audiograms, its first line has no column tNNN "
                "(t500, t1000 ...)"
            )
        twice = sorted({column for column in self.header if self.header.count(column) > 1})
        if twice:
            raise PopulationError(
                f"{self.path}: column {', '.join(twice)} comes twice, allowed is once"
            )

    def rows(self) -> Iterable[tuple[int, list[str]]]:
        # Row 1 is the first one after the header.
        for row, cells in enumerate(self._lines, start=1):
            if len(cells) != len(self.header):
                raise PopulationError(
                    f"{self.path}, row {row}: {len(cells)} cells, the header has "
                    f"{len(self.header)} columns"
                )
            yield row, cells

    def readings(self, row: int, cells: list[str]) -> dict[tuple[float, bool], float]:
        # The thresholds of one ear, infinity where nothing was heard, and who it is on the way.
        found = {}
        for column, key in self.threshold_columns.items():
            cell = cells[self._at[column]].strip()
            if cell:
                allowed = (THRESHOLD_DB_HL_MIN, THRESHOLD_DB_HL_MAX)
                found[key] = self._number(row, column, cell, "dB HL", allowed)
        for column in self._not_heard(row, cells):
            key = self.threshold_columns[column]
            if key in found:
                raise PopulationError(
                    f"{self.path}, row {row}, column {column}: {found[key]:g} dB HL, and listed in "
                    "column no_response; allowed is one of the two"
                )
            found[key] = math.inf
        self._note_person(row, cells)
        return found

    def _not_heard(self, row: int, cells: list[str]) -> Iterable[str]:
        for entry in self._cell(cells, "no_response").split(";"):
            column = "t" + entry.strip()
            if not entry.strip():
                continue
            if column not in self.threshold_columns:
                allowed = ", ".join(name[1:] for name in self.threshold_columns)
                raise PopulationError(
                    f"{self.path}, row {row}, column no_response: {entry.strip()!r} is no "
                    f"frequency of the table, allowed are {allowed}, separated by ;"
                )
            yield column

    def _note_person(self, row: int, cells: list[str]) -> None:
        subject = self._cell(cells, "subject")
        if "subject" not in self._at:
            subject = f"row {row}"
        elif not subject:
            raise PopulationError(
                f"{self.path}, row {row}, column subject: is empty, allowed is anything that "
                "tells one person from another"
            )
        age, sex = self._cell(cells, "age"), self._cell(cells, "sex").upper()
        if sex not in _SEXES:
            raise PopulationError(
                f"{self.path}, row {row}, column sex: {sex!r}, allowed are F, M and an empty cell"
            )
        self.person.append(f"{self._cell(cells, 'source')}/{subject}")
        self.ear.append(self._cell(cells, "ear"))
        self.sex.append(_SEXES[sex])
        self.age_years.append(
            self._number(row, "age", age, "years", (0.0, AGE_MAX_YEARS)) if age else math.nan
        )

    def _cell(self, cells: list[str], column: str) -> str:
        return cells[self._at[column]].strip() if column in self._at else ""

    def _number(
        self, row: int, column: str, cell: str, unit: str, allowed: tuple[float, float]
    ) -> float:
        where = f"{self.path}, row {row}, column {column}"
        try:
            number = float(cell)
        except ValueError:
            raise PopulationError(f"{where}: {cell!r} is not a number of {unit}") from None
        if not allowed[0] <= number <= allowed[1]:
            raise PopulationError(
                f"{where}: {cell} {unit}, allowed are {allowed[0]:g} to {allowed[1]:g}"
            )
        return number


def table_bytes(path: Path) -> bytes:
    """Return what is in the file of a table; `OSError` if it cannot be read."""
    return content_or_stream(path, TABLE_BYTES_MAX)


def _lines(path: Path, content: bytes | None) -> list[list[str]]:
    try:
        text = (table_bytes(path) if content is None else content).decode(TEXT)
        return list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except OSError as error:
        raise PopulationError(f"{path}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise PopulationError(f"{path}: is not a CSV file in UTF-8: {error}") from error


def _reading(ear: dict[tuple[float, bool], float], frequency_hz: float) -> float:
    # One threshold from up to two readings; NaN: none, infinity: not heard.
    readings = [ear[key] for key in ((frequency_hz, False), (frequency_hz, True)) if key in ear]
    heard = [level_db_hl for level_db_hl in readings if level_db_hl < math.inf]
    if not heard:
        return math.inf if readings else math.nan
    return sum(heard) / len(heard)


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
