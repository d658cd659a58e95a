"""What a report says of bone conduction: symbols, gaps, type of loss, remarks."""

import html
import json
import re
from dataclasses import replace
from functools import cache
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser

from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.findings.air_bone_gap import TYPE_SOURCE, EarGaps, LossType
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.outcomes import MaskingMark, Outcome, SessionOutcome, Verdict
from firmware_py.procedure.results import EarResult, ThresholdResult
from firmware_py.procedure.route import BONE, LEFT, RIGHT, Route
from host_tools import drawing_js
from host_tools.catalogue import LANGUAGES, catalogue_of
from host_tools.commands.report.drawn import audiogram_as_json
from host_tools.commands.report.ear_sentence import ear_sentence
from host_tools.commands.report.findings import Findings, findings_of
from host_tools.commands.report.history import History
from host_tools.commands.report.legend import legend_of
from host_tools.commands.report.page import page_of
from host_tools.commands.report.paper import paper_of
from host_tools.commands.report.words import Words
from host_tools.document import set_document
from host_tools.recordings.heading import NO_HEADING
from host_tools.recordings.particulars import Particulars
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.budget import quick
from tests.calibration.calibrations import MADE
from tests.calibration.test_bone import of_bone
from tests.host.browsers import NEEDS_CHROMIUM
from tests.host.commands.export.sessions import by_bone_of
from tests.host.commands.report.test_picture import SYMBOL_UNITS
from tests.host.journals import BOTH
from tests.host.pdfs import ReadPdf, check_tagged

pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]

RIGHT_BONE: Final = Route(RIGHT, BONE)
LEFT_BONE: Final = Route(LEFT, BONE)
GAP_DB: Final = 30.0


def beyond(found: ThresholdResult, limit_db_hl: float) -> ThresholdResult:
    return replace(found.without_numbers(Outcome.NO_RESPONSE), limit_db_hl=limit_db_hl)


def with_bone(session: ReplayedSession, right: EarResult, left: EarResult) -> ReplayedSession:
    """Return a session with these results by bone; nothing was asked of their tests."""
    assert session.recorded is not None
    ears = dict(session.test.ears)
    calibration = session.calibration
    for route in (RIGHT_BONE, LEFT_BONE):
        ears[route] = EarTest(route, session.settings, session.person, calibration.highest_db_hl)
    session.test.ears = ears
    session = replace(
        session, recorded=replace(session.recorded, ears=(*session.recorded.ears, right, left))
    )
    return session


@cache
def conductive() -> ReplayedSession:
    """Return a session whose right ear has a gap of 30 dB, and the left one none.

    Of the right ear by bone 4 kHz was not heard, 2 kHz was masked, and 500 Hz was not asked.
    """
    session = replay_session(BOTH)
    assert session.recorded is not None
    by_air = {ear.route.ear: ear for ear in session.recorded.ears}
    right, left = by_bone_of(by_air[RIGHT], GAP_DB), by_bone_of(by_air[LEFT], 0.0)
    changes: dict[int, Any] = {
        500: lambda t: replace(t, mark=Outcome.INFERRED, masking=None, limit_db_hl=None),
        4000: lambda t: beyond(t, 80.0),
    }
    measured = (
        replace(
            t,
            mark=Outcome.MEASURED,
            limit_db_hl=None,
            masking=MaskingMark.MASKED if t.frequency_hz == 2000 else MaskingMark.NOT_MASKED,
        )
        for t in right.thresholds
    )
    thresholds = tuple(changes.get(t.frequency_hz, replace)(t) for t in measured)
    return with_bone(session, replace(right, thresholds=thresholds), left)


@pytest.fixture
def findings() -> Findings:
    return findings_of(conductive())


def test_an_ear_has_one_audiogram_with_both_routes(findings: Findings) -> None:
    assert [ear.route for ear in findings.ears] == [
        Route(RIGHT), Route(LEFT), RIGHT_BONE, LEFT_BONE,
    ]  # fmt: skip
    assert [ear.route for ear in findings.drawn] == [Route(RIGHT), Route(LEFT)]
    data = audiogram_as_json(findings.drawn[0], findings, conductive())
    air, bone = data["ears"]
    assert "transducer" not in air
    assert (bone["ear"], bone["transducer"]) == (RIGHT, BONE)
    assert bone["tones"] == []
    assert {t["frequency_hz"]: t["symbol"] for t in bone["thresholds"]} == {
        250: "none", 500: None, 750: "none", 1000: "none", 1500: "none", 2000: "masked",
        3000: "none", 4000: "none",
    }  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_paper_names_the_vibrator_of_a_test_by_bone(language: str) -> None:
    catalogue = catalogue_of(language)
    calibration = CalibrationOnFile(of_bone()).judge(MADE)
    by_bone, by_air = conductive.__wrapped__(), replay_session(BOTH)
    by_bone, by_air = (
        replace(each, header=replace(each.header, calibration=calibration))
        for each in (by_bone, by_air)
    )
    facts = dict(Particulars(by_bone, NO_HEADING, catalogue).facts())
    name = catalogue.say("record", "vibrator")
    for said in ("Radioear B71, B-1", "IEC 60318-6", "mastoi"):
        assert said in facts[name].replace("Mastoi", "mastoi").replace("mastoï", "mastoi")
    assert name not in dict(Particulars(by_air, NO_HEADING, catalogue).facts())


def test_an_ear_by_bone_alone_has_its_own_audiogram(findings: Findings) -> None:
    alone = replace(findings, ears=[ear for ear in findings.ears if ear.route != Route(RIGHT)])

    assert [ear.route for ear in alone.drawn] == [Route(LEFT), RIGHT_BONE]


def test_bone_stands_beside_the_frequency_without_lines(findings: Findings) -> None:
    data = audiogram_as_json(findings.drawn[0], findings, conductive())
    words = drawing_js.paper_words(Words.of(findings).catalogue, nominal=False)
    air_alone = {**data, "ears": data["ears"][:1]}
    svg, without = (
        ElementTree.fromstring(drawing_js.svg_for_paper(each, words)) for each in (data, air_alone)
    )

    def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
        return [each for each in root.iter() if name in each.get("class", "").split()]

    for name in ("join", "band", "tone"):
        assert len(of_class(svg, name)) == len(of_class(without, name)) > 0, name
    groups = of_class(svg, "thresholds")
    assert [group.get("class") for group in groups] == ["thresholds right", "thresholds right"]
    marks = {int(e.get("data-frequency-hz", "")): e for e in of_class(groups[1], "threshold")}
    assert sorted(marks) == [250, 750, 1000, 1500, 2000, 3000, 4000], "inferred has no symbol"
    for hz, mark in marks.items():
        path = next(e for e in mark if e.get("class") == "symbol").get("d", "")
        across = [float(x) for x in re.findall(r"-?[\d.]+", path)[::2]]
        assert max(across) <= -1.2 * SYMBOL_UNITS + 0.1, "on the side of the right ear"
        assert path.count("L") == (3 if hz == 2000 else 2), "[ and <"
    arrow = [e for e in marks[4000] if e.get("class") == "symbol"][1]
    assert "translate(-" in arrow.get("transform", "")
    bars = [e for e in groups[1] if e.get("class") == "edge"]
    assert len(bars) == 6, "the band of each that was measured"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_type_of_loss_is_said_with_its_gap(language: str) -> None:
    found = findings_of(conductive(), language)
    words = Words(catalogue_of(language))
    right, left = found.gaps

    assert (right.ear, left.ear) == (RIGHT, LEFT)
    assert right.loss in (LossType.CONDUCTIVE, LossType.MIXED)
    assert left.loss == LossType.SENSORINEURAL
    said = words.losses(found)
    assert len(said) == 3
    assert words.say(f"loss_{right.loss}") in said[0]
    assert words.say("loss_sensorineural") in said[1]
    assert f" {words.number(GAP_DB)} dB" in said[0]
    assert "500 Hz" in said[0], "partly inferred"
    assert "Mazzoli" in said[2]
    remarks = words.remarks(found)
    assert sum("21 CFR 801.420" in each for each in remarks) == 1
    assert any(
        each.startswith(words.ear(RIGHT)[:1].upper()) for each in remarks if "801.420" in each
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_unsure_of_a_type_of_loss_is_said_to_be_probable(language: str) -> None:
    found, words = findings_of(conductive(), language), Words(catalogue_of(language))
    right, left = found.gaps
    assert right.mean is not None
    assert left.mean is not None

    def loss_words(share: float, of: EarGaps) -> str:
        assert of.mean is not None
        unsure = replace(of, mean=replace(of.mean, share=share))
        return words.losses(replace(found, gaps=[unsure]))[0]

    for of, sure, unsure in ((right, 0.96, 0.94), (left, 0.04, 0.3)):
        plain = words.say(f"loss_{of.loss}")
        probable = words.say("loss_probably", loss=plain)
        assert probable in loss_words(unsure, of)
        assert plain in loss_words(sure, of)
        assert probable not in loss_words(sure, of)
    unknown = replace(right, loss=LossType.UNKNOWN)
    assert words.say("loss_probably", loss="") not in loss_words(0.6, unknown)


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_ear_without_a_gap_is_told_with_the_reason(language: str) -> None:
    """Its bone test is doubtful: it was missing without a word; and a table had no column."""
    found, words = findings_of(conductive(), language), Words(catalogue_of(language))
    doubtful = [
        replace(ear, verdict=Verdict.DOUBTFUL) if ear.route == LEFT_BONE else ear
        for ear in found.ears
    ]
    right = replace(found.gaps[0], gaps=(), mean=None, loss=LossType.UNKNOWN)
    none = replace(found, ears=doubtful, gaps=[right])
    name = words.ear(LEFT_BONE)
    why = words.say("gap_missing", ear=name[:1].upper() + name[1:], why=_doubtful_why(language))

    assert words.losses(none)[1:] == [why, words.say("gap_rule", source=TYPE_SOURCE)]
    assert words.losses(replace(none, gaps=[])) == [why]
    assert words.losses(replace(none, gaps=[], nominal=True)) == []
    page = page_of(none, replace(conductive(), trials=[]), History())
    assert html.escape(why) in page
    assert words.say("column_gap") not in page
    assert words.say("column_gap") in page_of(found, replace(conductive(), trials=[]), History())
    if language == "en":
        assert words.say("column_gap") not in json.dumps(
            [*paper_of(none, conductive(), NO_HEADING).blocks]
        )


def _doubtful_why(language: str) -> str:
    return catalogue_of(language).say("verdict", "doubtful_why")


def test_a_gap_that_cannot_be_is_named(findings: Findings) -> None:
    too_large = replace(findings.gaps[0].gaps[2], low_db=61.0, db=70.0, inferred_hz=())
    gaps = [replace(findings.gaps[0], gaps=(too_large,)), findings.gaps[1]]

    (said,) = (e for e in Words.of(findings).remarks(replace(findings, gaps=gaps)) if "60 dB" in e)
    assert said.startswith("Right ear: an air-bone gap above 60 dB at 750 Hz")


def test_means_grades_and_norms_are_of_air_alone(findings: Findings) -> None:
    lines = Words.of(findings).grades(findings)

    assert not any("bone" in line for line in lines)
    assert all(t.norm_db_hl is None for ear in findings.ears[2:] for t in ear.thresholds)


def test_the_legend_draws_the_symbols_of_bone(findings: Findings) -> None:
    said = [text for _, text in legend_of(findings)]

    assert "threshold right by bone" in said
    assert "threshold right by bone, left masked" in said
    assert "95 % band by bone" in said


@pytest.mark.parametrize("language", quick(LANGUAGES, "de"))
def test_paper_has_rows_and_gaps_of_bone(language: str) -> None:
    found, words = findings_of(conductive(), language), Words(catalogue_of(language))
    document = paper_of(found, conductive(), NO_HEADING)
    pdf = ReadPdf(set_document(document, ".pdf"))

    check_tagged(pdf, language)
    text = without_breaks(pdf.text)
    assert len(pdf.alternatives) == 2
    for ear in found.ears:
        assert without_breaks(ear_sentence(ear, words)) in text
    for line in (*words.losses(found), words.say("column_gap")):
        assert without_breaks(line) in text


def without_breaks(text: str) -> str:
    """Return a text without spaces and hyphens: a long word may be broken on paper."""
    return re.sub(r"[-\s]", "", text)


def test_a_page_has_a_table_a_route_and_the_gaps(findings: Findings) -> None:
    page = page_of(findings, replace(conductive(), trials=[]), History())

    for route in (Route(RIGHT), Route(LEFT)):
        assert f'<svg id="audiogram-{route}">' in page
    assert "audiogram-right-bone" not in page
    assert ">right ear by bone</caption>" in page
    assert "<h3>Air-bone gap and type of loss</h3>" in page
    told = re.search(r'id="history">(.*?)</script>', page, re.DOTALL)
    assert told is not None
    history = json.loads(told[1])
    assert history["ears"] == ["right", "left", "right-bone", "left-bone"]
    assert history["of_route"].keys() == {"right-bone", "left-bone"}
    assert max(history["of_route"]["right-bone"]["grid_hz"]) == 4000.0
    assert history["words"]["right-bone_ear"] == "right ear by bone"


@NEEDS_CHROMIUM
def test_a_browser_draws_all_panels_without_an_error(findings: Findings, browser: Browser) -> None:
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(page_of(findings, replace(conductive(), trials=[]), History()))

    assert errors == []
    assert page.locator("#panels figure").count() == 4
    assert page.locator("#audiogram-right .threshold").count() > 10
    page.close()


def test_json_has_the_gaps_only_with_bone(findings: Findings) -> None:
    told = json.loads(json.dumps(findings.as_json()))

    assert [each["ear"] for each in told["gaps"]] == [RIGHT, LEFT]
    assert "gaps" not in findings_of(replay_session(BOTH)).as_json()
    assert findings.status == SessionOutcome.COMPLETE
