"""Whether the listener attended, and where that is said."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure.catch_trials import CatchTrials, inattention
from firmware_py.procedure.settings import Settings
from tests.procedure.driver import flat, left

ANSWERED = "catch trials without a tone were answered"


def said(*answers: bool | None, lapse_rate: float = 0.02, false_alarm_rate: float = 0.02) -> str:
    """What is said when the estimator has found these rates, after these answers to silences."""
    rates = SimpleNamespace(lapse_rate=lapse_rate, false_alarm_rate=false_alarm_rate)
    catch_trials = CatchTrials(Settings())
    for answer in answers:
        catch_trials.answered(answer)
    return inattention(cast(Any, SimpleNamespace(hyperparameters=rates)), catch_trials)


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
    assert said(**rates) == words


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([True], ""),
        ([True, False, False, False], ""),
        ([True, None, False, False], f"inattentive listener: 2 of 4 {ANSWERED}, 1 of them unsure"),
        ([True, True, False, False, False], f"inattentive listener: 2 of 5 {ANSWERED}"),
    ],
)
def test_answered_silences_are_told_in_words(answers: list[bool | None], words: str) -> None:
    assert said(*answers) == words
    if words:
        assert said(*answers, false_alarm_rate=0.4) == words, "what was seen is not said twice"


@pytest.mark.parametrize("wanted_db", [1.0, 40.0])
def test_it_is_remarked_upon_and_said_of_an_ear_that_ends_short_of_what_was_wanted(
    monkeypatch: pytest.MonkeyPatch, wanted_db: float
) -> None:
    rates = SimpleNamespace(lapse_rate=0.2, false_alarm_rate=0.02)
    monkeypatch.setattr(ThresholdEstimator, "hyperparameters", rates)
    driver = left(flat(30.0), stop_half_width_db=wanted_db, masking="off")
    inattentive = "inattentive listener: misses about 20 % of what can be heard"
    why = driver.ear("left")["why"]

    assert driver.result["remarks"] == [f"left ear: {inattentive}"]
    if wanted_db == 1.0:
        assert why.startswith("the cap of 40 tones: 34 asked, 6 kept for the retest; 95 % band")
        assert why.endswith(f", +-1 wanted; {inattentive}")
    else:
        assert why.startswith("95 % band at most +-")
        assert "inattentive" not in why
