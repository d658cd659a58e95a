"""An audiogram as `drawing_js/audiogram.js` takes it: JSON values, in its own words.

With it the posterior over frequency, as it is drawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from firmware_py.calibration.in_force import HOLDING
from firmware_py.findings.norms import norm_of
from firmware_py.inference.kernel import Array
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.outcomes import Purpose
from firmware_py.procedure.presentation import Presentation
from firmware_py.procedure.reading import read
from firmware_py.procedure.results import ThresholdResult
from firmware_py.procedure.threshold_estimates import BAND_PROBABILITY
from firmware_py.procedure.verdicts import has_thresholds, may_conclude
from host_tools.commands.report.findings import EarFindings, Findings, Threshold
from host_tools.commands.report.words import Words
from host_tools.recordings.recorded_session import RecordedSession, ReplayedSession, Trial
from host_tools.recordings.verdicts import verdict_word

POINTS_PER_OCTAVE: Final = 8  # audiogram frequencies of whole octaves are among them


@dataclass(frozen=True)
class Curve:
    """Mean and 95 % band of the threshold, dB HL, at the frequencies of `frequencies_hz`."""

    mean_db_hl: Array
    low_db_hl: Array
    high_db_hl: Array


def frequencies_hz(range_hz: tuple[float, float]) -> list[float]:
    low_hz, high_hz = range_hz
    count = max(round(POINTS_PER_OCTAVE * np.log2(high_hz / low_hz)), 1) + 1
    inner = np.geomspace(low_hz, high_hz, count)[1:-1].tolist()
    return [low_hz, *inner, high_hz]


def curve_of(ear: EarTest, above_db: float = 0.0) -> Curve:
    """Return the present posterior of an ear, within the levels that it could be asked.

    It is that of thresholds so much above 50 % points.
    """
    estimator = ear.estimator
    at_hz = frequencies_hz(estimator.frequency_range_hz)
    limits_db_hl = ear.levels.limits_db_hl(at_hz)
    levels_db_hl = estimator.threshold(at_hz)[0], *estimator.threshold_band(at_hz, BAND_PROBABILITY)
    floor_db_hl = ear.levels.floor_db_hl
    return Curve(*(np.clip(each + above_db, floor_db_hl, limits_db_hl) for each in levels_db_hl))


JsonObject = dict[str, Any]


def audiogram_as_json(ear: EarFindings, findings: Findings, session: RecordedSession) -> JsonObject:
    """Return the audiogram of an ear, with what was found of it by bone, if this is by air."""
    norm = norm_of(session.person) if findings.norm_title and may_conclude(ear) else None
    around = {
        "norm": None if norm is None else norm.lines(ear.below_clinical_db),
        "watermark": watermark(findings, ear),
    }
    others = [*map(_over_it, findings.besides(ear))]
    if not isinstance(session, ReplayedSession):
        return {"ears": [_over_it(ear), *others], "limit": None, **around}
    tested = session.test.ears[ear.route]
    drawn: JsonObject = {
        **ear.route.parts(),
        "thresholds": [_threshold_as_json(each) for each in ear.thresholds],
        "asked_hz": [tone.frequency_hz for tone in asked_tones(tested)],
        "tones": [tone_as_json(trial, session) for trial in drawn_tones(ear, session)],
    }
    if any(each.threshold_db_hl is not None for each in ear.thresholds):
        drawn["curve"] = _curve(tested, ear.above_50_percent_db)
    else:
        drawn["curve"] = {"frequencies_hz": [], "low_db_hl": [], "high_db_hl": []}
    return {"ears": [drawn, *others], "limit": limit_as_json(tested), **around}


def _over_it(ear: EarFindings) -> JsonObject:
    """Return symbols with their bands alone: of an ear by bone, or of one not replayed."""
    thresholds = []
    for each in ear.thresholds:
        reading = read(each)
        band = {"low_db_hl": reading.low_db_hl, "high_db_hl": reading.high_db_hl}
        thresholds.append({**_threshold_as_json(each), **band})
    return {**ear.route.parts(), "thresholds": thresholds, "asked_hz": [], "tones": []}


def watermark(findings: Findings, ear: EarFindings | None = None) -> str:
    """Return what stands across an audiogram, "" for nothing.

    One word has room: of an ear that could not be tested there is no level that a calibration could
    change, and of a doubtful one nominal levels are the greater doubt.
    """
    words = Words.of(findings)
    uncalibrated = findings.calibration_state not in HOLDING
    if ear is not None and not may_conclude(ear) and not (uncalibrated and has_thresholds(ear)):
        return verdict_word(ear.verdict, words.catalogue).upper()
    if uncalibrated:
        return words.state(findings.calibration_state)
    return words.say("simulated_mark") if findings.simulated else ""


def drawn_tones(ear: EarFindings, session: ReplayedSession) -> list[Trial]:
    """Return the tones that are drawn: none where a threshold must not be read off them."""
    return session.trials_of(ear.route) if has_thresholds(ear) else []


def asked_tones(tested: EarTest) -> list[Presentation]:
    """Return the tones whose answers count."""
    answered = [each.presentation for each in tested.observations]
    return [each for each in answered if each.is_asked]


def threshold_as_drawn(found: ThresholdResult) -> JsonObject:
    reading = read(found)
    return {
        "frequency_hz": found.frequency_hz,
        "kind": reading.kind,
        "level_db_hl": reading.level_db_hl,
        "symbol": reading.symbol,
    }


def _threshold_as_json(found: Threshold) -> JsonObject:
    again = None if found.confirmed is None else found.confirmed.threshold_db_hl
    return {**threshold_as_drawn(found), "wide": found.wide, "confirmed_db_hl": again}


def tone_as_json(trial: Trial, session: ReplayedSession) -> JsonObject:
    return {
        "number": trial.number,
        "frequency_hz": trial.frequency_hz,
        "level_db_hl": trial.level_db_hl,
        "heard": trial.heard,
        "counts": trial.purpose in session.counted,
        "retest": trial.purpose == Purpose.RETEST,
    }


def limit_as_json(tested: EarTest) -> JsonObject:
    """Return up to where an ear could be asked."""
    at_hz = tested.estimator.candidate_frequencies_hz
    return _line(at_hz, (tested.levels.limit_db_hl(f) for f in at_hz))


def _curve(tested: EarTest, above_db: float) -> JsonObject:
    curve = curve_of(tested, above_db)
    return {
        "frequencies_hz": _round(frequencies_hz(tested.estimator.frequency_range_hz)),
        "low_db_hl": _round(curve.low_db_hl),
        "high_db_hl": _round(curve.high_db_hl),
    }


def _line(at_hz: Iterable[float], levels_db_hl: Iterable[float]) -> JsonObject:
    return {"frequencies_hz": [*at_hz], "levels_db_hl": _round(levels_db_hl)}


def _round(values: Iterable[float]) -> list[float]:
    return [round(float(each), 1) for each in values]
