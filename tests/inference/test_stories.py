"""Whether anybody listened: against sums over every beginning, and on sessions of both kinds."""

import copy
import math
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.stories import Stories, Story, Suspicion, change_of_listener

Piece = tuple[bool, bool, float]  # a tone, pressed, log evidence of the pieces before it
pieces = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.floats(-3.0, 0.0)), min_size=1, max_size=12
)


def from_each_beginning(known: list[Piece], tone_rate: float, silence_rate: float) -> float:
    """Sum over k of Z_k b_k p(the pieces after k): of a listener with these rates of presses."""
    total = 0.0
    for k in range(len(known)):
        part = math.exp(known[k][2]) * (0.01 if k == 0 else 0.003)
        for tone, pressed, _ in known[k:]:
            rate = tone_rate if tone else silence_rate
            part *= rate if pressed else 1.0 - rate
        total += part
    return total


def without_relation(known: list[Piece]) -> float:
    """Any rate of presses to tones, and any in silences: two beta functions."""
    total = 0.01
    for kind in (True, False):
        presses = [pressed for tone, pressed, _ in known if tone == kind]
        yes, no = presses.count(True), presses.count(False)
        total *= math.factorial(yes) * math.factorial(no) / math.factorial(yes + no + 1)
    return total


@given(pieces, st.floats(-8.0, 0.0))
def test_the_recursion_is_the_sum_over_all_beginnings(known: list[Piece], log_z: float) -> None:
    sums = 0.0
    at_first = [(tone, pressed, sums := sums + more) for tone, pressed, more in known]
    stories = Stories(1)
    for tone, pressed, before in at_first:
        stories.follow(tone, pressed, before)
    rates = [*product((0.5, 0.7, 0.9), (0.02, 0.3, 0.8))]
    expected = {
        Story.SILENT: from_each_beginning(at_first, 0.02, 0.02),
        Story.PRESSING: sum(from_each_beginning(at_first, *each) for each in rates) / len(rates),
        Story.UNRELATED: without_relation(at_first),
    }
    total = math.exp(log_z) + sum(expected.values())

    for told in stories.tell(log_z):
        assert told.probability == pytest.approx(expected[told.story] / total, rel=1e-9)


def test_with_two_buttons_it_says_nothing_which_of_them_is_pressed() -> None:
    one, two = Stories(1), Stories(2)
    for number in range(10):
        one.follow(True, True, -0.1 * number)
        # The ear's model has two kinds of presses as well.
        two.follow(True, True, (-0.1 - math.log(2.0)) * number)

    for a, b in zip(one.tell(-1.0), two.tell(-1.0 - 10 * math.log(2.0)), strict=True):
        assert a.probability == pytest.approx(b.probability, rel=1e-9)


def of(estimator: ThresholdEstimator, story: Story) -> Suspicion:
    (found,) = (told for told in estimator.stories if told.story == story)
    return found


def estimator_after(tones: int, hears: int, threshold_db_hl: float = 30.0) -> ThresholdEstimator:
    """An estimator that chose its tones; from some tone on nothing was answered any more."""
    estimator = ThresholdEstimator(level_limits_db_hl=(-10.0, 100.0))
    for number in range(tones):
        stimulus = BITS.choose(estimator)
        heard = number < hears and stimulus.level_db_hl >= threshold_db_hl
        estimator.observe(stimulus.frequency_hz, stimulus.level_db_hl, heard)
        estimator.observe_silence(False)
    return estimator


@pytest.mark.parametrize("hears", [12, 20])
def test_who_falls_silent_is_found_with_the_tone_at_which_it_began(hears: int) -> None:
    told = of(estimator_after(hears + 20, hears), Story.SILENT)

    assert told.probability > 0.95
    assert abs(told.began - hears) <= 4  # what was too soft was not heard before, either


@pytest.mark.parametrize("threshold_db_hl", [-5.0, 30.0, 60.0, 95.0])
def test_who_listens_is_not_doubted(threshold_db_hl: float) -> None:
    estimator = estimator_after(40, 40, threshold_db_hl)

    assert sum(told.probability for told in estimator.stories) < 0.1


def log_evidence(tones: list[tuple[float, float, bool]]) -> list[float]:
    """Of the first k tones, for every k."""
    estimator = ThresholdEstimator()
    found = [estimator.log_evidence]
    for tone in tones:
        estimator.observe(*tone)
        found.append(estimator.log_evidence)
    return found


def tell_of(tones: list[tuple[float, float, bool]]) -> Suspicion:
    return change_of_listener(log_evidence(tones), log_evidence(tones[::-1])[::-1])


def tones_of(*listeners: tuple[float, float]) -> list[tuple[float, float, bool]]:
    """Twelve tones of each listener, by the threshold at 250 Hz and what is more an octave."""
    estimator, tones = ThresholdEstimator(), []
    for number in range(12 * len(listeners)):
        low_db_hl, slope_db = listeners[number // 12]
        stimulus = BITS.choose(estimator)
        above_db = stimulus.level_db_hl - low_db_hl
        heard = above_db >= slope_db * math.log2(stimulus.frequency_hz / 250.0)
        tones.append((stimulus.frequency_hz, stimulus.level_db_hl, heard))
        estimator.observe(*tones[-1])
    return tones


@settings(max_examples=3)
@given(st.floats(0.0, 60.0), st.floats(-4.0, 8.0))
def test_two_parts_of_one_listener_are_no_two_listeners(low_db_hl: float, slope_db: float) -> None:
    assert tell_of(tones_of((low_db_hl, slope_db), (low_db_hl, slope_db))).probability < 0.05


def test_another_listener_is_found_with_the_tone_at_which_it_came() -> None:
    told = tell_of(tones_of((10.0, 0.0), (60.0, 0.0)))

    assert told.probability > 0.5
    assert abs(told.began - 12) <= 4  # what was too soft was not heard before, either


@example([-1.0] * 11)
@example([-1.0] * 12)
@given(st.lists(st.floats(-3.0, 0.0), max_size=30))
def test_answers_that_tell_nothing_of_each_other_leave_a_change_as_probable_as_before(
    logs: list[float],
) -> None:
    before = [math.fsum(logs[:k]) for k in range(len(logs) + 1)]
    told = change_of_listener(before, [before[-1] - each for each in before])
    long_enough = len(logs) >= 12  # six of each listener

    assert told.probability == pytest.approx(0.005 / 1.005 if long_enough else 0.0)


def test_what_is_forgotten_tells_no_story_and_a_copy_goes_its_own_way() -> None:
    silent = estimator_after(32, 12)
    other = copy.copy(silent)
    silent.reset()

    assert all(told.probability == 0.0 for told in silent.stories)
    assert of(other, Story.SILENT).probability > 0.95
