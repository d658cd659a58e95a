"""Methods that measure a few frequencies, each by itself: what they have in common, and QUEST.

QUEST is one at each frequency: a Weibull function whose position is found by Bayes' rule.
A. B. Watson and D. G. Pelli, "QUEST: A Bayesian adaptive psychometric method", Perception &
Psychophysics 33 (1983) 113-120.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

import numpy as np

from firmware_py.inference.laplace.model import mean_line
from firmware_py.inference.scales import scale_named
from host_tools.research.methods.interface import Array, Stimulus, Task, interpolate

# The frequencies of a pure-tone audiogram (ISO 8253-1, ASHA 2005); 750 and 1500 Hz are measured
# only where the thresholds of the octaves beside them are far apart.
CONVENTIONAL_FREQUENCIES_HZ: Final = (125, 250, 500, 1000, 2000, 3000, 4000, 6000, 8000)
FIRST_FREQUENCY_HZ: Final = 1000.0  # easy to hear, and the most repeatable

# Of the normal prior around `prior_mean_db_hl`. The ten standard audiograms scatter about their
# mean line with an SD of 28 dB; Watson & Pelli advise to take it too large rather than too small.
PRIOR_SD_DB: Final = 30.0
THRESHOLD_MARGIN_DB: Final = 20.0  # of possible thresholds, beyond the levels that can be asked


def frequencies_to_measure(task: Task) -> tuple[float, ...]:
    """Return the conventional frequencies of a task's audiogram, in clinical order.

    The others (375, 750, 1500 Hz ...) are interpolated; if there are no conventional ones, all are
    measured. The order: 1 kHz (or the next above it, or else the highest) and upwards, then from
    there downwards.
    """
    wanted = task.audiogram_frequencies_hz
    chosen = [f for f in wanted if f in CONVENTIONAL_FREQUENCIES_HZ] or wanted
    rising = [float(f) for f in chosen]
    first = min(FIRST_FREQUENCY_HZ, rising[-1])
    return tuple([f for f in rising if f >= first] + [f for f in rising[::-1] if f < first])


def prior_mean_db_hl(frequency_hz: float) -> float:
    """Return the threshold expected before the first tone, dB HL.

    The regression line through the mean of the ten standard audiograms that the Gaussian process
    starts from as well (arXiv 1511.08670, section 6): no method is told more than another.
    """
    intercept_db_hl, slope_db = mean_line("bark")
    return intercept_db_hl + slope_db * scale_named("bark").warp(frequency_hz)


def threshold_grid_db_hl(task: Task, step_db: float) -> Array:
    """Return (n,) rising thresholds, to `THRESHOLD_MARGIN_DB` beyond both limits of level."""
    low, high = task.level_limits_db_hl
    count = int(np.ceil((high - low + 2.0 * THRESHOLD_MARGIN_DB) / step_db))
    grid: Array = low - THRESHOLD_MARGIN_DB + step_db * np.arange(count + 1, dtype=np.float64)
    return grid


def normal_prior(grid_db_hl: Array, mean_db_hl: float) -> Array:
    """Return the probabilities of evenly spaced points, normally distributed by `PRIOR_SD_DB`."""
    # Relative to the point nearest to the mean, so that not all of them underflow.
    squares = ((grid_db_hl - mean_db_hl) / PRIOR_SD_DB) ** 2
    weight = np.exp(-0.5 * (squares - squares.min()))
    probability: Array = weight / weight.sum()
    return probability


class PerFrequency(ABC):
    """A method with a posterior of its own at each of a few frequencies.

    Possible thresholds are `step_db` apart; `others` are the prior probabilities of every other
    parameter.
    """

    def __init__(self, task: Task, step_db: float, *others: tuple[float, ...]) -> None:
        self.task = task
        self.frequencies_hz = frequencies_to_measure(task)
        grid_db_hl = self._threshold_db_hl = self._grid_db_hl = threshold_grid_db_hl(task, step_db)
        prior = np.array(
            [normal_prior(grid_db_hl, prior_mean_db_hl(f)) for f in self.frequencies_hz]
        )
        for other in others:
            prior = (prior[:, :, None] * np.array(other)).reshape(len(prior), -1)
            self._threshold_db_hl = np.repeat(self._threshold_db_hl, len(other))
        self._weights = prior

    @abstractmethod
    def _probability_heard(self, level_db_hl: float) -> Array:
        """Return the probability of an answer under each set of parameters."""

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Take the answer to one tone into account, as in `Method`; the level may be any."""
        frequency_hz, level_db_hl, heard = self.task.check(frequency_hz, level_db_hl, heard)
        index = self._index(frequency_hz)
        p_heard = self._probability_heard(level_db_hl)
        weights = self._weights[index] * (p_heard if heard else 1.0 - p_heard)
        self._weights[index] = weights / weights.sum()

    def _moments(self, values: Array) -> tuple[Array, Array]:
        """Return mean and SD, at each of `frequencies_hz`, of what has these values."""
        mean = (self._weights * values).sum(axis=1)
        variance = (self._weights * (values - mean[:, None]) ** 2).sum(axis=1)
        return mean, np.sqrt(variance)

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        """Return posterior mean and SD, as in `Method`; before the first answer the prior's.

        Between the measured frequencies both are interpolated linearly in log2 frequency, and held
        constant outside. The SD there is that of the line drawn between two points whose errors
        have the same sign; it does not cover that the true curve is no line.
        """
        wanted_hz = self.task.checked_frequencies(frequencies_hz)
        rising = np.argsort(self.frequencies_hz)
        known_hz = np.array(self.frequencies_hz)[rising]
        mean_db_hl, sd_db = self._moments(self._threshold_db_hl)
        return (
            interpolate(known_hz, mean_db_hl[rising], wanted_hz),
            interpolate(known_hz, sd_db[rising], wanted_hz),
        )

    def _index(self, frequency_hz: float) -> int:
        try:
            return self.frequencies_hz.index(frequency_hz)
        except ValueError:
            allowed = ", ".join(f"{f:g}" for f in sorted(self.frequencies_hz))
            raise ValueError(
                f"frequency_hz is {frequency_hz:g}; allowed are {allowed} Hz, which are measured"
            ) from None


DB_PER_LOG10: Final = 20.0  # the method's unit is log10 of the amplitude
GRID_LOG10: Final = 0.01  # 0.2 dB
BETA: Final = 3.5  # slope in 1/log10 unit
DELTA: Final = 0.01  # share of tones, of any level, that are answered blindly
GAMMA: Final = 0.01  # share of tones far below the threshold that are said to be heard
THRESHOLD_PROBABILITY: Final = 0.5  # of an answer at the threshold, as everywhere in this product
# z0 of the Weibull function.
Z_AT_THRESHOLD: Final = -math.log(
    (DELTA * GAMMA + 1.0 - DELTA - THRESHOLD_PROBABILITY) / (1.0 - DELTA) / (1.0 - GAMMA)
)


class Quest(PerFrequency):
    """Watson & Pelli's QUEST at each of a few frequencies.

    The probability of an answer to a tone x log10 units (of 20 dB) above the threshold is

        P(x) = δγ + (1 - δ) (1 - (1 - γ) exp(-z₀ 10^(βx)))

    with z₀ such that P(0) = 1/2. With β = 3.5 it is as steep as a probit with an SD of 3.2 dB; the
    method is not told the listener's own noise and rates.

    The next tone is placed at the mean of the posterior (King-Smith et al., Vision Research 34
    (1994) 885-912: the smallest error). It is of the frequency with the largest posterior SD, in
    which a threshold beyond the limits of level counts as the limit: no tone can tell how far
    beyond it lies, and a frequency without any answer at the limit would be asked for ever.

    Of the task only limits, ranges and frequencies are used.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task, DB_PER_LOG10 * GRID_LOG10)

    def next_stimulus(self) -> Stimulus:
        """Return the tone to play next, as in `Method`; this one does not end by itself."""
        low, high = self.task.level_limits_db_hl
        within_limits_db_hl = np.clip(self._grid_db_hl, low, high)
        index = int(np.argmax(self._moments(within_limits_db_hl)[1]))
        mean_db_hl = float((self._weights[index] * self._grid_db_hl).sum())
        return Stimulus(self.frequencies_hz[index], min(max(mean_db_hl, low), high))

    def _probability_heard(self, level_db_hl: float) -> Array:
        return probability_heard(level_db_hl - self._grid_db_hl)


def probability_heard(level_above_threshold_db: float | Array) -> Array:
    """Return the Weibull function of the method at levels relative to the threshold."""
    x = np.asarray(level_above_threshold_db) / DB_PER_LOG10
    weibull = 1.0 - (1.0 - GAMMA) * np.exp(-Z_AT_THRESHOLD * 10.0 ** (BETA * x))
    probability: Array = DELTA * GAMMA + (1.0 - DELTA) * weibull
    return probability
