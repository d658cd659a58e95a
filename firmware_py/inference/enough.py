"""When the bands of an ear are narrow enough: the device's rule, without its procedure.

The procedure (`firmware_py/ear/stopping.py`) takes these numbers from here; it knows besides
what was asked near a frequency, catch trials, and who answers for the ear.
"""

from typing import Final

BAND_PROBABILITY: Final = 0.95
# A mean at the limit is as likely an ear that hears there. No response has to be as sure as this.
NO_RESPONSE_PROBABILITY: Final = 0.95
HALF_WIDTH_DB: Final = 6.5  # of the band, in a brisk test
ANSWERS_MIN: Final = 8  # in a brisk test
LIMIT_ANSWERS: Final = 6  # nothing heard, so often at the limit (all heard, at the floor): it ends
# Of an audiogram by air, and a factor on the half width that is wanted: the lowest octave has a
# neighbour on one side only, so it took most tones, and hearing aids do least there.
FREQUENCIES_HZ: Final = (250, 500, 1000, 2000, 3000, 4000, 6000, 8000)
WIDER_AT_HZ: Final[dict[float, float]] = {250.0: 1.25}


def wanted_half_width_db(frequency_hz: float, half_width_db: float) -> float:
    """Return how far the band may reach to either side at a frequency."""
    return WIDER_AT_HZ.get(frequency_hz, 1.0) * half_width_db
