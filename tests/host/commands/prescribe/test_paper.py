"""The paper of a fit, and of a tuned one, as codes and figures that every language says."""

import ast
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from rich.console import Console

import host_tools.commands.prescribe as room
from device.hearing_aid.fit import Fit
from device.hearing_aid.fit_file import fit_digest
from firmware_py.comparisons.result import TuningFinding, TuningResult
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.journal import FORMAT_VERSION, read_journal
from firmware_py.journal.records import encode_line
from firmware_py.paper.blocks import Paper, Table
from firmware_py.platform.version import full_version
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.reasons import Code, reason
from firmware_py.tuning.tuning_record import TuningHeader
from host_tools.catalogue import LANGUAGES, catalogue_of, language_of
from host_tools.commands.prescribe.ear_prescription import (
    EarPrescription,
    fit_of_ears,
    prescribe_session,
)
from host_tools.commands.prescribe.figures import as_json
from host_tools.commands.prescribe.paper import Sheet, settings_of
from host_tools.commands.prescribe.remarks import remark_rows
from host_tools.commands.prescribe.signs import EXPLAINED, WIDE, gain_row, sign_rows, threshold_row
from host_tools.commands.prescribe.tuned import Tuned, tuning_of
from host_tools.devices.tuning import finding_words, show_result
from host_tools.errors import HostError
from host_tools.papers import Shown
from host_tools.recordings.heading import NO_HEADING, Heading
from host_tools.recordings.recorded_session import ReplayedSession, replay_session
from tests.budget import quick
from tests.host.commands.report.test_bone import conductive
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, GpPta, recorded_calibrated, write_again
from tests.host.pdfs import ReadPdf, check_tagged
from tests.host.reports import blocks, check_said, codes_in, rows_in, with_ears
from tests.paper.test_codes import made_codes
from tests.tuning.test_golden_tuning import JOURNAL as GOLDEN_TUNING

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
    bands = as_json([ear], fit_of_ears([ear]))["ears"][0]["bands"]
    assert [band["frequency_hz"] for band in bands if band["wide"]] == [*wide]
    assert [band["mark"] for band in bands] == [t.mark for t in session.result.ears[0].thresholds]
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
    sheets = [sheet_of(session, *way) for session in sessions[:2] for way in ways]
    sheets += [
        sheet_of(session, *way) for session, way in zip(sessions[2:], ways[::2], strict=True)
    ]
    sheets += [sheet_of(conductive(), *way) for way in ways]
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


WISH = TuningResult(
    "complete", TuningFinding.WISH, (3.0, 4.0, 0.0, -1.0), (3.1, 4.2, 0.3, -1.2),
    (1.1, 2.2, -1.3, -2.4), (5.1, 6.2, 2.3, 0.4), 0.5, 17, 3, 0, 0, (),
)  # fmt: skip
NONE = TuningResult(
    "complete", TuningFinding.NONE, (0.0,) * 4, (0.7, 0.8, 0.6, -0.9), (-9.7,) * 4, (9.8,) * 4,
    5.7, 16, 4, 0, 0, (reason(Code.NO_WISH),),
)  # fmt: skip


@cache
def fit_both() -> tuple[list[EarPrescription], Fit]:
    ears = prescribe_session(recorded_calibrated(BOTH), "nal-r", "closed", None)
    return ears, fit_of_ears(ears)


def tuned_sheet(result: TuningResult) -> Sheet:
    session, (ears, fit) = recorded_calibrated(BOTH), fit_both()
    settings = TuningSettings(
        "0" * 12, (*fit.ranges_db().values(),), (*fit.prior_sd_db().values(),)
    )
    header = TuningHeader(7, "2026-01-03T10:00:00+00:00", settings, "openMHA 4", None)
    return Sheet(session, ears, fit, tuned=Tuned(fit, header, result))


def tables_of(told: Paper) -> tuple[Table, Table]:
    """Return the table of the setting, and that of the right ear."""
    setting, gains = (t for s in told["sections"] for t in s["blocks"] if t["block"] == "tables")
    return setting["tables"][0], gains["tables"][0]


@pytest.mark.usefixtures("as_if_real")
@pytest.mark.parametrize("language", quick(LANGUAGES, "nl"))
def test_a_tuned_sheet_has_the_tuned_gains_the_setting_the_finding_and_the_limits(
    language: str, tmp_path: Path
) -> None:
    made, path, said = tuned_sheet(WISH), tmp_path / "tuned_sheet.pdf", language_of(language)
    told = made.paper()
    made.write(path, NO_HEADING, language)
    pdf = ReadPdf(path.read_bytes())
    check_tagged(pdf, language)
    assert (told["final"], told["headline"]["code"]) == (True, "fit-tuned")
    tuned_db, before_db = (
        fit.of_ear("right").gain_of_speech_db() for fit in (made.given, made.fit)
    )
    assert max(abs(tuned_db - before_db)) > 3.0
    setting, gains = tables_of(told)
    names = [name["code"] for name, _ in gains["rows"]]
    assert names == [
        "row-tuned", "prescribed-of", "row-threshold", "most-gain-of", "most-output-of",
        "own-discomfort-of",
    ]  # fmt: skip
    for cell, gain_db in zip(gains["rows"][0][1], tuned_db, strict=True):
        assert [row["level"] for row in rows_in(cell) if "level" in row] == [round(gain_db)]
    assert [cells[0]["change_db"] for _, cells in setting["rows"]] == [*WISH.setting_db]
    rows = [row for _, cells in (*setting["rows"], *gains["rows"]) for row in cells]
    rows += [row for row in rows_in(told) if row["code"] in ("finding-wish", "tuning-preferred")]
    assert all(" ".join(Shown(language).say(row).split()) in pdf.text for row in rows)
    assert said.say(told["title"]) == pdf.title


def test_what_was_not_found_has_no_figure(capsys: pytest.CaptureFixture[str]) -> None:
    told = tuned_sheet(NONE).paper()
    codes = {row["code"] for row in rows_in(told)}
    assert "finding-none" in codes
    for _, cells in tables_of(told)[0]["rows"]:
        assert [each["code"] for each in cells] == ["change", "no-value", "no-value", "band"]
    show_result(Console(highlight=False, width=200), NONE)
    said = capsys.readouterr().out
    assert finding_words(NONE) in said
    assert not any(figure in said for figure in ("10.1", "0.7", "9.8"))
    show_result(Console(highlight=False, width=200), WISH, WISH.wish_db)
    said = capsys.readouterr().out
    assert said.count("+4.2") == 2, "what was wished, and what is true"


def test_of_what_lies_beyond_a_range_its_end_is_said_and_no_figure() -> None:
    ends = (
        reason(Code.RANGE_END, dimension="tilt-db", change_db=6.0),
        reason(Code.RANGE_END, dimension="soft-db", change_db=-2.0),
    )
    result = replace(WISH, setting_db=(3.0, 5.0, 0.0, -1.5), remarks=ends)
    (_, *above), _, (_, *below) = (
        cells[:3] for _, cells in tables_of(tuned_sheet(result).paper())[0]["rows"][1:]
    )
    assert [row["code"] for row in above] == ["wish-end", "band-open-above"]
    assert [row["code"] for row in below] == ["wish-end", "band-open-below"]
    assert [row["change_db"] for row in rows_in(above) if "change_db" in row] == [6.0, 2.2, 6.0]
    assert [row["change_db"] for row in rows_in(below) if "change_db" in row] == [-2.0, -2.0, 0.4]


@pytest.mark.usefixtures("as_if_real")
def test_a_tuning_that_was_ended_is_not_final_and_a_limit_holds_what_was_asked() -> None:
    told = tuned_sheet(replace(WISH, outcome="aborted", setting_db=(12.0, 12.0, 0.0, 0.0))).paper()
    ended = {"code": "tuning-ended", "status": {"code": "status-aborted"}}
    assert told["standing"] == {"code": "not-final", "why": ended}
    codes = {row["code"] for row in rows_in(tables_of(told)[1])}
    assert "held" in codes
    assert "sign-held" in {row["code"] for row in rows_in(told)}


def recorded_tuning(
    journal: Path, identifier: str | None = None, fit: str = "", records: int | None = None
) -> Path:
    """Write the journal of a tuning of the fit above, or of another; so many records of it."""
    header, *others = read_journal(GOLDEN_TUNING).records
    settings = header["settings"] | {"fit": fit or fit_digest(fit_both()[1])}
    changed = {"settings": settings, "identifier": identifier}
    write_again(journal, header | changed, others[:records])
    return journal


@pytest.mark.thorough
def test_a_sheet_is_made_from_the_journal_of_a_real_tuning(tmp_path: Path, gp_pta: GpPta) -> None:
    journal, out = recorded_tuning(tmp_path / "tuning-000001.journal"), tmp_path / "tuned_sheet.svg"
    code, said, told = gp_pta("prescribe", BOTH, "--tuning", journal, "-o", out)
    assert (code, said, told) == (0, "", f"{out} written\n")
    header, result = tuning_of(journal, fit_both()[1])
    ears, fit = fit_both()
    made = Sheet(recorded_calibrated(BOTH), ears, fit, tuned=Tuned(fit, header, result))
    made.write(tmp_path / "again.svg", NO_HEADING, "en")
    assert (tmp_path / "again.svg").read_bytes() == out.read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"identifier": "P-2"}, "identifier 'P-2', not 'P-1': it is of another person"),
        ({"fit": "0" * 64}, "it is of another fit; --rule, --coupling and --ear have to be those"),
        ({"records": 12}, "it is not finished; allowed is one that came to its end"),
    ],
)
def test_a_tuning_that_is_not_of_this_fit_is_refused(
    change: dict[str, Any], words: str, tmp_path: Path
) -> None:
    fit = replace(fit_both()[1], of=replace(fit_both()[1].of, person="P-1"))
    with pytest.raises(HostError) as refusal:
        tuning_of(recorded_tuning(tmp_path / "tuning-000001.journal", **change), fit)
    assert words in str(refusal.value)


def test_another_journal_is_no_tuning() -> None:
    with pytest.raises(HostError, match=r"left-ear-s2\.journal: this is no journal of a tuning"):
        tuning_of(LEFT_S2, fit_both()[1])


def as_of(journal: Path, version: int, firmware: str) -> Path:
    """Have the journal of a tuning be of a format and a version, and its last tone another one."""
    header, *records = read_journal(journal).records
    spoken = next(r for r in records if r.get("action", {}).get("what") == "play-speech")
    spoken["action"]["tilt_db"] += 1.0
    lines, crc = [], ""
    own = {"kind": "header", "journal": version}
    told = {**own, **header, **own, "firmware": firmware}
    for number, record in enumerate([told, *records]):
        line, crc = encode_line(number, number, record, crc)
        lines.append(line)
    journal.write_bytes(b"".join(lines))
    return journal


def test_what_a_tuning_of_another_version_found_stands(tmp_path: Path) -> None:
    """It does not come out in this version, and its record is what was found then."""
    fit = fit_both()[1]
    true = tuning_of(recorded_tuning(tmp_path / "tuning-000001.journal"), fit)[1]
    elsewhere = recorded_tuning(tmp_path / "tuning-000002.journal")
    assert tuning_of(as_of(elsewhere, FORMAT_VERSION, "0.0.9"), fit)[1] == true
    own = recorded_tuning(tmp_path / "tuning-000003.journal")
    with pytest.raises(HostError, match="outputs DIFFER"):
        tuning_of(as_of(own, FORMAT_VERSION, full_version()), fit)
    earlier = recorded_tuning(tmp_path / "tuning-000004.journal")
    header, result = tuning_of(as_of(earlier, 1, "0.1.0"), fit)
    assert (header.recorded_by, result.setting_db) == ("0.1.0 (format 1)", true.setting_db)
