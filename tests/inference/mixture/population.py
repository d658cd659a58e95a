"""A population to test with: four kinds of ears, whose numbers no file can change."""

import numpy as np

from firmware_py.inference.mixture.population_prior import Component, PopulationPrior
from tests.reference import FloatArray

KNOTS_HZ = (125.0, 250.0, 500.0, 1000.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0)
BETWEEN_KNOTS_SD_DB = (4.0, 3.0, 2.0, 3.0, 4.0, 5.0, 5.0, 6.0)
OCTAVES = np.log2(np.array(KNOTS_HZ) / 1000.0)

# share, level at 1 kHz, slope per octave, notch at 4 kHz (dB); SD (dB), length (octaves); age, sex
_EARS = [
    (0.50, 8.0, 1.0, 3.0, 6.0, 1.0, 35.0, 0.6),
    (0.25, 22.0, 9.0, 0.0, 12.0, 1.5, 68.0, 0.5),
    (0.15, 12.0, 4.0, 25.0, 10.0, 0.7, 50.0, 0.1),
    (0.10, 60.0, 3.0, 0.0, 22.0, 2.5, 60.0, 0.5),
]


def symmetric(a: FloatArray) -> tuple[tuple[float, ...], ...]:
    """Return a matrix as the prior holds it, symmetric to the bit."""
    return tuple(tuple(row) for row in (0.5 * (a + a.T)).tolist())


def an_ear(
    weight: float, level: float, slope: float, notch: float, sd: float, length: float,
    age: float, share_female: float,
) -> Component:  # fmt: skip
    mean = level + slope * OCTAVES + notch * np.exp(-((OCTAVES - 2.0) ** 2) / 0.3)
    distance = np.abs(np.subtract.outer(OCTAVES, OCTAVES))
    age_covariance = sd * 10.0 * np.exp(0.1 * OCTAVES) * 0.4  # correlations of about 0.4
    covariance = sd**2 * (0.95 * np.exp(-distance / length) + 0.05 * np.eye(len(mean)))
    return Component(
        weight, tuple(mean.tolist()), symmetric(covariance), age, 10.0,
        tuple(age_covariance.tolist()), share_female,
    )  # fmt: skip


POPULATION = PopulationPrior(
    KNOTS_HZ, BETWEEN_KNOTS_SD_DB, tuple(an_ear(*ear) for ear in _EARS), {"source": "made up"}
)


def moments(prior: PopulationPrior) -> tuple[FloatArray, FloatArray, FloatArray]:
    weight = np.array([c.weight for c in prior.components])
    mean = np.array([c.mean_db_hl for c in prior.components])
    covariance = np.array([c.covariance_db2 for c in prior.components])
    return weight / weight.sum(), mean, covariance
