"""When a tone generator is lost, said to be lost, and lost for good."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from device.simulator.virtual_clock import S, VirtualClock
from device.simulator.world import WholeRun, World
from firmware_py.board.board_connection import (
    LOSSES_MAX,
    REOPEN_S,
    SOUND_S,
    TRUE_S,
    BoardConnection,
)
from firmware_py.link.client import Client
from firmware_py.operator.watch import PRESENTATION_S_MAX, STATE_S_MAX, Standstill
from firmware_py.platform.ports import Port, PortError
from firmware_py.presenting.presenter import FINISHED, LATE, LISTENING, PAUSE_BEFORE, PAUSED, READY
from tests.firmware.whole_sessions import a_listener

RECONNECT_S = 30.0


class Line(Port):
    is_open = True

    def __init__(self) -> None:
        super().__init__("line", "")


class Connected:
    """A connection to a board that greets as often as it is asked."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.it = BoardConnection(Line(), Client(lambda: "00000001"), self.clock, RECONNECT_S)
        self.it.begin()
        self.it.meet("sim 1")

    def wait(self, seconds: float) -> bool:
        """Let time pass; return whether the board is still worth waiting for."""
        for _ in range(round(10 * seconds)):
            self.clock.us += S // 10
            if not self.it.greet_again():
                return False
        return True

    def lose(self, kept_s: float, away_s: float = 1.5, *, disbelieved: bool = False) -> bool:
        """Keep it for so long, lose it, greet it again; return whether that was said."""
        assert self.wait(kept_s)
        said = self.it.note_loss("gone", disbelieved=disbelieved)
        self.for_good = not self.wait(away_s)
        if not self.for_good:
            self.it.meet("sim 1")
        return said


def test_a_board_that_greets_and_no_more_is_lost_for_good_and_said_to_be_lost_once() -> None:
    board = Connected()
    said = [board.lose(1.0) for _ in range(LOSSES_MAX - 1)]
    assert not board.for_good
    said.append(board.lose(1.0))
    assert board.for_good
    assert said == [True] + [False] * (LOSSES_MAX - 1)
    assert board.it.last_words() == (
        "the tone generator at 'line' is lost for good, after 5 losses in a row: gone"
    )


def test_a_board_that_is_lost_now_and_then_is_not() -> None:
    board = Connected()
    assert all(board.lose(SOUND_S + 0.1) for _ in range(10 * LOSSES_MAX))
    assert not board.for_good


def test_a_board_whose_word_means_nothing_is_remembered_for_longer() -> None:
    board = Connected()
    for _ in range(LOSSES_MAX):
        assert board.lose(SOUND_S + 60.0, disbelieved=True)
    assert board.for_good
    assert "after 5 losses for a word that could not be true: " in board.it.last_words()

    board = Connected()
    for _ in range(2 * LOSSES_MAX):
        assert board.lose(TRUE_S + 1.0, disbelieved=True)
    assert not board.for_good


@pytest.mark.parametrize(("away_s", "losses"), [(RECONNECT_S + 0.2, 1), (14.0, 3)])
def test_the_time_that_a_board_is_waited_for_bounds_the_whole(away_s: float, losses: int) -> None:
    """However often it greets meanwhile."""
    board = Connected()
    for _ in range(losses - 1):
        board.lose(1.0, away_s)
        assert not board.for_good
    board.lose(1.0, away_s)
    assert board.for_good
    assert board.it.is_unsound == (losses > 1)


def test_the_time_in_which_it_answered_between_is_none_of_waiting() -> None:
    board = Connected()
    for _ in range(LOSSES_MAX - 1):
        board.lose(SOUND_S - 1.0, 4.0)
        assert not board.for_good
    assert (LOSSES_MAX - 1) * (SOUND_S - 1.0 + 4.0) > RECONNECT_S


def test_what_it_cannot_have_told_is_said_once_a_greeting() -> None:
    board = Connected()
    assert [board.it.note_refusal(f"button={n}") for n in (7, 7, 8)] == [True, False, False]
    board.lose(1.0)
    assert board.it.note_refusal("button=7")


def test_a_port_that_is_gone_is_tried_again_as_soon_as_the_wait_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board, tries_s = Connected(), list[float]()

    def try_again() -> None:
        tries_s.append(board.clock.seconds)
        raise PortError("it is not there")

    monkeypatch.setattr(board.it.port, "is_open", False)
    monkeypatch.setattr(board.it.port, "open", try_again)
    for _ in range(11):
        board.it.receive()
        board.clock.us += round(REOPEN_S * S) // 4
    assert tries_s == [0.0, REOPEN_S, 2.0 * REOPEN_S]


@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize("in_test", [False, True])
def test_a_name_that_leads_to_a_silent_device_is_looked_up_again(
    tmp_path: Path, in_test: bool
) -> None:
    """Names are given anew, at the start, where one waits for the board, and in a test."""
    world = (World if in_test else WholeRun)(tmp_path, a_listener("S2"), wait=not in_test)
    if in_test:
        world.until(lambda: world.client.connected)
        assert world.ask("SESS:STAR LEFT,SEED=3") == ["OK"]
        world.until(lambda: len(world.board.played) == 2)
        assert " board=lost" not in world.ask("SESS:STAT?")[0]
        world.tones.vanish()
        world.tones.there = True
    world.tones.elsewhere = True
    if not in_test:
        world.firmware.start()
    world.run(5 * S)
    assert not world.client.connected
    (lost,) = world.ask("SESS:STAT?")
    assert " board=lost" in lost
    assert (" seconds_to_go=- " in lost) is in_test
    world.tones.elsewhere = False
    world.until(lambda: world.client.connected)
    assert " board=lost" not in world.ask("SESS:STAT?")[0]
    if in_test:
        world.finish()
    world.close()


class Watched:
    """A test that is where it is told, looked at twice a second."""

    def __init__(self) -> None:
        self.clock = VirtualClock(1)
        self.standstill = Standstill(self.clock)
        self.test: Any = SimpleNamespace(number=1, state=LISTENING)

    def run(self, seconds: float, *, answered: bool = True, turn_s: float = 0.5) -> str:
        for _ in range(round(seconds / turn_s)):
            self.clock.us += round(turn_s * S)
            if words := self.standstill.look(self.test, answered=answered):
                return words
        return ""


@pytest.mark.parametrize("state", [LISTENING, LATE, PAUSE_BEFORE])
def test_no_state_lasts_longer_than_its_bound(state: str) -> None:
    watched = Watched()
    watched.test.state = state
    assert watched.run(STATE_S_MAX) == ""
    assert watched.run(1.0) == f"presentation 1 was {state!r} for 60 s"


@pytest.mark.parametrize("state", [READY, PAUSED, FINISHED])
def test_what_waits_for_somebody_may_last(state: str) -> None:
    watched = Watched()
    watched.test.state = state
    assert watched.run(3 * PRESENTATION_S_MAX) == ""


def test_a_presentation_that_is_asked_for_ever_is_noticed() -> None:
    watched = Watched()
    words = ""
    for turn in range(100):
        watched.test.state = (PAUSE_BEFORE, LISTENING)[turn % 2]
        words = words or watched.run(10.0)
    assert words == "presentation 1 was not over in 300 s"


def test_a_test_that_goes_on_is_left_alone() -> None:
    watched = Watched()
    for number in range(100):
        watched.test.number = number
        assert watched.run(50.0) == ""


def test_time_without_a_board_and_of_a_machine_that_stood_still_does_not_count() -> None:
    watched = Watched()
    assert watched.run(10 * STATE_S_MAX, answered=False) == ""
    assert watched.run(50 * 20.0, turn_s=20.0) == ""
