"""HL7 FHIR R4: a bundle of observations, one for each threshold and a panel for each session.

The person is named by the identifier of the clinic's own records only. What an observation cannot
say with a number it says in its value's comparator, its interpretation or its note; the calibration
is in the note of every one of them, so that none is read without it.
"""

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, Final

from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.results import EarResult, ThresholdResult
from firmware_py.procedure.settings import LEFT, RIGHT
from host_tools.commands.export.examination import Examination, marks_of

Resource = dict[str, Any]

LOINC: Final = "http://loinc.org"
UCUM: Final = "http://unitsofmeasure.org"
_TERMS: Final = "http://terminology.hl7.org/CodeSystem"
_NAMES: Final = uuid.uuid5(uuid.NAMESPACE_URL, "urn:gp-pta:fhir")

PANEL: Final = ("89015-2", "Pure tone threshold audiometry panel")
# LOINC: "Hearing threshold Ear - EAR --FREQUENCY Hz".
CODES: Final = {
    RIGHT: {
        250: "91374-9", 500: "89025-1", 750: "91378-0", 1000: "89017-8", 1500: "91372-3",
        2000: "89019-4", 3000: "89021-0", 4000: "89023-6", 6000: "89027-7", 8000: "89029-3",
    },
    LEFT: {
        250: "91375-6", 500: "89024-4", 750: "91379-8", 1000: "89016-0", 1500: "91373-1",
        2000: "89018-6", 3000: "89020-2", 4000: "89022-8", 6000: "89026-9", 8000: "89028-5",
    },
}  # fmt: skip
# Beyond a limit: the comparator, and the interpretation with its name.
BEYOND: Final = {
    Outcome.NO_RESPONSE: (">", (">", "Off scale high")),
    Outcome.HEARS_ALL: ("<=", ("<", "Off scale low")),
}
INDETERMINATE: Final = ("IND", "Indeterminate")
BAND: Final = {
    "low_db_hl": "lower end of the 95 % band of the threshold",
    "high_db_hl": "upper end of the 95 % band of the threshold",
}


def as_fhir(examinations: Sequence[Examination]) -> bytes:
    """Return one bundle of all sessions; the same sessions give the same bytes."""
    resources: dict[str, Resource] = {}
    for examination in examinations:
        for resource in _Writer(examination).resources():
            resources[resource["id"]] = resource
    bundle = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [
            {"fullUrl": f"urn:uuid:{name}", "resource": resource}
            for name, resource in resources.items()
        ],
    }
    return (json.dumps(bundle, indent=1, ensure_ascii=False) + "\n").encode()


class _Writer:
    """Writes the resources of one session."""

    def __init__(self, examination: Examination) -> None:
        self._of = examination
        # Nothing random: a session has the same names whenever it is exported.
        self._name = json.dumps(
            [examination.journal, examination.header.to_record()], sort_keys=True
        )
        self._device = self._made_device()

    def resources(self) -> Iterable[Resource]:
        """Return the device, the thresholds, and the panel that has them as its members."""
        thresholds = [
            self._threshold(ear, threshold)
            for ear in self._of.result.ears
            for threshold in ear.thresholds
        ]
        return [self._device, *thresholds, self._panel(thresholds)]

    def _made_device(self) -> Resource:
        firmware = self._of.header.firmware
        calibration = self._of.header.calibration.calibration
        about = calibration.content["calibration"] if calibration else {}
        serial = about.get("tone_generator_serial")
        return {
            "resourceType": "Device",
            "id": str(uuid.uuid5(_NAMES, f"device {firmware} {serial}")),
            "deviceName": [{"name": "GP-PTA", "type": "model-name"}],
            **({"serialNumber": serial} if serial else {}),
            "version": [{"value": firmware}],
        }

    def _panel(self, members: Iterable[Resource]) -> Resource:
        result = self._of.result
        notes = [
            f"{ear.ear} ear: {ear.outcome}" + (f"; {ear.why}" if ear.why else "")
            for ear in result.ears
        ]
        return {
            **self._observation("panel", _concept(LOINC, *PANEL)),
            "note": _notes([f"session {self._of.outcome}", *notes, *result.remarks])
            + self._calibration_note(),
            "hasMember": [_reference(member) for member in members],
        }

    def _threshold(self, ear: EarResult, threshold: ThresholdResult) -> Resource:
        name = f"Hearing threshold Ear - {ear.ear} --{threshold.frequency_hz} Hz"
        code = _concept(LOINC, CODES[ear.ear][threshold.frequency_hz], name)
        return {
            **self._observation(name, code),
            **_value(threshold),
            "note": _notes(_words(ear, threshold)) + self._calibration_note(),
        }

    def _observation(self, name: str, code: Resource) -> Resource:
        identifier = self._of.header.person.identifier
        subject = {"type": "Patient", "identifier": {"value": identifier}}
        return {
            "resourceType": "Observation",
            "id": str(uuid.uuid5(_NAMES, f"{self._name} {name}")),
            "status": "final" if self._of.final else "preliminary",
            "category": [_concept(f"{_TERMS}/observation-category", "exam", "Exam")],
            "code": code,
            **({"subject": subject} if identifier else {}),
            "effectiveDateTime": self._of.header.started,
            "device": _reference(self._device),
        }

    def _calibration_note(self) -> list[Resource]:
        return _notes([self._of.header.calibration.headline])


def _value(found: ThresholdResult) -> Resource:
    """Return the value of a threshold, or why there is none."""
    if found.threshold_db_hl is not None:
        band = [
            {"code": {"text": text}, "valueQuantity": _quantity(getattr(found, end))}
            for end, text in BAND.items()
        ]
        return {"valueQuantity": _quantity(found.threshold_db_hl), "component": band}
    if found.mark in BEYOND and found.limit_db_hl is not None:
        comparator, meaning = BEYOND[found.mark]
        value = {"comparator": comparator, **_quantity(found.limit_db_hl)}
        return {"valueQuantity": value, "interpretation": [_interpretation(*meaning)]}
    reason = _concept(f"{_TERMS}/data-absent-reason", "unknown", "Unknown")
    return {"dataAbsentReason": reason, "interpretation": [_interpretation(*INDETERMINATE)]}


def _words(ear: EarResult, found: ThresholdResult) -> list[str]:
    words = marks_of(found)
    if found.mark == Outcome.INCOMPLETE and found.limit_db_hl is not None:
        words.append(f"perhaps beyond the limit of {found.limit_db_hl:g} dB HL")
    if found.mark not in (Outcome.MEASURED, *BEYOND) and ear.why:
        words.append(ear.why)
    return words


def _quantity(level_db_hl: float) -> Resource:
    return {"value": round(level_db_hl, 1), "unit": "dB HL", "system": UCUM, "code": "dB"}


def _concept(system: str, code: str, display: str) -> Resource:
    return {"coding": [{"system": system, "code": code, "display": display}], "text": display}


def _interpretation(code: str, display: str) -> Resource:
    return _concept(f"{_TERMS}/v3-ObservationInterpretation", code, display)


def _notes(texts: Iterable[str]) -> list[Resource]:
    return [{"text": text} for text in texts]


def _reference(resource: Resource) -> Resource:
    return {"reference": f"urn:uuid:{resource['id']}"}
