"""The reasons of the firmware, and levels, in the language of a catalogue.

Reasons are in its table `remarks`; what lies beyond a limit of the test says so.
"""

from collections.abc import Iterable

from firmware_py.procedure.reading import Reading
from firmware_py.procedure.reasons import Reason
from host_tools.catalogue import REASONS, Catalogue, language_of


def say_reasons(why: Reason | Iterable[Reason] | None, catalogue: Catalogue) -> str:
    """Return one reason, or several, as a language has them; "" of none."""
    return language_of(catalogue.language).say(why)


def unit_words(catalogue: Catalogue, *, nominal: bool) -> str:
    """Return the unit of levels; `nominal`: of a device without a calibration."""
    return catalogue.say(REASONS, "unit-nominal-db" if nominal else "unit-db-hl")


def band_words(reading: Reading, catalogue: Catalogue) -> str:
    """Return the 95 % band of a reading; "": there is none."""
    if reading.low_db_hl is None or reading.high_db_hl is None:
        return ""
    low = f"{'≤ ' * reading.low_open}{catalogue.number(reading.low_db_hl)}"
    high = f"{'> ' * reading.high_open}{catalogue.number(reading.high_db_hl)}"
    return catalogue.say("report", "band", low=low, high=high)
