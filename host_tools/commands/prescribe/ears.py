"""What a recorded ear prescribes: gains with their bands, from thresholds with theirs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.hearing_aid.compression import Compression, compression
from device.hearing_aid.rules import (
    THRESHOLD_LIMITS_DB_HL,
    insertion_gain,
)
from device.hearing_aid.speech import FloatArray
from firmware_py.procedure.audiogram import BAND_PROBABILITY
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.reading import Kind, read
from firmware_py.procedure.results import EarResult, ThresholdResult
from host_tools.errors import HostError
from host_tools.recorded import RecordedSession

DRAWS: Final = 4000  # of the joint posterior: the ends of a 95 % band are then good to 0.1 SD
SEED: Final = 1  # of the draws, so that the same journal prescribes the same


class NothingToPrescribeError(HostError):
    """An ear, or a session, of which too little is known; why in words."""


@dataclass(frozen=True)
class EarPrescription:
    """The prescription for one ear."""

    ear: str
    rule: str
    # `frequencies_hz`, `marks`: the audiogram frequencies, and how sure a threshold is there
    # (`procedure.outcomes`)
    frequencies_hz: tuple[int, ...]
    marks: tuple[str, ...]
    # `threshold_db_hl`, `gain_db`, `gain_low_db`, `gain_high_db`: The threshold a gain was taken
    # from, that gain at conversational speech, and its 95 % band. Where there was no response the
    # threshold is the limit, and the gain the least there can be; where no tone was asked
    # (`Outcome.INFERRED`) it was inferred.
    threshold_db_hl: FloatArray
    gain_db: FloatArray
    gain_low_db: FloatArray
    gain_high_db: FloatArray
    compression: Compression
    # of the thresholds that are known less well than the test wanted, by frequency: how far the 95
    # % band reaches to either side
    wide_db: dict[int, float]


def prescribe_ear(session: RecordedSession, ear: str, rule: str) -> EarPrescription:
    """Prescribe for one ear of a session.

    Parameters
    ----------
    session : RecordedSession
    ear : str
        "left" or "right".
    rule : str
        As `insertion_gain` takes it.

    Raises
    ------
    NothingToPrescribeError
        If the ear was not tested, its answers are not reliable, or the frequencies of the test do
        not span what the rule needs.
    """
    found = _result_of(session, ear)
    thresholds = found.thresholds
    frequencies_hz = [threshold.frequency_hz for threshold in thresholds]
    estimator = session.test.ears[ear].estimator
    mean_db_hl, _ = estimator.threshold(frequencies_hz)
    point_db_hl = np.array(
        [_point_db_hl(float(m), t) for m, t in zip(mean_db_hl, thresholds, strict=True)]
    )
    draws_db_hl = _draws(*estimator.joint_threshold(frequencies_hz)).T
    draws_db_hl = np.array(
        [_beyond(draws, t) for draws, t in zip(draws_db_hl, thresholds, strict=True)]
    ).T
    try:
        gain_db = insertion_gain(rule, frequencies_hz, point_db_hl)
    except ValueError as error:
        raise NothingToPrescribeError(f"{session.path}: {ear} ear: {error}") from None
    gains_db = insertion_gain(rule, frequencies_hz, draws_db_hl)
    tail = 0.5 * (1.0 - BAND_PROBABILITY)
    low_db, high_db = np.quantile(gains_db, (tail, 1.0 - tail), axis=0)
    return EarPrescription(
        ear, rule, tuple(frequencies_hz), tuple(threshold.mark for threshold in thresholds),
        point_db_hl, gain_db, low_db, high_db, compression(frequencies_hz, gain_db),
        _wide_db(thresholds, session.settings.wanted_half_width_db),
    )  # fmt: skip


def _wide_db(
    thresholds: Iterable[ThresholdResult], wanted_db: Callable[[float], float]
) -> dict[int, float]:
    wide = [found for found in thresholds if found.is_wider_than(wanted_db(found.frequency_hz))]
    return {
        found.frequency_hz: found.half_width_db
        for found in wide
        if found.mark == Outcome.MEASURED and found.half_width_db is not None
    }


def _result_of(session: RecordedSession, ear: str) -> EarResult:
    by_ear = session.result.by_ear
    if ear not in by_ear:
        raise NothingToPrescribeError(
            f"{session.path}: the {ear} ear was not tested; tested: {', '.join(by_ear)}"
        )
    found = by_ear[ear]
    if found.outcome == Outcome.UNRELIABLE or not session.test.ears[ear].estimator.trial_count:
        why = found.why or "no tone was measured"
        raise NothingToPrescribeError(f"{session.path}: {ear} ear {found.outcome}: {why}")
    return found


def _draws(weight: FloatArray, mean_db_hl: FloatArray, covariance_db2: FloatArray) -> FloatArray:
    """Draw threshold curves from a mixture of Gaussians, (DRAWS, m)."""
    chance = np.random.Generator(np.random.Philox(SEED))
    counts = chance.multinomial(DRAWS, weight / weight.sum())
    return np.concatenate(
        [
            chance.multivariate_normal(mean, covariance, count, method="eigh")
            for count, mean, covariance in zip(counts, mean_db_hl, covariance_db2, strict=True)
        ]
    )


def _point_db_hl(mean_db_hl: float, found: ThresholdResult) -> float:
    """Return the threshold to take the gain from: the limit, where it lies beyond that.

    What was not asked has the number that was inferred for it.
    """
    reading = read(found)
    if reading.kind in (Kind.ABOVE, Kind.AT_MOST) and reading.level_db_hl is not None:
        return reading.level_db_hl
    return mean_db_hl if found.limit_db_hl is None else min(mean_db_hl, found.limit_db_hl)


def _beyond(draws_db_hl: FloatArray, found: ThresholdResult) -> FloatArray:
    """Keep drawn thresholds on the side of the limit on which the threshold is known to lie."""
    low_db_hl, high_db_hl = THRESHOLD_LIMITS_DB_HL
    reading = read(found)
    if reading.kind == Kind.ABOVE and reading.level_db_hl is not None:
        low_db_hl = reading.level_db_hl
    elif reading.kind == Kind.AT_MOST and reading.level_db_hl is not None:
        high_db_hl = reading.level_db_hl
    return np.clip(draws_db_hl, low_db_hl, high_db_hl)
