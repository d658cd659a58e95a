"""Whom an age norm is about, or why there is none, in words."""

from firmware_py.procedure.beside import NoNorm
from firmware_py.procedure.norms import AGE_MAX_YEARS, AGE_MIN_YEARS, STANDARD, AgeNorm
from firmware_py.procedure.person import FEMALE, Person
from host_tools.catalogue import Catalogue
from host_tools.recordings.verdicts import PLACE as OF_VERDICTS


def norm_title(norm: AgeNorm, catalogue: Catalogue) -> str:
    """Say whom a norm is about."""
    key = "norm_women" if norm.sex == FEMALE else "norm_men"
    source, above_hz = STANDARD, norm.informative_above_hz
    if above_hz is not None:
        source = catalogue.say(
            "report", "norm_informative", standard=STANDARD, frequency_hz=str(above_hz)
        )
    age = catalogue.number(norm.age_years, "g")
    return catalogue.say("report", key, age=age, source=source)


def why_no_norm(found: AgeNorm | NoNorm, person: Person, catalogue: Catalogue) -> str:
    """Say why there is no norm for a person, "" if there is one."""
    if isinstance(found, AgeNorm):
        return ""
    if found == NoNorm.NOMINAL:
        return catalogue.say("report", "nominal_why")
    if found == NoNorm.VERDICT:
        return catalogue.say(OF_VERDICTS, "no_norm_why")
    if person.age_years is None or person.sex is None:
        return catalogue.say("report", "norm_needs", standard=STANDARD)
    ages = {"from": f"{AGE_MIN_YEARS:g}", "to": f"{AGE_MAX_YEARS:g}"}
    age = catalogue.number(person.age_years, "g")
    return catalogue.say("report", "norm_age", age=age, standard=STANDARD, **ages)
