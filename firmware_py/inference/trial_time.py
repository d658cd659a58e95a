"""The expected time of a presentation, as callers of the estimator give it."""

from dataclasses import dataclass
from typing import Final

from firmware_py.inference.checks import number
from firmware_py.inference.rate import PER_TONE, Seconds

TRIAL_TIME_LIMITS_S: Final = (0.01, 100.0)


@dataclass(frozen=True)
class TrialTime:
    """Expected seconds of a presentation that is answered, and of one that is not.

    Parameters
    ----------
    answered_s : float
        Pause, and the onset of the train to the response.
    silent_s : float
        Pause, and the onset of the train to the end of the response window.

    Raises
    ------
    ValueError
        If one is not in `TRIAL_TIME_LIMITS_S`.
    """

    answered_s: float
    silent_s: float

    def __post_init__(self) -> None:
        number("answered_s", self.answered_s, *TRIAL_TIME_LIMITS_S)
        number("silent_s", self.silent_s, *TRIAL_TIME_LIMITS_S)

    @property
    def seconds(self) -> Seconds:
        """Return it as the kernels take it."""
        return Seconds(float(self.answered_s), float(self.silent_s))


def seconds_of(time: TrialTime | None) -> Seconds:
    """Return what a presentation takes; None: as long as any other."""
    if time is None:
        return PER_TONE
    if not isinstance(time, TrialTime):
        raise ValueError(f"time is {time!r}; allowed is a TrialTime, or None")
    return time.seconds
