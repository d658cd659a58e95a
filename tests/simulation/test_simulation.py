"""Devices that live through whatever comes, from their seeds."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from tests.budget import quick
from tests.simulation.given import ON_FILE
from tests.simulation.run import Run, check
from tests.simulation.soak import DEVICE, command, main, shrunk
from tests.simulation.soak import KINDS as KINDS_OF_WORK
from tests.simulation.stories import ONCE_BAD, QUIET
from tests.simulation.story import (
    CABLE,
    CALIBRATIONS,
    KINDS,
    NARROW,
    VIBRATORS,
    Story,
    Trouble,
    draw,
)

SEEDS: Final = 24  # `make soak` lives through thousands
EVERY_DAY: Final = (1, 2, 5, 7, 14)  # the others are lived through by `make test-all`
TWICE: Final = 31
LONG_S: Final = 30.0
SAFE_S: Final = 40.0


@pytest.mark.parametrize("seed", quick(range(SEEDS), *EVERY_DAY))
def test_a_device_keeps_its_promises(seed: int) -> None:
    print(draw(seed))
    check(draw(seed))


@pytest.mark.parametrize("seed", quick(range(8), 6))
def test_so_does_one_with_a_test_by_bone(seed: int) -> None:
    """One of these has no calibration, and one gets another on the way."""
    print(draw(seed).by_bone())
    check(draw(seed).by_bone())


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_keeps_its_promises_while_one_thing_befalls_it_again_and_again(kind: str) -> None:
    troubles = tuple(Trouble(kind, 2.0 + 4.0 * n, KINDS[kind][0], n) for n in range(3))
    story = replace(
        QUIET,
        settings={**QUIET.settings, **NARROW},
        seed=len(kind),
        safety_s=15.0,
        troubles=troubles,
    )
    outcome = Run(story).live()
    assert outcome.met[kind] == len(troubles)
    assert outcome.results


def test_a_story_is_the_same_every_time() -> None:
    lived = [check(draw(TWICE)) for _ in range(2)]
    assert lived[0] == lived[1]
    assert draw(TWICE) == draw(TWICE) != draw(TWICE + 1)


def test_most_stories_keep_the_answers_and_all_kinds_of_trouble_come() -> None:
    stories = [draw(seed) for seed in range(200)]
    assert sum(story.keeps_answers and bool(story.kinds()) for story in stories) > 60
    assert {kind for story in stories for kind in story.kinds()} == {*KINDS, *CABLE}
    assert {story.calibration for story in stories} == {*CALIBRATIONS}
    assert {story.by_bone().calibration for story in stories} == {"none", *VIBRATORS}
    assert {*ON_FILE} == {*CALIBRATIONS, *VIBRATORS}


@pytest.mark.parametrize("what", ONCE_BAD)
def test_what_once_ended_badly_does_not_any_more(what: str) -> None:
    check(ONCE_BAD[what])


# --- a failure ---------------------------------------------------------------------------------


def _fails_of(*kinds: str) -> Callable[[Story], bool]:
    return lambda story: set(kinds) <= set(story.kinds())


def test_a_failure_is_cut_down_to_what_it_needs() -> None:
    long = next(
        story for story in map(draw, itertools.count())
        if {"firmware killed", "drop"} <= set(story.kinds()) and len(story.kinds()) >= 6
    )  # fmt: skip
    numbers, cable = shrunk(long, _fails_of("firmware killed", "drop"))
    assert [long.troubles[number].kind for number in numbers] == ["firmware killed"]
    assert cable == {"drop"}


def test_a_story_can_be_told_again(capsys: pytest.CaptureFixture[str]) -> None:
    again = command(KINDS_OF_WORK[DEVICE], 3, (frozenset({0}), frozenset({"drop"})))
    assert again == "python -m tests.simulation.soak --seed 3 --troubles '0' --cable 'drop'"
    assert main(["--seed", "3", "--troubles", "0", "--cable", "drop"]) == 0
    told = capsys.readouterr().out
    assert str(draw(3).only({0}, {"drop"})) in told
    assert "lived through" in told


# --- a tone generator that is not what the wire page has: what the operator is told ---------------


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
