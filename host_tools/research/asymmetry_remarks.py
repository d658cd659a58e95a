"""How often a report names an asymmetry of ears that are equal, and of ears that are not.

``python -m host_tools.research.asymmetry_remarks`` lets simulated people do a whole brisk test each
and counts those of whom `firmware_py.findings.asymmetry` finds one. Both ears have one
of the ten standard audiograms, moved by up to 10 dB; one may be poorer by the same at every
frequency, so far that it can still be measured. Lapses and presses in silence are 1 %.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import SimulatedTest
from device.simulator.listener import EARS, SimulatedListener
from firmware_py.findings.asymmetry import asymmetries
from firmware_py.findings.convention import in_convention
from firmware_py.platform.program import run_program
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import CLINICAL_ASCENDING, Settings
from host_tools.research.changed_ears import an_ear, rate_words
from host_tools.research.study.work import Where, all_done

EQUAL_NOISE_DB: Final = (2.0, 4.0)
POORER_DB: Final = (15.0, 20.0)
LOUDEST_DB_HL: Final = 85.0  # of a poorer ear, so that it can be measured
RATE: Final = 0.01
SOMETHING: Final = 0.5


@dataclass(frozen=True)
class Person:
    """Who is tested: the noise of the answers, and by how much the left ear is poorer."""

    number: int
    noise_db: float
    poorer_db: float


def is_named(person: Person) -> bool:
    """Tell whether a report names an asymmetry of a person."""
    random = np.random.default_rng([person.number, 2])
    better_db_hl = an_ear(random)
    while max(better_db_hl) + max(POORER_DB) > LOUDEST_DB_HL:
        better_db_hl = an_ear(random)
    heard = {
        ear: Audiogram(
            tuple(map(float, AUDIOGRAM_FREQUENCIES_HZ)),
            tuple(level + person.poorer_db * (ear == "left") for level in better_db_hl),
        )
        for ear in EARS
    }
    listener = SimulatedListener(
        heard, response_noise_db=person.noise_db, lapse_rate=RATE, false_alarm_rate=RATE,
        seed=person.number,
    )  # fmt: skip
    result = SimulatedTest(Settings(seed=person.number), listener).run()
    return bool(asymmetries(in_convention(result, CLINICAL_ASCENDING)))


def shares(people: int, noise_db: float, poorer_db: float, workers: int) -> list[float]:
    """Return 1.0 of each person of whom an asymmetry is named, 0.0 of each other."""
    asked = [Person(number, noise_db, poorer_db) for number in range(people)]
    return [float(named) for named in all_done(is_named, asked, Where(workers))]


def main(arguments: list[str]) -> int:
    """Print the table."""
    p = argparse.ArgumentParser(prog="python -m host_tools.research.asymmetry_remarks")
    p.add_argument("--people", type=int, default=150, help="a row (default: 150)")
    p.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    told = p.parse_args(arguments)
    rows = [(noise_db, 0.0) for noise_db in EQUAL_NOISE_DB]
    rows += [(EQUAL_NOISE_DB[0], poorer_db) for poorer_db in POORER_DB]
    print("people of whom an asymmetry is named, with the 95 % interval of that share")
    for noise_db, poorer_db in rows:
        found = shares(told.people, noise_db, poorer_db, told.workers)
        words = rate_words(found, SOMETHING).replace("ears", "people")
        print(f"  {poorer_db:2g} dB poorer, noise {noise_db:g} dB: {words}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
