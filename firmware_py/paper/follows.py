"""What follows from the thresholds, in rows: mean and grade, gaps, asymmetry, age norm."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from firmware_py.findings.air_bone_gap import TYPE_SOURCE, EarGaps, Gap
from firmware_py.findings.asymmetry import Asymmetry, Criterion, Difference
from firmware_py.findings.beside import NoNorm
from firmware_py.findings.convention import confirmed_outside
from firmware_py.findings.grades import grades_said, person_grade
from firmware_py.findings.norms import AGE_MAX_YEARS, AGE_MIN_YEARS, STANDARD, AgeNorm
from firmware_py.findings.rows import Cell, Row, band_row, no_value, row, share_row
from firmware_py.paper.blocks import Table, table
from firmware_py.paper.head import why_nothing_follows
from firmware_py.paper.source import Source
from firmware_py.procedure.mean_threshold import GRADES_DB_HL, outside_hz
from firmware_py.procedure.outcomes import Bound
from firmware_py.procedure.person import FEMALE
from firmware_py.procedure.reading import read
from firmware_py.procedure.results import EarResult, MeanThreshold
from firmware_py.procedure.route import BY_AIR, Route
from firmware_py.procedure.settings import CLINICAL_ASCENDING
from firmware_py.procedure.verdicts import has_thresholds, may_conclude

EXAMINATION_SOURCE: Final = "21 CFR 801.420"
_BOUND: Final = {Bound.NONE: "", Bound.AT_LEAST: "-at-least", Bound.AT_MOST: "-at-most"}
_NO_NORM: Final = {
    NoNorm.NOMINAL: "nominal-why",
    NoNorm.VERDICT: "no-valid-test",
    NoNorm.PERSON: "norm-needs",
    NoNorm.NO_AGE: "norm-needs-age",
    NoNorm.NO_SEX: "norm-needs-sex",
    NoNorm.AGE: "norm-age",
    NoNorm.LOCKED: "norm-locked",
}


# Mean threshold and grade.


def mean_rows(source: Source) -> Iterator[Row]:
    """Say what PTA4 and grade of each ear are, and the grade of the person."""
    if source.nominal:
        yield row("no-mean-nominal")
        return
    yield from (_mean_of(ear) for ear in source.by_air)
    known = [ear for ear in source.by_air if ear.pta4 is not None]
    person = person_grade(source.result)
    if person is not None:
        told = row(
            "person-grade-inferred" if person.inferred else "person-grade",
            grades=_grades(person.bound, person.shares),
        )
        lone = person.unilateral
        if lone is not None:
            told = row("person-unilateral", person=told, share=share_row(lone))
        yield row("remark", of=told)
    elif len(known) == 1:
        yield row("remark", of=row("person-one-ear", ear=str(known[0].route)))
    elif known:
        yield row("remark", of=row("person-boards"))


def _mean_of(ear: EarResult) -> Row:
    found, name = ear.pta4, str(ear.route)
    if found is None:
        why = why_nothing_follows(ear) or row("not-in-test", frequencies_hz=outside_hz(ear))
        return row("pta4-none", ear=name, why=why)
    mean = _level_of_mean(found)
    if found.beyond_hz:
        mean = row("mean-beyond", mean=mean, frequencies_hz=found.beyond_hz)
    if found.inferred_hz:
        mean = row("mean-inferred", mean=mean)
    if found.doubtful_hz:
        mean = row("mean-doubtful", mean=mean, frequencies_hz=found.doubtful_hz)
    return row("pta4", ear=name, mean=mean, grades=_grades(found.bound, found.shares))


def _level_of_mean(found: MeanThreshold) -> Row:
    ends = {"low": found.low_db_hl, "high": found.high_db_hl}
    known = {name: end for name, end in ends.items() if end is not None}
    if found.bound == Bound.NONE:
        return row("mean", mean_level=found.level_db_hl, **known)
    return row(f"mean{_BOUND[found.bound]}", level=found.level_db_hl, **known)


def grade_row(name: str) -> Row:
    """Return a grade of hearing loss."""
    return row(f"grade-{name.replace(' ', '-')}")


def _grades(bound: Bound, shares: Sequence[float]) -> Row:
    """Return the grades that are named, with their shares; of a bound the one that is sure."""
    said = grades_said(bound, shares)
    if bound == Bound.NONE:
        of = (row("grade-share", grade=grade_row(n), share=share_row(each)) for n, each in said)
        return row("listed", of=of)
    (name, _), (best, *_, poorest) = said[0], GRADES_DB_HL
    own, any_grade = (poorest, best) if bound == Bound.AT_LEAST else (best, poorest)
    if name == any_grade:
        return row("grade-open")
    return grade_row(name) if name == own else row(f"grade{_BOUND[bound]}", grade=grade_row(name))


def grade_table(source: Source) -> Table | None:
    """Return how likely each grade is; None where there are but bounds, of which lines say all."""
    shares: dict[str, Sequence[float]] = {
        str(ear.route): ear.pta4.shares
        for ear in source.by_air
        if ear.pta4 is not None and ear.pta4.bound == Bound.NONE
    }
    columns = [row("the-ear", ear=name) for name in shares]
    person = None if source.nominal else person_grade(source.result)
    if person is not None and person.bound == Bound.NONE:
        shares["person"] = person.shares
        columns.append(row("grade-person"))
    if not shares:
        return None
    rows = [
        (_with_edges(name), [share_row(each[place]) for each in shares.values()])
        for place, name in enumerate(GRADES_DB_HL)
    ]
    return table(row("grade-caption"), [row("grade"), *columns], rows)


def _with_edges(name: str) -> Row:
    """Return a grade with the mean thresholds that it is of."""
    edges, place = [*GRADES_DB_HL.values()], [*GRADES_DB_HL].index(name)
    grade = grade_row(name)
    if place == 0:
        return row("grade-below", grade=grade, high=edges[1])
    if place + 1 == len(edges):
        return row("grade-and-more", grade=grade, low=edges[place])
    return row("grade-from-to", grade=grade, low=edges[place], high=edges[place + 1])


# The air-bone gap.


def loss_rows(source: Source) -> Iterator[Row]:
    """Say which type the loss of each ear is by its air-bone gap; nothing without bone."""
    yield from map(_loss, source.gaps)
    yield from _without_gaps(source)


def gap_rule(source: Source) -> Row | None:
    """Return the rule by which the types of loss are."""
    return row("gap-rule", source=TYPE_SOURCE) if source.gaps else None


def _loss(found: EarGaps) -> Row:
    loss, mean = row(f"loss-{found.loss}"), found.mean
    if found.loss_is_probable:
        loss = row("loss-probably", loss=loss)
    if mean is None:
        return row("gap-none", ear=found.ear, loss=loss)
    gap = _gap_value(mean)
    if mean.inferred_hz:
        gap = row("mean-inferred", mean=gap)
    if mean.is_undecided:
        return row("gap-mean", ear=found.ear, loss=loss, gap=gap, share=row("unknown"))
    if found.told_share is None:
        return row("gap-mean-bound", ear=found.ear, loss=loss, gap=gap)
    return row("gap-mean", ear=found.ear, loss=loss, gap=gap, share=share_row(found.told_share))


def _gap_value(gap: Gap) -> Row:
    ends = {"low": gap.low_db, "high": gap.high_db}
    known = {name: end for name, end in ends.items() if end is not None}
    return row(f"gap{_BOUND[gap.bound] or '-value'}", level=gap.db, **known)


def _without_gaps(source: Source) -> Iterator[Row]:
    """Say why no gap is told of an ear that was tested by bone; nothing without a calibration."""
    ears = {ear.route: ear for ear in source.ears}
    told = {found.ear for found in source.gaps}
    for ear in source.ears:
        if ear.route.by_bone and ear.route.ear not in told and not source.nominal:
            both = (ear, ears.get(Route(ear.route.ear)))
            for each in both:
                why = None if each is None else why_nothing_follows(each)
                if each is not None and why is not None:
                    yield row("gap-missing", ear=str(each.route), why=why)
                    break


def gap_tables(source: Source) -> list[Table]:
    """Return the gaps of each ear, with a column a frequency."""
    return [_gap_table(ear) for ear in source.gaps if ear.gaps]


def _gap_table(ear: EarGaps) -> Table:
    cells: dict[str, list[Cell]] = {
        "row-gap": [_gap_cell(gap) for gap in ear.gaps],
        "row-band": [_gap_band(gap) for gap in ear.gaps],
        "row-called": [share_row(gap.told_share) for gap in ear.gaps],
    }
    columns: list[Cell] = [row("hertz"), *(gap.frequencies_hz[0] for gap in ear.gaps)]
    rows = [(row(code), each) for code, each in cells.items()]
    return table(row("gaps-of", ear=ear.ear), columns, rows, of=ear.ear, main=1)


def _gap_cell(gap: Gap) -> Row:
    codes = {Bound.NONE: "level", Bound.AT_LEAST: "at-least", Bound.AT_MOST: "at-most"}
    told = row(codes[gap.bound], level=gap.db)
    return row("inferred", value=told) if gap.inferred_hz else told


def _gap_band(gap: Gap) -> Row:
    if gap.low_db is None:
        return no_value() if gap.high_db is None else row("up-to", high=gap.high_db)
    if gap.high_db is None:
        return row("from-up", low=gap.low_db)
    return row("band", low=gap.low_db, high=gap.high_db)


def gap_remarks(gaps: Sequence[EarGaps]) -> Iterator[Row]:
    """Say which gaps want an examination, and which cannot be."""
    for gap in gaps:
        if gap.examined_hz:
            at = {"frequencies_hz": gap.examined_hz, "source": EXAMINATION_SOURCE}
            yield row("gap-examination", ear=gap.ear, **at)
        if gap.impossible_hz:
            yield row("gap-impossible", ear=gap.ear, frequencies_hz=gap.impossible_hz)
        if gap.bone_is_poorer:
            yield row("gap-negative", ear=gap.ear)
    if any(gap.in_either for gap in gaps):
        yield row("gap-either", source=EXAMINATION_SOURCE)


# Asymmetry.


def asymmetry_row(found: Asymmetry) -> Row:
    """Say by how much an ear is worse than the other, and which criteria that meets."""
    code = "asymmetry" if found.sure else "asymmetry-doubt"
    told = row("listed", of=map(_difference, found.differences))
    if found.more:
        told = row("differences-more", differences=told, count=found.more)
    return row(
        "asymmetry-may" if found.may_be_conductive else code,
        ear=found.ear,
        differences=told,
        criteria=[*dict.fromkeys(each.source for each in found.criteria)],
        about=_about(found),
    )


def criteria_rows(found: Iterable[Asymmetry]) -> Iterator[Row]:
    """Say which criteria of which sources are met."""
    by_source: dict[str, list[Criterion]] = {}
    for criterion in dict.fromkeys(each for one in found for each in one.criteria):
        by_source.setdefault(criterion.source, []).append(criterion)
    for source, met in by_source.items():
        yield row("criteria", source=source, of=[row(each.key.replace("_", "-")) for each in met])


def _about(found: Asymmetry) -> Row:
    """Say what is known of the type of loss, which the sources mean."""
    if found.bone_hz:
        return row("asymmetry-by-bone", frequencies_hz=found.bone_hz)
    if found.may_be_conductive and found.loss == "sensorineural":
        return row("asymmetry-unknown")  # it was inferred
    return row(f"asymmetry-{found.loss or 'by-air'}")


def _difference(found: Difference) -> Row:
    at = {"level": found.db, "frequency_hz": found.frequency_hz}
    if found.at_least:
        return row("difference-at-least", **at)
    return row("difference", **at, half=found.half_width_db)


# The convention of the numbers, and the age norm.


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
    """Say what confirmed thresholds are, and against what those outside their bands are held."""
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
                    level=level, band=band_row(read(clinical)), **source.unit,
                )  # fmt: skip


def norm_rows(source: Source) -> Iterator[Row]:
    """Say whom the age norm is about, or why there is none."""
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
    """Return what is usual at the age, beside the thresholds of each ear by air."""
    norm = source.norm
    if not isinstance(norm, AgeNorm):
        return []
    return [_norm_table(source, ear, norm) for ear in source.by_air if may_conclude(ear)]


def _norm_table(source: Source, ear: EarResult, norm: AgeNorm) -> Table:
    below_db = source.below_clinical_db(ear)
    usual = {t.frequency_hz: norm.usual(t, below_db) for t in ear.thresholds}
    found = {hz: each for hz, each in usual.items() if each is not None}
    cells: dict[str, list[Cell]] = {"row-usual": [], "row-peers": []}
    for each in found.values():
        low, median, high = each.levels_db_hl
        ends = {} if low is None or high is None else {"low": low, "high": high}
        cells["row-usual"].append(row("norm" if ends else "level", level=median, **ends))
        cells["row-peers"].append(share_row(each.share_better))
    name = str(ear.route)
    rows = [(row(code), of) for code, of in cells.items()]
    return table(row("norm-of", ear=name), [row("hertz"), *found], rows, of=name)
