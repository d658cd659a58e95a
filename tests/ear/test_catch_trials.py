"""Catch trials: when they come, and what their answers say of the listener."""

import itertools
import math
from types import SimpleNamespace
from typing import Any, cast

import pytest

from firmware_py.ear.catch_trials import (
    CATCH_GAP,
    CATCHES_IN_DOUBT,
    FALSE_ALARM_RATE_IN_DOUBT,
    CatchTrials,
)
from firmware_py.presenting.presenter import LATE, PAUSE_BEFORE
from firmware_py.terms import events
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CONDUCTS, Settings
from firmware_py.terms.words import say
from tests.budget import quick
from tests.said import each_said
from tests.session.driver import MS, AlwaysPresses, Driver, Ears, NeverPresses, flat, run_to_end


def catch_trials_of(false_alarm_rate: float, **values: Any) -> CatchTrials:
    """Catch trials of a listener who is believed to press so often without a tone."""
    believes = SimpleNamespace(hyperparameters=SimpleNamespace(false_alarm_rate=false_alarm_rate))
    return CatchTrials(Settings(**values), cast(Any, believes))


def catches(rate: float, seed: int = 1, presentations: int = 2000) -> list[int]:
    trials, found = catch_trials_of(0.01, conduct="clinical", catch_rate=rate, seed=seed), []
    for number in range(1, presentations + 1):
        if trials.due(number):
            trials.take_answer(False)
            found.append(number)
        else:
            trials.tone_presented()
    assert trials.count == len(found)
    return found


@pytest.mark.parametrize("rate", [0.0, 5e-324, 1e-300, 0.02, 0.1, 0.2, 0.35, 0.5])
def test_they_come_at_the_rate_that_was_set(rate: float) -> None:
    spread = math.sqrt(rate * (1.0 - rate) / 2000)

    assert len(catches(rate)) / 2000 == pytest.approx(rate, abs=2.0 * spread + 1e-9)


def test_at_usual_rates_some_tones_lie_between_two_and_at_the_highest_it_cannot_be_foreseen() -> (
    None
):
    usual, highest = ([b - a for a, b in itertools.pairwise(catches(r))] for r in (0.2, 0.5))

    assert min(usual) == CATCH_GAP + 1
    assert {1, 2, 3} <= {*highest}


def test_they_come_from_the_seed() -> None:
    assert catches(0.3) == catches(0.3) != catches(0.3, seed=2)


@pytest.mark.parametrize(
    ("answers", "unreliable"),
    [
        ([None, None, None], False),  # too few to judge
        ([None, None, None, None], True),  # silence is like a tone
        ([None, None, None, False], False),
        ([True, None, None, False], True),
        ([True, None, False, False], False),
        ([True, True, False, False], True),
    ],
)
def test_an_unsure_silence_is_half_a_false_alarm(
    answers: list[bool | None], unreliable: bool
) -> None:
    trials = catch_trials_of(0.01)
    for answer in answers:
        trials.take_answer(answer)
    sure, unsure = answers.count(True), answers.count(None)

    assert (trials.judgeable and trials.unreliable) == unreliable
    assert (trials.false_alarms, trials.unsure_alarms) == (sure, unsure)
    assert say(trials.alarms()) == (
        f"{sure + unsure} of {len(answers)} catch trials without a tone were answered"
        + (f", {unsure} of them unsure" if unsure else "")
    )


# --- In a brisk test only for somebody who may press without a tone ------------------------------


def brisk_catches(false_alarm_rate: float) -> int:
    trials = catch_trials_of(false_alarm_rate, catch_rate=0.5)
    for number in range(1, 200):
        if trials.due(number):
            trials.take_answer(False)
        else:
            trials.tone_presented()
    return trials.count


def test_a_brisk_test_has_none_while_the_listener_is_believed_and_eight_at_most() -> None:
    assert brisk_catches(FALSE_ALARM_RATE_IN_DOUBT) == 0
    assert brisk_catches(math.nextafter(FALSE_ALARM_RATE_IN_DOUBT, 1.0)) == CATCHES_IN_DOUBT


@pytest.mark.parametrize("level_db_hl", quick([10.0, 40.0, 75.0], 40.0))
def test_who_presses_for_tones_alone_has_none_in_a_brisk_test(level_db_hl: float) -> None:
    driver = run_to_end(Settings(seed=2), flat(level_db_hl))

    assert [found["catch_trials"] for found in driver.result["ears"]] == [0, 0]


def pressing_in_pauses(every: int) -> Driver:
    """A test of somebody who hears tones from 30 dB HL on, and presses in every so many pauses.

    Too late after an answer to have been meant for the same tone.
    """
    settings = Settings(ears="left", seed=2, pause_ms_min=800)
    driver = Driver(settings, Ears(lambda ear, frequency_hz: 30.0))
    driver.feed(events.Started())
    pressed_in = 0
    while driver.test.outcome == "":
        driver.step()
        test = driver.test
        after_us = driver.board.clock.board_us(driver.now_us) - driver.onset_us
        late = test.state == LATE and after_us > test.presenter.pace.late_us
        due = pressed_in < test.number and test.number % every == 0
        if due and (test.state == PAUSE_BEFORE or late):
            pressed_in = test.number
            wait_us = 0 if late else test.presenter.pace.again_us
            driver.press(driver.board.clock.board_us(driver.now_us + wait_us))
    return driver


def test_who_presses_in_pauses_gets_catch_trials_in_a_brisk_test() -> None:
    driver = pressing_in_pauses(every=2)
    found = driver.ear("left")

    assert driver.test.ears[Route("left")].evidence.pauses.pressed > 4
    assert 1 <= found["catch_trials"] <= CATCHES_IN_DOUBT
    assert found["false_alarms"] == 0
    assert any("pauses before a tone" in each for each in each_said(driver.result["remarks"]))


@pytest.mark.parametrize("conduct", CONDUCTS)
def test_who_always_presses_is_found_out(conduct: str) -> None:
    found = run_to_end(Settings(conduct=conduct, ears="left"), AlwaysPresses()).ear("left")

    assert found["outcome"] == "unreliable"
    assert found["verdict"] == "could-not-be-tested"
    assert found["false_alarms"] == found["catch_trials"]


@pytest.mark.parametrize("conduct", CONDUCTS)
@pytest.mark.parametrize("every_ms", quick(range(700, 3100, 300), 700, 1600, 2800))
def test_who_presses_at_a_fixed_time_after_his_last_press_is_found_out(
    every_ms: int, conduct: str
) -> None:
    """The longest pause is shorter than the time in which a tone may be answered: so he answers
    every tone. But then he answers every silence, and an ear that hears all tones is doubted.
    """
    driver = Driver(Settings(conduct=conduct, ears="left", seed=4), NeverPresses())
    driver.feed(events.Started())
    driver.press(driver.board.clock.board_us(driver.now_us) + every_ms * MS)
    while driver.test.outcome == "":
        driver.step()
        _, event = driver.events[-1]
        if isinstance(event, events.ButtonPressed):
            driver.press(event.at_us + every_ms * MS)
    found = driver.ear("left")

    assert found["outcome"] == "unreliable"
    assert not any(each["threshold_db_hl"] for each in found["thresholds"])
