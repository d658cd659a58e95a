"""A person's own levels of discomfort, from those that somebody measured, of both ears together.

People differ, and far more from each other than from one ear or frequency to the next: one level of
somebody tells most of the others.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from device.hearing_aid.limits import MEASURED_HZ
from device.lines import line_weights
from device.speech import FloatArray
from firmware_py.terms.discomfort_levels import DiscomfortLevel, DiscomfortLevels

HINGE_DB_HL: Final = 50.0  # levels rise faster with the threshold from there on
NOISE_DB: Final = 5.0  # SD of a level that was measured another day
FEW_DEVIATIONS: Final = 1.2816  # of a normal distribution one in ten lies so far below the mean
UNUSUAL_DB: Final = 40.0  # a level so far above what is expected is rather a mistake
SWEEPS_MAX: Final = 50
CONVERGED: Final = 1e-9


@dataclass(frozen=True)
class Model:
    """How levels of discomfort go with the thresholds, and with each other, at `MEASURED_HZ`."""

    base_db_hl: FloatArray  # (4,)
    rise: FloatArray  # dB for each dB of the threshold above `HINGE_DB_HL`, (4,)
    mean_share: float  # dB for each dB of the mean of the ear's four thresholds
    same_ear_db2: FloatArray  # covariance of what these leave, in an ear, (4, 4)
    other_ear_db2: FloatArray  # and between the two, (4, 4)

    def expected_db_hl(self, thresholds_db_hl: FloatArray) -> FloatArray:
        """Return what is expected of an ear, (..., 4), from thresholds at `MEASURED_HZ` alone."""
        above_db = np.maximum(thresholds_db_hl - HINGE_DB_HL, 0.0)
        mean_db_hl = thresholds_db_hl.mean(axis=-1, keepdims=True)
        expected: FloatArray = self.base_db_hl + self.rise * above_db + self.mean_share * mean_db_hl
        return expected

    def covariance_db2(self, ears: int) -> FloatArray:
        own_db2 = self.same_ear_db2 - self.other_ear_db2
        return np.kron(np.eye(ears), own_db2) + np.kron(np.ones((ears, ears)), self.other_ear_db2)


@dataclass(frozen=True)
class Own:
    """What is known of the levels of discomfort of an ear, at `MEASURED_HZ`, (4,)."""

    mean_db_hl: FloatArray
    sd_db: FloatArray

    def at(self, center_hz: FloatArray, deviations: float = 0.0) -> FloatArray:
        """Return them, so many SDs up: on lines over log frequency, and held beyond."""
        levels_db_hl = self.mean_db_hl + deviations * self.sd_db
        return np.interp(np.log2(center_hz), np.log2(MEASURED_HZ), levels_db_hl)

    def limit_db_hl(self, center_hz: FloatArray) -> FloatArray:
        """Return what one such person in ten finds uncomfortable."""
        return self.at(center_hz, -FEW_DEVIATIONS)


class Doubt(NamedTuple):
    """A level that is rather a mistake: it is below the threshold, or far above the expected."""

    ear: str
    level: DiscomfortLevel
    code: str  # "below-threshold" or "unusual"
    than_db_hl: float  # the threshold, or what is expected


Told = Mapping[str, DiscomfortLevels]  # by ear


def at_measured(center_hz: FloatArray, thresholds_db_hl: FloatArray) -> FloatArray:
    """Return thresholds, (..., m), at `MEASURED_HZ`."""
    return thresholds_db_hl @ line_weights(MEASURED_HZ, center_hz).T


def own_levels(
    draws_db_hl: Mapping[str, FloatArray], told: Told, model: Model | None = None
) -> dict[str, Own]:
    """Return what levels told of one ear or both say of each ear that draws are there of.

    Draws, (n, 4), are of the thresholds at `MEASURED_HZ`. Where no level is told nothing is
    returned.
    """
    model = model or LEARNED
    ears = [*draws_db_hl]
    levels = [(k, level) for k, ear in enumerate(ears) for level in told.get(ear, ())]
    if not levels:
        return {}
    expected = [*map(model.expected_db_hl, draws_db_hl.values())]
    covariance_db2 = model.covariance_db2(len(ears))
    count = len(MEASURED_HZ)
    for k, each in enumerate(expected):
        own = slice(k * count, (k + 1) * count)
        covariance_db2[own, own] += np.cov(each.T) if len(each) > 1 else 0.0
    rows = np.zeros((len(levels), count * len(ears)))
    for row, (k, level) in zip(rows, levels, strict=True):
        row[k * count : (k + 1) * count] = line_weights(level.frequency_hz, MEASURED_HZ)
    mean_db_hl, posterior_db2 = conditioned(
        np.concatenate([each.mean(axis=0) for each in expected]), covariance_db2, rows,
        np.array([level.level_db_hl for _, level in levels]),
        np.array([level.above for _, level in levels]),
    )  # fmt: skip
    means, sds = np.split(mean_db_hl, len(ears)), np.sqrt(np.diag(posterior_db2))
    return {
        ear: Own(mean, sd)
        for ear, mean, sd in zip(ears, means, np.split(sds, len(ears)), strict=True)
    }


def doubts(thresholds_db_hl: Mapping[str, FloatArray], told: Told) -> Iterator[Doubt]:
    """Yield levels that somebody has to be asked about, of thresholds at `MEASURED_HZ`, (4,)."""
    for ear, thresholds in thresholds_db_hl.items():
        expected_db_hl = LEARNED.expected_db_hl(thresholds)
        for level in told.get(ear, ()):
            near = line_weights(level.frequency_hz, MEASURED_HZ)
            heard_from, expected = float(near @ thresholds), float(near @ expected_db_hl)
            if level.level_db_hl <= heard_from:
                yield Doubt(ear, level, "below-threshold", heard_from)
            elif level.level_db_hl > expected + UNUSUAL_DB:
                yield Doubt(ear, level, "unusual", expected)


def conditioned(
    mean: FloatArray,
    covariance: FloatArray,
    rows: FloatArray,
    levels: FloatArray,
    above: npt.NDArray[np.bool_],
) -> tuple[FloatArray, FloatArray]:
    """Return mean and covariance of a Gaussian, given levels of `rows` of it with `NOISE_DB`.

    Those that are `above` are bounds: the level, with its noise, is higher. They become Gaussian
    factors by expectation propagation.
    """
    prior = np.asarray(np.linalg.inv(covariance), dtype=np.float64)
    noise_db2 = NOISE_DB**2
    precision = np.where(above, 0.0, 1.0 / noise_db2)
    shift = np.where(above, 0.0, levels / noise_db2)
    for _ in range(SWEEPS_MAX):
        before = precision.copy()
        for i in np.flatnonzero(above):
            found, spread = _posterior(prior, mean, rows, precision, shift)
            variance = float(rows[i] @ spread @ rows[i])
            rest = 1.0 / variance - precision[i]
            rest_mean = (float(rows[i] @ found) / variance - shift[i]) / rest
            tilted_mean, tilted_variance = _above(rest_mean, 1.0 / rest, float(levels[i]))
            precision[i] = 1.0 / tilted_variance - rest
            shift[i] = tilted_mean / tilted_variance - rest * rest_mean
        if np.abs(precision - before).max() < CONVERGED:
            break
    return _posterior(prior, mean, rows, precision, shift)


def _posterior(
    prior: FloatArray, mean: FloatArray, rows: FloatArray, precision: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:
    spread = np.asarray(np.linalg.inv(prior + (rows.T * precision) @ rows), dtype=np.float64)
    return spread @ (prior @ mean + rows.T @ shift), spread


def _above(mean: float, variance: float, level: float) -> tuple[float, float]:
    """Return mean and variance of a normal number that is, with its noise, above a level."""
    total = variance + NOISE_DB**2
    z = (mean - level) / math.sqrt(total)
    hazard = math.exp(-0.5 * z * z) / math.sqrt(0.5 * math.pi) / math.erfc(-z / math.sqrt(2.0))
    return (
        mean + variance * hazard / math.sqrt(total),
        variance - variance**2 * hazard * (z + hazard) / total,
    )


# As `gp-pta study --discomfort` learned it on 30 November 2026, from 279 people both of whose ears
# have thresholds and levels (Oldenburg Hearing Health Record, 10.5281/zenodo.16919812, CC BY 4.0).
LEARNED: Final = Model(
    base_db_hl=np.array((88.9, 87.6, 90.1, 90.4)),
    rise=np.array((0.19, 0.36, 0.21, 0.23)),
    mean_share=0.2,
    same_ear_db2=np.array((
        (128.6, 105.4, 91.7, 79.7),
        (105.4, 111.9, 90.2, 79.7),
        (91.7, 90.2, 94.6, 81.6),
        (79.7, 79.7, 81.6, 96.8),
    )),
    other_ear_db2=np.array((
        (106.0, 94.4, 83.0, 74.4),
        (94.4, 93.4, 81.1, 74.5),
        (83.0, 81.1, 77.1, 73.8),
        (74.4, 74.5, 73.8, 81.2),
    )),
)  # fmt: skip
