"""How fast presentations follow each other: the pause, the train of pulses, the response window.

The pause is its least and a random time after that, drawn from an exponential distribution that is
cut off. Over the first half of that time, in which seven tones of eight come, the tone is nearly as
likely to come at any moment as at any other; an even distribution would give its end away. Who
waits for the cut-off still hits most tones: silent trials find him out, not the pause.

The window of a brisk test follows the listener's own response times. Their logarithm is taken to be
normal, with a normal-inverse-gamma prior from people (Murphy 2007, "Conjugate Bayesian analysis of
the Gaussian distribution"). The window ends where few answers come later, and with it the train. A
later press still is the answer, up to twice that time: a silence is taken in when the pause after
it is over. So a short window costs no answers.

Few people are slow. But a first press after a tone without an answer may be meant for that one:
then tones are waited for longer, until a press can be meant for one tone only.
"""

import math
from typing import Final

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.trial_time import TrialTime
from firmware_py.terms.randomness import PAUSE_STREAM, uniform
from firmware_py.terms.settings import Settings

# The random part of the pause is cut off at so many of its means; beyond are 2 % of it.
PAUSE_MEANS: Final = 4.0

AGAIN_US_MAX: Final = 600_000  # from a press to another one that is meant for the same tone
PAUSE_TOTAL_US_MAX: Final = 10_000_000  # presses prolong a pause up to this

# Response times of people, as natural logarithms of seconds. Six people who pressed a button for
# lights that they saw had medians from 0.43 to 0.54 s and SDs from 0.22 to 0.31 (McKendrick,
# Denniss & Turpin 2014). Between people the SD was 0.09; older and slower ones are to be expected.
MEDIAN_S: Final = 0.48
LOG_SD: Final = 0.26
BETWEEN_LOG_SD: Final = 0.4
# What is known beforehand of the mean and of the SD is worth so many answers.
MEAN_TRIALS: Final = (LOG_SD / BETWEEN_LOG_SD) ** 2
SD_TRIALS: Final = 8.0
WINDOW_SDS: Final = 2.0  # the window ends so far above the mean: 2.3 % of a normal, 4 % of people's
WINDOW_MS_MAX: Final = 4500.0
LATE_WINDOWS: Final = 2.0  # a press up to so many windows after the onset is an answer
LATE_MS_MAX: Final = 5500.0
# A press to the first tone that is answered may be late, and meant for the tone before. Until
# nothing can be late any more, a tone is waited for as long as nearly all answers of people with a
# median of 2.5 s take; but only so many, or nobody is there to answer.
FIRST_LATE_US: Final = 5_000_000
LONG_WAITS: Final = 6
FASTEST_US: Final = 100_000  # what is pressed sooner is a guess, and tells nothing of the listener


class Pace:
    """The times of one test."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._count = self._sum = self._sum_of_squares = 0.0  # of logarithms of response times
        self._late_may_come = False  # the press to a tone that counts as not answered
        self._long_waits = 0  # that are left

    def pause_us(self, number: int) -> int:
        s = self._settings
        span_ms = s.pause_ms_max - s.pause_ms_min
        mean_ms = span_ms / PAUSE_MEANS
        cut_off = 1.0 - exp(-PAUSE_MEANS)
        waited_ms = -mean_ms * log(1.0 - cut_off * uniform(s.seed, PAUSE_STREAM, number))
        return round(1000 * (s.pause_ms_min + min(waited_ms, span_ms)))

    def pause_after_us(self, number: int) -> int:
        """Return the same after a tone without an answer: longer while it is open who is slow."""
        pause_us = self.pause_us(number)
        return max(pause_us, self.late_us - self.window_us) if self._unknown else pause_us

    def pause_again_us(self, number: int) -> int:
        """Return the pause before the same once more: late presses to it come before it sounds."""
        return max(self.pause_us(number), self.late_us)

    def anew_us(self, pressed_us: int, began_us: int) -> int:
        """Return until when a pause lasts that a press begins anew, within reason."""
        until_us = pressed_us + 1000 * self._settings.pause_ms_min
        return min(until_us, began_us + PAUSE_TOTAL_US_MAX)

    @property
    def again_us(self) -> int:
        """Return up to which time after the press of an answer another one belongs to it.

        No tone that begins after the least pause can be answered so soon.
        """
        return min(
            AGAIN_US_MAX, 1000 * (self._settings.pause_ms_min + self._settings.response_ms_min)
        )

    @property
    def pause_s(self) -> float:
        s = self._settings
        span_ms = s.pause_ms_max - s.pause_ms_min
        rest = exp(-PAUSE_MEANS)
        mean_ms = span_ms * (1.0 / PAUSE_MEANS - rest / (1.0 - rest))
        return 0.001 * (s.pause_ms_min + mean_ms)

    def take_answer(self, response_us: int) -> None:
        # Of the later presses one that took longer than a usual window is meant for its own tone.
        may_be_late = self._long_waits == 0 or response_us < self.window_us
        if self._late_may_come and self._count == 0.0 and may_be_late:
            self._long_waits = self._long_waits or LONG_WAITS
            return
        self._long_waits = 0
        x = log(1e-6 * max(response_us, FASTEST_US))
        self._count += 1.0
        self._sum += x
        self._sum_of_squares += x * x

    def take_silence(self) -> None:
        self._late_may_come = self._long_waits == 0
        self._long_waits = max(self._long_waits - 1, 0)

    @property
    def _unknown(self) -> bool:
        """Return whether there is a listener of whom it is open how slow."""
        return self._long_waits > 0 and self._settings.response_window_ms is None

    @property
    def response_s(self) -> float:
        return exp(self._log_mean())

    def _log_mean(self) -> float:
        return (MEAN_TRIALS * log(MEDIAN_S) + self._sum) / (MEAN_TRIALS + self._count)

    def _log_sd(self) -> float:
        """Return the SD of the logarithm of the next response time, the mean being uncertain."""
        trials = MEAN_TRIALS + self._count
        before, mean = log(MEDIAN_S), self._log_mean()
        squares = self._sum_of_squares + MEAN_TRIALS * before * before - trials * mean * mean
        variance = (SD_TRIALS * LOG_SD * LOG_SD + max(squares, 0.0)) / (SD_TRIALS + self._count)
        return math.sqrt(variance * (1.0 + 1.0 / trials))

    @property
    def window_us(self) -> int:
        shortest_ms = self._settings.window_ms_min
        if self._settings.response_window_ms is not None:
            return 1000 * shortest_ms
        window_ms = 1000.0 * exp(self._log_mean() + WINDOW_SDS * self._log_sd())
        return round(1000 * max(min(window_ms, WINDOW_MS_MAX), shortest_ms))

    @property
    def late_us(self) -> int:
        """Return up to which time after its onset a press still is the answer to a tone."""
        if self._settings.response_window_ms is not None:
            return self.window_us
        if self._unknown:
            return FIRST_LATE_US
        return max(self.window_us, round(min(LATE_WINDOWS * self.window_us, 1000 * LATE_MS_MAX)))

    @property
    def pulses(self) -> int:
        s = self._settings
        period_ms = s.pulse_on_ms + s.pulse_off_ms
        return min(s.pulses, (self.window_us + 1000 * s.pulse_off_ms) // (1000 * period_ms))

    @property
    def trial_time(self) -> TrialTime:
        """Return what a presentation takes on average, answered or not."""
        pause_s = self.pause_s
        return TrialTime(pause_s + self.response_s, pause_s + 1e-6 * self.window_us)
