"""What air conduction already tells of bone conduction, as the prior of a bone test.

Bone = air - gap. An air test leaves a posterior over the threshold curve of each ear; what people
have of a gap between air and bone is a mixture of classes (`gap_prior.py`). Their difference is a
mixture of Gaussians again, in one place for each class, so the kernels that measure air measure
bone.

Without noise in the other ear a bone vibrator is heard by the better of the two cochleae: that
threshold is the smaller of two Gaussians at every frequency, and its mean and variance are known
(Clark, Oper. Res. 9 (1961), 145-162). Beside that the shape of the curve is kept: the correlations
are those of the curve of which each frequency is mostly.

Sums are written out, in one order: the same bits on every machine.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final

import numpy as np

from firmware_py.inference.curves import Curves, mean_over
from firmware_py.inference.elementary import exp, normal_cdf
from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.gap_prior import GapPrior, shipped_gap_prior
from firmware_py.inference.mixture.population_prior import (
    Component,
    PopulationPrior,
    Sex,
    shipped_prior,
)

# No cochlea is better than this, in the mean over the frequencies: of a class that would make it
# so, only the part counts that does not. Bone thresholds of good ears are some dB below 0.
BEST_MEAN_DB_HL: Final = -7.0
# Gaps of the two ears of a person correlate so much, within a class and in having the same (243
# people of OHHR with like ears by air: .43 to .63, by frequency).
BOTH_EARS: Final = 0.5
# What the skull takes away between the vibrator and the other cochlea, and how far it differs over
# frequency; 0 to 15 dB in print.
SKULL_SD_DB: Final = 3.5
SKULL_SHAPE_SD_DB: Final = 3.5
LEAST_VARIANCE_DB2: Final = 0.5
# People differ by so much in what they feel (an assumption: the standard has averages only).
FELT_SD_DB: Final = 8.0
FELT_FOR_DB: Final = 10.0  # a threshold is no more off than this, or it is not told as one
_ROOT_2_PI: Final = 2.5066282746310002


def people(
    age_years: float | None,
    sex: Sex | None,
    frequencies_hz: Sequence[float],
    prior: PopulationPrior | None = None,
) -> Curves:
    """Return what people have by air at frequencies that are knots of a prior; None: the shipped.

    It is that of a listener of this age and sex.
    """
    prior = (prior or shipped_prior()).condition(age_years, sex)
    at = [prior.knots_hz.index(f) for f in frequencies_hz]
    return Curves(
        np.array([c.weight for c in prior.components]),
        np.array([c.mean_db_hl for c in prior.components])[:, at],
        np.array([np.array(c.covariance_db2)[np.ix_(at, at)] for c in prior.components]),
    )


def usual_gap_db(frequency_hz: float, gaps: GapPrior | None = None) -> float:
    """Return the gap between air and bone that ears without a conductive loss show."""
    return (gaps or shipped_gap_prior()).usual_db(frequency_hz)


def prior_of(curves: Curves, like: PopulationPrior) -> PopulationPrior:
    """Return curves as a prior with the knots of another one, and as many components.

    What is missing of them are parts of the first, which say the same as the whole.
    """
    kept = curves.strongest(len(like.components))
    parts = 1 + len(like.components) - len(kept.weight)
    weight = kept.weight / sum(kept.weight.tolist())
    found = [
        _component(w / (parts if place == 0 else 1), mean_db_hl, covariance_db2)
        for place, (w, mean_db_hl, covariance_db2) in enumerate(
            zip(weight, kept.mean_db_hl, kept.covariance_db2, strict=True)
        )
    ]
    components = (*found[:1] * parts, *found[1:])
    return PopulationPrior(like.knots_hz, like.between_knots_sd_db, components, {})


def cochlea(air: Curves, frequencies_hz: Sequence[float], gaps: GapPrior | None = None) -> Curves:
    """Return what is known of an ear's own bone threshold by its air threshold at frequencies.

    It has a Gaussian for each class of gaps; by default the prior of gaps that is shipped. Where
    all was heard at the lowest level, nothing keeps the air posterior from levels that no ear has,
    by which one tone that is missed by bone would look as if nobody listened: it is moved up.
    """
    mean_db_hl, covariance_db2 = air.moments()
    mean_db_hl = mean_db_hl + max(BEST_MEAN_DB_HL - mean_over(mean_db_hl, covariance_db2)[0], 0.0)
    made = [(w, mean_db_hl - m, covariance_db2 + c) for w, m, c in classes_at(gaps, frequencies_hz)]
    weights = [w * _possible(mean, covariance) for w, mean, covariance in made]
    return _curves((w, mean, cov) for w, (_, mean, cov) in zip(weights, made, strict=True))


def felt_share(
    expected: Curves, place: int, found_db_hl: float, sd_db: float, felt_db_hl: float
) -> float:
    """Return how likely the skin answered for a cochlea that hears more than `FELT_FOR_DB` less.

    The softest tone that was answered was heard, and not felt, or felt, and not heard. `expected`:
    what is known of the cochlea, by air; `place`: the frequency, among its; `found_db_hl`,
    `sd_db`: what was found; `felt_db_hl`: from where on people feel a tone there, in the mean.
    """
    heard = felt = less = 0.0
    variance_db2 = sd_db * sd_db
    of_felt = _density(found_db_hl - felt_db_hl, FELT_SD_DB * FELT_SD_DB + variance_db2)
    not_felt = normal_cdf((felt_db_hl - found_db_hl) / FELT_SD_DB)
    for weight, mean_db_hl, covariance_db2 in zip(
        expected.weight.tolist(), expected.mean_db_hl[:, place].tolist(),
        expected.covariance_db2[:, place, place].tolist(), strict=True,
    ):  # fmt: skip
        above_db = found_db_hl - mean_db_hl
        heard += weight * _density(above_db, covariance_db2 + variance_db2)
        sd = math.sqrt(covariance_db2)
        felt += weight * normal_cdf(-above_db / sd)
        less += weight * normal_cdf(-(above_db + FELT_FOR_DB) / sd)
    return less * of_felt / (felt * of_felt + heard * not_felt)


def _density(off_db: float, variance_db2: float) -> float:
    return exp(-0.5 * off_db * off_db / variance_db2) / math.sqrt(variance_db2)


def better_cochlea(
    air: Curves,
    other_air: Curves,
    frequencies_hz: Sequence[float],
    gaps: GapPrior | None = None,
) -> Curves:
    """Return what is known of a bone threshold that either cochlea may answer, by both ears' air.

    `air` is of the ear with the vibrator. It has a Gaussian for each pair of classes of gaps; by
    default the prior of gaps that is shipped.
    """
    own, other = (cochlea(each, frequencies_hz, gaps) for each in (air, other_air))
    other = other_side(other)  # else silences of an ear whose skull takes much away look like sleep
    classes = [covariance for _, _, covariance in classes_at(gaps, frequencies_hz)]
    shared = BOTH_EARS * classes[0]
    found = []
    for i, j in product(range(len(classes)), repeat=2):
        apart = own.weight[i] * other.weight[j]
        alike = own.weight[i] if i == j else 0.0
        weight = (1.0 - BOTH_EARS) * apart + BOTH_EARS * alike
        smaller = _smaller(
            own.mean_db_hl[i], own.covariance_db2[i], other.mean_db_hl[j],
            other.covariance_db2[j], shared,
        )  # fmt: skip
        found.append((float(weight), *smaller))
    return _curves(found)


def other_side(bone: Curves) -> Curves:
    """Return what a bone test without noise tells of one with the vibrator on the other side.

    The same cochleae answer, and each is nearer to or farther from it by what the skull takes away.
    """
    knots = bone.mean_db_hl.shape[1]
    skull_db2 = SKULL_SD_DB**2 + SKULL_SHAPE_SD_DB**2 * np.eye(knots)
    return Curves(bone.weight, bone.mean_db_hl, bone.covariance_db2 + skull_db2)


def classes_at(
    gaps: GapPrior | None, frequencies_hz: Sequence[float]
) -> list[tuple[float, Array, Array]]:
    """Return weight, mean and covariance of each class of gaps at some of its frequencies."""
    gaps = (gaps or shipped_gap_prior()).reaching(frequencies_hz)
    at = [gaps.frequencies_hz.index(f) for f in frequencies_hz]
    return [
        (c.weight, np.array(c.mean_db)[at], np.array(c.covariance_db2)[np.ix_(at, at)])
        for c in gaps.classes
    ]


def _possible(mean_db_hl: Array, covariance_db2: Array) -> float:
    """Return the probability that the mean over the frequencies is one that a cochlea has."""
    mean, sd = mean_over(mean_db_hl, covariance_db2)
    return normal_cdf((mean - BEST_MEAN_DB_HL) / sd)


def _smaller(
    mean: Array, covariance: Array, other_mean: Array, other_covariance: Array, shared: Array
) -> tuple[Array, Array]:
    """Return mean and covariance of the smaller of two Gaussians at each place; Clark's rule."""
    found, variances, share = [], [], []
    for f, (m, n) in enumerate(zip(mean.tolist(), other_mean.tolist(), strict=True)):
        v, u, c = (float(each[f, f]) for each in (covariance, other_covariance, shared))
        spread = math.sqrt(max(v + u - 2.0 * c, LEAST_VARIANCE_DB2))
        z = (n - m) / spread
        p, density = normal_cdf(z), exp(-0.5 * z * z) / _ROOT_2_PI
        smaller = m * p + n * (1.0 - p) - spread * density
        second = (v + m * m) * p + (u + n * n) * (1.0 - p) - (m + n) * spread * density
        found.append(smaller)
        variances.append(max(second - smaller * smaller, LEAST_VARIANCE_DB2))
        share.append(p)
    own = np.array(share)
    other = 1.0 - own
    mixed = (
        np.multiply.outer(own, own) * covariance
        + np.multiply.outer(other, other) * other_covariance
        + (np.multiply.outer(own, other) + np.multiply.outer(other, own)) * shared
    )
    scale = np.sqrt(np.array(variances) / np.diagonal(mixed))
    made = mixed * np.multiply.outer(scale, scale)
    return np.array(found), 0.5 * (made + made.T)


def _curves(parts: Iterable[tuple[float, Array, Array]]) -> Curves:
    weight, mean_db_hl, covariance_db2 = zip(*parts, strict=True)
    return Curves(np.array(weight) / sum(weight), np.array(mean_db_hl), np.array(covariance_db2))


def _component(weight: float, mean_db_hl: Array, covariance_db2: Array) -> Component:
    knots = len(mean_db_hl)
    return Component(
        float(weight), tuple(mean_db_hl.tolist()), tuple(map(tuple, covariance_db2.tolist())),
        0.0, 1.0, (0.0,) * knots, 0.5,
    )  # fmt: skip
