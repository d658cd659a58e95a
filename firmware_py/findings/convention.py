"""Which threshold is reported: the 50 % point, or what a clinic's ascending procedure settles at.

The second lies higher, by `clinical_offset_db` of the ear. Grades, norms and criteria are made for
clinical thresholds: they get these whatever is reported.
Journals, `THR?` and the Python interface have 50 % points.
"""

from dataclasses import replace
from typing import TypeVar

from firmware_py.ear.mean_threshold import mean_higher
from firmware_py.terms.outcomes import WITH_NUMBERS
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.settings import CLINICAL_ASCENDING

Found = TypeVar("Found", bound=ThresholdResult)


def shift_db(ear: EarResult, convention: str) -> float:
    """Return by how much the thresholds of an ear lie above 50 % points in a convention."""
    return ear.clinical_offset_db if convention == CLINICAL_ASCENDING else 0.0


def convention_words(ear: EarResult, convention: str) -> str:
    """Say in English, for who reads a record, what the thresholds of an ear are."""
    offset = f"50 % points + {ear.clinical_offset_db:.1f} dB"
    return f"{ear.route.words}: threshold convention {convention}; clinical thresholds are {offset}"


def in_convention(result: SessionResult, convention: str) -> SessionResult:
    ears = (ear_in_convention(ear, convention) for ear in result.ears)
    return replace(result, ears=tuple(ears))


def ear_in_convention(ear: EarResult, convention: str) -> EarResult:
    """Return an ear, recorded as 50 % points, in a convention; levels that were played stay."""
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
    """Return the clinical threshold to which a confirmation outside the band that is told belongs.

    `found`: as it is told, `below_db` below clinical ones. None: the confirmation lies within the
    band, or there is nothing to compare.
    """
    if confirmed_db_hl is None or found.low_db_hl is None or found.high_db_hl is None:
        return None
    within = found.low_db_hl <= confirmed_db_hl <= found.high_db_hl
    return None if within else higher(found, below_db)
