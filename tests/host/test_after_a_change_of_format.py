"""What other versions recorded is read by every command: before and after a change of format."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from device.simulator.world import World
from firmware_py.journal import read_journal
from firmware_py.journal.records import chained_crc
from firmware_py.platform.data_directory import SESSION
from firmware_py.sessions.archive import UnfinishedError, glance, read_whole, recorded_result
from firmware_py.sessions.earlier_formats import GONE_PROFILES
from firmware_py.terms.outcomes import NEWER
from firmware_py.terms.settings import SettingError, Settings
from host_tools.devices.unfinished import find_unfinished
from tests.firmware.whole_sessions import a_listener
from tests.formats import FORMATS, data_of, journals_of
from tests.formats.next_format import NEXT, make_next, run_next
from tests.host.journals import LEFT_S2, GpPta, write_again
from tests.host.reports import rows_in, rows_of

# All in one process: what a command prints and returns, by its words.
COMMANDS: Final = """
import contextlib, io, json, sys
from host_tools.main import main

told = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    told.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(told))
"""
# A device with such a data directory: what it says at its start, and what it answers.
CONSOLE: Final = """
import json, sys
from pathlib import Path
from device.simulator.listener import SimulatedListener
from device.simulator.audiograms import audiogram_named
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.world import World

listener = SimulatedListener(audiogram_named("N3"), seed=1)
world = World(Path(sys.argv[1]), board=SimulatedBoard(listener))
world.until(lambda: world.client.connected)
answers = {line: world.ask(line) for line in json.loads(sys.argv[2])}
world.close()
print(json.dumps([world.wrong, answers]))
"""


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_next(tmp_path_factory.mktemp("next"))


def say(place: Path, commands: Sequence[Sequence[str | Path]]) -> list[Said]:
    words = json.dumps([[*map(str, command)] for command in commands])
    ended = run_next(place, COMMANDS, words)
    assert ended.returncode == 0, ended.stderr
    return [Said(*told) for told in json.loads(ended.stdout)]


def start_and_ask(
    place: Path, data: Path, lines: Sequence[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Start a device with a data directory; return what it says is wrong, and its answers."""
    ended = run_next(place, CONSOLE, data, json.dumps(lines))
    assert ended.returncode == 0, ended.stderr
    wrong, answers = json.loads(ended.stdout)
    return wrong, answers


def session(version: int, number: int) -> Path:
    return data_of(version) / f"session-{number:06d}.journal"


UNFINISHED: Final = {1: 3, 2: 4, 3: 4}  # sessions, by format
RECORDED_BY: Final = {1: "0.1.0", 2: "0.1.0", 3: "0.2.0.dev0"}


@pytest.mark.parametrize("version", FORMATS)
def test_every_command_tells_of_what_was_recorded(
    place: Path, version: int, tmp_path: Path
) -> None:
    complete, aborted = session(version, 1), session(version, 2)
    unfinished = session(version, UNFINISHED[version])
    fit, paper = tmp_path / "aid.fit", tmp_path / "paper.html"
    by = f"{RECORDED_BY[version]} (format {version})"
    listed, reported, on_paper, exported, fhir, prescribed, tuned, *rest = say(
        place,
        [
            ["sessions", data_of(version), "--no-index", "--json"],
            ["report", complete, "--json"],
            ["report", aborted, "-o", paper],
            ["export", complete, aborted, "--format", "json"],
            ["export", complete, "--format", "fhir"],
            ["prescribe", complete, "--unjudged", "-o", fit],
            ["replay", data_of(version) / "tuning-000001.journal"],
            ["replay", complete],
            ["report", unfinished, "--json"],
            ["prescribe", unfinished, "--unfinished"],
        ],
    )
    outcomes = {
        e["session"]: e["outcome"] for e in json.loads(listed.out)["sessions"] if e["session"]
    }
    assert outcomes[1] == "complete"
    assert outcomes[2] == "aborted"
    assert outcomes[UNFINISHED[version]] == "unfinished"

    found = json.loads(reported.out)
    assert (reported.code, found["result"]["outcome"]) == (0, "complete")
    (told,) = [*rows_of(found, "as-recorded"), *rows_of(found, "as-recorded-differs")]
    assert told["format"] == version
    assert (on_paper.code, "not replayed" in paper.read_text()) == (0, True)

    recorded = [line for line in complete.read_text().splitlines() if '"finish"' in line]
    of_ear = json.loads(recorded[0])["action"]["result"]["ears"][0]
    levels = {
        t["frequency_hz"]: t["threshold_db_hl"]
        for t in of_ear["thresholds"]
        if t["mark"] == "measured"
    }
    one, other = json.loads(exported.out)["sessions"]
    told = next(ear for ear in one["ears"] if ear["ear"] == of_ear["ear"])
    assert levels == {
        t["frequency_hz"]: t["threshold_db_hl"]
        for t in told["thresholds"]
        if t["mark"] == "measured"
    }
    assert (one["outcome"], other["outcome"], exported.code) == ("complete", "aborted", 0)
    assert json.loads(fhir.out)["resourceType"] == "Bundle"

    assert (prescribed.code, fit.exists()) == (0, True), prescribed.err
    assert ("did not judge" in prescribed.out) == (version == 1)
    for replayed in (tuned, rest[0]):
        assert replayed.code == 2
        assert f"recorded by {by}" in replayed.err
        assert "git worktree add" in replayed.err
    for refused in rest[1:]:
        assert refused.code == 2
        assert f"only the version that began it can go on with it: {by}" in refused.err


@pytest.mark.parametrize("version", FORMATS)
def test_a_device_tells_of_what_was_recorded_and_begins_a_new_test(
    place: Path, version: int, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(data_of(version), data)
    newest, unfinished = UNFINISHED[version], session(version, UNFINISHED[version])
    lines = [
        "SESS:LIST?", "SESS:RES? 1", "AUD 1", "THR?", f"SESS:IDEN? {newest}", "SESS:STAR right",
        "SESS:ABOR", "SESS:LIST? 1", "*IDN?",
    ]  # fmt: skip
    wrong, answers = start_and_ask(place, data, lines)
    assert [unfinished.name in words for words in wrong] == [True]
    assert f"(format {version}); it is left as it is" in wrong[0]
    assert f"{newest},unfinished," in answers["SESS:LIST?"][0]
    assert "1,complete," in answers["SESS:LIST?"][0]
    assert json.loads(answers["SESS:RES? 1"][0])["session"] == 1
    assert answers["AUD 1"][0].startswith("session 1 of P-17")
    assert "has no result; only the version that began it" in answers["THR?"][0]
    assert json.loads(answers[f"SESS:IDEN? {newest}"][0])["identifier"] == "P-17"
    assert answers["SESS:STAR right"] == ["OK"]
    assert answers["SESS:LIST? 1"][0].startswith(f"{newest + 1},aborted,")
    assert (data / unfinished.name).read_bytes() == unfinished.read_bytes()
    begun = (data / f"session-{newest + 1:06d}.journal").read_text()
    assert f'"journal": {NEXT}' in begun


@pytest.mark.parametrize("version", FORMATS)
def test_a_device_whose_newest_session_is_over_tells_it_without_a_number(
    place: Path, version: int, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(data_of(version), data)
    for number in range(3, UNFINISHED[version] + 1):
        (data / f"session-{number:06d}.journal").unlink()
    wrong, answers = start_and_ask(place, data, ["AUD", "SESS:IDEN?", "SESS:PAP?"])
    assert wrong == []
    assert answers["AUD"][0].startswith("session 2 of P-18")
    assert json.loads(answers["SESS:IDEN?"][0])["session"] == 2
    paper = json.loads(answers["SESS:PAP?"][0])["paper"]
    (by,) = (row for row in rows_in(paper["sections"]) if row["code"] == "as-recorded")
    assert by["format"] == version


COMMIT = "0123456789ab"


def recorded_with(profile: str, directory: Path, *, cut: int | None = None) -> Path:
    """Return a journal as a version that had the profile left it, or broken off."""
    header, *records = read_journal(LEFT_S2).records
    settings = {**header["settings"], "profile": profile}
    path = directory / "session-000001.journal"
    header = {**header, "settings": settings, "firmware": f"0.2.0.dev0+g{COMMIT}"}
    write_again(path, header, records[:cut])
    return path


@pytest.mark.parametrize("profile", GONE_PROFILES)
def test_no_test_is_begun_with_it(profile: str) -> None:
    with pytest.raises(SettingError, match=r"profile is .*allowed are default, gp-pta-2015"):
        Settings(profile=profile)


@pytest.mark.parametrize("profile", GONE_PROFILES)
def test_it_is_told_as_it_was_recorded(profile: str, tmp_path: Path, gp_pta: GpPta) -> None:
    path, paper = recorded_with(profile, tmp_path), tmp_path / "paper.html"
    assert read_whole(path).result == read_whole(LEFT_S2).result
    assert read_whole(path).header.settings.as_record()["profile"] == profile

    listed = gp_pta("sessions", tmp_path, "--no-index", "--json")
    exported = gp_pta("export", path, "--format", "json")
    reported = gp_pta("report", path, "-o", paper)
    assert [listed[0], exported[0], reported[0]] == [0, 0, 0], reported
    (entry,) = json.loads(listed[1])["sessions"]
    assert entry["outcome"] == "complete"
    assert COMMIT in entry["recorded_by"]
    (told,) = json.loads(exported[1])["sessions"]
    assert told["settings"]["profile"] == profile
    assert profile in paper.read_text("utf-8")


@pytest.mark.parametrize("profile", GONE_PROFILES)
def test_it_is_not_replayed_and_says_why_and_who_does(
    profile: str, tmp_path: Path, gp_pta: GpPta
) -> None:
    code, _, error = gp_pta("replay", recorded_with(profile, tmp_path))
    assert code == 2
    assert "is read here, not replayed" in error
    assert f"profile {profile} is no more" in error
    assert f"replays with commit {COMMIT}" in error


def test_what_is_unfinished_is_left_as_it_is(tmp_path: Path) -> None:
    path = recorded_with("response-times", tmp_path, cut=40)
    before = path.read_bytes()
    assert find_unfinished(tmp_path, SESSION) is None
    with pytest.raises(UnfinishedError, match="only the version that began it") as caught:
        recorded_result(path)
    assert not caught.value.goes_on
    world = World(tmp_path, a_listener("N3"))
    (words,) = world.wrong
    assert "only the version that began it can go on with it" in words
    assert words.endswith("it is left as it is")
    assert path.read_bytes() == before


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return journals of every format so far, of none, and of later ones."""
    data = tmp_path / "data"
    data.mkdir()
    for version in FORMATS:
        for path in journals_of(version, "session"):
            shutil.copy(path, data / path.name.replace("session-000", f"session-{version:03d}"))
        shutil.copy(journals_of(version, "tuning")[0], data / f"tuning-{version:06d}.journal")
    for number, version in ((900, 0), (901, NEXT), (902, 99)):
        body = f'{{"n": 0, "synced": 0, "kind": "header", "journal": {version}, "firmware": "7.1"'
        line = f'{body}, "crc": "{chained_crc("", body.encode())}"}}\n'
        (data / f"session-{number:06d}.journal").write_text(line)
    return data


def test_a_directory_of_several_formats_is_listed(directory: Path, gp_pta: GpPta) -> None:
    code, out, err = gp_pta("sessions", directory, "--no-index")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert (code, err.count("1 foreign, 2 newer, 3 tuning")) == (0, 1)
    assert lines["session-001001.journal"].endswith("  recorded by 0.1.0 (format 1)")
    assert " complete " in lines["session-001001.journal"]
    assert " unfinished " in lines["session-001003.journal"]
    assert lines["session-002001.journal"].endswith("P-17        recorded by 0.1.0 (format 2)")
    assert lines["session-003001.journal"].endswith("P-17")
    assert "newer: was recorded by 7.1 (format 99)" in lines["session-000902.journal"]
    assert f"newer: was recorded by 7.1 (format {NEXT})" in lines["session-000901.journal"]
    assert "foreign: has journal format version 0" in lines["session-000900.journal"]
    assert "tuning: of nobody named, begun 2026-01-02" in lines["tuning-000001.journal"]
    assert lines["tuning-000001.journal"].endswith("complete, recorded by 0.1.0 (format 1)")
    assert lines["tuning-000002.journal"].endswith("recorded by 0.1.0 (format 2)")
    assert lines["tuning-000003.journal"].endswith(", complete")


def test_what_can_be_exported_of_it_is_and_the_rest_is_named(
    directory: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    """A tuning is no hearing test: a directory has it, and nothing is wrong with it."""
    for words in (["export", directory, "-o"], ["sessions", directory, "--no-index", "--export"]):
        out = tmp_path / f"{words[0]}.json"
        code, _, err = gp_pta(*words, out)
        sessions = json.loads(out.read_text())["sessions"]
        assert code == 1
        assert [each["journal"] for each in sessions] == [
            f"session-00{number}.journal"
            for number in (1001, 1002, 2001, 2002, 2003, 3001, 3002, 3003)
        ]
        assert [each["simulated"] for each in sessions] == [None, None] + [True] * 6
        left_out = [line for line in err.splitlines() if line.startswith("left out: ")]
        names = ("000900", "000901", "000902", "001003", "002004", "003004")
        assert all(name in line for name, line in zip(names, left_out, strict=True))
        assert "only the version that began it can go on with it" in left_out[3]
        assert "--unfinished" not in left_out[3] + left_out[4]
        assert "--unfinished exports what is known" in left_out[5]


def test_an_unfinished_one_of_an_earlier_format_is_not_exported_as_far_as_it_goes(
    directory: Path, gp_pta: GpPta
) -> None:
    code, out, err = gp_pta(
        "export", directory / "session-001003.journal", "--unfinished", "--format", "json"
    )
    assert (code, out) == (2, "")
    assert "only the version that began it can go on with it: 0.1.0 (format 1)" in err


def test_people_have_their_sessions_of_all_formats(directory: Path, gp_pta: GpPta) -> None:
    code, out, err = gp_pta("sessions", directory, "--no-index", "--people", "--json")
    sessions = {
        each["identifier"]: [visit["name"] for visit in each["sessions"]]
        for each in json.loads(out)["people"]
    }
    assert code == 1
    assert {"session-001001.journal", "session-002001.journal"} <= {*sessions["P-17"]}
    assert {"session-001002.journal", "session-002002.journal"} <= {*sessions["P-18"]}
    assert "tuning-" not in err


def test_a_console_calls_a_later_format_newer(directory: Path) -> None:
    assert glance(directory / "session-000901.journal").outcome == NEWER
