"""The tests of `gp-pta study --bone`, by the device and by hand, and what each one gave."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from device.simulator.hearing import SimulatedTest, ear_named
from device.simulator.listener import Listener
from device.simulator.operator import Operator
from firmware_py.ear.levels import usual_hz
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.findings.air_bone_gap import GAP_DB, SURE, TYPE_HZ, Gap, gaps_of
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.session.hearing import HearingTest
from firmware_py.terms import tells
from firmware_py.terms.events import OPERATOR, Action, Finish
from firmware_py.terms.outcomes import MaskingMark, Outcome, Verdict
from firmware_py.terms.results import EarResult, SessionResult
from firmware_py.terms.route import Route
from host_tools.research.study.bone_faults import NO_FAULT, Fault, Faulty
from host_tools.research.study.bone_manual import ManualEar, ManualTest
from host_tools.research.study.bone_people import AT_6_KHZ, SCORED_HZ, Person
from host_tools.research.study.listener import Answering, session_seed
from host_tools.research.study.sitting import Sitting

DEVICE, MANUAL = "gp-pta", "manual-bone"  # who tests
WITHIN_DB: Final = 8.0  # the 95 % band at each of `SCORED_HZ`, to either side
PLACING_S: Final = 10.0  # as long as the simulated operator takes
RATE: Final = 0.01  # of lapses, and of false alarms
# What thresholds by bone are told to be: of either cochlea, of the ear that is asked, or open.
UNMASKED, MASKED, UNCERTAIN, INFERRED = "unmasked", "masked", "uncertain", "inferred"
MARKS: Final = (UNMASKED, MASKED, UNCERTAIN, INFERRED)


@dataclass(frozen=True)
class Unit:
    """A test to be run."""

    person: Person
    noise_db: float
    seed: int = 1
    prior: PopulationPrior | None = field(default=None, repr=False)  # None: the one that ships
    method: str = DEVICE  # or `MANUAL`
    fault: Fault = NO_FAULT

    @property
    def sitting(self) -> Sitting:
        person = self.person
        return Sitting(
            {ear_named(ear): truth for ear, truth in person.by_air.items()},
            Answering(self.noise_db, RATE, RATE),
            session_seed(person.name, self.seed),
            {"routes": "air, bone"},
            head=person.head,
            operator=Operator(hears=OPERATOR),
            prior=self.prior,
            worn=self._put_on,
        )

    @property
    def test(self) -> HearingTest:
        """Return the test before its first event."""
        audiogram_hz = _to_6_khz if self.fault.to_6_khz else usual_hz
        return HearingTest(self.sitting.settings, prior=self.prior, audiogram_hz=audiogram_hz)

    def _put_on(self, listener: Listener) -> Listener:
        return listener if self.fault is NO_FAULT else Faulty(listener, self.fault)


@dataclass(frozen=True)
class BoneThreshold:
    """A threshold by bone at one of `SCORED_HZ`."""

    mark: str  # of `MARKS`
    error_db: float  # from what the vibrator could find
    covered: bool | None  # by the 95 % band; None: there is none


@dataclass
class EarFound:
    """What the tests by bone of an ear gave."""

    true_gap_db: float
    # Tones until the bands were within +-`WITHIN_DB`, without noise, and anew with it (0: none); of
    # a manual test until it was over, without and with.
    tones: list[int] = field(default_factory=list)
    all_tones: int = 0
    valid: bool = True
    has_gap: bool = False  # truly 15 dB and more in the mean that is called
    called: bool | None = None  # that there is a gap; None: not told
    sure: bool = False  # it is told as more than probable
    # the error of the mean gap by which it is called, and how far its band reaches; None: a bound
    mean_gap: tuple[float, float] | None = None
    thresholds: tuple[BoneThreshold, ...] = ()
    at_6_khz: tuple[BoneThreshold, ...] = ()  # the one there; none: it is not asked, or no number


@dataclass(frozen=True)
class Measured:
    """What one test gave."""

    unit: Unit
    ears: tuple[EarFound, ...]
    seconds: float  # from the first word to place the vibrator on, without the time to place it
    placings: int


class _Watch:
    # Counts the tones by bone of each ear until its bands are narrow.
    def __init__(self, test: SimulatedTest) -> None:
        self._test = test
        self.counts: dict[Route, list[int]] = {}
        self._narrow: dict[Route, bool] = {}
        self.began_us: int | None = None
        self.placings = 0

    def is_over(self, action: Action) -> bool:
        match action:
            case tells.PlacingTold():
                self.placings += 1
                self.began_us = self._test.now_us if self.began_us is None else self.began_us
            case tells.EarAgainTold(route) if route.by_bone:
                self.counts[route].append(0)
                self._narrow[route] = False
            case tells.AnswerTold(route=route) if route.by_bone:
                at_once = [0] * bool(self._test.test.cross_hearing.asked_again.get(route))
                counts = self.counts.setdefault(route, [0, *at_once])
                if not self._narrow.get(route):
                    counts[-1] += 1
                    self._narrow[route] = self._is_narrow(route)
        return isinstance(action, Finish)

    def _is_narrow(self, route: Route) -> bool:
        ear = self._test.test.ears[route]
        low, high = ear.estimator.threshold_band(SCORED_HZ, BAND_PROBABILITY)
        ends = [ear.levels.limit_db_hl(f) for f in SCORED_HZ]
        # Of what lies beyond the levels of the test nobody is told.
        known = np.minimum(high, ends) - np.maximum(low, ear.levels.floors_db_hl(SCORED_HZ))
        return bool(np.all(0.5 * known <= WITHIN_DB))


def _to_6_khz(route: Route) -> tuple[int, ...]:
    return route.kind.any_hz


def run_test(unit: Unit) -> Measured:
    return _by_hand(unit) if unit.method == MANUAL else _by_device(unit)


def _by_device(unit: Unit) -> Measured:
    person, test = unit.person, unit.sitting.test(unit.test)
    test.test.cross_hearing.bone.gaps = person.gaps
    watch = _Watch(test)
    test.run_until(watch.is_over)
    result = test.test.result()
    began_us = test.now_us if watch.began_us is None else watch.began_us
    spent_us = test.now_us - began_us - round(1e6 * watch.placings * PLACING_S)
    return Measured(unit, tuple(_ears(person, result, watch)), spent_us / 1e6, watch.placings)


def _by_hand(unit: Unit) -> Measured:
    test = ManualTest(unit.sitting, unit.person.name, unit.seed)
    ears = (_manual_ear(unit.person, ear, found) for ear, found in test.ears.items())
    return Measured(unit, tuple(ears), test.seconds, test.placings)


def _manual_ear(person: Person, ear: str, found: ManualEar) -> EarFound:
    """Return what a manual test gave, which is sure of all that it tells."""
    gap_db, tones = found.mean_gap_db, [found.tones, found.tones_masked]
    told = (
        (f, each.heard_half_db_hl, _mark(Outcome.MEASURED, each.masking))
        for f, each in found.by_bone.items()
    )
    return EarFound(
        person.gap_db(ear),
        [count for count in tones if count],
        sum(tones),
        has_gap=_true_mean_db(person, ear) >= GAP_DB,
        called=None if gap_db is None else gap_db >= GAP_DB,
        sure=gap_db is not None,
        thresholds=tuple(
            BoneThreshold(mark, level_db_hl - _truth_db_hl(person, ear, f, mark, level_db_hl), None)
            for f, level_db_hl, mark in told
            if level_db_hl is not None
        ),
    )


def _ears(person: Person, result: SessionResult, watch: _Watch) -> Iterable[EarFound]:
    called = {gap.ear: gap.mean for gap in gaps_of(result, gap_prior=person.gaps, nominal=False)}
    for ear in result.ears:
        if ear.route.by_bone:
            mean = called.get(ear.route.ear)
            yield EarFound(
                person.gap_db(ear.route.ear),
                watch.counts.get(ear.route, []),
                ear.tones,
                ear.verdict == Verdict.VALID,
                _true_mean_db(person, ear.route.ear) >= GAP_DB,
                None if mean is None else mean.is_called,
                mean is not None and _is_sure(mean),
                None if mean is None else _error_of(mean, person, ear.route.ear),
                tuple(thresholds_of(person, ear)),
                tuple(thresholds_of(person, ear, (AT_6_KHZ,))),
            )


def _is_sure(mean: Gap) -> bool:
    return (mean.is_called and mean.share >= SURE) or (mean.is_denied and mean.share <= 1.0 - SURE)


def _true_mean_db(person: Person, ear: str) -> float:
    return sum(person.head.gap_db(ear, f) for f in TYPE_HZ) / len(TYPE_HZ)


def _error_of(mean: Gap, person: Person, ear: str) -> tuple[float, float] | None:
    if mean.low_db is None or mean.high_db is None:
        return None
    return mean.db - _true_mean_db(person, ear), 0.5 * (mean.high_db - mean.low_db)


def thresholds_of(
    person: Person, ear: EarResult, scored_hz: Sequence[int] = SCORED_HZ
) -> Iterable[BoneThreshold]:
    """Yield what was found of an ear by bone, against what the vibrator could find."""
    for each in ear.thresholds:
        numbers = each.threshold_db_hl, each.low_db_hl, each.high_db_hl
        if each.frequency_hz not in scored_hz or None in numbers:
            continue
        mean_db_hl, low_db_hl, high_db_hl = (float(number or 0.0) for number in numbers)
        mark = _mark(each.mark, each.masking)
        # With noise the ear is asked anew, for its own threshold.
        answers = UNCERTAIN if mark == UNCERTAIN else MASKED if ear.tones_masked > 0 else UNMASKED
        place = ear.route.ear, each.frequency_hz
        truth = _truth_db_hl(person, *place, answers, mean_db_hl)
        yield BoneThreshold(mark, mean_db_hl - truth, low_db_hl <= truth <= high_db_hl)


def _truth_db_hl(
    person: Person, ear: str, frequency_hz: int, mark: str, found_db_hl: float
) -> float:
    """Return the better cochlea's threshold without noise and the ear's own with it.

    What is uncertain is either's, or what lies between.
    """
    better, own = (person.bone_db_hl(ear, frequency_hz, alone=alone) for alone in (False, True))
    if mark == UNCERTAIN:
        return min(max(found_db_hl, better), own)
    return own if mark == MASKED else better


def _mark(mark: Outcome, masking: MaskingMark | None) -> str:
    if mark == Outcome.INFERRED:
        return INFERRED
    by_noise = {MaskingMark.MASKED: MASKED, MaskingMark.UNCERTAIN: UNCERTAIN}
    return UNMASKED if masking is None else by_noise.get(masking, UNMASKED)
