"""What a session found, in numbers: thresholds, PTA4 and grade, age norm, quality of the test.

Everything comes from the recorded result and from the estimators after the last answer.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

from firmware_py.archive import UNFINISHED
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.results import EarResult, ThresholdResult
from firmware_py.procedure.settings import RIGHT
from host_tools.commands.report.grades import (
    Spread,
    better_above,
    grade_probabilities,
    pta4_posterior,
    unilateral_probability,
)
from host_tools.commands.report.norms import AgeNorm, norm_of, why_no_norm
from host_tools.commands.report.quality import Quality, quality_of
from host_tools.pta4 import PTA4_FREQUENCIES_HZ, pta4_of
from host_tools.recorded import RecordedSession

NORM_SHARES: Final = (0.1, 0.5, 0.9)


@dataclass(frozen=True, kw_only=True)
class Threshold(ThresholdResult):
    """What was found at one frequency, with what is usual at that age."""

    wide: bool  # its 95 % band reaches further to either side than the test wanted
    # tenth, half and nine tenths of otologically normal people of this age and sex hear better
    norm_db_hl: list[float] | None
    norm_share_better: float | None  # of these people, those with a lower threshold

    @classmethod
    def of(cls, found: ThresholdResult, wanted_db: float, norm: AgeNorm | None) -> Self:
        """Take a threshold of a result."""
        usual = share = None
        if norm is not None and found.frequency_hz in norm.frequencies_hz:
            usual = [norm.threshold_db_hl(found.frequency_hz, part) for part in NORM_SHARES]
            if found.threshold_db_hl is not None:
                share = norm.share_better(found.frequency_hz, found.threshold_db_hl)
        return cls(
            **vars(found),
            wide=found.is_wider_than(wanted_db),
            norm_db_hl=usual,
            norm_share_better=share,
        )


@dataclass(frozen=True)
class MeanThreshold:
    """PTA4 with its 95 % band, and how likely each grade is."""

    mean_db_hl: float
    low_db_hl: float
    high_db_hl: float
    grades: dict[str, float]
    # of the four, those that lie beyond a limit, surely or perhaps: there the posterior goes by
    # what is known of other people
    beyond_hz: list[int]
    # with the limits in the place of what was not heard at them; None: all was heard
    at_least_db_hl: float | None


@dataclass(frozen=True)
class EarFindings:
    """What was found of one ear."""

    ear: str
    outcome: str
    why: str
    # the half width of the 95 % bands that was wanted, of an ear that was measured and ended with
    # wider ones; None of any other
    short_of_db: float | None
    thresholds: list[Threshold]
    pta4: MeanThreshold | None
    pta4_missing: str
    quality: Quality


@dataclass(frozen=True)
class BetterEar:
    """The grade of a person: that of the better ear."""

    ear: str  # with the lower mean threshold
    both_ears: bool  # False: only this one has a mean threshold, the other may be better
    grades: dict[str, float]
    unilateral: float | None  # how likely the loss is unilateral; None unless both ears are known


@dataclass(frozen=True)
class Findings:
    """What a session found."""

    journal: str
    session: Any
    started: str
    firmware: str
    profile: str
    person: dict[str, Any]
    calibration_state: str
    calibration: str
    status: str  # "complete", "aborted" or "failed" as recorded, or "unfinished"
    warnings: list[str]  # what keeps the record from being whole and the same when replayed
    remarks: list[str]
    ears: list[EarFindings]
    better_ear: BetterEar | None  # None: no ear has a mean threshold
    # `norm_title`, `norm_missing`: whom the age norm is about, or why there is none
    norm_title: str
    norm_missing: str
    presentations: int
    stray_presses: int
    duration_s: float

    def as_json(self) -> dict[str, Any]:
        """Return all as JSON values."""
        return asdict(self)


def findings_of(session: RecordedSession) -> Findings:
    """Return what a session found."""
    norm = norm_of(session.person)
    result = session.result
    # The right one first, as it stands on paper, whichever was tested first.
    ears = sorted(result.ears, key=lambda found: found.ear != RIGHT)
    spreads = {found.ear: _pta4_spread(found, session.test.ears[found.ear]) for found in ears}
    return Findings(
        journal=Path(session.path).name,
        session=session.header.session,
        started=session.header.started,
        firmware=session.header.firmware,
        profile=session.settings.profile,
        person=session.person.as_record(),
        calibration_state=session.calibration.state,
        calibration=session.calibration.headline,
        status=result.outcome or UNFINISHED,
        warnings=_warnings(session),
        remarks=list(result.remarks),
        ears=[_ear_findings(session, found, spreads, norm) for found in ears],
        better_ear=_better_ear(spreads),
        norm_title=norm.title if norm else "",
        norm_missing=why_no_norm(session.person),
        presentations=result.presentations,
        stray_presses=result.stray_presses,
        duration_s=session.state.at_us / 1e6,
    )


def _warnings(session: RecordedSession) -> list[str]:
    warnings = []
    if session.damage:
        warnings.append(f"the journal is damaged: {session.damage}")
    if session.state.differences:
        count = len(session.state.differences)
        warnings.append(
            f"{count} outputs of this record come out differently in this version: what is drawn "
            "of the posterior is not what the device had"
        )
    if session.state.result is None:
        warnings.append("the session is not finished: this is what was found so far")
    return warnings


def _pta4_spread(found: EarResult, ear: EarTest) -> Spread | None:
    return None if _why_no_pta4(found, ear) else pta4_posterior(ear.estimator)


def _why_no_pta4(found: EarResult, ear: EarTest) -> str:
    """Say why an ear has no mean threshold, "" if it has one."""
    if found.outcome == Outcome.UNRELIABLE:
        return "the answers were not reliable"
    if ear.estimator.trial_count == 0:
        return "nothing was measured"
    low_hz, high_hz = ear.estimator.frequency_range_hz
    outside = [f for f in PTA4_FREQUENCIES_HZ if not low_hz <= f <= high_hz]
    return f"{', '.join(f'{f:g}' for f in outside)} Hz were not in the test" if outside else ""


def _ear_findings(
    session: RecordedSession,
    found: EarResult,
    spreads: Mapping[str, Spread | None],
    norm: AgeNorm | None,
) -> EarFindings:
    ear = session.test.ears[found.ear]
    wanted_db = session.settings.stop_half_width_db
    thresholds = [Threshold.of(threshold, wanted_db, norm) for threshold in found.thresholds]
    short = found.outcome == Outcome.MEASURED and ear.audiogram.widest().half_width_db > wanted_db
    spread = spreads[ear.ear]
    return EarFindings(
        ear.ear,
        found.outcome,
        found.why,
        wanted_db if short else None,
        thresholds,
        None if spread is None else _mean_threshold(found, spread),
        _why_no_pta4(found, ear),
        quality_of(found, ear, session.trials_of(ear.ear)),
    )


def _mean_threshold(found: EarResult, spread: Spread) -> MeanThreshold:
    four = [t for t in found.thresholds if t.frequency_hz in PTA4_FREQUENCIES_HZ]
    average = pta4_of(four)
    return MeanThreshold(
        spread.mean_db_hl,
        *spread.band_db_hl(),
        grade_probabilities(spread.above),
        [
            t.frequency_hz
            for t in four
            if t.mark in (Outcome.NO_RESPONSE, Outcome.HEARS_ALL, Outcome.INCOMPLETE)
        ],
        average.db_hl if average is not None and average.at_least else None,
    )


def _better_ear(spreads: Mapping[str, Spread | None]) -> BetterEar | None:
    known = {ear: spread for ear, spread in spreads.items() if spread is not None}
    if not known:
        return None
    better = min(known, key=lambda ear: known[ear].mean_db_hl)
    both = len(known) > 1
    above = better_above(*known.values()) if both else known[better].above
    unilateral = unilateral_probability(*known.values()) if both else None
    return BetterEar(better, both, grade_probabilities(above), unilateral)
