"""What a recorded ear prescribes: gains with their bands, from thresholds with theirs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from device.hearing_aid import candidacy
from device.hearing_aid.fit import Fit
from device.hearing_aid.for_whom import Code, Finding
from device.hearing_aid.limits import (
    CLOSED,
    UNCOMFORTABLE_DB_HL,
    discomfort_db_hl,
    field_db_spl,
)
from device.hearing_aid.prescription import (
    Prescribed,
    fit_of_thresholds,
    fitted_ear,
    prescribe,
)
from device.hearing_aid.rules import NAL_R
from device.hearing_aid.whose import Whose
from device.speech import CONVERSATION_DB_SPL, SPEECH_LEVELS_DB_SPL, FloatArray
from firmware_py.calibration.in_force import UNCALIBRATED
from firmware_py.procedure.outcomes import Outcome, Verdict
from firmware_py.procedure.reading import read
from firmware_py.procedure.results import ThresholdResult
from firmware_py.procedure.route import BY_AIR, Route
from firmware_py.procedure.threshold_estimates import BAND_PROBABILITY
from host_tools.commands.prescribe.gap_part import GapMark, GapPart, gap_part
from host_tools.commands.prescribe.taken import (
    CONVENTION,
    NOTHING_WAIVED,
    NothingToPrescribeError,
    Taken,
    Waived,
    check_calibrated,
    take_thresholds,
)
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import RecordedSession

HELD_DB: Final = 0.5  # less than the rule's gain by that: a limit holds it
DEVIATIONS: Final = 1.28  # a normal distribution has its middle 80 % within so many SDs


@dataclass(frozen=True)
class Banded:
    """What each band of an ear is set to, and the band of it (95 % unless said), (m,)."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class EarPrescription:
    """The prescription for one ear."""

    ear: str
    rule: str
    coupling: str
    # `frequencies_hz`, `marks`: the audiogram frequencies, and how sure a threshold is there
    # (`procedure.outcomes`)
    frequencies_hz: tuple[int, ...]
    marks: tuple[str, ...]
    given: Taken  # the thresholds that all else was taken from
    prescribed: Prescribed
    # `gain_at_db`: gain by the level of speech over all bands; where there was no response it is
    # the least there can be. `knee_db_spl`, `ratio`: of the compression; `output_max_db_spl`.
    gain_at_db: dict[float, Banded]
    knee_db_spl: Banded
    ratio: Banded
    output_max_db_spl: Banded
    # where a person's own level of discomfort lies: the middle, and that of four in five people
    discomfort_db_spl: Banded
    # of the thresholds that are known less well than the test wanted, by frequency: how far the 95
    # % band reaches to either side
    wide_db: dict[int, float]
    # where the other ear may have heard the tones: threshold and gain are the least there can be
    doubtful_hz: tuple[int, ...]
    calibrated: bool  # whether the levels are dB HL
    # `gap`: what bone conduction tells of it; None: nothing. `for_gap_db`: so much of the gains for
    # conversational speech is for its air-bone gap, (m,)
    gap: GapPart | None
    for_gap_db: FloatArray

    @property
    def threshold_db_hl(self) -> FloatArray:
        """Return the thresholds that all else was taken from."""
        return self.given.point_db_hl

    @property
    def gain_db(self) -> FloatArray:
        """Return the gains at conversational speech."""
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

    def for_whom(self, gain_db: FloatArray | None = None) -> list[Finding]:
        """Return for whom gains for conversational speech are, (m,): without any, its own."""
        if not self.calibrated:
            return [Finding(self.ear, Code.NOT_JUDGED)]
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
                mark != Outcome.INCOMPLETE and f not in self.doubtful_hz
                for f, mark in zip(self.frequencies_hz, marks, strict=True)
            ],
        )
        return candidacy.of_ear(known, self.gain_db if gain_db is None else gain_db)


def prescribe_ear(
    session: RecordedSession, ear: str, rule: str, coupling: str = CLOSED, *,
    waived: Waived = NOTHING_WAIVED,
) -> EarPrescription:  # fmt: skip
    """Prescribe for one ear of a session.

    Parameters
    ----------
    session : RecordedSession
    ear : str
        "left" or "right".
    rule : str
        As `insertion_gain` takes it.
    coupling : str
        As `limits` takes it.
    waived : Waived
        What somebody asked to pass over.

    Raises
    ------
    HostError
        If the session is UNCALIBRATED, and that is not wanted.
    NothingToPrescribeError
        If the ear was not tested, its test is not valid, its answers are not reliable, or the
        frequencies of the test do not span what the rule needs.
    """
    given = take_thresholds(session, ear, waived)
    check_calibrated(session, waived)
    frequencies_hz = [found.frequency_hz for found in given.found]
    centers_hz = np.array(frequencies_hz, dtype=np.float64)
    gap = gap_part(session, ear, given)
    gap_db, drawn_gaps_db = (None, None) if gap is None else (gap.db, gap.draws_db)
    try:
        point = prescribe(centers_hz, given.point_db_hl, rule, coupling, gap_db)
        drawn = prescribe(centers_hz, given.draws_db_hl, rule, coupling, drawn_gaps_db)
        by_air = point
        if gap is not None:
            by_air = prescribe(centers_hz, given.point_db_hl, rule, coupling)
    except ValueError as error:
        raise NothingToPrescribeError(f"{session.path}: {ear} ear: {error}") from None
    table, tables_db = fitted_ear(ear, point).table, drawn.table_db()
    without_db = fitted_ear(ear, by_air).gain_of_speech_db()
    thresholds = given.found
    return EarPrescription(
        ear=ear,
        rule=rule,
        coupling=coupling,
        frequencies_hz=tuple(frequencies_hz),
        marks=tuple(threshold.mark for threshold in thresholds),
        given=given,
        prescribed=point,
        gain_at_db={
            level: _band(table.at_speech_db(level), table.at_speech_db(level, tables_db))
            for level in SPEECH_LEVELS_DB_SPL
        },
        knee_db_spl=_band(point.compression.knee_db_spl, drawn.compression.knee_db_spl),
        ratio=_band(point.compression.ratio, drawn.compression.ratio),
        output_max_db_spl=_band(point.limits.output_max_db_spl, drawn.limits.output_max_db_spl),
        discomfort_db_spl=_discomfort(centers_hz, given.point_db_hl, drawn),
        wide_db=_wide_db(thresholds, partial(session.settings.wanted_half_width_db, BY_AIR)),
        doubtful_hz=tuple(found.frequency_hz for found in thresholds if read(found).doubtful),
        calibrated=session.calibration.state != UNCALIBRATED,
        gap=gap,
        for_gap_db=table.at_speech_db() - without_db,
    )


def fit_of_ears(session: RecordedSession, ears: Sequence[EarPrescription]) -> Fit:
    """Return the fit that a hearing aid gets from these prescriptions, one or two.

    Raises
    ------
    HostError
        If no aid may get it; the message says why.
    """
    first = ears[0]
    thresholds_db_hl = {ear.ear: ear.threshold_db_hl for ear in ears}
    draws_db_hl = {ear.ear: ear.given.draws_db_hl for ear in ears}
    gaps = {ear.ear: ear.gap for ear in ears if ear.gap is not None}
    unjudged = any(found.verdict == Verdict.NOT_JUDGED for found in session.result.ears)
    source = f"{session.name}, a test that nobody judged" if unjudged else session.name
    try:
        fit = fit_of_thresholds(
            first.frequencies_hz, thresholds_db_hl, first.rule, first.coupling, source,
            draws_db_hl, gaps,
        )  # fmt: skip
    except ValueError as error:
        raise HostError(f"{session.path}: {error}") from None
    found = tuple(finding for ear in ears for finding in ear.for_whom())
    return replace(fit, of=_whose(session, [ear.ear for ear in ears]), for_whom=found)


def _whose(session: RecordedSession, ears: Sequence[str]) -> Whose:
    header, by_route = session.header, session.result.by_route
    return Whose(
        session.person.identifier,
        header.session,
        header.started,
        header.device or None,
        {ear: tuple(by_route[Route(ear)].boards) for ear in ears},
        session.calibration.state,
        CONVENTION,
    )


def fit_of_session(
    session: RecordedSession, rule: str = NAL_R, coupling: str = CLOSED, ear: str | None = None, *,
    waived: Waived = NOTHING_WAIVED,
) -> Fit:  # fmt: skip
    """Return the fit that a session prescribes.

    Parameters
    ----------
    session : RecordedSession
    rule, coupling : str
        As of `prescribe_ear`.
    ear : str, optional
        "left" or "right"; None: all ears that were tested and can be fitted.
    waived : Waived
        As of `prescribe_ear`.

    Raises
    ------
    HostError
        If the session is UNCALIBRATED, and that is not wanted; or
        `NothingToPrescribeError`, as of `prescribe_ear`, for the ear that was asked for, or if
        there is no ear to fit.
    """
    ears = prescribe_session(session, rule, coupling, ear, waived=waived)
    return fit_of_ears(session, ears)


def prescribe_session(
    session: RecordedSession, rule: str, coupling: str, ear: str | None = None, *,
    waived: Waived = NOTHING_WAIVED,
) -> list[EarPrescription]:  # fmt: skip
    """Prescribe for the ears asked for; one that cannot be is an error if it is the only one."""
    found, refused = [], []
    tested = dict.fromkeys(found.route.ear for found in session.result.ears)
    for each in [ear] if ear else tested:
        try:
            found.append(prescribe_ear(session, each, rule, coupling, waived=waived))
        except NothingToPrescribeError as error:
            refused.append(error)
    if refused and (ear or not found):
        raise refused[0]
    return found


def _band(value: FloatArray, drawn: FloatArray) -> Banded:
    tail = 0.5 * (1.0 - BAND_PROBABILITY)
    low, high = np.quantile(drawn, (tail, 1.0 - tail), axis=0)
    return Banded(value, low, high)


def _discomfort(center_hz: FloatArray, thresholds_db_hl: FloatArray, drawn: Prescribed) -> Banded:
    """Return a person's own levels of discomfort: people differ, and the threshold is unsure."""
    few, half, most = (
        discomfort_db_hl(center_hz, thresholds_db_hl, share) for share in UNCOMFORTABLE_DB_HL
    )
    unsure_db = DEVIATIONS * drawn.limits.discomfort_db_spl.std(axis=0)
    middle = half + field_db_spl(center_hz)
    return Banded(
        middle, middle - np.hypot(half - few, unsure_db), middle + np.hypot(most - half, unsure_db)
    )


def _wide_db(
    thresholds: Iterable[ThresholdResult], wanted_db: Callable[[float], float]
) -> dict[int, float]:
    wide = [found for found in thresholds if found.is_wider_than(wanted_db(found.frequency_hz))]
    return {
        found.frequency_hz: found.half_width_db
        for found in wide
        if found.mark == Outcome.MEASURED and found.half_width_db is not None
    }
