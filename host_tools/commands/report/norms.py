"""What is usual at an age: ISO 7029:2017, thresholds of otologically normal people.

The median rises above that at 18 years by a (age - 18)^b dB; around it thresholds scatter as two
halves of normal distributions, with SDs that are polynomials of (age - 18): one for what is worse
than the median, one for what is better (tables 1 to 5). The median at 18 years is 0 dB HL, as the
reference zero of audiometers is made (ISO 389).

The coefficients, in iso7029.csv, were taken from two secondary sources that agree in every figure;
neither the standard itself nor its amendment of 2024 was at hand.

The polynomials bend down at their end: by them half of the men of 80 who hear worse than the median
at 8 kHz would do so by less than 1 dB, where at 61 it is 16 dB. No population narrows so. A spread
is therefore given up to the age at which it is widest (`spread_until_years`), and above 2 kHz up to
70 years, beyond which the standard is for information only. The median is a power of age, and holds
to the end.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from statistics import NormalDist
from typing import Final, NamedTuple

from firmware_py.procedure.person import FEMALE, Person, Sex
from host_tools.catalogue import Catalogue

STANDARD: Final = "ISO 7029:2017"
AGE_MIN_YEARS: Final = 18.0
AGE_MAX_YEARS: Final = 80.0
# Above this frequency the standard gives people above this age for information only.
INFORMATIVE_ABOVE_HZ: Final = 2000
INFORMATIVE_ABOVE_YEARS: Final = 70.0
_STANDARD_NORMAL: Final = NormalDist()


class _Row(NamedTuple):
    """Of one frequency: a and b of the median, and both polynomials, lowest power first, in dB."""

    median: tuple[float, float]
    worse: tuple[float, ...]
    better: tuple[float, ...]


def _table() -> Iterator[tuple[tuple[str, int], _Row]]:
    for sex, frequency_hz, *numbers in islice(csv.reader(_FILE.splitlines()), 1, None):
        a, b, *sds_db = map(float, numbers)
        half = len(sds_db) // 2
        yield (sex, int(frequency_hz)), _Row((a, b), tuple(sds_db[:half]), tuple(sds_db[half:]))


_FILE: Final = files(__package__).joinpath("iso7029.csv").read_text(encoding="utf-8")
_TABLE: Final = dict(_table())


@dataclass(frozen=True)
class AgeNorm:
    """What is usual for people of an age and sex; made by `norm_of`."""

    age_years: float
    sex: Sex

    def title(self, catalogue: Catalogue) -> str:
        """Say whom it is about."""
        key = "norm_women" if self.sex == FEMALE else "norm_men"
        source = STANDARD
        if self.age_years > INFORMATIVE_ABOVE_YEARS:
            above = str(INFORMATIVE_ABOVE_HZ)
            source = catalogue.say(
                "report", "norm_informative", standard=STANDARD, frequency_hz=above
            )
        age = catalogue.number(self.age_years, "g")
        return catalogue.say("report", key, age=age, source=source)

    @property
    def frequencies_hz(self) -> tuple[int, ...]:
        """Return where there is one."""
        return tuple(frequency_hz for sex, frequency_hz in _TABLE if sex == self.sex)

    @property
    def spread_frequencies_hz(self) -> tuple[int, ...]:
        """Return where more than the median is known: how people of this age spread around it."""
        return tuple(
            f for f in self.frequencies_hz if self.age_years <= spread_until_years(self.sex, f)
        )

    def threshold_db_hl(self, frequency_hz: int, share: float) -> float:
        """Return the threshold that this share of people do not exceed; 0.5: the median.

        Any other share bears only at `spread_frequencies_hz`.
        """
        z = _STANDARD_NORMAL.inv_cdf(share)
        return self._median_db_hl(frequency_hz) + z * self._sd_db(frequency_hz, z > 0.0)

    def share_better(self, frequency_hz: int, threshold_db_hl: float) -> float:
        """Return the share of people whose threshold is lower; only at `spread_frequencies_hz`."""
        above_db = threshold_db_hl - self._median_db_hl(frequency_hz)
        return _STANDARD_NORMAL.cdf(above_db / self._sd_db(frequency_hz, above_db > 0.0))

    def _median_db_hl(self, frequency_hz: int) -> float:
        a, b = _TABLE[self.sex, frequency_hz].median
        return float(a * self._years**b)

    def _sd_db(self, frequency_hz: int, worse: bool) -> float:
        row = _TABLE[self.sex, frequency_hz]
        return _polynomial(row.worse if worse else row.better, self._years)

    @property
    def _years(self) -> float:
        return self.age_years - AGE_MIN_YEARS


def _polynomial(coefficients: Iterable[float], x: float) -> float:
    return float(sum(c * x**power for power, c in enumerate(coefficients)))


@cache
def spread_until_years(sex: Sex, frequency_hz: int) -> float:
    """Return the age up to which the spread of a norm bears, in whole years."""
    above = frequency_hz > INFORMATIVE_ABOVE_HZ
    last = INFORMATIVE_ABOVE_YEARS if above else AGE_MAX_YEARS
    ages = [AGE_MIN_YEARS + year for year in range(int(last - AGE_MIN_YEARS) + 1)]
    worse = _TABLE[sex, frequency_hz].worse
    return max(ages, key=lambda age: _polynomial(worse, age - AGE_MIN_YEARS))


def norm_of(person: Person) -> AgeNorm | None:
    """Return what is usual for a person; None: see `why_no_norm`."""
    age_years, sex = person.age_years, person.sex
    if age_years is None or sex is None or not AGE_MIN_YEARS <= age_years <= AGE_MAX_YEARS:
        return None
    return AgeNorm(age_years, sex)


def why_no_norm(person: Person, catalogue: Catalogue) -> str:
    """Say why there is no norm for a person, "" if there is one."""
    if norm_of(person) is not None:
        return ""
    if person.age_years is None or person.sex is None:
        return catalogue.say("report", "norm_needs", standard=STANDARD)
    ages = {"from": f"{AGE_MIN_YEARS:g}", "to": f"{AGE_MAX_YEARS:g}"}
    age = catalogue.number(person.age_years, "g")
    return catalogue.say("report", "norm_age", age=age, standard=STANDARD, **ages)
