"""What stands on a paper beside a result: age norm, asymmetries, noise, response times.

The report of a journal and the operator's page, which the device tells it, have it from here.
"""

from enum import StrEnum
from typing import Any

from firmware_py.findings.air_bone_gap import EarGaps, gaps_of
from firmware_py.findings.asymmetry import Asymmetry, asymmetries
from firmware_py.findings.checks import counted_purposes
from firmware_py.findings.convention import confirmed_outside, in_convention, shift_db
from firmware_py.findings.norms import AGE_MAX_YEARS, AGE_MIN_YEARS, STANDARD, AgeNorm, norm_of
from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.procedure.given import AnswersGiven
from firmware_py.procedure.person import Person
from firmware_py.procedure.reading import read
from firmware_py.procedure.reasons import as_json
from firmware_py.procedure.results import EarResult, SessionResult
from firmware_py.procedure.route import BY_AIR, Route
from firmware_py.procedure.settings import CLINICAL_ASCENDING, FIFTY_PERCENT, Settings
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


def beside(
    result: SessionResult,
    settings: Settings,
    given: AnswersGiven,
    person: Person,
    *,
    nominal: bool,
) -> dict[str, Any]:
    """Return all of it as JSON values.

    Parameters
    ----------
    result : SessionResult
        As it may be told, recorded as 50 % points.
    settings : Settings
        Of its test.
    given : AnswersGiven
        To its test.
    person : Person
        Who was tested.
    nominal : bool
        Whether there was no calibration.
    """
    found = norm_beside(result, person, nominal=nominal)
    norm = found if isinstance(found, AgeNorm) else None
    worse = asymmetries_beside(result, person.age_years, nominal=nominal)
    convention = settings.threshold_convention
    told = in_convention(result, convention).ears
    return {
        "norm": None if norm is None else norm.to_record(),
        "no_norm": found if norm is None else None,
        "norms": {"standard": STANDARD, "from_years": AGE_MIN_YEARS, "to_years": AGE_MAX_YEARS},
        "asymmetries": [each.to_record() for each in worse],
        "ears": {
            str(ear.route): {
                "response_times": as_json(given.response_times(ear.route)),
                "noise": _noise(ear.route, settings, given),
                **_of_clinical(
                    ear, norm if may_conclude(ear) and ear.route.kind is BY_AIR else None,
                    ear.clinical_offset_db - shift_db(ear, convention),
                ),
            }
            for ear in told
        },
    }  # fmt: skip


def without_person(told: dict[str, Any]) -> dict[str, Any]:
    """Return what `beside` told without the age norm, which tells age and sex of a person."""
    if told["norm"] is None and told["no_norm"] in (NoNorm.NOMINAL, NoNorm.VERDICT):
        return told
    ears = {name: {**ear, "norm": None, "usual": []} for name, ear in told["ears"].items()}
    return {**told, "norm": None, "no_norm": NoNorm.LOCKED, "ears": ears}


def _noise(route: Route, settings: Settings, given: AnswersGiven) -> list[dict[str, Any]]:
    levels_db = given.noise_at(route, counted_purposes(settings))
    return [
        {"frequency_hz": hz, "low_db": low, "high_db": high}
        for hz, (low, high) in sorted(levels_db.items())
    ]


def _of_clinical(ear: EarResult, norm: AgeNorm | None, below_db: float) -> dict[str, Any]:
    """Return what rests on clinical thresholds, which lie so much above those that are told."""
    usual, outside = [], []
    again = {each.frequency_hz: each.threshold_db_hl for each in ear.confirmed}
    for found in ear.thresholds:
        hz = found.frequency_hz
        if norm is not None and (peers := norm.usual(found, below_db)) is not None:
            usual.append({"frequency_hz": hz, **as_json(peers)})
        clinical = confirmed_outside(found, again.get(hz), below_db)
        if clinical is not None:
            band = read(clinical)
            outside.append(
                {
                    "frequency_hz": hz, "confirmed_db_hl": again[hz],
                    "low_db_hl": band.low_db_hl, "high_db_hl": band.high_db_hl,
                    "low_open": band.low_open, "high_open": band.high_open,
                }
            )  # fmt: skip
    lines = None if norm is None else norm.lines(below_db)
    return {
        "below_clinical_db": below_db, "norm": lines, "usual": usual, "confirmed_outside": outside
    }  # fmt: skip
