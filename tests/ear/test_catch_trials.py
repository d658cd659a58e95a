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
from firmware_py.terms.presentation import NO_COVER, SILENCE, Observation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.settings import CONDUCTS, Settings
from tests.budget import quick
from tests.session.driver import MS, Driver, NeverPresses, flat


def catch_trials_of(false_alarm_rate: float, **values: Any) -> CatchTrials:
    """Catch trials of a listener who is believed to press so often without a tone."""
    believes = SimpleNamespace(hyperparameters=SimpleNamespace(false_alarm_rate=false_alarm_rate))
    return CatchTrials(Settings(**values), cast(Any, believes))


def catches(
    rate: float, seed: int = 1, conduct: str = "clinical", believed: float = 0.01
) -> list[int]:
    """Which of 2000 presentations are catch trials."""
    trials, found = catch_trials_of(believed, conduct=conduct, catch_rate=rate, seed=seed), []
    for number in range(1, 2001):
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
    ("answers", "inattentive", "unreliable"),
    [
        ([None, None, None], False, False),  # too few to judge
        ([True], False, False),
        ([True, False, False, False], False, False),
        ([None, None, False, False], False, False),
        ([True] * 3 + [False] * 8, True, False),
        ([None, None, None, False], True, False),
        ([True, None, False, False], True, False),
        ([True, True, False, False, False], True, False),
        ([True] * 6 + [False] * 7, True, False),
        ([None, None, None, None], True, True),  # silence is like a tone
        ([True, None, None, False], True, True),
        ([True, True, False, False], True, True),
    ],
)
def test_an_unsure_silence_is_half_a_false_alarm(
    answers: list[bool | None], inattentive: bool, unreliable: bool
) -> None:
    """An attentive listener answers one silence of four at most; half of them mean nothing."""
    trials = catch_trials_of(0.01)
    for answer in answers:
        trials.take_answer(answer)
    sure, unsure = answers.count(True), answers.count(None)

    assert trials.inattentive is inattentive
    assert (trials.judgeable and trials.unreliable) == unreliable
    assert (trials.false_alarms, trials.unsure_alarms) == (sure, unsure)
    counts = {"alarms": sure + unsure, "catches": len(answers)}
    said = reason(Code.FALSE_ALARMS_UNSURE, **counts, unsure=unsure)
    assert trials.alarms() == (said if unsure else reason(Code.FALSE_ALARMS, **counts))
    trials.forget([Observation(SILENCE, answer, NO_COVER) for answer in answers])
    assert (trials.count, trials.false_alarms, trials.unsure_alarms) == (0, 0, 0)


def test_a_brisk_test_has_none_while_the_listener_is_believed_and_eight_at_most() -> None:
    doubted = math.nextafter(FALSE_ALARM_RATE_IN_DOUBT, 1.0)

    assert catches(0.5, conduct="brisk", believed=FALSE_ALARM_RATE_IN_DOUBT) == []
    assert len(catches(0.5, conduct="brisk", believed=doubted)) == CATCHES_IN_DOUBT


def test_who_presses_in_pauses_gets_catch_trials_in_a_brisk_test() -> None:
    """From 30 dB HL on tones are heard; the press is too late after an answer to be one more."""
    driver = Driver(Settings(ears="left", seed=2, pause_ms_min=800), flat(30.0))
    driver.feed(events.Started())
    pressed_in = 0
    while driver.test.outcome == "":
        driver.step()
        test = driver.test
        after_us = driver.board.clock.board_us(driver.now_us) - driver.onset_us
        late = test.state == LATE and after_us > test.presenter.pace.late_us
        due = pressed_in < test.number and test.number % 2 == 0
        if due and (test.state == PAUSE_BEFORE or late):
            pressed_in = test.number
            wait_us = 0 if late else test.presenter.pace.again_us
            driver.press(driver.board.clock.board_us(driver.now_us + wait_us))
    found = driver.ear("left")

    assert driver.left.evidence.pauses.pressed > 4
    assert 1 <= found["catch_trials"] <= CATCHES_IN_DOUBT
    assert found["false_alarms"] == 0
    signs = [sign for each in driver.result["remarks"] for sign in each.get("signs", ())]
    assert "pressed-in-pauses" in [sign["code"] for sign in signs]


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
