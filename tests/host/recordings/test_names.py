"""Journals are in the order of their numbers, however many digits these have."""

import json
import random
import re
from pathlib import Path
from typing import Final

import pytest

from host_tools.commands.sessions.choice import ORDERS
from host_tools.recordings.newest import (
    TUNINGS,
    by_number,
    journal_or_newest,
    journals_or_newest,
    newest_in,
)
from tests.host.journals import LEFT_S2, GpPta

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
    for name in ORDERED[3:6]:
        (directory / name).write_bytes(LEFT_S2.read_bytes())
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
