"""Catch trials: presentations without a tone, which show who presses without hearing.

In a silence an unsure answer is half a false alarm. A listener who is asked to say so when in doubt
will sometimes doubt a silence, and is not unreliable for that. But a listener who is unsure at
every silence tells silence from tone no better than one who presses at every second one.

Whether a listener attends shows in them, and in the rates that the estimator infers.
"""

import math
from typing import Final

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure import words
from firmware_py.procedure.randomness import CATCH_STREAM, uniform
from firmware_py.procedure.settings import Settings

CATCH_GAP: Final = 3  # presentations between two catch trials at least; fewer at high rates
CATCHES_TO_JUDGE: Final = 4
UNRELIABLE_SHARE: Final = 0.5  # of them answered
UNSURE_ALARM: Final = 0.5  # of a false alarm

# An ear that ended short of what was wanted had an inattentive listener if more than so many of the
# clear tones were missed, or of the silences answered; 1 in 100 is usual.
LAPSE_RATE_HIGH: Final = 0.1
FALSE_ALARM_RATE_HIGH: Final = 0.1
CATCHES_ANSWERED_HIGH: Final = 0.25


class CatchTrials:
    """The catch trials of one ear: when one is due, and what they were answered with."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.count = 0
        self.false_alarms = 0
        self.unsure_alarms = 0
        self._tones_since = 0

    def due(self, number: int) -> bool:
        """Return whether presentation `number` is one: at random, one in `catch_rate`.

        After a gap of g presentations each is one with probability p; the mean distance
        g + 1/p is the inverse of the rate.
        """
        rate = self._settings.catch_rate
        if rate == 0.0:
            return False
        gap = CATCH_GAP if rate * (CATCH_GAP + 2) <= 1.0 else math.ceil(1.0 / rate) - 2
        return self._tones_since >= gap and (
            uniform(self._settings.seed, CATCH_STREAM, number) < rate / (1.0 - gap * rate)
        )

    def tone_presented(self) -> None:
        """Count a tone towards the gap between two catch trials."""
        self._tones_since += 1

    def answered(self, heard: bool | None) -> None:
        """Count a catch trial and its answer; None: the listener was unsure."""
        self.count += 1
        self.false_alarms += heard is True
        self.unsure_alarms += heard is None
        self._tones_since = 0

    @property
    def judgeable(self) -> bool:
        """Return whether there were enough of them to say something about the listener."""
        return self.count >= CATCHES_TO_JUDGE

    @property
    def alarm_share(self) -> float:
        """Return which part of the silences was answered, an unsure answer being half a one."""
        alarms = self.false_alarms + UNSURE_ALARM * self.unsure_alarms
        return alarms / self.count if self.count else 0.0

    @property
    def unreliable(self) -> bool:
        """Return whether so many silences were answered that the tones' answers mean nothing."""
        return self.alarm_share >= UNRELIABLE_SHARE

    def alarm_words(self) -> str:
        """Say how many of them were answered."""
        return words.false_alarms(self.count, self.false_alarms, self.unsure_alarms)


def inattention(estimator: ThresholdEstimator, catch_trials: CatchTrials) -> str:
    """Say in words what shows that the listener did not attend; "" if nothing does."""
    signs = []
    found = estimator.hyperparameters
    if found.lapse_rate > LAPSE_RATE_HIGH:
        signs.append(words.MISSES.format(percent=100.0 * found.lapse_rate))
    if catch_trials.judgeable and catch_trials.alarm_share > CATCHES_ANSWERED_HIGH:
        signs.append(catch_trials.alarm_words())
    elif found.false_alarm_rate > FALSE_ALARM_RATE_HIGH:
        percent = 100.0 * found.false_alarm_rate
        signs.append(words.ANSWERS_THE_INAUDIBLE.format(percent=percent))
    return words.INATTENTIVE.format(signs=", ".join(signs)) if signs else ""
