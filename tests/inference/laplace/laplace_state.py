"""The Laplace kernels run on one data set, and random data sets to run them on."""

from typing import NamedTuple

import numpy as np

from firmware_py.inference.laplace.arrays import VECTORS, Covariance, Interval, Trials
from firmware_py.inference.laplace.arrays import State as Arrays
from firmware_py.inference.laplace.posterior import (
    covariance_of,
    evidence_gradient,
    find_mode,
    predict,
    prepare,
)
from tests import reference
from tests.reference import BoolArray, FloatArray, Posterior, Scale

# Of a sum, relative to the sum of its terms' sizes.
ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
RELATIVE = 1e-8


class DataSet(NamedTuple):
    scale: Scale
    x: FloatArray
    level_db_hl: FloatArray
    heard: BoolArray
    length: float
    sd_db: float
    noise_db: FloatArray

    def mean_at(self, x: FloatArray) -> FloatArray:
        intercept_db_hl, slope = reference.prior_mean_line(self.scale)
        return intercept_db_hl + slope * x

    def posterior(self) -> Posterior:
        return reference.laplace(
            self.x, self.level_db_hl, self.heard, self.mean_at,
            self.length, self.sd_db, self.noise_db,
        )  # fmt: skip


class State(NamedTuple):
    status: int
    rank: int
    mode_db: FloatArray
    log_evidence: float
    gradient: FloatArray
    mean_db_hl: FloatArray
    sd_db: FloatArray


def random_data_set(rng: np.random.Generator, trials: int, kind: str, scale: Scale) -> DataSet:
    """Draw one; `kind` says what is bad about it."""
    frequency_hz = np.exp(rng.uniform(np.log(125.0), np.log(8000.0), trials))
    if kind == "repeated tones":
        frequency_hz = rng.choice(frequency_hz[: max(1, trials // 8)], trials)
    if kind == "one frequency":
        frequency_hz[:] = frequency_hz[0]
    x = reference.warp(frequency_hz, scale)
    length_bark = np.exp(rng.uniform(np.log(0.5), np.log(40.0)))
    sd_db = np.exp(rng.uniform(np.log(1.0), np.log(80.0)))
    noise_db = np.full(trials, np.exp(rng.uniform(np.log(0.1), np.log(30.0))))
    if kind == "noise of its own":
        noise_db *= np.exp(rng.uniform(-1.0, 1.0, trials))
    level_db_hl = rng.uniform(-10.0, 120.0, trials)
    heard = rng.random(trials) < 0.5  # contradicts itself, and most of it lies far in the tails
    if kind == "consistent":
        intercept_db_hl, slope = reference.prior_mean_line(scale)
        bump_db = 10.0 * np.sin(3.0 * np.log(frequency_hz)) + rng.normal(0.0, 20.0)
        heard = level_db_hl > intercept_db_hl + slope * x + bump_db
    if kind == "contradictory":
        level_db_hl = np.where(heard, rng.uniform(-10.0, 40.0), rng.uniform(70.0, 120.0))
    length = reference.length_in_units_of(scale, float(length_bark))
    return DataSet(scale, x, level_db_hl, heard, length, float(sd_db), noise_db)


def run_kernels(
    data: DataSet, x_star: FloatArray, a_start: FloatArray | float = 0.0, dense: bool = False
) -> State:
    """Find the mode, differentiate the evidence, and predict at x_star.

    With the smaller of the two matrices, or always with the dense one.
    """
    n = len(data.x)
    k, b, b_inverse = np.full((3, n, n), np.nan)
    state = Arrays(
        k, np.full(n, a_start), np.full(n, np.nan), b, np.full((VECTORS, n), np.nan),
        np.full((n, max(n, len(x_star))), np.nan), b_inverse,
    )  # fmt: skip
    log_evidence, gradient = np.full(1, np.nan), np.full(2, np.nan)
    mean_db, sd_db = np.full_like(x_star, np.nan), np.full_like(x_star, np.nan)
    residual_db = data.level_db_hl - data.mean_at(data.x)
    trials = Trials(data.x, residual_db, np.where(data.heard, 1.0, -1.0), data.noise_db)
    covariance = Covariance(data.length, data.sd_db)
    low, high = reference.warp([125.0, 8000.0], data.scale)
    interval = Interval(0.5 * (low + high), 0.5 * (high - low))
    rank = 0
    if dense:
        covariance_of(data.x, covariance, k)
    else:
        rank = prepare(data.x, covariance, interval, state)
    status = find_mode(rank, trials, state, log_evidence)
    evidence_gradient(rank, data.x, covariance, interval, state, gradient)
    predict(n, rank, trials, x_star, covariance, interval, state, mean_db, sd_db)
    mean_db_hl = mean_db + data.mean_at(x_star)
    return State(status, rank, state.f_db, float(log_evidence[0]), gradient, mean_db_hl, sd_db)


class Rounding(NamedTuple):
    """How far two right answers may lie apart, beside a relative part.

    With contradictory answers far out the terms of a sum are up to 1e15 times the sum; what they
    leave of it is then not known any better, by the reference neither.
    """

    mode_db: FloatArray
    log_evidence: float
    gradient: FloatArray
    mean_db_hl: FloatArray


def rounding_of(data: DataSet, posterior: Posterior, x_star: FloatArray) -> Rounding:
    """Sizes of the terms that the results are summed from, times the rounding of one."""
    a = np.abs(posterior.weights_db)
    K = reference.kernel(data.x, data.x, data.length, data.sd_db)
    d = np.subtract.outer(data.x, data.x) / data.length
    k_star = reference.kernel(data.x, x_star, data.length, data.sd_db)
    evidence = float(a @ K @ a) + abs(posterior.log_evidence) + len(a)
    gradient = np.array([a @ (K * d**2) @ a, 2.0 * a @ K @ a]) + 1e-13
    return Rounding(
        ROUNDING * (K @ a), ROUNDING * evidence, ROUNDING * gradient, ROUNDING * (k_star.T @ a)
    )
