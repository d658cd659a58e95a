"""A bundle of FHIR is read by LOINC's codes and our names; what is not read is named."""

import json
import re
from typing import Any, Final

import pytest

from device.audiogram_tables.ears import AudiogramError, TableEar
from device.audiogram_tables.table import Table

LOINC: Final = "http://loinc.org"
NAME: Final = "Hearing threshold Ear - left --{} Hz"
LEFT_500, LEFT_1000 = ("89024-4", NAME.format(500)), ("89016-0", NAME.format(1000))


def coded(code: str, display: str, system: str = LOINC) -> dict[str, Any]:
    return {"coding": [{"system": system, "code": code, "display": display}]}


def observed(level: float, code: dict[str, Any], **more: Any) -> dict[str, Any]:
    value = {"valueQuantity": {"value": level, "unit": "dB HL"}}
    person = {"subject": {"reference": "Patient/a"}, "effectiveDateTime": "2026-01-05T10:00:00Z"}
    return {"resourceType": "Observation", "code": code, **value, **person, **more}


def read(*resources: dict[str, Any]) -> Table:
    entries = [{"resource": resource} for resource in resources]
    bundle = {"resourceType": "Bundle", "entry": entries}
    return Table.read("b.json", json.dumps(bundle).encode())


def levels(ear: TableEar) -> dict[float, float]:
    return {frequency_hz: reading.level_db_hl for frequency_hz, reading in ear.by_air.items()}


def test_subjects_are_people_and_the_times_of_a_day_are_one_test() -> None:
    table = read(
        observed(20, coded(*LEFT_500)),
        observed(25, coded(*LEFT_1000), effectiveDateTime="2026-01-05T10:05:00Z"),
        observed(70, coded(*LEFT_500), subject={"reference": "Patient/b"}),
        observed(30, coded(*LEFT_500), effectiveDateTime="2026-02-05T10:00:00Z"),
    )
    first, other, later = table.all_ears()
    assert (first.person, levels(first)) == ("Patient/a", {500.0: 20.0, 1000.0: 25.0})
    assert (other.person, levels(other)) == ("Patient/b", {500.0: 70.0})
    assert (later.person, levels(later)) == ("Patient/a", {500.0: 30.0})


@pytest.mark.parametrize("both", ["effectiveDateTime", "encounter"])
def test_two_tests_of_a_day_stay_two(both: str) -> None:
    visits: Any = ("2026-01-05T10:00:00Z", "2026-01-05T11:00:00Z")
    if both == "encounter":
        visits = ({"reference": "Encounter/1"}, {"reference": "Encounter/2"})
    table = read(*(observed(20, coded(*LEFT_500), **{both: visit}) for visit in visits))
    assert [levels(ear) for ear in table.all_ears()] == [{500.0: 20.0}] * 2


def test_components_are_read_and_what_is_passed_over_is_named() -> None:
    panel = {"coding": [{"system": LOINC, "code": "89015-2"}]}
    noise = coded("89024-4", "Peak level of noise", "http://example.org/noise")
    parts = [
        {"code": coded(*LEFT_500), "valueQuantity": {"value": 20, "unit": "dB HL"}},
        {"code": noise, "valueQuantity": {"value": 95, "unit": "dB"}},
    ]
    whole = observed(0, panel, component=parts)
    del whole["valueQuantity"]
    table = read(
        {"resourceType": "Patient"}, whole, observed(95, noise),
        observed(60, coded(*LEFT_1000), status="entered-in-error"),
        observed(50, coded(*LEFT_1000), method={"text": "by hand"}),
        {"resourceType": "DiagnosticReport"},
    )  # fmt: skip
    (ear,) = table.all_ears()
    assert (levels(ear), ear.unknown_hz) == ({500.0: 20.0}, ())
    assert table.remarks == [
        f"b.json: passed over: {each}"
        for each in (
            "entry 2: 'Peak level of noise' is no threshold",
            "entry 3: 'Peak level of noise' is no threshold",
            f"entry 4: '{LEFT_1000[1]}' is withdrawn, entered-in-error",
            f"entry 5: '{LEFT_1000[1]}' was found by another method, 'by hand'",
            "entry 6: a DiagnosticReport is no observation",
        )
    ]


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        (
            observed(20, coded(LEFT_500[0], LEFT_1000[1])),
            "entry 1: its code and its name are of left 500 Hz and left 1000 Hz; allowed is",
        ),
        (
            observed(20, coded(*LEFT_500), valueQuantity={"value": 20, "comparator": ">="}),
            "a threshold with comparator >=",
        ),
        (
            observed(95, coded("89024-4", "noise", "http://example.org")),
            "no threshold in it, passed over entry 1: 'noise' is no threshold; JSON that is read",
        ),
        (
            observed(20, coded(*LEFT_500), subject={"reference": []}, encounter=[1]),
            "entry 1: is no observation that is read",
        ),
        ({}, "entry 1: is no observation that is read: 'resourceType' is missing"),
    ],
)
def test_what_cannot_be_meant_is_refused(resource: dict[str, Any], words: str) -> None:
    with pytest.raises(AudiogramError, match=re.escape(words)):
        read(resource)
