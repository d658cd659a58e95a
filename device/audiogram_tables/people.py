"""What a row says of the person: who it is, age and sex, the ear, and what speaks against a fit."""

import math
from typing import Any, Final

from device.audiogram_tables import nhanes
from device.audiogram_tables.columns import Columns
from device.audiogram_tables.ears import NO_DB_HL, NOT_VALID, AudiogramError
from device.audiogram_tables.places import NO_THRESHOLD, Role, side_of, tokens_of
from device.audiogram_tables.sheet import Row
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.printable import show

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


def person_of(columns: Columns, row: Row) -> dict[str, Any]:
    """Return what a row says of the person, by the names of `TableEar`."""
    subjects = [text for text, _ in columns.of(Role.SUBJECT)]
    for text in subjects[:1]:
        must = text.casefold() in _MUST or columns.names_people
        if must and not row[text]:
            raise AudiogramError(
                f"{row.place(text)}: is empty, allowed is anything that tells one person from "
                "another"
            )
    return {
        "person": next(filter(None, (row[text] for text in subjects)), ""),
        "source": columns.cell(row, Role.SOURCE),
        "age_years": _age(columns, row),
        "sex": _sex(columns, row),
        "convention": columns.cell(row, Role.CONVENTION),
    }


def names_of(columns: Columns, row: Row) -> tuple[str, ...]:
    """Return all that a row calls its person, and the session."""
    cells = (row.cells.get(text) for text, _ in columns.of(Role.SUBJECT, Role.SESSION))
    return tuple(dict.fromkeys(filter(None, cells)))


def remarks_of(columns: Columns, row: Row, side: str) -> list[str]:
    verdicts = [t for t, p in columns.of(Role.VERDICT) if p.side in ("", side) and not p.route]
    words = dict.fromkeys(row[text] for text in verdicts)
    doubts = [f"{NOT_VALID}: {w}" for w in words if w in (Verdict.DOUBTFUL, Verdict.NOT_TESTED)]
    unit = columns.cell(row, Role.UNIT)
    if unit and "".join(filter(str.isalnum, unit.casefold())) != DECIBELS:
        doubts.append(f"{NO_DB_HL}: {unit}")
    return doubts


def ear_of(columns: Columns, row: Row, *, must: bool = False) -> tuple[str, str, str]:
    """Return the ear of a row in a letter, its side, and its route, "" where the row says none.

    A word that is no ear stands as it is, unless it `must` be one.
    """
    word, side, route = "", "", ""
    for number, (text, _) in enumerate(columns.of(Role.EAR)):
        found = side_of(row[text]) or ("", "")
        if {*tokens_of(row[text])} & NO_THRESHOLD or (must and not found[0]):
            raise AudiogramError(
                f"{row.place(text)}: {show(row[text])}, allowed are R and L, or right and left"
            )
        if number and found[0] != side:
            raise AudiogramError(
                f"{row.place(text)}: {show(row[text])}, and {show(word)} in another column; "
                "allowed is the same ear"
            )
        word, side, route = word or row[text], found[0], route or found[1]
    for text, _ in columns.of(Role.ROUTE):
        by = side_of(row[text]) or ("", "")
        if row[text] and (by[0] or not by[1]):
            raise AudiogramError(
                f"{row.place(text)}: {show(row[text])}, allowed are AC, BC and UCL, or air, "
                "bone and ucl; take out rows that are none of them"
            )
        route = by[1] or route
    return LETTERS[side] or ("" if side_of(word) else word), side, route


def _age(columns: Columns, row: Row) -> float:
    text = columns.cell(row, Role.AGE)
    if not text or text == ".":
        return math.nan
    where = row.place(columns.of(Role.AGE)[0][0])
    try:
        age_years = float(text.replace(",", "."))
    except ValueError:
        raise AudiogramError(f"{where}: {show(text)} is not a number of years") from None
    if not 0.0 <= age_years <= AGE_MAX_YEARS:
        raise AudiogramError(f"{where}: {text} years, allowed are 0 to {AGE_MAX_YEARS:g}")
    return age_years


def _sex(columns: Columns, row: Row) -> str:
    for heading, _ in columns.of(Role.SEX):
        text = row[heading].upper()
        if heading.upper() == nhanes.SEX:
            text = _CODES.get(text.removesuffix(".0"), text)
        if text not in _SEXES:
            raise AudiogramError(
                f"{row.place(heading)}: {show(text)}, allowed are F, M and an empty cell"
            )
        return _SEXES[text]
    return ""
