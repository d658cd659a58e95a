"""The session as it went: posterior and objective of each ear after every answer.

What an answer does not change is kept once: a clinical test does not give the estimator the answers
of the familiarisation. Levels are in tenths of a decibel, the objective a character a cell, so that
a session of 80 tones stays far below a megabyte.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from firmware_py.ear.ear import EarTest
from firmware_py.findings.convention import ear_in_convention, shift_db
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.kernel import Array
from firmware_py.session.ear_result import result_of
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import ROUTES, Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.verdicts import has_thresholds
from host_tools.commands.report.drawn import (
    curve_of,
    frequencies_hz,
    limit_as_json,
    threshold_as_drawn,
    tone_as_json,
)
from host_tools.recordings.recorded_session import ReplayedSession, Trial

LEVEL_STEP_DB: Final = 2.5  # of the cells of the objective
# From nothing to the most that one answer can tell, 1 bit, in steps of the square root: late in a
# session a tenth of a bit is much.
CHARACTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"


@dataclass
class History:
    """Watches a session that is read (`replay_session`), and keeps what a page shows of it."""

    convention: str | None = None  # of its thresholds; None: that of the session's settings
    # the snapshot of each ear before its first answer
    first: dict[Route, int] = field(default_factory=dict)
    # the snapshot after each trial, of the trial's ear
    after: list[int] = field(default_factory=list)
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    _seen: dict[tuple[Route, int, int, float], int] = field(default_factory=dict)

    def __call__(self, test: HearingTest, trial: Trial) -> None:
        route = trial.route
        ear = test.ears[route]
        self.after.append(self._place(ear, lambda: test.result().by_route[route], test.settings))

    def _place(self, ear: EarTest, found: Callable[[], EarResult], settings: Settings) -> int:
        """Return which snapshot is that of an ear as it is; the first time it is taken."""
        estimator = ear.estimator
        # The same number of answers may be others: some can be forgotten and asked again.
        key = (
            ear.route, estimator.trial_count, ear.catch_trials.count, estimator.log_evidence,
        )  # fmt: skip
        if key not in self._seen:
            self._seen[key] = len(self.snapshots)
            convention = self.convention or settings.threshold_convention
            self.snapshots.append(_snapshot(ear, found(), convention))
        return self._seen[key]

    def as_json(self, session: ReplayedSession) -> dict[str, Any]:
        """Return everything the page's program needs, as JSON values.

        Of an ear that could not be tested that is its tones alone: its snapshots are null.
        """
        ears = session.test.ears
        routes = sorted(ears, key=ROUTES.index)
        first = ears[routes[0]]
        others = [route for route in routes if route.kind is not first.route.kind]
        for route in routes:
            self._before_first(route, session)
        return {
            "ears": [*map(str, routes)],
            **_places_of(first),
            **({"of_route": {str(r): _places_of(ears[r]) for r in others}} if others else {}),
            "limits": {str(r): limit_as_json(session.test.ears[r]) for r in routes},
            "counted": [*session.counted],
            "trials": [
                _trial(t, session, i) for t, i in zip(session.trials, self.after, strict=True)
            ],
            "first": {str(route): place for route, place in self.first.items()},
            "snapshots": self._tell(session),
            "pending": _pending(session),
        }

    def _tell(self, session: ReplayedSession) -> list[dict[str, Any] | None]:
        told: list[dict[str, Any] | None] = [*self.snapshots]
        for (route, *_), place in self._seen.items():
            if not has_thresholds(session.result.by_route[route]):
                told[place] = None
        return told

    def _before_first(self, route: Route, session: ReplayedSession) -> None:
        # A watcher sees an ear only after its first answer.
        calibration = session.calibration
        unasked = EarTest(
            route, session.settings, session.person, calibration.highest_db_hl, session.prior,
            calibration.audiogram_hz,
        )  # fmt: skip
        self.first[route] = self._place(unasked, partial(result_of, unasked), session.settings)


def _places_of(ear: EarTest) -> dict[str, Any]:
    """Return where the curves of an ear are known, and where its objective."""
    estimator = ear.estimator
    return {
        "grid_hz": [round(f, 1) for f in frequencies_hz(estimator.frequency_range_hz)],
        "cells": {
            "frequencies_hz": list(estimator.candidate_frequencies_hz),
            "levels_db_hl": _cell_levels(estimator).tolist(),
            "step_db": LEVEL_STEP_DB,
            "characters": CHARACTERS,
        },
    }


def _snapshot(ear: EarTest, found: EarResult, convention: str) -> dict[str, Any]:
    curve = curve_of(ear, shift_db(found, convention))
    thresholds = ear_in_convention(found, convention).thresholds
    snapshot: dict[str, Any] = {
        "mean": _tenths(curve.mean_db_hl),
        "low": _tenths(curve.low_db_hl),
        "high": _tenths(curve.high_db_hl),
        "objective": _characters(ear.estimator.objective(_cell_levels(ear.estimator))),
    }
    widest = ear.audiogram.widest()
    snapshot["thresholds"] = [threshold_as_drawn(each) for each in thresholds]
    snapshot["widest"] = [widest.frequency_hz, round(widest.half_width_db, 1)]
    return snapshot


def _cell_levels(estimator: ThresholdEstimator) -> Array:
    low_db_hl, high_db_hl = estimator.level_limits_db_hl
    return np.arange(low_db_hl, high_db_hl + 1e-9, LEVEL_STEP_DB)


def _tenths(levels_db_hl: Array) -> list[int]:
    tenths: list[int] = np.rint(10.0 * levels_db_hl).astype(int).tolist()
    return tenths


def _characters(bits: Array) -> str:
    """Return a character a cell, all levels of the first frequency first."""
    steps = np.rint(np.sqrt(np.clip(bits, 0.0, 1.0)) * (len(CHARACTERS) - 1)).astype(int)
    return "".join(CHARACTERS[i] for i in steps.ravel())


def _trial(trial: Trial, session: ReplayedSession, snapshot: int) -> dict[str, Any]:
    response_ms = trial.response_ms
    return {
        **tone_as_json(trial, session),
        **trial.route.parts(),
        "purpose": trial.purpose,
        "response_ms": None if response_ms is None else round(response_ms),
        "at_s": round(trial.at_us / 1e6, 1),
        "after": snapshot,
    }


def _pending(session: ReplayedSession) -> dict[str, Any] | None:
    """Return the presentation that was due when the record ended."""
    presentation = session.test.presenter.trial.presentation
    if session.state.result is not None or presentation is None:
        return None
    catch = presentation.frequency_hz == 0.0
    return {
        "number": session.test.number,
        **session.test.presenter.trial.route.parts(),
        "purpose": presentation.purpose,
        "frequency_hz": None if catch else presentation.frequency_hz,
        "level_db_hl": None if catch else presentation.level_db_hl,
    }
