"""Levels in words, in any language: what lies beyond a limit of the test says so."""

from firmware_py.procedure.reading import Reading
from host_tools.catalogue import Catalogue
from host_tools.catalogue.remarks import PLACE


def unit_words(catalogue: Catalogue, *, nominal: bool) -> str:
    """Return the unit of levels; `nominal`: of a device without a calibration."""
    return catalogue.say(PLACE, "unit_nominal_db" if nominal else "unit_db_hl")


def band_words(reading: Reading, catalogue: Catalogue) -> str:
    """Return the 95 % band of a reading; "": there is none."""
    if reading.low_db_hl is None or reading.high_db_hl is None:
        return ""
    low = f"{'≤ ' * reading.low_open}{catalogue.number(reading.low_db_hl)}"
    high = f"{'> ' * reading.high_open}{catalogue.number(reading.high_db_hl)}"
    return catalogue.say("report", "band", low=low, high=high)
