"""Mean thresholds and grades of hearing loss, in rows."""

from collections.abc import Iterator, Sequence
from typing import Final

from firmware_py.ear.mean_threshold import GRADES_DB_HL, outside_hz
from firmware_py.findings.grades import grades_said, person_grade
from firmware_py.findings.rows import Row, row, share_row
from firmware_py.findings.whole_band import Whole
from firmware_py.paper.blocks import Table, table
from firmware_py.paper.head import why_nothing_follows
from firmware_py.paper.source import Source
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.results import EarResult, MeanThreshold

_BOUND: Final = {Bound.NONE: "", Bound.AT_LEAST: "-at-least", Bound.AT_MOST: "-at-most"}


def mean_rows(source: Source) -> Iterator[Row]:
    if source.nominal:
        yield row("no-mean-nominal")
        return
    yield from (_mean_of(source, ear) for ear in source.by_air)
    known = [ear for ear in source.by_air if ear.pta4 is not None]
    person = person_grade(source.graded)
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


def _mean_of(source: Source, ear: EarResult) -> Row:
    found, whole, name = ear.pta4, source.uncertainty.of_mean(ear), str(ear.route)
    if found is None or whole is None:
        why = why_nothing_follows(ear) or row("not-in-test", frequencies_hz=outside_hz(ear))
        return row("pta4-none", ear=name, why=why)
    mean = _level_of_mean(found, whole)
    if found.beyond_hz:
        mean = row("mean-beyond", mean=mean, frequencies_hz=found.beyond_hz)
    if found.inferred_hz:
        mean = row("mean-inferred", mean=mean)
    if found.doubtful_hz:
        mean = row("mean-doubtful", mean=mean, frequencies_hz=found.doubtful_hz)
    return row("pta4", ear=name, mean=mean, grades=_grades(found.bound, found.shares))


def _level_of_mean(found: MeanThreshold, whole: Whole) -> Row:
    ends = {
        "low": found.low_db_hl, "high": found.high_db_hl,
        "whole_low": whole.low_db_hl, "whole_high": whole.high_db_hl,
    }  # fmt: skip
    known = {name: end for name, end in ends.items() if end is not None}
    if found.bound == Bound.NONE:
        return row("mean", mean_level=found.level_db_hl, **known)
    return row(f"mean{_BOUND[found.bound]}", level=found.level_db_hl, **known)


def grade_row(name: str) -> Row:
    return row(f"grade-{name.replace(' ', '-')}")


def _grades(bound: Bound, shares: Sequence[float]) -> Row:
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
    person = None if source.nominal else person_grade(source.graded)
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
    edges, place = [*GRADES_DB_HL.values()], [*GRADES_DB_HL].index(name)
    grade = grade_row(name)
    if place == 0:
        return row("grade-below", grade=grade, high=edges[1])
    if place + 1 == len(edges):
        return row("grade-and-more", grade=grade, low=edges[place])
    return row("grade-from-to", grade=grade, low=edges[place], high=edges[place + 1])
