"""The method of Barthelmé & Mamassian: ask the tone that leaves the smallest expected variance.

S. Barthelmé and P. Mamassian, "A flexible Bayesian method for adaptive measurement in
psychophysics", arXiv 0809.0387 (2008): any parametric psychometric function with any prior, and the
stimulus minimises the expected entropy or variance, after the answer, of whatever is of interest.
"""

from typing import Final

import numpy as np

from firmware_py.inference.elementary import normal_cdf
from host_tools.research.methods.interface import Array, Stimulus, Task
from host_tools.research.methods.per_frequency import PerFrequency

GRID_DB: Final = 1.0  # of thresholds and of levels that may be asked
# Times the value that is told, each with its prior probability: about log-normal, x/÷ e^0.5.
SPREAD_FACTORS: Final = (0.5, 0.707, 1.0, 1.414, 2.0)
SPREAD_PROBABILITIES: Final = (0.1, 0.2, 0.4, 0.2, 0.1)
LAPSE_FACTORS: Final = (0.33, 1.0, 3.0)
LAPSE_PROBABILITIES: Final = (0.25, 0.5, 0.25)
RATE_MIN: Final = 0.001  # with 0, an impossible answer would leave no posterior
LAPSE_MAX_OF_REST: Final = 0.5  # of 1 - f, so that an answer always tells something


class BarthelmeMamassian(PerFrequency):
    """Barthelmé & Mamassian's method with a psychometric function at each of a few frequencies.

    At each frequency the answer to level h has the probability

        P(heard | h; θ, σ, λ) = f + (1 - f - λ) Φ((h - θ) / σ)

    with threshold θ, spread σ and lapse rate λ on a grid (a set of weighted particles that never
    has to be renewed: there are only three parameters) and the false-alarm rate f known, as from
    silent trials. Of interest are the thresholds of all frequencies: the next tone, of any
    frequency, minimises the sum of their expected posterior variances. Only one term changes with a
    tone, so it is the tone with the largest expected decrease of its own frequency's variance.

    The priors of spread and lapse rate are put around the noise and the lapse rate of the task.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task, GRID_DB, SPREAD_PROBABILITIES, LAPSE_PROBABILITIES)
        self._spreads_db = task.response_noise_db * np.array(SPREAD_FACTORS)
        self._false_alarm_rate = max(task.false_alarm_rate, RATE_MIN)
        rates = max(task.lapse_rate, RATE_MIN) * np.array(LAPSE_FACTORS)
        rest = 1.0 - self._false_alarm_rate
        self._lapse_rates = np.clip(rates, RATE_MIN, LAPSE_MAX_OF_REST * rest)
        low_db_hl, high_db_hl = task.level_limits_db_hl
        self.levels_db_hl = np.append(np.arange(low_db_hl, high_db_hl, GRID_DB), high_db_hl)
        self._p_heard = np.array([self._probability_heard(h) for h in self.levels_db_hl])
        self._powers = np.array([self._threshold_db_hl**k for k in range(3)])
        self._expected_db2 = np.array([self._expected_variances_db2(w) for w in self._weights])

    def next_stimulus(self) -> Stimulus:
        """Return the tone to play next, as in `Method`; this one does not end by itself.

        Of equally good tones it is that of the first frequency in clinical order, and of the lowest
        level.
        """
        variance_db2 = self._moments(self._threshold_db_hl)[1] ** 2
        decrease_db2 = variance_db2[:, None] - self._expected_db2
        index, level = np.unravel_index(int(np.argmax(decrease_db2)), decrease_db2.shape)
        return Stimulus(self.frequencies_hz[int(index)], float(self.levels_db_hl[int(level)]))

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Take the answer to one tone into account, as in `Method`; the level may be any."""
        super().observe(frequency_hz, level_db_hl, heard)
        index = self._index(frequency_hz)
        self._expected_db2[index] = self._expected_variances_db2(self._weights[index])

    def _probability_heard(self, level_db_hl: float) -> Array:
        f = self._false_alarm_rate
        z = (level_db_hl - self._grid_db_hl[:, None]) / self._spreads_db
        cdf = np.array([normal_cdf(value) for value in z.ravel().tolist()]).reshape(z.shape)
        p_heard: Array = f + (1.0 - f - self._lapse_rates) * cdf[:, :, None]
        return p_heard.ravel()

    def _expected_variances_db2(self, weights: Array) -> Array:
        """Return E[Var(θ | answer)] for each level: the sum over answers of (s₂ - s₁²/s₀).

        s_k are the sums of P(answer) θ^k under the weights, so s₀ is the answer's probability and
        s₂/s₀ - (s₁/s₀)² the variance after it. `einsum` adds in one order on every number of
        threads, which BLAS does not.
        """
        all_answers = np.einsum("i,ki->k", weights, self._powers)
        heard = np.einsum("li,ki->kl", self._p_heard, weights * self._powers)
        not_heard = all_answers[:, None] - heard
        expected_db2 = np.zeros(len(self.levels_db_hl))
        for s0, s1, s2 in (heard, not_heard):
            expected_db2 += s2 - s1**2 / s0
        return expected_db2
