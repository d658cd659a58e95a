"""A prescription in words, in any language: thresholds and gains with their marks, and remarks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from device.hearing_aid import candidacy
from device.hearing_aid.chain import LIMITER_EARLY_DB
from device.hearing_aid.fit import OUTPUT_CEILING_DB_SPL, Fit
from device.hearing_aid.for_whom import Code, Finding
from device.hearing_aid.limits import (
    LOUD_FOR_FEW,
    LOUD_FOR_HALF,
    MEASURED_EARS,
    UNCOMFORTABLE_DB_HL,
    Reason,
)
from device.hearing_aid.rules import rule_named, within_publication
from firmware_py.calibration.in_force import CALIBRATED, UNCALIBRATED
from firmware_py.console.wording import readable
from firmware_py.procedure.outcomes import Outcome, Verdict
from firmware_py.procedure.reading import read
from firmware_py.procedure.route import BY_AIR
from firmware_py.sessions.archive import COMPLETE
from host_tools.catalogue import ENGLISH, Catalogue, catalogue_of
from host_tools.catalogue.remarks import say_reasons
from host_tools.commands.prescribe.ear_prescription import EarPrescription
from host_tools.commands.prescribe.gap_part import GapMark
from host_tools.commands.prescribe.gap_words import gap_lines
from host_tools.commands.report.findings import Threshold
from host_tools.commands.report.words import Words
from host_tools.drawings.drawing import WIDE_SIGN
from host_tools.drawings.symbols import symbol_table
from host_tools.recordings.particulars import calibration_words
from host_tools.recordings.recorded_session import RecordedSession
from host_tools.recordings.verdicts import PLACE as OF_VERDICTS
from host_tools.recordings.verdicts import reasons_of, why_nothing_follows

PLACE: Final = "prescription"  # the table of its sentences
INFERRED_SIGN: Final = "("  # and a closing one behind
DOUBTFUL_SIGN: Final[str] = symbol_table()["signs"]["uncertain"]
HELD_SIGN: Final = "^"
UNPUBLISHED_SIGN: Final = "†"
# Before a gain; each sign means what it means on an audiogram.
SIGNS: Final[dict[str, str]] = {
    Outcome.NO_RESPONSE: "≥",
    Outcome.HEARS_ALL: "≤",
    Outcome.INCOMPLETE: "?",
    Outcome.INFERRED: INFERRED_SIGN,
}
GAP_SIGNS: Final = {GapMark.AT_LEAST: "≥", GapMark.INFERRED: INFERRED_SIGN}
FOR_WHOM: Final = {code: f"whom_{code.replace('-', '_')}" for code in Code}


@dataclass(frozen=True)
class PrescriptionWords:
    """Says what is prescribed, in a language."""

    catalogue: Catalogue

    @classmethod
    def of(cls, language: str) -> "PrescriptionWords":
        return cls(catalogue_of(language))

    def say(self, key: str, /, **parts: str) -> str:
        return self.catalogue.say(PLACE, key, **parts)

    def ear(self, ear: str) -> str:
        """Return "left ear" or "right ear"."""
        return self.catalogue.say("picture", f"{ear}_ear")

    def rule(self, name: str) -> str:
        return self.say(f"rule_{name.replace('-', '_')}")

    def rule_and_source(self, name: str, coupling: str) -> str:
        """Return a rule, who published it, and the coupling."""
        return self.say(
            "rule_value",
            rule=self.rule(name), source=rule_named(name).source,
            coupling=self.say(f"coupling_{coupling}"),
        )  # fmt: skip

    def rule_of_fit(self, recorded: str) -> str:
        """Return what a fit says of its rule, in the language if it is one that is known here."""
        rule, _, coupling = recorded.partition(", ")
        known, key = self.catalogue.tables[PLACE], f"coupling_{coupling}"
        if f"rule_{rule.replace('-', '_')}" in known and key in known:
            return f"{self.rule(rule)}, {self.say(key)}"
        return recorded

    def threshold(self, ear: EarPrescription, k: int) -> str:
        """Return a threshold in dB HL as the paper of its audiogram has it."""
        found = ear.given.found[k]
        wanted_db = 0.0 if ear.frequencies_hz[k] in ear.given.wide_db else float("inf")
        return Words(self.catalogue).threshold(Threshold.of(found, wanted_db, None))

    def gain(
        self, ear: EarPrescription, k: int, gain_db: float | None = None, held: bool | None = None
    ) -> str:
        """Return the gain for conversation with its marks, or another gain of the ear."""
        sign, behind = sign_of(ear, k), ""
        if sign == INFERRED_SIGN:
            behind = ")"
        if ear.frequencies_hz[k] in ear.given.doubtful_hz:
            behind += DOUBTFUL_SIGN
        if ear.held[k] if held is None else held:
            behind += HELD_SIGN
        if not within_publication(ear.rule, ear.frequencies_hz[k]):
            behind += UNPUBLISHED_SIGN
        value_db = ear.gain_db[k] if gain_db is None else gain_db
        return f"{sign}{self.catalogue.number(float(value_db))}{behind}"

    def band(self, low: float, high: float) -> str:
        """Return a band of gains or levels, whole numbers, none of them below 0."""
        number = self.catalogue.number
        return self.say("band_short", low=number(low), high=number(high))

    def where(
        self, ears: Sequence[EarPrescription], at: Callable[[EarPrescription, int], bool]
    ) -> str:
        """Return at which frequencies of which ears something is so; "": at none."""
        by_ear = {
            ear.ear: ", ".join(f"{f:g}" for k, f in enumerate(ear.frequencies_hz) if at(ear, k))
            for ear in ears
        }
        if len(by_ear) > 1 and len({*by_ear.values()}) == 1:
            alike = next(iter(by_ear.values()))
            both = self.say("both_ears")
            return self.say("where", ear=both, frequencies_hz=alike) if alike else ""
        return "; ".join(
            self.say("where", ear=self.ear(ear), frequencies_hz=hz)
            for ear, hz in by_ear.items()
            if hz
        )

    def say_source(self, ears: Sequence[EarPrescription]) -> list[str]:
        """Say what has to be known of where the thresholds are from, before all else."""
        source = ears[0].source
        of_ears = [f"{ear.ear} ear: {said}" for ear in ears for said in ear.given.said]
        said = [*source.said, *of_ears]
        if source.session is None:
            return [*said, *_say_frequencies(ears[0])]
        calibration = source.session.calibration
        if calibration.state != CALIBRATED:
            said.append(calibration_words(calibration, self.catalogue))
        if calibration.state == UNCALIBRATED:
            said.append(self.say("uncalibrated_fit"))
        return [*said, *self.say_unjudged(source.session), *self.say_differs(source.session)]

    def say_differs(self, session: RecordedSession) -> list[str]:
        """Say that the record does not come out in this version, if it does not."""
        version = session.header.firmware
        return [self.say("differs_fit", version=version)] if session.differences else []

    def say_unjudged(self, session: RecordedSession) -> list[str]:
        """Say that nobody judged whether there was a test, if nobody did."""
        unjudged = any(ear.verdict == Verdict.NOT_JUDGED for ear in session.result.ears)
        return [self.say("unjudged_fit")] if unjudged else []

    def for_whom(self, ears: Sequence[str], found: Sequence[Finding]) -> list[str]:
        """Say for whom the gains are, ear by ear, or of both at once."""
        said = {
            self.ear(ear): self._of_one([each for each in found if each.ear == ear]) for ear in ears
        }
        if len(said) > 1 and len({*said.values()}) == 1:
            said = {self.say("both_ears"): next(iter(said.values()))}
        return [self.say("whom", ear=name, findings=words) for name, words in said.items()]

    def _of_one(self, found: Sequence[Finding]) -> str:
        return " ".join(map(self._finding, found)) or self.say("whom_audible")

    def _finding(self, found: Finding) -> str:
        key, limit = FOR_WHOM[found.code], self.catalogue.number(candidacy.NORMAL_DB_HL)
        if found.code == Code.NORMAL and found.frequencies_hz:
            key = "whom_normal_doubt"
        return self.say(key, at_hz=self._at(found), limit=limit)

    def _at(self, found: Finding) -> str:
        """Return the frequencies, each with a probability where that is not nearly 1."""
        said = []
        surely = found.code == Code.NORMAL
        for k, frequency_hz in enumerate(found.frequencies_hz):
            share = found.probabilities[k] if found.probabilities and not surely else 1.0
            probably = f" ({self.catalogue.percent(self.catalogue.number(100.0 * share))})"
            said.append(f"{frequency_hz:g}{'' if share >= candidacy.SURE else probably}")
        return ", ".join(said)

    def marks(self, ears: Sequence[EarPrescription], *, held: bool = False) -> list[str]:
        """Say what each mark means that stands at a threshold or a gain; `held`: at a tuned one."""

        def any_has(mark: str) -> bool:
            return any(mark in ear.marks for ear in ears)

        def any_rests(gap: GapMark) -> bool:
            """Return whether the sign of a gain is that of its gap."""
            return any(
                mark not in SIGNS and ear.gap_mark(k) == gap
                for ear in ears
                for k, mark in enumerate(ear.marks)
            )

        said = {
            "at_limit": any_has(Outcome.NO_RESPONSE),
            "gap_at_least": any_rests(GapMark.AT_LEAST),
            "at_most": any_has(Outcome.HEARS_ALL),
            "perhaps_beyond": any_has(Outcome.INCOMPLETE),
            "inferred": any_has(Outcome.INFERRED),
            "gap_inferred": any_rests(GapMark.INFERRED),
            "doubtful": any(ear.given.doubtful_hz for ear in ears),
            "held": held or any(ear.held.any() for ear in ears),
            "unpublished": any(
                not within_publication(ear.rule, f) for ear in ears for f in ear.frequencies_hz
            ),
        }
        lines = [self.say(key) for key, holds in said.items() if holds]
        wide = "; ".join(
            self.say("wide_of", ear=self.ear(ear.ear), where=self._wide(ear))
            for ear in ears
            if ear.given.wide_db
        )
        return [*lines, *([self.say("wide", where=wide)] if wide else [])]

    def _wide(self, ear: EarPrescription) -> str:
        return ", ".join(
            self.say(
                "wide_at",
                frequency_hz=str(f),
                half_width_db=self.catalogue.number(half_db),
                wanted_db=self.catalogue.number(wanted_db, "g"),
            )
            for f, (half_db, wanted_db) in ear.given.wide_db.items()
        )

    def say_given(self, ears: Sequence[EarPrescription]) -> list[str]:
        """Say which thresholds the rule was given, and where not those of the audiogram.

        Nothing is said of those that somebody else called thresholds.
        """

        def beyond(ear: EarPrescription, k: int) -> bool:
            level_db_hl = read(ear.given.clinical[k]).level_db_hl
            return level_db_hl is not None and abs(level_db_hl - ear.threshold_db_hl[k]) >= 0.5

        above = ", ".join(
            self.say("given_above", ear=self.ear(each.ear), db=self.catalogue.number(db, ".1f"))
            for each in ears
            if (db := each.given.clinical_offset_db) is not None
        )
        if not above:
            return []
        said = [self.say("given_clinical", above=above)]
        if where := self.where(ears, beyond):
            said.append(self.say("given_limit", where=where))
        return said

    def limits(self, ears: Sequence[EarPrescription], *, gains: bool = True) -> list[str]:
        """Say where a limit holds a gain, and why."""

        def holds(reason: Reason, ear: EarPrescription, k: int) -> bool:
            return bool(ear.held[k]) and ear.prescribed.limits.why_gain(k) == reason

        def limits_output(reason: Reason, ear: EarPrescription, k: int) -> bool:
            return ear.prescribed.limits.why_output(k) == reason

        held = {
            f"held_feedback_{ears[0].coupling}": partial(holds, Reason.FEEDBACK),
            "held_discomfort": partial(holds, Reason.DISCOMFORT),
            "held_ceiling": partial(holds, Reason.CEILING),
            "held_neighbour": partial(holds, Reason.NEIGHBOUR),
        }
        limited = {
            "output_ceiling": partial(limits_output, Reason.CEILING),
            "output_neighbour": partial(limits_output, Reason.NEIGHBOUR),
        }
        ceiling = self.catalogue.number(OUTPUT_CEILING_DB_SPL)
        return [
            self.say(key, where=where, ceiling=ceiling)
            for key, at in {**(held if gains else {}), **limited}.items()
            if (where := self.where(ears, at))
        ]

    def spread(self) -> str:
        """Say what the most output is worth."""
        few, half = (np.array(UNCOMFORTABLE_DB_HL[x]) for x in (LOUD_FOR_FEW, LOUD_FOR_HALF))
        low, high = (self.catalogue.number(float(db)) for db in np.quantile(half - few, (0, 1)))
        return self.say("output_spread", ears=str(MEASURED_EARS), low=low, high=high)

    def say_limited(self, fit: Fit) -> str:
        """Say from which levels on the bands of a fit are held to the most output."""
        levels_db_spl = np.concatenate([ear.limited_from_db_spl for ear in fit.ears])
        low, high = (self.catalogue.number(float(end(levels_db_spl))) for end in (np.min, np.max))
        early = self.catalogue.number(LIMITER_EARLY_DB, "g")
        return self.say("limited_from", low=low, high=high, early=early)

    def say_remarks(self, ears: Sequence[EarPrescription]) -> list[str]:
        """Return what of a session whoever fits an aid has to know; nothing of a table."""
        catalogue, session, said = self.catalogue, ears[0].source.session, []
        if session is None:
            return []
        if session.result.outcome != COMPLETE:
            said.append(self.say("no_end"))
        prescribed = {ear.ear for ear in ears}
        by_air = [found for found in session.result.ears if found.route.kind is BY_AIR]
        for found in by_air:
            if found.route.ear in prescribed:
                continue
            if why := why_nothing_follows(found, catalogue):
                name = self.ear(found.route.ear)
                said.append(catalogue.say(OF_VERDICTS, "not_prescribed", ear=name, why=why))
                said += reasons_of(found, catalogue)
        said += [line for ear in ears for line in gap_lines(ear, self.catalogue)]
        return [*said, *(readable(say_reasons(each, catalogue)) for each in session.result.remarks)]

    def verify(self, ears: Sequence[EarPrescription]) -> str:
        """Say that the gains are a start; of those without any bone conduction, that too."""
        return self.say("verify" if all(ear.gap is None for ear in ears) else "verify_bone")


def sign_of(ear: EarPrescription, k: int) -> str:
    """Return what stands before a gain: that of its threshold, or else of its air-bone gap."""
    wide = WIDE_SIGN if ear.frequencies_hz[k] in ear.given.wide_db else ""
    return SIGNS.get(ear.marks[k]) or GAP_SIGNS.get(ear.gap_mark(k), wide)


def remarks(ears: Sequence[EarPrescription], fit: Fit, language: str = ENGLISH) -> list[str]:
    """Return for whom a fit is, what its marks mean, and what else has to be known."""
    words = PrescriptionWords.of(language)
    return [
        *words.say_source(ears),
        *words.for_whom([ear.ear for ear in ears], fit.for_whom),
        *words.marks(ears),
        *words.say_given(ears),
        *words.limits(ears),
        words.spread(),
        words.say_limited(fit),
        *words.say_remarks(ears),
        words.verify(ears),
    ]


def _say_frequencies(ear: EarPrescription) -> Iterator[str]:
    """Yield what becomes of frequencies that are not known."""
    known = ear.frequencies_hz
    yield (
        f"Gains are for {', '.join(map(str, known))} Hz. An aid has that of {known[0]} Hz below, "
        f"that of {known[-1]} Hz above, and between two bands that of the nearer one."
    )
    if lacking := rule_named(ear.rule).lacks_hz(known):
        yield (
            f"The rule takes a mean that has {', '.join(f'{f:g}' for f in lacking)} Hz in it; for "
            "that it took what lies between the neighbours"
        )


def fit_words(fit: Fit) -> list[str]:
    """Return what a fit says of its calibration, and for whom it was as it was prescribed."""
    words, said = PrescriptionWords.of(ENGLISH), []
    if fit.of.calibration == UNCALIBRATED:
        said.append(f"{UNCALIBRATED}: the levels of this fit are no dB HL")
    if fit.for_whom:
        said += words.for_whom([ear.ear for ear in fit.ears], fit.for_whom)
    return said
