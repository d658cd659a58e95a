"""The whole procedure for the robustness table: what a test of a simulated listener says."""

from dataclasses import replace

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import SimulatedTest, ear_named
from firmware_py.findings.asymmetry import asymmetries
from firmware_py.findings.convention import in_convention
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.reasons import Code
from firmware_py.terms.results import EarResult, SessionResult
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import CLINICAL_ASCENDING
from firmware_py.terms.words import say
from host_tools.research.methods.interface import Array
from host_tools.research.study.robustness import END, WRONG_DB, SessionFound
from host_tools.research.study.robustness_judged import (
    false_statements,
    inferred_far_off,
    is_valid,
)
from host_tools.research.study.sitting import Sitting, Truths


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
    )


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
        and any(_wrong(ear, truths[ear_named(ear.route.ear)]) for ear in result.ears),
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


def _wrong(ear: EarResult, truth: Audiogram) -> bool:
    """Tell whether a threshold is said to be measured, far off, and outside its band."""
    error_db, covered = errors_and_coverage(ear, truth)
    return any(
        each.mark == Outcome.MEASURED
        and abs(error_db[AUDIOGRAM_FREQUENCIES_HZ.index(each.frequency_hz)]) > WRONG_DB
        and not covered[AUDIOGRAM_FREQUENCIES_HZ.index(each.frequency_hz)]
        for each in ear.thresholds
    )
