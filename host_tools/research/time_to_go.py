"""`gp-pta study --time-to-go`: how well a session tells its time to go, and its coefficients.

Whole sessions of two ears are run. The coefficients of `firmware_py/session/time_to_go.py` that fit
them best (least absolute error) are told, and the errors of those in force.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.events import Action, Event
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.route import LEFT, RIGHT
from firmware_py.terms.settings import BRISK, CONDUCTS, Settings
from firmware_py.terms.tells import AnswerTold
from host_tools.errors import HostError
from host_tools.research.methods.population import STRATA
from host_tools.research.study.arguments import whole_number
from host_tools.research.study.ears import AUTO, PARTS, TRAIN, Tables, ears_of, standard_ears
from host_tools.research.study.listener import Answering, Ear
from host_tools.research.study.sessions import Line, Row, Table, in_columns
from host_tools.research.study.sitting import Sitting

PEOPLE_USUAL: Final = 40
SHARES: Final = (0.25, 0.5, 0.75)  # of an ear, where the error is told
NOISE_DB: Final = 2.0
BETWEEN_EARS_DB: Final = 3.5  # of each ear, so that two differ by 5 dB
REWEIGHTINGS: Final = 50  # least absolute errors by least squares with new weights
LEAST_ERROR: Final = 0.1


@dataclass
class Answered:
    """What was told with an answer, and what the ear did not know yet."""

    ear: str
    purpose: str
    at_s: float
    seconds_to_go: float
    bits: float
    frequencies: int
    checks: int
    measuring: bool


@dataclass
class Course:
    """The answers of one session."""

    answers: list[Answered] = field(default_factory=list)

    @property
    def of_ears(self) -> list[list[Answered]]:
        """Return the answers ear by ear, in the order in which they were first asked."""
        found: dict[str, list[Answered]] = {}
        for each in self.answers:
            found.setdefault(each.ear, []).append(each)
        return [*found.values()]

    def errors_s(self, share: float) -> list[float]:
        """Return how wrong the time to go was at a share of each ear, in seconds."""
        end_s = self.answers[-1].at_s
        errors = []
        for answers in self.of_ears:
            own = [each for each in answers if each.purpose != Purpose.FAMILIARISE]
            if own:
                at = own[min(int(share * len(own)), len(own) - 1)]
                errors.append(at.seconds_to_go - (end_s - at.at_s))
        return errors

    def rows(self) -> list[tuple[float, float, int, int]]:
        """Return of each answer what was missing, and how many tones the ear took after it.

        Without those that are foreseen otherwise: catch trials, clear tones and the retest.
        """
        rows = []
        for own in self.of_ears:
            for done, each in enumerate(own, 1):
                left = sum(later.purpose == Purpose.MEASURE for later in own[done:])
                if each.purpose in (Purpose.FAMILIARISE, Purpose.MEASURE) and each.measuring:
                    given = (1.0, math.sqrt(each.bits), each.frequencies)
                    rows.append((*given, left - each.checks))
        return rows


class WatchedTest(HearingTest):
    """A hearing test that keeps what it tells with its answers."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.course = Course()

    def handle(self, now_us: int, event: Event) -> list[Action]:
        actions = super().handle(now_us, event)
        for each in actions:
            if isinstance(each, AnswerTold):
                missing = self.time_to_go.missing(self.ears[each.route])
                self.course.answers.append(
                    Answered(
                        str(each.route), each.purpose, now_us / 1e6, each.seconds_to_go or 0.0,
                        missing.bits, missing.frequencies, missing.checks, missing.measuring,
                    )
                )  # fmt: skip
        return actions


def course_of(ear: Ear, seed: int, conduct: str = BRISK) -> Course:
    """Run a session of somebody with two such ears, each a little different."""
    right, left = (ear.jitter(2 * seed + n, BETWEEN_EARS_DB).audiogram for n in range(2))
    # How long an operator takes to say which ear it is is no matter of the tones.
    sitting = Sitting(
        {RIGHT: right, LEFT: left},
        Answering(NOISE_DB, 0.01, 0.01),
        seed,
        {"conduct": conduct, "ear_check": False},
    )
    test = WatchedTest(sitting.settings)
    sitting.test(test).run()
    return test.course


def coefficients(courses: Sequence[Course]) -> Array:
    """Return tones in any case, a root of a bit and a frequency, with the least absolute error."""
    rows = np.array([row for course in courses for row in course.rows()])
    given, wanted = rows[:, :-1], rows[:, -1]
    weight = np.ones(len(rows))
    for _ in range(REWEIGHTINGS):
        root = np.sqrt(weight)
        found: Array = np.linalg.lstsq(given * root[:, None], wanted * root, rcond=None)[0]
        weight = 1.0 / np.maximum(np.abs(given @ found - wanted), LEAST_ERROR)
    return found


def median_errors_s(courses: Sequence[Course]) -> list[tuple[float, float]]:
    """Return the median absolute error and the median error at each of `SHARES` of an ear."""
    errors = [[e for course in courses for e in course.errors_s(share)] for share in SHARES]
    return [(float(np.median(np.abs(each))), float(np.median(each))) for each in errors]


def read_off(name: str, courses: Sequence[Course]) -> Row:
    """Return how long sessions took, the best coefficients, and the errors of those in force."""
    return {
        "name": name,
        "sessions": len(courses),
        "seconds_median": float(np.median([each.answers[-1].at_s for each in courses])),
        "coefficients": coefficients(courses).tolist(),
        "errors_s": median_errors_s(courses),
    }


def lines_of(rows: Sequence[Row]) -> list[str]:
    """Return the table in Markdown, a column for each conduct, and both."""

    def errors(row: Row, number: int) -> str:
        absolute_s, median_s = row["errors_s"][number]
        return f"{median_s:+.1f}, {absolute_s:.1f}"

    lines: list[Line] = [
        ("", lambda row: str(row["name"])),
        ("sessions", lambda row: str(row["sessions"])),
        ("seconds, median", lambda row: f"{row['seconds_median']:.0f}"),
        (
            "tones in any case, a root of a bit, a frequency",
            lambda row: " ".join(f"{each:.2f}" for each in row["coefficients"]),
        ),
    ]
    for number, share in enumerate(SHARES):
        words = f"error at {share:.0%} of an ear, s: median, absolute"
        lines.append((words, partial(errors, number=number)))
    return in_columns(rows, lines)


@dataclass(frozen=True)
class Unit:
    """A test to be run."""

    ear: Ear
    seed: int
    conduct: str


def run_unit(unit: Unit) -> Course:
    return course_of(unit.ear, unit.seed, unit.conduct)


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, Course]:
    """Return the table that is asked for: each conduct, and both."""
    people = whole_number("--people", arguments.people, PEOPLE_USUAL)
    ears = standard_ears()
    if tables.measured is not None:
        if arguments.part not in PARTS:
            raise HostError(f"--part is {arguments.part!r}; allowed are {', '.join(PARTS)}")
        part = TRAIN if arguments.part == AUTO else arguments.part
        ears, _ = ears_of(tables.measured.part(part), -(-people // len(STRATA)))
    seeds = range(arguments.seed, arguments.seed + people)
    units = [
        Unit(ears[(seed - 1) % len(ears)], seed, conduct) for conduct in CONDUCTS for seed in seeds
    ]

    def rows(courses: Sequence[Course]) -> list[Row]:
        parts = {name: courses[n * people : (n + 1) * people] for n, name in enumerate(CONDUCTS)}
        return [read_off(name, some) for name, some in {**parts, "both": courses}.items()]

    return Table(units, run_unit, Course, rows, {"people": people}, lines_of)
