"""What a session found, in numbers: thresholds, PTA4 and grade, age norm, quality of the test.

Everything comes from the recorded result and from the estimators after the last answer.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from firmware_py.findings.air_bone_gap import EarGaps
from firmware_py.findings.beside import asymmetries_beside, gaps_beside, norm_beside
from firmware_py.findings.convention import in_convention, shift_db
from firmware_py.findings.finished import mean_as_json, person_as_json, threshold_with_width
from firmware_py.findings.grades import PersonGrade, person_grade
from firmware_py.findings.norms import AgeNorm
from firmware_py.procedure.mean_threshold import outside_hz
from firmware_py.procedure.outcomes import Outcome, Purpose, Verdict
from firmware_py.procedure.reading import is_wide
from firmware_py.procedure.reasons import Reason, Reasons, as_json
from firmware_py.procedure.results import (
    ConfirmedThreshold,
    EarResult,
    MeanThreshold,
    ThresholdResult,
)
from firmware_py.procedure.route import BY_AIR, ROUTES, Route
from firmware_py.procedure.verdicts import may_conclude
from firmware_py.sessions.archive import UNFINISHED
from firmware_py.sessions.broken_off import BrokenOff, Waited
from host_tools.catalogue import ENGLISH, Catalogue, catalogue_of
from host_tools.commands.report.norms import asymmetry_words, norm_title, why_no_norm
from host_tools.commands.report.quality import Quality, quality_of
from host_tools.recordings.recorded_session import RecordedSession, ReplayedSession
from host_tools.recordings.verdicts import why_nothing_follows


@dataclass(frozen=True, kw_only=True)
class Threshold(ThresholdResult):
    """What was found at one frequency, with what is usual at that age."""

    wide: bool  # measured, and its 95 % band reaches further to either side than the test wanted
    wanted_db: float  # which was so far
    # tenth, half and nine tenths of otologically normal people of this age and sex hear better; at
    # some ages only the half is known
    norm_db_hl: list[float | None] | None
    norm_share_better: float | None  # of these people, those with a lower threshold
    confirmed: ConfirmedThreshold | None  # what the classical rule found there

    @classmethod
    def of(
        cls,
        found: ThresholdResult,
        wanted_db: float,  # how far the band was to reach to either side
        norm: AgeNorm | None,
        confirmed: ConfirmedThreshold | None = None,
        below_norm_db: float = 0.0,
    ) -> Self:
        """Take a threshold of a result; it may lie so much below clinical ones, as norms are."""
        usual = None if norm is None else norm.usual(found, below_norm_db)
        return cls(
            **vars(found),
            wide=is_wide(found, wanted_db),
            wanted_db=wanted_db,
            norm_db_hl=None if usual is None else [*usual.levels_db_hl],
            norm_share_better=None if usual is None else usual.share_better,
            confirmed=confirmed,
        )


@dataclass(frozen=True)
class EarFindings:
    """What was found of one ear."""

    route: Route
    verdict: Verdict
    reasons: Reasons  # of the verdict
    boards: list[str]  # which tone generators its tones came from
    outcome: str
    why: Reasons
    # of an ear that was measured, the half width that was wanted where 95 % bands ended wider, the
    # least of these; None of any other
    short_of_db: float | None
    # `clinical_offset_db`, `above_50_percent_db`: so much lie clinical thresholds above 50 %
    # points, and so much do those that are told
    clinical_offset_db: float
    above_50_percent_db: float
    thresholds: list[Threshold]
    pta4: MeanThreshold | None
    pta4_missing: str
    quality: Quality

    @property
    def below_clinical_db(self) -> float:
        """Return how far what is told lies below clinical thresholds."""
        return self.clinical_offset_db - self.above_50_percent_db


@dataclass(frozen=True)
class Findings:
    """What a session found."""

    language: str  # of its sentences, one of `LANGUAGES`
    threshold_convention: str  # of levels, means and bands; grades, norms and criteria are clinical
    journal: str
    session: Any
    started: str
    device: str  # serial number of the fitting device, "": unknown
    # `breaks`, `waits`: where it was broken off and gone on with, and why it waited
    breaks: list[BrokenOff]
    waits: list[Waited]
    firmware: str
    format: int  # of the journal
    replayed: bool  # False: it is told as that version recorded it
    differences: int  # of its outputs: that come out differently in this version
    profile: str
    conduct: str  # "brisk" or "clinical"
    counted: list[str]  # what the tones were for that the thresholds rest on
    checked_with_noise: bool  # some were asked again with more noise in the other ear
    checked_listener: bool  # some were played to see if anybody listens
    person: dict[str, Any]
    simulated: bool | None  # a program answered in the place of a listener; None: nobody knows
    speed: float | None  # of its clock, as the header says
    calibration_state: str
    nominal: bool  # levels are no dB HL, so that nothing follows that needs them
    calibration: Reason  # what is to be said of it
    calibration_digest: str | None  # of its file
    transducer: str | None
    status: str  # "complete", "aborted" or "failed" as recorded, or "unfinished"
    verdict: Verdict  # whether there was a test: that of the worst ear
    warnings: list[str]  # what keeps the record from being whole and the same when replayed
    remarks: Reasons
    ears: list[EarFindings]
    grade: PersonGrade | None  # None: an ear has no mean threshold, or they are not comparable
    asymmetries: list[str]  # by which published criteria the ears differ
    gaps: list[EarGaps]  # of the ears with valid tests by air and by bone
    # `norm_title`, `norm_missing`: whom the age norm is about, or why there is none
    norm_title: str
    norm_missing: str
    presentations: int
    stray_presses: int
    duration_s: float

    @property
    def drawn(self) -> list[EarFindings]:
        """Return the ears with an audiogram of their own: by bone only one not tested by air."""
        by_air = {ear.route.ear for ear in self.ears if ear.route.kind is BY_AIR}
        return [ear for ear in self.ears if ear.route.kind is BY_AIR or ear.route.ear not in by_air]

    def besides(self, ear: EarFindings) -> list[EarFindings]:
        """Return what is drawn over the audiogram of an ear: the same one through others."""
        return [each for each in self.ears if each.route.ear == ear.route.ear and each is not ear]

    @property
    def confirmed(self) -> bool:
        """Return whether something was measured again by the classical rule."""
        return any(t.confirmed is not None for ear in self.ears for t in ear.thresholds)

    @property
    def retested(self) -> bool:
        """Return whether 1 kHz was asked again at the end of an ear."""
        return any(ear.quality.retest_verdict for ear in self.ears)

    @property
    def beside(self) -> list[str]:
        """Return what the tones were for that the thresholds do not rest on."""
        said: list[str] = [] if Purpose.FAMILIARISE in self.counted else [Purpose.FAMILIARISE]
        said += [Purpose.CHECK] if self.checked_listener else []
        said += [Purpose.PLATEAU] if self.checked_with_noise else []
        return said + ([Purpose.CONFIRM] if self.confirmed else [])

    def as_json(self) -> dict[str, Any]:
        """Return all as JSON values; what was inferred is no threshold there, either."""
        told: dict[str, Any] = as_json(self)
        for ear, found in zip(told["ears"], self.ears, strict=True):
            ear["thresholds"] = [
                threshold_with_width(each, each.wanted_db) for each in found.thresholds
            ]
            ear["pta4"] = mean_as_json(found.pta4, found.below_clinical_db)
        told["gaps"] = [each.to_record() for each in self.gaps]
        if not self.gaps:
            del told["gaps"]
        return {**told, "grade": person_as_json(self.grade)}


def findings_of(
    session: RecordedSession, language: str = ENGLISH, convention: str | None = None
) -> Findings:
    """Return what a session found.

    Parameters
    ----------
    session : RecordedSession
    language : str
        Of its sentences.
    convention : str or None
        Of its thresholds; None: that of the session's settings.
    """
    catalogue = catalogue_of(language)
    convention = convention or session.settings.threshold_convention
    result = in_convention(session.result, convention)
    course, identity = session.course, session.header.identity()
    nominal = session.calibration.nominal
    found_norm = norm_beside(result, session.person, nominal=nominal)
    norm = found_norm if isinstance(found_norm, AgeNorm) else None
    worse = asymmetries_beside(session.result, session.person.age_years, nominal=nominal)
    trials = session.trials if isinstance(session, ReplayedSession) else ()
    purposes = {trial.purpose for trial in trials}
    # The right one first, as it stands on paper, whichever was tested first.
    ears = sorted(result.ears, key=lambda found: ROUTES.index(found.route))
    return Findings(
        language=language,
        threshold_convention=convention,
        journal=session.name,
        session=session.header.session,
        started=session.header.started,
        device=session.header.device,
        breaks=course.breaks,
        waits=course.waits,
        firmware=session.header.firmware,
        format=session.header.journal,
        replayed=session.test is not None,
        differences=session.differences,
        profile=session.settings.profile,
        conduct=session.settings.conduct,
        counted=[*session.counted],
        checked_with_noise=Purpose.PLATEAU in purposes,
        checked_listener=Purpose.CHECK in purposes,
        person=session.person.as_record(),
        simulated=session.simulated,
        speed=session.header.speed,
        calibration_state=session.calibration.state,
        nominal=nominal,
        calibration=session.calibration.about,
        calibration_digest=identity.calibration or None,
        transducer=identity.transducer,
        status=result.outcome or UNFINISHED,
        verdict=result.verdict,
        warnings=_warnings(session, catalogue),
        remarks=result.remarks,
        ears=[_ear_findings(session, found, convention, norm, catalogue) for found in ears],
        grade=person_grade(result),
        asymmetries=[asymmetry_words(each, catalogue) for each in worse],
        gaps=gaps_beside(session.result, nominal=nominal),
        norm_title=norm_title(norm, catalogue) if norm else "",
        norm_missing=why_no_norm(found_norm, session.person, catalogue),
        presentations=result.presentations,
        stray_presses=result.stray_presses,
        duration_s=course.seconds,
    )


def _warnings(session: RecordedSession, catalogue: Catalogue) -> list[str]:
    warnings = []
    if session.damage:
        warnings.append(catalogue.say("report", "damaged", why=session.damage))
    if session.differences:
        warnings.append(catalogue.count("report", "differences", session.differences))
    if session.recorded is None:
        warnings.append(catalogue.say("report", "not_finished"))
    return warnings


def _why_no_pta4(found: EarResult, nominal: bool, catalogue: Catalogue) -> str:
    """Say why an ear has no mean threshold, "" if it has one."""
    if nominal:
        return catalogue.say("report", "nominal_why")
    if why := why_nothing_follows(found, catalogue):
        return why
    outside = ", ".join(f"{f:g}" for f in outside_hz(found))
    return catalogue.say("report", "pta4_outside", frequencies_hz=outside) if outside else ""


def _ear_findings(
    session: RecordedSession,
    found: EarResult,
    convention: str,
    norm: AgeNorm | None,
    catalogue: Catalogue,
) -> EarFindings:
    wanted_db = partial(session.settings.wanted_half_width_db, found.route.kind)
    norm = norm if may_conclude(found) and found.route.kind is BY_AIR else None
    again = {each.frequency_hz: each for each in found.confirmed}
    offset_db, above_db = found.clinical_offset_db, shift_db(found, convention)
    below_db = offset_db - above_db
    thresholds = [
        Threshold.of(t, wanted_db(t.frequency_hz), norm, again.get(t.frequency_hz), below_db)
        for t in found.thresholds
    ]
    short_of_db = [wanted_db(each.frequency_hz) for each in thresholds if each.wide]
    return EarFindings(
        found.route,
        found.verdict,
        found.reasons,
        [*found.boards],
        found.outcome,
        found.why,
        min(short_of_db, default=None) if found.outcome == Outcome.MEASURED else None,
        offset_db,
        above_db,
        thresholds,
        found.pta4,
        _why_no_pta4(found, session.calibration.nominal, catalogue),
        quality_of(session, found),
    )
