"""A test that does not go on is noticed; one whose machine stood or whose board is gone is not."""

from types import SimpleNamespace
from typing import Any

import pytest

from device.simulator.virtual_clock import S, VirtualClock
from firmware_py.board.standstill import PRESENTATION_S_MAX, STATE_S_MAX, Standstill
from firmware_py.presenting.presenter import FINISHED, LATE, LISTENING, PAUSE_BEFORE, PAUSED, READY


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
