"""What a report says of bone conduction: symbols, gaps, type of loss, remarks."""

import json
import re
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any, Final
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser

from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.ear.ear import EarTest
from firmware_py.findings.air_bone_gap import EarGaps, LossType
from firmware_py.paper.blocks import Paper
from firmware_py.paper.gaps import gap_remarks, loss_rows, missing_rows
from firmware_py.paper.source import Source
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome, Verdict
from firmware_py.terms.results import EarResult, ThresholdResult
from firmware_py.terms.route import BONE, LEFT, RIGHT, Route
from host_tools import drawing_js
from host_tools.commands.report.history import History
from host_tools.commands.report.page import page_of
from host_tools.recordings.recorded_session import ReplayedSession
from tests.calibration.calibrations import MADE
from tests.calibration.test_bone import of_bone
from tests.host.browsers import NEEDS_CHROMIUM
from tests.host.commands.export.sessions import by_bone_of
from tests.host.commands.report.test_picture import SYMBOL_UNITS
from tests.host.journals import BOTH, session_of
from tests.host.reports import (
    blocks,
    cells,
    codes_in,
    facts,
    report_of,
    rows_of,
    tables,
    with_ears,
)  # fmt: skip

pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]

RIGHT_BONE: Final = Route(RIGHT, BONE)
LEFT_BONE: Final = Route(LEFT, BONE)
GAP_DB: Final = 30.0


def beyond(found: ThresholdResult, limit_db_hl: float) -> ThresholdResult:
    return replace(found.without_numbers(Outcome.NO_RESPONSE), limit_db_hl=limit_db_hl)


@cache
def bone_of_both() -> dict[Route, EarTest]:
    """Return tests by bone of which nothing was asked."""
    of = session_of(BOTH)
    return {
        route: EarTest(route, of.settings, of.person, of.calibration.highest_db_hl)
        for route in (RIGHT_BONE, LEFT_BONE)
    }


def with_bone(right: EarResult, left: EarResult) -> ReplayedSession:
    """Return a session of both ears with these results by bone."""
    session = session_of(BOTH)
    state, test = copy(session.state), copy(session.test)
    test.ears, state.test = {**session.test.ears, **bone_of_both()}, test
    return with_ears(replace(session, state=state), (*session.result.ears, right, left))


@cache
def conductive() -> ReplayedSession:
    """Return a session whose right ear has a gap of 30 dB, and the left one none.

    Of the right ear by bone 4 kHz was not heard, 2 kHz was masked, and 500 Hz was not asked.
    """
    by_air = {ear.route.ear: ear for ear in session_of(BOTH).result.ears}
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
    return with_bone(replace(right, thresholds=thresholds), left)


@cache
def paper() -> Paper:
    return report_of(conductive()).paper


def source() -> Source:
    return report_of(conductive()).source


def with_gaps(changed: Source, *gaps: EarGaps) -> Source:
    """Return a source with these gaps."""
    changed.__dict__["gaps"] = [*gaps]  # it is cached there
    return changed


def test_an_ear_has_one_audiogram_with_both_routes() -> None:
    report = report_of(conductive())
    assert [ear.route for ear in report.source.ears] == [
        Route(RIGHT), Route(LEFT), RIGHT_BONE, LEFT_BONE,
    ]  # fmt: skip
    assert [each["route"] for each in blocks(paper(), "audiograms")[0]["of"]] == [RIGHT, LEFT]
    air, bone = report.audiogram(report.source.drawn[0])["ears"]
    assert "transducer" not in air
    assert (bone["ear"], bone["transducer"]) == (RIGHT, BONE)
    assert bone["tones"] == []
    assert {t["frequency_hz"]: t["symbol"] for t in bone["thresholds"]} == {
        250: "none", 500: None, 750: "none", 1000: "none", 1500: "none", 2000: "masked",
        3000: "none", 4000: "none",
    }  # fmt: skip


def test_the_paper_names_the_vibrator_of_a_test_by_bone() -> None:
    calibration = CalibrationOnFile(of_bone()).judge(MADE)
    by_bone, by_air = (
        facts(report_of(replace(each, header=replace(each.header, calibration=calibration))).paper)
        for each in (conductive(), session_of(BOTH))
    )
    told = by_bone["fact-vibrator"]
    assert (told["name"], told["serial"], told["coupler"][:11]) == (
        "Radioear B71", "B-1", "IEC 60318-6",
    )  # fmt: skip
    assert "fact-vibrator" not in by_air


def test_an_ear_by_bone_alone_has_its_own_audiogram() -> None:
    whole = source()
    ears = tuple(ear for ear in whole.result.ears if ear.route != Route(RIGHT))
    alone = replace(whole, result=replace(whole.result, ears=ears))

    assert [ear.route for ear in alone.drawn] == [Route(LEFT), RIGHT_BONE]


def test_bone_stands_beside_the_frequency_without_lines() -> None:
    report = report_of(conductive())
    data, words = report.audiogram(report.source.drawn[0]), report.drawing_words
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


def test_the_type_of_loss_is_said_with_its_gap() -> None:
    right, left = rows_of(paper()["sections"], "gap-mean")

    assert (right["ear"], left["ear"]) == (RIGHT, LEFT)
    assert right["loss"]["code"] in ("loss-conductive", "loss-mixed")
    assert left["loss"]["code"] == "loss-sensorineural"
    gap = right["gap"]
    assert gap["code"] == "gap-inferred"
    assert gap["frequencies_hz"] == [500]
    assert gap["gap"]["level"] == GAP_DB
    assert rows_of(paper()["details"], "gap-rule")[0]["source"].startswith("Mazzoli")
    (due,) = rows_of(paper()["sections"], "gap-examination")
    assert (due["ear"], due["source"]) == (RIGHT, "21 CFR 801.420")


def test_what_is_unsure_of_a_type_of_loss_is_said_to_be_probable() -> None:
    right, left = source().gaps

    def loss(share: float, of: EarGaps) -> list[str]:
        assert of.mean is not None
        unsure = replace(of, mean=replace(of.mean, share=share))
        (told,) = (r for r in loss_rows([unsure.to_record()]) if r["code"] == "gap-mean")
        return codes_in(told["loss"])

    for of, sure, unsure in ((right, 0.96, 0.94), (left, 0.04, 0.3)):
        plain = f"loss-{of.loss}"
        assert loss(unsure, of) == ["loss-probably", plain]
        assert loss(sure, of) == [plain]
    assert loss(0.6, replace(right, loss=LossType.UNKNOWN)) == ["loss-unknown"]


def test_an_ear_without_a_gap_is_told_with_the_reason() -> None:
    """Its bone test is doubtful: it was missing without a word; and a table had no column."""
    *others, left = conductive().result.ears
    doubtful = replace(left, verdict=Verdict.DOUBTFUL)
    report = report_of(with_ears(conductive(), [*others, doubtful]))
    (told,) = rows_of(report.paper, "gap-missing")
    assert (told["ear"], told["why"]["code"]) == ("left-bone", "test-doubtful-why")
    assert tables(report.paper, "gap-details").keys() == {RIGHT}
    none = with_gaps(report.source)
    assert codes_in([*missing_rows(none)]) == codes_in(told)


def test_a_gap_that_cannot_be_is_named() -> None:
    right, _ = source().gaps
    too_large = replace(right.gaps[2], low_db=61.0, db=70.0, inferred_hz=())

    impossible = replace(right, gaps=(too_large,)).to_record()
    (said,) = rows_of([*gap_remarks([impossible])], "gap-impossible")
    assert (said["ear"], said["frequencies_hz"]) == (RIGHT, [750])


def test_a_third_window_is_a_possibility_to_refer_for() -> None:
    """Documents of versions that did not look for it say nothing of it."""
    right, left = (each.to_record() for each in source().gaps)
    assert not rows_of([*gap_remarks([right, left])], "gap-third-window")

    (said,) = gap_remarks([{**left, "third_window": True}])
    assert (said["code"], said["ear"]) == ("gap-third-window", LEFT)
    words = report_of(conductive()).shown.say(said)
    assert words.startswith("Left ear: ")
    assert "may be a third window" in words
    assert words.endswith(": refer")
    del left["third_window"]
    assert not [*gap_remarks([left])]


def test_a_gap_that_is_a_bound_says_so_and_has_no_share() -> None:
    table = tables(paper(), "gap-details")[RIGHT]
    gaps, shares = cells(table, "row-gap"), cells(table, "row-called")
    bands = cells(table, "row-band")
    assert gaps[500]["code"] == bands[500]["code"] == "inferred"
    bounds = [gap.frequencies_hz[0] for gap in source().gaps[0].gaps if gap.bound != Bound.NONE]
    assert bounds
    assert {shares[hz]["code"] for hz in bounds} == {"no-value"}
    assert all(codes_in(gaps[hz])[-1] in ("at-least", "at-most") for hz in bounds)


def test_means_grades_and_norms_are_of_air_alone() -> None:
    assert {row["ear"] for row in rows_of(paper(), "pta4")} == {RIGHT, LEFT}
    assert tables(paper(), "norm").keys() <= {RIGHT, LEFT}


def test_a_page_steps_through_every_route() -> None:
    shown = page_of(report_of(replace(conductive(), trials=[])), History())

    for route in (Route(RIGHT), Route(LEFT)):
        assert f'<svg id="audiogram-{route}">' in shown
    assert "audiogram-right-bone" not in shown
    told = re.search(r'id="history">(.*?)</script>', shown, re.DOTALL)
    assert told is not None
    history = json.loads(told[1])
    assert history["ears"] == ["right", "left", "right-bone", "left-bone"]
    assert history["of_route"].keys() == {"right-bone", "left-bone"}
    assert max(history["of_route"]["right-bone"]["grid_hz"]) == 4000.0
    assert history["words"]["ear-right-bone"] == "right ear by bone"


@NEEDS_CHROMIUM
def test_a_browser_draws_all_panels_without_an_error(browser: Browser) -> None:
    opened = browser.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.set_content(page_of(report_of(replace(conductive(), trials=[])), History()))

    assert errors == []
    assert opened.locator("#panels figure").count() == 4
    assert opened.locator("#audiogram-right .threshold").count() > 10
    opened.close()
