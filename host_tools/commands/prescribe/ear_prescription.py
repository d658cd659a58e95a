"""What an ear prescribes: gains with their bands, from thresholds with theirs, if they have any."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from device.hearing_aid import candidacy
from device.hearing_aid.discomfort import Own
from device.hearing_aid.fit import Fit
from device.hearing_aid.for_whom import Code, EarFinding
from device.hearing_aid.limits import CLOSED, UNCOMFORTABLE_DB_HL, discomfort_db_hl, field_db_spl
from device.hearing_aid.prescription import Prescribed, fit_of_thresholds, fitted_ear, prescribe
from device.speech import CONVERSATION_DB_SPL, SPEECH_LEVELS_DB_SPL, FloatArray
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.terms.discomfort_levels import DiscomfortLevel
from firmware_py.terms.outcomes import Outcome, Verdict
from host_tools.commands.prescribe.from_session import NOTHING_WAIVED, Waived, source_of_session
from host_tools.commands.prescribe.own_discomfort import own_of
from host_tools.commands.prescribe.source import (
    GapMark,
    GapPart,
    NothingToPrescribeError,
    Source,
    Taken,
)
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import RecordedSession

HELD_DB: Final = 0.5  # less than the rule's gain by that: a limit holds it
DEVIATIONS: Final = 1.28  # a normal distribution has its middle 80 % within so many SDs


@dataclass(frozen=True)
class Banded:
    """What each band of an ear is set to, and the band of it (95 % unless said), (m,).

    NaN, low and high: how sure it is nobody knows, and no band is shown.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class EarPrescription:
    """The prescription for one ear."""

    source: Source
    ear: str
    rule: str
    coupling: str
    given: Taken  # the thresholds that all else was taken from
    prescribed: Prescribed
    # `gain_at_db`: gain by the level of speech over all bands; where there was no response it is
    # the least there can be. `knee_db_spl`, `ratio`: of the compression; `output_max_db_spl`.
    gain_at_db: dict[float, Banded]
    # `taken_at_db`: how much of each the limits take; `gain_max_db`: the most for conversation
    taken_at_db: dict[float, FloatArray]
    gain_max_db: FloatArray
    knee_db_spl: Banded
    ratio: Banded
    output_max_db_spl: Banded
    # where a person's own level of discomfort lies: the middle, and that of four in five people
    discomfort_db_spl: Banded
    # `gap`: what bone conduction tells of it; None: nothing. `for_gap_db`: so much of the gains for
    # conversational speech is for its air-bone gap, (m,)
    gap: GapPart | None
    for_gap_db: FloatArray
    own: Own | None = None  # this person's levels; None: no level was measured

    @property
    def told(self) -> dict[int, DiscomfortLevel]:
        """Return the levels of discomfort that somebody measured, by frequency."""
        told = self.source.told.get(self.ear)
        return {level.frequency_hz: level for level in told.levels} if told else {}

    @property
    def frequencies_hz(self) -> tuple[int, ...]:
        return self.given.frequencies_hz

    @property
    def marks(self) -> tuple[str, ...]:
        """Return how sure a threshold is at each of them (`terms.outcomes`), or a table's."""
        return self.given.marks

    @property
    def threshold_db_hl(self) -> FloatArray:
        return self.given.point_db_hl

    @property
    def gain_db(self) -> FloatArray:
        return self.gain_at_db[CONVERSATION_DB_SPL].value

    @property
    def held(self) -> npt.NDArray[np.bool_]:
        """Return at which frequencies that gain is less than the rule's, for a limit."""
        return self.prescribed.target_db > self.gain_db + HELD_DB

    def gap_mark(self, k: int) -> GapMark:
        """Return how the gap is known that a gain rests on; `NONE` where a limit holds the gain."""
        if self.gap is None or self.held[k] or self.prescribed.for_gap_db[k] <= 0.0:
            return GapMark.NONE
        return self.gap.marks[k]

    def for_whom(self, gain_db: FloatArray | None = None) -> list[EarFinding]:
        """Return for whom gains for conversational speech are, (m,): without any, its own."""
        if not self.given.calibrated:
            return [EarFinding(self.ear, Code.NOT_JUDGED)]
        marks = self.marks
        known = candidacy.Ear(
            self.ear,
            self.frequencies_hz,
            self.given.point_db_hl,
            self.given.draws_db_hl,
            asked=[mark != Outcome.INFERRED for mark in marks],
            silent=[mark == Outcome.NO_RESPONSE for mark in marks],
            perhaps_silent=[mark == Outcome.INCOMPLETE for mark in marks],
            sure=[
                mark != Outcome.INCOMPLETE and f not in self.given.doubtful_hz
                for f, mark in zip(self.frequencies_hz, marks, strict=True)
            ],
        )
        found = candidacy.of_ear(known, self.gain_db if gain_db is None else gain_db)
        if self.given.has_bands:
            return found
        return [replace(each, probabilities=()) for each in found]


def prescribe_session(
    session: RecordedSession, rule: str, coupling: str, ear: str | None = None, *,
    waived: Waived = NOTHING_WAIVED,
) -> list[EarPrescription]:  # fmt: skip
    """Prescribe from a recorded session; all else as of `prescribe_ears`."""
    return prescribe_ears(source_of_session(session, waived), rule, coupling, ear)


def prescribe_ears(
    source: Source, rule: str, coupling: str = CLOSED, ear: str | None = None
) -> list[EarPrescription]:
    """Prescribe for the ears asked for, None: all; one that cannot be is an error if it is alone.

    It is a `NothingToPrescribeError` if nothing follows from the ear, or its frequencies do not
    span what the rule needs; other errors are those of the source.
    """
    found, refused, own = [], [], own_of(source)
    for each in [ear] if ear else source.ears:
        try:
            found.append(_prescribe_ear(source, each, rule, coupling, own.get(each)))
        except NothingToPrescribeError as error:
            refused.append(error)
    if refused and (ear or not found):
        raise refused[0]
    return found


def _prescribe_ear(
    source: Source, ear: str, rule: str, coupling: str, own: Own | None
) -> EarPrescription:
    given, gap = source.take(ear)
    centers_hz = np.array(given.frequencies_hz, dtype=np.float64)
    gap_db, drawn_gaps_db = (None, None) if gap is None else (gap.db, gap.draws_db)
    try:
        limit = None if own is None else own.limit_db_hl(centers_hz)
        point = prescribe(centers_hz, given.point_db_hl, rule, coupling, gap_db, limit)
        drawn = prescribe(centers_hz, given.draws_db_hl, rule, coupling, drawn_gaps_db, limit)
        by_air = prescribe(centers_hz, given.point_db_hl, rule, coupling, own_db_hl=limit)
    except ValueError as error:
        raise NothingToPrescribeError(
            f"{source.place}: {ear} ear: {error}{source.advice}"
        ) from None
    fitted, free_db, tables_db = fitted_ear(ear, point), point.free_table_db(), drawn.table_db()
    table = fitted.table
    without_db = fitted_ear(ear, by_air).gain_of_speech_db()
    return EarPrescription(
        source=source,
        ear=ear,
        rule=rule,
        coupling=coupling,
        given=given,
        prescribed=point,
        gain_at_db={
            level: _band(table.at_speech_db(level), table.at_speech_db(level, tables_db))
            for level in SPEECH_LEVELS_DB_SPL
        },
        taken_at_db={
            level: table.at_speech_db(level, free_db) - table.at_speech_db(level)
            for level in SPEECH_LEVELS_DB_SPL
        },
        gain_max_db=table.at_speech_db(gains_db=fitted.gains_max_db),
        knee_db_spl=_band(point.knee_db_spl, drawn.knee_db_spl),
        ratio=_band(point.compression.ratio, drawn.compression.ratio),
        output_max_db_spl=_band(point.limits.output_max_db_spl, drawn.limits.output_max_db_spl),
        discomfort_db_spl=_discomfort(centers_hz, given.point_db_hl, drawn, own),
        gap=gap,
        for_gap_db=table.at_speech_db() - without_db,
        own=own,
    )


def fit_of_ears(ears: Sequence[EarPrescription]) -> Fit:
    """Return the fit of these prescriptions of one source; `HostError` if no aid may get it."""
    first, source = ears[0], ears[0].source
    thresholds_db_hl = {ear.ear: ear.threshold_db_hl for ear in ears}
    draws_db_hl = {ear.ear: ear.given.draws_db_hl for ear in ears}
    gaps = {ear.ear: ear.gap for ear in ears if ear.gap is not None}
    centers_hz = np.array(first.frequencies_hz, dtype=np.float64)
    own = {ear.ear: ear.own.limit_db_hl(centers_hz) for ear in ears if ear.own is not None}
    ears_of = source.session.result.ears if source.session else ()
    unjudged = any(found.verdict == Verdict.NOT_JUDGED for found in ears_of)
    name = f"{source.name}, a test that nobody judged" if unjudged else source.name
    try:
        fit = fit_of_thresholds(
            first.frequencies_hz, thresholds_db_hl, first.rule, first.coupling, name,
            draws_db_hl, gaps, own,
        )  # fmt: skip
    except ValueError as error:
        raise HostError(f"{source.place}: {error}") from None
    found = tuple(finding for ear in ears for finding in ear.for_whom())
    boards = {ear.ear: source.whose.boards[ear.ear] for ear in ears if source.whose.boards}
    return replace(fit, of=replace(source.whose, boards=boards), for_whom=found)


def _band(value: FloatArray, drawn: FloatArray) -> Banded:
    tail = 0.5 * (1.0 - BAND_PROBABILITY)
    unsure = drawn if len(drawn) > 1 else np.full_like(drawn, np.nan)
    low, high = np.quantile(unsure, (tail, 1.0 - tail), axis=0)
    return Banded(value, low, high)


def _discomfort(
    center_hz: FloatArray, thresholds_db_hl: FloatArray, drawn: Prescribed, own: Own | None
) -> Banded:
    """Return a person's own levels of discomfort: people differ, and the threshold is unsure."""
    if own is not None:
        levels_db_hl = (own.at(center_hz, by) for by in (0.0, -DEVIATIONS, DEVIATIONS))
        return Banded(*(level + field_db_spl(center_hz) for level in levels_db_hl))
    few, half, most = (
        discomfort_db_hl(center_hz, thresholds_db_hl, share) for share in UNCOMFORTABLE_DB_HL
    )
    among_db_spl = drawn.limits.discomfort_db_spl
    unsure_db = DEVIATIONS * among_db_spl.std(axis=0) if len(among_db_spl) > 1 else np.nan
    middle = half + field_db_spl(center_hz)
    return Banded(
        middle, middle - np.hypot(half - few, unsure_db), middle + np.hypot(most - half, unsure_db)
    )
