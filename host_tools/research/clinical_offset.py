"""How far the clinic's ascending procedure settles above the level that is heard half the time.

``python -m host_tools.research.clinical_offset`` simulates the classical rule as the firmware runs
it (`firmware_py/ear/confirmation.py`: ASHA 2005, the lowest level heard in two and in half of
its ascents), and beside it the ascending method of ISO 8253-1 (`methods/staircase.py`: three equal
ascents of five), and prints the offsets beside those in force, `OFFSETS_DB` of
`firmware_py/ear/clinical_offset.py`.

The threshold lies evenly between two steps of 5 dB. The classical rule begins 10 dB above a
threshold that is known within an SD of 2 dB, as a confirmation does; ISO's method with its
familiarisation. Runs that end without a threshold are left out, and their share is shown.
"""

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Final

from firmware_py.ear.clinical_offset import OFFSETS_DB, clinical_offset_db
from firmware_py.ear.confirmation import ABOVE_DB, Ascents
from firmware_py.ear.levels import Levels
from firmware_py.platform.program import run_program
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import LEFT, Route
from firmware_py.terms.settings import Settings
from host_tools.research.methods.interface import Task
from host_tools.research.methods.staircase import SETTLED, StaircaseIso

FREQUENCY_HZ: Final = 1000
BASE_DB_HL: Final = 40.0  # far from both limits
STEP_DB: Final = 5.0
START_SD_DB: Final = 2.0
RATES: Final = ((0.01, 0.01), (0.05, 0.05), (0.02, 0.10), (0.15, 0.01))  # lapses, false alarms
ISO_FEWER: Final = 4  # runs, for they take longer
LEVELS_DB_HL: Final = (-10.0, 120.0)

# Of a level in dB HL: whether it is heard.
Answer = Callable[[float], bool]
# Threshold, what chance is drawn from, and what answers: the level at which a method settles.
Method = Callable[[float, random.Random, Answer], float | None]


@dataclass(frozen=True)
class Offset:
    """Where a method settles, of one kind of listener."""

    mean_db: float
    sd_db: float  # of one result
    missing: float  # share of runs without a result


def classical(threshold_db_hl: float, rng: random.Random, heard: Answer) -> float | None:
    """Return the threshold of the classical rule, as the firmware confirms one."""
    levels = Levels(Route(LEFT), Settings(), lambda _route, _frequency_hz: math.inf)
    known_db_hl = threshold_db_hl + rng.gauss(0.0, START_SD_DB)
    # The test that went before has been as loud.
    levels.note_tone(Presentation(Purpose.CONFIRM, FREQUENCY_HZ, known_db_hl + ABOVE_DB))
    run = Ascents(FREQUENCY_HZ, known_db_hl + ABOVE_DB, levels)
    while not run.over:
        tone = run.tone()
        levels.note_tone(tone)
        run.take_answer(tone.level_db_hl, heard(tone.level_db_hl))
    return run.result().threshold_db_hl


def iso(_threshold_db_hl: float, _rng: random.Random, heard: Answer) -> float | None:
    """Return the first threshold of the ascending method of ISO 8253-1."""
    task = Task(audiogram_frequencies_hz=(FREQUENCY_HZ,), level_limits_db_hl=LEVELS_DB_HL)
    method = StaircaseIso(task)
    while FREQUENCY_HZ not in method.findings:
        tone = method.next_stimulus()
        assert tone is not None, "its one frequency is not done"
        method.observe(tone.frequency_hz, tone.level_db_hl, heard(tone.level_db_hl))
    finding = method.findings[FREQUENCY_HZ]
    return finding.level_db_hl if finding.outcome == SETTLED else None


METHODS: Final = {"classical": classical, "iso": iso}


def offset(method: Method, noise_db: float, rates: tuple[float, float], runs: int) -> Offset:
    """Return where a method settles above the level that is heard half the time.

    Parameters
    ----------
    method : callable
    noise_db : float
        SD of the response noise.
    rates : tuple of float
        Of lapses, and of false alarms.
    runs : int
        Their thresholds lie evenly between two steps.
    """
    found = [*_offsets(method, noise_db, rates, runs)]
    known = [each for each in found if each is not None]
    return Offset(fmean(known), pstdev(known), 1.0 - len(known) / runs)


def _offsets(
    method: Method, noise_db: float, rates: tuple[float, float], runs: int
) -> Iterator[float | None]:
    (lapses, false_alarms), rng = rates, random.Random(1)
    for run in range(runs):
        threshold_db_hl = BASE_DB_HL + STEP_DB * (run + 0.5) / runs

        def hears(level_db_hl: float, threshold_db_hl: float = threshold_db_hl) -> bool:
            chance, noise = rng.random(), rng.gauss(0.0, noise_db)
            if chance < false_alarms:
                return True
            return chance < 1.0 - lapses and noise < level_db_hl - threshold_db_hl

        settled_db_hl = method(threshold_db_hl, rng, hears)
        yield None if settled_db_hl is None else settled_db_hl - threshold_db_hl


def main(arguments: list[str]) -> int:
    """Print the table."""
    p = argparse.ArgumentParser(prog="python -m host_tools.research.clinical_offset")
    p.add_argument("--runs", type=int, default=20_000, help="a figure (default: 20000)")
    runs = p.parse_args(arguments).runs
    titles = [f"{100 * lapses:g} %, {100 * alarms:g} %" for lapses, alarms in RATES]
    print("Settles above the 50 % point, dB, and what is in force less that; lapses, false alarms:")
    print("| noise, dB | " + " | ".join(titles) + " | SD of one | unsettled | ISO 8253-1 |")
    print("|---:" * (len(RATES) + 4) + "|")
    for noise_db, _ in OFFSETS_DB:
        found = [offset(classical, noise_db, rates, runs) for rates in RATES]
        other = offset(iso, noise_db, RATES[0], max(runs // ISO_FEWER, 1))
        cells = [f"{noise_db:g}"]
        for rates, each in zip(RATES, found, strict=True):
            off_db = clinical_offset_db(noise_db, *rates) - each.mean_db
            cells.append(f"{each.mean_db:.2f} ({off_db:+.2f})")
        cells += [
            f"{found[0].sd_db:.1f}",
            f"{100 * found[0].missing:.1f} %",
            f"{other.mean_db:.2f}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
