"""What the firmware wrote into a journal, or tells, in the language of a catalogue.

A recorded sentence is found by the English one of the table `remarks`, and said by its namesake.
What no sentence of the table fits, such as what a tone generator said, stays as it was recorded.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from host_tools.catalogue import ENGLISH, Catalogue, catalogue_of

PLACE: Final = "remarks"
NESTED_MAX: Final = 4  # sentences in one another; the firmware's are at most three deep

NUMBER: Final = r"[-+]?\d+(?:\.\d+)?"
_DATE: Final = r"\d{4}-\d{2}-\d{2}"
_EAR: Final = re.compile("left ear|right ear")
# What may stand in a place; numbers stand in all others.
PLACES: Final = {
    "ear": "left ear|right ear",
    "verdict": "doubtful|rejected",
    "frequencies_hz": r"\d+(?:, \d+)*",
    "date": _DATE,
    "due": _DATE,
    "today": _DATE,
    "time": rf"{_DATE}T[\d:+-]+",
    "told": ".+",
    "why": ".+",
    "doubt": ".+",
    "signs": ".+",
    "limits": ".+",
    "by": ".+",
    "since": r"|, since tone \d+",  # nothing, of what began at once
    "ago": ".+",
    "differs": ".+",
    "field": "[a-z ]+",
    "one": ".+",
    "other": ".+",
    "boards": ".+",
}
# Places with sentences in them, and what stands between two of these.
SENTENCES: Final = {
    "why": "", "doubt": "", "signs": ", ", "limits": ", ", "by": "", "since": "", "ago": "",
    "differs": "", "field": "",
}  # fmt: skip
NOTHING: Final = "none"  # in the place of a value, where there is none
BETWEEN: Final = "; "


def told(recorded: str, catalogue: Catalogue) -> str:
    """Return a recorded sentence as a language has it, with its numbers and dates."""
    parts = [_said(part, catalogue, NESTED_MAX) for part in recorded.split(BETWEEN)]
    if None not in parts:
        return BETWEEN.join(part for part in parts if part is not None)
    whole = _said(recorded, catalogue, NESTED_MAX)
    return recorded if whole is None else whole


def _said(recorded: str, catalogue: Catalogue, deep: int) -> str | None:
    """Return a sentence, None if the table does not have it."""
    for key, form in forms():
        found = form.fullmatch(recorded)
        if found is None or deep == 0:
            continue
        parts = {
            name: _part(name, text, catalogue, deep) for name, text in found.groupdict().items()
        }
        known = {name: part for name, part in parts.items() if part is not None}
        if len(known) == len(parts):
            return catalogue.say(PLACE, key, **known)
    return None


def _part(name: str, text: str, catalogue: Catalogue, deep: int) -> str | None:
    """Return what stands in a place, None if it is not known."""
    if name in SENTENCES:
        return _several(text, SENTENCES[name], catalogue, deep - 1) if text else ""
    plain: dict[str, Callable[[str], str]] = {
        "ear": lambda ear: catalogue.say("report", ear.replace(" ", "_")),
        "verdict": lambda verdict: catalogue.say("report", f"retest_{verdict}"),
        "told": str,
        "frequencies_hz": str,
        "time": str,
        "boards": lambda boards: _EAR.sub(lambda ear: plain["ear"](ear[0]), boards),
        **dict.fromkeys(("one", "other"), lambda value: _value(value, catalogue)),
        **dict.fromkeys(("date", "due", "today"), catalogue.date),
    }
    return plain.get(name, catalogue.written)(text)


def _value(value: str, catalogue: Catalogue) -> str:
    return catalogue.say(PLACE, "nothing") if value == NOTHING else value


def _several(text: str, between: str, catalogue: Catalogue, deep: int) -> str | None:
    """Return sentences that stand beside one another; a sentence may have the same comma in it."""
    whole = _said(text, catalogue, deep)
    if whole is not None or not between:
        return whole
    for first, others in _splits(text, between):
        one = _said(first, catalogue, deep)
        rest = _several(others, between, catalogue, deep) if one is not None else None
        if one is not None and rest is not None:
            return f"{one}{between}{rest}"
    return None


def _splits(text: str, between: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(re.escape(between), text):
        yield text[: found.start()], text[found.end() :]


@cache
def forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return what each English sentence looks like with its places filled, the longest first."""
    table = catalogue_of(ENGLISH).tables[PLACE]
    longest = sorted(table, key=lambda key: -len(table[key]))
    return tuple((key, _form(table[key])) for key in longest)


def _form(sentence: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", sentence)
    fixed, names = parts[::2], parts[1::2]
    form = re.escape(fixed[0])
    for name, after in zip(names, fixed[1:], strict=True):
        form += f"(?P<{name}>{PLACES.get(name, NUMBER)}){re.escape(after)}"
    return re.compile(form)
