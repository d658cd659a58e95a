"""Whether a listener attends to the tones."""

from typing import Final

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure import words
from firmware_py.procedure.catch_trials import CatchTrials

# An ear that ended short of what was wanted had an inattentive listener if more than so many of the
# clear tones were missed, or of the silences answered; 1 in 100 is usual.
LAPSE_RATE_HIGH: Final = 0.1
FALSE_ALARM_RATE_HIGH: Final = 0.1
CATCHES_ANSWERED_HIGH: Final = 0.25


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
