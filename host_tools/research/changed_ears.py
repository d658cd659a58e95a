"""How often an ear that did not change is said to have changed, and one that did is noticed.

``python -m host_tools.research.changed_ears`` lets simulated listeners do two whole tests each, and
asks `host_tools.commands.sessions.change` of both ears whether they changed. Between the tests the
earphones are put on again: every threshold moves by what `refit_sd_db` says. In some the ear grew
worse as well, by 15 dB from 3 kHz on. The listeners have the ten standard audiograms
(Bisgaard et al. 2010) moved up and down by up to 10 dB, a response noise from 1.5 to 4 dB, and
lapse and press in silence once in 50 tones.

The first table tells what threshold of the probability gives which rate of false alarms, from
people of its own; the second is of others, at the threshold that is in use.
"""

import argparse
import sys
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.listener import EARS, Ear
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from firmware_py.platform.program import run_program
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, Route
from firmware_py.terms.settings import BRISK, CLINICAL
from host_tools.commands.sessions.change import (
    CHANGED,
    EarPosterior,
    change_between,
    refit_sd_db,
)
from host_tools.errors import HostError
from host_tools.research.study.listener import Answering
from host_tools.research.study.sitting import Sitting
from host_tools.research.study.work import Where, all_done

WORSE_FROM_HZ: Final = 3000
WORSE_DB: Final = (0.0, 15.0)
CONDUCTS: Final = (BRISK, CLINICAL)
TUNING, MEASURING = 0, 1  # people of their own for each
SHARES: Final = (0.10, 0.05, 0.02)
MOVED_DB: Final = 10.0
NOISE_DB: Final = (1.5, 4.0)
RATE: Final = 0.02
LEAST_DB_HL: Final = -10.0


@dataclass(frozen=True)
class Pair:
    """Two tests of a person: which person, how, and by how much the ears grew worse between."""

    part: int  # `TUNING` or `MEASURING`
    number: int
    conduct: str
    worse_db: float


def probabilities(pair: Pair) -> list[float]:
    """Return, for each ear that could be compared, the probability that it changed."""
    random = np.random.default_rng([pair.part, pair.number])
    ears = {ear: an_ear(random) for ear in EARS}
    noise_db = float(random.uniform(*NOISE_DB))
    left = []
    for visit, worse_db in enumerate((0.0, pair.worse_db)):
        heard = {ear: _hear(truth, worse_db, random) for ear, truth in ears.items()}
        seed = 2 * pair.number + visit
        left.append(_posteriors(heard, noise_db, seed, pair.conduct))
    first, last = left
    both = [(first[ear], last[ear]) for ear in EARS if first[ear] and last[ear]]
    changes = [change_between(one, other) for one, other in both if one and other]
    return [change.probability for change in changes if change is not None]


def an_ear(random: np.random.Generator) -> list[float]:
    """Return the true thresholds of an ear at the audiogram's frequencies."""
    name = random.choice([*STANDARD_AUDIOGRAMS_DB_HL])
    levels_db_hl = STANDARD_AUDIOGRAMS_DB_HL[name]
    moved_db = random.uniform(-MOVED_DB, MOVED_DB)
    at = np.interp(np.log2(AUDIOGRAM_FREQUENCIES_HZ), np.log2(FREQUENCIES_HZ), levels_db_hl)
    return [float(level) for level in np.maximum(at + moved_db, LEAST_DB_HL)]


def _hear(truth_db_hl: list[float], worse_db: float, random: np.random.Generator) -> Audiogram:
    """Return what is heard of an ear by earphones that were put on again."""
    frequencies_hz = tuple(float(f) for f in AUDIOGRAM_FREQUENCIES_HZ)
    levels_db_hl = [
        level_db_hl
        + (worse_db if f >= WORSE_FROM_HZ else 0.0)
        + float(random.normal(0.0, refit_sd_db(f)))
        for f, level_db_hl in zip(frequencies_hz, truth_db_hl, strict=True)
    ]
    return Audiogram(frequencies_hz, tuple(levels_db_hl))


def _posteriors(
    heard: dict[Ear, Audiogram], noise_db: float, seed: int, conduct: str
) -> dict[Ear, EarPosterior | None]:
    # Which ear is which is known here.
    told = {"conduct": conduct, "ear_check": False}
    run = Sitting(heard, Answering(noise_db, RATE, RATE), seed, told).test()
    found = run.run().by_route
    return {e: EarPosterior.of(found[Route(e)], run.test.ears[Route(e)].estimator) for e in EARS}


def all_probabilities(
    part: int, people: int, conduct: str, worse_db: float, workers: int
) -> list[float]:
    """Return the probabilities of all ears of so many people."""
    pairs = [Pair(part, number, conduct, worse_db) for number in range(people)]
    found = all_done(probabilities, pairs, Where(workers))
    return [probability for each in found for probability in each]


def rate_words(found: list[float], threshold: float) -> str:
    """Return which share is at a threshold or above it, with its 95 % interval (Wilson)."""
    n, z = len(found), NormalDist().inv_cdf(0.975)
    share = sum(p >= threshold for p in found) / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = middle - half, middle + half
    return f"{100 * share:5.1f} %  ({100 * low:.1f} to {100 * high:.1f}), {n} ears"


def main(arguments: list[str]) -> int:
    """Print both tables."""
    p = argparse.ArgumentParser(prog="python -m host_tools.research.changed_ears")
    p.add_argument("--people", type=int, default=100, help="a row (default: 100)")
    p.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    told = p.parse_args(arguments)
    try:
        _print_tables(told)
    except HostError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _print_tables(told: argparse.Namespace) -> None:
    print("no change: the threshold of the probability for a share of false alarms")
    tuned = {c: all_probabilities(TUNING, told.people, c, 0.0, told.workers) for c in CONDUCTS}
    both = [probability for found in tuned.values() for probability in found]
    for name, found in (*tuned.items(), ("both", both)):
        at = ", ".join(
            f"{100 * share:g} % {np.quantile(found, 1 - share, method='higher'):.3f}"
            for share in SHARES
        )
        print(f"  {name:8}  {at}; median probability {np.median(found):.2f}", flush=True)
    print(f"other people: ears of which it is said that they changed, from {CHANGED:g} on")
    for conduct in CONDUCTS:
        for worse_db in WORSE_DB:
            found = all_probabilities(MEASURING, told.people, conduct, worse_db, told.workers)
            words = rate_words(found, CHANGED)
            print(f"  {conduct:8}  {worse_db:2g} dB worse: {words}", flush=True)


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
