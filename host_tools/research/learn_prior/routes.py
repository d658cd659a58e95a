"""Air-bone gaps of people: a table with both routes, and the mixture of gaps learned from it.

Expectation maximisation as in `em`, of gaps alone: whether an ear has a gap is all that its classes
tell apart, so that age and sex are left out. What was not measured is missing at random given the
rest. A fixed variance is added to every class after each step, without which a class settles on
gaps that are equal only because both thresholds were rounded to 5 dB; the steps end where the
likelihood stands still.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.table import Table
from firmware_py.inference.kernel import Array
from firmware_py.terms.route import AIR, BONE
from host_tools.research.learn_prior.sample import patterns
from host_tools.research.methods.population import (
    Bools,
    Integers,
    Population,
    PopulationError,
    population_of,
)

# What separates the classes at the start: shares of ears by mean gap. Other starts (.6/.3/.1,
# .9/.07/.03, .85/.1/.05) end in the same classes.
START_SHARES: Final = (0.8, 0.15, 0.05)
FLOOR_DB2: Final = 3.0  # added to the variances
STEPS_MAX: Final = 2000
CONVERGED: Final = 1e-9  # of the log likelihood an ear, in nats
LOG_2_PI: Final = float(np.log(2.0 * np.pi))
# Tables were often made without masking: of a person with such a difference by air, the poorer ear
# may have been heard by the better one.
ASYMMETRY_DB: Final = 25.0
_PTA4_HZ: Final = (500.0, 1000.0, 2000.0, 4000.0)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Air-bone gaps of ears, one ear a row."""

    frequencies_hz: Array  # (m,) rising
    gap_db: Array  # (n, m) NaN where one of the two was not measured
    person: tuple[str, ...]
    asymmetric: int  # people left out

    def __len__(self) -> int:
        return len(self.person)

    @property
    def measured(self) -> Bools:
        """Return (n, m), where both routes were measured."""
        known: Bools = ~np.isnan(self.gap_db)
        return known

    def at(self, frequencies_hz: Sequence[float] | Array) -> "Gaps":
        """Return the gaps at these frequencies, of ears that have one there."""
        columns = np.isin(self.frequencies_hz, np.asarray(frequencies_hz))
        rows = np.flatnonzero(self.measured[:, columns].any(axis=1))
        return Gaps(
            self.frequencies_hz[columns],
            self.gap_db[np.ix_(rows, columns)],
            tuple(self.person[i] for i in rows),
            self.asymmetric,
        )


@dataclass(frozen=True, eq=False)
class GapMixture:
    """K Gaussians over gaps."""

    weight: Array  # (K,)
    mean_db: Array  # (K, m)
    covariance_db2: Array  # (K, m, m)


@dataclass(frozen=True, eq=False)
class GapFit:
    """A mixture, and how well it fits: the log density after every step, in nats an ear."""

    mixture: GapMixture
    log_density: tuple[float, ...]


def read_routes(
    path: Path, content: bytes, columns: str | None = None
) -> tuple[Population, Population]:
    """Return the ears of a table by air and by bone, row by row the same.

    It has columns of both routes, such as ``air500``, ``bone500`` or ``t500``, ``b500``, or
    `columns` says what they have, as of `Table.read`. A `PopulationError` says where something is
    not what it has to be.
    """
    try:
        table = Table.read(path, content, columns)
        for route in (AIR, BONE):
            if not table.frequencies_hz(route):
                raise PopulationError(
                    f"{path}: its first line has no column {route}NNN ({route}500, {route}1000 ...)"
                )
        if not {*table.frequencies_hz(AIR)} & {*table.frequencies_hz(BONE)}:
            raise PopulationError(
                f"{path}: no frequency has a column of air and one of bone (air500 and bone500, or "
                "t500 and b500)"
            )
        return population_of(table, AIR), population_of(table, BONE)
    except AudiogramError as error:
        raise PopulationError(str(error)) from error


def gaps_of(air: Population, bone: Population) -> Gaps:
    """Return the gaps of ears that have one, without people whose two ears differ much by air."""
    frequencies_hz = np.intersect1d(air.frequencies_hz, bone.frequencies_hz)
    by_air, by_bone = (
        np.where(ears.censored, np.nan, ears.thresholds_db_hl)[
            :, np.isin(ears.frequencies_hz, frequencies_hz)
        ]
        for ears in (air, bone)
    )
    uneven = _asymmetric(by_air[:, np.isin(frequencies_hz, _PTA4_HZ)], air.person)
    gap_db = by_air - by_bone
    kept = [
        i for i, who in enumerate(air.person) if who not in uneven and not np.isnan(gap_db[i]).all()
    ]
    return Gaps(frequencies_hz, gap_db[kept], tuple(air.person[i] for i in kept), len(uneven))


def _asymmetric(by_air_db_hl: Array, person: tuple[str, ...]) -> set[str]:
    """Return the people whose ears differ by `ASYMMETRY_DB` in the mean of what both have."""
    rows: dict[str, list[int]] = {}
    for i, who in enumerate(person):
        rows.setdefault(who, []).append(i)
    found = set()
    for who, both in rows.items():
        if len(both) == 2:
            differences = by_air_db_hl[both[0]] - by_air_db_hl[both[1]]
            known = differences[~np.isnan(differences)]
            if len(known) and abs(known.mean()) >= ASYMMETRY_DB:
                found.add(who)
    return found


def learn_gaps(gap_db: Array, shares: tuple[float, ...] = START_SHARES) -> GapFit:
    """Return the classes of gaps that people have, from the smallest mean gap to the largest.

    Of (n, m) gaps, NaN where not measured, each row has one number at least; `shares` are those of
    the classes at the start, by rising mean gap.
    """
    mixture = _start(gap_db, shares)
    alike = patterns(~np.isnan(gap_db))
    history: list[float] = []
    for _ in range(STEPS_MAX):
        better, log_density = _step(gap_db, alike, mixture)
        history.append(float(log_density.mean()))
        if len(history) > 1 and abs(history[-1] - history[-2]) < CONVERGED:
            break
        mixture = better
    order = np.argsort(mixture.mean_db.mean(axis=1), kind="stable")
    ordered = GapMixture(
        mixture.weight[order], mixture.mean_db[order], mixture.covariance_db2[order]
    )
    return GapFit(ordered, tuple(history))


def log_density_of(gap_db: Array, mixture: GapMixture) -> Array:
    return _step(gap_db, patterns(~np.isnan(gap_db)), mixture)[1]


def _start(gap_db: Array, shares: tuple[float, ...]) -> GapMixture:
    order = np.argsort(np.nanmean(gap_db, axis=1), kind="stable")
    ends = np.round(np.cumsum(shares)[:-1] * len(order)).astype(np.int64)
    parts = [gap_db[ears] for ears in np.split(order, ends)]
    whole_mean, whole_variance = np.nanmean(gap_db, axis=0), np.nanvar(gap_db, axis=0)
    mean, covariance = [], []
    for part in parts:
        known = (~np.isnan(part)).sum(axis=0)
        filled = np.where(known > 0, part, whole_mean)
        mean.append(np.nanmean(filled, axis=0))
        variance = np.where(known > 1, np.nanvar(filled, axis=0), whole_variance)
        covariance.append(np.diag(variance + FLOOR_DB2))
    return GapMixture(np.array(shares), np.array(mean), np.array(covariance))


def _step(gap_db: Array, alike: list[Integers], mixture: GapMixture) -> tuple[GapMixture, Array]:
    """Return the mixture after one step, and the log density of each ear under that given."""
    n, m = gap_db.shape
    k = len(mixture.weight)
    log_joint = np.empty((n, k))
    filled, left = np.empty((k, n, m)), np.empty((k, n, m, m))
    for ears in alike:
        seen = ~np.isnan(gap_db[ears[0]])
        for c in range(k):
            mean, covariance = mixture.mean_db[c], mixture.covariance_db2[c]
            among = covariance[np.ix_(seen, seen)]
            off = gap_db[np.ix_(ears, seen)] - mean[seen]
            pull = np.linalg.solve(among, off.T).T
            _, log_determinant = np.linalg.slogdet(among)
            log_joint[ears, c] = np.log(mixture.weight[c]) - 0.5 * (
                (pull * off).sum(axis=1) + log_determinant + seen.sum() * LOG_2_PI
            )
            filled[c, ears] = mean + pull @ covariance[seen]
            left[c, ears] = covariance - covariance[:, seen] @ np.linalg.solve(
                among, covariance[seen]
            )
    log_density: Array = np.logaddexp.reduce(log_joint, axis=1)
    member = np.exp(log_joint - log_density[:, None])
    total = member.sum(axis=0)
    mean = np.einsum("nk,knm->km", member, filled) / total[:, None]
    off = filled - mean[:, None]
    covariance = np.einsum("nk,kni,knj->kij", member, off, off)
    covariance += np.einsum("nk,knij->kij", member, left)
    covariance = covariance / total[:, None, None] + FLOOR_DB2 * np.eye(m)
    covariance = 0.5 * (covariance + np.swapaxes(covariance, 1, 2))
    return GapMixture(total / n, mean, covariance), log_density
