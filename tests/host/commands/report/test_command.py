"""`gp-pta report`: what it writes, prints and refuses, and how it ends."""

import json
import re
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from firmware_py.terms.reasons import Code, reason
from host_tools import extras
from host_tools.catalogue import LANGUAGES
from host_tools.commands.report.history import History
from host_tools.commands.report.page import page_of
from host_tools.main import main
from host_tools.recordings.convention import WORDS
from host_tools.recordings.recorded_session import replay_session
from tests.budget import quick
from tests.host.journals import BOTH, GOLDEN, LEFT_S2, MASKED, Refused, cut, session_of
from tests.host.pdfs import ReadPdf
from tests.host.reports import codes_in, page, report_of, rows_of

MAGIC: Final = {".html": b"<!doctype html>", ".png": b"\x89PNG", ".svg": b"<svg", ".pdf": b"%PDF"}
NAMESPACES: Final = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}

pytestmark = pytest.mark.xdist_group("recorded")  # they read the same sessions, once


def report(*words: str | Path) -> int:
    return main(["report", *map(str, words)])


@pytest.mark.parametrize("ending", quick([".html", ".svg"], ".svg"))
def test_force_overwrites_with_the_same_bytes_every_time(ending: str, tmp_path: Path) -> None:
    out = tmp_path / f"report{ending}"
    assert report(LEFT_S2, "-o", out) == 0
    first = out.read_bytes()
    assert report(LEFT_S2, "-o", out, "--force") == 0

    assert first.startswith(MAGIC[ending])
    assert out.read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("name", quick(["left-ear-s2", "gp-pta-2015"], "gp-pta-2015"))
def test_a_page_is_one_small_file_that_names_nothing_outside(name: str, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert report(GOLDEN / f"{name}.journal", "-o", out) == 0
    text = out.read_text(encoding="utf-8")
    state = "UNCALIBRATED" if name == "left-ear-s2" else "CALIBRATED (simulated board)"
    assert state in text
    assert "A program answered in the place of a listener: nobody was tested." in text

    assert out.stat().st_size < 400_000
    assert set(re.findall(r"https?://[^\"'\s<>]+", text)) <= NAMESPACES
    assert "{{" not in text
    references = re.findall(r"(?:href|src)=\"([^\"]*)\"", text) + re.findall(
        r"url\(([^)]*)\)", text
    )
    assert {reference[0] for reference in references} == {"#"}
    identifiers = re.findall(r"\bid=\"([^\"]+)\"", text.split("<script")[0])
    assert len(identifiers) == len(set(identifiers)) > 10


def test_what_is_told_of_a_person_cannot_become_a_part_of_the_page(tmp_path: Path) -> None:
    history = History()
    session = replay_session(cut(LEFT_S2, tmp_path, 60), history)
    session = replace(
        session,
        recorded=replace(session.result, remarks=(reason(Code.TOLD, told="</script><b>loud</b>"),)),
    )
    text = page_of(report_of(session), history)
    assert "<b>loud</b>" not in text
    assert "&lt;b&gt;loud&lt;/b&gt;" in text
    data = text.split('id="history">')[1].split("</script>")[0]
    assert "<" not in data
    assert len(json.loads(data)["trials"]) == len(session.trials)


@pytest.mark.usefixtures("as_if_calibrated")
def test_the_page_has_the_noise_of_a_masked_session() -> None:
    session = session_of(MASKED)
    table = page(report_of(session)).split('id="presentations"')[1].split("</table>")[0]
    cells = re.findall(r"<td>([^<]*)</td></tr>", table)

    assert '<th scope="col">masking noise, dB</th></tr>' in table
    noise_db_hl = [trial.noise_db_hl for trial in session.trials]
    assert any(noise_db_hl)
    assert cells == ["-" if level is None else f"{level:g}" for level in noise_db_hl]


def test_json_has_the_result_and_its_paper_as_the_device_tells_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert report(LEFT_S2, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)

    assert found == json.loads(json.dumps(report_of(session_of(LEFT_S2)).as_json()))
    assert rows_of(found["paper"], "state-and-why")[0]["state"]["code"] == "state-uncalibrated"
    assert found["result"]["ears"][0]["pta4"] is found["result"]["grade"] is None


@pytest.mark.parametrize("convention", ["50", "clinical"])
def test_the_option_says_which_thresholds_are_told(
    convention: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(BOTH, "--json", "--convention", convention) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["result"]["threshold_convention"] == WORDS[convention]
    (code,) = {each for each in codes_in(found["paper"]) if each.startswith("convention-")}
    assert code.startswith(f"convention-{convention}")


@pytest.mark.parametrize("language", quick(LANGUAGES, "nl"))
def test_text_is_the_paper_in_characters(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = report_of(session_of(BOTH), language)
    options = ("--text", "--language", language)
    assert report(BOTH, *options) == 0
    text = capsys.readouterr().out
    assert report(BOTH, *options, "--details") == 0
    whole = capsys.readouterr().out
    for row in rows_of(found.paper["sections"], "ear-sentence"):
        assert found.shown.say(row) in text
    quality = found.shown.say({"code": "row-response"})
    assert (quality in text, quality in whole) == (False, True)


def test_details_are_on_paper_if_they_are_asked_for(tmp_path: Path) -> None:
    pages = []
    for name, options in (("short", ()), ("long", ("--details",))):
        out = tmp_path / f"{name}.pdf"
        assert report(BOTH, "-o", out, *options) == 0
        pages.append(ReadPdf(out.read_bytes()))
    assert [each.pages for each in pages] == [1, 2]
    assert ["response time" in each.text for each in pages] == [False, True]


@pytest.mark.parametrize(("records", "ending"), [(1, ".pdf"), (60, ".html"), (60, ".png")])
def test_an_unfinished_session_is_reported_as_that(
    records: int, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"report{ending}"
    assert report(cut(LEFT_S2, tmp_path, records), "-o", out) == 3
    assert capsys.readouterr().err == f"{out} written; the session is not finished\n"
    assert out.read_bytes().startswith(MAGIC[ending])
    if ending == ".html":
        assert "UNFINISHED" in out.read_text(encoding="utf-8")


def test_a_damaged_journal_is_reported_up_to_where_it_is_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = cut(LEFT_S2, tmp_path, 200)
    lines = damaged.read_bytes().splitlines(keepends=True)
    lines[120] = lines[120].replace(b'"', b"'", 1)
    damaged.write_bytes(b"".join(lines))

    assert report(damaged, "--json") == 4
    paper = json.loads(capsys.readouterr().out)["paper"]
    assert paper["standing"]["why"]["code"] == "status-unfinished"
    assert {"damaged", "not-finished"} <= {*codes_in(paper)}


def test_a_journal_without_its_end_is_unfinished_and_not_different(tmp_path: Path) -> None:
    """Its result is there, and nothing of it comes out differently: the power failed then."""
    records = len(BOTH.read_bytes().splitlines())
    session = replay_session(cut(BOTH, tmp_path, records - 1))
    assert (session.result.outcome, session.complete, session.differences) == ("complete", False, 0)
    paper = report_of(session).paper
    assert (paper["final"], paper["standing"]["why"]["code"]) == (False, "status-unfinished")


@pytest.mark.usefixtures("as_if_real")
def test_only_a_valid_test_that_came_to_its_own_end_and_comes_out_again_is_final() -> None:
    session = session_of(BOTH)
    assert (report_of(session).paper["final"], session.result.outcome) == (True, "complete")
    aborted, failed = (
        replace(session, recorded=replace(session.result, outcome=outcome))
        for outcome in ("aborted", "failed")
    )
    papers = [report_of(e).paper for e in (aborted, failed, replace(session, differences=1))]
    whys = ["status-aborted", "status-failed", "not-as-recorded"]
    assert [paper["standing"]["why"]["code"] for paper in papers] == whys
    standing = {(paper["standing"]["code"], paper["final"]) for paper in papers}
    assert standing == {("not-final", False)}
    assert "differences-one" in codes_in(papers[-1])


def test_without_matplotlib_it_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal_of: Refused
) -> None:
    monkeypatch.setattr(
        extras, "find_spec", lambda name: None if name == "matplotlib" else find_spec(name)
    )
    assert "[report]'" in refusal_of("report", LEFT_S2, "-o", tmp_path / "r.png")
    assert report(LEFT_S2, "--json") == 0  # numbers need no pictures


def test_a_page_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser draws it: what sets a page of paper may be away."""
    for name in ("matplotlib", "quickjs", "typst"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    out = tmp_path / "session.html"
    assert report(LEFT_S2, "-o", out) == 0
    assert "<script" in out.read_text("utf-8")
