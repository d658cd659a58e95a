"""What is usual at an age: ISO 7029:2017, thresholds of otologically normal people.

The median rises above that at 18 years by a (age - 18)^b dB; around it thresholds scatter as two
halves of normal distributions, with SDs that are polynomials of (age - 18): one for what is worse
than the median, one for what is better (tables 1 to 5). The median at 18 years is 0 dB HL, as the
reference zero of audiometers is made (ISO 389).

The polynomials bend down at their end: by them half of the men of 80 who hear worse than the median
at 8 kHz would do so by less than 1 dB, where at 61 it is 16 dB. No population narrows so. A spread
is therefore given up to the age at which it is widest (`spread_until_years`), and above 2 kHz up to
70 years, beyond which the standard is for information only. The median is a power of age, and holds
to the end.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import erfc, sqrt
from typing import Any, Final

from firmware_py.findings.iso7029 import TABLE
from firmware_py.findings.whole_band import Whole
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.person import Person, Sex
from firmware_py.terms.results import SessionResult, ThresholdResult
from firmware_py.terms.shown_threshold import level_of
from firmware_py.terms.verdicts import may_conclude

STANDARD: Final = "ISO 7029:2017"
AGE_MIN_YEARS: Final = 18.0
AGE_MAX_YEARS: Final = 80.0
# Above this frequency the standard gives people above this age for information only.
INFORMATIVE_ABOVE_HZ: Final = 2000
INFORMATIVE_ABOVE_YEARS: Final = 70.0
# So many SDs from the median a tenth of people hear better, or nine tenths do.
TENTH_SDS: Final = 1.2815515655446004
SHOWN_SDS: Final = (-TENTH_SDS, 0.0, TENTH_SDS)


@dataclass(frozen=True)
class Usual:
    """What is usual at a frequency, beside a threshold."""

    # tenth, half and nine tenths of otologically normal people of this age and sex hear better; at
    # some ages only the half is known
    levels_db_hl: tuple[float | None, float, float | None]
    share_better: float | None  # of these people, those with a lower threshold; None: not known
    # the same at both ends of the 95 % band of the whole; None: it is not known, or there is none
    shares_at_ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class AgeNorm:
    """What is usual for people of an age and sex; made by `norm_of`."""

    age_years: float
    sex: Sex

    @property
    def informative_above_hz(self) -> int | None:
        """Return above which frequency the standard has it for information only, if anywhere."""
        return INFORMATIVE_ABOVE_HZ if self.age_years > INFORMATIVE_ABOVE_YEARS else None

    @property
    def frequencies_hz(self) -> tuple[int, ...]:
        return tuple(frequency_hz for sex, frequency_hz in TABLE if sex == self.sex)

    @property
    def spread_frequencies_hz(self) -> tuple[int, ...]:
        """Return where more than the median is known: how people of this age spread around it."""
        at_hz, age_years = self.frequencies_hz, self.age_years
        return tuple(f for f in at_hz if age_years <= spread_until_years(self.sex, f))

    def threshold_db_hl(self, frequency_hz: int, sds: float = 0.0) -> float:
        """Return the threshold that lies so many SDs above the median.

        Anything but the median bears only at `spread_frequencies_hz`.
        """
        return self._median_db_hl(frequency_hz) + sds * self._sd_db(frequency_hz, sds > 0.0)

    def share_better(self, frequency_hz: int, threshold_db_hl: float) -> float:
        """Return the share of people whose threshold is lower; only at `spread_frequencies_hz`."""
        above_db = threshold_db_hl - self._median_db_hl(frequency_hz)
        sds = above_db / self._sd_db(frequency_hz, above_db > 0.0)
        return 0.5 * erfc(-sds / sqrt(2.0))

    def usual(
        self, found: ThresholdResult, below_db: float, whole: Whole | None = None
    ) -> Usual | None:
        """Return what is usual beside a threshold, so much below clinical ones; None: no norm."""
        f, level = found.frequency_hz, level_of(found)
        if f not in self.frequencies_hz:
            return None
        low, middle, high = (self.threshold_db_hl(f, sds) - below_db for sds in SHOWN_SDS)
        if f not in self.spread_frequencies_hz:
            return Usual((None, middle, None), None)
        if level is None or level.bound != Bound.NONE or level.inferred:
            return Usual((low, middle, high), None)
        share, ends = self.share_better(f, level.low_db + below_db), None
        if whole is not None and whole.low_db_hl is not None and whole.high_db_hl is not None:
            ends_db_hl = whole.low_db_hl + below_db, whole.high_db_hl + below_db
            ends = self.share_better(f, ends_db_hl[0]), self.share_better(f, ends_db_hl[1])
        return Usual((low, middle, high), share, ends)

    def lines(self, below_db: float) -> dict[str, Any]:
        spread_hz, (low, median, high) = self.spread_frequencies_hz, SHOWN_SDS
        return {
            "median": self._line(self.frequencies_hz, median, below_db),
            "spread": [self._line(spread_hz, sds, below_db) for sds in (low, high)],
        }

    def _line(self, at_hz: Iterable[int], sds: float, below_db: float) -> dict[str, Any]:
        levels = [round(self.threshold_db_hl(f, sds) - below_db, 1) for f in at_hz]
        return {"frequencies_hz": [*at_hz], "levels_db_hl": levels}

    def _median_db_hl(self, frequency_hz: int) -> float:
        (a, b), _, _ = TABLE[self.sex, frequency_hz]
        return float(a * (self.age_years - AGE_MIN_YEARS) ** b)

    def _sd_db(self, frequency_hz: int, worse: bool) -> float:
        _, of_worse, of_better = TABLE[self.sex, frequency_hz]
        return _polynomial(of_worse if worse else of_better, self.age_years - AGE_MIN_YEARS)


def _polynomial(coefficients: Iterable[float], x: float) -> float:
    return float(sum(c * x**power for power, c in enumerate(coefficients)))


@cache
def spread_until_years(sex: Sex, frequency_hz: int) -> float:
    """Return the age up to which the spread of a norm bears, in whole years."""
    above = frequency_hz > INFORMATIVE_ABOVE_HZ
    last = INFORMATIVE_ABOVE_YEARS if above else AGE_MAX_YEARS
    ages = [AGE_MIN_YEARS + year for year in range(int(last - AGE_MIN_YEARS) + 1)]
    _, worse, _ = TABLE[sex, frequency_hz]
    return max(ages, key=lambda age: _polynomial(worse, age - AGE_MIN_YEARS))


def norm_of(person: Person) -> AgeNorm | None:
    """Return what is usual for a person; None: age or sex is not known, or it has no such age."""
    age_years, sex = person.age_years, person.sex
    if age_years is None or sex is None or not AGE_MIN_YEARS <= age_years <= AGE_MAX_YEARS:
        return None
    return AgeNorm(age_years, sex)


class NoNorm(StrEnum):
    """Why there is no age norm."""

    NOMINAL = "nominal"  # no calibration: it is of dB HL
    VERDICT = "verdict"  # no ear has a valid test
    PERSON = "person"  # neither age nor sex is known
    NO_AGE = "no-age"  # age is not known
    NO_SEX = "no-sex"  # sex is not known
    AGE = "age"  # the standard has no such age
    LOCKED = "locked"  # it would tell of a person whom nobody asked for a PIN may know


def norm_for(result: SessionResult, person: Person, *, nominal: bool) -> AgeNorm | NoNorm:
    if nominal:
        return NoNorm.NOMINAL
    if not any(map(may_conclude, result.ears)):
        return NoNorm.VERDICT
    if norm := norm_of(person):
        return norm
    if person.age_years is None:
        return NoNorm.PERSON if person.sex is None else NoNorm.NO_AGE
    return NoNorm.NO_SEX if person.sex is None else NoNorm.AGE
