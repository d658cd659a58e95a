"""The estimator of this product as a method."""

from collections.abc import Iterable
from typing import Final

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import Objective
from firmware_py.inference.construction import RATE_MAX
from firmware_py.inference.trial_time import TrialTime
from host_tools.research.methods.interface import Array, Stimulus, Task

PAPER: Final = "gp-pta-2015"  # a model without lapses and false alarms: it is told the noise only


class GpPta:
    """`ThresholdEstimator` as a method.

    `told` tells it the noise and, if its model has them, the rates (up to the highest it takes);
    otherwise it infers them, or has the profile's values. `person` tells it the age and the sex of
    the listener, as far as they are known. With a `time` tones are chosen for bits per second.
    """

    def __init__(
        self,
        task: Task,
        profile: str = "default",
        *,
        told: bool = True,
        person: bool = False,
        unsure_half_width_db: float | None = 0.0,
        time: TrialTime | None = None,
    ) -> None:
        with_rates = told and profile != PAPER
        self._task, self._time = task, time
        self.estimator = ThresholdEstimator(
            profile,
            max_trials=task.tones_max,
            response_noise_db=task.response_noise_db if told else None,
            lapse_rate=min(task.lapse_rate, RATE_MAX) if with_rates else None,
            false_alarm_rate=min(task.false_alarm_rate, RATE_MAX) if with_rates else None,
            unsure_half_width_db=unsure_half_width_db,
            age_years=task.age_years if person else None,
            sex=task.sex if person else None,
            prior=None if profile == PAPER else task.prior,
            level_limits_db_hl=task.level_limits_db_hl,
            frequency_range_hz=task.frequency_range_hz,
        )

    def next_stimulus(self) -> Stimulus:
        """Return the most informative tone; the method does not end by itself."""
        return (self._task.objective or Objective)(self._time).choose(self.estimator)

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool | None) -> None:
        """Take the answer to one tone into account, which may be any; None: unsure."""
        self.estimator.observe(frequency_hz, level_db_hl, heard)

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        return self.estimator.threshold(self._task.checked_frequencies(frequencies_hz))

    def threshold_band(
        self, frequencies_hz: Iterable[float] | Array, probability: float
    ) -> tuple[Array, Array]:
        wanted_hz = self._task.checked_frequencies(frequencies_hz)
        return self.estimator.threshold_band(wanted_hz, probability)
