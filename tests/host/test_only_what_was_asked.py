"""No symbol, export or sentence claims what no tone was asked for: 17 ears, every format.

Five of the ears are in the quick suite.
What was asked is read from the journal's answers, apart from the marks of the result: an audiogram
frequency was asked if a tone that counts was answered within a third of an octave of it.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest

from device.audiogram_tables import nhanes
from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named
from device.simulator.listener import SimulatedListener
from device.simulator.world import World
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.console.audiogram_text import ARROWS, INFERRED, draw_audiogram
from firmware_py.findings import asymmetry
from firmware_py.operator.replies import result_words
from firmware_py.terms.person import Person as Whose
from firmware_py.terms.results import PTA4_FREQUENCIES_HZ, ThresholdResult
from firmware_py.terms.route import BY_AIR, Route
from host_tools.commands.export.csv_table import code_column, level_column
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.report.session_report import SessionReport
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.host.commands.export.promises import FORMS, check_not_claimed
from tests.host.commands.export.sessions import as_csv, as_fhir, as_json, as_nhanes_csv
from tests.host.renderers import RENDERERS, Shown
from tests.host.reports import cells, codes_in, report_of, tables

ODD_HZ: Final = (250.0, 500.0, 1000.0, 2000.0, 3000.0, 4000.0, 6000.0, 8000.0)
ODD_DB_HL: Final = {
    "noise notch": (10.0, 10.0, 5.0, 15.0, 45.0, 65.0, 50.0, 20.0),
    "cookie bite": (15.0, 30.0, 50.0, 60.0, 55.0, 45.0, 30.0, 15.0),
    "reverse slope": (70.0, 65.0, 50.0, 35.0, 25.0, 20.0, 15.0, 15.0),
    "corner": (60.0, 80.0, 105.0, 115.0, 115.0, 115.0, 115.0, 115.0),
    "cliff": (5.0, 5.0, 10.0, 20.0, 75.0, 95.0, 105.0, 110.0),
    "tent": (55.0, 40.0, 20.0, 10.0, 25.0, 40.0, 55.0, 65.0),
    "better than the floor": (-15.0, -15.0, -12.0, -12.0, -15.0, -15.0, -12.0, -12.0),
}
# Right and left ear of each person: the ten standard audiograms, and seven odd ears.
PEOPLE: Final = (
    ("N1", "N2"), ("N3", "N4"), ("N5", "N6"), ("S1", "S2"), ("S3", "N7"),
    ("noise notch", "cookie bite"), ("reverse slope", "corner"), ("cliff", "tent"),
    ("better than the floor", ""),
)  # fmt: skip
A_FEW: Final = (("S3", "N7"), ("cliff", "tent"), ("better than the floor", ""))
pytestmark = pytest.mark.xdist_group("only what was asked")  # the sessions are run once
ORDINARY: Final = {
    *ARROWS.values(),
    *"".join(s for m in BY_AIR.characters.values() for s in m.values()),
}


def audiogram_of(name: str) -> Audiogram:
    if name in ODD_DB_HL:
        return Audiogram(ODD_HZ, ODD_DB_HL[name])
    return audiogram_named(name)["right"]


@dataclass(frozen=True)
class Person:
    """A recorded session, and the tones of it that count, by ear."""

    journal: Path
    session: ReplayedSession
    report: SessionReport
    examination: Examination

    def tones_near(self, ear: str, frequency_hz: float) -> list[tuple[float, bool | None]]:
        """Return level and answer of the tones within a third of an octave of a frequency."""
        return [
            (trial.level_db_hl, trial.heard)
            for trial in self.session.trials_of(Route(ear))
            if trial.purpose in ("familiarise", "measure")  # a brisk test has no retest
            and trial.frequency_hz is not None
            and trial.level_db_hl is not None
            and abs(math.log2(trial.frequency_hz / frequency_hz)) < 1.0 / 3.0 + 1e-6
        ]

    def thresholds_without_tone(self) -> Iterator[tuple[str, ThresholdResult]]:
        """Yield each ear and threshold that no tone was asked for."""
        for ear in self.session.result.ears:
            for found in ear.thresholds:
                if not self.tones_near(ear.route.ear, found.frequency_hz):
                    yield ear.route.ear, found


@pytest.fixture(
    scope="module", params=[A_FEW, pytest.param(PEOPLE, marks=pytest.mark.thorough)],
    ids=["a few", "all"],
)  # fmt: skip
def people(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sequence[Person]]:
    """Yield all sessions, each run in no time and read again from its journal, as if calibrated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CalibrationInForce, "nominal", False)
        yield [_record(tmp_path_factory.mktemp("person"), names) for names in request.param]


def _record(directory: Path, names: tuple[str, str]) -> Person:
    right, left = names
    listener = SimulatedListener(
        {"right": audiogram_of(right), "left": audiogram_of(left or right)},
        response_noise_db=2.0, lapse_rate=0.01, false_alarm_rate=0.01, seed=16,
    )  # fmt: skip
    journal = World(directory, listener).live({"ears": "both" if left else "right"})
    session = replay_session(journal)
    return Person(journal, session, report_of(session), read_examination(journal))


def test_there_is_something_in_every_session_that_was_not_asked(people: Sequence[Person]) -> None:
    ears = sum(len(person.session.result.ears) for person in people)
    assert ears == {len(A_FEW): 5, len(PEOPLE): 17}[len(people)]
    for person in people:
        assert [*person.thresholds_without_tone()], "the tests below would see nothing"
        for _, found in person.thresholds_without_tone():
            assert found.mark in ("inferred", "unreliable", "incomplete")


def test_no_response_and_hears_all_were_asked_at_their_limit(people: Sequence[Person]) -> None:
    seen = set()
    for person in people:
        for ear in person.session.result.ears:
            for found in ear.thresholds:
                if found.mark in ("no-response", "hears-all"):
                    seen.add(str(found.mark))
                    heard = found.mark == "hears-all"
                    answers = person.tones_near(ear.route.ear, found.frequency_hz)
                    assert (found.limit_db_hl, heard) in answers
    assert seen == {"no-response", "hears-all"}


def of_p_17(examination: Examination) -> Examination:
    whose = Whose(None, None, "P-17")
    return replace(examination, header=replace(examination.header, person=whose))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_export_has_no_number_there_where_measured_ones_stand(
    people: Sequence[Person], form: str
) -> None:
    unasked = [found for person in people for _, found in person.thresholds_without_tone()]
    of_one = [of_p_17(each.examination) for each in people]  # of more GDT has no file
    check_not_claimed(FORMS[form].encode, of_one, unasked)


def test_a_report_has_no_symbol_and_brackets_there(people: Sequence[Person]) -> None:
    """Page and paper draw the same audiogram; what is inferred has no symbol in its drawing."""
    for person in people:
        drawn = {
            (ear.route.ear, each["frequency_hz"]): each["kind"]
            for ear in person.report.source.drawn
            for each in person.report.audiogram(ear)["ears"][0]["thresholds"]
        }
        found_tables = tables(person.report.paper, "thresholds")
        norms = tables(person.report.paper, "norm")
        for ear, found in person.thresholds_without_tone():
            assert drawn[ear, found.frequency_hz] == "inferred"
            for code in ("row-level", "row-band-answers", "row-band-whole"):
                cell = cells(found_tables[ear], code)[found.frequency_hz]
                assert cell["code"] in ("inferred", "no-value")
            if ear in norms:
                assert cells(norms[ear], "row-peers")[found.frequency_hz]["code"] == "no-value"


def test_the_audiogram_in_characters_has_no_ordinary_symbol_there(
    people: Sequence[Person],
) -> None:
    paper = draw_audiogram({})
    for person in people:
        for ear, found in person.thresholds_without_tone():
            drawn = draw_audiogram({Route(ear): [found]})
            own = {
                character
                for line, blank in zip(drawn, paper, strict=True)
                for character, other in zip(line, blank, strict=True)
                if character != other
            }
            assert not own & ORDINARY


def test_a_demo_shows_no_ordinary_value_there(people: Sequence[Person]) -> None:
    for person in people:
        text = RENDERERS["live"](Shown(person.session, person.journal))
        for _, found in person.thresholds_without_tone():
            assert found.mark == "inferred"
        cells = re.findall(r"found((?: +\S+)+)", text)
        signs = sum(cell.count(INFERRED) for cell in cells)
        inferred = [
            t for e in person.session.result.ears for t in e.thresholds if t.mark == "inferred"
        ]
        assert signs == len(inferred) >= len([*person.thresholds_without_tone()])
        assert "inferred" in text


def test_averages_and_asymmetries_rest_on_what_was_asked(people: Sequence[Person]) -> None:
    for person in people:
        unasked = {(ear, found.frequency_hz) for ear, found in person.thresholds_without_tone()}
        by_ear = person.session.result.by_route
        for ear in by_ear.values():
            missing = {
                f for name, f in unasked if name == ear.route.ear and f in PTA4_FREQUENCIES_HZ
            }
            assert ear.pta4 is None or missing <= {*ear.pta4.inferred_hz}
        if len(by_ear) == 2:
            known = asymmetry.differences(by_ear[Route("left")], by_ear[Route("right")])
            assert not known.keys() & {frequency_hz for _, frequency_hz in unasked}


def codes_told(reading: dict[str, Any]) -> list[str]:
    """Return the codes of a level on paper, by what the device tells of it."""
    if reading["level_db_hl"] is None:
        return ["no-value"]
    signs = {"": "level", ">": "level-above", "≤": "level-at-most", "<=": "level-at-most",
             "?": "level-perhaps-above"}  # fmt: skip
    code = signs[reading["sign"]]
    if reading["kind"] == "inferred":
        return ["inferred", code]
    return ["wide"] * reading["wide"] + ["doubtful"] * (reading["symbol"] == "uncertain") + [code]


def fhir_told(reading: dict[str, Any]) -> tuple[str | None, float] | None:
    """Return comparator and value as FHIR has them."""
    comparator = {"measured": None, "above": ">", "at-most": "<="}
    if reading["kind"] not in comparator:
        return None
    return comparator[reading["kind"]], round(reading["level_db_hl"], 1)


def test_device_paper_and_exports_say_the_same_and_nothing_outside_the_limits(
    people: Sequence[Person],
) -> None:
    kinds = set()
    for person in people:
        session = person.session
        told = json.loads(result_words(session.result, session.header, named=False))
        (exported,) = json.loads(as_json([person.examination]))["sessions"]
        report = json.loads(json.dumps(person.report.as_json()["result"]))
        assert (told["ears"], told["grade"]) == (exported["ears"], exported["grade"])
        assert (told["ears"], told["grade"]) == (report["ears"], report["grade"])
        (row,) = csv.DictReader(io.StringIO(as_csv([person.examination]).decode()))
        (coded,) = csv.DictReader(io.StringIO(as_nhanes_csv([person.examination]).decode()))
        fhir = [entry["resource"] for entry in json.loads(as_fhir([person.examination]))["entry"]]
        by_code = {each["code"]["coding"][0]["code"]: each for each in fhir[1:]}
        shown = tables(person.report.paper, "thresholds")
        for ear in told["ears"]:
            for each in ear["thresholds"]:
                reading = each["reading"]
                kinds.add((reading["kind"], reading["sign"]))
                level = cells(shown[ear["ear"]], "row-level")[each["frequency_hz"]]
                assert codes_in(level) == codes_told(reading)
                levels = [reading[f"{name}_db_hl"] for name in ("low", "level", "high")]
                if None not in levels:
                    assert sorted(levels) == levels, "the band has its level in it"
                known = [level for level in levels if level is not None]
                assert all(each["floor_db_hl"] <= level <= each["ceiling_db_hl"] for level in known)
                resource = by_code[BY_AIR.loinc[ear["ear"]][each["frequency_hz"]]]
                value = resource.get("valueQuantity")
                assert (value and (value.get("comparator"), value["value"])) == fhir_told(reading)
                cell = coded[nhanes.variable(ear["ear"], each["frequency_hz"])]
                assert cell == csv_told(reading)
                place = ear["ear"], each["frequency_hz"]
                measured = reading["kind"] == "measured"
                assert row[level_column(*place)] == (cell if measured else "")
                assert row[code_column(*place)] == each["mark"]
    assert {("measured", ""), ("above", ">"), ("inferred", ""), ("inferred", ">")} <= kinds


def csv_told(reading: dict[str, Any]) -> str:
    match reading["kind"]:
        case "measured" | "at-most":
            return f"{reading['level_db_hl']:.1f}"
        case "inferred":
            return ""
        case kind:
            return str(nhanes.NO_RESPONSE if kind == "above" else nhanes.COULD_NOT_OBTAIN)
