"""The index of journals: read once, found whatever their names, and counted once."""

import itertools
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from firmware_py.journal import read_journal
from host_tools.errors import HostError
from host_tools.recordings import index as index_module
from host_tools.recordings import index_database
from host_tools.recordings.entry import Entry
from host_tools.recordings.folders import Found
from host_tools.recordings.index import looked_at
from host_tools.recordings.newest import by_number
from tests.host.journals import BOTH, GOLDEN, on_day, write_again
from tests.read_only import closed, only_read

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return an empty directory, without the cache in it."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def watch_nothing(items: Any, _total: int, _words: str) -> Any:
    return items


def entries_of(*places: Path, keep: bool = True) -> list[Entry]:
    with looked_at(places, watch_nothing, keep=keep) as index:
        return sorted(index.entries(), key=lambda entry: by_number(entry.name))


def read_files(*places: Path) -> list[str]:
    """List places, and return which files were read for it."""
    names: list[str] = []

    def watch(found: Any, _total: int, _words: str) -> Iterator[Found]:
        for each in found:
            names.append(each.name)
            yield each

    with looked_at(places, watch):
        return sorted(names, key=by_number)


def kept_in(cache: Path) -> Path:
    (kept,) = (cache / "gp-pta").iterdir()
    return kept


# What is read


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
    entries = entries_of(archive)
    assert entries == entries_of(archive, keep=False)
    assert len(entries) == len(names)


def test_what_could_not_be_read_is_tried_again(place: Path) -> None:
    (place / "session-000001.journal").symlink_to("nowhere")
    assert read_files(place) == read_files(place) == ["session-000001.journal"]


def test_what_was_read_before_an_interruption_is_not_read_again(place: Path) -> None:
    for number in range(520):
        (place / f"session-{number:06}.journal").write_text("no journal")

    def interrupt(paths: Any, _total: int, _words: str) -> Any:
        yield from itertools.islice(paths, 510)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), looked_at([place], interrupt):
        pass
    assert read_files(place) == [f"session-{number:06}.journal" for number in range(500, 520)]


def test_a_file_in_the_place_of_another_is_read_though_size_and_time_are_the_same(
    place: Path,
) -> None:
    """As on two sticks that are put in one after the other, or by `rsync --inplace`."""
    path = write_as(place, "session-000001.journal", "P-11")
    other = write_as(place, "other", "P-22").read_bytes()
    (place / "other").unlink()
    before = path.stat()
    assert [entry.identifier for entry in entries_of(place)] == ["P-11"]
    path.write_bytes(other)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_ino) == (before.st_size, before.st_ino)
    assert [entry.identifier for entry in entries_of(place)] == ["P-22"]


def test_a_journal_that_grows_while_it_is_read_is_read_again(archive: Path) -> None:
    """Its digest and what it says may be of different lengths, so nothing is kept by the digest."""
    path = archive / "session-000001.journal"

    def grow(found: Any, _total: int, _words: str) -> Iterator[Found]:
        for each in found:
            if each.path == str(path):
                with path.open("ab") as file:
                    file.write(b"{")
            yield each

    with looked_at([archive], grow) as index:
        (grown,) = (entry for entry in index.entries() if entry.path == str(path))
        assert (grown.outcome, grown.content) == ("complete", "")
    assert read_files(archive) == ["session-000001.journal"]


# What is kept


def test_nothing_is_written_beside_the_journals(archive: Path, cache: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in [archive, *archive.iterdir()]}
    read_files(archive)

    assert before == {path: path.stat().st_mtime_ns for path in [archive, *archive.iterdir()]}
    kept = kept_in(cache)
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
    "content", [b"", b"no index", b"[]", b"\xff" * 4000, b"SQLite format 3\0" * 300]
)
def test_a_damaged_index_is_made_anew(archive: Path, cache: Path, content: bytes) -> None:
    read_files(archive)
    kept_in(cache).write_bytes(content)

    assert len(read_files(archive)) == 8
    assert read_files(archive) == []


def test_an_index_of_another_version_is_made_anew(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_files(archive)
    schema = index_database.SCHEMA.rpartition("PRAGMA")[0] + "PRAGMA user_version = 17;\n"
    monkeypatch.setattr(index_database, "FORMAT", 17)
    monkeypatch.setattr(index_database, "SCHEMA", schema)
    assert len(read_files(archive)) == 8
    assert read_files(archive) == []


def test_what_earlier_versions_kept_goes_when_the_index_is_made(archive: Path, cache: Path) -> None:
    """Identifiers were in it."""
    (cache / "gp-pta").mkdir(parents=True)
    before = cache / "gp-pta" / "sessions-0123456789abcdef.json"
    before.write_text("{}")
    read_files(archive)
    assert not before.exists()


def test_what_a_replay_found_is_found_again_if_it_is_damaged(archive: Path, cache: Path) -> None:
    with looked_at([archive], watch_nothing) as index:
        for entry in index.entries():
            index.found(Path(entry.path), entry.content, "this", lambda _: {"this": [1] * 99})
    with closing(sqlite3.connect(kept_in(cache))) as connection:
        connection.execute("UPDATE findings SET found = x'00'")
        connection.commit()
    with looked_at([archive], watch_nothing) as index:
        entry, *_ = index.entries()
        assert index.found(Path(entry.path), entry.content, "this", lambda _: {"this": 2}) == 2


@pytest.mark.parametrize(
    "change", ["UPDATE sessions SET identifier = 'P-1' WHERE session = 1",
               "UPDATE sessions SET outcome = 'komplete'", "DROP TABLE findings"],
)  # fmt: skip
def test_a_changed_row_is_told_of_nobody(archive: Path, cache: Path, change: str) -> None:
    expected = entries_of(archive)
    with closing(sqlite3.connect(kept_in(cache))) as connection:
        connection.execute(change)
        connection.commit()

    def ask() -> None:
        with looked_at([archive], watch_nothing) as index:
            index.entries()
            index.found(archive, "", "this", lambda _: {"this": 1})

    if change.startswith("DROP"):
        ask()  # what was found is found again
    else:
        with pytest.raises(HostError, match="is removed: type that again"):
            ask()
    assert entries_of(archive) == expected


def test_files_whose_sessions_are_lost_are_read_again(archive: Path, cache: Path) -> None:
    entries_of(archive)
    with closing(sqlite3.connect(kept_in(cache))) as connection:
        connection.execute("UPDATE files SET session = 99999")
        connection.commit()
    assert len(read_files(archive)) == 8


def test_without_a_home_or_a_place_to_be_in_it_is_done_without(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert len(entries_of(archive)) == 8
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME")

    def nobody(*_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert len(entries_of(archive)) == 8


def test_without_a_place_for_the_index_it_is_done_without(archive: Path, cache: Path) -> None:
    cache.write_text("a file where a directory should be")
    assert len(read_files(archive)) == len(read_files(archive)) == 8


def test_without_room_for_the_index_it_is_done_without(
    archive: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that may have few pages is full as a disk is: the same call has the same error."""
    connect = sqlite3.connect

    def connect_small(place: Any, **how: Any) -> sqlite3.Connection:
        connection = connect(place, **how)
        if place != ":memory:":
            connection.execute("PRAGMA max_page_count = 8")
        return connection

    expected = entries_of(archive, keep=False)
    monkeypatch.setattr(sqlite3, "connect", connect_small)
    assert entries_of(archive) == expected
    assert kept_in(cache).exists(), "it is not thrown away, for it is not damaged"


def test_many_at_once_see_the_same(archive: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        listings = list(pool.map(lambda _: entries_of(archive), range(8)))
    assert all(listing == listings[0] for listing in listings)
    assert read_files(archive) == []


def test_two_processes_make_one_index(archive: Path, cache: Path) -> None:
    words = [sys.executable, "-m", "host_tools.main", "sessions", str(archive), "--json"]
    how = {"env": {**os.environ, "XDG_CACHE_HOME": str(cache)}, "stdout": subprocess.PIPE}
    both = [subprocess.Popen(words, **how) for _ in range(2)]  # type: ignore[call-overload]
    first, other = (process.communicate()[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert first == other
    assert read_files(archive) == []


def test_what_another_process_forgot_is_no_damage(archive: Path, cache: Path) -> None:
    """It saw that a journal was moved away, which was there when this one looked."""
    with looked_at([archive], watch_nothing) as index:
        for entry in index.entries():
            index.found(Path(entry.path), entry.content, "this", lambda _: {"this": 1})
    moved = archive / "session-000001.journal"

    def move(found: Any, _total: int, _words: str) -> Any:
        moved.rename(archive.parent / "moved")
        entries_of(archive)
        return found

    with looked_at([archive], move) as index:
        assert len(index.entries()) == 7
    with closing(sqlite3.connect(kept_in(cache))) as connection:
        assert connection.execute("SELECT count(*) FROM findings").fetchone() == (7,)


def test_of_a_folder_that_cannot_be_read_once_nothing_is_forgotten(
    place: Path, cache: Path
) -> None:
    (place / "below").mkdir()
    for path in (place / "below" / "one.journal", place / "gone.journal"):
        shutil.copy(BOTH, path)
    entries_of(place)
    (place / "gone.journal").unlink()
    with closed(place / "below"):
        assert [entry.outcome for entry in entries_of(place)] == ["unreadable"]
    with closing(sqlite3.connect(kept_in(cache))) as connection:
        kept = {os.fsdecode(path) for (path,) in connection.execute("SELECT path FROM files")}
    assert kept == {str(place / "below"), str(place / "below" / "one.journal")}
    assert read_files(place) == []


@pytest.mark.thorough
def test_a_hundred_thousand_files_are_looked_at_once(place: Path) -> None:
    for folder in range(100):
        (place / str(folder)).mkdir()
        for number in range(1000):
            (place / str(folder) / f"{number}.txt").write_text("of no matter")
    shutil.copy(BOTH, place / "50" / "one.journal")
    assert len(read_files(place)) == 100_001
    assert read_files(place) == []
    assert [entry.name for entry in entries_of(place)] == ["50/one.journal"]


def test_what_is_gone_is_forgotten(archive: Path, cache: Path) -> None:
    with looked_at([archive], watch_nothing) as index:
        for entry in index.entries():
            index.found(Path(entry.path), entry.content, "this", lambda path: {"this": str(path)})
    (archive / "session-000001.journal").unlink()
    entries_of(archive)
    connection = sqlite3.connect(kept_in(cache))
    counts = [
        connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("files", "sessions", "findings")
    ]
    connection.close()
    assert counts == [7, 7, 7]


# What a replay found


def test_what_a_replay_found_is_found_once_by_each_version(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def find(path: Path) -> dict[str, Any]:
        asked.append(path.name)
        return {"this": [0.1, None, "å"], "that": 1}

    def found() -> list[Any]:
        with looked_at([tmp_path / "journals", tmp_path / "copies"], watch_nothing) as index:
            entries = [(Path(e.path), e.content) for e in index.entries() if e.session == 1]
            return [index.found(*e, kind, find) for e in entries for kind in ("this", "that")]

    (tmp_path / "copies").mkdir()
    shutil.copy(archive / "session-000001.journal", tmp_path / "copies" / "anything")
    assert found() == found() == [[0.1, None, "å"], 1] * 2
    assert len(asked) == 1, "also for its copy"
    monkeypatch.setattr(index_module, "full_version", lambda: "another")
    found()
    assert len(asked) == 2


def test_nothing_is_kept_of_a_journal_that_was_changed_since(archive: Path) -> None:
    for _ in range(2):
        with looked_at([archive], watch_nothing) as index:
            entry = next(e for e in index.entries() if e.session == 1)
            known = (Path(entry.path), entry.content, "this")
            with Path(entry.path).open("ab") as file:
                file.write(b"{")
            assert index.found(*known, lambda _: {"this": 1}) == 1
            assert index.found(*known, lambda _: {"this": 2}) == 2
            Path(entry.path).unlink()
            assert index.found(*known, lambda _: {"this": 3}) == 3
        shutil.copy(BOTH, entry.path)


# Where journals are found, and which of them count


def test_journals_are_found_in_all_folders_whatever_their_names(place: Path) -> None:
    for name, kind in {
        "a/session-000001.journal": BOTH, "a/b/c/P-17 (copy).txt": GOLDEN / "masked.journal",
        "noname": GOLDEN / "left-ear-s2.journal", ".hidden/x": GOLDEN / "disturbed.journal",
    }.items():  # fmt: skip
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(kind, place / name)
    (place / "a" / "notes.txt").write_text("of no matter")
    (place / "a" / "empty").touch()
    os.mkfifo(place / "pipe")
    (place / "nowhere").symlink_to("none")
    names = [".hidden/x", "a/b/c/P-17 (copy).txt", "a/session-000001.journal", "noname"]
    assert [entry.name for entry in entries_of(place)] == names
    assert read_files(place) == ["nowhere"], "what else is there is not opened again"
    both = [entry.name for entry in entries_of(place / "a", place / ".hidden")]
    assert both == [str(place / each) for each in names[:3]]
    assert [entry.name for entry in entries_of(place / "noname")] == [str(place / "noname")]


def test_links_among_folders_are_followed_once(place: Path) -> None:
    (place / "a" / "b").mkdir(parents=True)
    shutil.copy(BOTH, place / "a" / "b" / "one.journal")
    (place / "a" / "b" / "up").symlink_to(place, target_is_directory=True)
    (place / "a" / "itself").symlink_to("itself")
    (place / "elsewhere").symlink_to(place / "a" / "b", target_is_directory=True)
    assert len(entries_of(place)) == 1
    assert len(entries_of(place, place / "a", place / "elsewhere")) == 1


def test_a_folder_that_cannot_be_read_is_told_and_a_place_is_refused(place: Path) -> None:
    folder = place / "lost+found"
    folder.mkdir()
    with closed(folder):
        (entry,) = entries_of(place)
        assert (entry.name, entry.outcome) == ("lost+found", "unreadable")
        assert entry.words == "Permission denied"
        for named in (folder, place / "none"):
            with pytest.raises(HostError, match=re.escape(f"'{named}' cannot be read: ")):
                entries_of(named)
    assert entries_of(place) == [], "now it can be"


def test_journals_on_a_medium_that_is_only_read_are_listed(archive: Path) -> None:
    with only_read(archive):
        assert len(read_files(archive)) == 8
        assert read_files(archive) == []


def test_the_sessions_of_two_sites_are_one_list_without_those_that_are_there_twice(
    tmp_path: Path,
) -> None:
    header, *records = read_journal(BOTH).records
    sites = [tmp_path / "site-1", tmp_path / "site-2"]
    for site, device in zip(sites, ("box-1", "box-2"), strict=True):
        site.mkdir()
        for number in (1, 2):
            told = {**header, "device": device, "session": number}
            write_again(site / f"session-{number:06d}.journal", told, records)
    shutil.copytree(sites[0], sites[1] / "backup of site 1")
    unfinished = (sites[0] / "session-000002.journal").read_bytes()[:30_000]
    (sites[1] / "half.journal").write_bytes(unfinished)
    with looked_at(sites, watch_nothing) as index:
        doubles = index.doubles()
        assert len(index.entries()) == 7
    words = [words.replace(f"{tmp_path}/", "") for _, words in doubles.left_out]
    assert sorted(words) == [
        "site-2/backup of site 1/session-000001.journal is a copy of site-1/session-000001.journal",
        "site-2/backup of site 1/session-000002.journal is a copy of site-1/session-000002.journal",
        "site-2/half.journal is site-1/session-000002.journal before it was finished",
    ]
    assert (doubles.doubted, doubles.shared_devices) == ([], set())


def test_a_copy_from_before_a_journal_was_whole_does_not_count_beside_it(place: Path) -> None:
    """Its result was there already, but not the last record: so it was a session of its own."""
    header, *records = read_journal(BOTH).records
    whole = place / "session-000007.journal"
    write_again(whole, {**header, "device": "box-1", "session": 7}, records)
    lines = whole.read_bytes().splitlines(keepends=True)
    (place / "a-copy.journal").write_bytes(b"".join(lines[:-1]))
    with looked_at([place], watch_nothing) as index:
        assert [entry.outcome for entry in index.entries()] == ["complete", "complete"]
        doubles = index.doubles()
    (words,) = (words for _, words in doubles.left_out)
    assert words == "a-copy.journal is session-000007.journal before it was finished"
    assert (doubles.doubted, doubles.shared_devices) == ([], set())


def write_as(place: Path, name: str, who: str, lines: int | None = None, **about: Any) -> Path:
    """Write a session, or its first lines, under another header: of a person."""
    header, *records = read_journal(BOTH).records
    person = {"identifier": who, "age_years": None, "sex": None}
    path = place / name
    write_again(path, {**header, "person": person, **about}, records)
    if lines is not None:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    return path


def kept_of(*places: Path) -> tuple[list[str], list[str]]:
    """Return which sessions count of those that may be there twice, and why the others do not."""
    with looked_at(places, watch_nothing, keep=False) as index:
        doubles = index.doubles()
    names = sorted(Path(entry.name).name for entry in doubles.kept)
    return names, sorted(words.replace(f"{places[0].parent}/", "") for _, words in doubles.left_out)


def test_the_unfinished_session_of_another_person_is_not_that_of_this_one(place: Path) -> None:
    """Of a cloned card, number, serial number and, without a clock, second may be the same."""
    write_as(place, "anna.journal", "P-anna", device="box-X")
    write_as(place, "bert.journal", "P-bert", lines=30, device="box-X")
    assert kept_of(place) == (["anna.journal", "bert.journal"], [])


@pytest.mark.parametrize("device", ["box-X", ""])
def test_of_two_unfinished_states_the_longer_one_counts(place: Path, device: str) -> None:
    write_as(place, "a.journal", "P-1", lines=30, device=device)
    write_as(place, "b.journal", "P-1", lines=60, device=device)
    with (place / "a.journal").open("ab") as file:
        file.write(b'{"n": 30, "syn')  # the power went there
    assert kept_of(place) == (["b.journal"], ["a.journal is b.journal before it was longer"])


def test_sessions_that_are_written_to_while_they_are_read_are_no_copies(place: Path) -> None:
    paths = [
        write_as(place, f"{who}.journal", who, lines=30, device="box-X", started=started)
        for who, started in (("P-1", "2026-01-02T03:04:05+00:00"),
                             ("P-2", "2026-01-02T04:05:06+00:00"))
    ]  # fmt: skip

    def grow(found: Any, _total: int, _words: str) -> Iterator[Found]:
        for path in paths:
            with path.open("ab") as file:
                file.write(b"{")
        yield from found

    with looked_at([place], grow) as index:
        assert [entry.content for entry in index.entries()] == ["", ""]
        assert index.doubles().left_out == []


def test_two_devices_of_one_serial_number_are_told_and_both_count(place: Path) -> None:
    header, *records = read_journal(BOTH).records
    days = {"a": "2026-03-01", "b": "2026-04-01"}
    for name, day in days.items():
        told = {**on_day(header, day), "device": "box-1", "session": 5}
        write_again(place / f"{name}.journal", told, records)
    with looked_at([place], watch_nothing) as index:
        doubles = index.doubles()
    ((_, words),) = doubles.doubted
    assert "both say that they are session 5 of device box-1" in words
    assert all(day in words for day in days.values())
    assert (doubles.left_out, doubles.shared_devices) == ([], {"box-1"})


def test_journals_of_all_formats_are_one_list(place: Path) -> None:
    for path in sorted((GOLDEN.parent / "formats").rglob("*.journal")):
        shutil.copy(path, place / f"{path.parent.name}-{path.name}")
    found = entries_of(place)
    assert len(found) > 3
    assert {entry.recorded_by != "" for entry in found if not entry.broken} >= {True}
