"""`gp-pta study --rules`: how often rules by name are met by ears that changed, and that did not.

Simulated people, as of `--changed`, do three whole brisk tests each, which ask every frequency
(`ask_all`): the baseline, a test, and the repeat of it. Before each the earphones are put on again.
Between the first and the others the ears grew worse by so many dB from 2 kHz on, or did not. It is
told of which share of the ears a rule is met by the thresholds told, and of which without a doubt.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.simulator.listener import EARS
from firmware_py.findings.convention import ear_in_convention
from firmware_py.findings.whole_band import REPETITION
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import Route
from firmware_py.terms.settings import BRISK, CLINICAL_ASCENDING
from host_tools.commands.sessions.change import SEED, EarPosterior
from host_tools.commands.sessions.shift_rules import RULES, Measured, Told, judge
from host_tools.recordings.as_recorded import KnownThresholds
from host_tools.research.changed_ears import NOISE_DB, RATE, an_ear, hear
from host_tools.research.study.arguments import whole_number
from host_tools.research.study.ears import Tables
from host_tools.research.study.listener import Answering
from host_tools.research.study.sessions import Row, Table
from host_tools.research.study.sitting import Sitting
from host_tools.terminal import markdown

PEOPLE_USUAL: Final = 100
WORSE_FROM_HZ: Final = 2000
WORSE_DB: Final = (0.0, 10.0, 15.0, 20.0)
PART: Final = 3  # people of their own, beside those of `--changed` and `--whole`
# Nobody grew older between the tests, and few of these ears hear better than 25 dB HL.
TOLD_OF: Final = tuple(
    rule for rule in RULES if not rule.age_corrected and rule.least_mean_db_hl is None
)


@dataclass(frozen=True)
class Watched:
    """Who is tested three times, and by how much the ears grew worse after the first."""

    number: int
    worse_db: float


@dataclass(frozen=True)
class Found:
    """What a rule said of an ear."""

    rule: str
    told: str
    sure: bool


def findings(watched: Watched) -> list[Found]:
    random = np.random.default_rng([PART, watched.number])
    ears = {ear: an_ear(random) for ear in EARS}
    noise_db = float(random.uniform(*NOISE_DB))
    tests = []
    for visit, worse_db in enumerate((0.0, watched.worse_db, watched.worse_db)):
        heard = {ear: hear(each, worse_db, random, WORSE_FROM_HZ) for ear, each in ears.items()}
        told = {"conduct": BRISK, "ear_check": False, "ask_all": True}
        sitting = Sitting(heard, Answering(noise_db, RATE, RATE), 3 * watched.number + visit, told)
        run = sitting.test()
        result = run.run().by_route
        tests.append({ear: _measured(result[Route(ear)], run.test.ears[Route(ear)].estimator)
                      for ear in EARS})  # fmt: skip
    found = []
    for ear in EARS:
        first, repeat, last = (each[ear] for each in tests)
        if first and repeat and last:
            each = (judge(rule, first, (last, repeat), SEED) for rule in TOLD_OF)
            found += [Found(said.rule.name, said.told, said.sure) for said in each]
    return found


def _measured(found: EarResult, thresholds: KnownThresholds) -> Measured | None:
    posterior = EarPosterior.of(found, thresholds)
    if posterior is None:
        return None
    moved_db = np.array([REPETITION.at(f) for f in posterior.frequencies_hz])
    return Measured.of(ear_in_convention(found, CLINICAL_ASCENDING), posterior, moved_db, 0.0)


def rows_of(found: Sequence[tuple[float, Found]]) -> list[Row]:
    """Return a row a rule and shift: of how many ears, and the shares of which it is met."""
    rows = []
    for rule in TOLD_OF:
        for worse_db in WORSE_DB:
            of = [said for by_db, said in found if (by_db, said.rule) == (worse_db, rule.name)]
            met = [said.told == Told.MET for said in of]
            sure = [said.told == Told.MET and said.sure for said in of]
            still_open = [said.told == Told.OPEN for said in of]
            rows.append({
                "rule": rule.name, "worse_db": worse_db, "ears": len(of),
                "met": _share(met), "sure": _share(sure), "open": _share(still_open),
            })  # fmt: skip
    return rows


def _share(which: Sequence[bool]) -> float:
    return sum(which) / len(which) if which else 0.0


def lines_of(rows: Sequence[Row]) -> list[str]:
    cells = [["rule", "worse by", "met", "met without a doubt", "open", "ears"]]
    for row in rows:
        shares = (f"{100 * row[name]:.1f} %" for name in ("met", "sure", "open"))
        cells.append([row["rule"], f"{row['worse_db']:g} dB", *shares, str(row["ears"])])
    return markdown(cells)


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Watched, list[Found]]:
    assert tables.measured is None
    people = whole_number("--people", arguments.people, PEOPLE_USUAL)
    units = [Watched(number, worse_db) for worse_db in WORSE_DB for number in range(people)]

    def rows(found: Sequence[list[Found]]) -> list[Row]:
        of = zip(units, found, strict=True)
        return rows_of([(unit.worse_db, said) for unit, each in of for said in each])

    return Table(units, findings, list[Found], rows, {"people": people}, lines_of)
