"""The robustness table: what a row is, what is noted of a session, and what is read off many.

A case is run with so many ears and seeds; its sessions are noted as `SessionFound`, and its goals
read off them. The rows themselves are in `robustness_cases.py`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.operator import NOBODY, Operator
from firmware_py.terms.settings import AUTOMATIC
from host_tools.research.methods.interface import Array
from host_tools.research.study.measures import mean_of_known, root_mean_square
from host_tools.research.study.sitting import RESPONSE_TIME_S

# Where errors are taken: the frequencies of NHANES; and where nobody there was measured.
SCORED_HZ: Final = (500.0, 1000.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0)
LOW_HZ: Final = 250.0
ALL_HZ: Final = (LOW_HZ, *SCORED_HZ)
BETWEEN_HZ: Final = tuple(np.geomspace(ALL_HZ[0], ALL_HZ[-1], 42)[1:-1].tolist())  # 40
MARKS_AT_TONES: Final = (10, 20, 40)
EARS_USUAL: Final = 40

# What is run.
ESTIMATOR: Final = "estimator"  # the estimator, told nothing of the listener, chooses 40 tones
PROCEDURE: Final = "procedure"  # a whole test, from familiarisation to retest
EXACT: Final = "exact"  # the estimator against the exact posterior

END: Final = 0  # stands for the end of a procedure among the numbers of tones
EXACT_TONES: Final = 25
THIN: Final = 0.9  # of exact mass: a 95 % band that holds less

BAND: Final = 0.95
BAND_DB: Final = 8.0
WRONG_DB: Final = 15.0  # a threshold this far off, outside its band, is confidently wrong
RATE: Final = 0.01  # of lapses and of false alarms, if a case says nothing else


@dataclass(frozen=True, eq=False)
class SessionFound:
    """What one session gave."""

    # Of an estimator: by tones, at `ALL_HZ`. Of a procedure: the end only, at the audiogram's
    # frequencies; NaN where the result has no number.
    error_db: dict[int, Array]
    covered: dict[int, Array]  # 1, 0 or NaN
    noise_db: float = math.nan  # believed at the end
    # tones until every 95 % band, 500-8000 Hz, is within +-`BAND_DB`; all, if it never was
    tones: float = math.nan
    between: float = math.nan  # the share of truths at `BETWEEN_HZ` that the 95 % bands hold
    between_db: float = math.nan  # their half widths, mean
    refused: bool = False  # the ear is unreliable
    inattentive: bool = False  # a remark or the outcome says so
    remarks: tuple[str, ...] = ()  # but those on masking, which are not about the listener
    confidently_wrong: bool = False  # somewhere `measured`, and nothing was remarked
    valid: bool = True  # every ear
    false_statements: tuple[str, ...] = ()  # of ears that are said to be valid
    asymmetric: bool = False  # a report would name an asymmetry of the ears
    inferred_wrong: bool = False  # a supposition is far off and outside its band
    differ_db: float = 0.0  # those who take turns, at most, at frequencies that were asked
    seconds: float = math.nan
    family: str = ""  # of the ear
    sd_ratio: float = math.nan  # the estimator's SD by the exact one
    mass: tuple[float, ...] = ()  # the exact mass in the 95 % band at each knot
    samples: float = math.nan  # how many independent ones the exact posterior rests on


Measure = Callable[[Sequence[SessionFound]], float]


@dataclass(frozen=True)
class Goal:
    """One number of a case, and between what it should lie."""

    what: str
    measure: Measure
    low: float = -math.inf
    high: float = math.inf
    percent: bool = False  # shown as a share
    unit: str = ""
    or_refused: bool = False  # it is as well that every ear is refused, so that nothing is found

    @property
    def wants(self) -> bool:
        """Tell whether anything is wanted, or the number is for information."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    @property
    def wanted(self) -> str:
        low, high = self.show(self.low), self.show(self.high)
        if not self.wants:
            return ""
        if math.isinf(self.low):
            return f"at most {high}"
        return f"at least {low}" if math.isinf(self.high) else f"{low} to {high}"

    def show(self, value: float) -> str:
        if math.isnan(value):
            return "-"
        return f"{value:.0%}" if self.percent else f"{value:.2f}{self.unit}"

    def is_met(self, value: float) -> bool:
        """Tell whether a value is as wanted; what could not be found is not."""
        return self.low <= value <= self.high or (self.or_refused and math.isnan(value))


@dataclass(frozen=True)
class SecondButton:
    """A second button, for "perhaps"."""

    pressed_within_db: float  # of the threshold; 0: never
    told_db: float | None = None  # what the estimator is told of that; None: it is inferred


@dataclass(frozen=True)
class Case:
    """A row of the table, or some that are found from the same sessions."""

    name: str  # on the command line, and in JSON
    title: str
    ears: str  # a family of odd ears, or one of the words above; of two ears the right one
    goals: tuple[Goal, ...]
    run: str = ESTIMATOR
    listener: str = "honest"
    noise_db: float = 2.0
    ears_factor: int = 1  # times the ears that are asked for
    second_button: SecondButton | None = None  # of an `ESTIMATOR`
    told: bool = True  # the estimator of an `EXACT` is told how the listener answers
    # Of a `PROCEDURE`:
    tested: str = "right"  # "right", "left" or "both"
    other: str | None = None  # the ears of the left, by the same words; None: as the right one
    poorer_db: float = 0.0  # by so much the left one hears less at every frequency
    air_bone_gap_db: float = 0.0  # of the right ear
    masking: str = AUTOMATIC
    false_alarm_rate: float = RATE
    response_time_s: float = RESPONSE_TIME_S
    operator: Operator = NOBODY
    changes_at: int | None = None  # another person answers from this tone on, another of the ears


def rmse(tones: int) -> Measure:
    """Return the root of the mean square error after so many tones, 500-8000 Hz."""
    return lambda found: root_mean_square([each.error_db[tones][1:] for each in found])


def coverage(tones: int) -> Measure:
    """Return the share of truths in the 95 % band after so many tones, 500-8000 Hz."""
    return mean_of(lambda each: mean_of_known(each.covered[tones][1:]))


def coverage_low(tones: int) -> Measure:
    return mean_of(lambda each: each.covered[tones][0])


def told_between(band_db_hl: tuple[Array, Array], truth: Audiogram) -> tuple[float, float]:
    """Return the share of truths that the band at `BETWEEN_HZ` holds, and its mean half width."""
    low_db_hl, high_db_hl = band_db_hl
    true_db_hl = np.array([truth.threshold_db_hl(f) for f in BETWEEN_HZ])
    held = (low_db_hl <= true_db_hl) & (true_db_hl <= high_db_hl)
    return float(np.mean(held)), float(np.mean(0.5 * (high_db_hl - low_db_hl)))


def among(holds: Callable[[SessionFound], bool], measure: Measure) -> Measure:
    """Return a number of the sessions alone of which something holds."""
    return lambda found: measure([each for each in found if holds(each)])


def mean_of(number: Callable[[SessionFound], float]) -> Measure:
    """Return the mean of a number of the sessions; of a condition, the share that meets it."""
    return lambda found: mean_of_known([float(number(each)) for each in found])


def upper_bound(holds: Callable[[SessionFound], bool]) -> Measure:
    """Return what the share that meets a condition is at most, with 95 % (Wilson's score)."""

    def measure(found: Sequence[SessionFound]) -> float:
        if not found:
            return math.nan
        count, z = len(found), NormalDist().inv_cdf(0.95)
        share = sum(map(holds, found)) / count
        spread = math.sqrt(share * (1.0 - share) / count + 0.25 * z * z / count**2)
        return (share + 0.5 * z * z / count + z * spread) / (1.0 + z * z / count)

    return measure


def mean_mass(found: Sequence[SessionFound]) -> float:
    return mean_of_known([mass for each in found for mass in each.mass])


def share_thin(found: Sequence[SessionFound]) -> float:
    """Return the share of the 95 % bands that hold less than `THIN` of the exact mass."""
    return mean_of_known([float(mass < THIN) for each in found for mass in each.mass])


def fewest_samples(found: Sequence[SessionFound]) -> float:
    """Return how many independent samples the least sure exact posterior is worth."""
    return min((each.samples for each in found), default=math.nan)


def median_seconds(found: Sequence[SessionFound]) -> float:
    return float(np.median([each.seconds for each in found])) if found else math.nan


def at_most_db(measure: Measure, what: str, high: float) -> Goal:
    return Goal(what, measure, high=high, unit=" dB")


def read_off(case: Case, found: Sequence[SessionFound]) -> list[dict[str, Any]]:
    """Return the goals of a case with what was found, as JSON values."""
    return [
        {
            "case": case.name,
            "title": case.title,
            "what": goal.what,
            "wanted": goal.wanted,
            "found": value if math.isfinite(value := goal.measure(found)) else None,
            "shown": goal.show(value),
            "met": goal.is_met(value) if found and goal.wants else None,
            "sessions": len(found),
        }
        for goal in case.goals
    ]
