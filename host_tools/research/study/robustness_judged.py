"""What a whole test says of an ear, against the truth: its errors, and which statements are false.

A result that is doubtful, or of an ear that could not be tested, says nothing that could be.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import SimulatedTest, ear_named
from firmware_py.ear.mean_threshold import GRADES_DB_HL
from firmware_py.findings.asymmetry import asymmetries
from firmware_py.findings.convention import in_convention
from firmware_py.findings.grades import person_grade
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome, Verdict
from firmware_py.terms.reasons import Code
from firmware_py.terms.results import (
    PTA4_FREQUENCIES_HZ,
    EarResult,
    MeanThreshold,
    SessionResult,
    ThresholdResult,
)
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, Route
from firmware_py.terms.settings import CLINICAL_ASCENDING
from firmware_py.terms.words import say
from host_tools.research.methods.interface import Array
from host_tools.research.study.robustness import (
    BAND,
    BETWEEN_HZ,
    END,
    WRONG_DB,
    SessionFound,
    told_between,
)
from host_tools.research.study.sitting import Sitting, Truths

FAR_DB: Final = 10.0  # a threshold so far off and outside its 95 % band is false
SAYS_NOTHING_DB: Final = 20.0  # a measured one whose band reaches so far to either side
LIMIT_DB: Final = 5.0  # a truth so far from a limit is not beyond it
GRADE_SHARE_MIN: Final = 0.05  # what the true grade should be given at least


def is_valid(ear: EarResult) -> bool:
    return ear.verdict == Verdict.VALID and ear.outcome != Outcome.UNRELIABLE


def false_statements(result: SessionResult, truths: Truths) -> Iterator[str]:
    """Say what is false in a result.

    Where the ears differ, a threshold that the other ear may have heard is a bound, and so is a
    grade that rests on one: they are false only if the truth is on the other side.
    """
    bounds = len(set(truths.values())) > 1
    for ear in filter(is_valid, result.ears):
        truth = truths[ear_named(ear.route.ear)]
        for each in ear.thresholds:
            if what := _false_threshold(each, truth.threshold_db_hl(each.frequency_hz), bounds):
                yield f"{ear.route} {each.frequency_hz} Hz: {what}"
        if ear.pta4 is not None:
            bound = Bound.NONE if _would_be_known(ear.pta4, bounds) else ear.pta4.bound
            if what := _grading_error(ear.pta4.shares, _clinical_db_hl(ear, truth), bound):
                yield f"{ear.route}: {what}"
    person = person_grade(result) if all(map(is_valid, result.ears)) else None
    if person is not None:
        true_db_hl = min(_clinical_db_hl(e, truths[ear_named(e.route.ear)]) for e in result.ears)
        known = any(ear.pta4 and _would_be_known(ear.pta4, bounds) for ear in result.ears)
        if what := _grading_error(person.shares, true_db_hl, Bound.NONE if known else person.bound):
            yield f"better ear: {what}"


def far_off(found: ThresholdResult, true_db_hl: float, far_db: float = FAR_DB) -> bool:
    """Tell whether a number is far from the truth, and its band does not reach there."""
    if found.threshold_db_hl is None or found.low_db_hl is None or found.high_db_hl is None:
        return False
    near = abs(found.threshold_db_hl - true_db_hl) <= far_db
    return not near and not found.low_db_hl <= true_db_hl <= found.high_db_hl


def inferred_far_off(result: SessionResult, truths: Truths) -> bool:
    """Tell whether a supposition is far from the truth, and its band does not reach there."""
    return _any_far_off(filter(is_valid, result.ears), truths, Outcome.INFERRED, FAR_DB)


def _any_far_off(ears: Iterable[EarResult], truths: Truths, mark: Outcome, far_db: float) -> bool:
    return any(
        each.mark == mark
        and far_off(
            each, truths[ear_named(ear.route.ear)].threshold_db_hl(each.frequency_hz), far_db
        )
        for ear in ears
        for each in ear.thresholds
    )


def _false_threshold(found: ThresholdResult, true_db_hl: float, bounds: bool) -> str:
    said, limit_db_hl = found.threshold_db_hl, found.limit_db_hl
    match found.mark:
        case Outcome.MEASURED:
            assert said is not None
            is_bound = bounds and found.masking == MaskingMark.UNCERTAIN
            if far_off(found, true_db_hl) and not (is_bound and true_db_hl > said):
                return f"measured {said:.0f} dB HL, true {true_db_hl:.0f}"
            if found.is_wider_than(SAYS_NOTHING_DB):
                return f"measured to +-{found.half_width_db:.0f} dB"
        case Outcome.NO_RESPONSE:
            assert limit_db_hl is not None
            if true_db_hl < limit_db_hl - LIMIT_DB:
                return f"no response at {limit_db_hl:.0f} dB HL, true {true_db_hl:.0f}"
        case Outcome.HEARS_ALL:
            assert limit_db_hl is not None
            if true_db_hl > limit_db_hl + LIMIT_DB:
                return f"heard at {limit_db_hl:.0f} dB HL, true {true_db_hl:.0f}"
        case _:
            pass
    return ""


def _would_be_known(mean: MeanThreshold, bounds: bool) -> bool:
    """Tell whether a mean is a bound for nothing but another ear that hears no better."""
    return not bounds and bool(mean.doubtful_hz) and not mean.beyond_hz


def _grading_error(shares: Sequence[float], true_db_hl: float, bound: Bound) -> str:
    """Return what is wrong with the grades; a bound may be of any grade on its side of the true."""
    # They rise, so the last of those that begin below is the true one.
    true = sum(from_db_hl <= true_db_hl for from_db_hl in GRADES_DB_HL.values()) - 1
    first = 0 if bound == Bound.AT_LEAST else true
    last = len(shares) - 1 if bound == Bound.AT_MOST else true
    given = sum(shares[first : last + 1])
    name = [*GRADES_DB_HL][true]
    return f"grade {name} given {given:.3f}" if given < GRADE_SHARE_MIN else ""


def _clinical_db_hl(ear: EarResult, truth: Audiogram) -> float:
    """Return the true mean as the clinical threshold of which grades are."""
    return _pta4_db_hl(truth) + ear.clinical_offset_db


def _pta4_db_hl(truth: Audiogram) -> float:
    return math.fsum(map(truth.threshold_db_hl, PTA4_FREQUENCIES_HZ)) / len(PTA4_FREQUENCIES_HZ)


def run_procedure(sitting: Sitting) -> SessionFound:
    """Run a test of one ear or both, and read its result."""
    test = sitting.test()
    result = test.run()
    return replace(
        compare_with_truth(result, sitting.truths),
        valid=all(map(is_valid, result.ears)),
        false_statements=tuple(false_statements(result, sitting.truths)),
        asymmetric=bool(asymmetries(in_convention(result, CLINICAL_ASCENDING))),
        inferred_wrong=inferred_far_off(result, sitting.truths),
        seconds=test.seconds,
        differ_db=_differ_db(sitting, test),
        between=_between(result.ears[0].route, sitting, test),
    )


def _between(route: Route, sitting: Sitting, test: SimulatedTest) -> float:
    """Return the share of truths that the curve of a report holds, of an ear."""
    band_db_hl = test.test.ears[route].estimator.threshold_band(BETWEEN_HZ, BAND)
    return told_between(band_db_hl, sitting.truths[ear_named(route.ear)])[0]


def _differ_db(sitting: Sitting, test: SimulatedTest) -> float:
    """Return by how much those who took turns differ where they were asked; 0: nobody did."""
    if sitting.change is None:
        return 0.0
    return max(
        sitting.change.differ_db(
            sitting.truths,
            ear_named(route.ear),
            (each.presentation.frequency_hz for each in ear.attention.answers),
        )
        for route, ear in test.test.ears.items()
    )


def compare_with_truth(result: SessionResult, truths: Truths) -> SessionFound:
    """Compare a result with the truth; of two ears the numbers are those of the first."""
    first = result.ears[0]
    error_db, covered = errors_and_coverage(first, truths[ear_named(first.route.ear)])
    remarks = tuple(say(each) for each in result.remarks if each.code != Code.MASKING_UNCERTAIN)
    return SessionFound(
        {END: error_db},
        {END: covered},
        refused=any(ear.outcome == Outcome.UNRELIABLE for ear in result.ears),
        inattentive=inattentive(result),
        remarks=remarks,
        confidently_wrong=not remarks
        and _any_far_off(result.ears, truths, Outcome.MEASURED, WRONG_DB),
    )


def inattentive(result: SessionResult) -> bool:
    """Tell whether a remark says that the listener did not attend, or an ear is unreliable."""
    refused = any(ear.outcome == Outcome.UNRELIABLE for ear in result.ears)
    return refused or any(Code.INATTENTIVE in remark.codes for remark in result.remarks)


def errors_and_coverage(ear: EarResult, truth: Audiogram) -> tuple[Array, Array]:
    """Return by how much each threshold is off, and 1 where its band has the truth, else 0.

    At the audiogram's frequencies; NaN where the result has no number.
    """
    error_db = np.full(len(AUDIOGRAM_FREQUENCIES_HZ), np.nan)
    covered = error_db.copy()
    for each in ear.thresholds:
        index = AUDIOGRAM_FREQUENCIES_HZ.index(each.frequency_hz)
        true_db_hl = truth.threshold_db_hl(each.frequency_hz)
        if each.threshold_db_hl is None or each.low_db_hl is None or each.high_db_hl is None:
            continue
        error_db[index] = each.threshold_db_hl - true_db_hl
        covered[index] = each.low_db_hl <= true_db_hl <= each.high_db_hl
    return error_db, covered
