"""The paper of a fit as codes and figures, and that every language has a sentence for each."""

import ast
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import host_tools.commands.prescribe as room
from firmware_py.terms.outcomes import MaskingMark
from host_tools.catalogue import LANGUAGES, catalogue_of, language_of
from host_tools.commands.prescribe.ear_prescription import (
    EarPrescription,
    fit_of_ears,
    prescribe_session,
)
from host_tools.commands.prescribe.paper import Sheet, settings_of
from host_tools.commands.prescribe.remarks import remark_rows
from host_tools.commands.prescribe.signs import EXPLAINED, WIDE, gain_row, sign_rows, threshold_row
from host_tools.recordings.heading import Heading
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.budget import quick
from tests.host.commands.report.test_bone import conductive
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, recorded_calibrated
from tests.host.pdfs import ReadPdf, check_tagged
from tests.host.reports import blocks, check_said, codes_in, rows_in, with_ears
from tests.paper.test_codes import made_codes

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once

SIGNED: Final = {*EXPLAINED, WIDE}


def sheet_of(session: ReplayedSession, rule: str = "nal-r", coupling: str = "open") -> Sheet:
    ears = prescribe_session(session, rule, coupling)
    return Sheet(session, ears, fit_of_ears(ears))


@pytest.mark.parametrize("name", quick(["both-ears-n3", "left-ear-s2", "disturbed", "masked"],
                                       "disturbed", "masked"))  # fmt: skip
def test_each_sign_in_a_table_is_explained_below_it(name: str) -> None:
    told = sheet_of(recorded_calibrated(GOLDEN / f"{name}.journal")).paper()
    (tables,), (legend,) = blocks(told, "tables"), blocks(told, "legend")
    cells = [cell for table in tables["tables"] for _, row in table["rows"] for cell in row]
    stand = SIGNED.intersection(codes_in(cells))
    assert stand
    assert {row["code"] for _, row in legend["entries"]} == {f"sign-{code}" for code in stand}


def where(ear: EarPrescription, sign: str) -> list[int]:
    """Return at which frequencies a sign stands at the gain."""
    return [f for k, f in enumerate(ear.frequencies_hz) if sign in codes_in(gain_row(ear, k))]


def test_a_sign_stands_where_it_has_to(deaf_ear: Path) -> None:
    (ear,) = sheet_of(recorded_calibrated(LEFT_S2), "nal-rp").ears
    (found,) = ear.source.session.result.ears if ear.source.session else ()
    inferred = [t.frequency_hz for t in found.thresholds if t.mark == "inferred"]
    assert where(ear, "unpublished") == [8000]
    assert where(ear, "inferred") == inferred
    assert inferred
    at = ear.frequencies_hz.index(inferred[0])
    assert threshold_row(ear, at)["code"] == "inferred"
    assert not where(ear, "wide")

    held = [2000, 3000, 4000, 6000, 8000]
    (ear,) = sheet_of(recorded_calibrated(LEFT_S2)).ears
    told = {row["code"]: row for row in remark_rows([ear], fit_of_ears([ear]))}
    assert where(ear, "held") == held
    assert told["held-feedback-open"]["by_ear"][0]["frequencies_hz"] == held
    assert [told["output-spread"][name] for name in ("ears", "low", "high")] == [579, 8, 15]

    session = recorded_calibrated(GOLDEN / "disturbed.journal")  # it hit its cap
    (ear,) = sheet_of(session).ears
    wide = {
        t.frequency_hz: round(t.half_width_db or 0.0, 1)
        for t in session.result.ears[0].thresholds
        if t.mark == "measured" and t.is_wider_than(session.settings.stop_half_width_db)
    }
    (*_, row) = sign_rows([ear])
    assert where(ear, "wide") == [*wide]
    assert 0 < len(wide) < len(ear.marks)
    places = row["by_ear"][0]["places"]
    assert {each["frequency_hz"]: each["half_width_db"] for each in places} == wide

    (ear,) = sheet_of(replay_session(deaf_ear), "half-gain", "closed").ears
    at = ear.frequencies_hz.index(1000)
    assert threshold_row(ear, at) == {"code": "level-above", "level": 100}
    assert gain_row(ear, at) == {"code": "held", "value": {"code": "at-least", "level": 48}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_explains_a_sign_begins_with_it(language: str) -> None:
    sentences = language_of(language).sentences
    for code in SIGNED:
        sign = re.sub(r"\{\w+\}|\s", "", sentences[code])
        assert sentences[f"sign-{code}"].replace(" ", "").startswith(f"{sign}:"), code


@cache
def everything_said() -> list[Any]:
    """Return papers, settings and remarks of sessions and of a table that differ in what is so."""
    sessions = [recorded_calibrated(GOLDEN / f"{name}.journal")
                for name in ("both-ears-n3", "left-ear-s2", "disturbed", "masked")]  # fmt: skip
    ways = (("nal-r", "closed"), ("camfit", "open"), ("half-gain", "closed"))
    sheets = [sheet_of(session, *way) for session in [*sessions, conductive()] for way in ways]
    return [
        (each.paper(), settings_of(each.ears, each.fit, each.fit), remark_rows(each.ears, each.fit))
        for each in sheets
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_row_is_said_in_every_language(language: str) -> None:
    check_said(everything_said(), language)


def test_no_sentence_is_left_over() -> None:
    patterns = {*made_codes()}
    for path in sorted(Path(room.__file__).parent.glob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        values = [node.value for node in nodes if isinstance(node, ast.Constant)]
        patterns |= {f"^{re.escape(each)}$" for each in values if isinstance(each, str)}
    patterns |= {"^held-.*$", "^output-.*$", "^sign-.*$"}
    made = re.compile("|".join(patterns))
    assert [c for c in catalogue_of("en").tables["prescription"] if not made.match(c)] == []


def test_what_the_other_ear_may_have_heard_is_the_least_gain_and_says_so() -> None:
    session = replace(replay_session(LEFT_S2), header=recorded_calibrated(LEFT_S2).header)
    (found,) = session.result.ears
    thresholds = tuple(
        replace(t, masking=MaskingMark.UNCERTAIN) if t.mark == "measured" else t
        for t in found.thresholds
    )
    judged = with_ears(session, [replace(found, thresholds=thresholds)])
    (ear,) = prescribe_session(judged, "nal-r", "closed", "left")
    assert "sign-doubtful" in codes_in(remark_rows([ear], fit_of_ears([ear])))
    for k, found_there in enumerate(thresholds):
        starred = found_there.mark == "measured"
        for told in (gain_row(ear, k), threshold_row(ear, k)):
            assert ("doubtful" in codes_in(told)) == starred


@pytest.mark.usefixtures("as_if_real")
@pytest.mark.parametrize("language", quick(LANGUAGES, "de"))
def test_a_prescription_is_filed_under_the_header_of_its_test(
    language: str, tmp_path: Path
) -> None:
    sheet, path = sheet_of(recorded_calibrated(BOTH), coupling="closed"), tmp_path / "fit.pdf"
    sheet.write(path, Heading(name="Zoë #b", tester="A. Meyer"), language)
    pdf, said, told = ReadPdf(path.read_bytes()), language_of(language), sheet.paper()

    check_tagged(pdf, language)
    assert pdf.pages == 1
    assert pdf.title == said.say({**told["title"], "person": "Zoë #b"})
    assert (told["title"]["code"], told["headline"]["code"]) == ("fit-of", "fit-gains")
    assert told["final"]
    assert "Zoë #b" in pdf.text
    assert "A. Meyer" in pdf.text
    assert {"fact-device", "fact-tested", "fit-rule"} <= {*codes_in(blocks(told, "facts"))}
    whom = next(each for each in told["sections"] if each["name"] == "for-whom")
    assert [row["code"] for row in whom["blocks"][0]["rows"]] == ["whom", "whom", "fit-verify"]
    for block in (*blocks(told, "rows"), *blocks(told, "tables"), *blocks(told, "legend")):
        for row in (each for each in rows_in(block) if each["code"] != "fit-where"):
            assert " ".join(said.say(row).split()) in pdf.text, row
