"""What a mixture of Gaussians over the knots says of the threshold, and of an answer."""

import math
from typing import Final

from firmware_py.inference.kernel import CONVERGED, Matrix, Vector, entry, kernel
from firmware_py.inference.mixture.arrays import (
    FALSE_ALARM_RATE,
    LAPSE_RATE,
    UNSURE_HALF_WIDTH_DB,
    Mixture,
    Places,
)
from firmware_py.inference.psychometric import expected_answer, normal

QUANTILE_STEPS: Final = 100  # about 7 are taken; a hundred halvings would be exact
QUANTILE_TOLERANCE_DB: Final = 1e-9


@kernel
def place_of(index: int) -> int:
    """Return an index that is not negative, and that the compiler knows not to be.

    One that may be negative counts from the end, which takes as long as all that is done with it.
    """
    return index & 0xFFFF


@kernel
def component_at(
    left: int, bend: int, fraction: float, bow_db: float, mean_db_hl: Vector, covariance: Matrix
) -> tuple[float, float]:
    """b^T m and b^T C b: mean and variance of one component at one frequency; see `Places`."""
    left = place_of(left)
    mean, variance = mean_db_hl[left], covariance[left, left]
    u, v = fraction, 1.0 - fraction
    if u > 0.0:
        mean = v * mean + u * mean_db_hl[left + 1]
        variance = (
            v * v * variance
            + 2.0 * u * v * covariance[left, left + 1]
            + u * u * covariance[left + 1, left + 1]
        )
    if bow_db > 0.0:
        if bend < 0:
            return mean, variance + bow_db * bow_db
        mean += bow_db * mean_db_hl[bend]
        shared = v * covariance[left, bend]
        if u > 0.0:
            shared += u * covariance[left + 1, bend]
        variance += bow_db * (2.0 * shared + bow_db * covariance[bend, bend])
    return mean, variance


@entry
def predict(places: Places, mixture: Mixture, mean_db_hl: Vector, sd_db: Vector) -> int:
    """`m = sum w_k m_k`, `v = sum w_k (v_k + (m_k - m)**2)`: write mean and SD at each place."""
    for i in range(len(places.left)):
        left, bend = places.left[i], places.bend[i]
        fraction, bow_db = places.fraction[i], places.bow_db[i]
        total = 0.0
        for k in range(len(mixture.weight)):
            m, _ = component_at(
                left, bend, fraction, bow_db, mixture.mean_db_hl[k], mixture.covariance[k]
            )
            total += mixture.weight[k] * m
        variance = 0.0
        for k in range(len(mixture.weight)):
            m, v = component_at(
                left, bend, fraction, bow_db, mixture.mean_db_hl[k], mixture.covariance[k]
            )
            variance += mixture.weight[k] * (v + (m - total) * (m - total))
        mean_db_hl[i] = total
        sd_db[i] = math.sqrt(variance)
    return CONVERGED


@entry
def quantile(
    probability: float, places: Places, mixture: Mixture, mean_db_hl: Vector, sd_db: Vector,
    quantile_db_hl: Vector,
) -> int:  # fmt: skip
    """F(q) = sum_k w_k Phi((q - m_k) / s_k) = `probability`: write q at each place.

    By Newton's method, and by halving where a step would leave the bracket, or is slow. The bracket
    is Cantelli's inequality: at most the root of (1 - p) / p SDs below the mean for a probability
    p, and at most the inverse of that above it. `mean_db_hl` and `sd_db` are those of `predict`.
    """
    below_sds = math.sqrt((1.0 - probability) / probability)
    for i in range(len(places.left)):
        left, bend = places.left[i], places.bend[i]
        fraction, bow_db = places.fraction[i], places.bow_db[i]
        x = mean_db_hl[i]
        low, high = x - below_sds * sd_db[i], x + sd_db[i] / below_sds
        moved = high - low
        for _ in range(QUANTILE_STEPS):
            below, density = 0.0, 0.0
            for k in range(len(mixture.weight)):
                m, v = component_at(
                    left, bend, fraction, bow_db, mixture.mean_db_hl[k], mixture.covariance[k]
                )
                sd = math.sqrt(v)
                share, bell = normal((x - m) / sd)
                below += mixture.weight[k] * share
                density += mixture.weight[k] * bell / sd
            missing = probability - below
            if missing > 0.0:
                low = x
            else:
                high = x
            step = missing / density if density > 0.0 else math.inf
            if abs(step) > QUANTILE_TOLERANCE_DB and (
                not low < x + step < high or abs(step) > 0.5 * moved
            ):
                step = 0.5 * (low + high) - x
            x += step
            moved = abs(step)
            if moved <= QUANTILE_TOLERANCE_DB:
                break
        quantile_db_hl[i] = x
    return CONVERGED


@entry
def probability_of(
    answer: int, level_db_hl: float, left: int, bend: int, fraction: float, bow_db: float,
    noise_db: float, listener: Vector, mixture: Mixture,
) -> float:  # fmt: skip
    """P = sum_k w_k P(answer | m_k, v_k) for one tone; `noise_db` is that at its frequency."""
    total = 0.0
    for k in range(len(mixture.weight)):
        m, v = component_at(
            left, bend, fraction, bow_db, mixture.mean_db_hl[k], mixture.covariance[k]
        )
        p, _, _ = expected_answer(
            answer,
            level_db_hl - m,
            math.sqrt(v + noise_db * noise_db),
            listener[LAPSE_RATE],
            listener[FALSE_ALARM_RATE],
            listener[UNSURE_HALF_WIDTH_DB],
        )
        total += mixture.weight[k] * p
    return total
