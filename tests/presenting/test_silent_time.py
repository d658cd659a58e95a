"""Pauses as silent trials."""

from typing import Any

import pytest

from firmware_py.presenting.pace import Pace
from firmware_py.presenting.silent_time import SilentTime
from firmware_py.terms.settings import Settings

TRIAL_US, AGAIN_US = Pace(Settings()).late_us, Pace(Settings()).again_us
PRESS, DISTURB, SHAKE = SilentTime.count_press, SilentTime.disturb, SilentTime.shake
BEGIN = SilentTime.begin


def silent() -> SilentTime:
    """One that counts, as from the second presentation on."""
    silent_time = SilentTime(Pace(Settings()))
    for _ in range(2):
        silent_time.begin()
    return silent_time


@pytest.mark.parametrize(
    "course",
    [
        pytest.param([TRIAL_US - 1, None, 1, False, None], id="pauses of one trial together"),
        pytest.param(
            [2 * TRIAL_US + 5, False, False, None, TRIAL_US - 5, False], id="what is left"
        ),
        pytest.param([TRIAL_US - 1, PRESS, True, TRIAL_US - 1, None], id="a press begins it anew"),
        pytest.param([*[PRESS] * 9, True, None], id="presses before one answer are one"),
        pytest.param([-TRIAL_US, TRIAL_US, False], id="a short pause counts against no other"),
        pytest.param([DISTURB, PRESS, None, BEGIN, PRESS, True], id="disturbed, until the next"),
        pytest.param(
            [SHAKE, PRESS, None, BEGIN, PRESS, None, BEGIN, PRESS, True], id="lost, and one more"
        ),
    ],
)
def test_pauses_together_as_long_as_a_tone_may_be_answered_are_one_trial(course: list[Any]) -> None:
    """Times that pass, what happens, and what `take` says then."""
    silent_time = silent()
    for step in course:
        if step is None or isinstance(step, bool):
            assert silent_time.take() is step
        elif isinstance(step, int):
            silent_time.pass_time(step)
        else:
            step(silent_time)


def test_a_press_before_the_first_presentation_does_not_count() -> None:
    """It may answer what sounded before the test."""
    silent_time = SilentTime(Pace(Settings()))
    silent_time.begin()
    silent_time.count_press()
    assert silent_time.take() is None


def test_a_second_press_for_a_tone_is_no_press_in_silence() -> None:
    silent_time = silent()
    silent_time.pass_time(TRIAL_US)
    silent_time.begin(answered_us=5_000_000)

    assert silent_time.again(5_000_000 + AGAIN_US)
    assert silent_time.take() is False
    assert silent_time.stray_presses == 1
    assert not silent_time.again(5_000_001 + AGAIN_US)


@pytest.mark.parametrize(("every", "belongs"), [(1, True), (2, True), (3, False), (8, False)])
def test_who_presses_twice_for_less_than_half_of_the_tones_presses_in_silence(
    every: int, belongs: bool
) -> None:
    silent_time = silent()
    said = []
    for number in range(24):
        silent_time.begin(answered_us=number)
        if number % every == every - 1:
            said.append(silent_time.again(number + 1))

    assert set(said[24 // every // 2 :]) == {belongs}
    assert silent_time.stray_presses == sum(said), "the others are counted as any in silence"


def test_of_who_presses_twice_only_what_is_left_of_a_pause_is_silence() -> None:
    silent_time, other = silent(), silent()
    other.begin(answered_us=0)
    other.pass_time(TRIAL_US)
    assert other.take() is False, "of who does not, all of it is"
    silent_time.begin(answered_us=0)
    assert silent_time.again(1)
    silent_time.begin(answered_us=9_000_000)
    silent_time.pass_time(AGAIN_US + TRIAL_US - 1)
    assert silent_time.take() is None
    silent_time.pass_time(1)
    assert silent_time.take() is False


def test_without_an_answer_before_or_after_the_board_was_lost_no_press_is_a_second_one() -> None:
    silent_time = silent()
    silent_time.begin(answered_us=1000)
    silent_time.shake()
    assert not silent_time.again(1001)
    silent_time.begin(answered_us=1000)
    assert not silent_time.again(999)
    assert silent_time.again(1000)
