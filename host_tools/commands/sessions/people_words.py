"""People and their sessions in words, in any language."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from firmware_py.calibration.in_force import CALIBRATED, OVERDUE, UNCALIBRATED
from firmware_py.procedure.reading import SIGNS, Kind, read
from firmware_py.procedure.results import ThresholdResult
from firmware_py.procedure.settings import BOTH, BRISK, CLINICAL, CLINICAL_ASCENDING
from firmware_py.procedure.verdicts import may_conclude
from firmware_py.sessions.identity import Difference
from host_tools.catalogue import REASONS, Catalogue
from host_tools.catalogue.remarks import band_words, say_reasons, unit_words
from host_tools.commands.sessions.change import (
    FALSE_ALARMS,
    NOTICED,
    REFIT_HIGH_DB,
    REFIT_LOW_DB,
    REFIT_SOURCE,
    SHIFT_DB,
    USUAL,
)
from host_tools.commands.sessions.choice import clock_was_set
from host_tools.commands.sessions.entry import Entry
from host_tools.commands.sessions.people import Comparison, Person, Visit
from host_tools.recordings.verdicts import short_verdict, verdict_word

NOTHING: Final = "-"


@dataclass(frozen=True)
class PeopleWords:
    """Says what is known of people, in a language."""

    catalogue: Catalogue

    def say(self, key: str, /, **parts: str) -> str:
        """Return a sentence of the table `people`."""
        return self.catalogue.say("people", key, **parts)

    def name(self, person: Person) -> str:
        """Return the identifier, or that there is none."""
        return person.identifier or self.say("no_identifier")

    def sessions(self, person: Person) -> str:
        """Say how many sessions there are, and of which time."""
        days = [visit.entry.started for visit in person.visits]
        first, last = self.catalogue.date(days[0]), self.catalogue.date(days[-1])
        return self.catalogue.count("people", "sessions", len(days), first=first, last=last)

    def remarks(self, person: Person, comparisons: Sequence[Comparison]) -> list[str]:
        """Say what came of the ears, and what makes that less than sure."""
        if not person.identifier:
            return [self.say("not_compared")]
        lines = [self._comparison(each) for each in comparisons]
        lines += [line for each in comparisons for line in self._unlike(each)]
        lines += [self._say_refusal(*each) for each in person.refusals() if not person.asked]
        if len(person.visits) > 1 and not comparisons:
            lines.append(self.say("nothing_twice"))
        lines += [self._say_asked(each) for each in person.asked]
        lines += [
            self.say("against_the_clock", first=each.first.name, last=each.last.name)
            for each in person.contradictions
        ]
        if person.alike:
            names = self.catalogue.join([*person.alike])
            lines.append(self.say("alike", names=names))
        if person.uncalibrated:
            lines.append(self.say("uncalibrated", state=self.state(UNCALIBRATED)))
        if any(each.overdue for each in comparisons):
            meaning = self.catalogue.say("report", "overdue_means")
            lines.append(self.say("overdue", state=self.state(OVERDUE), meaning=meaning))
        return lines

    def _unlike(self, found: Comparison) -> Iterator[str]:
        """Say what was not the same both times, or may not have been."""
        if found.differs:
            differs = say_reasons([each.reason for each in found.differs], self.catalogue)
            yield self.say("unlike", ear=self.ear(found.ear), differs=differs)
        if found.unknown:
            names = [self.catalogue.say(REASONS, f"field-{field}") for field in found.unknown]
            yield self.say("unknown", ear=self.ear(found.ear), what=self.catalogue.join(names))

    def _say_refusal(self, ear: str, first: Visit, last: Visit, why: Difference) -> str:
        days = {"first": first.entry.started, "last": last.entry.started}
        dates = {name: self.catalogue.date(day) for name, day in days.items()}
        differs = say_reasons(why.reason, self.catalogue)
        return self.say("refused", ear=self.ear(ear), **dates, differs=differs)

    def _say_asked(self, found: Difference) -> str:
        if found.field == "sex":
            return self.say("two_sexes")
        return self.say("asked", differs=say_reasons(found.reason, self.catalogue))

    def _comparison(self, found: Comparison) -> str:
        change, clearest = found.change, found.change.clearest
        parts = {
            "ear": self.ear(found.ear),
            "first": self.catalogue.date(found.first.entry.started),
            "share": self.percent(change.probability),
            "shift_db": self.catalogue.number(SHIFT_DB),
        }
        if not change.changed:
            usual = self.percent(USUAL)
            return self.say("not_changed", **parts, usual=usual)
        worse = clearest.mean_db > 0.0
        low, high = sorted((abs(clearest.low_db), abs(clearest.high_db)))
        signed = clearest.low_db * clearest.high_db < 0.0
        return self.say(
            "worse" if worse else "better",
            **parts,
            frequency_hz=str(clearest.frequency_hz),
            mean_db=self.catalogue.number(abs(clearest.mean_db)),
            low=self.catalogue.number(-low if signed else low),
            high=self.catalogue.number(high),
        )

    def ear(self, ear: str) -> str:
        """Return "left ear" or "right ear"."""
        return self.catalogue.say("report", f"{ear}_ear")

    def state(self, state: str) -> str:
        """Return the state of a calibration, in capitals."""
        return self.catalogue.say("report", state.lower())

    def outcome(self, entry: Entry) -> str:
        """Return how a session ended."""
        return self.catalogue.say("report", f"status_{entry.outcome}")

    def verdict(self, entry: Entry) -> str:
        """Return whether there was a test, ear by ear if they differ."""
        return short_verdict(entry.verdicts, self.catalogue) or NOTHING

    def visit_of(self, visit: Visit, ear: str) -> str:
        """Return the day of a session, and what is doubtful about its test of an ear."""
        day, found = self.catalogue.date(visit.entry.started), visit.ears[ear]
        word = "" if may_conclude(found) else verdict_word(found.verdict, self.catalogue)
        return f"{day}\n{word}".strip()

    def ears(self, entry: Entry) -> str:
        both = entry.ears == BOTH
        return self.say("both") if both else self.catalogue.say("report", entry.ears)

    def threshold(self, found: ThresholdResult | None) -> str:
        """Return a threshold; what was inferred stands in brackets."""
        reading = None if found is None else read(found)
        if reading is None or reading.level_db_hl is None:
            return NOTHING
        level = f"{reading.sign} {self.catalogue.number(reading.level_db_hl)}".strip()
        doubt = "*" if reading.doubtful else ""
        return f"({level})" if reading.kind == Kind.INFERRED else f"{level}{doubt}"

    def band(self, found: ThresholdResult | None) -> str:
        """Return the 95 % band of a threshold."""
        return "" if found is None else band_words(read(found), self.catalogue)

    def unit(self, *, nominal: bool) -> str:
        """Return the unit of levels; `nominal`: of sessions without a calibration."""
        return unit_words(self.catalogue, nominal=nominal)

    def convention(self, person: Person) -> str:
        """Say which thresholds are told."""
        clinical = person.convention == CLINICAL_ASCENDING
        return self.catalogue.say("report", "convention_clinical" if clinical else "convention_50")

    def pta4(self, visit: Visit, ear: str) -> str:
        """Return the mean threshold of an ear; with an inferred part in it, in brackets."""
        mean = visit.ears[ear].pta4 if ear in visit.ears else None
        if mean is None:
            return NOTHING
        level = f"{SIGNS[mean.bound]} {self.catalogue.number(mean.level_db_hl)}".strip()
        return f"({level})" if mean.inferred_hz else level

    def percent(self, share: float) -> str:
        """Return a probability in percent, never 0 or 100."""
        if share < 0.01:
            return self.catalogue.percent("< 1")
        if share > 0.99:
            return self.catalogue.percent("> 99")
        return self.catalogue.percent(self.catalogue.number(100.0 * share))

    def method(self) -> str:
        """Say how it is found out whether an ear changed, and how often that is wrong."""
        number = self.catalogue.number
        return self.say(
            "method",
            shift_db=number(SHIFT_DB),
            source=REFIT_SOURCE,
            low_db=number(REFIT_LOW_DB, ".1f"),
            high_db=number(REFIT_HIGH_DB, ".1f"),
            wrong=self._rate(FALSE_ALARMS[BRISK]),
            wrong_clinical=self._rate(FALSE_ALARMS[CLINICAL]),
            noticed=self._rate(NOTICED[BRISK]),
            noticed_clinical=self._rate(NOTICED[CLINICAL]),
        )

    def _rate(self, share: float) -> str:
        """Return a share that was measured, to a tenth of a percent."""
        return self.catalogue.percent(self.catalogue.number(100.0 * share, ".1f"))

    def lines(self, person: Person, comparisons: Sequence[Comparison]) -> list[str]:
        lines = [self.say("line", name=self.name(person), sessions=self.sessions(person))]
        for visit in person.visits:
            entry = visit.entry
            right, left = (self.pta4(visit, ear) for ear in ("right", "left"))
            line = self.say(
                "visit_line",
                started=entry.begun,
                name=entry.name,
                outcome=self.outcome(entry),
                verdict=self.verdict(entry),
                right=right,
                left=left,
                unit=self.unit(nominal=visit.nominal),
            )
            state = "" if entry.calibration == CALIBRATED else f", {self.state(entry.calibration)}"
            clock = "" if clock_was_set(entry) else f", {self.say('clock_not_set')}"
            lines.append(f"  {line}{state}{clock}")
        if any(visit.ears for visit in person.visits):
            lines.append(f"  {self.convention(person)}")
        lines += [f"  {remark}" for remark in self.remarks(person, comparisons)]
        return lines
