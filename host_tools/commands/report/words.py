"""What was found, in words: the same ones on the page and on the picture, in any language."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from firmware_py.archive import UNFINISHED
from firmware_py.calibration.in_force import HOLDING, SIMULATED
from firmware_py.console.words import readable
from firmware_py.procedure.grades import BetterEar, MeanThreshold, grade_bounds
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.reading import Kind, read
from firmware_py.procedure.reasons import Reasons
from host_tools.catalogue import NO_BREAK, Catalogue, catalogue_of
from host_tools.catalogue.remarks import told
from host_tools.commands.report.findings import EarFindings, Findings, Threshold
from host_tools.drawing import WIDE_SIGN
from host_tools.record import simulated_words
from host_tools.verdicts import ToldVerdict, told_verdicts

# Before the level.
SIGNS: Final = {
    Kind.MEASURED: "",
    Kind.ABOVE: "> ",
    Kind.AT_MOST: "≤ ",
    Kind.PERHAPS_ABOVE: "? ",
    Kind.INFERRED: "",
}
CONFIRMED: Final = (Outcome.NO_RESPONSE, Outcome.HEARS_ALL)  # without a level
SEXES: Final = {"F": "female", "M": "male"}
LEAST_SHARE: Final = 0.005  # of a grade that is named
# Of a grade that it is at least: so likely it is named, and so likely no lower one is.
LIKELY: Final = 0.5
SURE: Final = 0.99
NOTHING: Final = "-"


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

    def named(self, kind: str, word: str) -> str:
        """Return what a word of the procedure is called, such as an outcome or a purpose."""
        return self.say(f"{kind}_{word.replace('-', '_').replace(' ', '_')}")

    def ear(self, ear: str) -> str:
        """Return "left ear" or "right ear"."""
        return self.say(f"{ear}_ear")

    def purposes(self, purposes: list[str]) -> str:
        """Return what tones were for: "a, b or c"."""
        *some, last = (self.named("purpose", each) for each in purposes)
        one = ", ".join(some)
        return self.catalogue.say("format", "or", one=one, other=last) if some else last

    def session(self, findings: Findings) -> str:
        """Say which session this is."""
        return self.say(
            "session",
            session=str(findings.session),
            when=self.catalogue.time(findings.started),
            status=self.named("status", findings.status),
        )

    def person(self, findings: Findings) -> str:
        """Say who was tested."""
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
            why = _capital(told(findings.calibration, self.catalogue))
            meaning = self.say(f"{state.lower()}_means")
            found.append((self.state(state), f"{why}. {meaning}"))
        headline = "unfinished" if findings.status == UNFINISHED else "not_as_recorded"
        if findings.warnings:
            found.append((self.say(headline), f"{_capital('; '.join(findings.warnings))}."))
        return found

    def calibration(self, findings: Findings) -> str:
        """Return what is known of the calibration, its state first."""
        about, state = told(findings.calibration, self.catalogue), findings.calibration_state
        return about if state == SIMULATED else f"{self.state(state)}: {about}"

    def state(self, state: str) -> str:
        """Return the state of a calibration, in capitals."""
        return self.say(state.lower())

    def threshold(self, found: Threshold) -> str:
        """Return a threshold in short; what was inferred stands in brackets."""
        reading = read(found)
        if reading.level_db_hl is None:
            return NOTHING
        level = f"{SIGNS[reading.kind]}{self.number(reading.level_db_hl)}"
        if reading.kind == Kind.INFERRED:
            return f"({level})"
        wide = f"{WIDE_SIGN} " if found.wide else ""
        return f"{wide}{level}{masking_sign(found)}"

    def band(self, found: Threshold) -> str:
        """Return the 95 % band of a threshold; of one that was inferred, in brackets."""
        if found.low_db_hl is None or found.high_db_hl is None:
            return NOTHING
        low, high = self.number(found.low_db_hl), self.number(found.high_db_hl)
        words = self.say("band", low=low, high=high)
        return f"({words})" if read(found).kind == Kind.INFERRED else words

    def spread(self, found: Threshold) -> str:
        """Return the posterior SD of a threshold; of one that was inferred, in brackets."""
        if found.sd_db is None:
            return NOTHING
        sd_db = self.number(found.sd_db, ".1f")
        return f"({sd_db})" if read(found).kind == Kind.INFERRED else sd_db

    def confirmed(self, found: Threshold) -> str:
        """Return what the classical rule found at a frequency."""
        again = found.confirmed
        if again is None:
            return NOTHING
        if again.threshold_db_hl is not None:
            return self.number(again.threshold_db_hl)
        return self.named("outcome", again.mark) if again.mark in CONFIRMED else "?"

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
        """Return PTA4 with its band, or what it is at least."""
        low, high = self.number(found.low_db_hl), self.number(found.high_db_hl)
        if found.at_least_db_hl is not None:
            at_least = self.number(found.at_least_db_hl)
            return self.say("mean_at_least", level=at_least, low=low, high=high)
        return self.say("mean", level=self.number(found.mean_db_hl, ".1f"), low=low, high=high)

    def grade_shares(self, grades: dict[str, float]) -> str:
        """Return the grades that are possible, the likeliest first."""
        possible = [(share, name) for name, share in grades.items() if share >= LEAST_SHARE]
        return ", ".join(
            self.say("grade_share", grade=self.named("grade", name), share=self.percent(share))
            for share, name in sorted(possible, reverse=True)
        )

    def grades_at_least(self, grades: dict[str, float]) -> str:
        """Return which grade it is at least: the worst that is likely, and down to a sure one."""
        bounds = grade_bounds(grades)
        worst = max(place for place, share in enumerate(bounds.values()) if share >= LIKELY)
        said = []
        for name, share in reversed([*bounds.items()][: worst + 1]):
            grade, percent = self.named("grade", name), self.percent(share)
            said.append(self.say("grade_at_least", grade=grade, share=percent))
            if share > SURE:
                break
        return ", ".join(said)

    def grades(self, findings: Findings) -> list[str]:
        """Say what PTA4 and grade are."""
        lines = [self._grade_of(ear) for ear in findings.ears]
        better = findings.better_ear
        if better is None:
            apart = all(ear.pta4 for ear in findings.ears) and len(findings.ears) > 1
            return [*lines, self.say("person_boards")] if apart else lines
        if not better.both_ears:
            return [*lines, self.say("person_one_ear", ear=self.ear(better.ear))]
        inferred = any(ear.pta4 and ear.pta4.inferred_hz for ear in findings.ears)
        key = "person_grade_inferred" if inferred else "person_grade"
        shares = self.grades_at_least if better.at_least else self.grade_shares
        person = self.say(key, grades=shares(better.grades))
        return [*lines, self._with_unilateral(person, better)]

    def _with_unilateral(self, person: str, better: BetterEar) -> str:
        if better.unilateral is None or better.unilateral < LEAST_SHARE:
            return person
        share = self.percent(better.unilateral)
        return self.say("person_unilateral", person=person, share=share)

    def _grade_of(self, ear: EarFindings) -> str:
        name = self.ear(ear.ear)
        if ear.pta4 is None:
            return self.say("pta4_none", ear=name, why=ear.pta4_missing)
        mean = self.mean_threshold(ear.pta4)
        if ear.pta4.beyond_hz:
            beyond = hertz(ear.pta4.beyond_hz)
            mean = self.say("mean_beyond", mean=mean, frequencies_hz=beyond)
        if ear.pta4.inferred_hz:
            inferred = hertz(ear.pta4.inferred_hz)
            mean = self.say("mean_inferred", mean=mean, frequencies_hz=inferred)
        shares = self.grade_shares
        if ear.pta4.doubtful_hz:
            doubtful = hertz(ear.pta4.doubtful_hz)
            mean = self.say("mean_doubtful", mean=mean, frequencies_hz=doubtful)
            shares = self.grades_at_least
        return self.say("pta4", ear=name, mean=mean, grades=shares(ear.pta4.grades))

    def remarks(self, findings: Findings) -> list[str]:
        """Say how the test went, and what makes its result less than sure."""
        presses = self.catalogue.count("report", "presses", findings.stray_presses)
        whole = self.say(
            "whole",
            presentations=str(findings.presentations),
            minutes=self.number(findings.duration_s / 60.0, ".1f"),
            presses=presses,
        )
        ends = [
            self.say("ended_by", ear=self.ear(ear.ear), why=told(why, self.catalogue))
            for ear in findings.ears
            if (why := _why_ended(ear))
        ]
        ends += [
            self.catalogue.count(
                "report", "set_aside", ear.quality.tones_set_aside, ear=self.ear(ear.ear)
            )
            for ear in findings.ears
            if ear.quality.tones_set_aside
        ]
        recorded = (told(remark, self.catalogue) for remark in findings.remarks)
        found = (*recorded, *findings.asymmetries)
        return [readable(line) for line in (whole, *ends, *filter(None, found))]

    def footer(self, version: str) -> str:
        """Return what stands at the end of every report."""
        return self.say("footer", version=version)


def hertz(frequencies_hz: Iterable[float]) -> str:
    """Return frequencies as a list."""
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
