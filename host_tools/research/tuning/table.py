"""`gp-pta study --tuning`: regret by method, and what becomes of people who do not answer well.

A method is a way to choose what is compared. Each tunes for the same people, as a peer does in an
environment of its own. The whole procedure tunes for people of all kinds.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from device.simulator.preferences import HONEST, PEOPLE
from firmware_py.comparisons.result import TuningFinding
from firmware_py.inference.kernel import Array
from host_tools.drawings.drawing import BLUE, GREY, INK, ORANGE, in_style, new_figure, save
from host_tools.errors import HostError
from host_tools.research.study.arguments import names_in, whole_number
from host_tools.research.study.ears import Tables
from host_tools.research.study.sessions import Row, Table
from host_tools.research.tuning.methods import (
    METHODS,
    OBJECTIVES,
    PRODUCT,
    TITLES,
    new_estimator,
    regret,
)
from host_tools.research.tuning.people import NUMBERS, Person, SettingDb, drawn_person
from host_tools.research.tuning.procedure import SimulatedTuning
from host_tools.terminal import markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PEOPLE_USUAL: Final = 200
COUNTS: Final = (0, 5, 10, 15, 20, 25)  # comparisons, of which the tables tell
COMPARISONS: Final = COUNTS[-1]
LOOKED_AT: Final = {*range(16), *COUNTS}  # when the best setting is asked for, which takes longest
NEAR_DB: Final = 3.0
GOAL: Final = 1.0 / 3.0  # of the prescription's regret
PRESCRIPTION: Final = (0.0,) * NUMBERS

COLUMNS: Final = 3
WIDTH_INCH: Final = 9.4
ROW_INCH: Final = 2.6

PROCEDURE: Final = "procedure"  # in the place of a method: the whole of it
PEER: Final = "aepsych"
PEER_TITLE: Final = "AEPsych: pairwise GP"
PEER_MODULE: Final = "bench.peers.preferences"
ROOT: Final = Path(__file__).parents[3]
SAME_PEOPLE: Final = ", the peer's people"


@dataclass(frozen=True)
class Unit:
    """A tuning to be run: of a person by a method, `PEER` or `PROCEDURE`."""

    method: str
    person: Person
    peer: str = ""  # the interpreter of the peer


@dataclass(frozen=True)
class Tuned:
    """What a tuning found."""

    unit: Unit
    best_db: dict[int, SettingDb] = field(default_factory=dict)  # so far, by comparisons
    # Of the procedure:
    finding: str = ""  # of `TuningFinding`
    comparisons: int = 0
    seconds: float = 0.0
    regret_left: float = 0.0  # at which the aid was left, for what the person wants at the end
    regret_before: float = 0.0

    def regret(self, count: int) -> float:
        """Return how much worse the best setting is than the wished one, after so many."""
        return regret(self.best_db[count], self.unit.person.wish_db)

    def is_near(self, count: int, *, each: bool) -> bool:
        """Return whether it is within 3 dB of the wish, in each number or in their RMS."""
        off_db = np.array(self.best_db[count]) - np.array(self.unit.person.wish_db)
        furthest_db = abs(off_db).max() if each else math.sqrt((off_db**2).mean())
        return bool(furthest_db <= NEAR_DB)


def run_unit(unit: Unit) -> Tuned:
    """Tune for a person: always the same for the same unit."""
    return {PEER: run_peer, PROCEDURE: run_procedure}.get(unit.method, run_method)(unit)


def run_method(unit: Unit) -> Tuned:
    """Tune by a method, in `COMPARISONS` comparisons."""
    method, person = unit.method, unit.person
    estimator = new_estimator(OBJECTIVES.get(method, "gain"))
    chosen = METHODS[method]
    chance = np.random.default_rng([person.seed, sum(method.encode())])
    wearer = person.wearer()
    best_db: dict[int, SettingDb] = {0: PRESCRIPTION}
    for count in range(1, COMPARISONS + 1):
        pair = chosen(estimator, chance)
        first, second = pair if chance.random() < 0.5 else pair[::-1]
        estimator.observe(first, second, wearer.answer(first, second))
        if count in LOOKED_AT:
            best_db[count] = estimator.best()
    return Tuned(unit, best_db)


def run_procedure(unit: Unit) -> Tuned:
    simulated = SimulatedTuning(unit.person)
    result = simulated.run()
    wish_db = simulated.wish_db
    return Tuned(
        unit, {}, str(result.finding), result.comparisons, simulated.now_us / 1e6,
        regret(result.setting_db, wish_db), regret(PRESCRIPTION, wish_db),
    )  # fmt: skip


def run_peer(unit: Unit) -> Tuned:
    """Tune by the peer, in an environment of its own."""
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    given = {"people": [asdict(unit.person)], "counts": COUNTS[1:]}
    with tempfile.TemporaryDirectory() as place:  # it leaves logs where it is started
        try:
            run = subprocess.run(
                [os.path.abspath(unit.peer), "-W", "ignore", "-m", PEER_MODULE],
                input=json.dumps(given), cwd=place,
                env={**os.environ, **one_thread, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
        except (OSError, subprocess.CalledProcessError) as error:
            raise HostError(f"--peer {unit.peer}: {error}") from None
    (told,) = json.loads(run.stdout.splitlines()[-1])
    return Tuned(unit, {0: PRESCRIPTION, **{int(n): tuple(each) for n, each in told.items()}})


def regrets(courses: Sequence[Tuned], count: int) -> Array:
    """Return the regret of each course after so many comparisons."""
    return np.array([course.regret(count) for course in courses])


def share(courses: Sequence[Tuned], count: int, *, median: bool) -> float:
    """Return the mean or median regret, as a share of the prescription's."""
    middle = np.median if median else np.mean
    return float(middle(regrets(courses, count)) / middle(regrets(courses, 0)))


def error_of_share(courses: Sequence[Tuned], count: int) -> float:
    """Return the standard error of the share of the mean regret (of a ratio of two means)."""
    after, before = regrets(courses, count), regrets(courses, 0)
    off = after - before * after.mean() / before.mean()
    return float(off.std(ddof=1) / math.sqrt(len(off)) / before.mean())


def comparisons_to(courses: Sequence[Tuned], goal: float) -> int | None:
    """Return from which comparison on the share of the median regret is this or less.

    None: it is not.
    """
    counts = sorted(courses[0].best_db)
    above = [count for count in counts if share(courses, count, median=True) > goal]
    later = [count for count in counts if not above or count > above[-1]]
    return later[0] if later else None


def read_off_method(title: str, courses: Sequence[Tuned]) -> Row:
    counts = COUNTS[1:]
    return {
        "method": title,
        "people": len(courses),
        "mean": [share(courses, count, median=False) for count in counts],
        "median": [share(courses, count, median=True) for count in counts],
        "error": max(error_of_share(courses, count) for count in counts),
        "to_a_third": comparisons_to(courses, GOAL),
        "near": [
            float(np.mean([course.is_near(COMPARISONS, each=each) for course in courses]))
            for each in (False, True)
        ],
    }


def read_off_people(kind: str, tuned: Sequence[Tuned]) -> Row:
    """Return a row: what the procedure ends with, for people of a kind."""
    left = np.mean([each.regret_left for each in tuned])
    findings = (TuningFinding.WISH, TuningFinding.UNSURE, TuningFinding.NONE)
    return {
        "who": kind,
        "people": len(tuned),
        "found": [float(np.mean([e.finding == finding for e in tuned])) for finding in findings],
        "comparisons": np.quantile([each.comparisons for each in tuned], [0.1, 0.5, 0.9]).tolist(),
        "minutes": float(np.median([each.seconds for each in tuned])) / 60.0,
        "left": float(left / np.mean([each.regret_before for each in tuned])),
    }


def lines_of(rows: Sequence[Row]) -> list[str]:
    methods = [row for row in rows if "method" in row]
    after = [str(count) for count in COUNTS[1:]]
    ours = [["pairs chosen by", "people", *after, "to a third", "near, RMS", "near, each"]]
    for row in methods:
        needed = row["to_a_third"]
        ours.append([
            row["method"], str(row["people"]),
            *(f"{mean:.0%} ({median:.0%})" for mean, median in zip(row["mean"], row["median"],
                                                                   strict=True)),
            f"more than {COMPARISONS}" if needed is None else str(needed),
            *(f"{near:.0%}" for near in row["near"]),
        ])  # fmt: skip
    worst = 100.0 * max(row["error"] for row in methods)
    theirs = [["who answers", "people", "wish", "unsure", "none", "comparisons", "minutes",
               "regret left"]]  # fmt: skip
    for row in rows:
        if "who" in row:
            low, middle, high = row["comparisons"]
            theirs.append([
                f"{row['who']}: {PEOPLE[row['who']]}", str(row["people"]),
                *(f"{each:.0%}" for each in row["found"]),
                f"{middle:.0f} ({low:.0f} to {high:.0f})", f"{row['minutes']:.1f}",
                f"{row['left']:.0%}",
            ])  # fmt: skip
    error = f"The standard error of a share of the mean is {worst:.1f} points or less."
    return [*markdown(ours), "", error, "", *markdown(theirs)]


def by_title(tuned: Sequence[Tuned]) -> dict[str, list[Tuned]]:
    """Return the courses of each method; if the peer has fewer people, the product's of these."""
    of: dict[str, list[Tuned]] = {}
    for each in tuned:
        if each.unit.method != PROCEDURE:
            of.setdefault(each.unit.method, []).append(each)
    peers = of.pop(PEER, [])
    found = {TITLES[method]: some for method, some in of.items()}
    if peers:
        if len(peers) < len(of[PRODUCT]):
            found[TITLES[PRODUCT] + SAME_PEOPLE] = of[PRODUCT][: len(peers)]
        found[PEER_TITLE] = peers
    return found


def rows_of(tuned: Sequence[Tuned]) -> list[Row]:
    of_kind = {
        kind: [e for e in tuned if e.unit.method == PROCEDURE and e.unit.person.kind == kind]
        for kind in PEOPLE
    }
    return [
        *(read_off_method(title, some) for title, some in by_title(tuned).items()),
        *(read_off_people(kind, some) for kind, some in of_kind.items() if some),
    ]


def draw(tuned: Sequence[Tuned], directory: Path) -> None:
    """Draw the regret of each method against comparisons; the first one's is in all panels."""
    drawn = {title: some for title, some in by_title(tuned).items() if SAME_PEOPLE not in title}
    with in_style():
        save(regret_figure(drawn), (directory / "regret").with_suffix(".svg"), for_all=True)


def regret_figure(courses: dict[str, list[Tuned]]) -> "Figure":
    rows = -(-len(courses) // COLUMNS)
    figure = new_figure(WIDTH_INCH, ROW_INCH * rows + 0.4)
    figure.suptitle("Regret of the best setting so far, of the prescription's median", fontsize=11)
    grid = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False)
    panels = [axes for row in grid for axes in row]
    first, *_ = courses
    for axes, (title, some) in zip(panels, courses.items(), strict=False):
        _panel(axes, some, None if title == first else courses[first])
        axes.set_title(title, fontsize=9.5, color=INK)
    for axes in panels[len(courses) :]:
        axes.set_axis_off()
    for axes in panels[max(len(courses) - COLUMNS, 0) : len(courses)]:
        axes.set_xlabel("comparisons")
        axes.tick_params(labelbottom=True)
    for row in grid:
        row[0].set_ylabel("regret")
    panels[min(1, len(courses) - 1)].legend(loc="upper right", frameon=False, fontsize=8)
    return figure


def _panel(axes: "Axes", courses: list[Tuned], beside: list[Tuned] | None) -> None:
    counts = sorted(courses[0].best_db)
    before = float(np.median(regrets(courses, 0)))
    low, middle, high = np.quantile(
        [regrets(courses, count) / before for count in counts], [0.25, 0.5, 0.75], axis=1
    )
    axes.axhline(GOAL, color=GREY, linewidth=0.8, linestyle="--")
    axes.fill_between(counts, low, high, color=BLUE, alpha=0.16, linewidth=0, label="quartiles")
    axes.plot(counts, middle, color=BLUE, label="median")
    if beside is not None:
        others = sorted(beside[0].best_db)
        whole = float(np.median(regrets(beside, 0)))
        medians = [float(np.median(regrets(beside, count))) / whole for count in others]
        axes.plot(
            others, medians, color=ORANGE, linestyle=(0, (4, 1.5)), label="the product's median"
        )
    axes.set_xlim(0, COMPARISONS)
    axes.set_ylim(0.0, 1.9)
    axes.set_yticks([0.0, GOAL, 1.0, 1.5], ["0", "1/3", "1", "1.5"])


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, Tuned]:
    assert tables.measured is None
    people = whole_number("--people", arguments.people, PEOPLE_USUAL)
    methods = names_in("--methods", arguments.methods, METHODS)
    if methods[0] != PRODUCT:
        raise HostError(
            f"--methods begins with {methods[0]!r}; with --tuning the first is {PRODUCT}"
        )
    seeds = range(arguments.seed, arguments.seed + people)
    everybody = {
        kind: [drawn_person(seed, kind, arguments.sensitivity) for seed in seeds] for kind in PEOPLE
    }
    honest = everybody[HONEST]
    units = [Unit(method, person) for person in honest for method in methods]
    if arguments.peer:
        python, comma, count = arguments.peer.rpartition(",")
        few = honest[: int(count)] if comma and count.isdecimal() else honest
        units += [Unit(PEER, person, python or arguments.peer) for person in few]
    units += [Unit(PROCEDURE, person) for some in everybody.values() for person in some]
    return Table(units, run_unit, Tuned, rows_of, {"people": people}, lines_of, draw=draw)
