"""A person's ears by rules by name: which test is the baseline, and what rules say of the last one.

The baseline is the first valid test that may be compared with the last one, or what somebody chose;
of several that were chosen, as where a baseline was revised, the last before that test. A chosen
one that cannot be compared is said, and no other takes its place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from firmware_py.findings.convention import ear_in_convention
from firmware_py.findings.whole_band import REPETITION, Part, combined_db
from firmware_py.sessions.identity import Difference
from firmware_py.terms.settings import CLINICAL_ASCENDING, FIFTY_PERCENT
from host_tools.commands.sessions.change import SEED
from host_tools.commands.sessions.people import (
    EARS,
    Person,
    Visit,
    apart_db2_between,
    differences_between,
    may_be_compared,
    refusals_between,
)
from host_tools.commands.sessions.shift_rules import (
    AGE_DB,
    RULES,
    Finding,
    Measured,
    Rule,
    age_db,
    judge,
)

NOT_VALID: Final = "not-valid"
NOT_ORDERED: Final = "not-ordered"
NOTHING_AFTER: Final = "nothing-after"
LEVEL_HZ: Final = 3000  # the middle of the frequencies whose mean level a rule asks


@dataclass(frozen=True)
class ByRule:
    """An ear of a person, its last test against a baseline."""

    ear: str
    baseline: Visit
    tests: tuple[Visit, ...]  # the last one, and the one before it, if that is after the baseline
    findings: tuple[Finding, ...] = ()
    ageless: tuple[Rule, ...] = ()  # cannot be told, for a sex or an age is not known
    # Why the baseline is of no use: a word, or what must not differ.
    why_not: str | Difference | None = None

    @property
    def differs(self) -> list[Difference]:
        """Return what was not the same both times, and leaves them comparable."""
        return differences_between(self.baseline, self.tests[0], self.ear) if self.tests else []

    def as_json(self) -> dict[str, Any]:
        why = self.why_not
        return {
            "ear": self.ear,
            "baseline": self.baseline.entry.name,
            "tests": [each.entry.name for each in self.tests],
            "why_not": why.reason.to_record() if isinstance(why, Difference) else why,
            "differs": [each.reason.to_record() for each in self.differs],
            "not_told": [each.name for each in self.ageless],
            "findings": [
                {
                    "rule": each.rule.name,
                    "told": each.told,
                    "sure": each.sure,
                    "probability_least": each.least,
                    "probability_most": each.most,
                    "shift_db": each.shift_db,
                    "shift_bound": each.bound,
                    "frequency_hz": each.frequency_hz,
                    "missing_hz": [*each.missing_hz],
                    "beyond_hz": [*each.beyond_hz],
                    "unrepeated": each.unrepeated,
                }
                for each in self.findings
            ],
        }


def by_rules(person: Person) -> Iterator[ByRule]:
    """Yield what the rules say of each ear that has a baseline; nothing where nobody asks."""
    if person.baselines is None or not person.identifier or person.asked:
        return
    chosen = [visit for visit in person.visits if visit.entry.name in person.baselines]
    for ear in EARS:
        measured = person.measured_visits(ear)
        of_ear = [visit for visit in chosen if ear in visit.ears] or chosen
        if of_ear and (measured or ear in of_ear[0].ears):
            yield _against(_last_before(of_ear, measured, person), measured, ear)
        elif measured and not person.baselines:
            *others, last = measured
            usable = (each for each in others if may_be_compared(each, last, ear))
            if (first := next(usable, None)) is not None:
                yield _against(first, measured, ear)


def _last_before(chosen: Sequence[Visit], measured: Sequence[Visit], person: Person) -> Visit:
    """Return the last chosen baseline before the last test; if there is none, the first chosen."""
    place = {visit.entry.path: n for n, visit in enumerate(person.visits)}
    end = place[measured[-1].entry.path] if measured else 0
    before = [visit for visit in chosen if place[visit.entry.path] < end]
    return before[-1] if before else chosen[0]


def _against(baseline: Visit, measured: Sequence[Visit], ear: str) -> ByRule:
    if baseline not in measured:
        return ByRule(ear, baseline, (), why_not=NOT_VALID)
    later = measured[measured.index(baseline) + 1 :]
    if not later:
        return ByRule(ear, baseline, (), why_not=NOTHING_AFTER)
    last = later[-1]
    if refused := refusals_between(baseline, last, ear):
        return ByRule(ear, baseline, (last,), why_not=refused[0])
    if not baseline.is_ordered_with(last):
        return ByRule(ear, baseline, (last,), why_not=NOT_ORDERED)
    before = [
        v for v in later[:-1] if may_be_compared(baseline, v, ear) and v.is_ordered_with(last)
    ]
    tests = (last, *before[-1:])
    allowed = _age_db(baseline, last)
    told = [rule for rule in RULES if allowed is not None or not rule.age_corrected]
    first, after = _measured(baseline, baseline, ear), [_measured(v, baseline, ear) for v in tests]
    findings = [
        judge(rule, first, after, SEED, allowed if rule.age_corrected else None) for rule in told
    ]
    ageless = [rule for rule in RULES if rule not in told]
    return ByRule(ear, baseline, tests, (*findings,), (*ageless,))


def _age_db(baseline: Visit, last: Visit) -> Any:
    """Return what is allowed for the years between; None: sex or an age is not known."""
    ages, sex = (baseline.age_years, last.age_years), last.sex or baseline.sex
    if sex not in AGE_DB or None in ages:
        return None
    first_years, last_years = (each for each in ages if each is not None)
    return age_db(sex, last_years) - age_db(sex, first_years)


def _measured(visit: Visit, baseline: Visit, ear: str) -> Measured:
    posterior, found = visit.posteriors[ear], visit.ears[ear]
    asked_hz = posterior.frequencies_hz
    if visit.convention == FIFTY_PERCENT:
        found = ear_in_convention(found, CLINICAL_ASCENDING)
    other = (lambda _: 0.0) if visit is baseline else apart_db2_between(baseline, visit, ear)
    moved_db = np.sqrt([REPETITION.at(f) ** 2 + other(f) for f in asked_hz])
    beside = visit.uncertainty.beside(found.route, LEVEL_HZ)
    of_level = {part: beside.get(part, 0.0) for part in (Part.CALIBRATION, Part.TYPE)}
    return Measured.of(found, posterior, moved_db, combined_db(of_level))
