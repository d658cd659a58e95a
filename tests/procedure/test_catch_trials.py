"""Catch trials: when they come, and what their answers say of the listener."""

import itertools
import math

import pytest

from firmware_py.procedure.catch_trials import CATCH_GAP, CatchTrials
from firmware_py.procedure.settings import Settings


def catches(rate: float, seed: int = 1, presentations: int = 2000) -> list[int]:
    """The numbers of the presentations that are catch trials."""
    trials, found = CatchTrials(Settings(catch_rate=rate, seed=seed)), []
    for number in range(1, presentations + 1):
        if trials.due(number):
            trials.answered(False)
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
    trials = CatchTrials(Settings())
    for answer in answers:
        trials.answered(answer)
    sure, unsure = answers.count(True), answers.count(None)

    assert (trials.judgeable and trials.unreliable) == unreliable
    assert (trials.false_alarms, trials.unsure_alarms) == (sure, unsure)
    assert trials.alarm_words() == (
        f"{sure + unsure} of {len(answers)} catch trials without a tone were answered"
        + (f", {unsure} of them unsure" if unsure else "")
    )
