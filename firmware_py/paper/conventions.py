"""What the numbers of a paper are: their convention, and the age norm, in rows."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from firmware_py.findings.convention import confirmed_outside
from firmware_py.findings.norms import (
    AGE_MAX_YEARS,
    AGE_MIN_YEARS,
    STANDARD,
    AgeNorm,
    NoNorm,
    Usual,
)
from firmware_py.findings.rows import Cell, Row, band_row, row, share_row
from firmware_py.paper.blocks import Table, table
from firmware_py.paper.source import Source
from firmware_py.terms.person import FEMALE
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import BY_AIR
from firmware_py.terms.settings import CLINICAL_ASCENDING
from firmware_py.terms.shown_threshold import as_shown
from firmware_py.terms.verdicts import has_thresholds, may_conclude

_NO_NORM: Final = {
    NoNorm.NOMINAL: "nominal-why",
    NoNorm.VERDICT: "no-valid-test",
    NoNorm.PERSON: "norm-needs",
    NoNorm.NO_AGE: "norm-needs-age",
    NoNorm.NO_SEX: "norm-needs-sex",
    NoNorm.AGE: "norm-age",
    NoNorm.LOCKED: "norm-locked",
}


def convention_row(source: Source) -> Row | None:
    """Say which thresholds are told, and on which grades, norms and rules rest; None of none."""
    ears = [ear for ear in source.ears if has_thresholds(ear)]
    if not ears:
        return None
    clinical = source.convention == CLINICAL_ASCENDING
    code = "convention-clinical" if clinical else "convention-50"
    if not clinical and (source.nominal or not any(map(may_conclude, ears))):
        return row(code)
    rest = [ear for ear in ears if ear.route.kind is BY_AIR] or ears
    offsets = {ear.route.ear: row("offset", offset_db=ear.clinical_offset_db) for ear in rest}
    if len({each["offset_db"] for each in offsets.values()}) == 1:
        return row(f"{code}-rules", offset=next(iter(offsets.values())))
    return row(f"{code}-rules-ears", **offsets)


def confirmed_rows(source: Source) -> Iterator[Row]:
    ears = [ear for ear in source.ears if has_thresholds(ear) and ear.confirmed]
    if ears:
        yield row("convention-confirmed")
    for ear in ears:
        again = {each.frequency_hz: each.threshold_db_hl for each in ear.confirmed}
        for found in ear.thresholds:
            level = again.get(found.frequency_hz)
            clinical = confirmed_outside(found, level, source.below_clinical_db(ear))
            if clinical is not None:
                yield row(
                    "confirmed-beside", ear=str(ear.route), frequency_hz=found.frequency_hz,
                    level=level, band=band_row(as_shown(clinical)), **source.unit,
                )  # fmt: skip


def norm_rows(source: Source) -> Iterator[Row]:
    norm, person = source.norm, source.person
    if not isinstance(norm, AgeNorm):
        figures: Mapping[str, object] = {}
        if norm in (NoNorm.PERSON, NoNorm.NO_AGE, NoNorm.NO_SEX, NoNorm.AGE):
            figures = {"standard": STANDARD}
        if norm == NoNorm.AGE:
            ages = {"low": AGE_MIN_YEARS, "high": AGE_MAX_YEARS}
            figures = {**figures, **ages, "age": person.age_years or 0.0}
        yield row("no-norm", why=row(_NO_NORM[norm], **figures))
        return
    of: Row | str = STANDARD
    if norm.informative_above_hz is not None:
        of = row("norm-informative", standard=STANDARD, frequency_hz=norm.informative_above_hz)
    code = "norm-women" if norm.sex == FEMALE else "norm-men"
    yield row("norm-note", people=row(code, age=norm.age_years, source=of))
    ears = [ear for ear in source.ears if may_conclude(ear)]
    if any(round(source.below_clinical_db(ear), 1) > 0.0 for ear in ears):
        yield row("norm-note-50")


def norm_lines(source: Source) -> dict[str, Any]:
    """Return the age norm of each ear by its route, as an audiogram draws it; nothing without."""
    norm = source.norm
    if not isinstance(norm, AgeNorm):
        return {}
    ears = [ear for ear in source.by_air if may_conclude(ear)]
    return {str(ear.route): norm.lines(source.below_clinical_db(ear)) for ear in ears}


def norm_tables(source: Source) -> list[Table]:
    norm = source.norm
    if not isinstance(norm, AgeNorm):
        return []
    return [_norm_table(source, ear, norm) for ear in source.by_air if may_conclude(ear)]


def _peers(usual: Usual) -> Row:
    """Return how many people hear better, and how many by the whole band."""
    told = share_row(usual.share_better)
    if usual.shares_at_ends is None:
        return told
    low, high = map(share_row, usual.shares_at_ends)
    return told if low == high else row("share-between", share=told, low=low, high=high)


def _norm_table(source: Source, ear: EarResult, norm: AgeNorm) -> Table:
    below_db = source.below_clinical_db(ear)
    usual = {
        t.frequency_hz: norm.usual(t, below_db, source.uncertainty.of(ear.route, t))
        for t in ear.thresholds
    }
    found = {hz: each for hz, each in usual.items() if each is not None}
    cells: dict[str, list[Cell]] = {"row-usual": [], "row-peers": []}
    for each in found.values():
        low, median, high = each.levels_db_hl
        ends = {} if low is None or high is None else {"low": low, "high": high}
        cells["row-usual"].append(row("norm" if ends else "level", level=median, **ends))
        cells["row-peers"].append(_peers(each))
    name = str(ear.route)
    rows = [(row(code), of) for code, of in cells.items()]
    return table(row("norm-of", ear=name), [row("hertz"), *found], rows, of=name)
