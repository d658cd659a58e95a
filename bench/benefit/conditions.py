"""What an ear can be given: nothing, one fit for all, that of its thresholds, or of a test."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.hearing_aid.electroacoustics import FREQUENCIES_HZ
from device.hearing_aid.fit import Fit
from device.hearing_aid.prescription import fit_of_thresholds
from device.simulator.preferences import drawn_wish_db
from device.speech import FloatArray
from firmware_py.comparisons.space import DIMENSIONS, STEP_DB, Setting
from firmware_py.terms.route import LEFT, RIGHT
from firmware_py.terms.settings import BRISK
from host_tools.research.methods.names import METHODS_LEARNED, METHODS_USUAL
from host_tools.research.methods.registry import Learned, make_method
from host_tools.research.study.listener import Answering, Ear, Listener
from host_tools.research.study.session import SessionClock, task_of

UNAIDED: Final = "unaided"
UNTESTED: Final = "no test"  # the fit for what the estimator expects before the first tone
TRUE: Final = "true thresholds"
OWN: Final = "gp-pta-untold"  # what the device does: it is told nothing of the listener
COMPARED: Final = METHODS_USUAL  # all of them are told the listener's noise and rates
COUNTS: Final = (10, 20, 30)
SEED: Final = 1
ANSWERING: Final = Answering(response_noise_db=2.0, lapse_rate=0.01, false_alarm_rate=0.01)
RESPONSE_TIME_S: Final = 0.4  # median


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
    untested = make_method(OWN, task_of(ear, SEED, ANSWERING, 1)).threshold(FREQUENCIES_HZ)[0]
    yield Aided(Condition(UNTESTED), _fit(np.array(untested), UNTESTED))
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
    """Yield the fits from what a method has found after each number of tones, which rise.

    The listener has the same luck with every method. Of one that ends before, what it ended with.
    """
    tested = make_method(method, task_of(ear, SEED, ANSWERING, counts[-1]), learned)
    listener = Listener(ear, ANSWERING, SEED, counts[-1])
    clock = SessionClock(ear.name, SEED, counts[-1], BRISK, RESPONSE_TIME_S)
    ended = False
    for tone in range(counts[-1]):
        stimulus = None if ended else tested.next_stimulus()
        ended = stimulus is None
        if stimulus is not None:
            at = (stimulus.frequency_hz, stimulus.level_db_hl)
            heard = listener.hears(tone, *at)
            tested.observe(*at, heard)
            clock.play(tone, heard)
        if tone + 1 in counts:
            fit = _fit(np.array(tested.threshold(FREQUENCIES_HZ)[0]), f"{method}, {tone + 1} tones")
            yield Aided(Condition(method, tone + 1), fit, clock.seconds)


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
