"""What a recorded ear prescribes: gains with their bands, from thresholds with theirs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from device.hearing_aid.fit import Fit
from device.hearing_aid.limits import CLOSED
from device.hearing_aid.prescription import (
    Prescribed,
    fit_of_thresholds,
    fitted_ear,
    prescribed,
)
from device.hearing_aid.rules import NAL_R, THRESHOLD_LIMITS_DB_HL
from device.hearing_aid.speech import CONVERSATION_DB_SPL, SPEECH_LEVELS_DB_SPL, FloatArray
from device.hearing_aid.whose import Whose
from firmware_py.console.verdicts import verdict_words
from firmware_py.procedure.audiogram import BAND_PROBABILITY
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.reading import Kind, read
from firmware_py.procedure.results import EarResult, ThresholdResult
from firmware_py.procedure.statements import may_conclude
from host_tools.errors import HostError
from host_tools.recorded import RecordedSession

DRAWS: Final = 4000  # of the joint posterior: the ends of a 95 % band are then good to 0.1 SD
SEED: Final = 1  # of the draws, so that the same journal prescribes the same
HELD_DB: Final = 0.5  # less than the rule's gain by that: a limit holds it


class NothingToPrescribeError(HostError):
    """An ear, or a session, of which too little is known; why in words."""


@dataclass(frozen=True)
class Banded:
    """What each band of an ear is set to, and the 95 % band of it, (m,)."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class EarPrescription:
    """The prescription for one ear."""

    ear: str
    rule: str
    coupling: str
    # `frequencies_hz`, `marks`: the audiogram frequencies, and how sure a threshold is there
    # (`procedure.outcomes`)
    frequencies_hz: tuple[int, ...]
    marks: tuple[str, ...]
    # The thresholds that all else was taken from: where there was no response the limit, and where
    # no tone was asked (`Outcome.INFERRED`) what was inferred; and curves from their posterior.
    threshold_db_hl: FloatArray
    draws_db_hl: FloatArray  # (n, m)
    prescribed: Prescribed
    # `gain_at_db`: gain by the level of speech over all bands; where there was no response it is
    # the least there can be. `knee_db_spl`, `ratio`: of the compression; `output_max_db_spl`.
    gain_at_db: dict[float, Banded]
    knee_db_spl: Banded
    ratio: Banded
    output_max_db_spl: Banded
    # of the thresholds that are known less well than the test wanted, by frequency: how far the 95
    # % band reaches to either side
    wide_db: dict[int, float]
    # where the other ear may have heard the tones: threshold and gain are the least there can be
    doubtful_hz: tuple[int, ...]

    @property
    def gain_db(self) -> FloatArray:
        """Return the gains at conversational speech."""
        return self.gain_at_db[CONVERSATION_DB_SPL].value

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """Return at which frequencies that gain is less than the rule's, for a limit."""
        return self.prescribed.target_db > self.gain_db + HELD_DB


def prescribe_ear(
    session: RecordedSession, ear: str, rule: str, coupling: str = CLOSED
) -> EarPrescription:
    """Prescribe for one ear of a session.

    Parameters
    ----------
    session : RecordedSession
    ear : str
        "left" or "right".
    rule : str
        As `insertion_gain` takes it.
    coupling : str
        As `limits` takes it.

    Raises
    ------
    NothingToPrescribeError
        If the ear was not tested, its test is not valid, its answers are not reliable, or the
        frequencies of the test do not span what the rule needs.
    """
    thresholds = _result_of(session, ear).thresholds
    frequencies_hz = [threshold.frequency_hz for threshold in thresholds]
    estimator = session.test.ears[ear].estimator
    mean_db_hl, _ = estimator.threshold(frequencies_hz)
    highest_db_hl = _highest_db_hl(thresholds)
    point_db_hl = np.array(
        [
            min(_point_db_hl(float(mean), found), highest_db_hl)
            for mean, found in zip(mean_db_hl, thresholds, strict=True)
        ]
    )
    draws_db_hl = _draws(*estimator.joint_threshold(frequencies_hz)).T
    draws_db_hl = np.array(
        [_beyond(draws, t) for draws, t in zip(draws_db_hl, thresholds, strict=True)]
    ).T
    centers_hz = np.array(frequencies_hz, dtype=np.float64)
    try:
        point = prescribed(centers_hz, point_db_hl, rule, coupling)
        drawn = prescribed(centers_hz, draws_db_hl, rule, coupling)
    except ValueError as error:
        raise NothingToPrescribeError(f"{session.path}: {ear} ear: {error}") from None
    table, tables_db = fitted_ear(ear, point).table, drawn.table_db()
    return EarPrescription(
        ear=ear,
        rule=rule,
        coupling=coupling,
        frequencies_hz=tuple(frequencies_hz),
        marks=tuple(threshold.mark for threshold in thresholds),
        threshold_db_hl=point_db_hl,
        draws_db_hl=draws_db_hl,
        prescribed=point,
        gain_at_db={
            level: _banded(table.at_speech_db(level), table.at_speech_db(level, tables_db))
            for level in SPEECH_LEVELS_DB_SPL
        },
        knee_db_spl=_banded(point.compression.knee_db_spl, drawn.compression.knee_db_spl),
        ratio=_banded(point.compression.ratio, drawn.compression.ratio),
        output_max_db_spl=_banded(point.limits.output_max_db_spl, drawn.limits.output_max_db_spl),
        wide_db=_wide_db(thresholds, session.settings.wanted_half_width_db),
        doubtful_hz=tuple(found.frequency_hz for found in thresholds if read(found).doubtful),
    )


def fit_of_ears(session: RecordedSession, ears: Sequence[EarPrescription]) -> Fit:
    """Return the fit that a hearing aid gets from these prescriptions, one or two.

    Raises
    ------
    HostError
        If no aid may get it; the message says why.
    """
    first = ears[0]
    try:
        fit = fit_of_thresholds(
            first.frequencies_hz, {ear.ear: ear.threshold_db_hl for ear in ears},
            first.rule, first.coupling, session.name, {ear.ear: ear.draws_db_hl for ear in ears},
        )  # fmt: skip
    except ValueError as error:
        raise HostError(f"{session.path}: {error}") from None
    return replace(fit, of=_whose(session, [ear.ear for ear in ears]))


def _whose(session: RecordedSession, ears: Sequence[str]) -> Whose:
    header, by_ear = session.header, session.result.by_ear
    return Whose(
        session.person.identifier,
        header.session,
        header.started,
        header.device or None,
        {ear: tuple(by_ear[ear].boards) for ear in ears},
    )


def fit_of_session(
    session: RecordedSession, rule: str = NAL_R, coupling: str = CLOSED, ear: str | None = None
) -> Fit:
    """Return the fit that a session prescribes.

    Parameters
    ----------
    session : RecordedSession
    rule, coupling : str
        As of `prescribe_ear`.
    ear : str, optional
        "left" or "right"; None: all ears that were tested and can be fitted.

    Raises
    ------
    HostError
        `NothingToPrescribeError`, as of `prescribe_ear`, for the ear that was asked for, or if
        there is no ear to fit.
    """
    return fit_of_ears(session, prescribe_session(session, rule, coupling, ear))


def prescribe_session(
    session: RecordedSession, rule: str, coupling: str, ear: str | None = None
) -> list[EarPrescription]:
    """Prescribe for the ears asked for; one that cannot be is an error if it is the only one."""
    found, refused = [], []
    for each in [ear] if ear else [*session.result.by_ear]:
        try:
            found.append(prescribe_ear(session, each, rule, coupling))
        except NothingToPrescribeError as error:
            refused.append(error)
    if refused and (ear or not found):
        raise refused[0]
    return found


def _banded(value: FloatArray, drawn: FloatArray) -> Banded:
    tail = 0.5 * (1.0 - BAND_PROBABILITY)
    low, high = np.quantile(drawn, (tail, 1.0 - tail), axis=0)
    return Banded(value, low, high)


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
    if not may_conclude(found):
        why = verdict_words(found)
        raise NothingToPrescribeError(f"{session.path}: {ear} ear: {why}; so nothing is prescribed")
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
    highest_db_hl = mean_db_hl if found.limit_db_hl is None else found.limit_db_hl
    # Where nothing was asked beside what is heard at the floor, the posterior of an ear that hears
    # everything may have a mean that no rule takes. From there on there is no gain in any case.
    return max(min(mean_db_hl, highest_db_hl), THRESHOLD_LIMITS_DB_HL[0])


def _highest_db_hl(thresholds: Iterable[ThresholdResult]) -> float:
    """Return the highest threshold to take a gain from: a limit without response, if there is one.

    What was inferred beyond it, between limits, would have more gain than what was asked there.
    """
    readings = [read(found) for found in thresholds]
    limits_db_hl = [r.level_db_hl for r in readings if r.kind == Kind.ABOVE and r.level_db_hl]
    return max(limits_db_hl, default=THRESHOLD_LIMITS_DB_HL[1])


def _beyond(draws_db_hl: FloatArray, found: ThresholdResult) -> FloatArray:
    """Keep drawn thresholds on the side of the limit on which the threshold is known to lie."""
    low_db_hl, high_db_hl = THRESHOLD_LIMITS_DB_HL
    reading = read(found)
    if reading.kind == Kind.ABOVE and reading.level_db_hl is not None:
        low_db_hl = reading.level_db_hl
    elif reading.kind == Kind.AT_MOST and reading.level_db_hl is not None:
        high_db_hl = reading.level_db_hl
    return np.clip(draws_db_hl, low_db_hl, high_db_hl)
