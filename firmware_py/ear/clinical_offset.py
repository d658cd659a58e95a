"""How far the thresholds that a clinic's ascending procedure finds lie above the 50 % points.

The estimator finds the level that is heard half the time. A clinic's procedure (5 dB up, 10 dB
down) reports the lowest level of a 5 dB grid that is heard reliably, which lies higher. How much
higher depends on the listener's noise and rates: `OFFSETS_DB` is from a simulation of the classical
rule of this firmware (`confirmation.py`) by ``python -m host_tools.research.clinical_offset``,
whose table, with the errors of what is in force, is on the page of research.
"""

from itertools import pairwise
from typing import Final

from firmware_py.terms.results import CLINICAL_OFFSET_DB_MAX

# Response noise, and by how much the classical rule then settles above the 50 % point, on average
# over all places of the threshold between two steps, with lapses and false alarms of 1 %. Between
# these linear, outside constant.
OFFSETS_DB: Final = (
    (0.5, 2.57), (1.0, 2.66), (2.0, 2.79), (3.0, 2.84), (5.0, 2.70), (7.0, 2.39), (10.0, 1.96),
)  # fmt: skip
USUAL_RATE: Final = 0.01
# By how much a lapse raises it and a false alarm lowers it, dB per share of the tones: a constant,
# and so much more per dB of noise. With the table off by 0.1 dB or less in the whole grid that
# was simulated.
BY_LAPSES: Final = (2.6, 1.15)
BY_FALSE_ALARMS: Final = (2.0, 1.8)
OFFSET_DIGITS: Final = 2  # of what is recorded: machines differ in the last bits


def clinical_offset_db(
    response_noise_db: float, lapse_rate: float = USUAL_RATE, false_alarm_rate: float = USUAL_RATE
) -> float:
    """Return how far clinical thresholds of a listener lie above the 50 % points, dB."""
    noise_db = min(max(response_noise_db, OFFSETS_DB[0][0]), OFFSETS_DB[-1][0])
    offset_db = next(
        low + (noise_db - low_db) / (high_db - low_db) * (high - low)
        for (low_db, low), (high_db, high) in pairwise(OFFSETS_DB)
        if noise_db <= high_db
    )
    offset_db += _by_rate(BY_LAPSES, noise_db, lapse_rate)
    offset_db -= _by_rate(BY_FALSE_ALARMS, noise_db, false_alarm_rate)
    return round(min(max(offset_db, 0.0), CLINICAL_OFFSET_DB_MAX), OFFSET_DIGITS)


def _by_rate(coefficients: tuple[float, float], noise_db: float, rate: float) -> float:
    constant, slope = coefficients
    return (constant + slope * noise_db) * (rate - USUAL_RATE)
