"""Which threshold is reported: the 50 % point, or what a clinic's ascending procedure settles at.

The estimator finds the level that is heard half the time. A clinic's procedure (5 dB up, 10 dB
down) reports the lowest level of a 5 dB grid that is heard reliably, which lies higher. How much
higher depends on the listener's noise and rates: `OFFSETS_DB` is from a simulation of the classical
rule of this firmware (`confirmation.py`) by ``python -m host_tools.research.clinical_offset``,
whose table, with the errors of what is in force, is on the page of research.

Grades, norms and criteria are made for clinical thresholds: they get these whatever is reported.
Journals, `THR?` and the Python interface have 50 % points.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeVar

from firmware_py.procedure.grades import mean_higher
from firmware_py.procedure.outcomes import WITH_NUMBERS, Bound
from firmware_py.procedure.results import (
    CLINICAL_OFFSET_DB_MAX,
    EarResult,
    MeanThreshold,
    SessionResult,
    ThresholdResult,
)
from firmware_py.procedure.settings import CLINICAL_ASCENDING

Found = TypeVar("Found", bound=ThresholdResult)

# Response noise, and by how much the classical rule then settles above the 50 % point, on average
# over all places of the threshold between two steps, with lapses and false alarms of 1 %. Between
# these linear, outside constant.
OFFSETS_DB: Final = (
    (0.5, 2.57),
    (1.0, 2.66),
    (2.0, 2.79),
    (3.0, 2.84),
    (5.0, 2.70),
    (7.0, 2.39),
    (10.0, 1.96),
)
USUAL_RATE: Final = 0.01
# By how much a lapse raises it and a false alarm lowers it, dB per share of the tones: a constant,
# and so much more per dB of noise. With the table off by 0.1 dB or less in the whole grid that
# was simulated.
BY_LAPSES: Final = (2.6, 1.15)
BY_FALSE_ALARMS: Final = (2.0, 1.8)
OFFSET_DIGITS: Final = 2  # of what is recorded: machines differ in the last bits


def clinical_offset_db(
    response_noise_db: float, lapse_rate: float = USUAL_RATE, false_alarm_rate: float = USUAL_RATE
) -> float:
    """Return how far clinical thresholds of a listener lie above the 50 % points, dB."""
    first, last = OFFSETS_DB[0], OFFSETS_DB[-1]
    noise_db = min(max(response_noise_db, first[0]), last[0])
    offset_db = last[1]
    for (low_db, low), (high_db, high) in pairwise(OFFSETS_DB):
        if noise_db <= high_db:
            offset_db = low + (noise_db - low_db) / (high_db - low_db) * (high - low)
            break
    offset_db += _by_rate(BY_LAPSES, noise_db, lapse_rate)
    offset_db -= _by_rate(BY_FALSE_ALARMS, noise_db, false_alarm_rate)
    return round(min(max(offset_db, 0.0), CLINICAL_OFFSET_DB_MAX), OFFSET_DIGITS)


def _by_rate(coefficients: tuple[float, float], noise_db: float, rate: float) -> float:
    constant, slope = coefficients
    return (constant + slope * noise_db) * (rate - USUAL_RATE)


def shift_db(ear: EarResult, convention: str) -> float:
    """Return by how much the thresholds of an ear lie above 50 % points in a convention."""
    return ear.clinical_offset_db if convention == CLINICAL_ASCENDING else 0.0


def clinical_mean_db_hl(mean: MeanThreshold, below_db: float) -> float | None:
    """Return the mean of clinical thresholds, by which its grades are, beside another one.

    Parameters
    ----------
    mean : MeanThreshold
    below_db : float
        So much it lies below clinical ones.

    Returns
    -------
    level_db_hl : float or None
        None: it is the clinical one itself, or a bound.
    """
    known = mean.bound == Bound.NONE and below_db > 0.0
    return round(mean.level_db_hl + below_db, OFFSET_DIGITS) if known else None


def convention_words(ear: EarResult, convention: str) -> str:
    """Say in English, for who reads a record, what the thresholds of an ear are."""
    offset = f"50 % points + {ear.clinical_offset_db:.1f} dB"
    return f"{ear.route.words}: threshold convention {convention}; clinical thresholds are {offset}"


def in_convention(result: SessionResult, convention: str) -> SessionResult:
    """Return a result, recorded as 50 % points, in a convention."""
    ears = (ear_in_convention(ear, convention) for ear in result.ears)
    return replace(result, ears=tuple(ears))


def ear_in_convention(ear: EarResult, convention: str) -> EarResult:
    """Return an ear, recorded as 50 % points, in a convention.

    Levels that were played stay: limits, and what the classical rule confirmed.
    """
    by_db = shift_db(ear, convention)
    if not by_db:
        return ear
    thresholds = tuple(higher(found, by_db) for found in ear.thresholds)
    return replace(ear, thresholds=thresholds, pta4=mean_higher(ear, by_db))


def higher(found: Found, by_db: float) -> Found:
    """Return a threshold with its numbers so much higher, if it has any."""
    if found.mark not in WITH_NUMBERS:
        return found
    names = ("threshold_db_hl", "low_db_hl", "high_db_hl")
    return replace(found, **{name: getattr(found, name) + by_db for name in names})


def confirmed_outside(found: Found, confirmed_db_hl: float | None, below_db: float) -> Found | None:
    """Return the clinical threshold that a confirmation outside the band that is told belongs to.

    Parameters
    ----------
    found : ThresholdResult
        As it is told: so much below clinical ones.
    confirmed_db_hl : float or None
        What the classical rule found there; None: no level.
    below_db : float

    Returns
    -------
    threshold : ThresholdResult or None
        None: the confirmation lies within the band, or there is nothing to compare.
    """
    if confirmed_db_hl is None or found.low_db_hl is None or found.high_db_hl is None:
        return None
    within = found.low_db_hl <= confirmed_db_hl <= found.high_db_hl
    return None if within else higher(found, below_db)
