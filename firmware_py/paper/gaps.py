"""The air-bone gaps of ears, the types of their losses, and how ears differ, in rows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from firmware_py.findings.air_bone_gap import (
    EXAMINATION_SOURCE,
    TYPE_SOURCE,
    EarGaps,
    Gap,
    may_be_airborne,
)
from firmware_py.findings.asymmetry import Asymmetry, Criterion, Difference
from firmware_py.findings.rows import Cell, Row, no_value, row, share_row
from firmware_py.paper.blocks import Table, table
from firmware_py.paper.head import why_nothing_follows
from firmware_py.paper.source import Source
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.route import Route
from firmware_py.terms.verdicts import may_conclude

_BOUND: Final = {Bound.NONE: "", Bound.AT_LEAST: "-at-least", Bound.AT_MOST: "-at-most"}

GapsRecord = Mapping[str, Any]  # the gaps of an ear, as `EarGaps.to_record` tells them


def loss_rows(gaps: Iterable[GapsRecord]) -> Iterator[Row]:
    for found in gaps:
        loss, mean = row(f"loss-{found['loss']}"), found["mean"]
        if found["loss_is_probable"]:
            loss = row("loss-probably", loss=loss)
        of = {"ear": found["ear"], "loss": loss}
        yield row("gap-none", **of) if mean is None else _of_mean(found, mean, of)


def _of_mean(found: GapsRecord, mean: GapsRecord, of: Row) -> Row:
    ends = {"low": mean["low_db"], "high": mean["high_db"]}
    known = {name: end for name, end in ends.items() if end is not None}
    gap = row(f"gap{_BOUND[mean['bound']] or '-value'}", level=mean["db"], **known)
    if at_hz := mean["inferred_hz"]:
        gap = row("gap-inferred", gap=gap, frequencies_hz=at_hz)
    if found["mean_is_undecided"]:
        return row("gap-mean", **of, gap=gap, share=row("unknown"))
    if mean["share"] is None:
        return row("gap-mean-bound", **of, gap=gap)
    return row("gap-mean", **of, gap=gap, share=share_row(mean["share"]))


def missing_rows(source: Source) -> Iterator[Row]:
    """Say why no gap is told of an ear that was tested by bone; nothing without a calibration."""
    ears = {ear.route: ear for ear in source.ears}
    told = {found.ear for found in source.gaps}
    for ear in source.ears:
        if ear.route.by_bone and ear.route.ear not in told and not source.nominal:
            both = [each for each in (ear, ears.get(Route(ear.route.ear))) if each is not None]
            in_doubt = [each for each in both if not may_conclude(each)]
            for each in in_doubt[:1]:
                yield row("gap-missing", ear=str(each.route), why=why_nothing_follows(each))


def gap_remarks(gaps: Iterable[GapsRecord]) -> Iterator[Row]:
    found = [*gaps]
    for gap in found:
        ear = gap["ear"]
        if at_hz := gap["examined_hz"]:
            yield row("gap-examination", ear=ear, frequencies_hz=at_hz, source=EXAMINATION_SOURCE)
        if at_hz := gap["impossible_hz"]:
            yield row("gap-impossible", ear=ear, frequencies_hz=at_hz)
        told_hz = (f for each in gap["gaps"] for f in each["frequencies_hz"])
        if at_hz := [f for f in told_hz if may_be_airborne(f)]:
            yield row("gap-airborne", ear=ear, frequencies_hz=at_hz)
        if gap["bone_is_poorer"]:
            yield row("gap-negative", ear=ear)
        if gap.get("third_window"):  # documents of earlier versions do not tell it
            yield row("gap-third-window", ear=ear)
    if any(gap["in_either"] for gap in found):
        yield row("gap-either", source=EXAMINATION_SOURCE)


def gap_rule(source: Source) -> Row | None:
    return row("gap-rule", source=TYPE_SOURCE) if source.gaps else None


def gap_tables(source: Source) -> list[Table]:
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
    return _or_inferred(gap, row(codes[gap.bound], level=gap.db))


def _gap_band(gap: Gap) -> Row:
    low, high = gap.low_db, gap.high_db
    if low is None:
        return no_value() if high is None else _or_inferred(gap, row("up-to", high=high))
    code, ends = ("from-up", {}) if high is None else ("band", {"high": high})
    return _or_inferred(gap, row(code, low=low, **ends))


def _or_inferred(gap: Gap, told: Row) -> Row:
    return row("inferred", value=told) if gap.inferred_hz else told


# By which published criteria the ears differ.


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
    by_source: dict[str, list[Criterion]] = {}
    for criterion in dict.fromkeys(each for one in found for each in one.criteria):
        by_source.setdefault(criterion.source, []).append(criterion)
    for source, met in by_source.items():
        yield row("criteria", source=source, of=[row(each.code) for each in met])


def _about(found: Asymmetry) -> Row:
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
