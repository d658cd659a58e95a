"""`gp-pta study --tuning`: what becomes of people who answer in many ways, and by up and down.

The whole procedure tunes for people of each kind. Up and down tunes for the same people in as many
comparisons.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.simulator.preferences import PEOPLE, SimulatedWearer
from firmware_py.comparisons.result import TuningFinding, TuningResult
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.terms.reasons import Code
from host_tools.research.study.arguments import whole_number
from host_tools.research.study.ears import Tables
from host_tools.research.study.sessions import Row, Table
from host_tools.research.tuning.people import LIMIT_DB, NUMBERS, Person, SettingDb, drawn_person
from host_tools.research.tuning.procedure import SimulatedTuning
from host_tools.research.tuning.up_down import tune_up_and_down
from host_tools.terminal import markdown

PEOPLE_USUAL: Final = 60
PRESCRIPTION: Final = (0.0,) * NUMBERS
NAMES: Final = [each.word for each in DIMENSIONS]


@dataclass(frozen=True)
class Tuned:
    """What a tuning found for a person, and what up and down did.

    A regret is how much worse a setting is for this person, as he is at the end, than the best.
    """

    unit: Person
    finding: str  # of `TuningFinding`
    comparisons: int
    seconds: float
    stated: float  # the regret that the result expects
    left: float  # regret of what the aid is left at
    before: float  # regret of the prescription
    ends: list[int]  # the numbers that are said to be at the end of their range
    beyond: list[int]  # the numbers that are wished beyond it
    left_by_up_down: float
    before_up_down: float

    @property
    def is_wish(self) -> bool:
        return self.finding == TuningFinding.WISH

    @property
    def is_worse_unsaid(self) -> bool:
        """Return whether it is worse than the prescription, and nothing says so."""
        return self.is_wish and not self.ends and self.left > self.before


def run_person(person: Person) -> Tuned:
    """Tune for a person: always the same for the same one."""
    simulated = SimulatedTuning(person)
    result, wearer = simulated.run(), simulated.wearer
    other = person.wearer()
    by_up_down = up_and_down(other, result.comparisons, person.seed)
    return Tuned(
        person, result.finding, result.comparisons, simulated.now_us / 1e6, result.expected_regret,
        -wearer.utility(result.setting_db), -wearer.utility(PRESCRIPTION), ends_of(result),
        [i for i, wish_db in enumerate(wearer.wish_db) if abs(wish_db) > LIMIT_DB],
        -other.utility(by_up_down), -other.utility(PRESCRIPTION),
    )  # fmt: skip


def ends_of(result: TuningResult) -> list[int]:
    remarks = [remark.to_record() for remark in result.remarks]
    named = [each["dimension"] for each in remarks if each["code"] == Code.RANGE_END.word]
    return [NAMES.index(each) for each in named]


def up_and_down(wearer: SimulatedWearer, comparisons: int, seed: int) -> SettingDb:
    """Tune up and down, in so many comparisons; which is heard first is drawn."""
    chance, left = random.Random(f"{seed} up and down"), iter(range(comparisons))

    def is_better(old_db: SettingDb, new_db: SettingDb) -> bool | None:
        if next(left, None) is None:
            return None
        if chance.random() < 0.5:
            return wearer.answer(old_db, new_db) == "second"
        return wearer.answer(new_db, old_db) == "first"

    return tune_up_and_down(is_better)


def read_off(kind: str, tuned: Sequence[Tuned]) -> Row:
    """Return a row: what tunings end with, for people of a kind."""
    wishes = [each for each in tuned if each.is_wish]
    beyond = [i in each.ends for each in wishes for i in each.beyond]
    within = [bool(each.ends) for each in wishes if not each.beyond]
    findings = (TuningFinding.WISH, TuningFinding.UNSURE, TuningFinding.NONE)
    return {
        "who": kind,
        "people": len(tuned),
        "found": [mean([each.finding == finding for each in tuned]) for finding in findings],
        "comparisons": float(np.median([each.comparisons for each in tuned])),
        "minutes": float(np.median([each.seconds for each in tuned])) / 60.0,
        "stated": mean([each.stated for each in wishes]),
        "actual": mean([each.left for each in wishes]),
        "left": mean([each.left for each in tuned]),
        "worse": mean([each.is_worse_unsaid for each in tuned]),
        "beyond": mean(beyond),
        "within": mean(within),
        "up_down": mean([each.left_by_up_down for each in tuned]),
        "up_down_worse": mean([each.left_by_up_down > each.before_up_down for each in tuned]),
        "before": mean([each.before for each in tuned]),
    }


def mean(values: Sequence[float]) -> float | None:
    """Return the mean; None: there are none."""
    return float(np.mean(values)) if values else None


def lines_of(rows: Sequence[Row]) -> list[str]:
    said = [[
        "who answers", "wish, unsure, none", "comparisons", "minutes", "stated", "actual", "left",
        "worse, unsaid", "end named", "of others", "before", "up-down", "worse",
    ]]  # fmt: skip
    for row in rows:
        findings = ", ".join(share(each) for each in row["found"])
        said.append([
            f"{row['who']}: {PEOPLE[row['who']].words}", findings, f"{row['comparisons']:.0f}",
            f"{row['minutes']:.1f}", *(figure(row[name]) for name in ("stated", "actual", "left")),
            *(share(row[name]) for name in ("worse", "beyond", "within")),
            figure(row["before"]), figure(row["up_down"]), share(row["up_down_worse"]),
        ])  # fmt: skip
    return markdown(said)


def share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def rows_of(tuned: Sequence[Tuned]) -> list[Row]:
    return [read_off(kind, [e for e in tuned if e.unit.kind == kind]) for kind in PEOPLE]


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Person, Tuned]:
    assert tables.measured is None
    people = whole_number("--people", arguments.people, PEOPLE_USUAL)
    seeds = range(arguments.seed, arguments.seed + people)
    units = [drawn_person(seed, kind, arguments.sensitivity) for kind in PEOPLE for seed in seeds]
    return Table(units, run_person, Tuned, rows_of, {"people": people}, lines_of)
