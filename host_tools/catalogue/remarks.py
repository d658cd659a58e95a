"""The reasons of the firmware, in the language of a catalogue: by its table `remarks`."""

from collections.abc import Iterable
from functools import cache
from typing import Final

from firmware_py.procedure.reasons import Reason
from firmware_py.procedure.words import Language
from host_tools.catalogue import Catalogue, catalogue_of

PLACE: Final = "remarks"


def told(why: Reason | Iterable[Reason] | None, catalogue: Catalogue) -> str:
    """Return one reason, or several, as a language has them; "" of none."""
    return _language(catalogue.language).say(why)


@cache
def _language(name: str) -> Language:
    catalogue = catalogue_of(name)
    sentences = {
        key.replace("_", "-"): sentence for key, sentence in catalogue.tables[PLACE].items()
    }
    return Language(sentences, catalogue.written, catalogue.date)
