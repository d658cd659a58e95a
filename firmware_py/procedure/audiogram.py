"""What is known of one ear at the audiogram frequencies."""

from dataclasses import dataclass
from typing import Final

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure.levels import Levels
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.settings import (
    AUDIOGRAM_FREQUENCIES_HZ,
    INTER_OCTAVE_FREQUENCIES_HZ,
    Settings,
)
from firmware_py.procedure.tally import Tally

BAND_PROBABILITY: Final = 0.95
# A mean at the limit is as likely an ear that hears there. It is no response only if the threshold
# lies beyond the limit by so many SD, with five chances in six (of a normal posterior), or if the
# loudest tone was not heard at this very frequency so often.
BEYOND_LIMIT_SDS: Final = 1.0
SILENT_AT_LIMIT_SURE: Final = 2


@dataclass(frozen=True)
class Estimate:
    """What is known of the threshold at an audiogram frequency, with its 95 % band."""

    frequency_hz: int
    mark: Outcome
    mean_db_hl: float
    sd_db: float
    low_db_hl: float
    high_db_hl: float

    @property
    def half_width_db(self) -> float:
        """Return how far the band reaches to either side."""
        return 0.5 * (self.high_db_hl - self.low_db_hl)


class Audiogram:
    """The estimator's thresholds at the audiogram frequencies within the range of the test."""

    def __init__(
        self, settings: Settings, estimator: ThresholdEstimator, levels: Levels, tally: Tally
    ) -> None:
        low_hz, high_hz = settings.frequency_min_hz, settings.frequency_max_hz
        self.frequencies_hz = tuple(f for f in AUDIOGRAM_FREQUENCIES_HZ if low_hz <= f <= high_hz)
        self.estimator = estimator
        self.levels = levels
        self.tally = tally

    def estimates(self) -> list[Estimate]:
        """Return what is known at each frequency."""
        figures = zip(
            self.frequencies_hz,
            *self.estimator.threshold(self.frequencies_hz),
            *self.estimator.threshold_band(self.frequencies_hz, BAND_PROBABILITY),
            strict=True,
        )
        return [
            Estimate(f, self._mark(f, float(mean), float(sd)), *map(float, (mean, sd, low, high)))
            for f, mean, sd, low, high in figures
        ]

    def widest(self) -> Estimate:
        """Return the estimate with the widest band, of those not surely beyond a limit.

        If all are, the widest of all. 750 and 1500 Hz are not looked at.
        """
        estimates = [
            e for e in self.estimates() if e.frequency_hz not in INTER_OCTAVE_FREQUENCIES_HZ
        ]
        inside = [e for e in estimates if e.mark in (Outcome.MEASURED, Outcome.INCOMPLETE)]
        return max(inside or estimates, key=lambda e: e.half_width_db)

    def common_mark(self) -> Outcome | None:
        """Return the mark of the ear if no frequency has a number, None otherwise."""
        marks = {estimate.mark for estimate in self.estimates()}
        if marks <= {Outcome.NO_RESPONSE, Outcome.INCOMPLETE}:
            return Outcome.INCOMPLETE if Outcome.INCOMPLETE in marks else Outcome.NO_RESPONSE
        return Outcome.HEARS_ALL if marks == {Outcome.HEARS_ALL} else None

    def common_side(self) -> Outcome | None:
        """Return on which side of the limits all frequencies lie, None if they differ.

        Of an ear that was silent at the limit again and again the means are sure enough.
        """
        mean_db_hl, _ = self.estimator.threshold(self.frequencies_hz)
        found = zip(self.frequencies_hz, mean_db_hl, strict=True)
        sides = {self.levels.side(f, float(mean)) for f, mean in found}
        return sides.pop() if len(sides) == 1 else None

    def _mark(self, frequency_hz: float, mean_db_hl: float, sd_db: float) -> Outcome:
        """Return the mark of a frequency.

        A threshold at the floor or below is not told apart from lower ones, and being wrong by a
        few dB there harms nobody. To say that there is no response has to be sure.
        """
        side = self.levels.side(frequency_hz, mean_db_hl)
        if side != Outcome.NO_RESPONSE:
            return side
        limit_db_hl = self.levels.limit_db_hl(frequency_hz)
        sure = mean_db_hl >= limit_db_hl + BEYOND_LIMIT_SDS * sd_db
        asked = self.tally.silent_at_limit[frequency_hz] >= SILENT_AT_LIMIT_SURE
        return Outcome.NO_RESPONSE if sure or asked else Outcome.INCOMPLETE
