"""The threshold of one ear over frequency."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Audiogram:
    """Thresholds of one ear, linear on log2 frequency and constant outside.

    Parameters
    ----------
    frequencies_hz : tuple of float
        Above 0, rising.
    thresholds_db_hl : tuple of float
        As many, in dB HL. Infinity: never heard, and neither is anything strictly between this
        frequency and its neighbours.

    Raises
    ------
    ValueError
        The lengths differ or are 0, frequencies do not rise, a threshold is nan or minus infinity.
    """

    frequencies_hz: tuple[float, ...]
    thresholds_db_hl: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.frequencies_hz or len(self.frequencies_hz) != len(self.thresholds_db_hl):
            raise ValueError(
                f"audiogram has {len(self.frequencies_hz)} frequencies and "
                f"{len(self.thresholds_db_hl)} thresholds, allowed is the same number, at least 1"
            )
        previous_hz = 0.0
        for frequency_hz, level in zip(self.frequencies_hz, self.thresholds_db_hl, strict=True):
            if not previous_hz < frequency_hz < math.inf:
                raise ValueError(
                    f"audiogram frequency {frequency_hz:g} Hz after {previous_hz:g} Hz, "
                    "allowed are rising frequencies above 0"
                )
            if not level > -math.inf:
                raise ValueError(
                    f"threshold {level} dB HL at {frequency_hz:g} Hz, allowed is a number, "
                    "or inf for never heard"
                )
            previous_hz = frequency_hz

    def threshold_db_hl(self, frequency_hz: float) -> float:
        """Give the threshold at any frequency.

        Parameters
        ----------
        frequency_hz : float
            Above 0.

        Returns
        -------
        float
            dB HL; infinity: never heard.

        Raises
        ------
        ValueError
            The frequency is not above 0.
        """
        if not 0.0 < frequency_hz < math.inf:
            raise ValueError(f"frequency {frequency_hz} Hz, allowed is a number above 0")
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
