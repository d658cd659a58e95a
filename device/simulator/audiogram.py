"""The threshold of one ear over frequency."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Audiogram:
    """Thresholds of one ear, linear on log2 frequency and constant outside."""

    frequencies_hz: tuple[float, ...]  # above 0, rising
    # As many, in dB HL. Infinity: never heard, and neither is anything strictly between this
    # frequency and its neighbours.
    thresholds_db_hl: tuple[float, ...]
    # Between these, lower and upper, ends left out, nothing is known: what stands there is made up.
    unknown_hz: tuple[tuple[float, float], ...] = ()

    def knows(self, frequency_hz: float) -> bool:
        """Return whether it has a threshold at a frequency: one of its own, or between two."""
        if not self.frequencies_hz or self.makes_up(frequency_hz):
            return False
        return self.frequencies_hz[0] <= frequency_hz <= self.frequencies_hz[-1]

    def makes_up(self, frequency_hz: float) -> bool:
        """Return whether what it has at a frequency is said to be nothing known."""
        return any(low < frequency_hz < high for low, high in self.unknown_hz)

    def threshold_db_hl(self, frequency_hz: float) -> float:
        """Give the threshold in dB HL at any frequency above 0; infinity: never heard."""
        below = [i for i, knot_hz in enumerate(self.frequencies_hz) if knot_hz <= frequency_hz]
        if not below:
            return self.thresholds_db_hl[0]
        last = below[-1]
        if last + 1 == len(self.frequencies_hz) or self.frequencies_hz[last] == frequency_hz:
            return self.thresholds_db_hl[last]
        return self._between(last, frequency_hz)

    def _between(self, left: int, frequency_hz: float) -> float:
        lower_hz, upper_hz = self.frequencies_hz[left : left + 2]
        lower_db, upper_db = self.thresholds_db_hl[left : left + 2]
        if math.isinf(lower_db) or math.isinf(upper_db):
            return math.inf
        weight = math.log2(frequency_hz / lower_hz) / math.log2(upper_hz / lower_hz)
        return lower_db + weight * (upper_db - lower_db)
