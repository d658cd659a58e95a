"""A prescription as a clinic files it: a document of paper under the header of its test."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from device.hearing_aid.fit import Fit
from device.hearing_aid.for_whom import Finding
from device.speech import CONVERSATION_DB_SPL
from firmware_py.calibration.in_force import HOLDING, UNCALIBRATED
from firmware_py.platform.version import full_version
from firmware_py.procedure.outcomes import Verdict
from host_tools import document
from host_tools.catalogue import catalogue_of
from host_tools.catalogue.remarks import say_reasons
from host_tools.commands.prescribe.ear_prescription import EarPrescription
from host_tools.commands.prescribe.gain_picture import prescription_svg
from host_tools.commands.prescribe.words import PrescriptionWords
from host_tools.document import Block, Document, write_document
from host_tools.drawings.drawing import EAR_COLOURS
from host_tools.recordings.heading import Heading
from host_tools.recordings.particulars import Particulars, simulated_words
from host_tools.recordings.recorded_session import RecordedSession
from host_tools.recordings.verdicts import told_verdicts, verdict_word

PAPERS: Final = "report"  # the table of what other papers say, too


@dataclass(frozen=True)
class Frame:
    """What every paper of a fit has around its gains: header, alarms and signature."""

    session: RecordedSession
    ears: Sequence[EarPrescription]
    fit: Fit  # of these ears, tuned or not
    heading: Heading
    language: str

    @property
    def particulars(self) -> Particulars:
        """Return the header of the test."""
        return Particulars(self.session, self.heading, catalogue_of(self.language))

    @property
    def words(self) -> PrescriptionWords:
        return PrescriptionWords.of(self.language)

    def why_not_final(self) -> str:
        """Return the standing of the paper where its test cannot be final for a fit; else ""."""
        if self.session.calibration.state != UNCALIBRATED:
            return ""
        return self.particulars.say(
            "not_final", why=self.words.catalogue.say(PAPERS, "uncalibrated")
        )

    def verdicts(self) -> list[Block]:
        told = told_verdicts(self.session.result.ears, self.words.catalogue)
        return [*map(document.verdict, told)]

    def rule(self) -> tuple[str, str]:
        """Return the fact by which rule it was prescribed."""
        first = self.ears[0]
        return self.particulars.say("rule"), self.words.rule_and_source(first.rule, first.coupling)

    def alarms(self) -> list[Block]:
        """Return what must not be overlooked of who was tested, and of the calibration."""
        calibration, catalogue = self.session.calibration, self.words.catalogue
        of_clock = simulated_words(self.session.simulated, self.session.header.speed, catalogue)
        simulated = [document.alarm(*each) for each in of_clock]
        if unjudged := self.words.say_unjudged(self.session):
            headline = verdict_word(Verdict.NOT_JUDGED, catalogue).upper()
            simulated.append(document.alarm(headline, " ".join(unjudged)))
        if calibration.state in HOLDING:
            return simulated
        why, state = say_reasons(calibration.about, catalogue), calibration.state.lower()
        meaning = [catalogue.say(PAPERS, f"{state}_means")]
        if calibration.state == UNCALIBRATED:
            meaning.append(self.words.say("uncalibrated_fit"))
        text = " ".join((f"{why[:1].upper()}{why[1:]}.", *meaning))
        return [*simulated, document.alarm(catalogue.say(PAPERS, state), text)]

    def for_whom(self, found: Sequence[Finding]) -> Block:
        """Return for whom the gains are, and that they are a start."""
        words = self.words
        said = [*words.for_whom([ear.ear for ear in self.ears], found), words.verify(self.ears)]
        return document.section(words.say("for_whom"), said)

    def columns(self, title: str) -> list[str]:
        """Return the heads of a table with a column a frequency."""
        frequencies_hz = self.ears[0].frequencies_hz
        return [f"{title} | {self.particulars.say('frequency')}", *map(str, frequencies_hz)]

    def limits_of(self, ear: EarPrescription, *, gain: bool) -> list[Block]:
        """Return the rows of what an ear's aid may give at most; `gain`: its gain, too."""
        words, own, within = self.words, ear.discomfort_db_spl, ear.prescribed.limits
        count = range(len(ear.frequencies_hz))
        number = words.catalogue.number
        rows = {
            "most_gain_of": [number(float(within.gain_max_db[k])) for k in count],
            "most_output_of": [number(float(within.output_max_db_spl[k])) for k in count],
            "own_discomfort_of": [words.band(own.low[k], own.high[k]) for k in count],
        }
        if not gain:
            del rows["most_gain_of"]
        return [document.row([words.say(key), *cells], small=True) for key, cells in rows.items()]

    def marks(self, *, held: bool = False) -> Block:
        """Return what the marks in the table mean; `held`: a limit holds a gain that was tuned."""
        marks = self.words.marks(self.ears, held=held)
        return document.legend([("", f"{mark}.") for mark in marks])

    def notes(self, first: str, *, gains: bool = True) -> Block:
        """Return small print: what the gains are, from which thresholds, and what limits them.

        `gains`: also where a limit holds them below the rule's.
        """
        words = self.words
        limits = words.limits(self.ears, gains=gains)
        said = (
            first,
            *words.say_given(self.ears),
            *limits,
            words.spread(),
            words.say_limited(self.fit),
        )
        return document.note(" ".join(said))

    def end(self, remarks: Sequence[str]) -> list[Block]:
        """Return remarks, room for comments, and lines to sign on."""
        title = self.words.catalogue.say(PAPERS, "remarks")
        return [
            *([document.section(title, remarks)] if remarks else []),
            document.comments(self.particulars.say("comments"), self.heading.comments),
            document.sign(self.particulars.signature()),
        ]


@dataclass(frozen=True)
class PrescriptionPaper:
    """A prescription, to be set on paper."""

    session: RecordedSession
    ears: Sequence[EarPrescription]
    fit: Fit  # of these ears
    against: Fit | None  # another fit to draw beside it
    heading: Heading
    language: str

    def write(self, path: Path) -> None:
        """Write it, in the format of the name's ending."""
        write_document(self.document(), path)

    def document(self) -> Document:
        frame = Frame(self.session, self.ears, self.fit, self.heading, self.language)
        particulars, words = frame.particulars, frame.words
        svg = prescription_svg(self.ears, self.fit, particulars.catalogue, self.against)
        return Document(
            language=self.language,
            title=particulars.say("gains_of", person=particulars.person, when=particulars.day),
            headline=particulars.say("gains"),
            standing=frame.why_not_final() or particulars.standing,
            final=particulars.final and not frame.why_not_final(),
            footer=words.say("footer", version=full_version()),
            blocks=[
                *frame.verdicts(),
                document.facts([*particulars.facts(), frame.rule()]),
                *frame.alarms(),
                frame.for_whom(self.fit.for_whom),
                document.figures(
                    [document.figure(svg, words.say("picture_of"))], wide=len(self.ears) > 1
                ),
                self._numbers(frame),
                frame.marks(),
                frame.notes(words.say("insertion_gain")),
                *frame.end(words.say_remarks(self.ears)),
            ],
        )

    def _numbers(self, frame: Frame) -> Block:
        """Return a column a frequency: gain for conversation, its band, threshold, and limits."""
        words, rows = frame.words, []
        for ear in self.ears:
            name, count = words.ear(ear.ear), range(len(ear.frequencies_hz))
            band = ear.gain_at_db[CONVERSATION_DB_SPL]
            small = {
                words.say("band"): [words.band(band.low[k], band.high[k]) for k in count],
                frame.particulars.level_of(name): [words.threshold(ear, k) for k in count],
            }
            gains = [words.gain(ear, k) for k in count]
            rows += [
                document.row([name, *gains], EAR_COLOURS[ear.ear], bold=True),
                *(document.row([title, *cells], small=True) for title, cells in small.items()),
                *frame.limits_of(ear, gain=False),
            ]
        return document.numbers(frame.columns(words.say("gain_of")), rows)
