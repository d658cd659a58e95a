"""The whole procedure for the robustness table: what a test of a simulated listener says."""

from typing import Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import SimulatedTest
from device.simulator.listener import EARS, SimulatedListener
from firmware_py.procedure import words
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.results import EarResult, SessionResult
from firmware_py.procedure.settings import AUDIOGRAM_FREQUENCIES_HZ, Settings
from host_tools.research.methods.interface import Array
from host_tools.research.study.listener import Answering
from host_tools.research.study.robustness import END, WRONG_DB, Found

# How the remark on a listener who does not attend begins, after the ear.
INATTENTIVE: Final = words.INATTENTIVE.partition(":")[0]


def run_procedure(truth: Audiogram, answering: Answering, seed: int, ears: str) -> Found:
    """Run a test of one ear or both, which have the same thresholds, and read its result."""
    listener = SimulatedListener(
        dict.fromkeys(EARS, truth),
        response_noise_db=answering.response_noise_db,
        lapse_rate=answering.lapse_rate,
        false_alarm_rate=answering.false_alarm_rate,
        seed=seed,
        kind=answering.kind,
    )
    result = SimulatedTest(Settings(ears=ears, seed=seed), listener).run()
    return found_in(result, truth)


def found_in(result: SessionResult, truth: Audiogram) -> Found:
    """Compare a result with the truth; of two ears the numbers are those of the first."""
    error_db, covered = errors_and_coverage(result.ears[0], truth)
    return Found(
        {END: error_db},
        {END: covered},
        refused=any(ear.outcome == Outcome.UNRELIABLE for ear in result.ears),
        inattentive=inattentive(result),
        remarks=tuple(result.remarks),
        confidently_wrong=not result.remarks and any(_wrong(ear, truth) for ear in result.ears),
    )


def inattentive(result: SessionResult) -> bool:
    """Tell whether a remark says that the listener did not attend, or an ear is unreliable."""
    refused = any(ear.outcome == Outcome.UNRELIABLE for ear in result.ears)
    return refused or any(INATTENTIVE in remark for remark in result.remarks)


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
