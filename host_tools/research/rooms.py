"""`gp-pta study --rooms`: what whole tests find in noisy rooms, told, heard, or not known.

People with supra-aural earphones, both ears, each a little different. A number is held to be too
poor if it lies more than 5 dB above the threshold in quiet; a bound is false from 3 dB on.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.simulator.hearing import SimulatedTest
from device.simulator.microphones import MicrophoneKind
from device.simulator.room_around import RoomAround
from device.simulator.rooms import room_named
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.room import OFFICE, room_of
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.research.study.arguments import whole_number
from host_tools.research.study.ears import ALL_EARS, HELD_OUT, Tables, ears_of, standard_ears
from host_tools.research.study.listener import Answering, Ear
from host_tools.research.study.sessions import Row, Table
from host_tools.research.study.sitting import Sitting
from host_tools.terminal import markdown

PEOPLE_USUAL: Final = 100
BETWEEN_EARS_DB: Final = 3.5
ASKED_HZ: Final = (500, 1000, 2000, 4000)
POOR_DB: Final = 5.0
FALSE_DB: Final = 3.0


@dataclass(frozen=True)
class Case:
    """A room, and what the test knows of it."""

    name: str
    room: str = ""  # as `gp-pta simulate --room` takes it; "": quiet
    told_dba: float | None = None
    uncertainty_db: float = 1.0
    microphone: MicrophoneKind | None = None


# At .5, 1, 2 and 4 kHz: what is told of them, and under which name.
COLUMNS: Final = (
    ("numbers at .5, 1, 2, 4 kHz, %", "numbers"),
    ("of these > 5 dB too poor, %", "too_poor"),
    ("bands and bounds that hold, %", "covers"),
)
HEARS: Final = MicrophoneKind()
CASES: Final = (
    Case("quiet"),
    Case("30 dBA, not known", "steady:30"),
    Case("30 dBA, told", "steady:30", 30.0),
    Case("40 dBA, not known", "steady:40"),
    Case("40 dBA, told", "steady:40", 40.0),
    Case("40 dBA, told to 3 dB", "steady:40", 40.0, 3.0),
    Case("40 dBA, told as 34 to 3 dB", "steady:40", 34.0, 3.0),
    Case("40 dBA, heard", "steady:40", microphone=HEARS),
    Case("40 dBA and bursts, not known", "bursts:40"),
    Case("40 dBA and bursts, heard", "bursts:40", microphone=HEARS),
    Case("a door, heard", "door:35", microphone=HEARS),
    Case("a train, heard", "train:35", microphone=HEARS),
)


@dataclass(frozen=True)
class Unit:
    """A test of both ears of somebody in a room."""

    case: Case
    ear: Ear
    seed: int


@dataclass
class Found:
    """What a test found: its time, and of each of `ASKED_HZ` of both ears what was told, in dB.

    `off_db`: how far a number lies above the truth, NaN of none; `covers`: whether band or bound
    holds the truth; `below_db`: how far the truth lies above a bound, NaN of none.
    """

    seconds: float
    off_db: list[list[float]]
    covers: list[list[bool]]
    below_db: list[list[float]]


def run_unit(unit: Unit) -> Found:
    right, left = (unit.ear.jitter(2 * unit.seed + n, BETWEEN_EARS_DB).audiogram for n in range(2))
    truths = {RIGHT: right, LEFT: left}
    answering = Answering(2.0, 0.01, 0.01)
    sitting = Sitting(truths, answering, unit.seed, {"ear_check": False})  # type: ignore[arg-type]
    case, test = unit.case, HearingTest(sitting.settings)
    if case.told_dba is not None:
        test.handle(0, room_of(case.told_dba, OFFICE, case.uncertainty_db))
    room = room_named(case.room, unit.seed) if case.room else None
    around = RoomAround(room, case.microphone)
    simulated = SimulatedTest(sitting.settings, sitting.listener, test=test, room=around)
    result = simulated.run()
    found = Found(simulated.now_us / 1e6, [], [], [])
    for ear in result.ears:
        truth = truths[ear.route.ear]
        told = {each.frequency_hz: each for each in ear.thresholds}
        off_db, covers, below_db = [], [], []
        for frequency_hz in ASKED_HZ:
            each, true_db_hl = told[frequency_hz], truth.threshold_db_hl(frequency_hz)
            is_bound = each.mark == Outcome.HEARS_ALL and each.limit_db_hl is not None
            number_db_hl = each.threshold_db_hl if each.mark == Outcome.MEASURED else None
            off_db.append(np.nan if number_db_hl is None else number_db_hl - true_db_hl)
            bound_db_hl = each.limit_db_hl if is_bound else None
            below_db.append(np.nan if bound_db_hl is None else true_db_hl - bound_db_hl)
            low, high = each.low_db_hl, each.high_db_hl
            in_band = low is not None and high is not None and low <= true_db_hl <= high
            covers.append(in_band or (bound_db_hl is not None and true_db_hl <= bound_db_hl))
        found.off_db.append(off_db)
        found.covers.append(covers)
        found.below_db.append(below_db)
    return found


def read_off(name: str, found: Sequence[Found]) -> Row:
    off_db = np.array([ear for each in found for ear in each.off_db])
    below_db = np.array([ear for each in found for ear in each.below_db])
    covers = np.array([ear for each in found for ear in each.covers])
    numbers, bounds = ~np.isnan(off_db), ~np.isnan(below_db)
    told = np.maximum((numbers | bounds).sum(axis=0), 1)
    poor = (np.nan_to_num(off_db) > POOR_DB).sum(axis=0) / np.maximum(numbers.sum(axis=0), 1)
    false = (np.nan_to_num(below_db) > FALSE_DB).sum() / max(bounds.sum(), 1)
    return {
        "name": name,
        "seconds": float(np.mean([each.seconds for each in found])),
        "numbers": numbers.mean(axis=0).tolist(),
        "too_poor": poor.tolist(),
        "covers": ((covers & (numbers | bounds)).sum(axis=0) / told).tolist(),
        "false_bounds": float(false),
    }


def lines_of(rows: Sequence[Row]) -> list[str]:
    """Return the table in Markdown, a row for each room."""

    def shares(each: Sequence[float]) -> str:
        return " ".join(f"{100.0 * share:.0f}" for share in each)

    heading = ["", *(words for words, _ in COLUMNS), "bounds false by 3 dB, %", "s, both ears"]
    cells = [
        [
            str(row["name"]),
            *(shares(row[key]) for _, key in COLUMNS),
            f"{100.0 * row['false_bounds']:.1f}",
            f"{row['seconds']:.0f}",
        ]
        for row in rows
    ]
    return markdown([heading, *cells])


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, Found]:
    people = whole_number("--people", arguments.people, PEOPLE_USUAL)
    ears: Sequence[Ear] = standard_ears()
    if tables.measured is not None:  # as they come, and not so many of each degree of loss
        held_out, _ = ears_of(tables.measured.part(HELD_OUT), ALL_EARS)
        order = np.random.default_rng(arguments.seed).permutation(len(held_out))
        ears = [held_out[place] for place in order]
    seeds = range(arguments.seed, arguments.seed + people)
    units = [Unit(case, ears[(seed - 1) % len(ears)], seed) for case in CASES for seed in seeds]

    def rows(found: Sequence[Found]) -> list[Row]:
        return [
            read_off(case.name, found[n * people : (n + 1) * people])
            for n, case in enumerate(CASES)
        ]

    return Table(units, run_unit, Found, rows, {"people": people}, lines_of)
