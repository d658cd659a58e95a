"""What a result is held against, in words: an age norm, or why there is none, and the other ear."""

from collections.abc import Iterable, Iterator
from typing import Final

from firmware_py.findings.air_bone_gap import LossType
from firmware_py.findings.asymmetry import Asymmetry, Criterion, Difference
from firmware_py.findings.beside import NoNorm
from firmware_py.findings.norms import AGE_MAX_YEARS, AGE_MIN_YEARS, STANDARD, AgeNorm
from firmware_py.procedure.person import FEMALE, Person
from host_tools.catalogue import Catalogue
from host_tools.recordings.verdicts import PLACE as OF_VERDICTS

NOT_TOLD: Final = {
    NoNorm.PERSON: "norm_needs",
    NoNorm.NO_AGE: "norm_needs_age",
    NoNorm.NO_SEX: "norm_needs_sex",
}


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
    if found in NOT_TOLD:
        return catalogue.say("report", NOT_TOLD[found], standard=STANDARD)
    ages = {"from": f"{AGE_MIN_YEARS:g}", "to": f"{AGE_MAX_YEARS:g}"}
    age = catalogue.number(person.age_years or 0.0, "g")
    return catalogue.say("report", "norm_age", age=age, standard=STANDARD, **ages)


def asymmetry_words(found: Asymmetry, catalogue: Catalogue) -> str:
    """Say by how much an ear is worse than the other, and what that meets."""
    told = ", ".join(_difference(each, catalogue) for each in found.differences)
    if found.more:
        more = str(found.more)
        told = catalogue.say("report", "differences_more", differences=told, count=more)
    return catalogue.say(
        "report",
        _key(found),
        ear=catalogue.say("report", f"{found.ear}_ear"),
        differences=told,
        criteria=catalogue.join(list(_name_sources(found.criteria, catalogue))),
        about=_about(found, catalogue),
    )


def _key(found: Asymmetry) -> str:
    if found.may_be_conductive:
        return "asymmetry_may"
    return "asymmetry" if found.sure else "asymmetry_doubt"


def _about(found: Asymmetry, catalogue: Catalogue) -> str:
    """Say what is known of the type of loss, which the sources mean."""
    if found.bone_hz:
        at_hz = ", ".join(map(str, found.bone_hz))
        return catalogue.say("report", "asymmetry_by_bone", frequencies_hz=at_hz)
    if found.may_be_conductive and found.loss == LossType.SENSORINEURAL:
        return catalogue.say("report", "asymmetry_unknown")  # it was inferred
    return catalogue.say("report", f"asymmetry_{found.loss or 'by_air'}")


def _difference(found: Difference, catalogue: Catalogue) -> str:
    parts = {"db": catalogue.number(found.db), "frequency_hz": str(found.frequency_hz)}
    if found.at_least:
        return catalogue.say("report", "difference_at_least", **parts)
    half_width_db = catalogue.number(found.half_width_db)
    return catalogue.say("report", "difference", **parts, half_width_db=half_width_db)


def _name_sources(met: Iterable[Criterion], catalogue: Catalogue) -> Iterator[str]:
    by_source: dict[str, list[str]] = {}
    for criterion in met:
        words = catalogue.say("report", criterion.key)
        by_source.setdefault(criterion.source, []).append(words)
    for source, words_of_source in by_source.items():
        yield f"{source} ({', '.join(words_of_source)})"
