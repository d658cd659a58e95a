"""A prescription as a paper: the sheet that a clinic files, and all settings, for a terminal.

The sheet is that of a session; a table has settings alone. A tuned fit has what it was tuned to,
and what that was found by.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from device.hearing_aid.fit import Fit
from device.speech import (
    CONVERSATION_DB_SPL,
    LOUD_DB_SPL,
    SOFT_DB_SPL,
    SPEECH_LEVELS_DB_SPL,
    FloatArray,
)
from firmware_py.comparisons.space import PRESCRIPTION
from firmware_py.findings.rows import Cell, Row, no_value, row
from firmware_py.paper import blocks, head
from firmware_py.paper.blocks import Paper, Section, Table, rows, section
from firmware_py.paper.source import Source
from firmware_py.platform.version import full_version
from firmware_py.terms.reasons import NOMINAL_DB, UNIT
from host_tools.catalogue import language_of
from host_tools.commands.prescribe import remarks
from host_tools.commands.prescribe.ear_prescription import Banded, EarPrescription
from host_tools.commands.prescribe.figures import both, differences_db
from host_tools.commands.prescribe.gain_picture import prescription_svg
from host_tools.commands.prescribe.signs import gain_row, sign_rows, threshold_row
from host_tools.commands.prescribe.tuned import Tuned
from host_tools.papers import Shown
from host_tools.papers.pdf import write_paper
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import RecordedSession
from host_tools.recordings.source import source_of

PICTURE: Final = "gains"  # the name of the drawing
NOT_COMPRESSED: Final = 1.05  # a ratio of less is written as 1.0
Line = tuple[Row, Sequence[Cell]]  # of a table


@dataclass(frozen=True)
class Sheet:
    """A fit of a session, to be filed."""

    session: RecordedSession
    ears: Sequence[EarPrescription]
    fit: Fit  # of these ears, as prescribed
    against: Fit | None = None  # another fit to draw beside it
    tuned: Tuned | None = None

    @property
    def given(self) -> Fit:
        """Return the fit that the aid gets: the tuned one, if it was tuned."""
        return self.tuned.fit if self.tuned else self.fit

    def write(self, path: Path, heading: Heading, language: str) -> None:
        changed = self.tuned is not None and self.tuned.setting != PRESCRIPTION
        against = self.fit if changed else self.against
        svg = prescription_svg(self.ears, self.given, language_of(language), against)
        write_paper(self.paper(), Shown(language, heading, {PICTURE: svg}), path)

    def paper(self) -> Paper:
        source = source_of(self.session)
        standing, final = head.standing(source)
        if final and self.tuned and self.tuned.why_not_final:
            standing, final = row("not-final", why=self.tuned.why_not_final), False
        title, headline = ("fit-tuned-of", "fit-tuned") if self.tuned else ("fit-of", "fit-gains")
        person = source.person.identifier or row("no-identifier")
        return blocks.paper(
            title=row(title, person=person, begun_at=source.header.started),
            headline=row(headline),
            standing=standing,
            final=final,
            footer=row("fit-footer", version=full_version()),
            sections=self._sections(source),
        )

    def _sections(self, source: Source) -> Iterator[Section]:
        ears, tuned = self.ears, self.tuned
        yield section("verdict", None, *head.verdict_blocks(source.result.ears))
        rule = row("fit-rule"), remarks.rule_row(ears[0].rule, ears[0].coupling)
        more = tuned.facts() if tuned else ()
        yield section("facts", None, blocks.facts([*head.facts_of(source), rule, *more]))
        yield section("alarms", None, *head.alarms(source))
        if tuned:
            yield section("setting", None, *tuned.blocks())
        yield section("for-whom", row("for-whom"), rows(self._whom()))
        gains = [*map(self._gains, ears)]
        cells = (each for table in gains for each in table["rows"][0][1])
        yield section(
            "gains", None,
            blocks.figure(PICTURE, row("fit-picture")),
            blocks.tables(gains),
            blocks.legend(((), each) for each in sign_rows(ears, cells)),
            rows(self._notes(), small=True),
        )  # fmt: skip
        about = [*remarks.session_rows(ears)]
        if tuned:
            found = (reason.to_record() for reason in tuned.result.remarks)
            about = [*found, *about, row("tuning-preferred")]
        yield section("remarks", row("remarks") if about else None, rows(about))
        yield section(
            "signature", None, blocks.comments(row("comments")), blocks.sign(head.signature())
        )

    def _whom(self) -> Iterator[Row]:
        found = self.fit.for_whom
        if self.tuned:
            gains_db = {ear.ear: ear.gain_of_speech_db() for ear in self.given.ears}
            found = tuple(each for ear in self.ears for each in ear.for_whom(gains_db[ear.ear]))
        yield from remarks.waived_rows(self.session)
        yield from remarks.whom_rows([ear.ear for ear in self.ears], found)
        yield remarks.verify_row(self.ears)

    def _gains(self, ear: EarPrescription) -> Table:
        """Return a column a frequency: gain for conversation, threshold, and limits."""
        within = ear.prescribed.limits
        first: list[Line] = [
            (row("row-gain"), _gains(ear)),
            (row("row-band"), _bands(ear.gain_at_db[CONVERSATION_DB_SPL])),
            *_other_levels(ear),
            _levels(ear),
        ]
        if self.tuned:
            gains_db = self.given.of_ear(ear.ear).gain_of_speech_db()
            at = enumerate(zip(gains_db, self.tuned.where_held(ear.ear), strict=True))
            tuned = [gain_row(ear, k, float(gain_db), bool(held)) for k, (gain_db, held) in at]
            first = [
                (row("row-tuned"), tuned),
                (row("prescribed-of"), _gains(ear)),
                _levels(ear),
                (row("most-gain-of"), _whole(ear.gain_max_db)),
            ]
        last: list[Line] = [
            (row("most-output-of"), _whole(within.output_max_db_spl)),
            (row("own-discomfort-of"), _bands(ear.discomfort_db_spl)),
            *([(row("discomfort-measured"), remarks.measured_cells(ear))] if ear.told else []),
        ]
        return _table(ear, [*first, *last])

    def _notes(self) -> Iterator[Row]:
        """Say what the gains are, from which thresholds, and what limits them."""
        yield row("tuned-for-speech" if self.tuned else "insertion-gain")
        yield from remarks.given_rows(self.ears)
        yield from remarks.limit_rows(self.ears, gains=not self.tuned)
        yield from remarks.output_rows(self.ears, self.given)
        yield from remarks.step_rows(self.ears)


def settings_of(
    ears: Sequence[EarPrescription], fit: Fit, against: Fit | None
) -> Iterator[Section]:
    rule = remarks.rule_row(ears[0].rule, ears[0].coupling)
    yield section(
        "settings", rule, blocks.tables((_settings(ear, fit) for ear in ears), turned=True)
    )
    if against is not None:
        yield section("against", None, rows(_differences(fit, against)))


def _settings(ear: EarPrescription, fit: Fit) -> Table:
    bands = _bands(ear.gain_at_db[CONVERSATION_DB_SPL])
    ratios, knees = ear.ratio.value, _whole(ear.knee_db_spl.value)
    turns = [k if r >= NOT_COMPRESSED else no_value() for k, r in zip(knees, ratios, strict=True)]
    lines: list[Line] = [
        _levels(ear, "row-level"),
        (row("row-gain"), _gains(ear)),
        *([(row("row-band"), bands)] if ear.given.has_bands else []),
        *_other_levels(ear),
        (row("head-ratio"), [row("ratio", ratio=each) for each in ratios]),
        (row("head-knee"), turns),
        (row("most-gain-of"), _whole(ear.gain_max_db)),
        (row("head-output"), _whole(ear.output_max_db_spl.value)),
        (row("head-limited"), _whole(fit.of_ear(ear.ear).limited_from_db_spl)),
    ]
    return _table(ear, lines)


def _differences(fit: Fit, against: Fit) -> Iterator[Row]:
    """Say how much more gain a fit has than another: on average, and where it is the most."""
    of = remarks.from_row(against)
    for ear in both(fit, against):
        at_db = differences_db(fit, against, ear.ear)
        means = [
            row("against-at", change_db=db, level=level)
            for db, level in zip(at_db.mean(axis=1), SPEECH_LEVELS_DB_SPL, strict=True)
        ]
        k = int(np.argmax(np.abs(at_db[1])))
        most = row("against-most", change_db=at_db[1, k], frequency_hz=ear.bands[k].center_hz)
        yield row("against-fit", ear=ear.ear, of=of, means=means, most=most)


def _table(ear: EarPrescription, lines: Sequence[Line]) -> Table:
    columns: list[Cell] = [row("hertz"), *ear.frequencies_hz]
    return blocks.table(row("the-ear", ear=ear.ear), columns, lines, of=ear.ear, main=1)


def _levels(ear: EarPrescription, code: str = "row-threshold") -> Line:
    unit = {} if ear.given.calibrated else {UNIT: NOMINAL_DB}
    return row(code, **unit), [threshold_row(ear, k) for k in range(len(ear.marks))]


def _other_levels(ear: EarPrescription) -> Iterator[Line]:
    """Return the gains for soft and loud speech, and what limits take for any speech."""
    for level in (SOFT_DB_SPL, LOUD_DB_SPL):
        yield row("head-at", level=level), _whole(ear.gain_at_db[level].value)
    taken = np.round([ear.taken_at_db[level] for level in SPEECH_LEVELS_DB_SPL])
    if taken.any():
        soft, middle, loud = SPEECH_LEVELS_DB_SPL
        head = row("limits-take", soft=soft, middle=middle, loud=loud)
        yield (
            head,
            [row("taken", soft=each[0], middle=each[1], loud=each[2]) for each in taken.T.tolist()],
        )


def _gains(ear: EarPrescription) -> list[Row]:
    return [gain_row(ear, k) for k in range(len(ear.marks))]


def _whole(values: FloatArray) -> list[int]:
    return [round(float(value)) for value in values]


def _bands(of: Banded) -> list[Row]:
    ends = zip(of.low, of.high, strict=True)
    return [row("gain-band", low=low, high=high) for low, high in ends]
