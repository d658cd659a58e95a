"""What the verdict on a test does not allow, nobody says: every export, page, paper and list.

What each form of an export has to keep is in `commands/export/promises.py`; here, what one of them
has for it.
"""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from device.audiogram_tables.fhir import METHOD
from firmware_py.findings import norms as age_norms
from firmware_py.findings.norms import AgeNorm
from firmware_py.journal import read_journal
from firmware_py.paper.head import short_verdict
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.archive import recorded_result
from firmware_py.terms import reasons
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, BONE, Route
from firmware_py.terms.words import say
from host_tools.catalogue import LANGUAGES, language_of
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.schema import schema_text
from host_tools.commands.prescribe.ear_prescription import fit_of_ears, prescribe_session
from host_tools.commands.prescribe.paper import Sheet
from host_tools.commands.prescribe.remarks import remark_rows
from host_tools.commands.prescribe.source import NothingToPrescribeError
from host_tools.commands.replay.what_if import Comparison, Supposition
from host_tools.commands.report.history import History
from host_tools.commands.report.page import page_of
from host_tools.commands.sessions.change import EarPosterior
from host_tools.commands.sessions.people import Person, Visit, found_of
from host_tools.commands.sessions.people_page import people_page
from host_tools.commands.sessions.people_paper import history, summary
from host_tools.errors import HostError
from host_tools.recordings.look import entry_of
from host_tools.recordings.recorded_session import Trial, replay_session
from tests.host.commands.export.sessions import as_fhir, as_json, as_nhanes_csv, as_parquet
from tests.host.commands.export.test_bundle import resources_of
from tests.host.journals import BOTH, GpPta, write_again
from tests.host.judged import (
    AWAY,
    DIFFERENT,
    HALF,
    NOBODY,
    SILENT,
    Verdicts,
    a_session,
    judge,
    write_judged,
)
from tests.host.renderers import RENDERERS, Shown
from tests.host.reports import blocks, codes_in, report_of, rows_of, sentence, tables

EARS: Final = ("right", "left")
LEVELS: Final = ("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl", "limit_db_hl")

# They read the same sessions, once.
pytestmark = [pytest.mark.xdist_group("recorded"), pytest.mark.usefixtures("as_if_calibrated")]


def examine(tmp_path: Path, verdicts: Verdicts) -> Examination:
    path = tmp_path / "session-000001.journal"
    write_judged(path, verdicts)
    return read_examination(path)


# Exports


def test_csv_has_888_and_not_666_of_an_ear_that_could_not_be_tested(tmp_path: Path) -> None:
    (row,) = csv.DictReader(io.StringIO(as_nhanes_csv([examine(tmp_path, DIFFERENT)]).decode()))
    left = [row[f"AUXU{name}L"] for name in ("1K1", "500", "2K", "4K", "8K")]
    assert left == ["888"] * 5
    assert row["verdict"] == row["verdict_left"] == row["outcome_left"] == "could-not-be-tested"
    assert row["reasons_left"] == say((SILENT, AWAY))
    assert (row["inferred_left"], row["confirmed_left"]) == ("", "")
    assert (row["verdict_right"], row["reasons_right"]) == ("doubtful", say(AWAY))
    assert 0.0 < float(row["AUXU1K1R"]) < 100.0, "what is doubtful is told"
    (row,) = csv.DictReader(io.StringIO(as_nhanes_csv([examine(tmp_path, NOBODY)]).decode()))
    cells = [value for name, value in row.items() if name.startswith("AUXU")]
    assert cells == ["888"] * (2 * len(AUDIOGRAM_FREQUENCIES_HZ))


def test_json_has_verdict_and_reasons_and_fits_its_schema(tmp_path: Path) -> None:
    document = json.loads(as_json([examine(tmp_path, DIFFERENT)]))
    jsonschema.Draft202012Validator(json.loads(schema_text())).validate(document)
    (session,) = document["sessions"]
    ears = {ear["ear"]: ear for ear in session["ears"]}
    assert session["verdict"] == "could-not-be-tested"
    assert [ears[e]["verdict"] for e in EARS] == ["doubtful", "could-not-be-tested"]
    report = report_of(a_session(DIFFERENT)).as_json()["result"]
    told = reasons.as_json([[AWAY], [SILENT, AWAY]])
    by_ear = {ear["ear"]: ear["reasons"] for ear in report["ears"]}
    assert [ears[e]["reasons"] for e in EARS] == [by_ear[e] for e in EARS] == told
    assert [ears[e]["pta4"] for e in EARS] == [None, None]
    for found in ears["left"]["thresholds"]:
        assert {found[name] for name in (*LEVELS, "inferred")} == {None}
    assert all(t["threshold_db_hl"] or t["inferred"] for t in ears["right"]["thresholds"])


def test_parquet_has_them_in_every_row(tmp_path: Path) -> None:
    content = pa.BufferReader(as_parquet([examine(tmp_path, DIFFERENT)]))
    for row in pq.read_table(content).to_pylist():
        verdict, reasons = DIFFERENT[row["ear"]]
        assert (row["verdict"], row["reasons"]) == (verdict, [*map(say, reasons)])
        assert row["pta4_db_hl"] is None
        assert (row["threshold_db_hl"] is None) or row["ear"] == "right"


@pytest.mark.usefixtures("as_if_real")
def test_fhir_is_final_only_of_a_valid_test(tmp_path: Path) -> None:
    status: dict[str, set[str]] = {}
    *found, panel = resources_of(examine(tmp_path, HALF))[1:]
    for each in found:
        ear = "left" if "left" in each["code"]["text"] else "right"
        if each["method"]["text"] == METHOD:  # what is inferred is preliminary in any case
            status.setdefault(ear, set()).add(each["status"])
    assert status == {"right": {"final"}, "left": {"cancelled"}}
    assert panel["status"] == "preliminary"
    assert panel["note"][1:3] == [
        {"text": "right ear: valid"},
        {"text": f"left ear: could not be tested: {say(SILENT)}"},
    ]


def test_fhir_has_no_value_of_an_ear_that_could_not_be_tested(tmp_path: Path) -> None:
    from fhir.resources.R4B.bundle import Bundle  # half a second

    Bundle.model_validate_json(as_fhir([examine(tmp_path, DIFFERENT)]))
    for each in resources_of(examine(tmp_path, DIFFERENT))[1:-1]:
        notes = [note["text"] for note in each["note"]]
        if "left" in each["code"]["text"]:
            assert not {"valueQuantity", "component", "interpretation"} & each.keys()
            assert each["dataAbsentReason"]["coding"][0]["code"] == "error"
            assert notes[0] == f"could not be tested: {say((SILENT, AWAY))}"
        else:
            assert each["status"] == "preliminary"
            assert f"doubtful: {say(AWAY)}" in notes
    *_, panel = resources_of(examine(tmp_path, NOBODY))
    assert (panel["status"], "dataAbsentReason" in panel) == ("cancelled", True)


# Every page, paper, screen and answer


def show(directory: Path, verdicts: Verdicts, by_db: float = 0.0) -> Shown:
    """Return a session with these verdicts, all that it found so much higher."""
    header, *records = read_journal(BOTH).records
    (result,) = (r["action"]["result"] for r in records if "result" in r.get("action", {}))
    for found in (found for ear in result["ears"] for found in ear["thresholds"]):
        for name in ("threshold_db_hl", "low_db_hl", "high_db_hl"):
            found[name] = found[name] and found[name] + by_db
    directory.mkdir()
    higher, judged = directory / "higher.journal", directory / "session-000001.journal"
    write_again(higher, header, records)
    write_judged(judged, verdicts, higher)
    recorded = judge(recorded_result(higher).result, verdicts)
    return Shown(replace(a_session(verdicts), recorded=recorded), judged)


@pytest.mark.parametrize("name", RENDERERS)
def test_whatever_shows_a_session_says_its_verdicts(tmp_path: Path, name: str) -> None:
    text = RENDERERS[name](show(tmp_path / "told", DIFFERENT))
    words = text.lower().replace("-", " ")
    assert {word for word in ("doubtful", "could not be tested") if word not in words} == set()
    if not text.startswith(("{", "session ")):  # neither data nor an audiogram of a few lines
        reasons = (say(each).lower() for each in (AWAY, SILENT))
        assert {why for why in reasons if why not in text.lower()} == set()


@pytest.mark.parametrize("name", RENDERERS)
def test_what_an_ear_that_could_not_be_tested_has_recorded_shows_nowhere(
    tmp_path: Path, name: str
) -> None:
    for verdicts, shows in ((NOBODY, False), (dict.fromkeys(EARS, (Verdict.VALID, [])), True)):
        directory = tmp_path / f"{shows}"
        directory.mkdir()
        texts = {
            RENDERERS[name](show(directory / f"{by_db}", verdicts, by_db)) for by_db in (0.0, 7.0)
        }
        assert len(texts) == 1 + shows


# Reports


@pytest.fixture
def norms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it that a man of 65 was tested."""
    monkeypatch.setattr(age_norms, "norm_of", lambda _: AgeNorm(65, "M"))


@pytest.mark.parametrize(
    ("verdicts", "numbers"),
    [(DIFFERENT, {"right"}), (NOBODY, set())],
    ids=["they differ", "nobody"],
)
@pytest.mark.usefixtures("norms")
def test_a_report_draws_no_conclusion_without_a_valid_test(
    verdicts: Verdicts, numbers: set[str]
) -> None:
    paper = report_of(a_session(verdicts)).paper
    told = codes_in(paper)
    follows = ("asymmetry", "grade-", "pta4", "person-", "gap", "row-usual")
    assert {*filter(lambda code: code.startswith(follows), told)} == {"pta4-none", "pta4-and-grade"}
    assert rows_of(paper, "no-norm")[0]["why"]["code"] == "no-valid-test"
    for row in rows_of(paper, "pta4-none"):
        assert re.match("test-(doubtful|could-not-be-tested)-why", row["why"]["code"])
    assert tables(paper, "thresholds").keys() == numbers
    assert tables(paper, "norm") == {}


@pytest.mark.usefixtures("norms")
def test_one_valid_ear_keeps_all_that_is_said_of_it_alone() -> None:
    paper = report_of(a_session(HALF)).paper
    assert [row["ear"] for row in rows_of(paper, "pta4")] == ["right"]
    assert [row["ear"] for row in rows_of(paper, "pta4-none")] == ["left"]
    assert tables(paper, "norm").keys() == {"right"}
    assert "person-one-ear" in codes_in(paper)


def test_the_paper_has_the_verdicts_at_its_head_and_is_not_final() -> None:
    report = report_of(a_session(DIFFERENT))
    paper = report.paper
    right, left = blocks(paper, "alarm")[:2]
    assert paper["sections"][0]["blocks"] == [right, left]
    assert (right["calm"], left["calm"], paper["final"]) == (False, False, False)
    told = rows_of(paper["standing"], "of-ear-short")
    assert [row["of"]["code"] for row in told] == ["test-doubtful", "test-could-not-be-tested"]
    assert codes_in(right["headline"]) == ["verdict-ear-not", "test-doubtful"]
    assert [row["of"] for row in rows_of(right["rows"], "sentence")] == [AWAY.to_record()]
    assert codes_in(left["headline"]) == ["verdict-ear-not", "test-could-not-be-tested"]
    assert [row["of"]["code"] for row in rows_of(left["rows"], "sentence")] == [
        SILENT.code.word, AWAY.code.word,
    ]  # fmt: skip
    assert tables(paper, "thresholds").keys() == {"right"}
    drawings = report.on_paper().drawings
    assert 'class="threshold"' in drawings["right"]
    assert not re.search('class="(threshold|edge|band|tone|confirmed)\\b', drawings["left"])
    assert codes_in(sentence(paper, "right"))[:2] == ["ear-sentence", "test-doubtful"]
    assert codes_in(sentence(paper, "left")) == [
        "ear-sentence", "test-could-not-be-tested", SILENT.code.word, AWAY.code.word,
    ]  # fmt: skip


@pytest.mark.usefixtures("as_if_real")
def test_the_paper_of_a_valid_test_is_final_and_says_so_once() -> None:
    paper = report_of(a_session(dict.fromkeys(EARS, (Verdict.VALID, [])))).paper
    assert (paper["standing"], paper["final"]) == ({"code": "final"}, True)
    (first, *_) = blocks(paper, "alarm")
    assert (codes_in(first["headline"]), first["rows"]) == (["verdict", "test-valid"], [])
    assert first["calm"]


class FewSteps(History):
    """What was known of each ear once: to draw all that was takes its time."""

    def __call__(self, test: HearingTest, trial: Trial) -> None:
        seen = [place for (ear, *_), place in self._seen.items() if ear == trial.route]
        if seen:
            self.after.append(seen[0])
        else:
            super().__call__(test, trial)


def test_the_page_steps_through_tones_alone() -> None:
    session = a_session(DIFFERENT)
    history = FewSteps()
    replay_session(BOTH, history)
    page = page_of(report_of(session), history)
    told = json.loads(page.split('id="history">')[1].split("</script>", maxsplit=1)[0])
    for trial in told["trials"]:
        assert (told["snapshots"][trial["after"]] is None) == (trial["ear"] == "left")
    assert told["snapshots"][told["first"]["left"]] is None
    (left,) = [each["data"]["ears"][0] for each in told["audiograms"] if each["ear"] == "left"]
    assert {each["level_db_hl"] for each in left["thresholds"]} == {None}
    assert left["curve"]["low_db_hl"] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_ear_is_torn_in_two_where_several_verdicts_are_said(language: str) -> None:
    right, left = report_of(a_session(DIFFERENT)).source.ears
    told = short_verdict([right, left, replace(left, route=Route("left", BONE))])
    short = language_of(language).say(told)
    assert short.count(",") == 0 < short.count(";")


# Prescriptions, changes, other models


@pytest.mark.parametrize(
    ("verdict", "words"),
    [(Verdict.DOUBTFUL, "doubtful"), (Verdict.NOT_TESTED, "could not be tested"),
     (Verdict.NOT_JUDGED, "not judged")],
)  # fmt: skip
def test_nothing_is_prescribed_without_a_valid_test(verdict: Verdict, words: str) -> None:
    session = a_session({"right": (Verdict.VALID, []), "left": (verdict, [SILENT])})
    why = f"left ear: {words}: {say(SILENT)}; so nothing is prescribed"
    with pytest.raises(NothingToPrescribeError, match=re.escape(why)):
        prescribe_session(session, "nal-r", "closed", "left")
    (ear,) = prescribe_session(session, "nal-r", "closed")
    assert ear.ear == "right"
    told = remark_rows([ear], fit_of_ears([ear]))
    assert {"code": "not-prescribed", "ear": "left", "why": {"code": f"test-{verdict}-why"}} in told
    assert SILENT.to_record() in told


def test_an_ear_is_compared_only_if_its_test_was_valid() -> None:
    session = a_session(HALF)
    posteriors = {
        ear: EarPosterior.of(found, session.thresholds_of(found))
        for ear, found in session.result.by_route.items()
    }
    assert posteriors[Route("right")] is not None
    assert posteriors[Route("left")] is None


def test_a_prescription_for_the_other_ear_begins_with_the_verdicts() -> None:
    session = a_session(HALF)
    ears = prescribe_session(session, "nal-r", "closed")
    fit = fit_of_ears(ears)
    told = Sheet(session, ears, fit).paper()
    assert (told["standing"]["code"], told["final"]) == ("not-final", False)
    heads = {each["headline"]["ear"]: each["headline"] for each in told["sections"][0]["blocks"]}
    verdicts = {ear: (head["code"], head["verdict"]["code"]) for ear, head in heads.items()}
    assert verdicts["left"] == ("verdict-ear-not", "test-could-not-be-tested")
    assert verdicts["right"] == ("verdict-ear", "test-valid")


def test_a_page_of_people_shows_what_is_doubtful_faintly_and_names_it(tmp_path: Path) -> None:
    path = tmp_path / "session-000001.journal"
    write_judged(path, DIFFERENT)
    entry = entry_of(path)
    visit = Visit.of(entry, found_of(entry, a_session(DIFFERENT)))
    person = Person("P-17", (visit, visit))
    assert (visit.posteriors, person.comparisons()) == ({}, [])
    page = people_page([(person, [])], "en")
    charts = re.findall(r'<g class="(right|left)">(.*?)</g></svg>', page, re.DOTALL)
    assert [*{ear for ear, drawn in charts if 'class="symbol"' in drawn}] == ["right"]
    assert 'class="doubtful"' in page
    assert 'class="way"' not in page, "nothing joins what is doubtful"
    right, left = history(1, person, [], nominal=False)["blocks"][-1]["tables"]
    codes = ("test-doubtful", "test-could-not-be-tested")
    for table, code in zip((right, left), codes, strict=True):
        names = [name for name, _ in table["rows"][::3]]
        assert [name["verdict"]["code"] for name in names] == [code] * 2
    assert {each["code"] for _, cells in left["rows"] for each in cells} == {"no-value"}
    visits = summary(1, person, [])["blocks"][-2]["rows"]
    assert [[ear["of"]["code"] for ear in each["by_ear"]] for each in visits] == [[*codes]] * 2


def test_another_model_says_nothing_of_an_ear_that_could_not_be_tested() -> None:
    compared = Comparison.of(a_session(HALF), Supposition(response_noise_db=4.0))
    assert [each.route.ear for each in compared.ears] == ["right"]
    with pytest.raises(HostError, match="of an ear that could be tested"):
        Comparison.of(a_session(NOBODY), Supposition(response_noise_db=4.0))


# Lists and screens


def test_lists_have_the_verdict_and_no_mean_without_a_valid_test(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    for number, verdicts in enumerate((HALF, NOBODY), 1):
        write_judged(tmp_path / f"session-{number:06d}.journal", verdicts)
    _, out, _ = gp_pta("sessions", tmp_path, "--no-index")
    half, nobody = out.splitlines()[1:]
    assert re.search(r"right ear: valid; left ear: could not be tested +\(?\d+\)? +- ", half)
    assert re.search(r"complete +could not be tested +- +- ", nobody)
