"""A tuned fit as a clinic files it: what it was tuned to, what that was found by, and its gains."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from device.hearing_aid.fit import EarFit, Fit
from device.hearing_aid.fit_file import fit_digest
from device.hearing_aid.for_whom import Finding as ForWhom
from firmware_py.console.wording import readable
from firmware_py.inference.preference.regret import off_db
from firmware_py.platform.version import full_version
from firmware_py.procedure.tuning.outcomes import Finding
from firmware_py.procedure.tuning.result import TuningResult
from firmware_py.procedure.tuning.space import DIMENSIONS, PRESCRIPTION, Setting
from firmware_py.sessions.archive import COMPLETE, UNFINISHED
from firmware_py.sessions.identity import Meeting, differences
from firmware_py.tuning.tuning_record import TuningHeader
from host_tools import document
from host_tools.catalogue.remarks import say_reasons
from host_tools.commands.prescribe.ear_prescription import HELD_DB, EarPrescription
from host_tools.commands.prescribe.gain_picture import prescription_svg
from host_tools.commands.prescribe.paper import PAPERS, Frame
from host_tools.commands.replay.tuning import (
    header_of_tuning,
    replay_tuning_journal,
)
from host_tools.document import Block, Document, write_document
from host_tools.drawings.drawing import EAR_COLOURS
from host_tools.errors import HostError
from host_tools.recordings import replayed
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import (
    RecordedSession,
    good_records,
    result_recorded,
)

OF_THE_PAGE: Final = "page"  # the table of what the four numbers are called
NOTHING: Final = "-"


def tuning_of(
    journal: Path, fit: Fit, unfinished_allowed: bool = False
) -> tuple[TuningHeader, TuningResult]:
    """Return a tuning of a fit, and its result.

    Raises
    ------
    HostError
        It is of another person or another fit, it came to no end and that is not allowed, or its
        journal does not replay to what it says.
    """
    header = header_of_tuning(journal)
    of_fit, of_tuning = fit.of.identity(fit_digest(fit)), header.identity()
    for each in differences(Meeting.TUNE, of_tuning, of_fit):
        if each.field == "identifier":
            raise HostError(f"--tuning {journal}: {each.words}: it is of another person")
        raise HostError(
            f"--tuning {journal}: {each.words}: it is of another fit; --rule, --coupling and --ear "
            "have to be those of the fit that was tuned"
        )
    result = _result_of(journal, header)
    if result is None or (result.outcome != COMPLETE and not unfinished_allowed):
        state = "is not finished" if result is None else f"was {result.outcome}"
        raise HostError(f"--tuning {journal}: it {state}; allowed is one that came to its end")
    return header, result


def _result_of(journal: Path, header: TuningHeader) -> TuningResult | None:
    """Return the result that was recorded; what this version recorded has to replay to it."""
    if header.is_of_another_version:
        recovered, damage = good_records(journal)
        if damage:
            raise HostError(damage)
        recorded: TuningResult | None = result_recorded(header, recovered)
        return recorded
    verdict = replay_tuning_journal(journal)
    if verdict.damage or verdict.differences:
        raise HostError(replayed.words(verdict)[0])
    return verdict.result


@dataclass(frozen=True)
class TunedPaper:
    """A tuned fit, to be set on paper."""

    session: RecordedSession
    ears: Sequence[EarPrescription]
    prescribed: Fit  # of these ears
    tuning: TuningHeader
    result: TuningResult
    heading: Heading
    language: str

    @property
    def fit(self) -> Fit:
        """Return the fit with the setting that was found."""
        return self.prescribed.tune(self._setting)

    @property
    def _setting(self) -> Setting:
        return Setting.of(self.result.setting_db)

    def write(self, path: Path) -> None:
        """Write it, in the format of the name's ending."""
        write_document(self.document(), path)

    def document(self) -> Document:
        frame = Frame(self.session, self.ears, self.fit, self.heading, self.language)
        particulars, words = frame.particulars, frame.words
        against = None if self._setting == PRESCRIPTION else self.prescribed
        svg = prescription_svg(self.ears, self.fit, particulars.catalogue, against)
        not_final = frame.why_not_final() or self._why_not_final(frame)
        return Document(
            language=self.language,
            title=words.say("tuned_of", person=particulars.person, when=particulars.day),
            headline=words.say("tuned"),
            standing=not_final or particulars.standing,
            final=particulars.final and not not_final,
            footer=words.say("footer", version=full_version()),
            blocks=[
                *frame.verdicts(),
                document.facts([*particulars.facts(), frame.rule(), *self._facts(frame)]),
                *frame.alarms(),
                self._settings(frame),
                *self._distance(frame),
                frame.for_whom([found for ear in self.ears for found in self._for_whom(ear)]),
                document.figures(
                    [document.figure(svg, words.say("picture_of"))], wide=len(self.ears) > 1
                ),
                self._numbers(frame),
                frame.marks(held=any(self._where_held(ear).any() for ear in self.ears)),
                frame.notes(words.say("tuned_for_speech"), gains=False),
                *frame.end(self._remarks(frame)),
            ],
        )

    def _why_not_final(self, frame: Frame) -> str:
        outcome = self.result.outcome or UNFINISHED
        if outcome == COMPLETE:
            return ""
        status = frame.words.catalogue.say(PAPERS, f"status_{outcome}")
        return frame.particulars.say("not_final", why=f"{frame.words.say('tuning')}, {status}")

    def _facts(self, frame: Frame) -> list[tuple[str, str]]:
        """Return which tuning it was, and what it found."""
        words, result, header = frame.words, self.result, self.tuning
        status = words.catalogue.say(PAPERS, f"status_{result.outcome or UNFINISHED}")
        which = words.say(
            "tuning_value",
            number=str(header.session),
            when=words.catalogue.clock_time(header.started),
            status=status,
        )
        found = words.say(
            "finding_value",
            finding=words.say(f"finding_{result.finding}"),
            comparisons=str(result.comparisons), same=str(result.same),
        )  # fmt: skip
        return [(words.say("tuning"), which), (words.say("finding"), found)]

    def _settings(self, frame: Frame) -> Block:
        """Return a row for each number of the setting; what was not found has no figure."""
        words, result, ranges_db = frame.words, self.result, self.prescribed.ranges_db()
        columns = [words.say(key) for key in ("setting_of", "setting", "wish", "band", "allowed")]

        def with_sign(value_db: float) -> str:
            return words.catalogue.number(value_db, "+.1f")

        def band(low_db: float, high_db: float) -> str:
            return words.catalogue.say(
                PAPERS, "band", low=with_sign(low_db), high=with_sign(high_db)
            )

        rows = []
        for k, dimension in enumerate(DIMENSIONS):
            wish = [with_sign(result.wish_db[k]), band(result.low_db[k], result.high_db[k])]
            if result.finding == Finding.NONE:
                wish = [NOTHING, NOTHING]
            name = words.catalogue.say(OF_THE_PAGE, f"tune_{dimension.name}")
            allowed = band(*ranges_db[dimension.name])
            rows.append(document.row([name, with_sign(result.setting_db[k]), *wish, allowed]))
        return document.numbers(columns, rows)

    def _distance(self, frame: Frame) -> list[Block]:
        """Return how far the setting is expected to be from what is wanted, if that was found."""
        if self.result.finding == Finding.NONE:
            return []
        off = frame.words.catalogue.number(off_db(self.result.expected_regret), ".1f")
        return [document.note(frame.words.say("off", off=off))]

    def _numbers(self, frame: Frame) -> Block:
        """Return a column a frequency: gains as tuned and as prescribed, threshold, and limits."""
        words, rows = frame.words, []
        for ear in self.ears:
            name, held = words.ear(ear.ear), self._where_held(ear)
            gains_db = self.fit.of_ear(ear.ear).gain_of_speech_db()
            count = range(len(ear.frequencies_hz))
            small = {
                words.say("prescribed_of"): [words.gain(ear, k) for k in count],
                frame.particulars.level_of(name): [words.threshold(ear, k) for k in count],
            }
            tuned = [words.gain(ear, k, float(gains_db[k]), bool(held[k])) for k in count]
            rows += [
                document.row([name, *tuned], EAR_COLOURS[ear.ear], bold=True),
                *(document.row([title, *cells], small=True) for title, cells in small.items()),
                *frame.limits_of(ear, gain=True),
            ]
        return document.numbers(frame.columns(words.say("tuned_gain_of")), rows)

    def _where_held(self, ear: EarPrescription) -> npt.NDArray[np.bool_]:
        """Return where the setting asked for more gain than its limit allows."""
        before, after = self._of(self.prescribed, ear), self._of(self.fit, ear)
        asked_db = before.table.gains_db + before.table.change_db(self._setting)
        held: npt.NDArray[np.bool_] = (
            before.table.at_speech_db(gains_db=asked_db) > after.gain_of_speech_db() + HELD_DB
        )
        return held

    def _of(self, fit: Fit, ear: EarPrescription) -> EarFit:
        return fit.of_ear(ear.ear)

    def _for_whom(self, ear: EarPrescription) -> list[ForWhom]:
        return ear.for_whom(self._of(self.fit, ear).gain_of_speech_db())

    def _remarks(self, frame: Frame) -> list[str]:
        catalogue = frame.words.catalogue
        return [
            *(readable(say_reasons(remark, catalogue)) for remark in self.result.remarks),
            *frame.words.say_remarks(self.ears),
            frame.words.say("preferred"),
        ]
