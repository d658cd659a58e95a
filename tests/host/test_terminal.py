"""What a terminal is told: lines that break between words, and how far long work is."""

import os
import sys

import pytest

from firmware_py.operator.replies import audiogram_lines
from host_tools import terminal
from host_tools.recordings.recorded_session import read_true_session
from host_tools.recordings.source import source_of
from host_tools.terminal import lines_within, say_wrapped
from tests.host.journals import LEFT_S2

JSON = '{"ears": [{"ear": "left", "why": "a value of many words that somebody copies"}]}'


@pytest.mark.parametrize("columns", [80, 40])
def test_no_word_of_an_audiogram_is_broken(columns: int) -> None:
    session = read_true_session(LEFT_S2)
    lines = audiogram_lines(source_of(session))
    wide = [line for line in lines if len(line) > columns and "left" in line]
    assert wide, "there is something to break"
    for line in wide:
        parts = lines_within(line, columns)
        assert len(parts) > 1
        assert max(map(len, parts)) <= columns
        assert " ".join(parts).split() == line.split()


def test_what_has_no_words_and_what_is_copied_stay_whole() -> None:
    session = read_true_session(LEFT_S2)
    rows = [line for line in audiogram_lines(source_of(session))
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


class Clock:
    """A clock that each look moves on."""

    def __init__(self, step_s: float) -> None:
        self._now_s, self._step_s = 0.0, step_s

    def monotonic(self) -> float:
        self._now_s += self._step_s
        return self._now_s


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every piece of work take seconds."""
    monkeypatch.setattr(terminal, "time", Clock(5.0))


def sit_at_a_terminal(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Have standard error, wherever it goes, be a terminal of a kind."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", kind)
    for variable in ("TTY_COMPATIBLE", "TTY_INTERACTIVE", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)


def test_long_work_is_told_in_a_line_at_each_tenth_with_the_time_to_go() -> None:
    lines = terminal.ProgressLines("sessions", 200, 0)
    told = [line for done in range(1, 201) for line in lines.due(done, 6.0 * done)]
    assert told[0] == "sessions: 1 % done, about 0:19:48 to go"  # ten seconds have passed
    assert told[1] == "sessions: 10 % done, about 0:18:00 to go"
    assert told[-2:] == ["sessions: 90 % done, about 0:02:00 to go", "sessions: 100 % done"]
    assert len(told) == 11


def test_what_was_done_before_took_none_of_this_time() -> None:
    lines = terminal.ProgressLines("sessions", 100, 50)
    assert lines.due(50, 60.0) == [], "nothing can be said of the time to go"
    assert lines.due(60, 100.0) == ["sessions: 60 % done, about 0:06:40 to go"]
    assert lines.due(60, 200.0) == []


def test_work_of_a_moment_says_nothing() -> None:
    lines = terminal.ProgressLines("sessions", 4, 0)
    assert [line for done in range(5) for line in lines.due(done, 0.1 * done)] == []


@pytest.mark.usefixtures("slow")
def test_a_pipe_gets_lines_beside_what_the_command_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert [*terminal.show_progress("abcde", 5, "letters")] == [*"abcde"]
    said = capsys.readouterr()
    assert said.out == ""
    told = [line.partition(",")[0] for line in said.err.splitlines()]
    assert told == [f"letters: {share} % done" for share in (20, 40, 60, 80)]


@pytest.mark.usefixtures("slow")
def test_a_terminal_shows_a_bar_and_no_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sit_at_a_terminal(monkeypatch, "xterm")
    assert [*terminal.show_progress("abcde", 5, "letters")] == [*"abcde"]
    said = capsys.readouterr()
    assert said.out == ""
    assert "letters" in said.err
    assert "to go" not in said.err
    assert "\x1b[" in said.err, "the bar is drawn over"


def test_a_terminal_that_cannot_draw_over_a_line_is_told_in_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sit_at_a_terminal(monkeypatch, "dumb")
    monkeypatch.setattr(terminal, "LINE_AFTER_S", 0.0)
    assert [*terminal.show_progress("ab", 2, "letters")] == [*"ab"]
    assert "letters: 50 % done, about" in capsys.readouterr().err
