"""What a clinic files: a tagged PDF of real text that says who, when, and what was found."""

import math
import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

import pytest
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from firmware_py.calibration.file import calibration_from
from firmware_py.calibration.in_force import CalibrationInForce, load_calibration
from firmware_py.calibration.stated import STANDARD_CONDITIONS
from firmware_py.terms.calibration_states import CALIBRATED, OVERDUE, SIMULATED, UNCALIBRATED
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.person import Person
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import BY_BONE
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.commands.report.drawn import watermark
from host_tools.commands.report.session_report import SessionReport
from host_tools.main import main
from host_tools.papers.pdf import set_paper
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import replay_session
from tests.budget import quick
from tests.host.commands.report.test_picture import Drawing
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, MASKED, go_on_with, session_of
from tests.host.judged import DIFFERENT, a_session
from tests.host.pdfs import ReadPdf, check_tagged
from tests.host.reports import codes_in, facts, pdf, report_of, rows_in, rows_of, tables, with_ears

SILENT: Final = GOLDEN / "silent-ear.journal"
EXAMPLE: Final = Path(__file__).parents[4] / "device/calibration/example.toml"
HEADING: Final = Heading(
    name="Maria #strong[Jansen] <b>$x$</b>",
    birth_date=date(1957, 3, 8),
    tester="A. Meyer",
    place="Audiology, room 4",
)
JOURNALS: Final = sorted(GOLDEN.glob("*.journal"))
WORDS_MAX: Final = 600  # of what a clinic files, without its numbers
WORD: Final = re.compile(r"[^\W\d_]{2,}")
PAPER_UNITS: Final = 390.0  # how high an audiogram's paper is; it is wider

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]


@pytest.mark.parametrize("language", quick(LANGUAGES, "es"))
@pytest.mark.parametrize(
    "path", quick(JOURNALS, MASKED, GOLDEN / "bone.journal"), ids=lambda path: path.stem
)
def test_a_session_by_air_is_one_sheet_and_with_bone_two(path: Path, language: str) -> None:
    report = report_of(session_of(path), language, heading=HEADING)
    read = pdf(report)
    by_bone = any(ear.route.kind is BY_BONE for ear in report.source.ears)

    assert read.pages <= 1 + by_bone
    assert 100 < len(WORD.findall(read.text)) <= WORDS_MAX
    if tables(report.paper, "thresholds"):  # of an ear that could not be tested there is none
        check_tagged(read, language)
    assert len(read.alternatives) == len(report.source.drawn)
    text = _without_breaks(read.text)
    for code in ("ear-sentence", "pta4", "not-final"):
        for row in rows_of(report.paper["sections"], code):
            assert _without_breaks(report.shown.say(row)) in text


def _without_breaks(text: str) -> str:
    """Return a text without blanks and hyphens: Spanish says a hyphen again on the next line."""
    return "".join(text.split()).replace("-", "")


def test_a_standing_of_many_words_is_below_the_headline_and_breaks_no_word_of_it() -> None:
    report = report_of(session_of(BOTH))
    headline = report.shown.say(report.paper["headline"])
    why = "right: valid; left: valid; right by bone: could not be tested; left by bone: doubtful"
    beside, below = (
        ReadPdf(set_paper({**report.paper, "sections": [], "standing": row}, report.shown, ".pdf"))
        for row in ({"code": "final"}, {"code": "not-final", "why": {"code": why}})
    )
    assert beside.lines[0] == f"{headline} FINAL"
    assert below.lines[:2] == [headline, f"NOT FINAL: {why}"]


def test_the_header_says_who_when_where_and_with_what() -> None:
    """Of a test that was gone on with on another day, and each ear by another tone generator."""
    session = replay_session(MASKED)
    content = load_calibration(EXAMPLE).calibration
    assert content is not None
    first, started, *others = session.recovered.records
    event = {**started["event"], "board": f"pico {content.board_serial}"}
    waited = reason(Code.TOLD, told="no such sentence")
    resumed = "2026-01-21T09:00:00+01:00"
    records = go_on_with([first, {**started, "event": event}, *others], resumed, waited)
    session = replace(session, recovered=replace(session.recovered, records=records))
    session = with_ears(
        session,
        (
            replace(ear, boards=(f"pico {ear.route.ear}",), verdict=Verdict.VALID, reasons=())
            for ear in session.result.ears
        ),
    )
    calibrated = CalibrationInForce("CALIBRATED", content, "2026-01-20")
    header = replace(
        session.header, calibration=calibrated, person=Person(68.0, "F", "P-17"),
        started="2026-01-20T10:00:00+01:00", device="10000000abcdef01",
    )  # fmt: skip
    report = report_of(replace(session, header=header), heading=HEADING)
    found, say = facts(report.paper), report.shown.say

    assert found["fact-identifier"] == "P-17"
    assert found["fact-tested"]["begun_at"] == [header.started, resumed]
    (left,) = rows_of(found["fact-broken-off"], "left-and-resumed")
    assert (left["left_at"][:16], left["resumed_at"]) == ("2026-01-20T10:01", resumed)
    assert waited.to_record() in [*rows_in(found["fact-waited"])]
    assert codes_in(found["fact-age-sex"]) == ["listed", "age", "female"]
    assert found["fact-device"] == {
        "code": "device", "version": header.firmware, "serial": header.device,
    }  # fmt: skip
    assert say(found["fact-transducer"]) == "TDH39 (supra-aural), left C123456, right C123457"
    assert found["fact-calibration"]["state"]["code"] == "state-calibrated"
    assert (found["fact-calibration"]["date"], found["fact-calibration"]["due"]) == (
        "2026-01-15", "2027-01-15",
    )  # fmt: skip
    lacking = "not measured: noise floor; goal missed: crosstalk"
    assert say(found["fact-checks"]) == lacking
    before = {name: told for name, told in content.content.items() if name != "checks"}
    before["calibration"] = {**before["calibration"], "pressure_kpa": 94.5}
    unrecorded = replace(calibrated, calibration=calibration_from(before))
    old = report_of(replace(session, header=replace(header, calibration=unrecorded)))
    assert say(facts(old.paper)["fact-checks"]) == "not recorded"
    (outside,) = rows_of(old.paper["details"], "conditions-outside")
    assert say(outside).startswith("22.5 °C, 45 % humidity, 94.5 kPa: outside of IEC 60645-1")
    ends = [f"{end:g}" for each in STANDARD_CONDITIONS.values() for end in each]
    for language in LANGUAGES:
        limits = language_of(language).sentences["conditions-outside"].partition("(")[2]
        assert re.findall(r"\d+", limits) == ends
    assert rows_of(report.paper["details"], "meter")[0]["serial"] == "2250-1234567"
    assert say(rows_of(report.paper["details"], "uncertainty")[0]) == "±2.4 dB (expanded, k = 2)"
    assert say(rows_of(report.paper["details"], "conditions")[0]) == (
        "22.5 °C, 45 % humidity, 100.9 kPa"
    )
    assert {"person-boards"} <= {*codes_in(report.paper)}
    assert not [code for code in codes_in(report.paper) if code.startswith("asymmetry")]
    text = pdf(report).text
    for told in (HEADING.name, HEADING.tester, HEADING.place, "8 March 1957"):
        assert told in text
    assert "20 January 2026, 10:00 UTC+01:00; 21 January 2026, 09:00 UTC+01:00" in text


def test_the_paper_says_that_nobody_was_tested_and_how_the_clock_ran() -> None:
    session = session_of(BOTH)
    for speed, codes in (
        (1.0, ["simulated-means"]), (60.0, ["simulated-means", "clock-ran"]),
        (None, ["simulated-means", "clock-of-board"]),
    ):  # fmt: skip
        header = replace(session.header, speed=speed)
        paper = report_of(replace(session, header=header)).paper
        told = [e for e in codes_in(paper) if e.startswith("clock") or e == "simulated-means"]
        assert told == codes


def test_a_heading_goes_on_paper_and_on_the_page(tmp_path: Path) -> None:
    heading, page, paper = (tmp_path / name for name in ("h.toml", "r.html", "r.pdf"))
    heading.write_text('name = "Zoë <b>"\ncomments = "One.\\n\\nTwo."\n', encoding="utf-8")
    for out in (page, paper):
        assert main(["report", str(SILENT), "-o", str(out), "--heading", str(heading)]) == 0
    text = page.read_text(encoding="utf-8")

    assert "Zoë <b>" in ReadPdf(paper.read_bytes()).text
    assert "Zoë &lt;b&gt;" in text
    assert "Zoë <b>" not in text
    assert re.search(r">One\.<br>(<br>)?Two\.</p>", text)


def test_remarks_of_any_number_have_room() -> None:
    session = session_of(BOTH)
    remarks = [f"Remark {n}: something that makes the result less sure" for n in range(80)]
    told = tuple(reason(Code.TOLD, told=remark) for remark in remarks)
    read = pdf(report_of(replace(session, recorded=replace(session.result, remarks=told))))
    assert all(remark in read.text for remark in remarks)
    assert read.pages > 1


@pytest.mark.parametrize("name", ["W" * 200, "مريم الأحمد", "<b>" * 20])
def test_a_name_of_any_length_and_direction_keeps_to_its_place(name: str) -> None:
    read = pdf(report_of(session_of(BOTH), heading=Heading(name=name, tester="A. Meyer")))
    assert read.pages == 1
    assert "A. Meyer" in read.text
    assert max(map(len, read.text.replace("\u200b", " ").split())) < 60


def test_a_word_of_a_language_is_not_broken() -> None:
    word = "Schallempfindungsschwerhörigkeit"
    told = (reason(Code.TOLD, told=" ".join([word] * 9)),)
    session = session_of(BOTH)
    session = replace(session, recorded=replace(session.result, remarks=told))
    read = pdf(report_of(session, "de"))
    assert read.text.split().count(word) == 9


def in_state(found: SessionReport, state: str) -> SessionReport:
    judged = replace(found.source.calibration, state=state)
    return replace(found, source=replace(found.source, calibration=judged))


def test_across_the_audiogram_of_a_calibrated_person_stands_nothing(as_if_real: None) -> None:
    report = in_state(report_of(session_of(BOTH)), CALIBRATED)
    assert [Drawing(ear, report).of_class("watermark") for ear in report.source.ears] == [[], []]


@pytest.mark.parametrize("state", [UNCALIBRATED, OVERDUE, SIMULATED])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_state_of_the_calibration_is_whole_across_an_audiogram(
    language: str, state: str
) -> None:
    report = in_state(report_of(session_of(LEFT_S2), language), state)
    code = "simulated-mark" if state == SIMULATED else f"state-{state.lower()}"
    word = report.shown.say({"code": code})
    mark = Drawing(report.source.ears[0], report).of_class("watermark")[0]
    size_px = float(mark.get("style", "").removeprefix("font-size: ").removesuffix("px"))
    bold = FontProperties(weight="bold")
    box = TextPath((0, 0), word, size=size_px, prop=bold).get_extents()
    reach = math.sin(math.radians(42.0)) * box.height + math.cos(math.radians(42.0)) * box.width

    assert mark.text == word
    assert reach < PAPER_UNITS


@pytest.mark.parametrize(
    ("state", "codes"),
    [
        (CALIBRATED, ("test-doubtful", "test-could-not-be-tested")),
        (UNCALIBRATED, ("state-uncalibrated", "test-could-not-be-tested")),
        (OVERDUE, ("state-overdue", "test-could-not-be-tested")),
    ],
)
def test_across_an_ear_stands_the_greater_doubt_of_its_levels_and_none_where_it_has_none(
    state: str, codes: tuple[str, str]
) -> None:
    found = in_state(report_of(a_session(DIFFERENT)), state)
    said = [watermark(found.source, found.shown, ear) for ear in found.source.ears]
    assert [each.upper() for each in said] == [
        found.shown.say({"code": code}).upper() for code in codes
    ]


def a_font_of_its_own(path: Path, letters: str) -> None:
    """Write a font that has these two letters, drawn as A and B, under the name of the file."""
    font = TTFont(font_manager.findfont("DejaVu Sans"))
    for table in font["cmap"].tables:
        table.cmap = {ord(letter): glyph for letter, glyph in zip(letters, "AB", strict=True)}
    for record in font["name"].names:
        if record.nameID in (1, 4, 6, 16):
            record.string = path.stem
    font.save(path)


def test_a_name_is_on_paper_in_its_own_letters_or_by_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_of(LEFT_S2)
    known = font_manager.fontManager
    only = [entry for entry in known.ttflist if entry.name == "DejaVu Sans"]
    monkeypatch.setattr(known, "ttflist", only)

    def show(name: str) -> str:
        return pdf(report_of(session, heading=Heading(name=name))).text

    names = ("P-17", "Zoë", "Иванов-3")
    together = show("; ".join(names))
    assert [name for name in names if name not in together] == []
    assert "<U+60A3><U+8005>7" in show("患者7")

    a_font_of_its_own(tmp_path / "Boxes.ttf", "患者")
    known.addfont(str(tmp_path / "Boxes.ttf"))
    assert "患者 7" in show("患者7")  # read back with a space where the font changes
