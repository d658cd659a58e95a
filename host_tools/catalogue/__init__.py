"""Every sentence of a page, a report and an instruction, in the languages of `LANGUAGES`.

A file a language, `en.toml` first; a table a place, such as `page`; a sentence a key. What is in
braces is filled in.
The tables of `SAID` have a sentence a code of a reason or a row: `language_of` says these. English
of reasons and papers is the device's, in `en.toml` of `firmware_py/terms` and
`firmware_py/paper`. `rooms.toml` says how many letters there are for what has to stay short.
"""

import argparse
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from firmware_py.platform.clock import was_clock_set
from firmware_py.terms.words import SENTENCES, Language, english_of
from host_tools.errors import HostError
from host_tools.terminal import NO_BREAK

# By the names that IETF BCP 47 has for them; each as it calls itself.
LANGUAGES: Final = {"en": "English", "nl": "Nederlands", "de": "Deutsch", "es": "Español"}
ENGLISH: Final = "en"
MINUS: Final = "−"  # as wide as a plus
REASONS: Final = "remarks"  # the table of the firmware's reasons
PERCENT: Final = "percent"  # so the codes of percentages begin
# Tables of reasons and rows, by codes.
PAPER: Final = "paper"  # and of the rows of its papers
SAID: Final = (REASONS, PAPER, "steps", "people", "prescription", "guide")

_FILES: Final = files("host_tools.catalogue")
_PLACE: Final = re.compile(r"\{\w+\}")
_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Catalogue:
    """The sentences of a language; made by `catalogue_of`."""

    language: str
    tables: Mapping[str, Mapping[str, str]]

    def say(self, place: str, key: str, /, **parts: str) -> str:
        """Return the sentence of a key in a table, filled in by the names in braces.

        Numbers are given as `spell` writes them. What is not there is a `KeyError`.
        """
        table = self.tables[place]
        if key not in table:
            raise KeyError(f"{self.language}.toml has no {key!r} in [{place}]")
        return table[key].format_map(parts)

    def spell(self, number: str) -> str:
        """Return a number that was written with a point in the language; there is no -0."""
        if number[0] == "-" and number.strip("-0.") == "":
            number = number[1:]
        return number.replace("-", MINUS).replace(".", self.say("format", "decimal"))

    def date(self, iso: str) -> str:
        """Return a day of ISO 8601 as the language writes it; what is none is left as it is."""
        try:
            day = datetime.fromisoformat(iso)
        except ValueError:
            return iso
        month = self.say("format", f"month_{day.month}")
        return self.say("format", "date", day=str(day.day), month=month, year=f"{day.year:04d}")

    def time(self, iso: str) -> str:
        """Return a day with hour, minute and zone; what is no time of ISO 8601 is left as it is.

        Where it was is not recorded: in Tokyo it may have been the next day, so the zone is said.
        """
        try:
            at = datetime.fromisoformat(iso)
        except ValueError:
            return iso
        offset = "" if not at.utcoffset() else at.isoformat()[-len("+00:00") :]
        zone = "" if at.tzinfo is None else f"UTC{offset}"
        hours = f"{at.hour:02d}:{at.minute:02d}"
        return self.say("format", "time", date=self.date(iso), hours=hours, zone=zone).strip()

    def clock_time(self, iso: str) -> str:
        """Return a time by the clock of a device, and that it was not set if that is so."""
        said = self.time(iso)
        return said if was_clock_set(iso) else f"{said} ({self.say('people', 'clock_not_set')})"


@cache
def catalogue_of(language: str) -> Catalogue:
    """Return the sentences of a language of `LANGUAGES`; `HostError` of another."""
    if language not in LANGUAGES:
        raise HostError(f"the language is {language!r}; allowed are {', '.join(LANGUAGES)}")
    told = tomllib.loads((_FILES / f"{language}.toml").read_text(encoding="utf-8"))
    if language == ENGLISH:
        told |= {REASONS: {**SENTENCES}, PAPER: {**english_of("firmware_py.paper")}}
    tables = {place: MappingProxyType(table) for place, table in told.items()}
    return Catalogue(language, MappingProxyType(tables))


def _set(code: str, sentence: str) -> str:
    """Return a sentence with the signs that people use; a percentage stays on its line."""
    if code.startswith(PERCENT):
        return sentence.replace(" ", NO_BREAK)
    return sentence.replace("+-", "±")


def has_words(sentence: str) -> bool:
    """Return whether a sentence has a letter; one of signs alone stands in English, for all."""
    return bool(_LETTER.search(_PLACE.sub("", sentence)))


@cache
def language_of(language: str) -> Language:
    """Return what says reasons and rows in a language; what it lacks is said in English."""
    catalogue = catalogue_of(language)
    sentences = {
        code: _set(code, sentence)
        for tables in (catalogue_of(ENGLISH).tables, catalogue.tables)
        for place in SAID
        for code, sentence in tables.get(place, {}).items()
    }
    return Language(sentences, catalogue.spell, catalogue.date, catalogue.clock_time)


def add_language_argument(p: argparse.ArgumentParser, of_what: str) -> None:
    """Add --language to a command; `of_what` says in its help what comes out in the language."""
    names = ", ".join(f"{code} {name}" for code, name in LANGUAGES.items())
    p.add_argument(
        "--language", choices=tuple(LANGUAGES), default=ENGLISH,
        help=f"{of_what}: {names} (default: {ENGLISH})",
    )  # fmt: skip
