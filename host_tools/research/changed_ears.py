"""`gp-pta study --changed`: how often an ear is said to have changed, that did and that did not.

Simulated listeners do two whole tests each, and `host_tools.commands.sessions.change` is asked of
both ears whether they changed. Between the tests the earphones are put on again: every threshold
moves by `REPETITION`. In some the ear grew worse as well, by 15 dB from 3 kHz on. The
listeners have the ten standard audiograms (Bisgaard et al. 2010) moved up and down by up to 10 dB,
a response noise from 1.5 to 4 dB, and lapse and press in silence once in 50 tones.

The first rows tell what threshold of the probability gives which rate of false alarms, from people
of their own; the others are of other people, at the threshold that is in use.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import NormalDist
from typing import Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.listener import EARS, Ear
from firmware_py.findings.whole_band import REPETITION
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, Route
from firmware_py.terms.settings import BRISK, CLINICAL
from host_tools.commands.sessions.change import CHANGED, EarPosterior, change_between
from host_tools.research.study.arguments import whole_number
from host_tools.research.study.ears import Tables
from host_tools.research.study.listener import Answering
from host_tools.research.study.sessions import Row, Table
from host_tools.research.study.sitting import Sitting
from host_tools.terminal import markdown

PEOPLE_USUAL: Final = 100
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
        heard = {ear: hear(truth, worse_db, random) for ear, truth in ears.items()}
        seed = 2 * pair.number + visit
        left.append(_posteriors(heard, noise_db, seed, pair.conduct))
    first, last = left
    both = [(first[ear], last[ear]) for ear in EARS if first[ear] and last[ear]]
    changes = [change_between(one, other) for one, other in both if one and other]
    return [change.probability for change in changes if change is not None]


def an_ear(random: np.random.Generator) -> list[float]:
    name = random.choice([*STANDARD_AUDIOGRAMS_DB_HL])
    levels_db_hl = STANDARD_AUDIOGRAMS_DB_HL[name]
    moved_db = random.uniform(-MOVED_DB, MOVED_DB)
    at = np.interp(np.log2(AUDIOGRAM_FREQUENCIES_HZ), np.log2(FREQUENCIES_HZ), levels_db_hl)
    return [float(level) for level in np.maximum(at + moved_db, LEAST_DB_HL)]


def hear(
    truth_db_hl: list[float],
    worse_db: float,
    random: np.random.Generator,
    worse_from_hz: int = WORSE_FROM_HZ,
) -> Audiogram:
    """Return what is heard of an ear by earphones that were put on again."""
    frequencies_hz = tuple(float(f) for f in AUDIOGRAM_FREQUENCIES_HZ)
    levels_db_hl = [
        level_db_hl
        + (worse_db if f >= worse_from_hz else 0.0)
        + float(random.normal(0.0, REPETITION.at(f)))
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


def read_off(name: str, worse_db: float | None, found: Sequence[float]) -> Row:
    """Return a row; the rate has its 95 % interval (Wilson). `worse_db` is None of no change."""
    n, z = len(found), NormalDist().inv_cdf(0.975)
    share = sum(p >= CHANGED for p in found) / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    at = {str(each): float(np.quantile(found, 1 - each, method="higher")) for each in SHARES}
    return {
        "conduct": name, "worse_db": worse_db, "ears": n, "median": float(np.median(found)),
        "at": at, "share": share, "low": max(middle - half, 0.0), "high": middle + half,
    }  # fmt: skip


def lines_of(rows: Sequence[Row]) -> list[str]:
    """Return both tables in Markdown."""
    words = "no change: probability from which on so many are called changed"
    at = [[words, "50%", *(f"{share:.0%}" for share in SHARES)]]
    changed = [["other people", "worse by", f"said to have changed, from {CHANGED:g} on", "ears"]]
    for row in rows:
        if row["worse_db"] is None:
            from_on = (row["median"], *row["at"].values())
            at.append([row["conduct"], *(f"{each:.3f}" for each in from_on)])
        else:
            share, low, high = (100 * row[name] for name in ("share", "low", "high"))
            rate = f"{share:.1f} % ({low:.1f} to {high:.1f})"
            worse = f"{row['worse_db']:g} dB"
            changed.append([row["conduct"], worse, rate, str(row["ears"])])
    return [*markdown(at), "", *markdown(changed)]


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Pair, list[float]]:
    assert tables.measured is None
    people = whole_number("--people", arguments.people, PEOPLE_USUAL)
    cases = [
        *((TUNING, conduct, 0.0) for conduct in CONDUCTS),
        *((MEASURING, conduct, worse_db) for conduct in CONDUCTS for worse_db in WORSE_DB),
    ]
    pairs = [
        Pair(part, number, conduct, worse_db)
        for part, conduct, worse_db in cases
        for number in range(people)
    ]

    def rows(found: Sequence[list[float]]) -> list[Row]:
        each = [[*chain(*found[n * people : (n + 1) * people])] for n in range(len(cases))]
        tuned = dict(zip(CONDUCTS, each, strict=False))
        return [
            *(read_off(name, None, some) for name, some in tuned.items()),
            read_off("both", None, [*chain(*tuned.values())]),
            *(
                read_off(conduct, worse_db, some)
                for (part, conduct, worse_db), some in zip(cases, each, strict=True)
                if part == MEASURING
            ),
        ]

    return Table(pairs, probabilities, list[float], rows, {"people": people}, lines_of)
