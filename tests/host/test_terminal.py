"""What a terminal is told: its lines break between words, whatever its width."""

import os
import sys

import pytest

from firmware_py.operator.replies import audiogram_lines
from host_tools.recordings.recorded_session import read_true_session
from host_tools.terminal import lines_within, say_wrapped
from tests.host.journals import LEFT_S2

JSON = '{"ears": [{"ear": "left", "why": "a value of many words that somebody copies"}]}'


@pytest.mark.parametrize("columns", [80, 40])
def test_no_word_of_an_audiogram_is_broken(columns: int) -> None:
    session = read_true_session(LEFT_S2)
    lines = audiogram_lines(session.result, session.header.calibration)
    wide = [line for line in lines if len(line) > columns and "left" in line]
    assert wide, "there is something to break"
    for line in wide:
        parts = lines_within(line, columns)
        assert len(parts) > 1
        assert max(map(len, parts)) <= columns
        assert " ".join(parts).split() == line.split()


def test_what_has_no_words_and_what_is_copied_stay_whole() -> None:
    session = read_true_session(LEFT_S2)
    rows = [line for line in audiogram_lines(session.result, session.header.calibration)
            if line.lstrip(" 0123456789-")[:1] in (".", "|")]  # fmt: skip
    assert len(rows) == 27
    for line in [*rows, JSON, f"path={'x' * 90}"]:
        assert lines_within(line, 40) == [line]


def test_a_program_is_told_lines_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "several words " * 9
    monkeypatch.setenv("COLUMNS", "40")
    say_wrapped(words)
    assert capsys.readouterr().out == f"{words}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    say_wrapped(words)
    told = capsys.readouterr().out.splitlines()
    assert max(map(len, told)) <= int(os.environ["COLUMNS"])
    assert " ".join(told).split() == words.split()
