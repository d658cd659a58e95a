"""After the next change of format everything that was recorded so far is read by every command."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.formats import FORMATS, data_of
from tests.formats.next_format import NEXT, make_next, run_next
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


UNFINISHED: Final = {1: 3, 2: 4}  # sessions, by format


@pytest.mark.parametrize("version", FORMATS)
def test_every_command_tells_of_what_was_recorded(
    place: Path, version: int, tmp_path: Path
) -> None:
    complete, aborted = session(version, 1), session(version, 2)
    unfinished = session(version, UNFINISHED[version])
    fit, paper = tmp_path / "aid.fit", tmp_path / "paper.html"
    by = f"0.1.0 (format {version})"
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
