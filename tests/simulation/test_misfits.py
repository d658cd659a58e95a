"""Devices whose tone generator is not what the wire page has: what the operator is told."""

from dataclasses import replace
from typing import Final

import pytest

from tests.simulation.run import Run
from tests.simulation.stories import QUIET
from tests.simulation.story import Trouble

LONG_S: Final = 30.0
SAFE_S: Final = 40.0


def live_through(kind: str, for_s: float = LONG_S, at_s: float = 4.0) -> tuple[list[str], int]:
    """Live through one trouble; return the errors that the operator was told, and the starts."""
    story = replace(QUIET, troubles=(Trouble(kind, at_s, for_s, 2),), safety_s=SAFE_S)
    run = Run(story)
    outcome = run.live()
    assert outcome.results
    return run.world.reported, outcome.lives


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("board deaf to ping", "'ping' was sent 9 times without answer"),
        ("board answers without fields", "the answer to 'ping' has no event"),
    ],
)
def test_a_board_that_greets_and_no_more_is_lost_for_good_and_that_is_said_once(
    kind: str, words: str
) -> None:
    errors, lives = live_through(kind)
    lost = [error for error in errors if words in error]
    # Once when it is lost, and once when that is for good: as often as the firmware was started.
    assert [error for error in lost if error.startswith("tone generator lost")] == [
        error for error in lost if "lost for good" not in error
    ]
    for_good = [error for error in lost if "lost for good, after 5 losses in a row" in error]
    assert for_good
    assert "paused: SESS:CONT" in for_good[0]
    assert len(lost) - len(for_good) <= lives
    assert len(for_good) < lives


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("board clock stands still", "its clock"),
        ("board clock drifts", "its clock"),
        pytest.param("board clock jumps", "its clock", marks=pytest.mark.thorough),
        pytest.param("board clock wraps", "its clock", marks=pytest.mark.thorough),
        ("board clock is negative", "which wire 1 does not allow"),
        ("board tells the future", "s in the future"),
    ],
)
def test_a_clock_that_is_not_that_of_the_page_is_named_and_the_test_comes_to_its_end(
    kind: str, words: str
) -> None:
    errors, _ = live_through(kind)
    assert any(error.startswith("tone generator lost: ") and words in error for error in errors)
    assert not any("is held down" in error for error in errors)


@pytest.mark.parametrize("kind", ["button unknown", "button of no use held"])
def test_a_button_that_means_nothing_pauses_nothing(kind: str) -> None:
    errors, lives = live_through(kind)
    assert lives == 1
    unknown = [error for error in errors if "which wire 1 does not allow" in error]
    assert errors == unknown
    assert len(unknown) == (kind == "button unknown")
