"""An ear that ended short of what was wanted says whether the listener attended."""

from types import SimpleNamespace
from typing import Any

import pytest

from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.outcomes import CATCH, MEASURE
from firmware_py.procedure.presentation import Presentation
from firmware_py.procedure.settings import Settings
from tests.procedure.driver import Driver, Ears

SILENCE = Presentation(CATCH, 0.0, 0.0)


def an_ear(lapse_rate: float = 0.02, false_alarm_rate: float = 0.02, **values: Any) -> EarTest:
    """Return an ear whose estimator has found these rates."""
    ear = EarTest("left", Settings(ears="left", unsure_half_width_db=4.0, **values))
    ear.phase = MEASURE

    class Knows(type(ear.estimator)):  # type: ignore[misc]
        hyperparameters = SimpleNamespace(lapse_rate=lapse_rate, false_alarm_rate=false_alarm_rate)

    ear.estimator.__class__ = Knows
    return ear


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ({}, ""),
        ({"lapse_rate": 0.1, "false_alarm_rate": 0.1}, ""),
        ({"lapse_rate": 0.17}, "inattentive listener: misses about 17 % of what can be heard"),
        (
            {"false_alarm_rate": 0.125},
            "inattentive listener: answers about 12 % of what cannot be heard",
        ),
        (
            {"lapse_rate": 0.2, "false_alarm_rate": 0.3},
            "inattentive listener: misses about 20 % of what can be heard, "
            "answers about 30 % of what cannot be heard",
        ),
    ],
)
def test_high_rates_are_told_in_words(rates: dict[str, float], words: str) -> None:
    assert an_ear(**rates).inattention() == words


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([True], ""),
        ([True, False, False, False], ""),
        (
            [True, None, False, False],
            "inattentive listener: 2 of 4 catch trials without a tone were answered, "
            "1 of them unsure",
        ),
        (
            [True, True, False, False, False],
            "inattentive listener: 2 of 5 catch trials without a tone were answered",
        ),
    ],
)
def test_answered_silences_are_told_in_words(answers: list[bool | None], words: str) -> None:
    ear = an_ear()
    for answer in answers:
        ear.answer(SILENCE, answer)

    assert ear.inattention() == words


def test_what_was_seen_is_not_said_twice() -> None:
    """The silences themselves say more than the rate that was inferred from them and the tones."""
    ear = an_ear(false_alarm_rate=0.4)
    for answer in (True, True, False, False, False):
        ear.answer(SILENCE, answer)

    assert ear.inattention() == (
        "inattentive listener: 2 of 5 catch trials without a tone were answered"
    )


def run(ear: EarTest, threshold_db_hl: float = 30.0) -> EarTest:
    number = 0
    while not ear.over:
        number += 1
        presentation = ear.next_presentation(number)
        ear.answer(
            presentation,
            presentation.purpose != CATCH and presentation.level_db_hl >= threshold_db_hl,
        )
    return ear


def test_an_ear_that_ends_short_of_what_was_wanted_says_so_at_its_end() -> None:
    short = run(an_ear(lapse_rate=0.2, stop_half_width_db=1.0))
    enough = run(an_ear(lapse_rate=0.2, stop_half_width_db=40.0))

    assert short.why.startswith("the cap of 40 tones: 34 asked, 6 kept for the retest; 95 % band")
    assert short.why.endswith(", +-1 wanted; inattentive listener: misses about 20 % of what can "
                              "be heard")  # fmt: skip
    assert enough.why.startswith("95 % band at most +-")
    assert "inattentive" not in enough.why


def test_inattention_is_remarked_upon_however_an_ear_ended() -> None:
    driver = Driver(Settings(ears="left"), Ears(lambda ear, frequency_hz: 30.0))
    driver.run_to_tone(MEASURE)
    driver.test.ears["left"].estimator.__class__ = type(an_ear(lapse_rate=0.3).estimator)
    driver.run()

    assert driver.result["remarks"] == [
        "left ear: inattentive listener: misses about 30 % of what can be heard"
    ]
