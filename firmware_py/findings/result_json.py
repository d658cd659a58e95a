"""A result as JSON values, finished: who shows or exports it needs no rule of its own.

The device tells it, and every export and report writes it.
"""

from collections.abc import Sequence
from typing import Any, Final

from firmware_py.ear.mean_threshold import outside_hz
from firmware_py.findings.air_bone_gap import gaps_of
from firmware_py.findings.convention import convention_words, shift_db
from firmware_py.findings.grades import PersonGrade, grades_said, grades_told, person_grade
from firmware_py.findings.room_noise import known_room
from firmware_py.findings.whole_band import Uncertainty, Whole
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.reasons import as_json
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.settings import FIFTY_PERCENT, Settings
from firmware_py.terms.shown_threshold import is_wide, threshold_as_json
from firmware_py.terms.verdicts import has_thresholds, may_conclude

# Of a threshold and of a mean, as a reading has it.
WHOLE: Final = ("whole_low_db_hl", "whole_high_db_hl", "whole_sd_db", "largest_part")
CLINICAL_DIGITS: Final = 2  # of a mean: machines differ in the last bits


def result_as_json(
    result: SessionResult,
    settings: Settings,
    convention: str = FIFTY_PERCENT,
    *,
    uncertainty: Uncertainty,
) -> dict[str, Any]:
    """Return a result, as told in this convention, with its readings, means and grades.

    `uncertainty`: what makes its bands those of the whole.
    """
    told = result.to_record()
    result = uncertainty.graded(result, convention)
    for ear, found in zip(told["ears"], result.ears, strict=True):
        ear["thresholds"] = [
            threshold_with_width(
                each,
                settings.wanted_half_width_db(found.route.kind, each.frequency_hz),
                uncertainty.of(found.route, each),
            )
            for each in found.thresholds
        ]
        below_db = found.clinical_offset_db - shift_db(found, convention)
        ear["pta4"] = _mean_as_json(found, below_db, uncertainty.of_mean(found))
        del ear["gap"]  # it is told beside the gaps that it is the mean of
        ear["pta4_outside_hz"] = outside_hz(found)
        ear["convention"] = convention_words(found, convention)
        ear["has_thresholds"] = has_thresholds(found)
        ear["may_conclude"] = may_conclude(found)
    grade = _person_as_json(person_grade(result))
    gaps = [e.to_record() for e in gaps_of(result, convention, nominal=uncertainty.nominal)]
    room = known_room(result)
    told |= {"threshold_convention": convention, "grade": grade, "room": room and as_json(room)}
    return {**told, "air_bone_gaps": gaps} if gaps else told


def threshold_with_width(
    found: ThresholdResult, wanted_db: float, whole: Whole | None
) -> dict[str, Any]:
    """Return a threshold; `wanted_db`: how far a band was to reach to either side."""
    told = threshold_as_json(found)
    width = {"half_width_db": found.half_width_db, "wanted_db": wanted_db}
    told["reading"] |= {**width, "wide": is_wide(found, wanted_db), **whole_as_json(whole)}
    return told


def whole_as_json(whole: Whole | None) -> dict[str, Any]:
    """Return the band of the whole, its SD and whose part is the largest; None of none."""
    if whole is None:
        return dict.fromkeys(WHOLE)
    values = (whole.low_db_hl, whole.high_db_hl, whole.sd_db, str(whole.largest))
    return dict(zip(WHOLE, values, strict=True))


def _mean_as_json(found: EarResult, below_db: float, whole: Whole | None) -> dict[str, Any] | None:
    mean = found.pta4
    if mean is None:
        return None
    known = mean.bound == Bound.NONE and below_db > 0.0
    return {
        "level_db_hl": mean.level_db_hl,
        "low_db_hl": mean.low_db_hl,
        "high_db_hl": mean.high_db_hl,
        **whole_as_json(whole),
        # by which its grades are, where this one is another, and no bound
        "clinical_db_hl": round(mean.level_db_hl + below_db, CLINICAL_DIGITS) if known else None,
        **_grades(mean.bound, mean.shares),
        **{name: [*getattr(mean, name)] for name in ("beyond_hz", "inferred_hz", "doubtful_hz")},
    }


def _person_as_json(person: PersonGrade | None) -> dict[str, Any] | None:
    if person is None:
        return None
    return {
        "better_ear": person.ear,
        **_grades(person.bound, person.shares),
        "inferred": person.inferred,
        "unilateral": person.unilateral,
    }


def _grades(bound: Bound, shares: Sequence[float]) -> dict[str, Any]:
    said = [*map(list, grades_said(bound, shares))]
    return {"bound": bound, "grades": grades_told(bound, shares), "said": said}
