"""One paper: six pairs of ears, calibrated and not, say the same in every form and language.

The page and its print are looked at in a browser; PDF, HTML, JSON, FHIR and CSV are the files that
a host writes of the same journal.
"""

import csv
import html as markup
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from device.simulator.audiogram import Audiogram
from device.simulator.audiograms import audiogram_named
from device.simulator.listener import SimulatedListener
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.world import World
from firmware_py.platform.version import full_version
from firmware_py.procedure.person import Person
from firmware_py.procedure.route import BY_AIR, Route
from firmware_py.procedure.settings import HUGHSON_WESTLAKE, NONE, Settings
from firmware_py.procedure.verdicts import has_thresholds
from host_tools.catalogue import LANGUAGES
from host_tools.commands.export.csv_table import code_column, level_column
from host_tools.commands.export.examination import read_examination
from host_tools.commands.report.ear_sentence import ear_sentence
from host_tools.commands.report.findings import Findings, findings_of
from host_tools.commands.report.notes import notes_of
from host_tools.commands.report.page import page_of
from host_tools.commands.report.paper import paper_of
from host_tools.commands.report.quality_words import masking_levels, noise_level, quality_rows
from host_tools.commands.report.words import Words
from host_tools.document import set_document
from host_tools.recordings.heading import NO_HEADING
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from host_tools.recordings.verdicts import told_verdicts
from tests.host.commands.export.sessions import as_csv, as_fhir, as_json
from tests.host.commands.page.conftest import Operator
from tests.host.commands.page.rig import Device
from tests.host.commands.page.test_breadth import check_paper, expect_result
from tests.host.journals import NoSteps
from tests.host.pdfs import ReadPdf
from tests.host.test_only_what_was_asked import fhir_told

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("one-paper")]

CORNER: Final = Audiogram(
    (250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0), (60.0, 80.0, 105.0, 115.0, 115.0, 115.0)
)
FLOOR: Final = Audiogram((250.0, 1000.0, 8000.0), (-15.0, -13.0, -14.0))
N: Final = {name: audiogram_named(name)["right"] for name in ("N1", "N2", "N6", "N7", "S3")}
# Right and left ear, the share of tones that nobody answers, and who it is: with an age norm that
# is whole, one of which part is for information only, one of criteria for younger people, none as
# nobody told, none as who hears every tone may press at anything, and none as nobody was tested.
PAIRS: Final = {
    "symmetric": (N["N2"], N["N2"], 0.01, Person(60, "F")),
    "N1,N6": (N["N1"], N["N6"], 0.01, Person(71, "M")),
    "S3,N7": (N["S3"], N["N7"], 0.01, Person(42, "F")),
    "corner": (CORNER, CORNER, 0.01, Person()),
    "all at the floor": (FLOOR, FLOOR, 0.01, Person(18, "M")),
    "nobody answers": (N["N2"], N["N2"], 1.0, Person(81, "M")),
}
CONFIRMED: Final = "symmetric"  # once more by the classical rule
# What a calibrated session of a pair has beside its thresholds: an age norm, an asymmetry, noise.
BESIDE: Final = {
    "symmetric": (True, False, False),
    "N1,N6": (True, True, True),
    "S3,N7": (True, True, True),
    "corner": (False, False, False),
    "all at the floor": (False, False, False),
    "nobody answers": (False, False, False),
}
UNKNOWN_BOARD: Final = "51b00000000000ff"  # there is no calibration for it


@dataclass(frozen=True)
class Recording:
    pair: str
    journal: Path
    session: ReplayedSession


@pytest.fixture(scope="module", params=[True, False], ids=["calibrated", "uncalibrated"])
def is_calibrated(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module", params=PAIRS)
def recording(
    request: pytest.FixtureRequest, is_calibrated: bool, tmp_path_factory: pytest.TempPathFactory
) -> Recording:
    """Return a session of a pair of ears."""
    right, left, lapse_rate, person = PAIRS[request.param]
    confirm = HUGHSON_WESTLAKE if request.param == CONFIRMED else NONE
    listener = SimulatedListener(
        {"right": right, "left": left},
        response_noise_db=2.0, lapse_rate=lapse_rate, false_alarm_rate=0.0, seed=16,
    )  # fmt: skip
    board = None if is_calibrated else SimulatedBoard(listener, boot=1, serial=UNKNOWN_BOARD)
    world = World(tmp_path_factory.mktemp("pair"), listener, board=board)
    world.begin(Settings(ears="both", seed=5, confirm=confirm), person)
    journal = world.end()
    return Recording(request.param, journal, replay_session(journal))


def flat(text: str) -> str:
    """Return a text without markup, and with one ordinary space between any two words."""
    return re.sub(r"\s+", " ", markup.unescape(text).replace("\u00a0", " ")).strip()


def sentences(findings: Findings, words: Words) -> list[str]:
    """Return what has to stand in every form for people."""
    return [
        *(each for ear in findings.ears for each in (ear_sentence(ear, words),) if each),
        *words.grades(findings),
        *notes_of(findings, words),
        *words.remarks(findings),
        *(part for headline, text in words.alarms(findings) for part in (headline, text)),
        *(each.headline for each in told_verdicts(findings.ears, words.catalogue)),
        *(words.threshold(found) for ear in findings.ears for found in ear.thresholds),
        *(part for ear in findings.ears for row in quality_rows(ear, words) for part in row),
        *(words.percent(t.norm_share_better) for ear in findings.ears for t in ear.thresholds),
    ]


def noise_words(session: ReplayedSession, findings: Findings, words: Words) -> list[str]:
    """Return the masking noise that stands below the thresholds of each ear, and its name."""
    told = [
        masking_levels(session, Route(ear.route.ear))
        for ear in findings.ears
        if has_thresholds(ear)
    ]
    levels = [noise_level(each, words.catalogue) for of_ear in told for each in of_ear.values()]
    return [words.catalogue.say("record", "noise_of"), *levels] if levels else []


@pytest.mark.parametrize("language", LANGUAGES)
def test_pdf_and_html_say_the_same(recording: Recording, language: str) -> None:
    findings = findings_of(recording.session, language)
    words = Words.of(findings)
    pdf = ReadPdf(set_document(paper_of(findings, recording.session, NO_HEADING), ".pdf"))
    page = re.sub(r"<[^>]+>", " ", page_of(findings, recording.session, NoSteps(), NO_HEADING))
    # A sentence may go on behind the foot of a page.
    footer = re.escape(flat(words.footer(full_version()))) + r" \d+ / \d+ "
    for form, text in {"PDF": re.sub(footer, "", flat(pdf.text)), "HTML": flat(page)}.items():
        noise = noise_words(recording.session, findings, words)
        for sentence in [*sentences(findings, words), *noise]:
            assert flat(sentence) in text, form


def test_files_for_programs_say_the_same(recording: Recording, is_calibrated: bool) -> None:
    examination = read_examination(recording.journal)
    findings = findings_of(recording.session)
    report = json.loads(json.dumps(findings.as_json()))
    (exported,) = json.loads(as_json([examination]))["sessions"]
    (row,) = csv.DictReader(io.StringIO(as_csv([examination]).decode()))
    fhir = [entry["resource"] for entry in json.loads(as_fhir([examination]))["entry"]]
    observed = [each for each in fhir if "code" in each]
    # A confirmation has the code of its threshold, and stands after it.
    by_code = {each["code"]["coding"][0]["code"]: each for each in reversed(observed)}

    has_noise = bool(noise_words(recording.session, findings, Words.of(findings)))
    _, _, with_noise = BESIDE[recording.pair]
    beside = (bool(findings.norm_title), bool(findings.asymmetries), has_noise)
    assert beside == (BESIDE[recording.pair] if is_calibrated else (False, False, with_noise))
    assert report["asymmetries"] == findings.asymmetries

    assert (findings.nominal, report["nominal"]) == (not is_calibrated, not is_calibrated)
    assert report["grade"] == exported["grade"]
    assert (report["grade"] is None) or is_calibrated
    for ear, one in zip(exported["ears"], report["ears"], strict=True):
        for name in ("ear", "outcome", "why", "reasons", "verdict", "pta4"):
            assert one[name] == ear[name], name
        assert row[f"verdict_{ear['ear']}"] == ear["verdict"]
        for found, shown in zip(ear["thresholds"], one["thresholds"], strict=True):
            reading, place = found["reading"], (ear["ear"], found["frequency_hz"])
            assert shown["reading"] == reading
            assert row[code_column(*place)] == found["mark"]
            measured = f"{reading['level_db_hl']:.1f}" if reading["kind"] == "measured" else ""
            assert row[level_column(*place)] == (measured if ear["has_thresholds"] else "")
            resource = by_code[BY_AIR.loinc[place[0]][place[1]]]
            value = resource.get("valueQuantity")
            if ear["has_thresholds"]:
                assert (value and (value.get("comparator"), value["value"])) == fhir_told(reading)
            else:
                assert value is None
            if not is_calibrated:
                assert resource["status"] in ("preliminary", "cancelled", "registered")
                assert "dB HL" not in json.dumps(value)


def test_the_page_and_its_print_say_the_same(
    recording: Recording, device: Device, operator: Operator
) -> None:
    device.directory.mkdir(exist_ok=True)
    device.journal().write_bytes(recording.journal.read_bytes())
    device.start()
    page = operator.connect(device.stand_in())
    expect_result(page)
    for language in LANGUAGES:
        page.select_option("#language", language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        check_paper(page, recording.session, language=language)
