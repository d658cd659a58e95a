"""The reasons of the firmware, and levels, in the language of a catalogue.

Reasons are in its table `remarks`; what lies beyond a limit of the test says so.
"""

from collections.abc import Iterable
from functools import cache
from typing import Final

from firmware_py.procedure.reading import Reading
from firmware_py.procedure.reasons import Reason
from firmware_py.procedure.words import Language
from host_tools.catalogue import Catalogue, catalogue_of

PLACE: Final = "remarks"


def say_reasons(why: Reason | Iterable[Reason] | None, catalogue: Catalogue) -> str:
    """Return one reason, or several, as a language has them; "" of none."""
    return _language(catalogue.language).say(why)


@cache
def _language(name: str) -> Language:
    catalogue = catalogue_of(name)
    sentences = {
        key.replace("_", "-"): sentence for key, sentence in catalogue.tables[PLACE].items()
    }
    return Language(sentences, catalogue.spell, catalogue.date)


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
