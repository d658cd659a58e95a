"""People and their sessions as a paper: what came of the ears, and the thresholds over time."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from firmware_py.findings.rows import (
    LEAST_SHARE,
    Cell,
    Row,
    band_row,
    count_row,
    level_row,
    no_value,
    row,
    share_row,
    verdict_row,
)
from firmware_py.findings.whole_band import REPETITION, REPETITION_SOURCE
from firmware_py.paper import blocks
from firmware_py.paper.head import state_row
from firmware_py.terms.calibration_states import OVERDUE, SIMULATED, UNCALIBRATED
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.reasons import NOMINAL_DB, UNIT
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import BRISK, CLINICAL, CLINICAL_ASCENDING
from firmware_py.terms.shown_threshold import Kind, ShownThreshold, as_shown
from firmware_py.terms.verdicts import may_conclude
from host_tools.commands.sessions import change
from host_tools.commands.sessions.change import SHIFT_DB, Shift
from host_tools.commands.sessions.people import EARS, Comparison, Person, Visit
from host_tools.commands.sessions.rules_paper import day_row, rule_blocks
from host_tools.recordings.entry import mean_row

SURE: Final = 1.0 - LEAST_SHARE  # what is above it is told as that


def name_row(person: Person) -> Row:
    return row("listed", of=person.identifier) if person.identifier else row("no-identifier")


def summary(number: int, person: Person, comparisons: Sequence[Comparison]) -> blocks.Section:
    """Return what came of a person's ears, and the sessions in order."""
    days = [day_row(visit) for visit in person.visits]
    return blocks.section(
        f"person-{number}",
        name_row(person),
        blocks.rows([count_row("people-sessions", len(days), first=days[0], last=days[-1])]),
        *_of_nobody(person),
        *(_alarm(each) for each in comparisons if each.change.changed),
        blocks.rows(remarks(person, comparisons)),
        *rule_blocks(person),
        blocks.rows(map(_visit, person.visits)),
        _convention(person),
    )


def _of_nobody(person: Person) -> list[blocks.Block]:
    """Say that a program answered, in sessions of a simulated board."""
    found = any(visit.entry.calibration == SIMULATED for visit in person.visits)
    return [blocks.alarm(row("simulated-mark"), [row("simulated-means")])] if found else []


def history(
    number: int, person: Person, comparisons: Sequence[Comparison], *, nominal: bool
) -> blocks.Section:
    """Return the levels of sessions with a calibration, or of those without one.

    The charts are a figure that has the name of the section.
    """
    name = f"person-{number}-{'nominal' if nominal else 'levels'}"
    title = row("people-over-time", person=name_row(person), **unit_of(nominal))
    return blocks.section(
        name,
        title,
        blocks.figure(name, title),
        blocks.rows([row("people-legend")], small=True),
        blocks.tables(_thresholds(person.visits_by(nominal), unit_of(nominal))),
        None if nominal else blocks.tables(map(_shifts, comparisons)),
    )


def unit_of(nominal: bool) -> dict[str, str]:
    """Return the figure that rows have of levels that are no dB HL."""
    return {UNIT: NOMINAL_DB} if nominal else {}


def remarks(person: Person, comparisons: Sequence[Comparison]) -> list[Row]:
    """Return what came of ears that are not said to have changed, and what is less than sure."""
    if not person.identifier:
        return [row("people-not-compared")] if len(person.visits) > 1 else []
    found = [_not_changed(each) for each in comparisons if not each.change.changed]
    found += [each for comparison in comparisons for each in _unlike(comparison)]
    if not person.asked:
        found += [
            row(
                "people-refused",
                ear=ear,
                first=day_row(first),
                last=day_row(last),
                differs=why.reason,
            )
            for ear, first, last, why in person.refusals()
        ]
        found += [
            row("people-unordered", ear=ear, first=day_row(first), last=day_row(last))
            for ear, first, last in person.unordered()
        ]
    if len(person.visits) > 1 and not comparisons:
        found.append(row("people-nothing-twice"))
    for why in person.asked:
        sexes = why.field == "sex"
        found.append(row("people-sexes") if sexes else row("people-asked", differs=why.reason))
    found += [
        row("people-against-the-clock", first=first.name, last=last.name)
        for first, last in person.contradictions
    ]
    if person.alike:
        found.append(row("people-alike", names=person.alike))
    if person.uncalibrated:
        why_not = row("people-uncalibrated")
        found.append(row("state-and-why", state=state_row(UNCALIBRATED), why=why_not))
    if any(each.overdue for each in comparisons):
        meaning = row("state-overdue-means")
        found.append(row("state-and-why", state=state_row(OVERDUE), why=meaning))
    return found


def method_row() -> Row:
    """Return how it is found out whether an ear changed, and how often that is wrong."""
    rates = {
        "wrong": change.FALSE_ALARMS[BRISK], "wrong_clinical": change.FALSE_ALARMS[CLINICAL],
        "noticed": change.NOTICED[BRISK], "noticed_clinical": change.NOTICED[CLINICAL],
    }  # fmt: skip
    return row(
        "people-method", limit_db=SHIFT_DB, low_db=REPETITION.low_db,
        high_db=REPETITION.high_db, source=REPETITION_SOURCE,
        **{name: row("percent-rate", rate=100.0 * share) for name, share in rates.items()},
    )  # fmt: skip


def _visit(visit: Visit) -> Row:
    entry = visit.entry
    ears = [_ear(route, found) for route, found in visit.ears.items()]
    return row(
        "people-visit", begun_at=entry.started, journal=entry.name,
        status=row(f"status-{entry.outcome}"), by_ear=ears or no_value(),
        state=state_row(entry.calibration), device=entry.device or row("unknown"),
    )  # fmt: skip


def _ear(route: str, found: EarResult) -> Row:
    verdict = row("of-ear-short", ear=route, of=verdict_row(found.verdict))
    if found.pta4 is None:
        return verdict
    bound, inferred = found.pta4.bound, bool(found.pta4.inferred_hz)
    return row("people-ear", of=verdict, mean=mean_row(found.pta4.level_db_hl, bound, inferred))


def _convention(person: Person) -> blocks.Block | None:
    clinical = person.convention == CLINICAL_ASCENDING
    told = [row("convention-clinical" if clinical else "convention-50")]
    return blocks.rows(told if any(visit.ears for visit in person.visits) else [], small=True)


def _thresholds(visits: Sequence[Visit], unit: dict[str, str]) -> Iterator[blocks.Table]:
    """Yield a table an ear, of rows a session: thresholds, and their bands."""
    for ear in EARS:
        lines: list[tuple[Row, list[Cell]]] = []
        for visit in (each for each in visits if ear in each.ears):
            found = visit.ears[ear]
            of = {each.frequency_hz: each for each in found.thresholds}
            readings = [as_shown(of[f]) if f in of else None for f in AUDIOGRAM_FREQUENCIES_HZ]
            lines.append((_of_visit(visit, found), [*map(level_row, readings)]))
            lines.append((row("row-band-answers"), [*map(band_row, readings)]))
            if not visit.uncertainty.nominal:
                shown = partial(visit.uncertainty.shown, found.route)
                whole = [shown(of[f]) if f in of else None for f in AUDIOGRAM_FREQUENCIES_HZ]
                lines.append((row("row-band-whole"), [*map(band_row, whole)]))
        if lines:
            columns: list[Cell] = [row("hertz"), *AUDIOGRAM_FREQUENCIES_HZ]
            caption = row("people-thresholds", ear=ear, **unit)
            yield blocks.table(caption, columns, lines, of=ear)


def _of_visit(visit: Visit, found: EarResult) -> Row:
    if may_conclude(found):
        return day_row(visit)
    return row("people-doubtful", day=day_row(visit), verdict=verdict_row(found.verdict))


# What came of an ear. A shift is a bound where a threshold lay beyond a limit: then a probability
# is told of it only if it leaves nothing open.


def _alarm(found: Comparison) -> blocks.Block:
    figures, shift = _figures(found), found.change.clearest
    sign = 1.0 if shift.mean_db > 0.0 else -1.0
    db: Row = row("level", level=sign * shift.mean_db)
    if found.bounds[shift.frequency_hz] != Bound.NONE:
        db = row("at-least", level=db)
    clearest = row("people-worse" if sign > 0.0 else "people-better", db=db)
    if found.bounds[shift.frequency_hz] == Bound.NONE:
        low, high = sorted((sign * shift.low_db, sign * shift.high_db))
        clearest = row("people-in-band", of=clearest, band=row("band", low=low, high=high))
    by = row("people-changed-by", **figures, frequency_hz=shift.frequency_hz, clearest=clearest)
    return blocks.alarm(row("people-changed", **figures), [by])


def _figures(found: Comparison) -> dict[str, Any]:
    probability, sure = found.change.probability, {*found.bounds.values()} == {Bound.NONE}
    share = share_row(probability)
    if not sure and probability <= SURE:  # at least less than 1 % is anything
        share = row("at-least", level=share) if probability >= LEAST_SHARE else row("unknown")
    return {"ear": found.ear, "first": day_row(found.first), "limit_db": SHIFT_DB, "share": share}


def _not_changed(found: Comparison) -> Row:
    return row("people-not-changed", **_figures(found), usual=share_row(change.USUAL))


def _unlike(found: Comparison) -> Iterator[Row]:
    """Yield what is open, and what was not the same both times, or may not have been."""
    shares = {each.frequency_hz: _share(found, each) for each in found.change.shifts}
    if unseen := [f for f, share in shares.items() if share == no_value()]:
        yield row("people-unseen", ear=found.ear, frequencies_hz=unseen)
    for each in found.differs:
        yield row("people-unlike", ear=found.ear, differs=each.reason)
    if found.unknown:
        yield row("people-unknown", ear=found.ear, field=found.unknown)


def _share(found: Comparison, shift: Shift) -> Row:
    is_told = found.bounds[shift.frequency_hz] == Bound.NONE or shift.probability > SURE
    return share_row(shift.probability if is_told else None)


def _shifts(found: Comparison) -> blocks.Table:
    shifts = found.change.shifts
    readings = [_reading(each, found.bounds[each.frequency_hz]) for each in shifts]
    lines = [
        (row("people-shift"), [level_row(each) for each in readings]),
        (row("row-band"), [band_row(each) for each in readings]),
        (row("people-share", limit_db=SHIFT_DB), [_share(found, each) for each in shifts]),
    ]
    caption = row(
        "people-shifts", ear=found.ear, first=day_row(found.first), last=day_row(found.last)
    )
    columns: list[Cell] = [row("hertz"), *(each.frequency_hz for each in shifts)]
    return blocks.table(caption, columns, lines, of=found.ear, main=1)


def _reading(shift: Shift, bound: Bound | None) -> ShownThreshold | None:
    """Return a shift as a level is read; None: nothing is known of it."""
    if bound is None:
        return None
    low_db, high_db = (shift.low_db, shift.high_db) if bound == Bound.NONE else (None, None)
    return ShownThreshold(Kind.MEASURED, shift.mean_db, low_db, high_db, limit=bound)
