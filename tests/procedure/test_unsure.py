"""What an unsure answer means to the course of a test, from the familiarisation to the retest."""

import itertools
from typing import Any

import pytest

from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.events import UNSURE_BUTTON, Play
from firmware_py.procedure.outcomes import (
    CATCH,
    FAMILIARISE,
    HEARS_ALL,
    MEASURE,
    MEASURED,
    NO_RESPONSE,
    RETEST,
    UNRELIABLE,
    UNSURE,
)
from firmware_py.procedure.presentation import Presentation
from firmware_py.procedure.settings import Settings
from firmware_py.procedure.stopping import LIMIT_TONES
from tests.procedure.driver import (
    REACTION_US,
    Driver,
    Ears,
    NeverPresses,
    Reaction,
    doubtful,
    flat,
)

SILENCE = Presentation(CATCH, 0.0, 0.0)


def left(listener: Any, **values: Any) -> Driver:
    """A finished test of the left ear with two buttons."""
    settings = Settings(**{"ears": "left", "unsure_half_width_db": 4.0, **values})
    driver = Driver(settings, listener)
    driver.run()
    return driver


def levels(driver: Driver, purpose: str) -> list[float]:
    return [about["level_db_hl"] for about in driver.told("tone", purpose=purpose)]


def heard(driver: Driver, purpose: str) -> list[bool | str]:
    return [about["heard"] for about in driver.told("answer", purpose=purpose)]


# --- Familiarisation -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threshold_db_hl", "expected", "answers"),
    [
        (25.0, [40, 20, 30], [True, False, True]),
        (18.0, [40, 20, 30], [True, UNSURE, True]),  # unsure on the way down turns it
        (28.0, [40, 20, 30, 40], [True, False, UNSURE, True]),  # and does not end the way up
        (98.0, [40, 50, 60, 70, 80, 90, 100, 100], [False] * 6 + [UNSURE] * 2),
    ],
)
def test_familiarisation_ends_with_a_tone_that_was_surely_heard(
    threshold_db_hl: float, expected: list[int], answers: list[bool | str]
) -> None:
    driver = left(doubtful(threshold_db_hl, 4.0))

    assert levels(driver, FAMILIARISE) == expected
    assert heard(driver, FAMILIARISE) == answers


# --- Measurement ---------------------------------------------------------------------------------


def test_unsure_answers_are_given_to_the_estimator_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    ear = EarTest("left", Settings(ears="left", unsure_half_width_db=4.0))
    ear.phase = MEASURE
    monkeypatch.setattr(ear.estimator, "observe", lambda *answer: seen.append(answer))
    for answer in (True, False, None):
        ear.answer(Presentation(MEASURE, 1000.0, 30.0), answer)

    assert seen == [(1000.0, 30.0, True), (1000.0, 30.0, False), (1000.0, 30.0, None)]
    assert (ear.tally.tones, ear.tally.heard, ear.tally.unsure) == (3, 1, 1)


@pytest.mark.parametrize("threshold_db_hl", [5.0, 30.0, 62.0])
def test_a_threshold_is_found_with_two_buttons(threshold_db_hl: float) -> None:
    driver = left(doubtful(threshold_db_hl, 4.0), tones_max=60)
    found = driver.ear("left")

    assert found["outcome"] == MEASURED
    assert found["tones_unsure"] == heard(driver, MEASURE).count(UNSURE) + heard(
        driver, RETEST
    ).count(UNSURE) + heard(driver, FAMILIARISE).count(UNSURE)
    assert found["tones_unsure"] > 3
    for threshold in found["thresholds"]:
        assert threshold["threshold_db_hl"] == pytest.approx(threshold_db_hl, abs=5.0)


def test_an_ear_that_is_unsure_at_the_limit_is_not_silent() -> None:
    driver = left(doubtful(100.0, 4.0))

    assert driver.ear("left")["tones_heard"] == 0
    assert driver.ear("left")["outcome"] != NO_RESPONSE
    assert "no tone was ever answered" not in str(driver.result["remarks"])


def test_one_who_is_unsure_somewhere_is_not_silent_for_six_silences_at_the_limit() -> None:
    ear = EarTest("left", Settings(ears="left", unsure_half_width_db=4.0))
    ear.phase = MEASURE
    for _ in range(LIMIT_TONES):
        ear.answer(Presentation(MEASURE, 500.0, 60.0), None)
        ear.answer(Presentation(MEASURE, 8000.0, 100.0), False)

    assert ear.outcome != NO_RESPONSE


@pytest.mark.parametrize(("answer", "excluded_hz"), [(None, []), (True, []), (False, [2000.0])])
def test_only_a_silence_at_the_limit_is_not_asked_for_again_and_again(
    answer: bool | None, excluded_hz: list[float]
) -> None:
    ear = EarTest("left", Settings(ears="left", unsure_half_width_db=4.0, catch_rate=0.0))
    ear.phase = MEASURE
    for _ in range(3):
        ear.answer(Presentation(MEASURE, 2000.0, 100.0), answer)
    asked: list[Any] = []
    next_stimulus = ear.estimator.next_stimulus

    def spy(level_max_db_hl: list[float], exclude_hz: list[float]) -> Any:
        asked.append(exclude_hz)
        return next_stimulus(level_max_db_hl, exclude_hz)

    ear.estimator.next_stimulus = spy  # type: ignore[assignment, method-assign]
    ear.next_presentation(9)

    assert asked == [excluded_hz, excluded_hz], "what may be asked now, and what were worth a climb"


def test_an_ear_that_is_unsure_at_the_floor_does_not_hear_all() -> None:
    driver = left(doubtful(-12.0, 4.0))

    assert driver.ear("left")["tones_heard"] < driver.ear("left")["tones"]
    assert not driver.ear("left")["why"].startswith("everything heard")


def test_silence_and_certainty_are_the_same_as_with_one_button() -> None:
    silent, golden = left(NeverPresses()), left(flat(-99.0))

    assert silent.ear("left")["outcome"] == NO_RESPONSE
    assert sum(play.level_db_hl == 100.0 for play in silent.plays) >= LIMIT_TONES
    assert golden.ear("left")["outcome"] == HEARS_ALL


# --- Silences ------------------------------------------------------------------------------------


def judged(*answers: bool | None) -> EarTest:
    """Return an ear that answered these silences, and then a tone."""
    ear = EarTest("left", Settings(ears="left", unsure_half_width_db=4.0))
    ear.phase = MEASURE
    for answer in answers:
        ear.answer(SILENCE, answer)
    return ear


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
    ear = judged(*answers)

    assert (ear.outcome == UNRELIABLE) == unreliable
    assert ear.result().false_alarms == answers.count(True)
    assert ear.result().unsure_alarms == answers.count(None)
    if unreliable and None in answers:
        alarms = answers.count(True) + answers.count(None)
        assert ear.why == (
            f"{alarms} of 4 catch trials without a tone were answered, "
            f"{answers.count(None)} of them unsure"
        )


def test_whoever_is_unsure_at_everything_is_unreliable() -> None:
    class Unsure(NeverPresses):
        def to_tone(self, play: Play) -> Reaction:
            return REACTION_US, UNSURE_BUTTON

        def to_silence(self, number: int) -> Reaction:
            return REACTION_US, UNSURE_BUTTON

    driver = left(Unsure(), catch_rate=0.3)
    found = driver.ear("left")

    assert found["outcome"] == UNRELIABLE
    assert found["unsure_alarms"] == found["catch_trials"] >= 4
    assert driver.result["remarks"] == [
        f"left ear: {found['tones']} of {found['tones']} answers were unsure: are the buttons "
        "understood?"
    ]


# --- Retest --------------------------------------------------------------------------------------


class Retested(Ears):
    """Answers the retest by this list, and everything else by its ears."""

    def __init__(self, answers: list[Reaction]) -> None:
        super().__init__(lambda ear, frequency_hz: 30.0, unsure_db=4.0)
        self.answers = answers
        self.driver: Driver | None = None

    def to_tone(self, play: Play) -> Reaction:
        assert self.driver is not None
        return self.answers.pop(0) if self.driver.purpose == RETEST else super().to_tone(play)


SURE: Reaction = REACTION_US
DOUBT: Reaction = (REACTION_US, UNSURE_BUTTON)


@pytest.mark.parametrize(
    ("answers", "above_first_db"),
    [
        ([None, None, SURE], 7.5),
        ([None, DOUBT, SURE], 5.0),  # between 2.5, where silence ended, and 7.5
        ([None, DOUBT, DOUBT, DOUBT, SURE], 10.0),  # 2.5 and 17.5
        ([None, DOUBT, None, None, SURE], 10.0),
        ([DOUBT, SURE], 0.0),  # -2.5 and 2.5
        ([DOUBT] * 6, 12.5),  # -2.5 and 27.5: never sure
        ([None] * 6, 27.5),
    ],
)
def test_the_retest_is_the_middle_between_the_end_of_silence_and_being_sure(
    answers: list[Reaction], above_first_db: float
) -> None:
    listener = Retested([*answers])
    # A catch trial tells something of the listener, and so moves the threshold a little.
    settings = Settings(
        ears="left", unsure_half_width_db=4.0, stop_half_width_db=15.0, catch_rate=0.0
    )
    driver = listener.driver = Driver(settings, listener)
    driver.run_to_tone(RETEST)
    mean_db_hl = float(driver.test.ears["left"].estimator.threshold([1000.0])[0][0])
    driver.run()
    ascent = levels(driver, RETEST)

    assert [b - a for a, b in itertools.pairwise(ascent)] == [5.0] * (len(answers) - 1)
    assert driver.ear("left")["retest_difference_db"] == pytest.approx(
        ascent[0] + above_first_db - mean_db_hl, abs=1e-9
    )
