"""What was found, in words: the same ones on the page and on the picture, in any language."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Self

from firmware_py.calibration.in_force import HOLDING, SIMULATED
from firmware_py.console.wording import readable
from firmware_py.findings.air_bone_gap import TYPE_SOURCE, EarGaps, Gap
from firmware_py.findings.convention import clinical_mean_db_hl
from firmware_py.findings.grades import PersonGrade, grades_said
from firmware_py.procedure.mean_threshold import GRADES_DB_HL
from firmware_py.procedure.outcomes import Bound, Outcome
from firmware_py.procedure.reading import SIGNS, Kind, Reading, read
from firmware_py.procedure.reasons import Reasons
from firmware_py.procedure.results import MeanThreshold
from firmware_py.procedure.route import BY_AIR, Route
from firmware_py.sessions.archive import UNFINISHED
from host_tools.catalogue import Catalogue, catalogue_of
from host_tools.catalogue.remarks import band_words, say_reasons, unit_words
from host_tools.commands.export.gaps import gap_remarks
from host_tools.commands.report.findings import EarFindings, Findings, Threshold
from host_tools.drawings.drawing import WIDE_SIGN
from host_tools.recordings.particulars import simulated_words
from host_tools.recordings.verdicts import ToldVerdict, told_verdicts, why_nothing_follows
from host_tools.terminal import NO_BREAK

CONFIRMED: Final = (Outcome.NO_RESPONSE, Outcome.HEARS_ALL)  # without a level
SEXES: Final = {"F": "female", "M": "male"}
KEYS_OF_BOUND: Final = {Bound.AT_LEAST: "grade_at_least", Bound.AT_MOST: "grade_at_most"}
KEYS_OF_GAP: Final = {
    Bound.NONE: "gap_value",
    Bound.AT_LEAST: "gap_at_least",
    Bound.AT_MOST: "gap_at_most",
}
NOTHING: Final = "-"
OPEN: Final = "…"
NO_READING: Final = Reading(Kind.UNKNOWN, None)


@dataclass(frozen=True)
class Words:
    """Says what was found, in a language."""

    catalogue: Catalogue

    @classmethod
    def of(cls, findings: Findings) -> Self:
        """Take the language in which it was found."""
        return cls(catalogue_of(findings.language))

    def say(self, key: str, /, **parts: str) -> str:
        """Return a sentence of the report."""
        return self.catalogue.say("report", key, **parts)

    def number(self, value: float, form: str = ".0f") -> str:
        """Return a number as the language writes it."""
        return self.catalogue.number(value, form)

    def name_of(self, kind: str, word: str) -> str:
        """Return what a word of the procedure is called, such as an outcome or a purpose."""
        return self.say(f"{kind}_{word.replace('-', '_').replace(' ', '_')}")

    def ear(self, ear: Route | str) -> str:
        """Return "left ear" or "right ear"."""
        return self.say(f"{ear}_ear")

    def unit(self, findings: Findings) -> str:
        """Return the unit of levels: without a calibration they are nominal."""
        return unit_words(self.catalogue, nominal=findings.nominal)

    def purposes(self, purposes: list[str]) -> str:
        """Return what tones were for: "a, b or c"."""
        *some, last = (self.name_of("purpose", each) for each in purposes)
        one = ", ".join(some)
        return self.catalogue.say("format", "or", one=one, other=last) if some else last

    def session(self, findings: Findings) -> str:
        return self.say(
            "session",
            session=str(findings.session),
            when=self.catalogue.clock_time(findings.started),
            status=self.name_of("status", findings.status),
        )

    def person(self, findings: Findings) -> str:
        person = findings.person
        parts = [person.get("identifier") or self.say("no_identifier")]
        age_years = person.get("age_years")
        if age_years is not None:
            one = age_years == 1
            parts.append(self.say("age_one" if one else "age", age=self.number(age_years, "g")))
        if person.get("sex") is not None:
            parts.append(self.say(SEXES[person["sex"]]))
        return ", ".join(parts)

    def verdicts(self, findings: Findings) -> list[ToldVerdict]:
        """Return whether there was a test, and why not."""
        return told_verdicts(findings.ears, self.catalogue)

    def alarms(self, findings: Findings) -> list[tuple[str, str]]:
        """Return what must not be overlooked: a headline and what it means."""
        found = simulated_words(findings.simulated, findings.speed, self.catalogue)
        if findings.calibration_state not in HOLDING:
            state = findings.calibration_state
            why = _capital(say_reasons(findings.calibration, self.catalogue))
            meaning = self.say(f"{state.lower()}_means")
            found.append((self.state(state), f"{why}. {meaning}"))
        headline = "unfinished" if findings.status == UNFINISHED else "not_as_recorded"
        if findings.warnings:
            found.append((self.say(headline), f"{_capital('; '.join(findings.warnings))}."))
        return found

    def calibration(self, findings: Findings) -> str:
        """Return what is known of the calibration, its state first."""
        about, state = say_reasons(findings.calibration, self.catalogue), findings.calibration_state
        return about if state == SIMULATED else f"{self.state(state)}: {about}"

    def state(self, state: str) -> str:
        """Return the state of a calibration, in capitals."""
        return self.say(state.lower())

    def threshold(self, found: Threshold | None) -> str:
        """Return a threshold in short; what was inferred stands in brackets."""
        reading = NO_READING if found is None else read(found)
        if found is None or reading.level_db_hl is None:
            return NOTHING
        level = f"{reading.sign} {self.number(reading.level_db_hl)}".strip()
        if reading.kind == Kind.INFERRED:
            return f"({level})"
        wide = f"{WIDE_SIGN} " if found.wide else ""
        return f"{wide}{level}{masking_sign(found)}"

    def band(self, found: Threshold | None) -> str:
        """Return the 95 % band of a threshold; of one that was inferred, in brackets."""
        reading = NO_READING if found is None else read(found)
        words = band_words(reading, self.catalogue)
        if not words:
            return NOTHING
        return f"({words})" if reading.kind == Kind.INFERRED else words

    def spread(self, found: Threshold) -> str:
        """Return the posterior SD of a threshold; of one that was inferred, in brackets."""
        if found.sd_db is None:
            return NOTHING
        sd_db = self.number(found.sd_db, ".1f")
        return f"({sd_db})" if read(found).kind == Kind.INFERRED else sd_db

    def confirmation(self, found: Threshold | None) -> str:
        """Return what the classical rule found at a frequency."""
        again = None if found is None else found.confirmed
        if again is None:
            return NOTHING
        if again.threshold_db_hl is not None:
            return self.number(again.threshold_db_hl)
        return self.name_of("outcome", again.mark) if again.mark in CONFIRMED else "?"

    def norm(self, found: Threshold) -> str:
        """Return what is usual: the median, and where the middle eight tenths lie."""
        if found.norm_db_hl is None:
            return NOTHING
        low, middle, high = (
            "" if level is None else self.number(level) for level in found.norm_db_hl
        )
        return self.say("norm", median=middle, low=low, high=high) if low and high else middle

    def answer(self, heard: bool | None, catch: bool) -> str:
        """Return an answer, to a tone or to silence."""
        if heard is None:
            return self.say("answer_unsure")
        kind = "pressed" if catch else "heard"
        return self.say(f"answer_{kind}" if heard else f"answer_not_{kind}")

    def percent(self, share: float | None) -> str:
        """Return a share in percent, never 0 or 100: nothing measured is certain."""
        if share is None:
            return NOTHING
        if share < 0.01:
            text = f"<{NO_BREAK}1"
        elif share > 0.99:
            text = f">{NO_BREAK}99"
        else:
            text = self.number(100.0 * share)
        return self.catalogue.percent(text)

    def mean_threshold(self, found: MeanThreshold) -> str:
        """Return PTA4 with its band, or what it is at least or at most."""
        ends = (found.low_db_hl, found.high_db_hl)
        low, high = ("" if each is None else self.number(each) for each in ends)
        if found.bound == Bound.AT_LEAST:
            return self.say("mean_at_least", level=self.number(found.level_db_hl), low=low)
        if found.bound == Bound.AT_MOST:
            return self.say("mean_at_most", level=self.number(found.level_db_hl), high=high)
        return self.say("mean", level=self.number(found.level_db_hl, ".1f"), low=low, high=high)

    def grade_shares(self, bound: Bound, shares: Iterable[float]) -> str:
        """Return the grades that are named, with their shares; of a bound the one that is sure."""
        said = [
            (name, self.name_of("grade", name), share) for name, share in grades_said(bound, shares)
        ]
        if bound == Bound.NONE:
            return ", ".join(
                self.say("grade_share", grade=grade, share=self.percent(share))
                for _, grade, share in said
            )
        (name, grade, _), (best, *_, poorest) = said[0], GRADES_DB_HL
        own, any_grade = (poorest, best) if bound == Bound.AT_LEAST else (best, poorest)
        if name == any_grade:
            return self.say("grade_open")
        return grade if name == own else self.say(KEYS_OF_BOUND[bound], grade=grade)

    def losses(self, findings: Findings) -> list[str]:
        """Say which type the loss of each ear is by its air-bone gap, and by which rule."""
        said = [*map(self._loss, findings.gaps), *_without_gaps(findings, self)]
        return [*said, self.say("gap_rule", source=TYPE_SOURCE)] if findings.gaps else said

    def _loss(self, found: EarGaps) -> str:
        loss, mean = self.name_of("loss", found.loss), found.mean
        if found.loss_is_probable:
            loss = self.say("loss_probably", loss=loss)
        parts = {"ear": _capital(self.ear(found.ear)), "loss": loss}
        if mean is None:
            return self.say("gap_none", **parts)
        ends = ("" if end is None else self.number(end) for end in (mean.low_db, mean.high_db))
        low, high = ends
        level = self.say(KEYS_OF_GAP[mean.bound], db=self.number(mean.db), low=low, high=high)
        if mean.inferred_hz:
            level = self.say("mean_inferred", mean=level, frequencies_hz=hertz(mean.inferred_hz))
        share = self.gap_share(mean, found.told_share)
        if share == NOTHING:
            return self.say("gap_mean_bound", **parts, gap=level)
        return self.say("gap_mean", **parts, gap=level, share=share)

    def gap_share(self, found: Gap, told_share: float | None) -> str:
        """Return how likely a gap is 15 dB and more; of a bound, whether it leaves that open."""
        return self.say("gap_share_open") if found.is_undecided else self.percent(told_share)

    def gap(self, found: Gap | None) -> str:
        """Return a gap in short; what was inferred stands in brackets."""
        if found is None:
            return NOTHING
        level = f"{SIGNS[found.bound].replace('>', '≥')} {self.number(found.db)}".strip()
        return f"({level})" if found.inferred_hz else level

    def gap_band(self, found: Gap | None) -> str:
        """Return the 95 % band of a gap; on an open side it has no end."""
        if found is None:
            return NOTHING
        low, high = (
            OPEN if end is None else self.number(end) for end in (found.low_db, found.high_db)
        )
        words = self.say("band", low=low, high=high)
        return f"({words})" if found.inferred_hz else words

    def grades(self, findings: Findings) -> list[str]:
        """Say what PTA4 and grade are."""
        if findings.nominal:
            return [self.say("nominal")]
        ears = [ear for ear in findings.ears if ear.route.kind is BY_AIR]
        lines = [self._grade_of(ear) for ear in ears]
        known = [ear for ear in ears if ear.pta4 is not None]
        person = findings.grade
        if person is not None:
            return [*lines, self._person(person)]
        if len(known) == 1:
            return [*lines, self.say("person_one_ear", ear=self.ear(known[0].route))]
        return [*lines, self.say("person_boards")] if known else lines

    def _person(self, person: PersonGrade) -> str:
        key = "person_grade_inferred" if person.inferred else "person_grade"
        words = self.say(key, grades=self.grade_shares(person.bound, person.shares))
        if person.unilateral is None:
            return words
        share = self.percent(person.unilateral)
        return self.say("person_unilateral", person=words, share=share)

    def _grade_of(self, ear: EarFindings) -> str:
        name = self.ear(ear.route)
        if ear.pta4 is None:
            return self.say("pta4_none", ear=name, why=ear.pta4_missing)
        mean = self._with_clinical(self.mean_threshold(ear.pta4), ear.pta4, ear.below_clinical_db)
        for key in ("beyond", "inferred", "doubtful"):
            if at_hz := getattr(ear.pta4, f"{key}_hz"):
                mean = self.say(f"mean_{key}", mean=mean, frequencies_hz=hertz(at_hz))
        grades = self.grade_shares(ear.pta4.bound, ear.pta4.shares)
        return self.say("pta4", ear=name, mean=mean, grades=grades)

    def _with_clinical(self, mean: str, found: MeanThreshold, below_db: float) -> str:
        """Add the clinical mean, by which grades are, to another one that is no bound."""
        clinical_db_hl = clinical_mean_db_hl(found, below_db)
        if clinical_db_hl is None:
            return mean
        return self.say("mean_clinical", mean=mean, level=self.number(clinical_db_hl, ".1f"))

    def remarks(self, findings: Findings) -> list[str]:
        """Say how the test went, and what makes its result less than sure."""
        presses = self.catalogue.count("report", "presses", findings.stray_presses)
        whole = self.say(
            "whole",
            presentations=str(findings.presentations),
            minutes=self.number(findings.duration_s / 60.0, ".1f"),
            presses=presses,
        )
        if not findings.replayed:
            key = "as_recorded_differs" if findings.differences else "as_recorded"
            form = str(findings.format)
            whole += f"; {self.say(key, version=findings.firmware, form=form)}"
        ends = [
            self.say("ended_by", ear=self.ear(ear.route), why=say_reasons(why, self.catalogue))
            for ear in findings.ears
            if (why := _why_ended(ear))
        ]
        ends += [
            self.catalogue.count(
                "report", "set_aside", ear.quality.tones_set_aside, ear=self.ear(ear.route)
            )
            for ear in findings.ears
            if ear.quality.tones_set_aside
        ]
        recorded = (say_reasons(remark, self.catalogue) for remark in findings.remarks)
        gaps = [each.to_record() for each in findings.gaps]
        found = (*recorded, *findings.asymmetries, *gap_remarks(gaps, self.catalogue))
        lines = (whole, *ends, *filter(None, found))
        return [*map(readable, lines)]

    def footer(self, version: str) -> str:
        """Return what stands at the end of every report."""
        return self.say("footer", version=version)


def _without_gaps(findings: Findings, words: Words) -> Iterator[str]:
    """Say why no gap is told of an ear that was tested by bone; nothing without a calibration."""
    ears = {ear.route: ear for ear in findings.ears}
    told = {found.ear for found in findings.gaps}
    for ear in findings.ears:
        if ear.route.by_bone and ear.route.ear not in told and not findings.nominal:
            both = (ear, ears.get(Route(ear.route.ear)))
            whys = ((each, why_nothing_follows(each, words.catalogue)) for each in both if each)
            found = next(((each, why) for each, why in whys if why), None)
            if found is not None:
                name = _capital(words.ear(found[0].route))
                yield words.say("gap_missing", ear=name, why=found[1])


def hertz(frequencies_hz: Iterable[float]) -> str:
    return ", ".join(f"{f:g}" for f in frequencies_hz)


def masking_sign(found: Threshold) -> str:
    """Return the sign of a threshold that the other ear may have heard."""
    return "*" if read(found).doubtful else ""


def _why_ended(ear: EarFindings) -> Reasons:
    """Return why an ear ended; how wide its bands are is said in its sentence, and only there."""
    if ear.outcome != Outcome.MEASURED:
        return ear.why
    end, *bands = ear.why or (None,)
    return (end,) if end is not None and bands else ()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
