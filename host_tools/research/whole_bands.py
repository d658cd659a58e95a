"""`gp-pta study --whole`: how often the bands of the answers and of the whole hold the truth.

Simulated people, as of `--changed`, do two whole tests each, by the same thresholds. Then all that
lies beside the answers is drawn for every ear (`firmware_py/findings/whole_band.py`) and added to
what was measured: each part with its SD, correlated over frequency by rho. It is told how often the
bands hold what the ear hears, at each frequency and of the mean of four, and how often a difference
of the two tests is called a change at .05, with day and fit drawn for each: nothing changed.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final

import numpy as np

from device.simulator.audiogram import Audiogram
from device.simulator.listener import EARS
from firmware_py.findings.whole_band import BAND_SDS, DAY, FIT, REPETITION, USUAL, Uncertainty
from firmware_py.inference.kernel import Array
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.results import PTA4_FREQUENCIES_HZ, EarResult
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, Route
from firmware_py.terms.settings import BRISK
from firmware_py.terms.shown_threshold import as_shown
from host_tools.research.changed_ears import NOISE_DB, RATE, an_ear
from host_tools.research.study.arguments import whole_number
from host_tools.research.study.ears import Tables
from host_tools.research.study.listener import Answering
from host_tools.research.study.sessions import Row, Table
from host_tools.research.study.sitting import Sitting
from host_tools.terminal import markdown

PEOPLE_USUAL: Final = 500  # 1,000 ears
RHOS: Final = (0.0, 0.5, 1.0)
PART: Final = 2  # people of their own, beside those of `--changed`
SEED: Final = 65  # of what is drawn beside the answers
TOLD_OF: Final = 0.25  # of the ears a frequency has to be measured in to be told: it is asked
ANSWERS, WHOLE = "answers", "whole"
BANDS: Final = (ANSWERS, WHOLE)


@dataclass(frozen=True)
class Band:
    """What was found of one number whose truth is known, with both of its bands."""

    frequency_hz: int  # 0: the mean of four
    masked: bool
    truth_db_hl: float
    level_db_hl: float
    sd_db: float
    answers_db_hl: tuple[float, float]
    whole_db_hl: tuple[float, float]


@dataclass(frozen=True)
class Heard:
    """An ear in two tests: what each found, where it is a number."""

    first: list[Band]
    last: list[Band]


def two_tests(number: int) -> list[Heard]:
    random = np.random.default_rng([PART, number])
    ears = {ear: an_ear(random) for ear in EARS}
    answering = Answering(float(random.uniform(*NOISE_DB)), RATE, RATE)
    frequencies_hz = tuple(float(f) for f in AUDIOGRAM_FREQUENCIES_HZ)
    heard = {ear: Audiogram(frequencies_hz, tuple(levels)) for ear, levels in ears.items()}
    told = {"conduct": BRISK, "ear_check": False}
    tests = [
        Sitting(heard, answering, 2 * number + visit, told).test().run().by_route
        for visit in (0, 1)
    ]
    truths = {ear: dict(zip(AUDIOGRAM_FREQUENCIES_HZ, ears[ear], strict=True)) for ear in EARS}
    return [Heard(*(bands_of(found[Route(ear)], truths[ear]) for found in tests)) for ear in EARS]


def bands_of(
    found: EarResult, truth_db_hl: dict[int, float], uncertainty: Uncertainty = USUAL
) -> list[Band]:
    """Return what was measured, and the mean of four where it is no bound."""
    told = []
    for each in found.thresholds:
        whole = uncertainty.widened(found.route, each)
        if each.mark != Outcome.MEASURED or as_shown(each).doubtful:
            continue
        numbers = (each.threshold_db_hl, each.sd_db, each.low_db_hl, each.high_db_hl)
        level, sd, low, high, *ends = (
            float(n or 0.0) for n in (*numbers, whole.low_db_hl, whole.high_db_hl)
        )
        f, masked = each.frequency_hz, as_shown(each).masked
        told.append(Band(f, masked, truth_db_hl[f], level, sd, (low, high), (ends[0], ends[1])))
    mean, whole_mean = found.pta4, uncertainty.of_mean(found)
    if mean is None or whole_mean is None or None in (mean.low_db_hl, mean.high_db_hl):
        return told
    truth = sum(truth_db_hl[f] for f in PTA4_FREQUENCIES_HZ) / len(PTA4_FREQUENCIES_HZ)
    low, high = float(mean.low_db_hl or 0.0), float(mean.high_db_hl or 0.0)
    ends = [float(whole_mean.low_db_hl or 0.0), float(whole_mean.high_db_hl or 0.0)]
    told.append(Band(0, False, truth, mean.level_db_hl, 0.0, (low, high), (ends[0], ends[1])))
    return told


def drawn_db(sds_db: Sequence[Sequence[float]], rho: float, random: np.random.Generator) -> Array:
    """Draw the sum of parts at each frequency: (parts, m) SDs, each part correlated by rho."""
    sds = np.array(sds_db)
    common = np.sqrt(rho) * random.standard_normal((len(sds), 1))
    own = np.sqrt(1.0 - rho) * random.standard_normal(sds.shape)
    total: Array = (sds * (common + own)).sum(axis=0)
    return total


def _beside_db(rho: float, random: np.random.Generator, masked_hz: set[int]) -> dict[int, float]:
    """Draw all parts of an ear in one test, by frequency; 0: of the mean of four."""
    parts = [USUAL.beside(Route("right"), f, masked=True) for f in AUDIOGRAM_FREQUENCIES_HZ]
    names = [*parts[0]]
    drawn = drawn_db([[each[name] for each in parts] for name in names[:-1]], rho, random)
    by_mask = drawn_db([[each[names[-1]] for each in parts]], rho, random)
    mask = np.array([f in masked_hz for f in AUDIOGRAM_FREQUENCIES_HZ])
    found = dict(zip(AUDIOGRAM_FREQUENCIES_HZ, (drawn + mask * by_mask).tolist(), strict=True))
    return {**found, 0: sum(found[f] for f in PTA4_FREQUENCIES_HZ) / len(PTA4_FREQUENCIES_HZ)}


def coverage(ears: Sequence[Heard], rho: float) -> dict[str, dict[int, float]]:
    """Return how often each kind of band holds the truth, by frequency; 0: of the mean of four."""
    random, n = np.random.default_rng([SEED, round(10 * rho)]), len(ears)
    held: dict[str, dict[int, list[bool]]] = {kind: {} for kind in BANDS}
    for ear in ears:
        masked_hz = {band.frequency_hz for band in ear.first if band.masked}
        beside_db = _beside_db(rho, random, masked_hz)
        for band in ear.first:
            truth_db_hl = band.truth_db_hl - beside_db[band.frequency_hz]
            for kind, (low, high) in zip(
                BANDS, (band.answers_db_hl, band.whole_db_hl), strict=True
            ):
                by_hz = held[kind].setdefault(band.frequency_hz, [])
                by_hz.append(low <= truth_db_hl <= high)
    return {
        kind: {f: float(np.mean(by_hz[f])) for f in sorted(by_hz) if len(by_hz[f]) >= TOLD_OF * n}
        for kind, by_hz in held.items()
    }


def called_changed(ears: Sequence[Heard], rho: float) -> float:
    """Return the share of differences, of which none is a change, that are called one at .05."""
    random = np.random.default_rng([SEED, round(10 * rho), 1])
    called = []
    for ear in ears:
        first = {band.frequency_hz: band for band in ear.first if band.frequency_hz}
        last = {band.frequency_hz: band for band in ear.last}
        common = [f for f in first if f in last]
        sds_db = [[part.at(f) for f in common] for part in (DAY, FIT)]
        moved_db = drawn_db(sds_db, rho, random) - drawn_db(sds_db, rho, random)
        for f, db in zip(common, moved_db.tolist(), strict=True):
            scatter_db = REPETITION.at(f)
            sd_db = hypot(first[f].sd_db, last[f].sd_db, scatter_db, scatter_db)
            called.append(abs(last[f].level_db_hl - first[f].level_db_hl + db) > BAND_SDS * sd_db)
    return float(np.mean(called))


def rows_of(found: Sequence[list[Heard]]) -> list[Row]:
    ears = [ear for of_person in found for ear in of_person]
    return [
        {
            "rho": rho,
            "ears": len(ears),
            "coverage": {
                kind: {("pta4" if f == 0 else str(f)): share for f, share in by_hz.items()}
                for kind, by_hz in coverage(ears, rho).items()
            },
            "called_changed": called_changed(ears, rho),
        }
        for rho in RHOS
    ]


def lines_of(rows: Sequence[Row]) -> list[str]:
    """Return the table in Markdown: both bands at each rho, and changes that are none."""
    at = [*map(str, AUDIOGRAM_FREQUENCIES_HZ), "pta4"]
    told = [["95 % band", "rho", *at, "called changed"]]
    for row in rows:
        for kind, by_hz in row["coverage"].items():
            shares = [f"{by_hz[f]:.2f}" if f in by_hz else "-" for f in at]
            changed = f"{row['called_changed']:.3f}" if kind == WHOLE else ""
            told.append([kind, f"{row['rho']:g}", *shares, changed])
    return [f"{rows[0]['ears']} ears", *markdown(told)]


def table(arguments: argparse.Namespace, tables: Tables) -> Table[int, list[Heard]]:
    assert tables.measured is None
    people = whole_number("--people", arguments.people, PEOPLE_USUAL)
    return Table([*range(people)], two_tests, list[Heard], rows_of, {"people": people}, lines_of)
