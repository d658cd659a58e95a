"""Of many journals what can be written is written, one after the other, and the rest is named."""

import io
import json
import re
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from firmware_py.journal import read_journal
from firmware_py.terms.route import ROUTES
from host_tools.commands.export import long_table
from host_tools.commands.export.document_session import DocumentSession, Sessions, document
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.journals import Journals
from tests.host.commands.export import sessions
from tests.host.commands.export.promises import FORMS
from tests.host.commands.export.sessions import JOURNALS, SILENT
from tests.host.journals import (
    BOTH,
    GOLDEN,
    LEFT_S2,
    GpPta,
    journal,
    write_again,
    write_journals,
    write_nonsense,
)

pytestmark = pytest.mark.usefixtures("cache")
GOOD: Final = BOTH.read_bytes()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    directory = tmp_path / "journals"
    directory.mkdir()
    return directory


def paths_in(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


def journals_in(out: Path) -> list[str]:
    return [each["journal"] for each in json.loads(out.read_text())["sessions"]]


# What is written


def test_json_of_many_has_the_bytes_of_one_document() -> None:
    examinations = [sessions.session_with_marks(), *map(read_examination, JOURNALS)]
    whole = {
        "format": "gp-pta sessions 1",
        "sessions": [examination.as_json() for examination in examinations],
    }
    assert sessions.as_json(examinations) == _dump(whole)


def test_fhir_of_many_has_the_bytes_of_one_document_and_each_resource_once() -> None:
    examinations = [sessions.session_with_marks(), *map(read_examination, JOURNALS)]
    content = sessions.as_fhir(examinations)
    bundle = json.loads(content)
    names = [entry["fullUrl"] for entry in bundle["entry"]]

    assert content == _dump(bundle) == sessions.as_fhir(examinations)
    assert len(names) == len(set(names)) > 150
    alone = [e for of in examinations for e in json.loads(sessions.as_fhir([of]))["entry"]]
    assert {entry["fullUrl"]: entry for entry in alone} == {
        e["fullUrl"]: e for e in bundle["entry"]
    }


@pytest.mark.parametrize("items", [[], [1], [{"a": ["\n", "]"], "b": {}}, [], "ä\u2028"]])
def test_a_document_of_anything_has_the_bytes_of_one_dump(items: list[Any]) -> None:
    head = {"one": ["]"], "two": {"three": None}}
    assert b"".join(document(head, "list", items)) == _dump({**head, "list": items})


def _dump(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


@pytest.mark.parametrize("encode", [sessions.as_csv, sessions.as_nhanes_csv])
def test_a_table_of_many_has_the_rows_of_each(encode: Callable[..., bytes]) -> None:
    by_air = [read_examination(path) for path in JOURNALS if path.stem != "bone"]
    names, *rows = encode(by_air).splitlines(keepends=True)
    assert [names, *rows] == [names, *(encode([each]).splitlines(True)[1] for each in by_air)]


def test_row_groups_of_parquet_are_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    examinations = [*map(read_examination, JOURNALS)]
    one = pq.ParquetFile(io.BytesIO(sessions.as_parquet(examinations)))
    monkeypatch.setattr(long_table, "GROUP_ROWS", 40)
    many = pq.ParquetFile(io.BytesIO(sessions.as_parquet(examinations)))

    assert one.num_row_groups == 1 < many.num_row_groups
    assert many.read().equals(one.read())


# What it costs


@pytest.mark.parametrize("name", sorted(FORMS.keys() - {"gdt"}))  # which has one person in a file
def test_sessions_are_let_go_when_they_are_written(
    archive: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_table, "GROUP_ROWS", 30)
    write_journals(archive, 12)
    seen: list[weakref.ref[DocumentSession]] = []
    alive: list[int] = []

    def watch(each: Sessions) -> Iterator[DocumentSession]:
        for session in each:
            seen.append(weakref.ref(session))
            alive.append(sum(ref() is not None for ref in seen))
            yield session

    journals = Journals(paths_in(archive), False, None)
    exported = journals.sessions
    largest = 0
    for part in FORMS[name].encode(Sessions(watch(exported), exported.routes)):
        largest = max(largest, len(part))

    assert len(seen) == journals.written == 12
    assert max(alive) <= 2, "one that was written, and one that was read after it"
    of_one = len(b"".join(FORMS[name].encode(Journals([BOTH], False, None).sessions)))
    assert largest <= 2 * of_one


def test_a_journal_is_read_whole_only_once(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_journals(archive, 4)
    read = note_reading(monkeypatch)
    journals = Journals(paths_in(archive), False, None)
    assert read == []
    assert [*journals.sessions]
    assert read == paths_in(archive)


def note_reading(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the journals that are read whole from now on, in order."""
    from host_tools.commands.export import journals as module

    read: list[Path] = []

    def read_and_note(path: Path, *how: Any) -> Examination:
        read.append(path)
        return read_examination(path, *how)

    monkeypatch.setattr(module, "read_examination", read_and_note)
    return read


def test_of_those_by_bone_one_is_read_ahead_and_with_it_the_columns_are_known(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = (BOTH, GOLDEN / "bone.journal", GOLDEN / "bone.journal")
    for number, path in enumerate(golden, 1):
        _of_device(archive / f"session-{number:06d}.journal", path, f"box-{number}")
    read = note_reading(monkeypatch)
    journals = Journals(paths_in(archive), False, None)
    one, two, three = paths_in(archive)
    assert read == [two]
    assert journals.sessions.routes == {*ROUTES}
    assert [len(each.routes) for each in journals.sessions] == [2, 4, 4]
    assert read == [two, one, two, three]


def _of_device(path: Path, golden: Path, device: str) -> None:
    """Write a golden session as another device would have recorded it, at the same time."""
    header, *records = read_journal(golden).records
    about = {"device": device, "session": 1, "started": "2026-01-02T08:00:00+00:00"}
    write_again(path, {**header, **about}, records)


# What is left out


def write_bad(directory: Path) -> dict[Path, str]:
    """Write one of each that cannot be exported; return what is said of it."""
    damaged = bytearray(GOOD)
    damaged[20_000] ^= 4
    contents = {
        "damaged": (bytes(damaged), "line "),
        "empty": (b"", "is empty"),
        "letter": (b"Dear sirs,\n", "is no journal"),
        "newer": (re.sub(rb'"journal": \d+', b'"journal": 99', GOOD, count=1), "version 99"),
        "unfinished": (journal("both-ears-n3", 77)[:30_000], "it was not finished"),
    }
    record = {}
    for name, (content, words) in contents.items():
        path = directory / f"{name}.journal"
        path.write_bytes(content)
        record[path] = words
    (directory / "nowhere.journal").symlink_to(directory / "none")
    record[directory / "nowhere.journal"] = "No such file"
    nonsense = directory / "nonsense.journal"
    record[nonsense] = write_nonsense(nonsense, "a mark")
    return record


def test_both_commands_write_the_good_ones_and_name_the_others_alike(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    bad = write_bad(archive)
    for path in (BOTH, SILENT):
        (archive / path.name).write_bytes(path.read_bytes())
    said = {}
    for command in (("export", archive, "-o"), ("sessions", archive, "--export")):
        out = tmp_path / f"{command[0]}.json"
        code, record, err = gp_pta(*command, out)
        assert (code, record) == (1, "")
        assert journals_in(out) == [BOTH.name, SILENT.name]
        said[command[0]] = [line for line in err.splitlines() if line.startswith("left out: ")]
    assert said["export"] == said["sessions"]
    assert len(said["export"]) == len(bad)
    for path, words in bad.items():
        (line,) = (line for line in said["export"] if f"left out: {path}: " in line)
        assert words in line


def test_a_journal_that_is_not_there_keeps_no_other_from_being_written(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    none, out = tmp_path / "session-000009.journal", tmp_path / "out.json"
    code, _, err = gp_pta("export", none, BOTH, "-o", out)
    assert (code, journals_in(out)) == (1, [BOTH.name])
    assert err == f"left out: {none}: cannot be opened: No such file or directory (ENOENT)\n"
    code, record, err = gp_pta("export", none, "--format", "csv")
    assert (code, record) == (2, "")
    assert err == f"gp-pta: {none}: cannot be opened: No such file or directory (ENOENT)\n"


@pytest.mark.parametrize("form", ["json", "csv", "fhir"])
def test_where_nothing_can_be_written_there_is_no_file_and_no_output(
    archive: Path, tmp_path: Path, gp_pta: GpPta, form: str
) -> None:
    for number in range(1, 14):
        (archive / f"session-{number:06d}.journal").write_text("Dear sirs,\n")
    out = tmp_path / ("out.csv" if form == "csv" else "out.json")
    where = ["export", archive, "--format", form]
    for command in (where, [*where, "-o", out], ["sessions", archive, "--export", out]):
        code, record, err = gp_pta(*command)
        assert (code, record) == (2, "")
        named = [line for line in err.splitlines() if line.startswith("left out: ")]
        assert (len(named), named[-1]) == (11, "left out: 3 more")
        assert "gp-pta: none of 13 journals can be exported: nothing was written" in err
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == []


def test_unfinished_sessions_of_a_directory_are_taken_where_they_are_asked_for(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    (archive / "session-000001.journal").write_bytes(SILENT.read_bytes())
    (archive / "session-000002.journal").write_bytes(LEFT_S2.read_bytes()[:20_000])
    contents = []
    for command in (("export", archive, "-o"), ("sessions", archive, "--export")):
        out = tmp_path / f"{command[0]}.json"
        assert gp_pta(*command, out, "--unfinished")[0] == 0
        contents.append(out.read_bytes())
    assert contents[0] == contents[1]
    outcomes = [each["outcome"] for each in json.loads(contents[0])["sessions"]]
    assert outcomes == ["complete", "unfinished"]


def test_two_that_say_they_are_one_session_are_both_in_in_every_format(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    header, *records = read_journal(SILENT).records
    first, second = tmp_path / "session-000001.journal", tmp_path / "session-000001b.journal"
    write_again(first, {**header, "device": "box-1"}, records)
    finish = next(r["action"] for r in records if r.get("action", {}).get("what") == "finish")
    finish["result"]["ears"][0]["tones"] += 1
    write_again(second, {**header, "device": "box-1"}, records)
    words = (
        f"{second} and {first} both say that they are session {header['session']} of device "
        "box-1, and differ: both are in\n"
    )
    code, out, err = gp_pta("export", first, second, "--format", "json")
    assert (code, err) == (0, words)
    tones = [each["ears"][0]["tones"] for each in json.loads(out)["sessions"]]
    assert tones[1] == tones[0] + 1

    record = {}
    for name, journals in {"one": [first], "both": [first, second]}.items():
        entries = json.loads(gp_pta("export", *journals, "--format", "fhir")[1])["entry"]
        record[name] = [entry["fullUrl"] for entry in entries]
    assert len(set(record["both"])) == len(record["both"]) == 2 * len(record["one"]) - 1, (
        "one device"
    )
    assert record["both"][: len(record["one"])] == record["one"]
    out_csv = gp_pta("export", tmp_path, "--format", "csv")[1]
    assert len(out_csv.splitlines()) == 3


def _with_an_input_of_nobody(path: Path, golden: Path, device: str) -> None:
    """Write a session whose ends are good, with an input between that no session has."""
    header, *records = read_journal(golden).records
    records[0] = {**records[0], "event": {"what": "started", "can_mask": 1, "board": ""}}
    write_again(path, {**header, "device": device}, records)


def test_nothing_is_left_out_for_a_session_that_cannot_be_written_itself(
    archive: Path, gp_pta: GpPta
) -> None:
    finished, before = archive / "session-000001.journal", archive / "before.journal"
    _with_an_input_of_nobody(finished, SILENT, "box-1")
    header, *records = read_journal(SILENT).records
    write_again(before, {**header, "device": "box-1"}, records[:60])
    code, out, err = gp_pta("export", archive, "--format", "json", "--unfinished")
    assert code == 1
    assert [each["journal"] for each in json.loads(out)["sessions"]] == [before.name]
    (line,) = err.splitlines()
    assert line.startswith(f"left out: {finished}: record 1: event.can_mask is 1")


def test_a_table_has_no_columns_of_a_session_that_was_left_out(
    archive: Path, gp_pta: GpPta
) -> None:
    _with_an_input_of_nobody(archive / "session-000001.journal", GOLDEN / "bone.journal", "box-1")
    (archive / "session-000002.journal").write_bytes(GOOD)
    code, out, _ = gp_pta("export", archive, "--format", "csv")
    assert code == 1
    assert out.splitlines()[0] == gp_pta("export", BOTH, "--format", "csv")[1].splitlines()[0]


def test_a_journal_that_was_replaced_meanwhile_is_left_out(archive: Path) -> None:
    write_journals(archive, 3)
    journals = Journals(paths_in(archive), False, None)
    _, second, third = paths_in(archive)
    second.write_bytes(third.read_bytes())
    third.unlink()
    assert [each.record["journal"] for each in journals.sessions] == ["session-000001.journal"]
    replaced, gone = map(str, journals.left_out)
    assert replaced == f"{second}: became another session while it was exported"
    assert gone.startswith(f"{third}: cannot be opened")


def test_a_journal_that_became_one_by_bone_meanwhile_is_left_out(archive: Path) -> None:
    path = archive / "session-000001.journal"
    _of_device(path, BOTH, "box-1")
    journals = Journals([path], False, None)
    path.unlink()
    _of_device(path, GOLDEN / "bone.journal", "box-1")
    assert [*journals.sessions] == []
    (error,) = journals.left_out
    assert str(error) == f"{path}: became another session while it was exported"
