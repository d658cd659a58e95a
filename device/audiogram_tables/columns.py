"""The columns of a table: what each has, what is passed over, and what has to be said of them."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from device.audiogram_tables import mapping, nhanes
from device.audiogram_tables.ears import AudiogramError
from device.audiogram_tables.places import (
    DISCOMFORT,
    FREQUENCIES_HZ,
    FREQUENCY_ROLES,
    SUBJECTS,
    Place,
    Role,
    guess,
    hertz_in,
    is_of_no_matter,
    is_what,
    place_named,
    says_what,
    side_of,
    tokens_of,
)
from device.audiogram_tables.sheet import Row, Sheet, list_names
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR

# A table may have more than one of them.
SEVERAL: Final = (Role.SUBJECT, Role.SESSION, Role.EAR, Role.IGNORE)
# Words that stand in what to type for what nobody can guess.
_TO_FILL_IN: Final = {
    "EAR": "right, left, right.bone or left.bone",
    "ROUTE": "air, bone or ucl",
    "PLACE": "a place such as right.500, or ignore,",
    "HEADING": "the column of levels",
}


@dataclass(frozen=True)
class Columns:
    """What the columns of a table have, by heading; the others are passed over."""

    sheet: Sheet
    places: Mapping[str, Place]
    passed_over: tuple[str, ...]

    def of(self, *roles: Role) -> list[tuple[str, Place]]:
        """Return the columns of roles, in the order of the table; those of people by rank."""
        return [(text, place) for text, place in self.places.items() if place.role in roles]

    @cached_property
    def names_people(self) -> bool:
        """Return whether the first column of people has anybody in it."""
        return any(any(self.sheet.cells(text)) for text, _ in self.of(Role.SUBJECT)[:1])

    def cell(self, row: Row, role: Role) -> str:
        """Return the cell of the first column of a role that is of no ear alone; "": none."""
        return next((row[text] for text, place in self.of(role) if not place.side), "")


def columns_of(sheet: Sheet, said: Mapping[str, Place]) -> Columns:
    """Return what the columns of a table have, by the mapping and by their headings.

    `AudiogramError` where the mapping names a column that is not there, two have the same, or what
    one has is not known for sure; the message has the mapping to type.
    """
    names = [name for name in sheet.header if name]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise AudiogramError(
            f"{sheet.path}: column {list_names(twice)} comes twice, allowed is once"
        )
    if missing := [heading for heading in said if heading not in names]:
        raise AudiogramError(
            f"{mapping.OPTION} names column {show(missing[0])}, and {sheet.path} has none; it has "
            f"{list_names([*map(show, names)])}"
        )
    if names and all(map(_is_number, names)) and not all(map(guess, names)):
        raise AudiogramError(
            f"{sheet.path}: has no headings: its first line is {show(' '.join(names))}; allowed is "
            "a first line that names each column, such as t500,t1000"
        )
    found = {name: said.get(name) or place_named(name) for name in names}
    earlier = {heading: place.name for heading, place in said.items()}
    proposed, if_what = _to_type(found, dict(_proposed(sheet, found, said)))
    if proposed:
        unknown = [show(text) for text in proposed if text in found]
        raise AudiogramError(
            f"{sheet.path}: what is in {list_names(unknown)} has to be said"
            f"{f' (cells are separated by a {sheet.separator})' * bool(sheet.separator)}; allowed "
            f"is, {if_what}, {mapping.written(earlier | proposed)}"
        )
    places = {name: place for name, place in found.items() if place}
    _check_once(sheet.path, places)
    others = [name for name in names if name not in places]
    if sheet.header[:1] == ("",) and any(sheet.cells("")):
        others.insert(0, "the first one, without a name")
    return Columns(sheet, dict(sorted(places.items(), key=_rank)), (*others,))


def _proposed(
    sheet: Sheet, found: Mapping[str, Place | None], said: Mapping[str, Place]
) -> Iterator[tuple[str, str]]:
    """Yield headings that are not known for sure, and the places that they are guessed to have."""
    roles = {place.role for place in found.values() if place}
    at = Role.AT in roles or any(g.role == Role.AT for g in map(guess, found) if g)
    others = re.compile("(?!AUXU)[A-Z][A-Z0-9_]*" if any(map(nhanes.place_of, found)) else "(?!)")
    for text, place in found.items():
        if place is None and Role.CONVENTION not in roles:  # of our exports not all is read
            if not others.fullmatch(text) and (name := _guessed(text, [*sheet.cells(text)], roles)):
                yield text, name
        elif at and text not in said and place and place.role in FREQUENCY_ROLES:
            yield from [(text, Role.EAR)] * all(map(side_of, sheet.cells(text)))


def _to_type(
    found: Mapping[str, Place | None], proposed: dict[str, str]
) -> tuple[dict[str, str], str]:
    """Return what to type so that the table has thresholds, and on which condition.

    Where none is known or guessed it has words to fill in; it is nothing if they make none either.
    """
    known = [*filter(None, found.values()), *filter(None, map(_place_said, proposed.values()))]
    roles = {place.role for place in known if place.route != DISCOMFORT}
    if Role.AT in roles or (Role.THRESHOLD in roles and roles & {*FREQUENCY_ROLES}):
        return proposed, "if it is so"
    lacking = [text for text in proposed if proposed[text] == Role.IGNORE and not says_what(text)]
    if lacking:
        word = "ROUTE" if Role.EAR in roles else "EAR"
        at = {text: hertz_in(text) for text in lacking}
        names = {t: f"{word}.{f:g}" if f in FREQUENCIES_HZ else "PLACE" for t, f in at.items()}
    elif proposed and roles & {*FREQUENCY_ROLES}:
        names = {"HEADING": Role.THRESHOLD.value}
    else:
        return {}, ""
    words = {name.partition(".")[0] for name in [*names, *names.values()]}
    told = [f"{what} for {word}" for word, what in _TO_FILL_IN.items() if word in words]
    return {**proposed, **names}, f"with {' and '.join(told)}"


def _place_said(name: str) -> Place | None:
    return place_named(name, said=True)


def _guessed(text: str, cells: Sequence[str], roles: Collection[Role]) -> str:
    """Return the place that a column has by a guess; "": it may be passed over."""
    place = guess(text)
    if place and (place.route != DISCOMFORT or place.side or Role.EAR in roles):
        return place.name if cells or place.role != Role.THRESHOLD else ""
    if any(map(is_what, cells)):
        return Role.ROUTE
    if not says_what(text) and not any(map(str.isdecimal, text)):
        return ""
    alone = len(tokens_of(text)) == 1 and not is_of_no_matter(text)
    return Role.ROUTE if alone and not all(map(_is_number, cells)) else Role.IGNORE


def _is_number(text: str) -> bool:
    return text.lstrip("+-.")[:1].isdecimal() and not any(map(str.isalpha, text))


def _rank(column: tuple[str, Place]) -> int:
    compact = "".join(filter(str.isalnum, column[0].casefold()))
    return SUBJECTS.index(compact) if compact in SUBJECTS else -1


def _check_once(path: str, places: Mapping[str, Place]) -> None:
    met: dict[tuple[object, ...], str] = {}
    for text, place in places.items():
        key = place.role, place.side, place.route or AIR, place.frequency_hz, place.again
        if place.role not in SEVERAL and met.setdefault(key, text) != text:
            raise AudiogramError(
                f"{path}: columns {show(met[key])} and {show(text)} are both {place.name}; allowed "
                f"is one of them, with {mapping.written({text: Role.IGNORE})} say"
            )
