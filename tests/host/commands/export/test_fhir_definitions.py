"""Every kind of bundle is valid by the published definitions of FHIR R4 and the codes of HL7.

No profile is claimed, so that there is no other to validate against: of those in the registries
none is of audiology, and IPS, US Core and R4's own want what a session does not have.
"""

import hashlib
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pytest

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.findings.statements import as_told
from firmware_py.sessions.broken_off import Course
from firmware_py.terms.discomfort_levels import DiscomfortLevel
from firmware_py.terms.events import DiscomfortTold
from host_tools.commands.export.examination import Examination, read_examination
from tests.host.commands.export.sessions import (
    JOURNALS,
    as_fhir,
    inferred_and_confirmed,
    session_with_bone,
    session_with_marks,
    with_vibrator,
)
from tests.host.journals import BOTH
from tests.host.judged import DIFFERENT, NOBODY, Verdicts, judge

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("fhir")]

HERE: Final = Path(__file__).parent
PLACE: Final = HERE.parents[3] / "build" / "fhir"
CODES: Final = ("valuesets", "v2-tables", "v3-codesystems")
Resource = dict[str, Any]


@pytest.fixture(scope="module")
def packages() -> Path:
    """Return where the packages of the list are unpacked; without Node or network it is skipped."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("node and npm are not installed")
    for line in (HERE / "fhir.lock").read_text().splitlines()[1:]:
        sha256, name, version = line.split()
        unpacked = PLACE / sha256[:16] / name.rpartition("/")[2]
        link = PLACE / unpacked.name
        if not unpacked.exists():
            tar = _fetched(f"{name}@{version}")
            assert hashlib.sha256(tar.read_bytes()).hexdigest() == sha256
            with tarfile.open(tar) as content:
                content.extractall(unpacked.with_suffix(".part"), filter="data")
            unpacked.with_suffix(".part").rename(unpacked)
        link.unlink(missing_ok=True)
        link.symlink_to(unpacked)
    return PLACE


def _fetched(name: str) -> Path:
    PLACE.mkdir(parents=True, exist_ok=True)
    pack = ["npm", "pack", "--silent", "--ignore-scripts", name]
    ran = subprocess.run(pack, cwd=PLACE, capture_output=True, text=True, check=False)
    if ran.returncode:
        pytest.skip(f"{name} cannot be had from the registry: {ran.stderr.strip()[:200]}")
    return PLACE / ran.stdout.strip()


def _judged(verdicts: Verdicts) -> Examination:
    examination = read_examination(BOTH)
    result = judge(examination.result, verdicts)
    told = as_told(result, examination.header.settings, nominal=False)
    return replace(examination, result=told)


def _uncalibrated() -> Examination:
    session = session_with_bone()
    header = replace(session.header, calibration=CalibrationInForce())
    told = as_told(session.result, header.settings, nominal=True)
    return replace(session, header=header, result=told)


def _with_discomfort() -> Examination:
    levels = DiscomfortLevel(500, 100.0), DiscomfortLevel(1000, 110.0, above=True)
    told = {"left": DiscomfortTold("left", levels, "clinic", "2025-01-02")}
    session = session_with_marks()
    started = session.header.started
    return replace(session, course=Course(started, started, discomfort=told))


# By kind: what makes it, and what stands in it.
BUNDLES: Final[dict[str, tuple[Callable[[], Examination], str]]] = {
    "air, with bounds and no response": (session_with_marks, '"comparator": ">"'),
    "masked bone": (lambda: with_vibrator(session_with_bone()), '"Left ear structure"'),
    "inferred and confirmed": (inferred_and_confirmed, "Hughson-Westlake"),
    "uncalibrated": (_uncalibrated, "nominal dB"),
    "doubtful, and could not be tested": (lambda: _judged(DIFFERENT), "doubtful"),
    "could not be tested": (lambda: _judged(NOBODY), '"cancelled"'),
    "discomfort": (_with_discomfort, "Uncomfortable level"),
    **{path.stem: (partial(read_examination, path), "AU") for path in JOURNALS},
}


@cache
def bundles() -> dict[str, str]:
    return {name: as_fhir([made()]).decode() for name, (made, _) in BUNDLES.items()}


def wrong_in(packages: Path, tmp_path: Path, told: list[Resource]) -> list[list[str]]:
    """Return what the definitions and the codes find wrong in each of these bundles."""
    file = tmp_path / "bundles.json"
    file.write_text(json.dumps(told))
    command = ["node", str(HERE / "validate_fhir.cjs"), str(packages), str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    known = Codes(packages / "definitions/package/dist/fhir/r4")
    return [
        [*by_form, *known.wrong_in(bundle)]
        for by_form, bundle in zip(json.loads(ran.stdout), told, strict=True)
    ]


class Codes:
    """The codes of HL7: those of a coding, and those that an element is bound to."""

    BOUND: Final = {"status": "observation-status", "comparator": "quantity-comparator"}

    def __init__(self, place: Path) -> None:
        self._systems: dict[str, dict[str, str]] = {}
        for name in CODES:
            for entry in json.loads((place / f"{name}.json").read_text())["entry"]:
                resource = entry["resource"]
                if resource["resourceType"] == "CodeSystem":
                    codes = _concepts(resource.get("concept", []))
                    self._systems.setdefault(resource["url"], dict(codes))

    def wrong_in(self, value: Any) -> Iterator[str]:
        """Yield what is wrong in a JSON value; LOINC, SNOMED and UCUM are in no package."""
        for each in value if isinstance(value, list) else []:
            yield from self.wrong_in(each)
        if not isinstance(value, dict):
            return
        system, code = value.get("system", ""), value.get("code", "")
        if system.startswith("http://terminology.hl7.org") and "display" in value:
            known = self._systems.get(system, {})
            if known.get(code) != value["display"]:
                yield f"{system}#{code} is {known.get(code)}, not {value['display']}"
        for name, bound in self.BOUND.items():
            allowed = self._systems[f"http://hl7.org/fhir/{bound}"]
            if name in value and value[name] not in allowed:
                yield f"{name} {value[name]}: allowed are {', '.join(allowed)}"
        for each in value.values():
            yield from self.wrong_in(each)


def _concepts(concepts: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for each in concepts:
        code: str = each["code"]
        yield code, each.get("display", code)
        yield from _concepts(each.get("concept", []))


def test_every_kind_of_bundle_is_valid(packages: Path, tmp_path: Path) -> None:
    for name, (_, has) in BUNDLES.items():
        assert has in bundles()[name], name
    found = wrong_in(packages, tmp_path, [json.loads(text) for text in bundles().values()])
    assert dict(zip(bundles(), found, strict=True)) == {name: [] for name in bundles()}


def _both_values(found: Resource) -> None:
    found["dataAbsentReason"] = {"text": "unknown"}


FAULTS: Final[dict[str, tuple[Callable[[Resource], Any], str]]] = {
    "no status": (lambda found: found.pop("status"), "Missing required property"),
    "two codes": (lambda found: found.update(code=[found["code"]] * 2), "Expected single"),
    "a status that is none": (lambda found: found.update(status="finished"), "status finished"),
    "a category that is none": (
        lambda found: found["category"][1]["coding"][0].update(code="AUD"), "v2-0074#AUD is None",
    ),
    "a number as text": (lambda found: found["valueQuantity"].update(value="30"), "value"),
    "a value and why there is none": (_both_values, "obs-6"),
    "a property of another version": (lambda found: found.update(triggeredBy=[]), "triggeredBy"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(packages: Path, tmp_path: Path, fault: str) -> None:
    bundle = json.loads(bundles()["air, with bounds and no response"])
    plant, words = FAULTS[fault]
    plant(next(e["resource"] for e in bundle["entry"] if "valueQuantity" in e["resource"]))
    (found,) = wrong_in(packages, tmp_path, [bundle])
    assert words in " ".join(found)
