"""`gp-pta study --discomfort`: what levels of discomfort tell of a person's others.

`device/hearing_aid/discomfort.py` is learned from one half of the people of a table and judged by
the other. Those that are told have an error of another day added; the levels that were measured are
taken to be true. The constants of all people together are printed as that module has them.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Final

import numpy as np

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.table import Table as EarTable
from device.hearing_aid.discomfort import HINGE_DB_HL, NOISE_DB, Model, own_levels
from device.hearing_aid.limits import MEASURED_HZ, limits
from device.speech import FloatArray
from firmware_py.terms.discomfort_levels import LEVEL_LIMITS_DB_HL, DiscomfortLevel
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.errors import HostError
from host_tools.research.study.ears import Tables
from host_tools.research.study.listener import place_in_draw
from host_tools.research.study.sessions import Row, Table
from host_tools.terminal import markdown

EARS: Final = (RIGHT, LEFT)
AT_HZ: Final = np.array(MEASURED_HZ)
STEPS: Final = 15  # of the learning, which stands still by then
FLOOR_DB2: Final = 0.01  # of a table that has the same level at all frequencies
STEP_DB: Final = 5.0  # of an audiometer
PEOPLE_MIN: Final = 40
SEED: Final = 66  # of the errors of another day
WIDE_DEVIATIONS: Final = 1.96
TOO_LOUD_DB: Final = 10.0
TOLD: Final[dict[str, tuple[tuple[str, int], ...]]] = {
    "1 kHz, right": ((RIGHT, 1000),),
    "1 kHz, each ear": tuple((ear, 1000) for ear in EARS),
    "0.5 and 4 kHz, each ear": tuple((ear, f) for ear in EARS for f in (500, 4000)),
    "all": tuple((ear, int(f)) for ear in EARS for f in MEASURED_HZ),
}


@dataclass(frozen=True)
class Person:
    """Thresholds and levels of discomfort of somebody, dB HL, (2, 4), NaN where there is none."""

    name: str
    thresholds: FloatArray
    levels: FloatArray


@dataclass(frozen=True)
class Found:
    """What was found of the levels of a person, at all places that have one."""

    true_db_hl: list[float]
    mean_db_hl: list[float]
    sd_db: list[float]
    limit_db_hl: list[float]
    more_output_db: list[float]  # than where nothing is told


def table(arguments: argparse.Namespace, _tables: Tables) -> Table[str, list[Found]]:
    people = people_of(arguments.audiograms, arguments.columns)
    shipped = {"people": len(people), **constants(learned(people))}
    return Table(
        [*TOLD], partial(judged, people), list[Found], rows_of,
        {"learned": shipped}, partial(lines_of, shipped),
    )  # fmt: skip


def people_of(path: str, columns: str | None = None) -> list[Person]:
    """Return those of a table both of whose ears have thresholds, and a level each."""
    found: dict[str, list[FloatArray]] = {}
    try:
        ears = [*EarTable.read(path, columns=columns).all_ears()]
    except AudiogramError as error:
        raise HostError(f"--audiograms {error}") from None
    for ear in ears:
        if ear.side in EARS:
            pair = found.setdefault(ear.person, [np.full((2, 4), np.nan) for _ in range(2)])
            for to, readings in zip(pair, (ear.by_air, ear.discomfort), strict=True):
                known = [readings.get(f) for f in MEASURED_HZ]
                to[EARS.index(ear.side)] = [
                    r.level_db_hl if r and r.heard else np.nan for r in known
                ]
    people = [
        Person(name, *pair)
        for name, pair in found.items()
        if np.isfinite(pair[0]).all() and np.isfinite(pair[1]).any(axis=1).all()
    ]
    if len(people) < PEOPLE_MIN:
        raise HostError(
            f"--audiograms {path}: of {len(people)} people both ears have thresholds and levels of "
            f"discomfort (air500, ucl500 ...); allowed are {PEOPLE_MIN} and more"
        )
    return people


def learned(people: Sequence[Person]) -> Model:
    """Learn a model by maximum likelihood, of people whose two ears are alike.

    What was not measured is missing at random: expectation maximisation.
    """
    levels = np.stack([person.levels.ravel() for person in people])
    designs = np.stack([_design(person.thresholds) for person in people])
    covariance: FloatArray = np.eye(8) * STEP_DB**2
    factors = np.zeros(designs.shape[-1])
    for _ in range(STEPS):
        normal, right = np.zeros((len(factors),) * 2), np.zeros(len(factors))
        pairs = [(x, y, np.isfinite(y)) for x, y in zip(designs, levels, strict=True)]
        for x, y, known in pairs:
            weighed = x[known].T @ np.linalg.inv(covariance[np.ix_(known, known)])
            normal += weighed @ x[known]
            right += weighed @ y[known]
        factors = np.asarray(np.linalg.solve(normal, right), dtype=np.float64)
        scatter = np.zeros_like(covariance)
        for x, y, known in pairs:
            gain = covariance[:, known] @ np.linalg.inv(covariance[np.ix_(known, known)])
            rest = gain @ (y[known] - x[known] @ factors)
            scatter += np.outer(rest, rest) + covariance - gain @ covariance[known]
        covariance = scatter / len(pairs) + FLOOR_DB2 * np.eye(8)
        covariance = 0.5 * (covariance + np.roll(covariance, (4, 4), (0, 1)))
    return Model(
        factors[:4], factors[4:8], float(factors[8]), covariance[:4, :4], covariance[:4, 4:]
    )


def _design(thresholds_db_hl: FloatArray) -> FloatArray:
    """Return what the levels of both ears rest on, (8, 9): base, rise, and the mean."""
    above_db = np.maximum(thresholds_db_hl - HINGE_DB_HL, 0.0)
    ears = [
        np.column_stack([np.eye(4), np.diag(above), np.full(4, own.mean())])
        for above, own in zip(above_db, thresholds_db_hl, strict=True)
    ]
    return np.concatenate(ears)


def judged(people: Sequence[Person], name: str) -> list[Found]:
    """Judge what is told, by its name in `TOLD`, of each half with what the other one teaches."""
    drawn = sorted(people, key=lambda person: place_in_draw(person.name))
    halves = drawn[::2], drawn[1::2]
    random = np.random.default_rng(SEED)
    return [
        judged_of(person, TOLD[name], model, random)
        for half, others in (halves, halves[::-1])
        for model in [learned(others)]
        for person in half
    ]


def judged_of(
    person: Person, places: Sequence[tuple[str, int]], model: Model, random: np.random.Generator
) -> Found:
    told: dict[str, list[DiscomfortLevel]] = {ear: [] for ear in EARS}
    for ear, f in places:
        level = person.levels[EARS.index(ear), MEASURED_HZ.index(f)]
        if np.isfinite(level):
            another_day = STEP_DB * np.round(
                (level + NOISE_DB * random.standard_normal()) / STEP_DB
            )
            told[ear].append(DiscomfortLevel(f, float(np.clip(another_day, *LEVEL_LIMITS_DB_HL))))
    thresholds = dict(zip(EARS, person.thresholds, strict=True))
    own = own_levels(
        {ear: each[np.newaxis] for ear, each in thresholds.items()},
        {ear: tuple(each) for ear, each in told.items()},
        model,
    )
    found = Found([], [], [], [], [])
    for ear, levels in zip(EARS if own else (), person.levels, strict=False):
        known, limit_db_hl = np.isfinite(levels), own[ear].limit_db_hl(AT_HZ)
        with_it, without = (
            limits(AT_HZ, thresholds[ear], own_db_hl=each).output_max_db_spl
            for each in (limit_db_hl, None)
        )
        found.true_db_hl.extend(levels[known])
        found.mean_db_hl.extend(own[ear].mean_db_hl[known])
        found.sd_db.extend(own[ear].sd_db[known])
        found.limit_db_hl.extend(limit_db_hl[known])
        found.more_output_db.extend((with_it - without)[known])
    return found


def rows_of(found: Sequence[list[Found]]) -> list[Row]:
    rows = []
    for name, people in zip(TOLD, found, strict=True):
        true, mean, sd, limit, more = (
            np.concatenate([getattr(each, field.name) for each in people])
            for field in fields(Found)
        )
        over_db, error_db = limit - true, mean - true
        rows.append(
            {
                "told": name,
                "levels": len(true),
                "rmse_db": float(np.sqrt(np.mean(error_db**2))),
                "coverage": float(np.mean(np.abs(error_db) <= WIDE_DEVIATIONS * sd)),
                "too_loud": float(np.mean(over_db > 0.0)),
                "far_too_loud": float(np.mean(over_db > TOO_LOUD_DB)),
                "more_output_db": float(np.mean(more)),
                "much_more": float(np.mean(more >= STEP_DB)),
                "less": float(np.mean(more < 0.0)),
            }
        )
    return rows


def lines_of(shipped: Row, rows: Sequence[Row]) -> list[str]:
    head = ["told", "RMSE, dB", "95 % band", "limit above the level", "by more than 10 dB",
            "more output, dB", "5 dB and more", "less"]  # fmt: skip
    told = [
        [row["told"], f"{row['rmse_db']:.1f}", f"{row['coverage']:.3f}", f"{row['too_loud']:.1%}",
         f"{row['far_too_loud']:.1%}", f"{row['more_output_db']:+.1f}", f"{row['much_more']:.0%}",
         f"{row['less']:.0%}"]
        for row in rows
    ]  # fmt: skip
    return [*markdown([head, *told]), *(f"{name}: {value}" for name, value in shipped.items())]


def constants(model: Model) -> Row:
    """Return a model as `device/hearing_aid/discomfort.py` has it."""
    return {
        name: np.round(getattr(model, name), 2 if name in ("rise", "mean_share") else 1).tolist()
        for name in (field.name for field in fields(Model))
    }
