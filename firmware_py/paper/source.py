"""What the paper of a session is made from, whoever makes it: the device, or the host's tools."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.air_bone_gap import EarGaps, gaps_of
from firmware_py.findings.asymmetry import Asymmetry, asymmetries
from firmware_py.findings.checks import Checks
from firmware_py.findings.convention import in_convention, shift_db
from firmware_py.findings.norms import AgeNorm, NoNorm, norm_for
from firmware_py.findings.whole_band import Uncertainty
from firmware_py.presenting.answers_given import AnswersGiven
from firmware_py.sessions.broken_off import Course
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.reasons import NOMINAL_DB, UNIT
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import BY_AIR, ROUTES, Route
from firmware_py.terms.settings import CLINICAL_ASCENDING, Settings


@dataclass(frozen=True)
class Source:
    """A session, as far as it may be told."""

    header: SessionHeader
    result: SessionResult  # as it may be told, recorded as 50 % points
    course: Course
    calibration: CalibrationInForce  # on the last day
    convention: str  # of the thresholds that are told
    masked: bool  # there was noise with a tone
    # `given`, `checks`: the answers, and what checked them, by route; None and nothing of a session
    # that is told as it was recorded
    given: AnswersGiven | None = None
    checks: Mapping[Route, Checks] = field(default_factory=dict)
    locked: bool = False  # nobody may know whose it is
    damage: str = ""  # what is wrong with its journal
    differences: int = 0  # of its outputs: that come out differently in this version
    complete: bool = True  # its record has an end

    @property
    def settings(self) -> Settings:
        return self.header.settings

    @property
    def person(self) -> Person:
        return UNKNOWN if self.locked else self.header.person

    @property
    def nominal(self) -> bool:
        """Return whether levels are no dB HL, so that nothing follows that needs them."""
        return self.calibration.nominal

    @property
    def earphones(self) -> str:
        """Return of which kind they were; "": nobody knows."""
        return self.header.calibration.earphones.kind

    @property
    def unit(self) -> dict[str, str]:
        """Return the figure of a row that says in which unit its levels are; none: in dB HL."""
        return {UNIT: NOMINAL_DB} if self.nominal else {}

    @property
    def simulated(self) -> bool | None:
        """Return whether a program answered in the place of a listener; None: nobody knows."""
        return self.header.is_simulated(self.result)

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Return what is uncertain beside the answers."""
        return self.calibration.uncertainty(self.result)

    @cached_property
    def graded(self) -> SessionResult:
        """Return the result with grades that are as likely as the whole makes them."""
        return self.uncertainty.graded(self.result)

    @cached_property
    def ears(self) -> list[EarResult]:
        found = in_convention(self.graded, self.convention).ears
        return sorted(found, key=lambda ear: ROUTES.index(ear.route))

    @property
    def by_air(self) -> list[EarResult]:
        return [ear for ear in self.ears if ear.route.kind is BY_AIR]

    @property
    def drawn(self) -> list[EarResult]:
        """Return the ears with an audiogram of their own: by bone only one not tested by air."""
        by_air = {ear.route.ear for ear in self.by_air}
        return [ear for ear in self.ears if ear.route.kind is BY_AIR or ear.route.ear not in by_air]

    def besides(self, ear: EarResult) -> list[EarResult]:
        """Return what is drawn over the audiogram of an ear: the same one by other routes."""
        return [each for each in self.ears if each.route.ear == ear.route.ear and each is not ear]

    @cached_property
    def norm(self) -> AgeNorm | NoNorm:
        norm = norm_for(self.result, self.header.person, nominal=self.nominal)
        told = not self.locked or norm in (NoNorm.NOMINAL, NoNorm.VERDICT)
        return norm if told else NoNorm.LOCKED

    @cached_property
    def gaps(self) -> list[EarGaps]:
        return gaps_of(self.result, nominal=self.nominal)

    @cached_property
    def asymmetries(self) -> list[Asymmetry]:
        if self.nominal:
            return []
        clinical = in_convention(self.result, CLINICAL_ASCENDING)
        return asymmetries(clinical, self.header.person.age_years, self.uncertainty)

    def below_clinical_db(self, ear: EarResult) -> float:
        """Return how far what is told of an ear lies below clinical thresholds."""
        return ear.clinical_offset_db - shift_db(ear, self.convention)

    def wanted_db(self, ear: EarResult, found: ThresholdResult) -> float:
        """Return how far the 95 % band of a threshold was to reach to either side."""
        return self.settings.wanted_half_width_db(ear.route.kind, found.frequency_hz)
