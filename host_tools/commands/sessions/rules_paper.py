"""What rules by name say of a person, as blocks of a paper."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from firmware_py.findings.rows import Row, no_value, row, share_row
from firmware_py.paper import blocks
from firmware_py.platform.clock import was_clock_set
from firmware_py.sessions.identity import Difference
from firmware_py.terms.outcomes import Bound
from host_tools.commands.sessions.by_rule import ByRule, by_rules
from host_tools.commands.sessions.people import Person, Visit
from host_tools.commands.sessions.shift_rules import Finding, Told

_OF_BOUND: Final = {Bound.AT_LEAST: "level-above", Bound.AT_MOST: "level-at-most"}


def day_row(visit: Visit) -> Row:
    """Return the day of a session and its zone: elsewhere it may have been another day."""
    started = visit.entry.started
    if not was_clock_set(started):
        return row("begun", begun_at=started)
    at = datetime.fromisoformat(started)
    zone = "UTC" if not at.utcoffset() else f"UTC{at.isoformat()[-len('+00:00') :]}"
    return row("people-day", date=at.date().isoformat(), zone=zone)


def rule_blocks(person: Person) -> Iterator[blocks.Block | None]:
    """Yield a table an ear, and what leaves a rule open."""
    found = [*by_rules(person)]
    yield blocks.tables(_table(each) for each in found if each.findings)
    yield blocks.rows(said for each in found for said in _remarks(each))


def _table(found: ByRule) -> blocks.Table:
    last, first = day_row(found.tests[0]), day_row(found.baseline)
    return blocks.table(
        row("rules-of", ear=found.ear, first=first, last=last),
        [row("rules-name"), row("rules-told"), row("people-shift"), row("rules-share")],
        [
            (row(f"rule-{each.rule.name}"), [_told(each), _shift(each), _share(each)])
            for each in found.findings
        ],
        of=found.ear,
        main=len(found.findings),
    )


def _told(found: Finding) -> Row:
    doubt = "" if found.sure or found.told == Told.OPEN else "-doubt"
    return row(f"rule-{found.told}{doubt}")


def _shift(found: Finding) -> Row:
    if found.shift_db is None:
        return no_value()
    db = row("rule-shift", change_db=found.shift_db)
    if found.bound in _OF_BOUND:
        db = row(_OF_BOUND[found.bound], level=db)
    at = found.frequency_hz
    return db if at is None else row("rule-at", db=db, frequency_hz=at)


def _share(found: Finding) -> Row:
    """Return its probability; of what is open, the least and the most that it can be."""
    least, most = share_row(found.least), share_row(found.most)
    return least if least == most else row("band", low=least, high=most)


def _remarks(found: ByRule) -> Iterator[Row]:
    ear, first = found.ear, day_row(found.baseline)
    if isinstance(found.why_not, Difference):
        last, differs = day_row(found.tests[0]), found.why_not.reason
        yield row("rules-refused", ear=ear, first=first, last=last, differs=differs)
    elif found.why_not is not None:
        yield row(f"rules-{found.why_not}", ear=ear, first=first)
    else:
        for other in found.differs:
            yield row("rules-unlike", ear=ear, first=first, differs=other.reason)
    for rule in found.ageless:
        yield row("rules-no-age", ear=ear, rule=row(f"rule-{rule.name}"))
    for each in found.findings:
        if each.told == Told.OPEN:
            yield from _why_open(each, ear)


def _why_open(found: Finding, ear: str) -> Iterator[Row]:
    rule = row(f"rule-{found.rule.name}")
    if found.missing_hz:
        yield row("rules-missing", ear=ear, rule=rule, frequencies_hz=[*found.missing_hz])
    if found.beyond_hz:
        yield row("rules-beyond", ear=ear, rule=rule, frequencies_hz=[*found.beyond_hz])
    if found.unrepeated:
        yield row("rules-unrepeated", ear=ear, rule=rule)
