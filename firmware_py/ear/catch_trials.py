"""Catch trials: presentations without a tone, which show who presses without hearing.

A clinical test has them throughout. A brisk test has the pauses for that, which cost no time, and
catch trials only while these and the answers leave it open how often the button is pressed without
a tone.

In a silence an unsure answer is half a false alarm: who is unsure at every silence tells silence
from tone no better than who presses at every second one.
"""

import math
from typing import Final

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Observation
from firmware_py.terms.randomness import CATCH_STREAM, uniform
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.settings import CLINICAL, Settings

CATCH_GAP: Final = 3  # presentations between two catch trials at least; fewer at high rates
CATCHES_TO_JUDGE: Final = 4
FALSE_ALARM_RATE_IN_DOUBT: Final = 0.05  # believed; an attentive listener is believed to have 0.01
CATCHES_IN_DOUBT: Final = 8
UNRELIABLE_SHARE: Final = 0.5  # of them answered
UNSURE_ALARM: Final = 0.5  # of a false alarm
CATCHES_ANSWERED_HIGH: Final = 0.25  # of them: more is a sign of an inattentive listener


class CatchTrials:
    """The catch trials of one ear: when one is due, and what they were answered with."""

    def __init__(self, settings: Settings, estimator: ThresholdEstimator) -> None:
        self._settings = settings
        self._estimator = estimator
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
        if rate == 0.0 or not (self._settings.conduct == CLINICAL or self._in_doubt()):
            return False
        gap = CATCH_GAP if rate * (CATCH_GAP + 2) <= 1.0 else math.ceil(1.0 / rate) - 2
        return self._tones_since >= gap and (
            uniform(self._settings.seed, CATCH_STREAM, number) < rate / (1.0 - gap * rate)
        )

    def _in_doubt(self) -> bool:
        alarms = self._estimator.hyperparameters.false_alarm_rate
        return alarms > FALSE_ALARM_RATE_IN_DOUBT and self.count < CATCHES_IN_DOUBT

    def tone_presented(self) -> None:
        self._tones_since += 1

    def take_answer(self, heard: bool | None) -> None:
        self.count += 1
        self.false_alarms += heard is True
        self.unsure_alarms += heard is None
        self._tones_since = 0

    def forget(self, observations: list[Observation]) -> int:
        heard = [o.heard for o in observations if o.presentation.purpose == Purpose.CATCH]
        self.count -= len(heard)
        self.false_alarms -= heard.count(True)
        self.unsure_alarms -= heard.count(None)
        return len(heard)

    @property
    def judgeable(self) -> bool:
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

    @property
    def inattentive(self) -> bool:
        """Return whether more silences were answered than an attentive listener answers."""
        return self.judgeable and self.alarm_share > CATCHES_ANSWERED_HIGH

    def alarms(self) -> Reason:
        unsure, alarms = self.unsure_alarms, self.false_alarms + self.unsure_alarms
        if not unsure:
            return reason(Code.FALSE_ALARMS, alarms=alarms, catches=self.count)
        return reason(Code.FALSE_ALARMS_UNSURE, alarms=alarms, catches=self.count, unsure=unsure)
