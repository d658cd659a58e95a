"""What an ear can be given: nothing, one fit for all, that of its thresholds, or of a test."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bench.benefit.sessions import thresholds_after, thresholds_before
from device.hearing_aid.electroacoustics import FREQUENCIES_HZ
from device.hearing_aid.fit import Fit
from device.hearing_aid.prescription import fit_of_thresholds
from device.simulator.preferences import drawn_wish_db
from device.speech import FloatArray
from firmware_py.procedure.route import LEFT, RIGHT
from firmware_py.procedure.tuning.space import DIMENSIONS, STEP_DB, Setting
from host_tools.research.methods.names import METHODS_LEARNED, METHODS_USUAL
from host_tools.research.methods.registry import Learned
from host_tools.research.study.listener import Ear

UNAIDED: Final = "unaided"
UNTESTED: Final = "no test"  # the fit for what the estimator expects before the first tone
TRUE: Final = "true thresholds"
OWN: Final = "gp-pta-untold"  # what the device does: it is told nothing of the listener
COMPARED: Final = METHODS_USUAL  # all of them are told the listener's noise and rates
COUNTS: Final = (10, 20, 30)
SEED: Final = 1


@dataclass(frozen=True)
class Condition:
    """What is done for an ear."""

    name: str  # one of the above, or of the method whose thresholds the fit is from
    tones: int = 0
    tuned: bool = False  # and then changed as the person wishes


@dataclass(frozen=True, eq=False)
class Aided:
    """A condition as one ear has it."""

    condition: Condition
    fit: Fit | None  # None: there is no aid
    seconds: float = 0.0  # of the test


def own_conditions(ear: Ear, number: int) -> Iterator[Aided]:
    """Yield the conditions without other methods; person `number` has wishes of his own."""
    yield Aided(Condition(UNAIDED), None)
    yield Aided(Condition(UNTESTED), _fit(thresholds_before(OWN, ear, SEED), UNTESTED))
    truth = np.array([ear.audiogram.threshold_db_hl(f) for f in FREQUENCIES_HZ])
    fit = _fit(truth, TRUE)
    yield Aided(Condition(TRUE), fit)
    yield Aided(Condition(TRUE, tuned=True), tune_as_wished(fit, number))
    *_, last = tested = list(tested_conditions(OWN, ear, COUNTS, Learned()))
    yield from tested
    assert last.fit is not None
    condition = Condition(OWN, last.condition.tones, tuned=True)
    yield Aided(condition, tune_as_wished(last.fit, number), last.seconds)


def tested_conditions(
    method: str, ear: Ear, counts: Sequence[int], learned: Learned
) -> Iterator[Aided]:
    """Yield the fits from what a method has found after each number of tones."""
    for found in thresholds_after(method, ear, counts, SEED, learned):
        fit = _fit(found.thresholds_db_hl, f"{method}, {found.tones} tones")
        yield Aided(Condition(method, found.tones), fit, found.seconds)


def compared_methods(has_learned: bool) -> tuple[str, ...]:
    """Return the methods to compare; those that learn only where there was something to learn."""
    return tuple(m for m in COMPARED if has_learned or m not in METHODS_LEARNED)


def tune_as_wished(fit: Fit, number: int) -> Fit:
    """Return a fit with the wishes of person `number`, as far as the fit lets them come true."""
    wish_db = drawn_wish_db([d.wish_sd_db for d in DIMENSIONS], number)
    ranges_db = fit.ranges_db()
    steps = {}
    for dimension, wanted_db in zip(DIMENSIONS, wish_db, strict=True):
        low_db, high_db = ranges_db[dimension.name]
        low, high = math.ceil(low_db / STEP_DB), math.floor(high_db / STEP_DB)
        steps[dimension.name] = STEP_DB * min(max(round(wanted_db / STEP_DB), low), high)
    return fit.tune(Setting(**steps))


def _fit(thresholds_db_hl: FloatArray, source: str) -> Fit:
    both = {LEFT: thresholds_db_hl, RIGHT: thresholds_db_hl}
    return fit_of_thresholds(FREQUENCIES_HZ, both, source=source)
