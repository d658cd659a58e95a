"""What a clinic files: a tagged PDF of real text that says who, when, and what was found."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

import pytest
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from matplotlib import font_manager

from firmware_py.calibration.in_force import CalibrationInForce, load_calibration
from firmware_py.procedure.outcomes import Verdict
from firmware_py.procedure.person import Person
from firmware_py.procedure.reasons import Code, reason
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.report.ear_sentence import ear_sentence
from host_tools.commands.report.findings import Findings, findings_of
from host_tools.commands.report.notes import notes_of
from host_tools.commands.report.paper import paper_of
from host_tools.commands.report.words import Words
from host_tools.document import ENDINGS, set_document
from host_tools.main import main
from host_tools.recordings.heading import NO_HEADING, Heading
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.budget import quick, quick_rows
from tests.host.commands.report.test_findings import cut
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, MASKED, go_on_with, session_of
from tests.host.pdfs import ReadPdf, check_tagged

SILENT: Final = GOLDEN / "silent-ear.journal"
EXAMPLE: Final = Path(__file__).parents[4] / "device/calibration/example.toml"
HEADING: Final = Heading(
    name="Maria #strong[Jansen] <b>$x$</b>",
    birth_date=date(1957, 3, 8),
    tester="A. Meyer",
    place="Audiology, room 4",
    comments="Whistling in the left ear.\\n= No heading",
)

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]


def paper(
    session: ReplayedSession,
    heading: Heading = NO_HEADING,
    language: str = "en",
    change: Callable[[Findings], Findings] = lambda found: found,
) -> ReadPdf:
    document = paper_of(change(findings_of(session, language)), session, heading)
    return ReadPdf(set_document(document, ".pdf"))


def test_a_standing_of_many_words_is_below_the_headline_and_breaks_no_word_of_it() -> None:
    session = session_of(BOTH)
    document = replace(paper_of(findings_of(session), session, NO_HEADING), blocks=[])
    why = "right: valid; left: valid; right by bone: could not be tested; left by bone: doubtful"
    beside, below = (
        ReadPdf(set_document(replace(document, standing=standing), ".pdf")).lines
        for standing in ("FINAL", f"NOT FINAL: {why}")
    )
    assert beside[0] == f"{document.headline} FINAL"
    assert below[:2] == [document.headline, f"NOT FINAL: {why}"]


@pytest.mark.parametrize("language", quick(LANGUAGES, "es"))
def test_a_report_is_a_tagged_pdf_with_title_language_and_text(language: str) -> None:
    session = session_of(MASKED)
    pdf = paper(session, HEADING, language)
    found, words = findings_of(session, language), Words(catalogue_of(language))

    check_tagged(pdf, language)
    assert HEADING.name in pdf.title
    assert words.catalogue.date("2026-01-02") in pdf.title
    alternatives = [words.say("audiogram_of", ear=words.ear(ear)) for ear in ("left", "right")]
    assert sorted(pdf.alternatives) == sorted(alternatives)
    assert pdf.pages <= 2
    for ear in found.ears:
        assert ear_sentence(ear, words) in pdf.text
        for threshold in ear.thresholds:
            assert words.threshold(threshold) in pdf.text
    simulated = words.say("simulated_mark")
    standing = words.catalogue.say("record", "not_final", why=simulated)
    assert standing in pdf.text, "nobody was tested"
    for said in [*words.grades(found), *notes_of(found, words)]:
        assert " ".join(said.split()) in " ".join(pdf.text.split())


def test_the_header_says_who_when_where_and_with_what() -> None:
    """Of a test that was gone on with on another day, and each ear by another tone generator."""
    session = replay_session(MASKED)
    content = load_calibration(EXAMPLE).calibration
    assert content is not None
    first, started, *others = session.recovered.records
    event = {**started["event"], "board": f"pico {content.board_serial}"}
    records = go_on_with(
        [first, {**started, "event": event}, *others],
        "2026-01-21T09:00:00+01:00",
        reason(Code.TOLD, told="no such sentence"),
    )
    session = replace(session, recovered=replace(session.recovered, records=records))
    assert session.recorded is not None
    ears = [
        replace(ear, boards=(f"pico {ear.route.ear}",), verdict=Verdict.VALID, reasons=())
        for ear in session.recorded.ears
    ]
    session = replace(session, recorded=replace(session.recorded, ears=ears))
    calibrated = CalibrationInForce("CALIBRATED", content, "2026-01-20")
    header = replace(
        session.header, calibration=calibrated, person=Person(68.0, "F", "P-17"),
        started="2026-01-20T10:00:00+01:00", device="10000000abcdef01",
    )  # fmt: skip
    session = replace(session, header=header)
    made = paper(session, HEADING)
    text = made.text
    assert made.title.endswith(", 20 January 2026 and 21 January 2026")
    assert "asymmetry" not in text, "between ears of different tone generators"

    for said in (
        "Maria #strong[Jansen] <b>$x$</b>", "P-17", "8 March 1957", "68 years, female",
        "20 January 2026, 10:00 UTC+01:00 and 21 January 2026, 09:00 UTC+01:00",
        "20 January 2026, 10:01 UTC+01:00, gone on with 21 January 2026, 09:00 UTC+01:00",
        "no such sentence",
        f"gp-pta {session.header.firmware}, serial number 10000000abcdef01",
        "right: pico right; left: pico left",
        "person: none, each ear was measured with another tone generator",
        "A. Meyer", "Audiology, room 4", "tone generator",
        "TDH39 (supra-aural), left C123456, right C123457",
        "CALIBRATED: 15 January 2026, due 15 January 2027, by A. Meyer",
        "class 1 sound level meter, 2250-1234567, on coupler NBS-9A / IEC 60318-3 (6cc)",
        "air conduction, pure tones", "brisk",
        "automatic, narrow-band masking noise", "Whistling in the left ear.", "= No heading",
        "tester\u2019s signature" if "tester\u2019s" in text else "tester's signature",
    ):  # fmt: skip
        assert said in text, said
    assert "UNCALIBRATED" not in text


def test_the_masking_noise_stands_at_each_frequency() -> None:
    session = session_of(MASKED)
    text = paper(session).text
    noise: dict[float, list[float]] = {}
    for trial in session.trials:
        if (
            trial.noise_db_hl is not None
            and trial.frequency_hz
            and trial.purpose in session.counted
        ):
            noise.setdefault(trial.frequency_hz, []).append(trial.noise_db_hl)
    row = text.split("masking noise, dB")[1]

    assert len(noise) > 5
    for hz in sorted(noise):
        low, high = min(noise[hz]), max(noise[hz])
        shown = f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
        assert shown in row[:200]
        row = row[row.index(shown) + len(shown) :]
    unmasked = paper(session_of(BOTH)).text
    assert "masking noise, dB" not in unmasked
    assert "no masking noise was presented" in unmasked


@pytest.mark.parametrize(
    ("records", "standing"),
    quick_rows([(None, "FINAL"), (90, "NOT FINAL: unfinished")], (90, "NOT FINAL: unfinished")),
)
@pytest.mark.usefixtures("as_if_real")
def test_only_a_finished_test_is_final(records: int | None, standing: str, tmp_path: Path) -> None:
    journal = LEFT_S2 if records is None else cut(LEFT_S2, tmp_path, records)
    text = paper(replay_session(journal)).text
    assert f"Pure-tone audiogram {standing}" in text
    assert ("UNFINISHED" in text) == (records is not None)


def test_a_test_that_came_to_no_end_of_its_own_or_does_not_replay_is_not_final() -> None:
    session = replay_session(LEFT_S2)
    complete = session.result
    for outcome in ("aborted", "failed"):
        session = replace(session, recorded=replace(complete, outcome=outcome))
        document = paper_of(findings_of(session), session, NO_HEADING)
        assert document.standing == f"NOT FINAL: {outcome}"
    session = replace(session, recorded=complete)
    session = replace(session, differences=1)
    document = paper_of(findings_of(session), session, NO_HEADING)
    assert document.standing.startswith("NOT FINAL: NOT AS RECORDED")


@pytest.mark.parametrize(
    "name",
    quick(sorted(path.stem for path in GOLDEN.glob("*.journal")), "clinical"),
)
def test_every_kind_of_session_is_set_on_paper(name: str) -> None:
    pdf = paper(session_of(GOLDEN / f"{name}.journal"))
    check_tagged(pdf, "en")
    state = "UNCALIBRATED" if name == "left-ear-s2" else "CALIBRATED (simulated board)"
    assert state in pdf.text
    assert "SIMULATED" in pdf.text.split()
    assert pdf.pages <= 2


@pytest.mark.parametrize("ending", quick(ENDINGS, ".pdf"))
def test_the_same_session_gives_the_same_bytes(ending: str) -> None:
    session = session_of(LEFT_S2)
    document = paper_of(findings_of(session), session, HEADING)
    assert set_document(document, ending) == set_document(document, ending)


def test_a_heading_goes_on_paper_and_on_the_page(tmp_path: Path) -> None:
    heading, page, pdf = (tmp_path / name for name in ("h.toml", "r.html", "r.pdf"))
    heading.write_text('name = "Zoë <b>"\ncomments = "One.\\n\\nTwo."\n', encoding="utf-8")
    for out in (page, pdf):
        assert main(["report", str(SILENT), "-o", str(out), "--heading", str(heading)]) == 0
    text = page.read_text(encoding="utf-8")

    assert "Zoë <b>" in ReadPdf(pdf.read_bytes()).text
    assert "Zoë &lt;b&gt;" in text
    assert "Zoë <b>" not in text
    assert re.search(r"<p>One\.<br>(<br>)?Two\.</p>", text)


def test_remarks_of_any_number_have_room() -> None:
    session = session_of(BOTH)
    remarks = [f"remark {n}: something that makes the result less sure" for n in range(80)]
    told = tuple(reason(Code.TOLD, told=remark) for remark in remarks)
    pdf = paper(session, change=lambda found: replace(found, remarks=told))
    assert all(remark in pdf.text for remark in remarks)
    assert pdf.pages > 2


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
        return paper(session, Heading(name=name)).text

    names = ("P-17", "Zoë", "Иванов-3")
    together = show("; ".join(names))
    assert [name for name in names if name not in together] == []
    assert "<U+60A3><U+8005>7" in show("患者7")

    a_font_of_its_own(tmp_path / "Boxes.ttf", "患者")
    known.addfont(str(tmp_path / "Boxes.ttf"))
    assert "患者 7" in show("患者7")  # read back with a space where the font changes
