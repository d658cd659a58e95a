"""Two methods on the same listeners, in the units of papers: agreement, retest, minutes.

People's tests are published as differences to a manual audiogram and between two tests. So each
ear is tested twice by each method: by the device's procedure, in each conduct, and by the manual
one, a staircase of 5 dB (ASHA 2005). No test meets the same thresholds: each has a drift of its
own, drawn anew, for a day's criterion and the seat of the earphone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final

import numpy as np

from device.simulator.listener import EARS
from firmware_py.findings.convention import ear_in_convention
from firmware_py.terms.outcomes import Outcome, Verdict
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, RIGHT
from firmware_py.terms.settings import BRISK, CLINICAL, CLINICAL_ASCENDING
from host_tools.research.methods.interface import Array
from host_tools.research.methods.per_frequency import CONVENTIONAL_FREQUENCIES_HZ
from host_tools.research.methods.staircase import SETTLED as STAIRCASE_SETTLED
from host_tools.research.methods.staircase import UNSETTLED, StaircaseAsha, StaircaseThreshold
from host_tools.research.study.listener import Answering, Ear, Listener, session_seed, uniforms
from host_tools.research.study.session import SessionClock, task_of
from host_tools.research.study.sitting import Sitting

MANUAL: Final = "manual"
METHODS: Final = (MANUAL, BRISK, CLINICAL)  # the device's by their conduct
# Where both ask: half octaves are asked by a staircase only where their neighbours are far apart.
COMPARED_HZ: Final = tuple(f for f in AUDIOGRAM_FREQUENCIES_HZ if f in CONVENTIONAL_FREQUENCIES_HZ)
TWICE: Final = (1, 2)
MANUAL_TONES_MAX: Final = 900  # a staircase ends by itself: 120 tones a frequency at most
_DRIFT_STREAM: Final = 11  # of the random numbers; others are in `listener.py`
_STANDARD_NORMAL: Final = NormalDist()

# Why there is no number at a frequency.
LIMIT: Final = "limit"  # no response at the highest level, or all is heard at the lowest
NOT_ASKED: Final = "not asked"  # by the device: inferred from the neighbours
OPEN: Final = "open"  # beyond the limit perhaps, or no criterion was met
NOT_VALID: Final = "not valid"  # the whole test: did somebody listen?
REASONS: Final = (LIMIT, NOT_ASKED, OPEN, NOT_VALID)


@dataclass(frozen=True)
class Drift:
    """How far the thresholds of one test lie from those of the ear.

    Normal at each frequency, with a correlation of exp(-distance / `octaves`) between two.
    """

    sd_db: float
    octaves: float  # 0: each frequency by itself

    def of_test(self, ear: Ear, seed: int) -> Array:
        """Return it at the frequencies of an ear, (m,), by its name and seed."""
        chances = uniforms(ear.name, seed, _DRIFT_STREAM, len(ear.frequencies_hz)).tolist()
        alone = np.array([_STANDARD_NORMAL.inv_cdf(chance + 2.0**-54) for chance in chances])
        return self.sd_db * self.correlate(alone, ear.frequencies_hz)

    def correlate(self, alone: Array, frequencies_hz: Sequence[float]) -> Array:
        """Return independent standard normal numbers, (m,), as alike as this drift is."""
        x = np.log2(frequencies_hz)
        if self.octaves == 0.0:
            return alone
        root = np.linalg.cholesky(np.exp(-np.abs(x[:, None] - x) / self.octaves))
        together: Array = root @ alone
        return together


@dataclass(frozen=True)
class Unit:
    """A test to be run."""

    method: str  # of `METHODS`
    occasion: int  # of `TWICE`
    ear: Ear  # as it is on no day
    seed: int
    answering: Answering
    response_time_s: float
    drift: Drift

    @property
    def compared_hz(self) -> list[int]:
        return [f for f in COMPARED_HZ if f in self.ear.frequencies_hz]

    @property
    def on_the_day(self) -> Ear:
        """Return the ear of this test: its thresholds, and a name that its luck goes by."""
        named = replace(self.ear, name=f"{self.ear.name}, {self.method} {self.occasion}")
        moved = np.array(self.ear.thresholds_db_hl) + self.drift.of_test(named, self.seed)
        return replace(named, thresholds_db_hl=tuple(moved.tolist()))


@dataclass(frozen=True, eq=False)
class MethodResult:
    """What one test found."""

    unit: Unit
    level_db_hl: Array  # (m,) at the frequencies that are compared; NaN where there is no number
    error_db: Array  # (m,) of them, to the thresholds of this test
    without: dict[str, int]  # frequencies that have none, by `REASONS`
    seconds: float


def run_test(unit: Unit) -> MethodResult:
    """Run a test: always the same for the same unit."""
    ear = unit.on_the_day
    found, seconds = (_manual if unit.method == MANUAL else _device)(unit, ear)
    level_db_hl = np.array([math.nan if isinstance(each, str) else each for each in found])
    without = {reason: sum(each == reason for each in found) for reason in REASONS}
    truth_db_hl = [ear.audiogram.threshold_db_hl(f) for f in unit.compared_hz]
    return MethodResult(unit, level_db_hl, level_db_hl - truth_db_hl, without, seconds)


def _manual(unit: Unit, ear: Ear) -> tuple[list[float | str], float]:
    """Return what a staircase settles at, or why at nothing, and its seconds."""
    listener = Listener(ear, unit.answering, unit.seed, MANUAL_TONES_MAX)
    clock = SessionClock(ear.name, unit.seed, MANUAL_TONES_MAX, CLINICAL, unit.response_time_s)
    staircase = StaircaseAsha(task_of(ear, unit.seed, unit.answering, MANUAL_TONES_MAX))
    for tone in range(MANUAL_TONES_MAX):
        if (stimulus := staircase.next_stimulus()) is None:
            break
        heard = listener.hears(tone, stimulus.frequency_hz, stimulus.level_db_hl)
        staircase.observe(stimulus.frequency_hz, stimulus.level_db_hl, heard)
        clock.play(tone, heard)
    found = (staircase.findings[frequency_hz] for frequency_hz in unit.compared_hz)
    return [_level_or_reason(each) for each in found], clock.seconds


def _level_or_reason(found: StaircaseThreshold) -> float | str:
    if found.outcome == STAIRCASE_SETTLED:
        return found.level_db_hl
    return OPEN if found.outcome == UNSETTLED else LIMIT


def _device(unit: Unit, ear: Ear) -> tuple[list[float | str], float]:
    """Return the clinical thresholds that the device's procedure tells, and its seconds."""
    test = Sitting(
        dict.fromkeys(EARS, ear.audiogram),
        unit.answering,
        session_seed(ear.name, unit.seed),
        {"conduct": unit.method, "ears": RIGHT},
        unit.response_time_s,
    ).test()
    (result,) = test.run().ears
    return [
        _number_or_reason(result, frequency_hz) for frequency_hz in unit.compared_hz
    ], test.seconds


def _number_or_reason(result: EarResult, frequency_hz: float) -> float | str:
    """Return the clinical threshold that is told of a frequency, or why there is none."""
    if result.verdict != Verdict.VALID:
        return NOT_VALID
    by_hz = {
        each.frequency_hz: each for each in ear_in_convention(result, CLINICAL_ASCENDING).thresholds
    }
    found = by_hz[int(frequency_hz)]
    if found.mark == Outcome.MEASURED and found.threshold_db_hl is not None:
        return found.threshold_db_hl
    if found.mark == Outcome.INFERRED:
        return NOT_ASKED
    return LIMIT if found.mark in (Outcome.NO_RESPONSE, Outcome.HEARS_ALL) else OPEN
