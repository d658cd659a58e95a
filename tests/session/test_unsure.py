"""What an unsure answer means to the course of a test, from the familiarisation to the retest."""

from typing import Any

import pytest

from firmware_py.ear.course import next_presentation, take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.ear.stopping import LIMIT_TONES
from firmware_py.session.hearing import HearingTest
from firmware_py.terms.events import UNSURE_BUTTON
from firmware_py.terms.outcomes import UNSURE, Outcome, Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from tests.budget import quick
from tests.session.driver import REACTION_US, NeverPresses, familiar, flat, run_left_ear

TWO_BUTTONS = {"unsure_button": True}


def two_button_ear(**about: Any) -> EarTest:
    return familiar(EarTest(Route("left"), Settings(ears="left", unsure_button=True, **about)))


# --- Measurement ---------------------------------------------------------------------------------


def test_unsure_answers_are_given_to_the_estimator_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    ear = two_button_ear()
    monkeypatch.setattr(ear.estimator, "observe", lambda *answer: seen.append(answer))
    for answer in (True, False, None):
        take_answer(ear, Presentation(Purpose.MEASURE, 1000.0, 30.0), answer)

    assert seen == [(1000.0, 30.0, heard) for heard in (True, False, None)]
    assert (ear.tally.tones, ear.tally.heard, ear.tally.unsure) == (3, 1, 1)


@pytest.mark.parametrize("threshold_db_hl", quick([5.0, 30.0, 62.0], 30.0))
def test_a_threshold_is_found_with_two_buttons(threshold_db_hl: float) -> None:
    driver = run_left_ear(
        flat(threshold_db_hl, 4.0), **TWO_BUTTONS, tones_max=80, stop_half_width_db=5.0
    )
    found = driver.ear("left")

    assert found["outcome"] == Outcome.MEASURED
    unsure = [
        each for each in driver.tells("answer", heard=UNSURE) if each["purpose"] != Purpose.CATCH
    ]
    assert found["tones_unsure"] == len(unsure) > 3
    for threshold in found["thresholds"]:
        assert threshold["threshold_db_hl"] == pytest.approx(threshold_db_hl, abs=5.0)


def test_one_who_is_unsure_somewhere_is_not_silent_for_six_silences_at_the_limit() -> None:
    ear = two_button_ear()
    for _ in range(LIMIT_TONES):
        take_answer(ear, Presentation(Purpose.MEASURE, 500.0, 60.0), None)
        take_answer(ear, Presentation(Purpose.MEASURE, 8000.0, 100.0), False)

    assert ear.outcome != Outcome.NO_RESPONSE


@pytest.mark.parametrize(("answer", "excluded_hz"), [(None, []), (True, []), (False, [2000.0])])
def test_only_a_silence_at_the_limit_is_not_asked_for_again_and_again(
    answer: bool | None, excluded_hz: list[float]
) -> None:
    ear = two_button_ear(catch_rate=0.0)
    for _ in range(3):
        take_answer(ear, Presentation(Purpose.MEASURE, 2000.0, 100.0), answer)
    asked: list[Any] = []
    next_stimulus = ear.estimator.next_stimulus

    def spy(level_max_db_hl: list[float], exclude_hz: list[float], *more: Any) -> Any:
        asked.append(exclude_hz)
        return next_stimulus(level_max_db_hl, exclude_hz, *more)

    ear.estimator.next_stimulus = spy  # type: ignore[assignment, method-assign]
    next_presentation(ear, 9)

    assert asked == [excluded_hz]


def test_an_ear_that_is_unsure_at_the_limit_is_not_silent() -> None:
    driver = run_left_ear(flat(100.0, 4.0), **TWO_BUTTONS)

    assert driver.ear("left")["tones_heard"] == 0
    assert driver.ear("left")["outcome"] != Outcome.NO_RESPONSE
    assert {"code": "never-answered"} not in driver.result["remarks"]


def test_an_ear_that_is_unsure_at_the_floor_does_not_hear_all() -> None:
    driver = run_left_ear(flat(-12.0, 4.0), **TWO_BUTTONS)

    assert driver.ear("left")["tones_heard"] < driver.ear("left")["tones"]
    assert Code.ALL_HEARD.word not in [each["code"] for each in driver.ear("left")["why"]]


@pytest.mark.parametrize(("answered", "unsure", "said"), [(20, 18, False), (21, 19, True)])
def test_more_than_nine_unsure_answers_of_ten_are_said(
    answered: int, unsure: int, said: bool
) -> None:
    test = HearingTest(Settings(ears="left", unsure_button=True))
    ear = familiar(test.ears[Route("left")])
    for number in range(answered):
        answer = None if number < unsure else True
        take_answer(ear, Presentation(Purpose.MEASURE, 1000.0, 30.0), answer)

    doubt = reason(Code.MOSTLY_UNSURE, unsure=unsure, answered=answered)
    remark = reason(Code.OF_EAR, ear="left", doubt=doubt)
    assert (remark in test.result().remarks) == said


# --- Silences ------------------------------------------------------------------------------------


def test_whoever_is_unsure_at_everything_is_unreliable() -> None:
    class Unsure(NeverPresses):
        reaction = REACTION_US, UNSURE_BUTTON

    driver = run_left_ear(Unsure(), **TWO_BUTTONS, conduct="clinical", catch_rate=0.3)
    found = driver.ear("left")

    assert found["outcome"] == Outcome.UNRELIABLE
    assert found["verdict"] == "could-not-be-tested"
    assert found["unsure_alarms"] == found["catch_trials"]
    doubt = {"code": "mostly-unsure", "unsure": found["tones"], "answered": found["tones"]}
    assert driver.result["remarks"][-1]["doubt"] == doubt
