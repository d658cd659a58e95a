"""`gp-pta study --as-published`: two methods on the same listeners, in the units of papers.

People's tests are published as differences to a manual audiogram and between two tests. So each
ear is tested twice by each method: by the device's procedure, in each conduct, and by the manual
one, a staircase of 5 dB (ASHA 2005). No test meets the same thresholds: each has a drift of its
own, drawn anew, for a day's criterion and the seat of the earphone.
"""

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist
from typing import Final

import numpy as np

from device.simulator.kinds import HONEST, kind_named
from device.simulator.listener import EARS
from firmware_py.findings.convention import ear_in_convention
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.terms.outcomes import Outcome, Verdict
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, RIGHT
from firmware_py.terms.settings import BRISK, CLINICAL, CLINICAL_ASCENDING
from host_tools.errors import HostError
from host_tools.research.methods.interface import Array
from host_tools.research.methods.per_frequency import (
    CONVENTIONAL_FREQUENCIES_HZ,
    FIRST_FREQUENCY_HZ,
)
from host_tools.research.methods.population import balance
from host_tools.research.methods.staircase import SETTLED as STAIRCASE_SETTLED
from host_tools.research.methods.staircase import UNSETTLED, StaircaseAsha, StaircaseThreshold
from host_tools.research.study.ears import Tables
from host_tools.research.study.listener import Answering, Ear, Listener, session_seed, uniforms
from host_tools.research.study.measures import spread_of, weighted_quantiles
from host_tools.research.study.options import Options
from host_tools.research.study.plan import ears_measured, prior_in
from host_tools.research.study.session import SessionClock, task_of
from host_tools.research.study.sessions import Line, Row, Table, in_columns
from host_tools.research.study.sitting import Sitting
from host_tools.terminal import markdown

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
    prior: PopulationPrior | None = field(default=None, repr=False)  # None: the one that ships

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
        prior=unit.prior,
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


LISTENER: Final = "human"
DRIFT_DB_MAX: Final = 20.0
OCTAVES_MAX: Final = 1000.0
OCTAVES_USUAL: Final = 1.0


# What papers say of tests on people, rows beside ours; minutes are of an ear, or as the paper says.
PUBLISHED_NAMES: Final = ("test", "people", "to_manual", "retest", "minutes", "source")
PUBLISHED: Final = (
    (
        "automated air conduction, a meta-analysis", "29 reports",
        "mean 0.4, SD 6.1 (retest of manual: mean 1.3, SD 6.1)", "mean 0.3, SD 6.9", "",
        "Mahomed et al. 2013, 10.1097/01.aud.0000436255.53747.a4",
    ),
    (
        "AMTAS, air", "44; retest 10", "mean 0.1, SD of absolute differences 6.4",
        "mean 0.5, SD of absolute differences 4.9", "",
        "Eikelboom et al. 2013, 10.3109/14992027.2013.769065",
    ),
    (
        "Gaussian process, audiologist", "21", "mean absolute 4.16 (SD of these 3.76)",
        "mean absolute 4.51 (SD of these 4.45)", "",
        "Song et al. 2015, 10.1097/AUD.0000000000000186",
    ),
    (
        "Gaussian process, online", "21", "mean absolute 3.24 (SD of these 5.15)",
        "mean absolute 2.85 (SD of these 6.57); of the staircase 1.88 (3.56)", "",
        "Barbour et al. 2019, 10.1097/AUD.0000000000000669",
    ),
    (
        "Gaussian process, masked", "29", "mean absolute 4.9 and 2.6 (symmetric, asymmetric ears)",
        "", "", "Heisey et al. 2020, PMC7725866",
    ),
    (
        "ISO 8253-1 ascending / shortened, automated", "100, aged 18-36", "", "",
        "9.8 / 5.8 (six frequencies, the whole test)",
        "Liu et al. 2022, 10.3389/fnins.2022.1011016",
    ),
    (
        "automated, in no booth", "83 (166 ears)", "mean -0.2 to 0.7, SD 4.5 to 6.2 by frequency",
        "", "", "Liu et al. 2023, 10.3389/fnins.2023.1292395",
    ),
    (
        "Jacoti Hearing Center, at home", "1,115 (9,421 pairs)", "",
        "mean absolute 4.7 (3.7 to 6.2 by frequency)", "",
        "Thoidis et al. 2024, 10.3389/fauot.2024.1371037",
    ),
    (
        "Gaussian process through the aid", "own aids", "means within 3, not at 250 Hz", "",
        "10-15 by an audiologist", "Scientific Reports 13 (2023) 14667, 10.1038/s41598-023-40495-w",
    ),
    (
        "GRaBr, smartphone at home", "15, normal hearing", "mean below 1 (to the laboratory)",
        "mean below 2", "", "Xu, Schell-Majoor & Kollmeier 2024, eprints.soton.ac.uk/509790",
    ),
    (
        "NHANES, automated, 1 kHz twice in a test", "48,061 ears", "",
        "mean -0.4, SD 3.3 (pairs over 10 dB apart were rejected)", "",
        "NHANES 1999-2020, counted from its public files",
    ),
)  # fmt: skip


def read_off(method: str, tests: Iterable[MethodResult]) -> Row:
    """Return what one method gave, of its tests and those of the manual one, twice each."""
    by = {
        (each.unit.method, each.unit.occasion, each.unit.ear.name, each.unit.seed): each
        for each in tests
    }
    ears = sorted({(name, seed) for _, _, name, seed in by})
    first, second = ([by[method, occasion, *ear] for ear in ears] for occasion in (1, 2))
    manual = [by[MANUAL, 1, *ear] for ear in ears]
    weight = balance(np.array([each.unit.ear.stratum for each in first]))

    def differ(those: Sequence[MethodResult], from_those: Sequence[MethodResult]) -> Row:
        pairs = zip(those, from_those, strict=True)
        return spread_of([a.level_db_hl - b.level_db_hl for a, b in pairs], weight)

    minutes = np.array([each.seconds for each in first]) / 60.0
    median, late = weighted_quantiles(minutes, weight, (0.5, 0.95)).tolist()
    return {
        "method": method,
        "ears": len(ears),
        "frequencies": sum(len(each.level_db_hl) for each in first),
        "without": {reason: sum(each.without[reason] for each in first) for reason in REASONS},
        "not_valid_tests": sum(each.without[NOT_VALID] > 0 for each in first),
        "to_truth_of_the_day": spread_of([each.error_db for each in first], weight),
        "to_manual": None if method == MANUAL else differ(first, manual),
        "retest": differ(second, first),
        "minutes_median": median,
        "minutes_95": late,
    }


def table_lines(rows: Sequence[Row]) -> list[str]:
    names = {MANUAL: "manual, staircase"}
    lines: list[Line] = [
        ("", lambda row: names.get(row["method"], f"gp-pta, {row['method']}")),
        ("**to the first manual audiogram**", lambda row: ""),
        *_lines_of("to_manual"),
        ("**second test less first**", lambda row: ""),
        *_lines_of("retest"),
        ("SD of one test", _say_of_one),
        ("**to the truth of the day**", lambda row: ""),
        ("mean, SD", _say_error),
        ("**minutes an ear**, median", lambda row: f"{row['minutes_median']:.1f}"),
        ("95 % are below", lambda row: f"{row['minutes_95']:.1f}"),
        ("**left out**, of frequencies", lambda row: str(row["frequencies"])),
        *[(f"no number: {reason}", partial(_count, reason=reason)) for reason in REASONS],
    ]
    return in_columns(rows, lines)


def _lines_of(what: str) -> list[Line]:
    def cell(row: Row, name: str, form: str) -> str:
        value = None if row[what] is None else row[what][name]
        return "-" if value is None else format(value, form)

    forms = {
        "mean difference, dB": ("mean_db", "+.1f"),
        "SD of differences, dB": ("sd_db", ".1f"),
        "mean absolute difference, dB": ("mean_absolute_db", ".1f"),
        "within 5 dB": ("within_5_db", ".0%"),
        "within 10 dB": ("within_10_db", ".0%"),
        "pairs": ("pairs", ""),
    }
    return [(words, partial(cell, name=name, form=form)) for words, (name, form) in forms.items()]


def _say_of_one(row: Row) -> str:
    sd_db = row["retest"]["sd_db"]
    return "-" if sd_db is None else f"{sd_db / math.sqrt(2.0):.1f}"


def _say_error(row: Row) -> str:
    error = row["to_truth_of_the_day"]
    return "-" if error["sd_db"] is None else f"{error['mean_db']:+.1f}, {error['sd_db']:.1f}"


def _count(row: Row, reason: str) -> str:
    return str(row["without"][reason])


def published_lines() -> list[str]:
    head = ("published, of people", "people", "to a manual audiogram, dB", "retest, dB", "minutes")
    return markdown([(*head, "source"), *PUBLISHED])


def in_order(tests: Iterable[MethodResult]) -> list[Row]:
    """Return the rows of all methods; sums have the same bits whoever was done first."""
    of: dict[str, list[MethodResult]] = {method: [] for method in METHODS}
    for each in tests:
        of[each.unit.method].append(each)
    return [
        read_off(method, [*of[method], *(of[MANUAL] if method != MANUAL else [])])
        for method in METHODS
        if of[method]
    ]


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, MethodResult]:
    if arguments.listener not in (HONEST.text, LISTENER):
        raise HostError("--listener does not go with --as-published: its listeners are human")
    options = Options.of(arguments)
    drift = drift_named(arguments.retest_drift)
    answering = replace(options.answering, kind=kind_named(LISTENER, ours=True))
    prior = prior_in(options.prior)
    measured = ears_measured(options, tables)
    if FIRST_FREQUENCY_HZ not in measured.ears[0].frequencies_hz:
        raise HostError(
            f"--audiograms {options.audiograms!r} has no thresholds at {FIRST_FREQUENCY_HZ:g} Hz, "
            "where a manual audiogram begins"
        )
    units = [
        Unit(method, occasion, ear.jitter(seed, measured.jitter_db), seed, answering,
             options.response_time_s, drift, prior)
        for method in METHODS
        for ear in measured.ears
        for seed in range(1, options.seeds + 1)
        for occasion in TWICE
    ]  # fmt: skip
    heading = [
        f"{len(measured.ears)} ears; seeds 1 to {options.seeds}; each ear twice by each method",
        f"{answering.words}; median response time {options.response_time_s:g} s",
        f"drift of a test: SD {drift.sd_db:g} dB, alike over {drift.octaves:g} octaves",
    ]
    about = {
        "ears": len(measured.ears),
        "seeds": options.seeds,
        **answering.about,
        "response_time_s": options.response_time_s,
        "drift": dict(vars(drift)),
        "remarks": list(measured.remarks),
        "published": [dict(zip(PUBLISHED_NAMES, row, strict=True)) for row in PUBLISHED],
    }
    return Table(
        units, run_test, MethodResult, in_order, about,
        lambda rows: [*heading, *measured.remarks, "", *table_lines(rows), "", *published_lines()],
    )  # fmt: skip


def drift_named(text: str) -> Drift:
    words = text.split("/")
    try:
        sd_db, octaves = (*map(float, words), *([OCTAVES_USUAL] if len(words) == 1 else []))
    except ValueError:
        sd_db = octaves = -1.0
    if not (0.0 <= sd_db <= DRIFT_DB_MAX and 0.0 <= octaves <= OCTAVES_MAX):
        raise HostError(
            f"--retest-drift is {text!r}; allowed is an SD from 0 to {DRIFT_DB_MAX:g} dB, and "
            f"after a / over how many octaves it is alike, 0 to {OCTAVES_MAX:g}, such as 2.3/1"
        )
    return Drift(sd_db, octaves)
