"""QUEST, one at each frequency: a Weibull function whose position is found by Bayes' rule.

A. B. Watson and D. G. Pelli, "QUEST: A Bayesian adaptive psychometric method", Perception &
Psychophysics 33 (1983) 113-120.
"""

import math
from typing import Final

import numpy as np

from host_tools.research.methods.interface import Array, Stimulus, Task
from host_tools.research.methods.per_frequency import PerFrequency

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
