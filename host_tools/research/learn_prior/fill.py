"""From the frequencies of a table to the knots of a prior; unmeasured knots get a wide band.

A table has its frequencies, NHANES seven from 500 to 8000 Hz; the prior has knots from 125 Hz to
16 kHz. The rules, all of them for each component by itself:

A knot at a frequency of the table has the learned mean and covariance.

A knot between two of them lies on the line between its neighbours, over log2 frequency, plus a
deviation of mean zero. How large it is was measured by leaving out each measured frequency in turn:
its mean square distance from the line between its neighbours, 4 u (1 - u) sd² at the fraction u of
the gap. This grows with the gap to the power 1.5: at 1 kHz, in gaps of 2, 2.6 and 3 octaves, sd² is
63, 95 and 117 dB², that is 22, 23 and 22 dB² an octave^1.5. From 3 kHz upward the power is nearer
to 1 (at 4 kHz 64 and 148 dB² in gaps of 1 and 2 octaves), by which a short gap gets somewhat too
little there. Per octave^1.5, sd² rises from 22 dB² at 1 kHz to 89 at 6 kHz; it is interpolated over
log frequency. The mean square is taken, not the variance: that one frequency lies off the line on
average says nothing of another. Several knots in one gap deviate like a Brownian bridge, which has
the same 4 u (1 - u).

A knot outside is the last measured frequency plus a random walk, whose variance per octave is the
mean square step of the last measured interval: the mean goes on flat, the band widens.

Age is correlated with a knot through the frequencies that it is made of, not its deviation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from device.lines import line_weights
from firmware_py.inference.kernel import Array
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from firmware_py.inference.mixture.population_prior import Component, PopulationPrior
from firmware_py.inference.scales import SCALES
from host_tools.research.learn_prior.em import Mixture

KNOTS_HZ: Final = (
    125.0, 250.0, 500.0, 750.0, 1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0, 12000.0,
    16000.0,
)  # fmt: skip
GAP_POWER: Final = 1.5
FREQUENCIES_MIN: Final = 3  # one must have two neighbours to measure a deviation

# The component of the standard audiograms: beside their own spread a smooth one, so that a smooth
# audiogram unlike all ten is likely too, and a little at each knot by itself.
SMOOTH_SD_DB: Final = 3.0
SMOOTH_LENGTH_BARK: Final = 5.0
KNOT_VARIANCE_DB2: Final = 1.0
# Below 250 and above 6000 Hz they go on more smoothly than people do: this share of the variance
# per octave that people have there.
SMOOTH_WALK: Final = 0.4
WEIGHT_DECIMALS: Final = 6
DECIMALS: Final = 3


@dataclass(frozen=True, eq=False)
class Roughness:
    """How far thresholds lie from the line between their neighbours, and step at the ends."""

    octaves: Array  # (J,) log2 of the inner frequencies
    inner_db2: Array  # (K, J) mean square in the middle of a gap of one octave
    low_db2: Array  # (K,) mean square step per octave at the lowest interval
    high_db2: Array  # (K,) and at the highest

    def middle_db2(self, low_hz: float, high_hz: float) -> Array:
        """Return (K,) the mean square deviation in the middle of a gap."""
        gap_octaves = np.log2(high_hz / low_hz)
        at = 0.5 * np.log2(low_hz * high_hz)
        per_octave = [np.interp(at, self.octaves, row) for row in self.inner_db2]
        deviation: Array = np.array(per_octave) * gap_octaves**GAP_POWER
        return deviation


def roughness(mixture: Mixture, frequencies_hz: Array) -> Roughness:
    """Measure each component by leaving every frequency out in turn."""
    x = np.log2(frequencies_hz)
    inner = []
    for j in range(1, len(x) - 1):
        gap = x[j + 1] - x[j - 1]
        u = (x[j] - x[j - 1]) / gap
        off = np.zeros(mixture.mean.shape[1])
        off[j - 1 : j + 2] = u - 1.0, 1.0, -u
        inner.append(_mean_square(mixture, off) / (4.0 * u * (1.0 - u)) / gap**GAP_POWER)
    steps = []
    for first in (0, len(x) - 2):
        step = np.zeros(mixture.mean.shape[1])
        step[first : first + 2] = -1.0, 1.0
        steps.append(_mean_square(mixture, step) / (x[first + 1] - x[first]))
    return Roughness(x[1:-1], np.column_stack(inner), steps[0], steps[1])


def fill_in(mixture: Mixture, frequencies_hz: Array, knots_hz: Array) -> tuple[Array, Array, Array]:
    """Return mean (K, D), covariance (K, D, D) and covariance with age (K, D) at the knots.

    The mixture is over thresholds at the frequencies, `FREQUENCIES_MIN` or more, and age. All of
    the frequencies are among the knots.
    """
    rough = roughness(mixture, frequencies_hz)
    x, knots = np.log2(frequencies_hz), np.log2(knots_hz)
    line = line_weights(knots_hz, frequencies_hz)
    added = np.zeros((len(mixture), len(knots), len(knots)))
    for low, high in zip(range(len(x) - 1), range(1, len(x)), strict=True):
        inside = np.flatnonzero((knots > x[low]) & (knots < x[high]))
        u = (knots[inside] - x[low]) / (x[high] - x[low])
        bridge = 4.0 * np.minimum(u[:, None], u) * (1.0 - np.maximum(u[:, None], u))
        middle_db2 = rough.middle_db2(frequencies_hz[low], frequencies_hz[high])
        added[:, inside[:, None], inside] = middle_db2[:, None, None] * bridge
    added += walk(knots, x[0], x[-1], rough.low_db2, rough.high_db2)
    mean = mixture.mean[:, :-1] @ line.T
    covariance = line @ mixture.covariance[:, :-1, :-1] @ line.T + added
    return mean, covariance, mixture.covariance[:, :-1, -1] @ line.T


def walk(knots: Array, low: float, high: float, low_db2: Array, high_db2: Array) -> Array:
    """Return (K, D, D) the covariance of random walks that begin at `low` and `high` octaves."""
    down, up = np.maximum(low - knots, 0.0), np.maximum(knots - high, 0.0)
    below: Array = low_db2[:, None, None] * np.minimum(down[:, None], down)
    return below + high_db2[:, None, None] * np.minimum(up[:, None], up)


def prior_of(
    mixture: Mixture, frequencies_hz: Array, standard_weight: float, provenance: Mapping[str, Any]
) -> PopulationPrior:
    """Return the prior of a mixture learned at some frequencies.

    `standard_weight` is that of one more component, the ten standard audiograms; 0: none.
    """
    knots_hz = np.union1d(KNOTS_HZ, frequencies_hz)
    rough = roughness(mixture, frequencies_hz)
    mean, covariance, age_covariance = fill_in(mixture, frequencies_hz, knots_hz)
    weight = (1.0 - standard_weight) * mixture.weight / mixture.weight.sum()
    age_mean, age_sd = mixture.mean[:, -1], np.sqrt(mixture.covariance[:, -1, -1])
    share_female = mixture.share_female
    if standard_weight > 0.0:
        # Whom the standard audiograms belong to is not known: anyone.
        share = mixture.weight / mixture.weight.sum()
        anyone = share @ age_mean
        spread = np.sqrt(share @ (age_sd**2 + (age_mean - anyone) ** 2))
        standard = standard_gaussian(
            knots_hz, float(share @ rough.low_db2), float(share @ rough.high_db2)
        )
        weight = np.append(weight, standard_weight)
        mean = np.concatenate([mean, standard[0][None]])
        covariance = np.concatenate([covariance, standard[1][None]])
        age_covariance = np.concatenate([age_covariance, np.zeros((1, len(knots_hz)))])
        age_mean, age_sd = np.append(age_mean, anyone), np.append(age_sd, spread)
        share_female = np.append(share_female, share @ share_female)
    between_db2 = [
        mixture.weight @ rough.middle_db2(low, high) / mixture.weight.sum()
        for low, high in pairwise(knots_hz)
    ]
    return PopulationPrior(
        knots_hz=tuple(float(f) for f in knots_hz),
        between_knots_sd_db=round_numbers(np.sqrt(between_db2)),
        components=tuple(
            Component(
                share,
                round_numbers(mean[k]),
                tuple(round_numbers(row) for row in covariance[k]),
                round(float(age_mean[k]), DECIMALS),
                round(float(age_sd[k]), DECIMALS),
                round_numbers(age_covariance[k]),
                round(float(share_female[k]), DECIMALS),
            )
            for k, share in enumerate(rounded_weights(weight))
        ),
        provenance=provenance,
    )


def standard_gaussian(knots_hz: Array, low_db2: float, high_db2: float) -> tuple[Array, Array]:
    """Return mean (D,) and covariance (D, D) of the ten standard audiograms, widened outside.

    `low_db2` and `high_db2` are the variance per octave of people, below and above them.
    """
    known, knots = np.log2(FREQUENCIES_HZ), np.log2(knots_hz)
    curves = [np.interp(knots, known, levels) for levels in STANDARD_AUDIOGRAMS_DB_HL.values()]
    bark = np.array([SCALES["bark"].warp(float(f)) for f in knots_hz])
    apart = (bark[:, None] - bark) / SMOOTH_LENGTH_BARK
    covariance = np.cov(np.array(curves).T) + SMOOTH_SD_DB**2 * np.exp(-0.5 * apart**2)
    covariance += KNOT_VARIANCE_DB2 * np.eye(len(knots_hz))
    rates_db2 = SMOOTH_WALK * np.array([[low_db2], [high_db2]])
    covariance += walk(knots, known[0], known[-1], *rates_db2)[0]
    return np.mean(curves, axis=0), covariance


def _mean_square(mixture: Mixture, combination: Array) -> Array:
    variance = np.einsum("i,kij,j->k", combination, mixture.covariance, combination)
    square: Array = variance + (mixture.mean @ combination) ** 2
    return square


def round_numbers(numbers: Array) -> tuple[float, ...]:
    return tuple(round(float(number), DECIMALS) + 0.0 for number in numbers)


def rounded_weights(weight: Array) -> list[float]:
    """Return weights that are together 1: what rounding leaves over goes to the largest."""
    shares = [round(float(w), WEIGHT_DECIMALS) for w in weight]
    largest = int(np.argmax(shares))
    others = sum(share for k, share in enumerate(shares) if k != largest)
    shares[largest] = round(1.0 - others, WEIGHT_DECIMALS)
    return shares
