"""An audiogram as `drawing_js/audiogram.js` takes it: JSON values, in its own words.

With it the posterior over frequency, as it is drawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from firmware_py.ear.ear import EarTest
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.findings.convention import shift_db
from firmware_py.findings.norms import AgeNorm
from firmware_py.findings.rows import row, verdict_row
from firmware_py.inference.kernel import Array
from firmware_py.paper.head import state_row
from firmware_py.paper.source import Source
from firmware_py.terms.calibration_states import HOLDING
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.reasons import as_json
from firmware_py.terms.results import EarResult, ThresholdResult
from firmware_py.terms.shown_threshold import as_shown, is_wide
from firmware_py.terms.verdicts import has_thresholds, may_conclude
from host_tools.papers import Shown
from host_tools.recordings.recorded_session import RecordedSession, ReplayedSession, Trial

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
    floors_db_hl = ear.levels.floors_db_hl(at_hz)
    return Curve(*(np.clip(each + above_db, floors_db_hl, limits_db_hl) for each in levels_db_hl))


JsonObject = dict[str, Any]


def audiogram_as_json(
    ear: EarResult, source: Source, session: RecordedSession, shown: Shown
) -> JsonObject:
    """Return the audiogram of an ear that the source draws; by air with what was found by bone.

    `shown` says the words across it.
    """
    norm = source.norm if isinstance(source.norm, AgeNorm) and may_conclude(ear) else None
    around = {
        "norm": None if norm is None else norm.lines(source.below_clinical_db(ear)),
        "watermark": watermark(source, shown, ear),
    }
    others = [_over_it(each, source) for each in source.besides(ear)]
    told = source.course.discomfort.get(ear.route.ear)
    discomfort = {"discomfort": as_json(told.levels)} if told else {}
    if not isinstance(session, ReplayedSession):
        return {"ears": [_over_it(ear, source) | discomfort, *others], "limit": None, **around}
    tested = session.test.ears[ear.route]
    drawn: JsonObject = {
        **ear.route.parts(),
        "thresholds": _thresholds_as_json(ear, source),
        "asked_hz": [tone.frequency_hz for tone in asked_tones(tested)],
        "tones": [tone_as_json(trial, session) for trial in drawn_tones(ear, session)],
        **discomfort,
    }
    if any(each.threshold_db_hl is not None for each in ear.thresholds):
        drawn["curve"] = _curve(tested, shift_db(ear, source.convention))
    else:
        drawn["curve"] = {"frequencies_hz": [], "low_db_hl": [], "high_db_hl": []}
    return {"ears": [drawn, *others], "limit": limit_as_json(tested), **around}


def _over_it(ear: EarResult, source: Source) -> JsonObject:
    """Return symbols with their bands alone: of an ear by bone, or of one not replayed."""
    readings = map(as_shown, ear.thresholds)
    thresholds = [
        {**told, "low_db_hl": reading.low_db_hl, "high_db_hl": reading.high_db_hl}
        for told, reading in zip(_thresholds_as_json(ear, source), readings, strict=True)
    ]
    return {**ear.route.parts(), "thresholds": thresholds, "asked_hz": [], "tones": []}


def watermark(source: Source, shown: Shown, ear: EarResult | None = None) -> str:
    """Return what stands across an audiogram, "" for nothing.

    One word has room: of an ear that could not be tested there is no level that a calibration could
    change, and of a doubtful one nominal levels are the greater doubt.
    """
    state = source.calibration.state
    uncalibrated = state not in HOLDING
    if ear is not None and not may_conclude(ear) and not (uncalibrated and has_thresholds(ear)):
        return shown.say(verdict_row(ear.verdict)).upper()
    if uncalibrated:
        return shown.say(state_row(state))
    return shown.say(row("simulated-mark")) if source.simulated else ""


def drawn_tones(ear: EarResult, session: ReplayedSession) -> list[Trial]:
    """Return the tones that are drawn: none where a threshold must not be read off them."""
    return session.trials_of(ear.route) if has_thresholds(ear) else []


def asked_tones(tested: EarTest) -> list[Presentation]:
    answered = [each.presentation for each in tested.observations]
    return [each for each in answered if each.is_asked]


def threshold_as_drawn(found: ThresholdResult) -> JsonObject:
    reading = as_shown(found)
    return {
        "frequency_hz": found.frequency_hz,
        "kind": reading.kind,
        "level_db_hl": reading.level_db_hl,
        "symbol": reading.symbol,
    }


def _thresholds_as_json(ear: EarResult, source: Source) -> list[JsonObject]:
    again = {each.frequency_hz: each.threshold_db_hl for each in ear.confirmed}
    return [
        {
            **threshold_as_drawn(each),
            "wide": is_wide(each, source.wanted_db(ear, each)),
            "confirmed_db_hl": again.get(each.frequency_hz),
        }
        for each in ear.thresholds
    ]


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
