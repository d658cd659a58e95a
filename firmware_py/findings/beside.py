"""What a result may be held against: an age norm, the other ear, and bone conduction."""

from enum import StrEnum

from firmware_py.findings.air_bone_gap import EarGaps, gaps_of
from firmware_py.findings.asymmetry import Asymmetry, asymmetries
from firmware_py.findings.convention import in_convention
from firmware_py.findings.norms import AgeNorm, norm_of
from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.procedure.person import Person
from firmware_py.procedure.results import SessionResult
from firmware_py.procedure.settings import CLINICAL_ASCENDING, FIFTY_PERCENT
from firmware_py.procedure.verdicts import may_conclude


class NoNorm(StrEnum):
    """Why there is no age norm."""

    NOMINAL = "nominal"  # no calibration: it is of dB HL
    VERDICT = "verdict"  # no ear has a valid test
    PERSON = "person"  # neither age nor sex is known
    NO_AGE = "no-age"  # age is not known
    NO_SEX = "no-sex"  # sex is not known
    AGE = "age"  # the standard has no such age
    LOCKED = "locked"  # it would tell of a person whom nobody asked for a PIN may know


def norm_beside(result: SessionResult, person: Person, *, nominal: bool) -> AgeNorm | NoNorm:
    """Return the age norm of a result as it may be told, or why there is none."""
    if nominal:
        return NoNorm.NOMINAL
    if not any(map(may_conclude, result.ears)):
        return NoNorm.VERDICT
    if norm := norm_of(person):
        return norm
    if person.age_years is None:
        return NoNorm.PERSON if person.sex is None else NoNorm.NO_AGE
    return NoNorm.NO_SEX if person.sex is None else NoNorm.AGE


def asymmetries_beside(
    result: SessionResult, age_years: float | None, *, nominal: bool
) -> list[Asymmetry]:
    """Return by which published criteria the ears of a result differ; recorded as 50 % points."""
    clinical = in_convention(result, CLINICAL_ASCENDING)
    return [] if nominal else asymmetries(clinical, age_years)


def gaps_beside(
    result: SessionResult,
    convention: str = FIFTY_PERCENT,
    gap_prior: GapPrior | None = None,
    *,
    nominal: bool,
) -> list[EarGaps]:
    """Return the air-bone gaps of a result in this convention (see `gaps_of`); no nominal ones.

    Without a calibration the two transducers may be off by anything against each other.
    """
    return [] if nominal else gaps_of(result, convention, gap_prior)
