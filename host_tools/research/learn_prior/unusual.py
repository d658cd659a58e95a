"""Ears that the people of a table do not have: components by which answers can overrule a prior.

A table of people has few ears with an island of loss, a narrow notch or a rising slope. A mixture
learned from it is all but sure that there are none. So it gets three kinds of components more:

A wide one: an ear of any shape, smooth over octaves and rough from knot to knot.

A low one: the average ear, whose lowest octaves may be much better or worse; if there are any.

For each inner knot from 750 Hz to 6 kHz, a free one: the average ear, whose threshold there may be
anything.

Likelihood cannot find their weights: EM on the NHANES people who teach the prior that ships takes
them below 1 %. They are chosen by odd ears (`gp-pta study --robustness`) within a price on people:
held-out log density falls by 0.09 nats an ear with the wide one at 12 %, by 0.09 with the free ones
at 15 %, and errors at people of NHANES do not rise. Wide ones alone miss narrow notches (8.9 dB
after 40 tones), free ones alone miss islands (7.5 dB).
"""

from dataclasses import replace
from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.population_prior import Component, PopulationPrior
from host_tools.research.learn_prior.fill import round_numbers, rounded_weights

# Shares of the weight; the rest is the free ones', in equal parts.
WIDE_SHARE: Final = 12.0 / 32.0
LOW_SHARE: Final = 5.0 / 32.0

WIDE_MEAN_DB_HL: Final = 40.0
WIDE_SD_DB: Final = 35.0
WIDE_OCTAVES: Final = 1.4
KNOT_SD_DB: Final = 15.0  # at each knot by itself
LOW_SD_DB: Final = 35.0
LOW_WHOLE_HZ, LOW_NONE_HZ = 250.0, 1000.0  # over log2 frequency it fades from one to the other
FREE_SD_DB: Final = 40.0
FREE_RANGE_HZ: Final = (750.0, 6000.0)


def with_unusual_ears(prior: PopulationPrior, weight: float) -> PopulationPrior:
    """Return the prior with the unusual components last, together of this weight; 0: none."""
    if weight == 0.0:
        return prior
    knots_hz = np.array(prior.knots_hz)
    low_hz, high_hz = FREE_RANGE_HZ
    free = [k for k, f in enumerate(knots_hz[1:-1], start=1) if low_hz <= f <= high_hz]
    has_low = knots_hz[0] < LOW_NONE_HZ
    low_share = LOW_SHARE if has_low else 0.0
    wide_share = WIDE_SHARE if free else 1.0 - low_share
    mean_db_hl, covariance_db2 = _average_ear(prior)
    anyone = _anyone(prior)
    octaves = np.log2(knots_hz)
    apart = (octaves[:, None] - octaves) / WIDE_OCTAVES
    wide_db2 = WIDE_SD_DB**2 * np.exp(-0.5 * apart**2) + KNOT_SD_DB**2 * np.eye(len(knots_hz))
    wide_db_hl = np.full(len(knots_hz), WIDE_MEAN_DB_HL)
    unusual = [_component(anyone, wide_share * weight, wide_db_hl, wide_db2)]
    if has_low:
        fading = np.interp(octaves, np.log2([LOW_WHOLE_HZ, LOW_NONE_HZ]), [1.0, 0.0])
        low_db2 = covariance_db2 + LOW_SD_DB**2 * np.outer(fading, fading)
        unusual.append(_component(anyone, low_share * weight, mean_db_hl, low_db2))
    for k in free:
        free_db2 = covariance_db2.copy()
        free_db2[k, k] += FREE_SD_DB**2
        each = (1.0 - wide_share - low_share) * weight / len(free)
        unusual.append(_component(anyone, each, mean_db_hl, free_db2))
    met = [replace(c, weight=(1.0 - weight) * c.weight) for c in prior.components]
    weights = rounded_weights(np.array([c.weight for c in [*met, *unusual]]))
    return replace(
        prior,
        components=tuple(
            replace(c, weight=w) for c, w in zip([*met, *unusual], weights, strict=True)
        ),
    )


def _average_ear(prior: PopulationPrior) -> tuple[Array, Array]:
    """Return mean (D,) and covariance (D, D) of the whole mixture."""
    weight = np.array([c.weight for c in prior.components])
    each = np.array([c.mean_db_hl for c in prior.components])
    within = np.array([c.covariance_db2 for c in prior.components])
    mean: Array = weight @ each
    off = each - mean
    covariance: Array = np.einsum("k,kij->ij", weight, within) + np.einsum(
        "k,ki,kj->ij", weight, off, off
    )
    return mean, covariance


def _anyone(prior: PopulationPrior) -> tuple[float, float, float]:
    """Return mean and SD of the ages of all people, and the share of women."""
    weight = np.array([c.weight for c in prior.components])
    mean = np.array([c.age_mean_years for c in prior.components])
    sd = np.array([c.age_sd_years for c in prior.components])
    average = float(weight @ mean)
    spread = float(np.sqrt(weight @ (sd**2 + (mean - average) ** 2)))
    return average, spread, float(weight @ np.array([c.share_female for c in prior.components]))


def _component(
    anyone: tuple[float, float, float], weight: float, mean_db_hl: Array, covariance_db2: Array
) -> Component:
    age_mean, age_sd, share_female = round_numbers(np.array(anyone))
    symmetric = 0.5 * (covariance_db2 + covariance_db2.T)
    return Component(
        weight,
        round_numbers(mean_db_hl),
        tuple(round_numbers(row) for row in symmetric),
        age_mean,
        age_sd,
        round_numbers(np.zeros(len(mean_db_hl))),
        share_female,
    )
