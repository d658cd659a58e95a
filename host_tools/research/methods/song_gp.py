"""One Gaussian-process classifier over frequency and level, asked where it is least sure.

Sources: X. D. Song, B. M. Wallace, J. R. Gardner, N. M. Ledbetter, K. Q. Weinberger, D. L. Barbour,
"Fast, continuous audiogram estimation using machine learning", Ear Hear. 36 (2015) e326-e335;
D. L. Barbour et al., "Online machine learning audiometry", Ear Hear. 40 (2019) 918-926;
J. Schlittenlacher, R. E. Turner, B. C. J. Moore, "Audiogram estimation using Bayesian active
learning", J. Acoust. Soc. Am. 144 (2018) 421-430.

A tone at x = log2 frequency and level h (in units of 10 dB from the middle of the limits) is heard
with the chance Phi(f(x, h)), where

    f(x, h) = c + w h + u(x),    w ~ N(0, s1^2),  u ~ GP(0, s2^2 exp(-(x - x')^2 / (2 l^2))):

a kernel linear in level plus a squared exponential in log2 frequency. The posterior is that of
expectation propagation (Rasmussen & Williams 2006, algorithms 3.5 and 3.6, equation 5.27 for the
gradient of the evidence), c, s1, s2 and l have maximum evidence after every answer (Barbour), or
all but c are fixed (Schlittenlacher). After a few quasi-random tones the next one is that of the
largest mutual information between the answer and f (BALD, Houlsby et al. 2011, arXiv 1112.5745).
The threshold is the level at which the mean of f crosses 0; its SD is that of f there, divided by
the mean slope.

**Slopes.** Nothing above forbids a slope w of 0 or below, for which there is no threshold, and with
few answers it is what an unguarded classifier finds. Here w > 0 is one more observation,
Phi(w / 0.0033 per dB), as Riihimäki & Vehtari (AISTATS 2010) make a process monotone; it changes
little once answers tell the slope. Where a listener's answers deny it all the same, the slope of a
noise of 30 dB stands in for a smaller one, and the SD says that nothing is known. The threshold is
kept within the level limits, as the authors look for it on a grid of tones.

What the sources leave open here, or were not at hand for: the unit of level in which
Schlittenlacher's linear scale is 3 (10 dB makes it a slope that people have), the first tones
(Barbour 2019 shows five; a Halton sequence here), the bounds of the search for hyperparameters, the
grid of tones, and Laplace or expectation propagation (the latter: it is the better at few answers).
"""

import math
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Final

import numpy as np

from firmware_py.inference.elementary import exp
from firmware_py.inference.kernel import CONVERGED, Matrix, Vector, entry
from firmware_py.inference.laplace.selection import HALF_PI_LN2, binary_entropy_of_normal
from host_tools.research.methods.expectation_propagation import (
    INVERSE,
    NU,
    OFFSET,
    SWEEPS_MAX,
    TAU,
    propagate,
)
from host_tools.research.methods.interface import Array, Stimulus, Task

LEVEL_UNIT_DB: Final = 10.0
SLOPE_SHARPNESS: Final = 30.0  # P(slope counts as positive) = Phi(30 w), w per 10 dB
SLOPE_MIN: Final = LEVEL_UNIT_DB / 30.0  # of a threshold: nobody's noise is more than 30 dB
INITIAL_TONES: Final = 5  # of a Halton sequence over log2 frequency and level
CANDIDATES_PER_OCTAVE: Final = 6
LEVEL_STEP_DB: Final = 1.0

SEARCH_STEPS_MAX: Final = 40
GAIN_TOLERANCE_NATS: Final = 1e-4  # expected of another step
ARMIJO: Final = 1e-4
START_CURVATURE: Final = (10.0, 0.5, 0.5, 0.2)  # inverse, of c and the logarithms
STEP_MAX: Final = (10.0, 1.0, 1.0, 1.0)
HALVINGS_MAX: Final = 20

MEAN: Final = 0  # of the hyperparameters: c, and the logarithms of s1, s2 and l


class FitError(ArithmeticError):
    """The posterior could not be computed."""


@dataclass(frozen=True)
class Variant:
    """What distinguishes the two laboratories' ways."""

    slope: float  # s1, per 10 dB
    sd: float  # s2
    length_octaves: float  # l
    learned: bool  # c, s1, s2 and l by maximum evidence, starting from these; otherwise only c
    lapse_rate: float = 0.0
    false_alarm_rate: float = 0.0


BARBOUR: Final = Variant(slope=3.0, sd=3.0, length_octaves=1.0, learned=True)
SCHLITTENLACHER: Final = Variant(
    slope=3.0, sd=3.0, length_octaves=0.5, learned=False, lapse_rate=0.01, false_alarm_rate=0.01
)
# (lowest, highest) of c, s1 per 10 dB, s2, and l in octaves: flat within. s1 from the slope of a
# noise of 30 dB to that of 1 dB; c and s2 from nothing to most of the levels at such slopes.
BOUNDS: Final = ((-60.0, 60.0), (0.33, 10.0), (0.3, 40.0), (0.25, 6.0))


@entry
def _bald(
    frequencies: int, levels: int, intercept: Vector, covariance: Matrix, h: Vector, bits: Matrix
) -> int:
    """Write the mutual information between the answer and f at every tone, in bits.

    Parameters
    ----------
    intercept : (frequencies + 1,) mean of c + u(x), and in its last entry that of w.
    covariance : (frequencies, 3) variance of u(x), its covariance with w, variance of w.
    h : (levels,) in units of 10 dB.
    bits : (frequencies, levels) out.
    """
    slope = intercept[frequencies]
    for i in range(frequencies):
        for j in range(levels):
            mean = intercept[i] + slope * h[j]
            variance = covariance[i, 0] + h[j] * (2.0 * covariance[i, 1] + h[j] * covariance[i, 2])
            variance = max(variance, 0.0)
            width2 = HALF_PI_LN2 + variance
            expected = math.sqrt(HALF_PI_LN2 / width2) * exp(-0.5 * mean * mean / width2)
            total = binary_entropy_of_normal(mean / math.sqrt(1.0 + variance))
            bits[i, j] = max(total - expected, 0.0)
    return CONVERGED


@dataclass(frozen=True, eq=False)
class Fit:
    """The posterior under one set of hyperparameters."""

    hyperparameters: Array  # c, log s1, log s2, log l
    log_evidence: float  # nats; minus infinity where expectation propagation did not converge
    gradient: Array  # of it by the hyperparameters
    sites: Array  # as in `propagate`
    # `b`, `inverse`: (K + S^-1)^-1 times the sites' means, and itself
    b: Array
    inverse: Array


class Answers:
    """The answers so far as sites; the first one is the observation that the slope is positive."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self.octaves = np.zeros(1)
        self.h = np.array([SLOPE_SHARPNESS])
        self.is_tone = np.zeros(1)
        self._answers = np.array([[1.0], [0.0], [0.0], [1.0]])

    def __len__(self) -> int:
        """Return the number of sites, one more than that of answers."""
        return len(self.h)

    def add(self, octaves: float, h: float, heard: bool) -> None:
        false_alarm_rate, lapse_rate = self._variant.false_alarm_rate, self._variant.lapse_rate
        honest = 1.0 - false_alarm_rate - lapse_rate
        answer = [1.0, 0.0, false_alarm_rate, honest] if heard else [-1.0, 0.0, lapse_rate, honest]
        self.octaves = np.append(self.octaves, octaves)
        self.h = np.append(self.h, h)
        self.is_tone = np.append(self.is_tone, 1.0)
        self._answers = np.column_stack([self._answers, answer])

    def smooth(self, sd: float, length: float, octaves: Array | None = None) -> Array:
        """Return the covariance of u at places (default: the answers' own) with u at the answers.

        Returns
        -------
        (places, n)
        """
        places = self.octaves if octaves is None else octaves
        here = self.is_tone if octaves is None else np.ones(len(places))
        distance = (places[:, None] - self.octaves) / length
        covariance: Array = sd * sd * np.exp(-0.5 * distance**2) * here[:, None] * self.is_tone
        return covariance

    def fit(self, hyperparameters: Array, sites: Array) -> Fit:
        """Run expectation propagation from these sites, and differentiate the evidence."""
        n = len(self)
        slope, sd, length = np.exp(hyperparameters[1:])
        linear, smooth = slope * slope * np.outer(self.h, self.h), self.smooth(sd, length)
        answers = self._answers.copy()
        answers[OFFSET] = hyperparameters[MEAN] * self.is_tone
        sites, mu, result = sites.copy(), np.zeros(n), np.full(3, -math.inf)
        matrices = np.zeros((4, n, n))
        status = propagate(linear + smooth, answers, sites, matrices, mu, result)
        b = sites[NU] - sites[TAU] * mu
        if status != CONVERGED:  # there is no evidence to climb
            level = np.zeros(len(hyperparameters))
            return Fit(hyperparameters, -math.inf, level, sites, b, matrices[INVERSE])
        # Rasmussen & Williams, equation 5.27: the gradient by K, and then by what K is made of.
        by_k = 0.5 * (np.outer(b, b) - matrices[INVERSE])
        distance = (self.octaves[:, None] - self.octaves) / length
        by_logarithm = (2.0 * linear, 2.0 * smooth, smooth * distance**2)
        gradient = np.array([b @ self.is_tone, *[np.sum(by_k * dk) for dk in by_logarithm]])
        return Fit(hyperparameters, float(result[0]), gradient, sites, b, matrices[INVERSE])


def maximise_evidence(answers: Answers, start: Fit, free: Array) -> Fit:
    """Climb to a maximum of the evidence within `BOUNDS`, from a fit of these answers.

    Projected BFGS with backtracking; `free` (4,) is 1 for what is searched and 0 for what stays.
    Ending by the bound on steps is no error: what is returned is the best fit seen.
    """
    low = np.array([b if i == MEAN else math.log(b) for i, (b, _) in enumerate(BOUNDS)])
    high = np.array([b if i == MEAN else math.log(b) for i, (_, b) in enumerate(BOUNDS)])
    fit, curvature = start, np.diag(START_CURVATURE)
    for _ in range(SEARCH_STEPS_MAX):
        at = fit.hyperparameters
        blocked = ((at <= low) & (fit.gradient < 0.0)) | ((at >= high) & (fit.gradient > 0.0))
        mask = free * ~blocked
        direction = mask * (curvature @ (mask * fit.gradient))
        gain = float(direction @ fit.gradient)
        if gain < GAIN_TOLERANCE_NATS:
            break
        direction *= min(1.0, 1.0 / np.max(np.abs(direction) / STEP_MAX))
        better = _backtrack(answers, fit, direction, low, high)
        if better is None:
            break
        step = better.hyperparameters - at
        curvature = _update(curvature, step, fit.gradient - better.gradient)
        fit = better
    return fit


def _backtrack(answers: Answers, fit: Fit, direction: Array, low: Array, high: Array) -> Fit | None:
    # The first of shorter and shorter steps that gains what it should; None: there is none.
    fraction = 1.0
    for _ in range(HALVINGS_MAX):
        trial = np.clip(fit.hyperparameters + fraction * direction, low, high)
        candidate = answers.fit(trial, fit.sites)
        gain = float(fit.gradient @ (trial - fit.hyperparameters))
        if candidate.log_evidence >= fit.log_evidence + ARMIJO * gain:
            return candidate
        fraction *= 0.5
    return None


def _update(inverse_curvature: Array, step: Array, change: Array) -> Array:
    # BFGS on minus the evidence; without curvature along the step it stays as it is.
    product = float(step @ change)
    if product <= 1e-10:
        return inverse_curvature
    left = np.eye(len(step)) - np.outer(step, change) / product
    updated: Array = left @ inverse_curvature @ left.T + np.outer(step, step) / product
    return updated


class SongGp:
    """The classifier of Song, Barbour and colleagues on one ear (see the module).

    Noise and rates of the task are not used: the slope is learned, and lapses are the variant's.
    """

    def __init__(self, task: Task, variant: Variant = BARBOUR) -> None:
        self._task = task
        self._variant = variant
        low_hz, high_hz = task.frequency_range_hz
        low_db_hl, high_db_hl = task.level_limits_db_hl
        self._middle_db_hl = 0.5 * (low_db_hl + high_db_hl)
        octaves = math.log2(high_hz / low_hz)
        self._candidates_hz = low_hz * 2.0 ** np.linspace(
            0.0, octaves, 1 + math.ceil(CANDIDATES_PER_OCTAVE * octaves)
        )
        self._candidates_hz = np.clip(self._candidates_hz, low_hz, high_hz)
        steps = max(1, math.ceil((high_db_hl - low_db_hl) / LEVEL_STEP_DB))
        self._levels_db_hl = np.linspace(low_db_hl, high_db_hl, 1 + steps)
        self._start = np.array([0.0, *np.log([variant.slope, variant.sd, variant.length_octaves])])
        self._free = np.array([1.0, *[float(variant.learned)] * 3])
        self._answers = Answers(variant)
        self._fit = self._answers.fit(self._start, np.zeros((2, 1)))

    def next_stimulus(self) -> Stimulus:
        count = len(self._answers) - 1
        if count < INITIAL_TONES:
            return self._halton(count + 1)
        intercept, covariance = self._predict(self._candidates_hz)
        h = (self._levels_db_hl - self._middle_db_hl) / LEVEL_UNIT_DB
        bits = np.empty((len(self._candidates_hz), len(h)))
        _bald(len(self._candidates_hz), len(h), intercept, covariance, h, bits)
        i, j = np.unravel_index(int(np.argmax(bits)), bits.shape)
        return Stimulus(float(self._candidates_hz[i]), float(self._levels_db_hl[j]))

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Take one answer, to any tone, and fit anew; after a `FitError` nothing has changed."""
        frequency_hz, level_db_hl, heard = self._task.check(frequency_hz, level_db_hl, heard)
        h = (level_db_hl - self._middle_db_hl) / LEVEL_UNIT_DB
        answers = copy(self._answers)
        answers.add(math.log2(frequency_hz), h, heard)
        sites = np.zeros((2, len(answers)))
        cold = answers.fit(self._start, sites)
        sites[:, :-1] = self._fit.sites
        warm = answers.fit(self._fit.hyperparameters, sites)
        fits = [maximise_evidence(answers, fit, self._free) for fit in (warm, cold)]
        best = max(fits, key=lambda fit: fit.log_evidence)
        if best.log_evidence == -math.inf:
            raise FitError(
                f"expectation propagation did not converge in {SWEEPS_MAX} sweeps over "
                f"{len(answers) - 1} answers"
            )
        self._answers = answers
        self._fit = best

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        """Return where f crosses 0, within the level limits, and its SD.

        The SD is at most half the range of levels, and that where no slope is known.
        """
        wanted_hz = self._task.checked_frequencies(frequencies_hz)
        intercept, covariance = self._predict(wanted_hz)
        slope = float(intercept[-1])
        limits = (np.array(self._task.level_limits_db_hl) - self._middle_db_hl) / LEVEL_UNIT_DB
        h = np.clip(-intercept[:-1] / max(slope, SLOPE_MIN), *limits)
        variance = covariance[:, 0] + h * (2.0 * covariance[:, 1] + h * covariance[:, 2])
        sd = np.sqrt(np.maximum(variance, 0.0))
        sd_h = np.minimum(sd / slope, limits[1]) if slope > 0.0 else np.full(len(h), limits[1])
        return self._middle_db_hl + LEVEL_UNIT_DB * h, LEVEL_UNIT_DB * sd_h

    def _predict(self, frequencies_hz: Array) -> tuple[Array, Array]:
        # What `_bald` takes: means of c + u(x) and of w, and (places, 3) their covariances.
        fit, answers = self._fit, self._answers
        slope, sd, length = np.exp(fit.hyperparameters[1:])
        with_u = answers.smooth(sd, length, np.log2(frequencies_hz))
        with_w = slope * slope * answers.h
        intercept = fit.hyperparameters[MEAN] + with_u @ fit.b
        reduced = with_u @ fit.inverse
        variance_u = sd * sd - np.sum(reduced * with_u, axis=1)
        variance_w = slope * slope - with_w @ fit.inverse @ with_w
        covariance = np.column_stack(
            [variance_u, -reduced @ with_w, np.full(len(with_u), variance_w)]
        )
        return np.append(intercept, with_w @ fit.b), np.ascontiguousarray(covariance)

    def _halton(self, index: int) -> Stimulus:
        low_hz, high_hz = self._task.frequency_range_hz
        low_db_hl, high_db_hl = self._task.level_limits_db_hl
        frequency_hz = low_hz * (high_hz / low_hz) ** van_der_corput(index, 2)
        level_db_hl = low_db_hl + (high_db_hl - low_db_hl) * van_der_corput(index, 3)
        return Stimulus(frequency_hz, level_db_hl)


def van_der_corput(index: int, base: int) -> float:
    """Return the digits of `index` in this base, mirrored at the point: a number in (0, 1)."""
    value, digit = 0.0, 1.0 / base
    while index:
        index, remainder = divmod(index, base)
        value += remainder * digit
        digit /= base
    return value
