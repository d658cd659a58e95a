"""`gp-pta study --seconds`: whole tests by an exact clock, and where the time goes."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import ear_named
from device.simulator.listener import EARS
from device.simulator.listener import Ear as Side
from firmware_py.ear.objective import Objective
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.reasons import Code
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, RIGHT
from firmware_py.terms.settings import BOTH, BRISK, CONDUCTS
from host_tools.errors import HostError
from host_tools.research.methods.interface import Array
from host_tools.research.methods.population import balance
from host_tools.research.methods.registry import check_objective, objective_named
from host_tools.research.study.arguments import names_in
from host_tools.research.study.ears import Tables, other_ears
from host_tools.research.study.listener import Answering, Ear, session_seed
from host_tools.research.study.measures import mean_known, weighted_quantiles
from host_tools.research.study.options import Options
from host_tools.research.study.plan import Measured, ears_measured, prior_in
from host_tools.research.study.robustness import SCORED_HZ
from host_tools.research.study.robustness_judged import errors_and_coverage, inattentive
from host_tools.research.study.sessions import Line, Row, Table, in_columns
from host_tools.research.study.sitting import Sitting
from host_tools.research.study.time_ledger import (
    ANSWERED,
    CHECK,
    PAUSE,
    UNANSWERED,
    VOID,
    TimedTest,
)

SCORED: Final = [AUDIOGRAM_FREQUENCIES_HZ.index(int(hz)) for hz in SCORED_HZ]
# Why an ear ended at the cap of tones.
CAP: Final = {Code.CAP, Code.CAP_KEPT, Code.CAP_TOO_FEW}
MASKED: Final = "masked"

# Where time goes, in two ways that are each all of it, and what part of it has noise.
WAYS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "by what is waited for": (
        (PAUSE, "pauses"),
        (ANSWERED, "for an answer that comes"),
        (UNANSWERED, "for one that does not come"),
        (VOID, "for tones that are asked again"),
    ),
    "by what it is for": (
        (str(Purpose.FAMILIARISE), "familiarisation"),
        (str(Purpose.MEASURE), "tones near the threshold"),
        (CHECK, "clear tones, for attention"),
        (str(Purpose.CHECK), "checks whether anybody listens"),
        (str(Purpose.CATCH), "catch trials"),
        (str(Purpose.RETEST), "retest"),
        (str(Purpose.PLATEAU), "plateau checks"),
    ),
    "of all of it": ((MASKED, "with masking noise"),),
}
NAMES: Final = tuple(name for parts in WAYS.values() for name, _ in parts)


@dataclass(frozen=True)
class How:
    """How tests are conducted: a row of the table, though it is shown as a column."""

    conduct: str
    both: bool  # both ears of a person in one test
    unsure_half_width_db: float

    @property
    def words(self) -> str:
        more = ["both ears"] * self.both + ["perhaps"] * (self.unsure_half_width_db > 0.0)
        return ", ".join([self.conduct, *more])


@dataclass(frozen=True)
class Unit:
    """A test to be run."""

    how: How
    ears: tuple[Ear, ...]  # one, or the right and the left one
    stratum: str
    seed: int
    answering: Answering
    response_time_s: float
    jitter_db: float
    prior: PopulationPrior | None = field(default=None, repr=False)  # None: the one that ships
    objective: str = ""  # of somebody's own; "": that of the settings


class OwnTest(HearingTest):
    """A hearing test whose tones are chosen by an objective of somebody's own."""

    chosen_by: type[Objective] | None = None  # None: as its settings say

    def objective(self) -> Objective:
        if self.chosen_by is None:
            return super().objective()
        return self.chosen_by(self.presenter.pace.trial_time)


@dataclass(frozen=True, eq=False)
class Timed:
    """What one test gave; all its ears together."""

    unit: Unit
    seconds: float
    spent_s: dict[str, float]  # by `NAMES`
    error_db: Array  # at `SCORED_HZ`, ear after ear; NaN where there is no number
    covered: Array
    tones: int
    capped: int  # ears that ended at the cap
    inattentive: bool  # a remark or the outcome of an ear says so

    @property
    def ears(self) -> int:
        return len(self.unit.ears)


def make_test(unit: Unit) -> tuple[TimedTest, dict[Side, Audiogram]]:
    truths = [ear.jitter(unit.seed, unit.jitter_db).audiogram for ear in unit.ears]
    # Of the ear that is not tested the thresholds are the same.
    thresholds = dict(zip(EARS, (truths * 2)[:2], strict=True))
    sitting = Sitting(
        thresholds,
        unit.answering,
        session_seed(unit.ears[0].name, unit.seed),
        {
            "conduct": unit.how.conduct,
            "ears": BOTH if unit.how.both else RIGHT,
            "unsure_button": unit.how.unsure_half_width_db > 0.0,
        },
        unit.response_time_s,
        unit.how.unsure_half_width_db,
    )
    test = OwnTest(sitting.settings, prior=unit.prior)
    test.chosen_by = objective_named(unit.objective) if unit.objective else None
    return TimedTest(sitting.settings, sitting.listener, test), thresholds


def run_test(unit: Unit) -> Timed:
    """Run a test: always the same for the same unit."""
    test, thresholds = make_test(unit)
    result = test.run()
    numbers = [
        errors_and_coverage(ear, thresholds[ear_named(ear.route.ear)]) for ear in result.ears
    ]
    spent_s = {name: 1e-6 * test.ledger.sum_us(name) for name in NAMES}
    return Timed(
        unit,
        test.seconds,
        {**spent_s, MASKED: 1e-6 * test.ledger.masked_us},
        np.concatenate([error_db[SCORED] for error_db, _ in numbers]),
        np.concatenate([covered[SCORED] for _, covered in numbers]),
        sum(ear.tones for ear in result.ears),
        sum(why.code in CAP for ear in result.ears for why in ear.why),
        inattentive=inattentive(result),
    )


def read_off(how: How, tests: Sequence[Timed]) -> Row:
    """Return what all tests of one kind gave, as JSON values; seconds and tones are of an ear.

    The degrees of loss count in equal parts.
    """
    weight = balance(np.array([test.unit.stratum for test in tests]))
    ears = np.array([test.ears for test in tests])
    seconds = np.array([test.seconds for test in tests]) / ears
    median, late = weighted_quantiles(seconds, weight, (0.5, 0.95)).tolist()

    def mean(values: Sequence[float]) -> float:
        return float(np.sum(weight * np.array(values) / ears))

    square_db = mean_known(weight, [test.error_db**2 for test in tests])
    return {
        "name": how.words,
        "conduct": how.conduct,
        "both_ears": how.both,
        "unsure_half_width_db": how.unsure_half_width_db,
        "tests": len(tests),
        "seconds_median": median,
        "seconds_mean": mean([test.seconds for test in tests]),
        "seconds_95": late,
        "tones": mean([test.tones for test in tests]),
        "rmse_db": None if square_db is None else math.sqrt(square_db),
        "covered_95": mean_known(weight, [test.covered for test in tests]),
        "capped": mean([test.capped for test in tests]),
        "inattentive": float(np.sum(weight * [test.inattentive for test in tests])),
        "spent_s": {name: mean([test.spent_s[name] for test in tests]) for name in NAMES},
    }


def table_lines(rows: Sequence[Row]) -> list[str]:
    lines: list[Line] = [
        ("of an ear", lambda row: str(row["name"])),
        ("seconds, median", lambda row: f"{row['seconds_median']:.1f}"),
        ("seconds, mean", lambda row: f"{row['seconds_mean']:.1f}"),
        ("seconds, 95 % are below", lambda row: f"{row['seconds_95']:.1f}"),
        ("tones", lambda row: f"{row['tones']:.1f}"),
        ("RMSE at 500-8000 Hz", lambda row: _number(row["rmse_db"], " dB")),
        ("truths in the 95 % band", lambda row: _number(row["covered_95"])),
        ("ended at the cap of tones", lambda row: f"{row['capped']:.1%}"),
        ("listeners said to be inattentive", lambda row: f"{row['inattentive']:.1%}"),
    ]
    for way, parts in WAYS.items():
        lines.append((f"**seconds {way}**", lambda row: ""))
        lines += [(words, partial(_share, name=name)) for name, words in parts]
    return in_columns(rows, lines)


def _number(value: float | None, unit: str = "") -> str:
    return "-" if value is None else f"{value:.2f}{unit}"


def _share(row: Row, name: str) -> str:
    seconds: float = row["spent_s"][name]
    return f"{seconds:.1f} ({seconds / row['seconds_mean']:.0%})"


ONE_EAR: Final = "one"
BOTH_EARS: Final = "both"


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, Timed]:
    options = Options.of(arguments, conduct=BRISK)
    tested = names_in("--tested", arguments.tested, (ONE_EAR, BOTH_EARS))
    hows = [
        How(conduct, each == BOTH_EARS, arguments.unsure_half_width)
        for conduct in names_in("--conduct", arguments.conduct, CONDUCTS)
        for each in tested
    ]
    if options.objective:
        check_objective(options.objective)
    prior = prior_in(options.prior)
    measured = ears_measured(options, tables)
    people = people_of(measured) if BOTH_EARS in tested else []
    alone = [(ear.stratum, (ear,)) for ear in measured.ears]
    units = [
        Unit(how, ears, stratum, seed, options.answering, options.response_time_s,
             measured.jitter_db, prior, options.objective)
        for how in hows
        for stratum, ears in sorted(people if how.both else alone, key=_first_name)
        for seed in range(1, options.seeds + 1)
    ]  # fmt: skip
    try:
        make_test(units[0])
    except ValueError as error:
        raise HostError(str(error)) from None
    remarks = list(measured.remarks)
    return Table(
        units,
        run_test,
        Timed,
        lambda tests: [read_off(how, [t for t in tests if t.unit.how == how]) for how in hows],
        {
            "ears": len(alone), "people": len(people), "seeds": options.seeds,
            **options.answering.about, "response_time_s": options.response_time_s,
            "remarks": remarks,
        },
        lambda rows: [
            f"{len(alone)} ears" + (f", {len(people)} people with both" if people else "")
            + f"; {options.seeds} seeds each",
            f"{options.answering.words}; median response time {options.response_time_s:g} s",
            *remarks, "", *table_lines(rows),
        ],
    )  # fmt: skip


def people_of(measured: Measured) -> list[tuple[str, tuple[Ear, ...]]]:
    """Return the people both of whose ears can be scored, the right ear first.

    They are those of the ears that were drawn, each once, with the degree of loss of that ear.
    """
    others = {} if measured.people is None else other_ears(measured.people)
    people: dict[str, tuple[str, tuple[Ear, ...]]] = {}
    for ear in measured.ears:
        if ear.name in others:
            pair = sorted((ear, others[ear.name]), key=lambda each: each.name, reverse=True)
            people.setdefault(pair[0].name, (ear.stratum, tuple(pair)))
    if not people:
        raise HostError(
            f"--tested has {BOTH_EARS!r}, and nobody there has two ears that can be scored; "
            f"allowed is {ONE_EAR!r}, or a table with columns subject and ear"
        )
    return list(people.values())


def _first_name(tested: tuple[str, tuple[Ear, ...]]) -> str:
    return tested[1][0].name
