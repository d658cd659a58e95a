"""What a row says of the person: who it is, age and sex, and what speaks against a fit."""

import math
from dataclasses import dataclass, replace
from typing import Final

from device.audiogram_tables import nhanes
from device.audiogram_tables.columns import Columns
from device.audiogram_tables.ears import NO_DB_HL, NOT_VALID, AudiogramError, TableEar
from device.audiogram_tables.grid import Row
from device.audiogram_tables.headings import Role, side_of
from device.audiogram_tables.levels import plain
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR, RIGHT

AGE_MAX_YEARS: Final = 130.0
_SEXES: Final = {
    "": "",
    **dict.fromkeys(("F", "FEMALE", "W", "WEIBLICH", "FRAU", "V", "VROUW", "VROUWELIJK"), "F"),
    **dict.fromkeys(("M", "MALE", "MÄNNLICH", "MANN", "MAN", "MANNELIJK"), "M"),
}
_CODES: Final = {code: sex for sex, code in nhanes.SEXES.items()}
_MUST: Final = ("subject", "person")  # columns that have to tell one person from another
DECIBELS: Final = "dbhl"
LETTERS: Final = {"right": "R", "left": "L", "": ""}


@dataclass(frozen=True)
class Someone:
    """Whose a row is."""

    person: str
    source: str
    names: tuple[str, ...]
    age_years: float
    sex: str
    remarks: tuple[str, ...]
    convention: str

    def ear(self, where: str, ear: str, side: str) -> TableEar:
        """Return an ear of this person of which nothing is known."""
        return TableEar(
            where, self.person, self.source, self.names, ear, side, {}, {},
            age_years=self.age_years, sex=self.sex, remarks=self.remarks,
            convention=self.convention,
        )  # fmt: skip

    def with_verdict(self, word: str) -> "Someone":
        """Return it with what the verdict on a test of an ear says."""
        return replace(self, remarks=(*self.remarks, *_doubts(word)))


def someone(columns: Columns, row: Row) -> Someone:
    """Return whose a row is.

    Raises
    ------
    AudiogramError
        A cell is not what it has to be.
    """
    where, convention = columns.grid.place(row), columns.cell(row, Role.CONVENTION)
    unit = columns.cell(row, Role.UNIT)
    remarks = _doubts(columns.cell(row, Role.VERDICT))
    if unit and "".join(filter(str.isalnum, unit.casefold())) != DECIBELS:
        remarks = (*remarks, f"{NO_DB_HL}: {unit}")
    subjects = columns.of(Role.SUBJECT)
    cells = [(each, plain(row.cells[each.index])) for each in subjects]
    for each, cell in cells[:1]:
        if not cell and (each.text.casefold() in _MUST or columns.names_people):
            raise AudiogramError(
                f"{where}, column {each.text}: is empty, allowed is anything that tells one person "
                "from another"
            )
    names = [cell for _, cell in cells if cell]
    return Someone(
        names[0] if names else "",
        columns.cell(row, Role.SOURCE),
        names_of(columns, row),
        _age(columns, row),
        _sex(columns, row),
        remarks,
        convention,
    )


def names_of(columns: Columns, row: Row) -> tuple[str, ...]:
    """Return all that a row calls its person, and the session."""
    who = [*columns.of(Role.SUBJECT), *columns.of(Role.SESSION)]
    cells = [plain(row.cells[each.index]) for each in who if each.index < len(row.cells)]
    return tuple(dict.fromkeys(filter(None, cells)))


def ear_of(columns: Columns, row: Row, *, must: bool = False) -> tuple[str, str, str]:
    """Return the ear of a row in a letter, its side, and its route.

    A word that is no ear stands as it is, unless it `must` be one.
    """
    word = columns.cell(row, Role.EAR)
    told = columns.cell(row, Role.ROUTE)
    side, route = ("", AIR) if not word else side_of(word) or (None, AIR)
    for column in columns.of(Role.EAR)[1:]:
        cell, first = row.cells[column.index], columns.of(Role.EAR)[0].text
        again = side_of(cell)
        if again is None or again[0] != side:
            raise AudiogramError(
                f"{columns.grid.place(row)}, column {column.text}: {show(cell)}, and {show(word)} "
                f"in column {first}; allowed is the same ear"
            )
    if told:
        by = side_of(told)
        if by is None or by[0]:
            raise AudiogramError(
                f"{columns.grid.place(row)}, column {columns.of(Role.ROUTE)[0].text}: "
                f"{show(told)}, allowed are AC and BC, or air and bone"
            )
        route = by[1]
    if must and columns.of(Role.EAR) and not side:
        raise AudiogramError(
            f"{columns.grid.place(row)}, column {columns.of(Role.EAR)[0].text}: {show(word)}, "
            "allowed are R and L, or right and left"
        )
    if side is None:
        return word, "", route
    return LETTERS[side], side, route


def letter(side: str) -> str:
    """Return an ear in a letter."""
    return LETTERS[side] if side else LETTERS[RIGHT]


def _doubts(word: str) -> tuple[str, ...]:
    if word in (Verdict.DOUBTFUL, Verdict.NOT_TESTED):
        return (f"{NOT_VALID}: {word}",)
    return ()


def _age(columns: Columns, row: Row) -> float:
    text = columns.cell(row, Role.AGE)
    if not text or text == ".":
        return math.nan
    where = f"{columns.grid.place(row)}, column {columns.of(Role.AGE)[0].text}"
    try:
        age_years = float(text.replace(",", "."))
    except ValueError:
        raise AudiogramError(f"{where}: {show(text)} is not a number of years") from None
    if not 0.0 <= age_years <= AGE_MAX_YEARS:
        raise AudiogramError(f"{where}: {text} years, allowed are 0 to {AGE_MAX_YEARS:g}")
    return age_years


def _sex(columns: Columns, row: Row) -> str:
    text, column = columns.cell(row, Role.SEX).upper(), columns.of(Role.SEX)
    if column and column[0].text.upper() == nhanes.SEX:
        text = _CODES.get(text.removesuffix(".0"), text)
    if text not in _SEXES:
        raise AudiogramError(
            f"{columns.grid.place(row)}, column {column[0].text}: {show(text)}, allowed are F, M "
            "and an empty cell"
        )
    return _SEXES[text]
