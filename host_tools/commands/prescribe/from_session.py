"""A recorded session as a rule takes it: its thresholds, and what is known of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

import numpy as np

from device.hearing_aid.rules import THRESHOLD_LIMITS_DB_HL
from device.hearing_aid.whose import Whose
from device.speech import FloatArray
from firmware_py.console.wording import verdict_words
from firmware_py.findings.convention import ear_in_convention, shift_db
from firmware_py.operator.replies import whose_line
from firmware_py.terms.calibration_states import UNCALIBRATED
from firmware_py.terms.outcomes import Outcome, Verdict
from firmware_py.terms.results import EarResult, ThresholdResult
from firmware_py.terms.route import BY_AIR, Route
from firmware_py.terms.settings import CLINICAL_ASCENDING
from firmware_py.terms.shown_threshold import Kind, as_shown, is_wide
from firmware_py.terms.verdicts import may_conclude
from firmware_py.terms.words import say
from host_tools.commands.prescribe.gap_part import gap_part
from host_tools.commands.prescribe.source import (
    DRAWS,
    GapPart,
    NothingToPrescribeError,
    Source,
    Taken,
)
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import RecordedSession

SEED: Final = 1  # of the draws of thresholds
BESIDE_SEED: Final = 2  # and of what lies beside the answers: the same journal prescribes the same
# What a threshold is that a rule is given: rules were made for those of clinics.
CONVENTION: Final = CLINICAL_ASCENDING


@dataclass(frozen=True)
class Waived:
    """What somebody asked to pass over, which all that is made then says."""

    uncalibrated: bool = False  # levels that are no dB HL are taken for such
    unjudged: bool = False  # a test counts that the version that recorded it did not judge


NOTHING_WAIVED: Final = Waived()


def source_of_session(session: RecordedSession, waived: Waived = NOTHING_WAIVED) -> Source:
    header, result, calibration = session.header, session.result, session.calibration
    by_air = {each.route.ear: each for each in result.ears if each.route.kind is BY_AIR}
    return Source(
        str(session.path),
        session.name,
        [*dict.fromkeys(each.route.ear for each in result.ears)],
        take=cache(partial(_take, session, waived)),
        whose=Whose(
            session.person.identifier,
            header.session,
            header.started,
            header.device or None,
            {ear: tuple(found.boards) for ear, found in by_air.items()},
            calibration.state,
            CONVENTION,
        ),
        which={"journal": str(session.path)},
        known={
            "calibration": calibration.headline,
            "outcome": result.outcome,
            "verdict": result.verdict,
        },
        headline=whose_line(header, named=True),
        told={ear: each for ear, each in session.course.discomfort.items() if each.levels},
        session=session,
    )


def _take(session: RecordedSession, waived: Waived, ear: str) -> tuple[Taken, GapPart | None]:
    """Return the thresholds of an ear with its gap; refuse what is not waived."""
    given = _thresholds(session, _result_of(session, ear, waived))
    if not given.calibrated and not waived.uncalibrated:
        raise HostError(
            f"{session.path}: {session.calibration.headline}; a rule takes thresholds in dB HL, "
            "and these are none; --uncalibrated makes a fit of them all the same, which says so"
        )
    return given, gap_part(session, ear, given)


def _thresholds(session: RecordedSession, result: EarResult) -> Taken:
    thresholds = ear_in_convention(result, CONVENTION).thresholds
    offset_db = shift_db(result, CONVENTION)
    frequencies_hz = [threshold.frequency_hz for threshold in thresholds]
    known = session.thresholds_of(result)
    mean_db_hl, _ = known.threshold(frequencies_hz)
    highest_db_hl = _highest_db_hl(thresholds)
    point_db_hl = [
        _point_db_hl(float(mean) + offset_db, found, highest_db_hl)
        for mean, found in zip(mean_db_hl, thresholds, strict=True)
    ]
    draws_db_hl = _draws(*known.joint_threshold(frequencies_hz)) + offset_db
    draws_db_hl = (draws_db_hl + _beside(session, result)).T
    within = [_beyond(draws, t) for draws, t in zip(draws_db_hl, thresholds, strict=True)]
    shown = ear_in_convention(result, session.settings.threshold_convention).thresholds
    return Taken(
        tuple(shown),
        tuple(found.mark for found in shown),
        tuple(thresholds),
        offset_db,
        np.array(point_db_hl),
        np.array(within).T,
        session.calibration.state != UNCALIBRATED,
        _wide_db(shown, session),
        tuple(found.frequency_hz for found in shown if as_shown(found).doubtful),
    )


def _wide_db(
    thresholds: Iterable[ThresholdResult], session: RecordedSession
) -> dict[int, tuple[float, float]]:
    wide_db = {}
    for found in thresholds:
        wanted_db = session.settings.wanted_half_width_db(BY_AIR, found.frequency_hz)
        if found.half_width_db is not None and is_wide(found, wanted_db):
            wide_db[found.frequency_hz] = (found.half_width_db, wanted_db)
    return wide_db


def _result_of(session: RecordedSession, ear: str, waived: Waived) -> EarResult:
    by_route = session.result.by_route
    found = by_route.get(Route(ear))
    if found is None:
        raise NothingToPrescribeError(
            f"{session.path}: the {ear} ear was not tested; tested: {', '.join(map(str, by_route))}"
        )
    unjudged = found.verdict == Verdict.NOT_JUDGED
    if not may_conclude(found) and not (unjudged and waived.unjudged):
        why = f"{session.path}: {ear} ear: {verdict_words(found)}; so nothing is prescribed"
        if unjudged:
            why += "; --unjudged makes a fit of it all the same, which says so"
        raise NothingToPrescribeError(why)
    if found.outcome == Outcome.UNRELIABLE or not found.tones:
        why = say(found.why) or "no tone was measured"
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


def _beside(session: RecordedSession, result: EarResult) -> FloatArray:
    """Draw what the whole has beside the answers, (DRAWS, m); nothing if levels are nominal."""
    uncertainty = session.calibration.uncertainty(session.result)
    covariance_db2 = uncertainty.covariance_db2(result.route, result.thresholds)
    chance = np.random.Generator(np.random.Philox(BESIDE_SEED))
    mean_db = np.zeros(len(covariance_db2))
    return chance.multivariate_normal(mean_db, covariance_db2, DRAWS, method="eigh")


def _point_db_hl(mean_db_hl: float, found: ThresholdResult, inferred_max_db_hl: float) -> float:
    """Return the threshold to take the gain from: the limit, where it lies beyond that.

    What was not asked has the number that was inferred for it, or the highest that may be.
    """
    reading = as_shown(found)
    if reading.kind in (Kind.ABOVE, Kind.AT_MOST) and reading.level_db_hl is not None:
        return reading.level_db_hl
    if found.mark == Outcome.INFERRED:
        highest_db_hl = inferred_max_db_hl
    else:
        limits_db_hl = (found.limit_db_hl, found.ceiling_db_hl)
        highest_db_hl = next((db_hl for db_hl in limits_db_hl if db_hl is not None), mean_db_hl)
    # Where nothing was asked beside what is heard at the floor, the posterior of an ear that hears
    # everything may have a mean that no rule takes. From there on there is no gain in any case.
    return max(min(mean_db_hl, highest_db_hl), THRESHOLD_LIMITS_DB_HL[0])


def _highest_db_hl(thresholds: Iterable[ThresholdResult]) -> float:
    """Return the highest that an inferred one is taken for: a limit without response, if any.

    Beyond it, between limits, it would have more gain than what was asked there.
    """
    readings = [as_shown(found) for found in thresholds]
    limits_db_hl = [r.level_db_hl for r in readings if r.kind == Kind.ABOVE and r.level_db_hl]
    return max(limits_db_hl, default=THRESHOLD_LIMITS_DB_HL[1])


def _beyond(draws_db_hl: FloatArray, found: ThresholdResult) -> FloatArray:
    """Keep drawn thresholds on the side of the limit on which the threshold is known to lie."""
    low_db_hl, high_db_hl = THRESHOLD_LIMITS_DB_HL
    reading = as_shown(found)
    if reading.kind == Kind.ABOVE and reading.level_db_hl is not None:
        low_db_hl = reading.level_db_hl
    elif reading.kind == Kind.AT_MOST and reading.level_db_hl is not None:
        high_db_hl = reading.level_db_hl
    return np.clip(draws_db_hl, low_db_hl, high_db_hl)
