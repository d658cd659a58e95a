"""A prescription as a clinic files it: a document of paper under the header of its test."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from device.hearing_aid.fit import Fit
from device.hearing_aid.rules import rule_named
from device.hearing_aid.speech import CONVERSATION_DB_SPL
from firmware_py import __version__
from firmware_py.calibration.in_force import HOLDING
from host_tools import document
from host_tools.catalogue import catalogue_of
from host_tools.catalogue.remarks import told
from host_tools.commands.prescribe.ears import EarPrescription
from host_tools.commands.prescribe.figures import PLACE, remarks
from host_tools.commands.prescribe.picture import prescription_svg
from host_tools.commands.prescribe.table import gain_words, threshold_words
from host_tools.document import Block, Document, write_document
from host_tools.drawing import EAR_COLOURS
from host_tools.heading import Heading
from host_tools.record import RecordOfTest, simulated_words
from host_tools.recorded import RecordedSession
from host_tools.verdicts import told_verdicts


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
        """Return it as a document."""
        record = self._record
        title = record.say("gains_of", person=record.person, when=record.day)
        svg = prescription_svg(self.ears, self.fit, record.catalogue, self.against)
        return Document(
            language=self.language,
            title=title,
            heading=record.say("gains"),
            standing=record.standing,
            final=record.final,
            footer=self._say("footer", version=__version__),
            blocks=[
                *map(document.verdict, told_verdicts(self.session.result.ears, record.catalogue)),
                document.facts([*record.facts(), (record.say("rule"), self._rule())]),
                *self._alarms(),
                document.figures(
                    [document.figure(svg, self._say("picture_of"))], wide=len(self.ears) > 1
                ),
                self._numbers(),
                document.note(self._say("insertion_gain")),
                document.section(
                    record.catalogue.say("report", "remarks"),
                    remarks(self.session, self.ears, self.language),
                ),
                document.comments(record.say("comments"), self.heading.comments),
                document.sign(record.signature()),
            ],
        )

    @property
    def _record(self) -> RecordOfTest:
        return RecordOfTest(self.session, self.heading, catalogue_of(self.language))

    def _say(self, key: str, /, **parts: str) -> str:
        return catalogue_of(self.language).say(PLACE, key, **parts)

    def _rule(self) -> str:
        rule = rule_named(self.ears[0].rule)
        coupling = self._say(f"coupling_{self.ears[0].coupling}")
        return self._say("rule_value", rule=rule.name, source=rule.source, coupling=coupling)

    def _alarms(self) -> list[Block]:
        calibration, catalogue = self.session.calibration, catalogue_of(self.language)
        of_clock = simulated_words(self.session.simulated, self.session.header.speed, catalogue)
        simulated = [document.alarm(*each) for each in of_clock]
        if calibration.state in HOLDING:
            return simulated
        _, _, why = calibration.headline.partition(": ")
        why = told(why, catalogue)
        state = calibration.state.lower()
        meaning = catalogue.say("report", f"{state}_means")
        return [
            *simulated,
            document.alarm(
                catalogue.say("report", state), f"{why[:1].upper()}{why[1:]}. {meaning}"
            ),
        ]

    def _numbers(self) -> Block:
        """Return a column a frequency: threshold and insertion gain for conversation."""
        frequencies_hz = self.ears[0].frequencies_hz
        rows = []
        for ear in self.ears:
            colour = EAR_COLOURS[ear.ear]
            name = catalogue_of(self.language).say("picture", f"{ear.ear}_ear")
            gain = ear.gain_at_db[CONVERSATION_DB_SPL]
            count = range(len(frequencies_hz))
            bands = [
                catalogue_of(self.language).say(
                    "report", "band", low=f"{gain.low[k]:.0f}", high=f"{gain.high[k]:.0f}"
                )
                for k in count
            ]
            level = self._record.say("level_of", ear=name)
            rows += [
                document.row(
                    [name, *(gain_words(ear, k) for k in count)],
                    colour, bold=True,
                ),
                document.row([self._say("band"), *bands], small=True),
                document.row([level, *(threshold_words(ear, k) for k in count)], small=True),
            ]  # fmt: skip
        return document.numbers(
            [
                f"{self._say('gain_of')} | {self._record.say('frequency')}",
                *map(str, frequencies_hz),
            ],
            rows,
        )
