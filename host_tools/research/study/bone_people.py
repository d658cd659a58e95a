"""The people of `gp-pta study --bone`: both ears by two routes, and gaps learned without them.

A table of both routes, as `gp-pta learn-prior --routes` reads it, is split in two by person. Each
half is tested with the air-bone gaps that were learned from the other one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from device.audiogram_tables.table import Table
from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from firmware_py.inference.mixture.gap_prior import GapPrior
from host_tools.errors import HostError
from host_tools.research.learn_prior.gap_classes import gap_prior_of
from host_tools.research.learn_prior.routes import gaps_of, learn_gaps, read_routes
from host_tools.research.methods.interface import Array
from host_tools.research.methods.population import Population
from host_tools.research.study.listener import place_in_draw, uniforms

PEOPLE_USUAL: Final = 40
FOLDS: Final = 0.5  # the share of the first
EARS_MIN: Final = 20  # of each fold
SCORED_HZ: Final = (500, 1000, 2000, 4000)
AT_6_KHZ: Final = 6000
JITTER_DB: Final = 2.5  # undoes the rounding; both routes of an ear are moved together
# Heads differ: what is taken away between the ears, by the earphones' tones and by the vibrator's.
ATTENUATION_DB: Final = (50.0, 65.0)
SKULL_DB: Final = (0.0, 15.0)
GAP_MOST_DB: Final = 60.0  # of a gap that is drawn: no conductive loss is larger
# Of a gap at 6 kHz, which is drawn for itself: nobody knows what it is.
GAP_6_KHZ_DB: Final = (-10.0, 35.0)
BEST_DB_HL: Final = -10.0  # by bone
_MOVE_STREAM: Final = 9  # of the random numbers; others are in `listener.py`
_GAP_STREAM: Final = 10
_6_KHZ_STREAM: Final = 11
_EARS: Final = ("right", "left")


@dataclass(frozen=True)
class Person:
    """Two ears and the head between them, and what is known of gaps from other people."""

    name: str
    by_air: dict[str, Audiogram]
    head: Head
    gaps: GapPrior
    drawn: bool = False  # the right ear has a conductive loss of a class that was learned

    def bone_db_hl(self, ear: str, frequency_hz: float, *, alone: bool) -> float:
        """Return the threshold that a vibrator finds, of the ear alone or of the better one."""
        return self.head.bone_threshold_db_hl(self.by_air, ear, frequency_hz, alone=alone)

    def gap_db(self, ear: str) -> float:
        """Return the mean gap over `SCORED_HZ`, above what ears without a conductive loss have."""
        over_db = [self.head.gap_db(ear, f) - self.gaps.usual_db(f) for f in SCORED_HZ]
        return sum(over_db) / len(over_db)


def with_6_khz(person: Person, seed: int) -> Person:
    """Return a person whose gaps at 6 kHz, one an ear, have nothing to do with the others."""
    shares = uniforms(person.name, seed, _6_KHZ_STREAM, len(_EARS)).tolist()
    gaps_db = {}
    for ear, share in zip(_EARS, shares, strict=True):
        most_db = person.by_air[ear].threshold_db_hl(AT_6_KHZ) - BEST_DB_HL
        known = person.head.air_bone_gap_db[ear]
        assert isinstance(known, Audiogram)
        gaps_db[ear] = Audiogram(
            (*known.frequencies_hz, AT_6_KHZ),
            (*known.thresholds_db_hl, min(_between(GAP_6_KHZ_DB, share), most_db)),
        )
    return replace(person, head=replace(person.head, air_bone_gap_db=gaps_db))


def people_of(path: Path, count: int, columns: str | None = None) -> list[Person]:
    """Return people of a table both of whose ears have both routes, and each with a drawn gap too.

    `count` of the table are drawn by name; 0: all. `columns` are as of `Table.read`.
    """
    try:
        air, bone = read_routes(path, Table.bytes_of(path), columns)
    except OSError as error:
        raise HostError(f"--audiograms {str(path)!r}: {error.strerror}") from None
    folds = [*zip(air.split(FOLDS), bone.split(FOLDS), strict=True)]
    found = [
        person
        for tested, others in (folds, folds[::-1])
        for person in _people_in(*tested, _learn(*others))
    ]
    found.sort(key=lambda person: place_in_draw(person.name))
    if not found:
        raise HostError(f"--audiograms {str(path)!r}: nobody has both ears by air and bone")
    chosen = found[: count or len(found)]
    return [*chosen, *(_with_a_gap(person) for person in chosen)]


def _learn(air: Population, bone: Population) -> GapPrior:
    gaps = gaps_of(air, bone)
    if len(gaps) < EARS_MIN:
        raise HostError(
            f"--audiograms: of one half {len(gaps)} ears have both routes; allowed are {EARS_MIN} "
            "and more, to learn from"
        )
    return gap_prior_of(learn_gaps(gaps.gap_db).mixture, gaps.frequencies_hz, {})


def _people_in(air: Population, bone: Population, gaps: GapPrior) -> Iterator[Person]:
    """Yield the people both of whose ears were measured at every frequency of both routes."""
    common_hz = np.intersect1d(air.frequencies_hz, bone.frequencies_hz)
    rows: dict[str, list[int]] = {}
    for row in np.lexsort((air.ear, air.person))[::-1].tolist():  # right, left
        rows.setdefault(air.person[row], []).append(row)
    for name, ears in rows.items():
        thresholds = [_levels(each, ears, common_hz) for each in (air, bone)]
        if len(ears) == len(_EARS) and not any(np.isnan(each).any() for each in thresholds):
            gaps_db = (thresholds[0] - thresholds[1]).tolist()
            gap_db = [Audiogram((*common_hz.tolist(),), (*ear,)) for ear in gaps_db]
            yield _person(name, air, ears, dict(zip(_EARS, gap_db, strict=True)), gaps)


def _levels(route: Population, rows: list[int], frequencies_hz: Array) -> Array:
    levels = np.where(route.censored, np.nan, route.thresholds_db_hl)[rows]
    return levels[:, np.isin(route.frequencies_hz, frequencies_hz)]


def _person(
    name: str, air: Population, rows: list[int], gap_db: dict[str, Audiogram], gaps: GapPrior
) -> Person:
    *moved, between, skull = uniforms(name, 1, _MOVE_STREAM, len(_EARS) + 2).tolist()
    by_air = {}
    for place, (ear, row) in enumerate(zip(_EARS, rows, strict=True)):
        known = air.measured[row] & ~air.censored[row]
        levels = air.thresholds_db_hl[row][known] + JITTER_DB * (2.0 * moved[place] - 1.0)
        by_air[ear] = Audiogram((*air.frequencies_hz[known].tolist(),), (*levels.tolist(),))
    head = Head(
        gap_db,
        interaural_attenuation_db=_between(ATTENUATION_DB, between),
        skull_attenuation_db=_between(SKULL_DB, skull),
    )
    return Person(name, by_air, head, gaps)


def _with_a_gap(person: Person) -> Person:
    """Return somebody with the same cochleae and a conductive loss in the right ear."""
    gaps, right = person.gaps, _EARS[0]
    conductive = gaps.classes[1:]
    which, *draws = uniforms(person.name, 1, _GAP_STREAM, 1 + 2 * len(gaps.frequencies_hz)).tolist()
    weight = np.array([each.weight for each in conductive])
    drawn = conductive[int(np.searchsorted(np.cumsum(weight) / weight.sum(), which))]
    root = np.linalg.cholesky(np.array(drawn.covariance_db2))
    normal = np.sqrt(-2.0 * np.log1p(-np.array(draws[::2]))) * np.cos(
        2.0 * np.pi * np.array(draws[1::2])
    )
    gap_db = np.clip(np.array(drawn.mean_db) + root @ normal, 0.0, GAP_MOST_DB)
    new = Audiogram(gaps.frequencies_hz, (*gap_db.tolist(),))
    air, old = person.by_air[right], person.head
    asked_hz = (*sorted({*air.frequencies_hz, *gaps.frequencies_hz}),)
    levels = tuple(
        air.threshold_db_hl(f) - old.gap_db(right, f) + new.threshold_db_hl(f) for f in asked_hz
    )
    head = Head(
        {**old.air_bone_gap_db, right: new}, old.interaural_attenuation_db, old.skull_attenuation_db
    )
    by_air = {**person.by_air, right: Audiogram(asked_hz, levels)}
    return Person(f"{person.name}, drawn", by_air, head, gaps, drawn=True)


def _between(ends: tuple[float, float], place: float) -> float:
    low, high = ends
    return low + place * (high - low)
