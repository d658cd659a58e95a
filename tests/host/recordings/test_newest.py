"""Who names no journal gets the newest session, by the numbers in names, and nobody another's."""

import json
import os
import random
import re
import tempfile
from pathlib import Path
from typing import Final

import pytest

from host_tools.commands.sessions.choice import ORDERS
from host_tools.errors import HostError
from host_tools.main import main
from host_tools.recordings.newest import (
    TUNINGS,
    by_number,
    journal_or_newest,
    journals_or_newest,
    newest_in,
)
from tests.host.journals import GOLDEN, LEFT_S2, GpPta, Refused, journal
from tests.read_only import closed

RECORDED: Final = LEFT_S2.read_bytes()
SILENT: Final = (GOLDEN / "silent-ear.journal").read_bytes()
COMMANDS: Final = ("replay", "report", "prescribe", "export")
NEEDED: Final = {"prescribe": ["--uncalibrated"], "export": ["--format", "csv"]}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to be in, and another for what is temporary."""
    here, temporary = tmp_path / "here", tmp_path / "tmp"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return temporary


def put(directory: Path, number: int = 1, content: bytes = RECORDED, at_s: int = 1000) -> Path:
    directory.mkdir(exist_ok=True)
    journal = directory / f"session-{number:06d}.journal"
    journal.write_bytes(content)
    os.utime(journal, (at_s, at_s))
    return journal


@pytest.mark.parametrize("command", COMMANDS)
def test_without_any_session_it_is_said_what_to_type(command: str, refusal_of: Refused) -> None:
    assert refusal_of(command, *NEEDED.get(command, [])) == (
        "gp-pta: no journal is named, and there is no session in 'sessions' here nor one of gp-pta "
        "demo; name one, as in sessions/session-000001.journal, or make one: gp-pta demo\n"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_the_newest_session_is_taken_and_named(
    command: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Of an ear without tones that were heard a page is soon made.
    content = SILENT if command == "report" else RECORDED
    journal = put(elsewhere / "gp-pta-demo-1", content=content)
    more = NEEDED.get(command, [])
    assert main([command, *more]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[0] == f"the newest session: {journal}"
    more = ["--json"] if command == "report" else more
    assert main([command, str(journal), *more]) == 0
    assert "the newest session" not in capsys.readouterr().err
    written = ["session-000001.html"] if command == "report" else []
    assert [path.name for path in Path().iterdir()] == written


def test_a_report_that_is_there_stays_as_it_is(refusal_of: Refused) -> None:
    put(Path("sessions"))
    Path("session-000001.html").write_text("mine", encoding="utf-8")
    why = "'session-000001.html' is there already; it is not overwritten without --force"
    assert why in refusal_of("report")
    assert Path("session-000001.html").read_text(encoding="utf-8") == "mine"
    assert main(["report", "--json"]) == 0, "it writes nothing"


def test_sessions_here_come_before_demonstrations_however_new(elsewhere: Path) -> None:
    put(Path("sessions"), 1, SILENT, at_s=3)
    newest = put(Path("sessions"), 2, RECORDED, at_s=1)
    put(elsewhere / "gp-pta-demo-1", at_s=9000)
    assert journal_or_newest(None) == newest


def test_of_demonstrations_the_one_that_was_written_last_is_the_newest(elsewhere: Path) -> None:
    put(elsewhere / "gp-pta-demo-b", at_s=1)
    newest = put(elsewhere / "gp-pta-listen-a", at_s=3)
    put(elsewhere / "gp-pta-demo-c", at_s=2)
    (elsewhere / "gp-pta-demo-d").mkdir()
    put(elsewhere / "something-else", at_s=9)
    assert journal_or_newest(None) == newest


def test_what_nothing_was_recorded_in_is_passed_over(elsewhere: Path) -> None:
    demonstration = put(elsewhere / "gp-pta-demo-1")
    put(Path("sessions"), 2, b"")
    assert journal_or_newest(None) == demonstration
    first = put(Path("sessions"), 1)
    assert journal_or_newest(None) == first


def test_a_damaged_journal_is_the_newest_all_the_same(refusal_of: Refused) -> None:
    put(Path("sessions"), 1)
    damaged = put(Path("sessions"), 2, b"Dear sirs,\n")
    assert journal_or_newest(None) == damaged
    assert f"{damaged}: is no journal" in refusal_of("replay")


def test_nobody_is_given_the_demonstration_of_somebody_else(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(elsewhere / "gp-pta-demo-1")
    monkeypatch.setattr(os, "getuid", lambda: os.stat(elsewhere).st_uid + 1)
    with pytest.raises(HostError, match="no journal is named"):
        journal_or_newest(None)


ORDERED: Final = [
    "a-letter.journal",
    "session-000002.journal",
    "session-000010-copy.journal",
    "session-000010.journal",
    "session-999999.journal",
    "session-1000000.journal",
    "session-old.journal",
    "session.journal",
    "tuning-999999.journal",
    "tuning-1000000.journal",
]


def test_names_are_sorted_by_the_numbers_in_them() -> None:
    shuffled = random.Random(5).sample(ORDERED, len(ORDERED))
    assert sorted(shuffled, key=by_number) == ORDERED
    odd = ["", "01", "1", "1a", "10", "a1", "²", "٣"]  # digits of other scripts are letters here
    assert sorted(random.Random(5).sample(odd, len(odd)), key=by_number) == odd


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """Return a directory whose newest session has a digit more than the one before it."""
    monkeypatch.chdir(tmp_path)
    directory = tmp_path / "sessions"
    directory.mkdir()
    for number, name in enumerate(ORDERED[3:6], 1):
        (directory / name).write_bytes(journal("left-ear-s2", number))
    return directory


def test_the_newest_session_is_that_of_the_highest_number(sessions: Path) -> None:
    newest = sessions / "session-1000000.journal"
    assert newest_in(sessions) == newest
    assert journal_or_newest(None) == Path("sessions", newest.name)
    for number in (999_999, 1_000_000):
        (sessions / f"tuning-{number}.journal").touch()
    assert newest_in(sessions, TUNINGS).name == "tuning-1000000.journal"


def test_a_directory_is_read_and_listed_in_that_order(sessions: Path, gp_pta: GpPta) -> None:
    assert [path.name for path in journals_or_newest([sessions])] == ORDERED[3:6]
    for index in ("", "--no-index"):
        _, out, _ = gp_pta("sessions", sessions, "--json", *filter(None, [index]))
        assert [each["name"] for each in json.loads(out)["sessions"]] == ORDERED[3:6]
    for order in ORDERS:
        _, out, _ = gp_pta("sessions", sessions, "--sort", order)
        assert re.findall(r"^session-\S*", out, re.MULTILINE) == ORDERED[3:6], order
    _, out, _ = gp_pta("sessions", sessions, "--reverse")
    assert re.findall(r"^session-\S*", out, re.MULTILINE) == ORDERED[5:2:-1]


def test_what_is_in_folders_is_read_and_a_folder_that_cannot_be_is_named(
    sessions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sessions / "lost+found"
    for each in (sessions / "2026" / "march", folder):
        each.mkdir(parents=True)
    (sessions / "2026" / "march" / "renamed").write_bytes(RECORDED)
    tuning = GOLDEN.parent / "formats" / "3" / "tuning-000001.journal"
    (sessions / "2026" / "renamed, too").write_bytes(tuning.read_bytes())
    with closed(folder):
        names = [str(path.relative_to(sessions)) for path in journals_or_newest([sessions])]
    assert names == ["2026/march/renamed", "2026/renamed, too", *ORDERED[3:6]]
    words = f"left out: '{folder}' cannot be read: Permission denied\n"
    assert capsys.readouterr().err == words
    of_sessions = journals_or_newest([sessions], tunings=False)
    assert [path.name for path in of_sessions] == ["renamed", *ORDERED[3:6]]


def test_a_directory_without_journals_beside_others_is_named(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert len(journals_or_newest([sessions, tmp_path / "empty"])) == 3
    words = f"no journals in '{tmp_path}/empty'"
    assert capsys.readouterr().err == f"{words}\n"
    with pytest.raises(HostError, match=words):
        journals_or_newest([tmp_path / "empty"])
