"""How well a session tells its time to go, and the coefficients of that estimate.

``python -m host_tools.research.time_to_go --audiograms FILE.csv`` runs whole sessions of two ears
and prints the coefficients of `firmware_py/session/time_to_go.py` that fit them
best (least absolute error), and the errors of those in force.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.platform.program import run_program
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.events import Action, Event
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.route import LEFT, RIGHT
from firmware_py.terms.settings import BRISK, CONDUCTS, Settings
from firmware_py.terms.tells import AnswerTold
from host_tools.errors import HostError
from host_tools.research.methods.population import STRATA
from host_tools.research.study.ears import (
    BISGAARD,
    HELD_OUT,
    TRAIN,
    ears_of,
    read_table,
    standard_ears,
)
from host_tools.research.study.listener import Answering, Ear
from host_tools.research.study.sitting import Sitting
from host_tools.research.study.work import Where, all_done

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

    def errors_s(self, share: float) -> list[float]:
        """Return how wrong the time to go was at a share of each ear, in seconds."""
        end_s = self.answers[-1].at_s
        errors = []
        for ear in {each.ear for each in self.answers}:
            own = [each for each in self.answers if each.ear == ear]
            own = [each for each in own if each.purpose != Purpose.FAMILIARISE]
            if own:
                at = own[min(int(share * len(own)), len(own) - 1)]
                errors.append(at.seconds_to_go - (end_s - at.at_s))
        return errors

    def rows(self) -> list[tuple[float, float, int, int]]:
        """Return of each answer what was missing, and how many tones the ear took after it.

        Without those that are foreseen otherwise: catch trials, clear tones and the retest.
        """
        rows = []
        for ear in {each.ear for each in self.answers}:
            own = [each for each in self.answers if each.ear == ear]
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
        """Take in one event, and keep the answer that comes of it."""
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


def _course_asked(asked: tuple[Ear, int, str]) -> Course:
    return course_of(*asked)


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


def main(arguments: list[str]) -> int:
    """Print coefficients and errors."""
    parser = argparse.ArgumentParser(prog="time_to_go")
    parser.add_argument("--audiograms", default=BISGAARD, help="a table of ears")
    parser.add_argument("--part", default=TRAIN, choices=(TRAIN, HELD_OUT), help="of the table")
    parser.add_argument("--sessions", type=int, default=40, help="of each conduct")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0: this one alone")
    parser.add_argument("--first", type=int, default=1, metavar="SEED")
    given = parser.parse_args(arguments)
    try:
        ears = standard_ears()
        if given.audiograms != BISGAARD:
            table = read_table(Path(given.audiograms), "--audiograms").part(given.part)
            ears, _ = ears_of(table, -(-given.sessions // len(STRATA)))
        seeds = range(given.first, given.first + given.sessions)
        asked = [(ears[(seed - 1) % len(ears)], seed) for seed in seeds]
        where = Where(given.workers)
        courses = {
            conduct: all_done(_course_asked, [(*each, conduct) for each in asked], where)
            for conduct in CONDUCTS
        }
    except HostError as error:
        print(error, file=sys.stderr)
        return 2
    for name, some in {**courses, "both": [*chain(*courses.values())]}.items():
        print(f"{name}: {len(some)} sessions, median {_median_s(some):.0f} s")
        print(
            "  tones in any case, a root of a bit, a frequency: {:.2f} {:.2f} {:.2f}".format(
                *coefficients(some)
            )
        )
        for share, (absolute, median) in zip(SHARES, median_errors_s(some), strict=True):
            print(f"  at {share:.0%} of an ear: error {median:+.1f} s, absolute {absolute:.1f} s")
    return 0


def _median_s(courses: Sequence[Course]) -> float:
    return float(np.median([each.answers[-1].at_s for each in courses]))


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
