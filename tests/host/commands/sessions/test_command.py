"""`gp-pta sessions` lists whatever is there, the second time without reading it again."""

import itertools
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from firmware_py.journal import is_unbroken, read_journal
from firmware_py.paper.head import verdicts_row
from firmware_py.sessions.archive import recorded_result
from host_tools.catalogue import language_of
from host_tools.commands.sessions.choice import Choice, choose, contradictions, in_order
from host_tools.commands.sessions.entry import Entry, entry_of
from host_tools.commands.sessions.index import entries_of
from tests.host.journals import BOTH, GOLDEN, GpPta, journal, write_again, write_journals

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    directory = tmp_path / "journals"
    directory.mkdir()
    write_journals(directory, 8)
    return directory


def read_files(directory: Path) -> list[str]:
    """List a directory, and return which files were read for it."""
    names: list[str] = []

    def watch(paths: Any, _total: int, _words: str) -> Any:
        for path in paths:
            names.append(path.name)
            yield path

    entries_of(directory, watch)
    return names


def watch_nothing(items: Any, _total: int, _words: str) -> Any:
    return items


# What is listed


@pytest.mark.usefixtures("as_if_calibrated")
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.journal")), ids=lambda path: path.stem)
def test_a_recorded_session_is_listed_as_it_was_recorded(path: Path) -> None:
    result, header = recorded_result(path).result, read_journal(path).header
    entry = entry_of(path)

    assert (entry.outcome, entry.started) == (result.outcome, header["started"])
    assert (entry.session, entry.ears) == (header["session"], header["settings"]["ears"])
    assert entry.routes == header["settings"]["routes"]
    assert entry.tones == sum(ear.tones for ear in result.ears)
    assert entry.verdicts == {str(ear.route): ear.verdict for ear in result.ears}
    for ear in result.ears:
        levels = {t.frequency_hz: t.threshold_db_hl for t in ear.thresholds}
        four = [level for f in (500, 1000, 2000, 4000) if (level := levels[f]) is not None]
        if len(four) == 4 and not ear.route.by_bone:
            assert entry.pta4_db_hl[ear.route.ear] == pytest.approx(sum(four) / 4, abs=0.001)


def test_a_session_with_bone_conduction_is_told_from_one_by_air(gp_pta: GpPta) -> None:
    heading, *lines = gp_pta("sessions", GOLDEN, "--no-index")[1].splitlines()
    at = heading.index("routes")
    told = {line.split()[0]: line[at : at + 9].rstrip() for line in lines}
    assert told.pop("bone.journal") == "air, bone"
    assert {*told.values()} == {"air"}


def test_a_doubtful_test_by_bone_is_listed_as_doubtful(tmp_path: Path, gp_pta: GpPta) -> None:
    """The list said "valid" of it, and the report and exports said otherwise."""
    header, *records = read_journal(GOLDEN / "bone.journal").records
    (of_bone,) = (
        ear
        for ear in records[-2]["action"]["result"]["ears"]
        if (ear["ear"], ear.get("transducer")) == ("right", "bone")
    )
    assert of_bone["verdict"] == "valid"
    of_bone |= {"verdict": "doubtful", "reasons": []}
    write_again(tmp_path / "session-000001.journal", dict(header), records)

    (entry,) = entries_of(tmp_path, watch_nothing, use_index=False)
    verdicts = {"right": "valid", "left": "valid", "right-bone": "doubtful", "left-bone": "valid"}
    assert entry.verdicts == verdicts
    _, out, _ = gp_pta("sessions", tmp_path, "--no-index")
    assert language_of("en").say(verdicts_row(verdicts)) in out


@pytest.mark.usefixtures("as_if_calibrated")
def test_a_deaf_ear_has_its_limit_and_one_that_could_not_be_tested_nothing(deaf_ear: Path) -> None:
    deaf = entry_of(deaf_ear)
    assert (deaf.pta4_db_hl, deaf.at_least) == ({"left": 100.0}, "left")
    for name in ("silent-ear", "always-answering"):
        untested = entry_of(GOLDEN / f"{name}.journal")
        assert (untested.pta4_db_hl, untested.at_least) == ({}, "")


def test_identifiers_of_any_script_are_listed_and_found_however_they_are_typed(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    """Also "-", which nobody could tell a device any more."""
    header, *records = read_journal(BOTH).records
    names = ["患者7", "Zoë", "Иванов-3", "-"]
    for number, name in enumerate(names, 1):
        person = {"age_years": None, "sex": None, "identifier": name}
        write_again(tmp_path / f"{number}.journal", {**header, "person": person}, records)

    _, out, _ = gp_pta("sessions", tmp_path)
    assert [line.split()[-1] for line in out.splitlines()[1:]] == names
    _, out, _ = gp_pta("export", tmp_path, "--format", "json")
    assert [each["person"]["identifier"] for each in json.loads(out)["sessions"]] == names
    for pattern in ("Zoe\u0308", "Zo\u00eb", "Z*"):
        _, out, _ = gp_pta("sessions", tmp_path, "--identifier", pattern, "--json")
        assert [entry["identifier"] for entry in json.loads(out)["sessions"]] == ["Zoë"]


def test_what_is_broken_or_foreign_is_listed_by_name(tmp_path: Path, gp_pta: GpPta) -> None:
    good = BOTH.read_bytes()
    damaged = bytearray(good)
    damaged[20_000] ^= 4
    files = {
        "a-letter": b"Dear sirs,\n",
        "b-nothing": b"",
        "c-torn-header": good[:200],
        "d-unfinished": good[:30_000],
        "e-damaged": bytes(damaged),
        "f-torn-after-its-end": good + b"{",
        "g-of-soup": b'{"n": 0, "synced": 0, "kind": "header", "journal": 3',
        "h-noise": bytes(range(256)) * 400,
    }
    for name, content in files.items():
        (tmp_path / f"{name}.journal").write_bytes(content)
    (tmp_path / "i-folder.journal").mkdir()
    (tmp_path / "j-nowhere.journal").symlink_to(tmp_path / "none")
    code, out, err = gp_pta("sessions", tmp_path)
    told = {line.split()[0]: line for line in out.splitlines()[1:]}
    outcomes = {
        "a-letter": "foreign: is no journal",
        "b-nothing": "unstarted: is empty",
        "c-torn-header": "unstarted: has a torn header",
        "d-unfinished": "unfinished",
        "e-damaged": "damaged: line ",
        "f-torn-after-its-end": "complete",
        "g-of-soup": "unstarted: has a torn header",
        "h-noise": "foreign: is no journal",
        "i-folder": "unreadable: Is a directory",
        "j-nowhere": "unreadable: No such file",
    }
    assert code == 0
    assert list(told) == [f"{name}.journal" for name in outcomes]
    for name, words in outcomes.items():
        assert words in told[f"{name}.journal"]
    assert err == "10 of 10 journals, 1 damaged, 2 foreign, 2 unreadable, 3 unstarted\n"


def test_a_name_that_is_not_utf_8_is_listed_and_exported(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    strange, out = os.fsdecode(b"a-bad-\xff.journal"), tmp_path / "all.csv"
    shutil.copy(BOTH, archive / strange)
    without = gp_pta("sessions", archive, "--no-index")
    assert r"a-bad-\udcff.journal" in without[1].splitlines()[1]
    assert gp_pta("sessions", archive) == without
    assert read_files(archive) == []
    assert json.loads(gp_pta("sessions", archive, "--json")[1])["sessions"][0]["name"] == strange
    assert gp_pta("sessions", archive, "--export", out)[0] == 0
    assert r"a-bad-\udcff.journal" in out.read_text(encoding="utf-8")

    (archive / strange).unlink()
    assert strange not in [entry.name for entry in entries_of(archive, watch_nothing)]


def test_the_check_of_every_line_is_that_of_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "session-000001.journal"
    lines = BOTH.read_bytes().splitlines(keepends=True)[:12]
    for changed in (lines[:5] + lines[6:], lines[:3] + lines[2:], lines[1:], [], [*lines, b"x\n"]):
        path.write_bytes(b"".join(changed))
        assert not is_unbroken(path)
    path.write_bytes(b"".join(lines))
    assert is_unbroken(path)


# The index


def test_only_what_is_new_or_changed_is_read(archive: Path) -> None:
    names = sorted(path.name for path in archive.iterdir())
    assert read_files(archive) == names
    assert read_files(archive) == []

    (archive / names[0]).write_bytes(BOTH.read_bytes()[:30_000])
    (archive / names[1]).unlink()
    shutil.copy(BOTH, archive / "session-000099.journal")
    os.utime(archive / names[2], ns=(1, 1))
    twin = archive / "twin"
    shutil.copy(archive / names[3], twin)  # of the same size and time, but another file
    shutil.copystat(archive / names[3], twin)
    twin.replace(archive / names[3])
    assert read_files(archive) == [names[0], names[2], names[3], "session-000099.journal"]
    entries = entries_of(archive, watch_nothing)
    assert entries == entries_of(archive, watch_nothing, use_index=False)
    assert len(entries) == len(names)


def test_what_could_not_be_read_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "session-000001.journal").mkdir()
    assert read_files(tmp_path) == read_files(tmp_path) == ["session-000001.journal"]


def test_what_was_read_before_an_interruption_is_not_read_again(tmp_path: Path) -> None:
    for number in range(520):
        (tmp_path / f"session-{number:06}.journal").write_text("no journal")

    def interrupt(paths: Any, _total: int, _words: str) -> Any:
        yield from itertools.islice(paths, 510)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        entries_of(tmp_path, interrupt)
    assert read_files(tmp_path) == [f"session-{number:06}.journal" for number in range(500, 520)]


def test_nothing_is_written_beside_the_journals(archive: Path, cache: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in [archive, *archive.iterdir()]}
    read_files(archive)

    assert before == {path: path.stat().st_mtime_ns for path in [archive, *archive.iterdir()]}
    (kept,) = (cache / "gp-pta").iterdir()
    modes = [path.stat().st_mode & 0o077 for path in (kept, kept.parent)]
    assert modes == [0, 0], "it has identifiers in it"
    kept.unlink()
    assert len(read_files(archive)) == 8


def test_a_cache_directory_that_is_relative_is_ignored(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for told in ("relative/is/not/allowed", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", told)
        read_files(archive)
    assert not (tmp_path / "relative").exists()
    assert len(list((tmp_path / "home" / ".cache" / "gp-pta").iterdir())) == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"no index", b"[]", b'{"format": 1', b"\xff" * 4000, b"[" * 200_000,
     b'{"format": 17, "entries": {}}'],
)  # fmt: skip
def test_a_damaged_or_later_index_is_made_anew(archive: Path, cache: Path, content: bytes) -> None:
    read_files(archive)
    (kept,) = (cache / "gp-pta").iterdir()
    kept.write_bytes(content)

    assert len(read_files(archive)) == 8
    assert read_files(archive) == []


def test_without_a_place_for_the_index_it_is_done_without(archive: Path, cache: Path) -> None:
    cache.write_text("a file where a directory should be")
    assert len(read_files(archive)) == len(read_files(archive)) == 8


def test_many_at_once_see_the_same(archive: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        listings = list(pool.map(lambda _: entries_of(archive, watch_nothing), range(8)))
    assert all(listing == listings[0] for listing in listings)
    assert read_files(archive) == []


# The choice


PERSON: Final = Entry(
    "session-000001.journal", "complete", session=1, started="2026-03-04T23:59:00-05:00",
    ears="both", identifier="P-17", calibration="CALIBRATED", pta4_right_db_hl=20.0,
    pta4_left_db_hl=60.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("choice", "taken"),
    [
        (Choice(), True),
        (Choice(identifier="P-17"), True),
        (Choice(identifier="P-1"), False),
        (Choice(identifier="P-1*"), True),
        (Choice(since="2026-03-04", until="2026-03-04"), True),
        (Choice(since="2026-03-05"), False),
        (Choice(until="2026-03-03"), False),
        (Choice(outcome="aborted"), False),
        (Choice(calibration="CALIBRATED"), True),
        (Choice(calibration="OVERDUE"), False),
        (Choice(ear="left"), True),
        (Choice(pta4_min_db_hl=55.0), True),
        (Choice(pta4_min_db_hl=30.0, pta4_max_db_hl=50.0), False),
        (Choice(pta4_max_db_hl=20.0), True),
        (Choice(identifier="P-17", pta4_min_db_hl=61.0), False),
    ],
)
def test_every_filter_has_to_agree(choice: Choice, taken: bool) -> None:
    assert choice.takes(PERSON) is taken


def test_what_is_not_known_is_not_taken_and_sorted_last() -> None:
    unknown = Entry("session-000002.journal", "unstarted")
    left = replace(PERSON, name="session-000003.journal", ears="left", pta4_left_db_hl=90.0)
    for choice in (Choice(until="2030-01-01"), Choice(pta4_max_db_hl=99.0), Choice(ear="right")):
        assert not choice.takes(unknown)
    for order in ("started", "identifier", "pta4"):
        assert choose([unknown, PERSON, left], Choice(), order, reverse=False)[-1] == unknown
    assert choose([PERSON, left], Choice(), "pta4", reverse=False) == [left, PERSON]
    assert choose([PERSON, left], Choice(), "name", reverse=True) == [left, PERSON]


def test_sessions_of_a_device_are_sorted_by_number_when_its_clock_was_wrong() -> None:
    days = {1: "1970-01-01", 2: "2027-01-01", 3: "1970-01-01", 4: "2026-06-01"}
    of_box = [
        replace(PERSON, name=str(n), session=n, device="box-1", started=f"{day}T00:00:00+00:00")
        for n, day in days.items()
    ]
    other = replace(PERSON, name="5", device="box-2", started="2027-02-01T00:00:00+00:00")
    for reverse in (False, True):
        listed = choose([other, *of_box[::-1]], Choice(), "started", reverse=reverse)
        assert [entry.name for entry in listed] == sorted("12345", reverse=reverse)
    found = contradictions(entry for entry, _ in in_order(of_box))
    assert [(first.name, last.name) for first, last in found] == [("2", "4")]


def test_options_choose(archive: Path, gp_pta: GpPta) -> None:
    entries = entries_of(archive, watch_nothing)
    both = [entry.name for entry in entries if entry.ears == "both"]
    code, out, err = gp_pta("sessions", archive, "--ear", "right", "--identifier", "P-*", "--json")
    names = [entry["name"] for entry in json.loads(out)["sessions"]]

    assert code == 0
    assert 0 < len(both) < len(names) < 8
    assert set(both) <= set(names)
    assert err == f"{len(names)} of 8 journals\n"


def test_an_empty_directory_has_no_journals(tmp_path: Path, gp_pta: GpPta) -> None:
    assert gp_pta("sessions", tmp_path)[2] == f"no journals in {str(tmp_path)!r}\n"


# Together


def test_what_is_chosen_is_exported_and_what_has_no_result_is_named(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    (archive / "session-000001.journal").write_bytes(journal("both-ears-n3", 1)[:30_000])
    (archive / "session-000002.journal").write_text("Dear sirs,\n")
    out = tmp_path / "all.json"
    code, _, err = gp_pta("sessions", archive, "--export", out, "--sort", "started")
    sessions = json.loads(out.read_text())["sessions"]

    assert code == 1
    assert {session["journal"] for session in sessions} == {
        f"session-{number:06d}.journal" for number in range(3, 9)
    }
    assert [s["started"] for s in sessions] == sorted(s["started"] for s in sessions)
    assert f"left out: {archive}/session-000001.journal: it was not finished" in err
    assert f"left out: {archive}/session-000002.journal: is no journal" in err
    assert f"{out}: 6 sessions" in err
    assert gp_pta("sessions", archive, "--export", out)[0] == 2, "nothing is overwritten"
