"""By which published criteria the ears differ, in rows."""

from collections.abc import Iterable, Iterator

from firmware_py.findings.asymmetry import Asymmetry, Criterion, Difference
from firmware_py.findings.rows import Row, row


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
