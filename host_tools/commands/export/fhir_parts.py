"""What resources of FHIR are made of: systems of codes, concepts, and the parts of an observation.

What is known of the codes: LOINC's are those of `terms/route.py`; AU is a diagnostic service of
HL7's table 0074 (terminology of HL7, v2-0074); SNOMED CT was not at hand for its two, which are
those that public examples of FHIR have.
"""

from typing import Any, Final

from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.route import LEFT, RIGHT
from firmware_py.terms.shown_threshold import Kind

Resource = dict[str, Any]

LOINC: Final = "http://loinc.org"
UCUM: Final = "http://unitsofmeasure.org"
SNOMED: Final = "http://snomed.info/sct"
TERMS: Final = "http://terminology.hl7.org/CodeSystem"
# By the ear: where no code says the side, this does.
BODY_SITES: Final = {
    RIGHT: ("25577004", "Right ear structure"),
    LEFT: ("89644007", "Left ear structure"),
}
# The numbers of a reading that stand in components, by name.
BAND: Final = {
    "low_db_hl": "lower end of the 95 % band of the answers",
    "high_db_hl": "upper end of the 95 % band of the answers",
}
# Beside them, with a calibration.
WHOLE: Final = {
    "whole_low_db_hl": "lower end of the 95 % band of the whole measurement",
    "whole_high_db_hl": "upper end of the 95 % band of the whole measurement",
    "whole_sd_db": "standard uncertainty of the whole measurement",
}
INFERRED: Final = {
    "level_db_hl": "inferred threshold, not measured",
    "low_db_hl": "lower end of the 95 % band of the answers of the inferred threshold",
    "high_db_hl": "upper end of the 95 % band of the answers of the inferred threshold",
}
MASKED: Final = "masking of the other ear"
# The noise of the tone generator is a third to half an octave wide.
NOISE: Final = {
    MaskingMark.NOT_MASKED: "none: no noise was needed",
    MaskingMark.MASKED: "masked: narrow-band noise",
    MaskingMark.UNCERTAIN: "uncertain: the other ear may have heard the tones",
}
NOISE_LEVELS: Final = {
    "low_db_hl": "lowest effective level of the noise in the other ear during tones there",
    "high_db_hl": "highest effective level of the noise in the other ear during tones there",
}
# Beyond a limit: the comparator, and the interpretation with its name.
BEYOND: Final = {
    Kind.ABOVE: (">", (">", "Off scale high")),
    Kind.AT_MOST: ("<=", ("<", "Off scale low")),
}
# Of a quantity: its standard uncertainty, of the whole measurement.
UNCERTAINTY: Final = "http://hl7.org/fhir/StructureDefinition/iso21090-uncertainty"


def concept(system: str, code: str, display: str) -> Resource:
    return {"coding": [{"system": system, "code": code, "display": display}], "text": display}


def categories() -> list[Resource]:
    """Return of which kind an observation is: an examination, of audiology."""
    return [
        concept(f"{TERMS}/observation-category", "exam", "Exam"),
        concept(f"{TERMS}/v2-0074", "AU", "Audiology"),
    ]


def code_and_site(name: str, loinc: str | None, ear: str) -> Resource:
    """Return the code of a threshold; where LOINC has none, what tells the side beside it."""
    if loinc is not None:  # it says the side, and `bodySite` is for what no code says
        return {"code": concept(LOINC, loinc, name)}
    return {"code": {"text": name}, "bodySite": concept(SNOMED, *BODY_SITES[ear])}


def masking(mark: str | None) -> list[Resource]:
    """Return the component that says what was done against the other ear; none of no tone."""
    if mark is None:
        return []
    return [{"code": {"text": MASKED}, "valueCodeableConcept": {"text": NOISE[MaskingMark(mark)]}}]


def absent(code: str, display: str) -> Resource:
    return {"dataAbsentReason": concept(f"{TERMS}/data-absent-reason", code, display)}


def extension(url: str, value: float) -> Resource:
    return {"url": url, "valueDecimal": round(float(value), 1)}


def interpretation(code: str, display: str) -> Resource:
    return concept(f"{TERMS}/v3-ObservationInterpretation", code, display)


def reference(resource: Resource) -> Resource:
    return {"reference": f"urn:uuid:{resource['id']}"}
