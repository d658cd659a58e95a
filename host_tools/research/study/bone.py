"""`gp-pta study --bone`: whole tests of people by air and bone, and what is read off many."""

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from device.simulator.hearing import SimulatedTest, ear_named
from device.simulator.operator import Operator
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.findings.air_bone_gap import TYPE_HZ, Gap, gaps_of
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.terms import tells
from firmware_py.terms.events import OPERATOR, Action, Finish
from firmware_py.terms.outcomes import MaskingMark, Outcome, Verdict
from firmware_py.terms.results import EarResult, SessionResult
from firmware_py.terms.route import Route
from host_tools.errors import HostError
from host_tools.files import digest_of
from host_tools.research.study.arguments import whole_number
from host_tools.research.study.bone_people import PEOPLE_USUAL, SCORED_HZ, Person, people_of
from host_tools.research.study.ears import Tables
from host_tools.research.study.listener import Answering, session_seed
from host_tools.research.study.measures import error_and_coverage, median_and_late
from host_tools.research.study.plan import prior_in, prior_was_learned_from
from host_tools.research.study.sessions import Line, Row, Table, in_columns
from host_tools.research.study.sitting import Sitting

WITHIN_DB: Final = 8.0  # the 95 % band at each of `SCORED_HZ`, to either side
NOISES_DB: Final = (2.0, 4.0)
PLACING_S: Final = 10.0  # as long as the simulated operator takes
RATE: Final = 0.01  # of lapses, and of false alarms
# What thresholds by bone are told to be: of either cochlea, of the ear that is asked, or open.
UNMASKED, MASKED, UNCERTAIN, INFERRED = "unmasked", "masked", "uncertain", "inferred"
MARKS: Final = (UNMASKED, MASKED, UNCERTAIN, INFERRED)
# True gaps, mean over `SCORED_HZ` above those of the reference levels, dB: from, and below.
GAPS_DB: Final = ((-math.inf, 5.0), (5.0, 10.0), (12.5, 17.5), (20.0, math.inf))


@dataclass(frozen=True)
class Unit:
    """A test to be run."""

    person: Person
    noise_db: float
    seed: int = 1
    prior: PopulationPrior | None = field(default=None, repr=False)  # None: the one that ships


@dataclass(frozen=True)
class BoneThreshold:
    """A threshold by bone at one of `SCORED_HZ`."""

    mark: str  # of `MARKS`
    error_db: float  # from what the vibrator could find
    covered: bool  # by the 95 % band


@dataclass
class EarFound:
    """What the tests by bone of an ear gave."""

    true_gap_db: float
    # tones until the bands were within +-`WITHIN_DB`, without noise, and anew with it (0: none)
    tones: list[int] = field(default_factory=list)
    all_tones: int = 0
    valid: bool = True
    called: bool | None = None  # that there is a gap; None: not told
    # the error of the mean gap by which it is called, and how far its band reaches; None: a bound
    mean_gap: tuple[float, float] | None = None
    thresholds: tuple[BoneThreshold, ...] = ()


@dataclass(frozen=True)
class Measured:
    """What one test gave."""

    unit: Unit
    ears: tuple[EarFound, ...]
    seconds: float  # from the first word to place the vibrator on, without the time to place it
    placings: int


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, Measured]:
    """Return the table that is asked for; of both routes the table is read here."""
    assert tables.measured is None
    count = whole_number("--ears", arguments.ears, PEOPLE_USUAL, low=0)
    asked = people_of(Path(arguments.audiograms), count, arguments.columns)
    people = sorted(asked, key=lambda each: each.name)
    prior = prior_in(arguments.prior)
    if prior is not None and prior_was_learned_from(digest_of(Path(arguments.audiograms)), prior):
        raise HostError("--prior was learned from --audiograms; allowed is one of other people")
    return Table(
        [Unit(person, noise_db, prior=prior) for noise_db in NOISES_DB for person in people],
        run_test,
        Measured,
        lambda tests: [
            read_off(noise_db, [test for test in tests if test.unit.noise_db == noise_db])
            for noise_db in NOISES_DB
        ],
        {"lapse_rate": RATE, "false_alarm_rate": RATE, "seeds": Unit.seed},
        lambda rows: [
            f"{rows[0]['people']} people with both ears by air and bone, and the same with a gap "
            "drawn for the right ear",
            f"lapses {RATE:g}, false alarms {RATE:g}",
            "",
            *table_lines(rows),
        ],
    )


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
                counts = self.counts.setdefault(route, [0])
                if not self._narrow.get(route):
                    counts[-1] += 1
                    self._narrow[route] = self._is_narrow(route)
        return isinstance(action, Finish)

    def _is_narrow(self, route: Route) -> bool:
        ear = self._test.test.ears[route]
        low, high = ear.estimator.threshold_band(SCORED_HZ, BAND_PROBABILITY)
        ends = [ear.levels.limit_db_hl(f) for f in SCORED_HZ]
        # Of what lies beyond the levels of the test nobody is told.
        known = np.minimum(high, ends) - np.maximum(low, ear.levels.floor_db_hl)
        return bool(np.all(0.5 * known <= WITHIN_DB))


def run_test(unit: Unit) -> Measured:
    person = unit.person
    test = Sitting(
        {ear_named(ear): truth for ear, truth in person.by_air.items()},
        Answering(unit.noise_db, RATE, RATE),
        session_seed(person.name, unit.seed),
        {"routes": "air, bone"},
        head=person.head,
        operator=Operator(hears=OPERATOR),
        prior=unit.prior,
    ).test()
    test.test.cross_hearing.bone.gaps = person.gaps
    watch = _Watch(test)
    test.run_until(watch.is_over)
    result = test.test.result()
    began_us = test.now_us if watch.began_us is None else watch.began_us
    spent_us = test.now_us - began_us - round(1e6 * watch.placings * PLACING_S)
    return Measured(unit, tuple(_ears(person, result, watch)), spent_us / 1e6, watch.placings)


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
                None if mean is None else mean.is_called,
                None if mean is None else _error_of(mean, person, ear.route.ear),
                tuple(thresholds_of(person, ear)),
            )


def _error_of(mean: Gap, person: Person, ear: str) -> tuple[float, float] | None:
    if mean.low_db is None or mean.high_db is None:
        return None
    true_db = sum(person.head.gap_db(ear, f) for f in TYPE_HZ) / len(TYPE_HZ)
    return mean.db - true_db, 0.5 * (mean.high_db - mean.low_db)


def thresholds_of(person: Person, ear: EarResult) -> Iterable[BoneThreshold]:
    """Yield what was found of an ear by bone, against what the vibrator could find."""
    for each in ear.thresholds:
        numbers = each.threshold_db_hl, each.low_db_hl, each.high_db_hl
        if each.frequency_hz not in SCORED_HZ or None in numbers:
            continue
        mean_db_hl, low_db_hl, high_db_hl = (float(number or 0.0) for number in numbers)
        mark = _mark(each.mark, each.masking)
        better, own = (
            person.bone_db_hl(ear.route.ear, each.frequency_hz, alone=alone)
            for alone in (False, True)
        )
        # With noise the ear is asked anew, for its own threshold.
        truth = own if ear.tones_masked > 0 else better
        if mark == UNCERTAIN:  # it is either's, or what lies between
            truth = min(max(mean_db_hl, better), own)
        yield BoneThreshold(mark, mean_db_hl - truth, low_db_hl <= truth <= high_db_hl)


def _mark(mark: Outcome, masking: MaskingMark | None) -> str:
    if mark == Outcome.INFERRED:
        return INFERRED
    by_noise = {MaskingMark.MASKED: MASKED, MaskingMark.UNCERTAIN: UNCERTAIN}
    return UNMASKED if masking is None else by_noise.get(masking, UNMASKED)


def read_off(noise_db: float, tests: Sequence[Measured]) -> Row:
    """Return a row of the table: what all tests with a response noise gave.

    Tones, seconds and errors are of the people of the table; gaps of those that are drawn, too.
    """
    real = [test for test in tests if not test.unit.person.drawn]
    ears = [ear for test in real for ear in test.ears]
    asked = [ear for ear in ears if ear.tones]
    found = [each for ear in ears for each in ear.thresholds]
    seconds = [test.seconds for test in real]
    placed = [test.seconds + test.placings * PLACING_S for test in real]
    return {
        "noise_db": noise_db,
        "people": len(real),
        "ears_valid": sum(ear.valid for ear in ears) / len(ears),
        "tones": median_and_late([ear.tones[0] for ear in asked]),
        "tones_with_noise": median_and_late(
            [sum(ear.tones[1:]) for ear in asked if len(ear.tones) > 1]
        ),
        "ears_with_noise": sum(len(ear.tones) > 1 for ear in ears) / len(ears),
        "all_tones": median_and_late([ear.all_tones for ear in asked]),
        "seconds": median_and_late(seconds),
        "seconds_placings": median_and_late(placed),
        "mean_gap": _errors_of_gaps([ear.mean_gap for ear in ears if ear.mean_gap]),
        "marks": {mark: _errors(each for each in found if each.mark == mark) for mark in MARKS},
        "gaps": [_count_gaps(tests, low_db, high_db) for low_db, high_db in GAPS_DB],
    }


def _errors_of_gaps(found: Sequence[tuple[float, float]]) -> Row:
    covered = [abs(error_db) <= half_db for error_db, half_db in found]
    half_db = sum(half for _, half in found) / len(found) if found else None
    return error_and_coverage([error for error, _ in found], covered) | {"half_width_db": half_db}


def _errors(found: Iterable[BoneThreshold]) -> Row:
    pairs = [(each.error_db, each.covered) for each in found]
    return error_and_coverage(*zip(*pairs, strict=True)) if pairs else error_and_coverage((), ())


def _count_gaps(tests: Sequence[Measured], low_db: float, high_db: float) -> Row:
    """Return how many ears whose gap lies there are said to have one, of the table and drawn."""
    row: Row = {"from_db": _finite(low_db), "below_db": _finite(high_db)}
    for drawn, name in ((False, "real"), (True, "drawn")):
        there = [
            ear
            for test in tests
            if test.unit.person.drawn == drawn
            for ear in (test.ears[:1] if drawn else test.ears)
            if low_db <= ear.true_gap_db < high_db
        ]
        row[name] = {
            "ears": len(there),
            "called": sum(ear.called is True for ear in there),
            "open": sum(ear.called is None for ear in there),
        }
    return row


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def table_lines(rows: Sequence[Row]) -> list[str]:
    within = f"within +-{WITHIN_DB:g} dB at 0.5, 1, 2, 4 kHz"
    lines: list[Line] = [
        ("", lambda row: f"noise {row['noise_db']:g} dB"),
        (f"tones an ear until {within}, without noise", lambda row: _say_spread(row["tones"])),
        ("ears that are asked anew, with noise", lambda row: f"{row['ears_with_noise']:.0%}"),
        ("tones of these until then", lambda row: _say_spread(row["tones_with_noise"])),
        ("all tones an ear", lambda row: _say_spread(row["all_tones"])),
        ("ears whose test is valid", lambda row: f"{row['ears_valid']:.0%}"),
        ("s for two ears after air", lambda row: _say_spread(row["seconds"])),
        ("s with 10 s for each placing", lambda row: _say_spread(row["seconds_placings"])),
    ]
    for mark in MARKS:
        words = f"{mark}: RMSE (mean error), dB; in the 95 % band"
        lines.append((words, partial(_say_errors, mark=mark)))
    words = "mean gap at 0.5, 1, 2 kHz: RMSE (mean error), half of the 95 % band, dB; in it"
    lines.append((words, _say_mean_gap))
    for number, gap in enumerate(rows[0]["gaps"]):
        words = f"gap {_say_range(gap)} called: ears, drawn ears"
        lines.append((words, partial(_say_called, number=number)))
    return in_columns(rows, lines)


def _say_spread(spread: dict[str, float | None]) -> str:
    if spread["median"] is None:
        return "-"
    return f"{spread['median']:.0f} (95 %: {spread['p95']:.0f})"


def _say_errors(row: Row, mark: str) -> str:
    found = row["marks"][mark]
    if not found["count"]:
        return "-"
    return (
        f"{found['rmse_db']:.1f} ({found['bias_db']:+.1f}); {found['covered_95']:.3f} "
        f"of {found['count']}"
    )


def _say_mean_gap(row: Row) -> str:
    found = row["mean_gap"]
    if not found["count"]:
        return "-"
    error = f"{found['rmse_db']:.1f} ({found['bias_db']:+.1f}), {found['half_width_db']:.1f}"
    return f"{error}; {found['covered_95']:.3f} of {found['count']}"


def _say_range(gap: dict[str, float | None]) -> str:
    low, high = gap["from_db"], gap["below_db"]
    if low is None:
        return f"below {high:g} dB"
    return f"{low:g} dB and more" if high is None else f"{low:g} to {high:g} dB"


def _say_called(row: Row, number: int) -> str:
    of_ears = [row["gaps"][number][name] for name in ("real", "drawn")]
    return ", ".join(
        f"{of['called']} of {of['ears']}" + (f" ({of['open']} open)" if of["open"] else "")
        for of in of_ears
    )
