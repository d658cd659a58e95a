"""The paper's model: one Gaussian process, Laplace's approximation, hyperparameters refitted."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from firmware_py.inference.curves import Curves
from firmware_py.inference.elementary import exp, log, normal_cdf
from firmware_py.inference.kernel import CONVERGED, Array
from firmware_py.inference.laplace import hyperparameters as search
from firmware_py.inference.laplace.arrays import (
    LOG_EVIDENCE,
    RANK,
    WEIGHT,
    Covariance,
    Curve,
    Interval,
    Workspace,
)
from firmware_py.inference.laplace.posterior import predict
from firmware_py.inference.laplace.selection import bits_per_second, select
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from firmware_py.inference.linear_algebra import cholesky, solve_lower
from firmware_py.inference.model import Choice, Hyperparameters
from firmware_py.inference.profiles import LaplaceProfile, units_per_bark
from firmware_py.inference.psychometric import HEARD
from firmware_py.inference.rate import Seconds
from firmware_py.inference.scales import Scale, scale_named


class MeanLine(NamedTuple):
    """m(x) = intercept + slope x: in dB HL, and dB per unit of the scale."""

    intercept_db_hl: float
    slope: float

    def at(self, x: Any) -> Any:
        """Return m(x) of a number or an array."""
        return self.intercept_db_hl + self.slope * x


@cache
def mean_line(scale_name: str) -> MeanLine:
    """Return the prior mean on a scale (paper, section 6).

    Ordinary least squares on the mean of the ten standard audiograms at their ten frequencies.
    `fsum` rounds once, so the line has the same bits everywhere.
    """
    warp = scale_named(scale_name).warp
    x = [warp(float(frequency_hz)) for frequency_hz in FREQUENCIES_HZ]
    audiograms = STANDARD_AUDIOGRAMS_DB_HL.values()
    y = [math.fsum(column) / len(column) for column in zip(*audiograms, strict=True)]
    x_mean = math.fsum(x) / len(x)
    y_mean = math.fsum(y) / len(y)
    covariance = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    slope = covariance / math.fsum((a - x_mean) * (a - x_mean) for a in x)
    return MeanLine(y_mean - slope * x_mean, slope)


class LaplaceModel:
    """Laplace's approximation to the posterior of one Gaussian process (see `model.Model`)."""

    def __init__(
        self,
        profile: LaplaceProfile,
        max_trials: int,
        response_noise_db: float,
        scale: Scale,
        candidates_hz: list[float],
    ) -> None:
        self._scale = scale
        self._noise_db = response_noise_db
        self.candidates_hz: Array = np.array(candidates_hz)
        self.converged = True
        self._line = mean_line(scale.name)
        x = self._warp(self.candidates_hz)
        self.curve = Curve(x, self._line.at(x), np.zeros_like(x), np.zeros_like(x))
        self._box = _search_box(profile, units_per_bark(scale.name))
        self.workspace = Workspace(max_trials, len(candidates_hz))
        low, high = float(x[0]), float(x[-1])
        self._interval = Interval(0.5 * (low + high), 0.5 * (high - low))
        self.reset()

    @property
    def log_evidence(self) -> float:
        return float(self.workspace.search[LOG_EVIDENCE])

    @property
    def hyperparameters(self) -> Hyperparameters:
        theta = self.workspace.search
        return Hyperparameters(exp(theta[0]), exp(theta[1]), self._noise_db)

    @property
    def nbytes(self) -> int:
        return self.workspace.nbytes + sum(array.nbytes for array in self.curve)

    def attention(self, n: int) -> Array:
        """Return ones: this model has no lapses of attention."""
        return np.ones(n)

    def answer_probabilities(self, n: int) -> Array:
        """Return NaN for each answer: sites of Laplace's approximation have no cavities."""
        return np.full(n, np.nan)

    def log_ratio_otherwise(self, _n: int, _softer_db: Array, _pressed_unheard: Array) -> float:
        """Return 0: this model knows no listener but one."""
        return 0.0

    def threshold_otherwise(
        self, _n: int, _softer_db: Array, _pressed_unheard: Array, frequencies_hz: Array
    ) -> Array:
        """Return what is predicted: see `log_ratio_otherwise`."""
        return self.predict(frequencies_hz)[0]

    def gain_by_shifts(self, among: Array, _sd_db: float) -> tuple[Array, Array]:
        """Return zeros: see `log_ratio_otherwise`."""
        return np.zeros(among.shape), np.zeros(among.shape)

    def listener_shares(self) -> Array:
        """Return 1: there is one kind of listener."""
        return np.ones(1)

    def expect_listener(self, shares: Array) -> None:
        """Change nothing: there is one kind of listener."""

    @property
    def knots_hz(self) -> tuple[float, ...]:
        """Return none: the prior is one of curves."""
        return ()

    def expect_threshold(self, _curves: Curves) -> None:
        """Change nothing: nobody has a curve for no knots."""

    def reset(self) -> None:
        self._n = 0
        self.converged = True
        w = self.workspace
        w.state.a[:] = 0.0
        w.search[:2] = self._box[search.START]
        w.search[LOG_EVIDENCE] = 0.0
        w.search[RANK] = 0.0
        search.reset_curvature(w.search)
        self._predict_candidates()

    def observe(self, n: int, frequency_hz: float, level_db_hl: float, answer: int) -> int:
        """Take in answer number n, counted from 0, and refit; return a status."""
        w, trials = self.workspace, self.workspace.trials
        trials.x[n] = self._scale.warp(frequency_hz)
        trials.residual_db[n] = level_db_hl - self._line.at(trials.x[n])
        trials.label[n] = 1.0 if answer == HEARD else -1.0
        w.state.a[n] = 0.0
        self._n = n + 1
        trials.noise_db[n] = self._noise_db
        status = search.fit(self._n, trials, self._interval, self._box, w.state, w.steps, w.search)
        if status == CONVERGED:
            self._predict_candidates()
        return status

    def observe_silence(self, answered: bool) -> None:
        """Do nothing: this model has no false alarms."""

    def predict(self, frequencies_hz: Array) -> tuple[Array, Array]:
        mean_db_hl, sd_db = np.empty_like(frequencies_hz), np.empty_like(frequencies_hz)
        step = len(self.candidates_hz)
        for start in range(0, len(frequencies_hz), step):
            part = slice(start, start + step)
            x = self._warp(frequencies_hz[part])
            self._predict(x, mean_db_hl[part], sd_db[part])
            mean_db_hl[part] += self._line.at(x)
        return mean_db_hl, sd_db

    def band(self, frequencies_hz: Array, probability: float) -> tuple[Array, Array]:
        from statistics import NormalDist  # 1 MB that the device does not need

        mean_db_hl, sd_db = self.predict(frequencies_hz)
        half_width_db = NormalDist().inv_cdf(0.5 + 0.5 * probability) * sd_db
        return mean_db_hl - half_width_db, mean_db_hl + half_width_db

    def joint(self, frequencies_hz: Array) -> Curves:
        """Return weight, mean (dB HL) and covariance (dB^2) of the one Gaussian (algorithm 3.2)."""
        w, n = self.workspace, self._n
        x, x_trials = self._warp(frequencies_hz), w.trials.x[:n]
        root = np.sqrt(w.state.vectors[WEIGHT, :n])
        b = np.eye(n) + root[:, np.newaxis] * self._kernel(x_trials, x_trials) * root
        v = root[:, np.newaxis] * self._kernel(x_trials, x)
        cholesky(n, b)
        solve_lower(n, len(x), b, v)
        covariance_db2 = self._kernel(x, x) - np.einsum("ij,ik->jk", v, v)
        mean_db_hl, _ = self.predict(frequencies_hz)
        return Curves(np.ones(1), mean_db_hl[np.newaxis], covariance_db2[np.newaxis])

    def probability_heard(self, frequency_hz: float, level_db_hl: float) -> float:
        """Return the probability that this tone would be heard (paper, equation 9)."""
        mean_db_hl, sd_db = self.predict(np.array([frequency_hz]))
        spread_db = math.sqrt(self._noise_db**2 + float(sd_db[0]) ** 2)
        return float(normal_cdf((level_db_hl - float(mean_db_hl[0])) / spread_db))

    def rate(self, levels_db_hl: Array, seconds: Seconds) -> Array:
        rate = np.empty((len(self.candidates_hz), len(levels_db_hl)))
        for j, i in np.ndindex(rate.shape):
            level_db_hl = float(levels_db_hl[i])
            mean_db_hl, sd_db = float(self.curve.mean_db_hl[j]), float(self.curve.sd_db[j])
            rate[j, i] = bits_per_second(mean_db_hl, sd_db, level_db_hl, self._noise_db, seconds)
        return rate

    def choose(
        self, weight: Array, level_min_db_hl: Array, level_max_db_hl: Array, seconds: Seconds,
        strides_db: Sequence[float],
    ) -> Choice:  # fmt: skip
        """Return the best tone; this model's belief follows its answers, and no level is moved."""
        choice = self.workspace.choice
        select(
            self.curve.mean_db_hl, self.curve.sd_db, self._noise_db, weight, level_min_db_hl,
            level_max_db_hl, seconds, choice,
        )  # fmt: skip
        return Choice(int(choice[0]), *choice[1:].tolist())

    def _predict_candidates(self) -> None:
        x, prior_mean_db_hl, mean_db_hl, sd_db = self.curve
        self._predict(x, mean_db_hl, sd_db)
        mean_db_hl += prior_mean_db_hl

    def _predict(self, x: Array, f_mean_db: Array, f_sd_db: Array) -> None:
        w = self.workspace
        predict(
            self._n, int(w.search[RANK]), w.trials, x, self._covariance(), self._interval, w.state,
            f_mean_db, f_sd_db,
        )  # fmt: skip

    def _covariance(self) -> Covariance:
        theta = self.workspace.search
        return Covariance(exp(theta[0]), exp(theta[1]))

    def _kernel(self, x: Array, other_x: Array) -> Array:
        length, sd_db = self._covariance()
        covariance: Array = sd_db**2 * np.exp(-0.5 * np.subtract.outer(x, other_x) ** 2 / length**2)
        return covariance

    def _warp(self, frequencies_hz: Array) -> Array:
        return np.array([self._scale.warp(float(f)) for f in frequencies_hz])


def _search_box(profile: LaplaceProfile, units: float) -> Array:
    """Return bounds and start of (log length, log SD) as the kernels take them."""
    box = np.empty((3, 2))
    box[search.LOW] = log(profile.length_limits_bark[0] * units), log(profile.sd_limits_db[0])
    box[search.HIGH] = log(profile.length_limits_bark[1] * units), log(profile.sd_limits_db[1])
    box[search.START] = log(profile.length_bark * units), log(profile.sd_db)
    return box
