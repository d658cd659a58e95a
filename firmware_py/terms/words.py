"""Says reasons, and the rows of papers, by the sentences of a language.

The device has English, `en.toml`; the host tools have other languages. What stands there reaches no
journal. A row (`findings/rows.py`) is a reason that no journal has: JSON values, its code first.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pkgutil import get_data
from typing import Any, Final

from firmware_py.terms import reasons
from firmware_py.terms.reasons import UNIT, Reason

BETWEEN: Final = "; "  # reasons beside one another
LISTED: Final = ", "  # several of what `SEVERAL` does not name
NOTHING: Final = "nothing"  # the key of the word for a text that is empty


def english_of(package: str) -> Mapping[str, str]:
    """Return the sentences in `en.toml` of a package.

    Not by `importlib.resources`: what that imports takes a device 1.5 MB.
    """
    found = get_data(package, "en.toml")
    assert found is not None, "packages are files"
    return tomllib.loads(found.decode())


# By codes, and by the words of `WORDS`; the parts in braces are filled in by `Language`.
SENTENCES: Final = english_of("firmware_py.terms")

Said = Reason | Mapping[str, Any]  # a reason, or a row of a paper


@dataclass(frozen=True)
class Language:
    """Says reasons and rows."""

    sentences: Mapping[str, str]  # with the keys of `SENTENCES`, at least
    spell: Callable[[str], str] = str  # writes a number that was written with a point and a hyphen
    date: Callable[[str], str] = str  # writes a date of ISO 8601
    time: Callable[[str], str] = str  # writes a date and time of day of ISO 8601

    def say(self, why: Said | Iterable[Said] | None) -> str:
        several = [why] if isinstance(why, Reason | Mapping) else why or ()
        return BETWEEN.join(map(self._sentence, several))

    def cell(self, cell: Mapping[str, Any] | float | str) -> str:
        if isinstance(cell, str):
            return cell
        return self._sentence(cell) if isinstance(cell, Mapping) else self.spell(f"{cell:g}")

    def _sentence(self, said: Said) -> str:
        record = said.to_record() if isinstance(said, Reason) else said
        code = record["code"]
        parts = {UNIT: self.sentences["unit-db-hl"]}
        parts |= {name: self._part(name, part) for name, part in record.items() if name != "code"}
        if code in self.sentences:
            return self.sentences[code].format_map(_Places(parts))
        # It is of a later version: nothing that was found is lost.
        figures = ", ".join(f"{name} {self._part(name, record[name])}" for name in [*record][1:])
        return f"{code} ({figures})" if figures else code

    def _part(self, name: str, part: Any) -> str:
        if isinstance(part, list | tuple):
            return reasons.SEVERAL.get(name, LISTED).join(self._part(name, each) for each in part)
        if isinstance(part, Reason | Mapping):
            return self._sentence(part)
        if not isinstance(part, str):
            return self.spell(figure(name, part))
        if name in reasons.WORDS:
            return self.sentences.get(f"{name}-{part}", part)
        if name in reasons.DATES:
            return self.date(part)
        return self.time(part) if name in reasons.TIMES else part or self.sentences[NOTHING]


class _Places(dict[str, str]):
    # `{Ear}` is filled with what `{ear}` is, its first letter a capital; `{EAR}` in capitals; the
    # place of a figure that a row lacks, as one of a strange file may, stays as it is.
    def __missing__(self, name: str) -> str:
        if name.lower() not in self:
            return f"{{{name}}}"
        text = self[name.lower()]
        return text.upper() if name.isupper() else text[:1].upper() + text[1:]


def figure(name: str, value: float) -> str:
    sign, decimals = "+" * (name in reasons.SIGNED), reasons.DECIMALS.get(name)
    return format(value, f"{sign}g" if decimals is None else f"{sign}.{decimals}f")


_ENGLISH: Final = Language(SENTENCES)


def say(why: Said | Iterable[Said] | None) -> str:
    return _ENGLISH.say(why)
