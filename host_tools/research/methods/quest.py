"""QUEST, one at each frequency: a Weibull function whose position is found by Bayes' rule.

A. B. Watson and D. G. Pelli, "QUEST: A Bayesian adaptive psychometric method", Perception &
Psychophysics 33 (1983) 113-120.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from host_tools.research.methods.interface import Array, Stimulus, Task, checked_number
from host_tools.research.methods.per_frequency import (
    PRIOR_SD_DB,
    PerFrequency,
    normal_prior,
    prior_mean_db_hl,
    threshold_grid_db_hl,
)

DB_PER_LOG10: Final = 20.0  # the method's unit is log10 of the amplitude
GRID_LOG10: Final = 0.01  # 0.2 dB
THRESHOLD_PROBABILITY: Final = 0.5  # of an answer at the threshold, as everywhere in this product
PLACEMENTS: Final = ("mean", "mode", "quantile")
ORDERS: Final = ("largest-sd", "round-robin")


class Quest(PerFrequency):
    """Watson & Pelli's QUEST at each of a few frequencies.

    The probability of an answer to a tone x log10 units (of 20 dB) above the threshold is

        P(x) = δγ + (1 - δ) (1 - (1 - γ) exp(-z₀ 10^(βx)))

    with z₀ such that P(0) = 1/2. With β = 3.5 it is as steep as a probit with
    an SD of 3.2 dB; the method is not told the listener's own noise and rates.

    Parameters
    ----------
    task : Task
        What is told to every method; only limits, ranges and frequencies are used.
    frequencies_hz : sequence of float, optional
        Frequencies to measure, if not the conventional ones of the task.
    placement : {"mean", "mode", "quantile"}
        Where in the posterior the next tone is placed: its mean (King-Smith et al., Vision Research
        34 (1994) 885-912: the smallest error), its mode (1983), or the quantile that tells most
        about a step (Pelli, Investigative Ophthalmology & Visual Science 28 suppl. (1987) 366).
    order : {"largest-sd", "round-robin"}
        Which frequency is next: that with the largest posterior SD, or one after the other. A
        threshold beyond the limits of level counts as the limit in this SD: no tone can tell how
        far beyond it lies, and a frequency without any answer at the limit would be asked for ever.
        So the error is smaller than in turn from 20 tones on, most of all in ears that do not hear
        the highest level everywhere.
    prior_sd_db : float
        SD of the normal prior, around `prior_mean_db_hl`.
    beta, delta, gamma : float
        Slope in 1/log10 unit; share of tones of any level that are answered blindly; share of
        tones far below the threshold (and of those answered blindly) that are said to be heard.

    Raises
    ------
    ValueError
        A value is not allowed; the message names it and what is.
    """

    def __init__(
        self,
        task: Task,
        *,
        frequencies_hz: Sequence[float] | None = None,
        placement: str = "mean",
        order: str = "largest-sd",
        prior_sd_db: float = PRIOR_SD_DB,
        beta: float = 3.5,
        delta: float = 0.01,
        gamma: float = 0.01,
    ) -> None:
        super().__init__(task, frequencies_hz)
        self._placement = _choice("placement", placement, PLACEMENTS)
        self._order = _choice("order", order, ORDERS)
        self.beta = checked_number("beta", beta, 0.1, 20.0)
        self.delta = checked_number("delta", delta, 1e-6, 0.4)
        self.gamma = checked_number("gamma", gamma, 1e-6, 0.4)
        highest = self._asymptotes()[1]
        not_weibull = (highest - THRESHOLD_PROBABILITY) / (1.0 - self.delta)
        self._z_at_threshold = -math.log(not_weibull / (1.0 - self.gamma))
        self._grid_db_hl = threshold_grid_db_hl(task, DB_PER_LOG10 * GRID_LOG10)
        sd_db = checked_number("prior_sd_db", prior_sd_db, 1.0, 1000.0)
        self._posterior = np.array(
            [
                normal_prior(self._grid_db_hl, prior_mean_db_hl(f), sd_db)
                for f in self.frequencies_hz
            ]
        )
        self._answers = [0] * len(self.frequencies_hz)

    @property
    def quantile_order(self) -> float:
        """Return which quantile of the posterior tells most about a threshold like a step.

        Below a step the answer is "heard" with the lower asymptote's probability a, above it with
        the upper one's, b. The channel from "above" to the answer carries most if "heard" comes
        with the probability p = 1 / (1 + 2^((H(b) - H(a)) / (b - a))), H being the entropy in
        bits, and so if the tone lies above the threshold with probability (p - a) / (b - a).
        """
        a, b = self._asymptotes()
        p_heard = 1.0 / (1.0 + 2.0 ** ((_entropy_bits(b) - _entropy_bits(a)) / (b - a)))
        return float((p_heard - a) / (b - a))

    def probability_heard(self, level_above_threshold_db: float | Array) -> Array:
        """Return the Weibull function of the method at levels relative to the threshold."""
        x = np.asarray(level_above_threshold_db) / DB_PER_LOG10
        weibull = 1.0 - (1.0 - self.gamma) * np.exp(-self._z_at_threshold * 10.0 ** (self.beta * x))
        probability: Array = self.delta * self.gamma + (1.0 - self.delta) * weibull
        return probability

    def next_stimulus(self) -> Stimulus:
        """Return the tone to play next, as in `Method`; this one does not end by itself."""
        index = self._next_index()
        low, high = self.task.level_limits_db_hl
        level_db_hl = min(max(self._placed_db_hl(self._posterior[index]), low), high)
        return Stimulus(self.frequencies_hz[index], level_db_hl)

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Take the answer to one tone into account, as in `Method`."""
        frequency_hz, level_db_hl, heard = self.task.checked_answer(
            frequency_hz, level_db_hl, heard
        )
        index = self._index(frequency_hz)
        likelihood = self.probability_heard(level_db_hl - self._grid_db_hl)
        posterior = self._posterior[index] * (likelihood if heard else 1.0 - likelihood)
        self._posterior[index] = posterior / posterior.sum()
        self._answers[index] += 1

    def posterior(self, frequency_hz: float) -> tuple[Array, Array]:
        """Return the thresholds thought possible (dB HL) and their probabilities, which sum to 1.

        Raises
        ------
        ValueError
            This frequency is not measured.
        """
        return self._grid_db_hl.copy(), self._posterior[self._index(frequency_hz)].copy()

    def _next_index(self) -> int:
        if self._order == "round-robin":
            return self._answers.index(min(self._answers))
        within_limits_db_hl = np.clip(self._grid_db_hl, *self.task.level_limits_db_hl)
        return int(np.argmax(_moments(self._posterior, within_limits_db_hl)[1]))

    def _placed_db_hl(self, posterior: Array) -> float:
        grid = self._grid_db_hl
        if self._placement == "mode":
            return float(grid[np.argmax(posterior)])
        if self._placement == "quantile":
            return float(np.interp(self.quantile_order, np.cumsum(posterior), grid))
        return float((posterior * grid).sum())

    def _moments(self) -> tuple[Array, Array]:
        return _moments(self._posterior, self._grid_db_hl)

    def _asymptotes(self) -> tuple[float, float]:
        return self.gamma, self.delta * self.gamma + 1.0 - self.delta


def _moments(probability: Array, values: Array) -> tuple[Array, Array]:
    """Return mean and SD of (n,) values under each row of (k, n) probabilities: (k,), (k,)."""
    mean = (probability * values).sum(axis=1)
    variance = (probability * (values - mean[:, None]) ** 2).sum(axis=1)
    return mean, np.sqrt(variance)


def _entropy_bits(p: float) -> float:
    return -p * math.log2(p) - (1.0 - p) * math.log2(1.0 - p)


def _choice(name: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed are {', '.join(allowed)}")
    return value
