"""A journal that somebody made to do harm is refused, or costs no more than its size allows."""

import gc
import json
import os
import re
import shutil
import sys
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from firmware_py.journal import RECORD_BYTES_MAX, JournalError, Record, read_journal
from firmware_py.journal.records import JOURNAL_BYTES_MAX, chained_crc, encode_line
from firmware_py.sessions.replay import replay
from firmware_py.terms.events import Continued, Paused, as_record
from firmware_py.terms.printable import show
from host_tools.main import main
from tests.budget import either
from tests.fuzz.hostile import as_text, content_of
from tests.host.journals import (
    LEFT_S2,
    MASKED,
    NONSENSE,
    GpPta,
    Refused,
    write_again,
    write_nonsense,
)

PAUSES: Final = 25
CALLS_MAX: Final = 200  # for a pause and its end: 160; to look at the noise anew takes 120 more
PART: Final = 32  # of the longest journal, so that the tests are quick: cost goes with size
COMMANDS: Final = (
    ["replay"], ["replay", "--json"], ["replay", "--noise", "4"], ["report", "--json"],
    ["export", "--format", "csv"], ["export", "--format", "fhir", "--unfinished"],
    ["prescribe", "--uncalibrated"], ["prescribe", "--uncalibrated", "--unfinished"],
)  # fmt: skip
MEBIBYTE: Final = 2**20


def write(path: Path, records: Iterable[Record]) -> Path:
    crc, lines = "", []
    for number, record in enumerate(records):
        line, crc = encode_line(number, number, record, crc)
        lines.append(line)
    path.write_bytes(b"".join(lines))
    return path


def with_line(path: Path, inside: bytes) -> Path:
    """Write a journal whose last line, with a right CRC, is what no writer would write."""
    write(path, read_journal(LEFT_S2).records[:3])
    crc = path.read_bytes()[-11:-3].decode()
    body = b'{"n": 3, "synced": 3, "kind": "note", "x": ' + inside
    line = body + f', "crc": "{chained_crc(crc, body)}"}}\n'.encode()
    path.write_bytes(path.read_bytes() + line)
    return path


def test_lines_full_of_small_things_take_bounded_memory(tmp_path: Path) -> None:
    header = read_journal(LEFT_S2).header
    crowd: list[dict[str, Any]] = [{} for _ in range((RECORD_BYTES_MAX - 200) // 4)]
    count = JOURNAL_BYTES_MAX // RECORD_BYTES_MAX // PART
    path = write(tmp_path / "crowd", [header, *[{"kind": "note", "x": crowd}] * count])
    tracemalloc.start()
    records = read_journal(path).records
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(records[-1]["x"]) == len(crowd)
    assert peak_bytes * PART < 512 * MEBIBYTE


@pytest.mark.thorough
def test_more_events_than_a_test_can_have_take_what_their_lines_take() -> None:
    """Twice the pauses, twice the work: also where each begins a tone anew that needs noise."""
    golden = [*read_journal(MASKED).records]
    a_mask = next(
        n for n, each in enumerate(golden) if each.get("action", {}).get("what") == "mask"
    )
    begun = golden[: a_mask + 1]
    at_us = max(record.get("at_us", 0) for record in begun)
    pause: list[Record] = [
        {"kind": "input", "at_us": at_us, "event": as_record(event)}
        for event in (Paused(), Continued())
    ]
    replay([*begun, *pause])  # what is done once is not counted
    few, more, most = (_calls_of([*begun, *pause * (PAUSES * times)]) for times in (1, 2, 3))

    assert most - more == more - few
    assert more - few < CALLS_MAX * PAUSES


def _calls_of(records: list[Record]) -> int:
    """Return how many functions are called while these records are followed.

    Without logarithms and the like, which are Python under Numba and compiled otherwise; and
    without the garbage collector: it comes at no fixed time, and others have it call them.
    """
    calls = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call" and not frame.f_code.co_filename.endswith("elementary.py")

    gc.disable()
    sys.setprofile(count)
    try:
        replay(records)
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


@pytest.mark.parametrize(
    "inside",
    [b"[" * 5000 + b"]" * 5000, b'{"a":' * 2000 + b"1" + b"}" * 2000, b"9" * 11_000, b"NaN"],
    ids=["deep list", "deep object", "long number", "no number"],
)
def test_what_json_can_be_abused_for_is_a_torn_end_and_no_harm(
    tmp_path: Path, inside: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = with_line(tmp_path / "j", inside)
    assert main(["replay", str(path)]) == 3
    assert "torn end: " in capsys.readouterr().out


def check_refused(
    path: Path,
    gp_pta: GpPta,
    place: str,
    words: str,
    exit_code: int,
    commands: Iterable[list[str]] = COMMANDS,
) -> None:
    """Every command that reads a journal says in one line what is wrong with it, and no more."""
    for command in commands:
        code, out, err = gp_pta(*command, path)
        assert (code, out, err.count("\n")) == (exit_code, "", 1)
        assert err.startswith(f"gp-pta: {path}: {place}")
        assert words in err
        assert err.count(str(path)) == 1
        assert len(err) < 400 + len(str(path))
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty; no header was ever recorded in it"),
        (b"Dear sirs,\n", "is no journal"),
        (bytes(range(256)), "is no journal"),
        ({"recipe": "soup"}, "the header has no 'session'"),
    ],
)
def test_what_is_no_journal_of_a_session_is_one_error_of_every_command(
    tmp_path: Path, gp_pta: GpPta, content: Any, words: str
) -> None:
    path = tmp_path / "session-000001.journal"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        write_again(path, content, [])
    check_refused(path, gp_pta, "", words, 2 if isinstance(content, bytes) else 6)


def test_a_kind_as_long_as_a_record_is_one_short_error(tmp_path: Path, gp_pta: GpPta) -> None:
    path = tmp_path / "session-000001.journal"
    path.write_bytes(content_of([as_text({"kind": {"x" * 900: "y" * 9000}})]))
    check_refused(path, gp_pta, "is no journal", "record 0 is of kind {'xxx", 2)


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_one_error_of_every_command(tmp_path: Path, gp_pta: GpPta, name: str) -> None:
    """Quickly of another command for each, and of all of them for two."""
    path = tmp_path / "session-000001.journal"
    words = write_nonsense(path, name)
    place = "record 1: result" if NONSENSE[name][0][0] == "result" else "the header: "
    first = [*NONSENSE].index(name) % len(COMMANDS)
    count = len(COMMANDS) if name in ("an outcome", "a version") else either(1, len(COMMANDS))
    commands = [*COMMANDS[first:], *COMMANDS[:first]][:count]
    check_refused(path, gp_pta, place, words, 6, commands)


@pytest.mark.parametrize("name", ["many ears", "a mark", "an identifier"])
def test_nonsense_does_not_stop_what_works_on_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    shutil.copy(LEFT_S2, tmp_path / "session-000001.journal")
    path, out = tmp_path / "session-000002.journal", tmp_path / "out.json"
    words = write_nonsense(path, name)
    assert main(["sessions", str(tmp_path), "--no-index"]) == 0
    good, bad = capsys.readouterr().out.splitlines()[1:]
    assert " complete " in good
    assert bad.split()[:2] == [path.name, "foreign:"]
    assert words in bad
    assert main(["sessions", str(tmp_path), "--no-index", "--export", str(out)]) == 1
    (left_out,) = re.findall("left out: .*", capsys.readouterr().err)
    assert words in left_out
    assert len(json.loads(out.read_text())["sessions"]) == 1


@pytest.mark.parametrize("at_us", [10**400, -1, 1e18, True, "7", None])
def test_a_time_that_no_session_has_is_refused(
    tmp_path: Path, at_us: Any, refusal_of: Refused
) -> None:
    records = [*read_journal(LEFT_S2).records]
    records[1] = {**records[1], "at_us": at_us}
    assert f"record 1: at_us is {show(at_us)}; allowed are " in refusal_of(
        "replay", write(tmp_path / "j", records), code=6
    )


def test_no_number_of_an_input_is_too_large_to_be_followed_or_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = read_journal(LEFT_S2).records[:60]
    first_of = {}
    for number, record in enumerate(golden):
        for name, value in record.get("event", {}).items():
            if type(value) is int:
                first_of[record["event"]["what"], name] = number
    assert len(first_of) > 6
    for (_, name), number in first_of.items():
        records = [*golden]
        records[number] = {**golden[number], "event": {**golden[number]["event"], name: 10**400}}
        path = write(tmp_path / "j", records)
        assert main(["replay", str(path)]) in (1, 3, 6), "and raises nothing"
        assert "Error: " not in capsys.readouterr().err, "nothing that was not foreseen either"


def test_a_sparse_file_of_a_terabyte_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], refusal_of: Refused
) -> None:
    path = tmp_path / "session-000001.journal"
    path.write_bytes(LEFT_S2.read_bytes())
    os.truncate(path, 10**12)
    assert f"has {10**12} bytes; a journal has at most " in refusal_of("replay", path)
    assert main(["sessions", str(tmp_path)]) == 0
    assert f"has {10**12} bytes" in capsys.readouterr().out


def test_a_pipe_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "session-000001.journal")
    with pytest.raises(JournalError, match="Not a regular file"):
        read_journal(tmp_path / "session-000001.journal")
    assert main(["sessions", str(tmp_path)]) == 0
    assert "Not a regular file" in capsys.readouterr().out
