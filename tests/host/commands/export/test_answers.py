"""`export --answers` has every answer as a replay has it: by month, whole or not at all."""

import csv
import errno
import io
import json
import os
import re
import weakref
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from firmware_py.journal import read_journal
from firmware_py.sessions.session_course import RESUMED
from host_tools.commands.export import by_month, long_table
from host_tools.commands.export.answer_rows import ANSWERS as TABLE
from host_tools.commands.export.answer_rows import COLUMNS
from host_tools.commands.export.document_session import DocumentSession, Sessions
from host_tools.commands.export.journals import Journals
from host_tools.recordings.answers import ANSWERS, Answers, findings_of
from host_tools.recordings.index import looked_at
from host_tools.terminal import show_progress
from tests.host.commands.export.sessions import SILENT
from tests.host.journals import (
    GOLDEN,
    LEFT_S2,
    MASKED,
    GpPta,
    Refused,
    rewrite,
    session_of,
    write_again,
)
from tests.test_pages import ROOT

pytestmark = pytest.mark.usefixtures("cache")
BUTTONS: Final = GOLDEN / "two-buttons.journal"
DISTURBED: Final = GOLDEN / "disturbed.journal"
KEPT: Final = dict[bytes, dict[str, Any]]()
BEFORE: Final = b"of an export before"


def rows_in(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.ParquetFile(path).read().to_pylist()
    return rows


def files_in(place: Path) -> list[str]:
    return sorted(str(each.relative_to(place)) for each in place.rglob("*") if each.is_file())


def record_on(path: Path, started: str, **header: Any) -> Path:
    """Write a short session as if it had begun at another time; its answers are the same."""
    first, *records = read_journal(SILENT).records
    calibration = {**first["calibration"], "judged_on": started[:10]}
    write_again(path, {**first, "started": started, "calibration": calibration, **header}, records)
    return path


@pytest.fixture(autouse=True)
def replay_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a journal replayed once, however often and from wherever it is exported."""
    monkeypatch.setattr("host_tools.commands.export.journals.findings_of", once)


def once(path: Path) -> dict[str, Any]:
    found = KEPT.get(content := path.read_bytes())
    return KEPT.setdefault(content, found or findings_of(path))


def answers_of(path: Path) -> Answers:
    return Answers.from_record(once(path)[ANSWERS])


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return a directory with sessions of three months, and of a clock that was never set."""
    place = tmp_path / "journals"
    place.mkdir()
    days = ("2026-12-01T00:30:00+01:00", "2016-03-01T08:00:00+00:00", "2026-11-30T23:59:00+00:00",
            "2026-12-24T08:00:00+00:00", "2026-11-01T08:00:00+00:00")  # fmt: skip
    for number, started in enumerate(days, 1):
        record_on(place / f"session-{number:06d}.journal", started, session=number)
    return place


# What stands in a row


def test_a_row_has_what_the_replay_has_of_an_answer(tmp_path: Path, gp_pta: GpPta) -> None:
    out = tmp_path / "answers.parquet"
    journals = (MASKED, BUTTONS, LEFT_S2)
    assert gp_pta("export", *journals, "--answers", "-o", out) == (0, "", "")
    rows = iter(rows_in(out))
    for path in journals:
        session = session_of(path)
        verdicts = {ear.route: ear.verdict for ear in session.result.ears}
        for trial, row in zip(session.trials, rows, strict=False):
            names = ("number", "purpose", "frequency_hz", "level_db_hl", "noise_db_hl", "heard",
                     "response_ms", "at_us")  # fmt: skip
            assert {name: row[name] for name in names} == {n: getattr(trial, n) for n in names}
            assert (row["journal"], row["ear"]) == (path.name, str(trial.route))
            assert (row["side"], row["conduction"]) == (trial.route.ear, "air")
            assert row["verdict"] == verdicts[trial.route]
            assert row["level_unit"] == ("nominal dB" if path == LEFT_S2 else "dB HL")
            assert (row["calibration"], row["simulated"]) == (session.calibration.state, True)
    assert next(rows, None) is None
    found = rows_in(out)
    assert {row["heard"] for row in found} == {True, False, None}
    assert any(row["noise_db_hl"] for row in found)
    tones = sum(ear.tones for ear in session_of(BUTTONS).result.ears)
    assert sum(row["journal"] == BUTTONS.name for row in found) == tones


def spelt(value: int | str | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def test_csv_has_the_rows_of_parquet(tmp_path: Path, gp_pta: GpPta) -> None:
    out = tmp_path / "answers.parquet"
    words = (BUTTONS, GOLDEN / "clinical.journal", "--answers")
    assert gp_pta("export", *words, "-o", out)[0] == 0
    _, text, _ = gp_pta("export", *words, "--format", "csv", "--decimal", "comma")
    told = list(csv.DictReader(io.StringIO(text), delimiter=";"))
    assert [*told[0]] == [*COLUMNS]
    for row, whole in zip(told, rows_in(out), strict=True):
        for name, value in whole.items():
            if isinstance(value, float):
                assert float(row[name].replace(",", ".")) == pytest.approx(value, abs=0.051)
            else:
                assert row[name] == spelt(value)
    assert {row["frequency_hz"] for row in told if row["purpose"] == "catch"} == {""}


def test_an_answer_has_the_clock_of_the_run_that_took_it(tmp_path: Path) -> None:
    """The session was broken off and gone on with on another day, and its clock set only then."""
    header, *records = read_journal(DISTURBED).records
    inputs = [record for record in records if record["kind"] == "input"]
    (place,) = (place for place, each in enumerate(inputs) if RESUMED in each)
    inputs[place][RESUMED] = "2026-01-05T10:00:00+00:00"
    left_us = inputs[place - 1]["at_us"]
    path = tmp_path / "session-000001.journal"
    write_again(path, header, records)
    first, *_, last = answers_of(path).each
    assert first.answered == clock("2026-01-02T03:04:05+00:00", first.at_us)
    assert last.answered == clock("2026-01-05T10:00:00+00:00", last.at_us - left_us)

    record_on(path.with_name("unset.journal"), "2016-01-02T03:04:05+00:00")
    unset = answers_of(path.with_name("unset.journal"))
    assert {answer.answered for answer in unset.each} == {None}


def clock(since: str, us: int) -> str:
    told = datetime.fromisoformat(since) + timedelta(microseconds=us)
    return told.isoformat(timespec="milliseconds")


@pytest.mark.parametrize("path", [MASKED, BUTTONS, SILENT], ids=lambda path: path.stem)
def test_answers_come_back_from_json_as_they_were(path: Path) -> None:
    answers = answers_of(path)
    assert len(answers.each) > 30
    assert Answers.from_record(json.loads(json.dumps(answers.to_record()))) == answers
    assert Answers.from_record(Answers().to_record()) == Answers()


def test_the_page_has_every_column_and_its_kind() -> None:
    page = (ROOT / "host_tools/commands/export/README.md").read_text("utf-8")
    table = page.partition("| column | kind | meaning |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([\w ]+) \| (.+) \|$", table, re.MULTILINE)
    assert {name: kind for name, kind, _ in rows} == COLUMNS
    assert [name for name, _, _ in rows] == [*COLUMNS]


# Where it goes


def test_parquet_goes_by_month(archive: Path, tmp_path: Path, gp_pta: GpPta) -> None:
    out, whole = tmp_path / "answers", tmp_path / "answers.parquet"
    assert gp_pta("export", archive, "--answers", "-o", out) == (0, "", "")
    assert gp_pta("export", archive, "--answers", "-o", whole) == (0, "", "")
    months = {"month=2026-11": [3, 5], "month=2026-12": [1, 4], "month=unknown": [2]}
    assert files_in(out) == [f"{month}/answers.parquet" for month in months]
    of_all = rows_in(whole)
    assert [*dict.fromkeys(row["session"] for row in of_all)] == [1, 2, 3, 4, 5]
    for month, numbers in months.items():
        wanted = [row for number in numbers for row in of_all if row["session"] == number]
        assert rows_in(out / month / "answers.parquet") == wanted
    assert out.stat().st_mode & 0o077 == 0, "it tells of persons"

    listed = tmp_path / "listed"
    code, _, err = gp_pta("sessions", archive, "--answers", "--export", listed)
    assert (code, err.splitlines()[0]) == (0, f"{listed}: 5 sessions")
    for name in files_in(out):
        assert (listed / name).read_bytes() == (out / name).read_bytes()


def test_a_month_is_written_to_its_end_before_the_next(archive: Path, tmp_path: Path) -> None:
    done: list[str] = []
    seen: list[weakref.ref[DocumentSession]] = []

    def encode(sessions: Sessions) -> Iterator[bytes]:
        done.append("begun")
        for session in sessions:
            seen.append(weakref.ref(session))
            assert sum(ref() is not None for ref in seen) <= 2, "those before it are let go"
            done.append(session.record["started"][:7])
            yield b"."
        done.append("ended")

    journals = Journals(sorted(archive.iterdir()), False, None)
    journals.order_by(lambda about: by_month.month_of(about.started))
    by_month.write_by_month(journals.sessions, encode, tmp_path / "out")
    months = ("2026-11", "2026-11"), ("2026-12", "2026-12"), ("2016-03",)
    assert done == [word for of in months for word in ("begun", *of, "ended")]


def test_force_replaces_what_is_ours_and_nothing_else(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    out = tmp_path / "answers"
    for name in ("month=2020-01/answers.parquet", "month=2026-11/answers.parquet", "notes.txt",
                 "month=2020-02/answers.parquet", "month=2020-02/mine.parquet"):  # fmt: skip
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(BEFORE)
    code, _, err = gp_pta("export", archive, "--answers", "-o", out)
    assert (code, err) == (
        2, f"gp-pta: -o {str(out)!r} is there already; it is not overwritten without --force\n",
    )  # fmt: skip
    assert (out / "month=2026-11/answers.parquet").read_bytes() == BEFORE
    assert gp_pta("export", archive, "--answers", "-o", out, "--force") == (0, "", "")
    assert files_in(out) == [
        "month=2020-02/mine.parquet", "month=2026-11/answers.parquet",
        "month=2026-12/answers.parquet", "month=unknown/answers.parquet", "notes.txt",
    ]  # fmt: skip
    assert not (out / "month=2020-01").exists()
    assert (out / "notes.txt").read_bytes() == BEFORE
    assert len(rows_in(out / "month=2026-11/answers.parquet")) > 50


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
                                   KeyboardInterrupt()], ids=["full", "interrupted"])  # fmt: skip
def test_what_cannot_be_written_whole_changes_nothing(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool,
    error: BaseException,
) -> None:  # fmt: skip
    out = tmp_path / "answers"
    if there:
        (out / "month=2026-11").mkdir(parents=True)
        (out / "month=2026-11/answers.parquet").write_bytes(BEFORE)
    left = tmp_path / "answers.part/month=2020-01"  # of a process that was killed
    left.mkdir(parents=True)
    (left / "answers.parquet").write_bytes(b"half a file")

    def until_it_ends(sessions: Sessions) -> Iterator[bytes]:
        for session in sessions:
            yield b"PAR1"
            if session.record["started"] > "2026-12":
                raise error

    journals = Journals(sorted(archive.iterdir()), False, None)
    journals.order_by(lambda about: by_month.month_of(about.started))
    with pytest.raises((Exception, KeyboardInterrupt)) as raised:
        by_month.write_by_month(journals.sessions, until_it_ends, out)
    if isinstance(error, OSError):
        assert str(raised.value) == f"{out} cannot be written: No space left on device"
    assert [path.name for path in tmp_path.glob("answers*")] == (["answers"] if there else [])
    if there:
        assert (out / "month=2026-11/answers.parquet").read_bytes() == BEFORE
        assert len(files_in(out)) == 1


def test_a_directory_of_somebody_else_is_not_removed_for_its_name(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    mine = tmp_path / "answers.part" / "mine.txt"
    mine.parent.mkdir()
    mine.write_bytes(BEFORE)
    code, _, err = gp_pta("export", archive, "--answers", "-o", tmp_path / "answers")
    assert (code, mine.read_bytes()) == (2, BEFORE)
    assert "answers cannot be written: " in err


# What is left out


def test_what_has_no_single_answers_is_left_out_and_named(tmp_path: Path, gp_pta: GpPta) -> None:
    place = tmp_path / "journals"
    place.mkdir()
    good = place / "session-000001.journal"
    good.write_bytes(SILENT.read_bytes())
    changed = place / "session-000002.journal"
    changed.write_bytes(BUTTONS.read_bytes())
    rewrite(changed, {"level_db_hl": 7.0})
    other = place / "session-000003.journal"
    header, *records = read_journal(BUTTONS).records
    write_again(other, {**header, "settings": {**header["settings"], "seed": 2}}, records)
    unfinished = place / "session-000004.journal"
    unfinished.write_bytes(LEFT_S2.read_bytes()[:20_000])
    damaged = place / "session-000005.journal"
    damaged.write_bytes(SILENT.read_bytes()[:9_000] + b"x" + SILENT.read_bytes()[9_000:])
    saved = tmp_path / "saved.json"
    assert gp_pta("export", SILENT, "-o", saved)[0] == 0
    why = {
        changed: "does not replay to what it records (",
        other: "single answers come of a replay; it was recorded by 0.2.0.dev0",
        unfinished: "it was not finished, so it has no result; --unfinished exports what is known",
        damaged: "line ",
        saved: "no document of sessions has answers: journals do",
    }
    out = tmp_path / "answers.parquet"
    code, _, err = gp_pta("export", place, saved, "--answers", "-o", out)
    assert code == 1
    assert {row["journal"] for row in rows_in(out)} == {good.name}
    assert len(err.splitlines()) == len(why)
    for path, words in why.items():
        (line,) = (each for each in err.splitlines() if each.startswith(f"left out: {path}: "))
        assert words in line

    code, said, err = gp_pta("export", other, "--answers", "-o", tmp_path / "answers")
    assert (code, said) == (2, "")
    assert err.startswith(f"gp-pta: {other}: single answers come of a replay")
    assert not [*tmp_path.glob("answers*.part"), *tmp_path.glob("answers/*")]


def test_an_unfinished_session_has_its_answers_so_far_and_is_marked(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    half, out = tmp_path / "session-000002.journal", tmp_path / "answers.parquet"
    half.write_bytes(LEFT_S2.read_bytes()[:20_000])
    assert gp_pta("export", half, "--answers", "--unfinished", "-o", out) == (0, "", "")
    rows = rows_in(out)
    known = [trial.number for trial in session_of(LEFT_S2).trials]
    assert [row["number"] for row in rows] == known[: len(rows)]
    assert 5 < len(rows) < len(known)
    assert {row["outcome"] for row in rows} == {"unfinished"}


def test_answers_are_told_from_the_index_without_another_replay(
    archive: Path, tmp_path: Path, gp_pta: GpPta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether an export, a list or `--people` had them found."""
    outs = [tmp_path / f"{number}.parquet" for number in range(3)]
    gp_pta("sessions", archive, "--people")
    with monkeypatch.context() as without:
        without.setattr("host_tools.commands.export.journals.findings_of", None)
        assert gp_pta("export", archive, "--answers", "-o", outs[0])[0] == 0
        assert gp_pta("sessions", archive, "--answers", "--export", outs[1])[0] == 0
    assert gp_pta("export", archive, "--answers", "--no-index", "-o", outs[2])[0] == 0
    assert outs[0].read_bytes() == outs[1].read_bytes() == outs[2].read_bytes()


def test_a_file_without_an_ending_does_not_become_a_directory(
    tmp_path: Path, refusal_of: Refused
) -> None:
    (tmp_path / "there").write_text("mine")
    why = refusal_of("export", SILENT, "--answers", "-o", tmp_path / "there", "--force")
    assert "is there already; it is not overwritten, for it is no directory" in why
    assert (tmp_path / "there").read_text() == "mine"


def test_a_copy_counts_once(archive: Path, tmp_path: Path, gp_pta: GpPta) -> None:
    (archive / "renamed.journal").write_bytes((archive / "session-000001.journal").read_bytes())
    out = tmp_path / "answers.parquet"
    code, _, err = gp_pta("export", archive, "--answers", "-o", out)
    assert (code, err.count("is a copy of")) == (0, 1)
    digests = {row["journal_sha256"] for row in rows_in(out)}
    assert len(digests) == 5


def test_groups_of_rows_are_whole_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_table, "GROUP_ROWS", 40)
    with looked_at((), show_progress) as index:
        sessions = Journals([SILENT, BUTTONS], False, None, index).sessions
        content = b"".join(TABLE.as_parquet(sessions))
    assert pq.ParquetFile(io.BytesIO(content)).num_row_groups == 2
