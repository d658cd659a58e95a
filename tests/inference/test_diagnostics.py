"""What an estimator says of the answers and of the listener."""

import numpy as np
import pytest

from firmware_py import ThresholdEstimator
from firmware_py.inference.diagnostics import AMBIGUOUS, KEPT_OF_THE_USUAL
from tests.inference.listeners import listener, session
from tests.inference.models import LAPLACE_PROFILES

TOLD = {"response_noise_db": 2.0, "lapse_rate": 0.05, "false_alarm_rate": 0.01}


def _after(tones: int, **options: float) -> ThresholdEstimator:
    estimator = ThresholdEstimator(max_trials=tones + 9, **options)  # type: ignore[arg-type]
    for _ in session(estimator, listener("N3", 3), tones):
        pass
    return estimator


def test_a_miss_is_in_doubt_between_one_that_is_no_surprise_and_one_that_is_an_accident() -> None:
    probabilities, doubts = [], []
    for above_db in (0.0, 3.0, 6.0, 9.0, 25.0):
        estimator = _after(20, **TOLD)
        threshold_db_hl = float(estimator.threshold([1000.0])[0][0])
        estimator.observe(1000.0, round(threshold_db_hl) + above_db, False)
        probabilities.append(estimator.answer_probabilities[20])
        doubts.append(estimator.doubts[20])
    assert np.all(np.diff(probabilities) < 0.0)
    assert probabilities[-1] == pytest.approx(TOLD["lapse_rate"], rel=0.1)
    highest = int(np.argmax(doubts))
    assert 0 < highest < 4
    assert doubts[highest] > 0.5
    assert max(doubts[0], doubts[-1]) < 0.5 * doubts[highest]


def test_the_probability_of_an_answer_is_what_was_predicted_from_the_others() -> None:
    """The last answer is left out of nothing but its own prediction: told, with one component."""
    estimator = _after(20, **TOLD)
    threshold_db_hl = round(float(estimator.threshold([2000.0])[0][0]))
    predicted = estimator.probability_heard(2000.0, threshold_db_hl + 1.0)
    estimator.observe(2000.0, threshold_db_hl + 1.0, True)
    assert estimator.answer_probabilities[20] == pytest.approx(predicted, abs=0.02)


def test_unsure_answers_that_are_no_surprise_are_in_no_doubt() -> None:
    """Their accidents are presses: with the share of misses, such doubts were in the millions."""
    estimator = ThresholdEstimator(max_trials=6, unsure_half_width_db=None)
    for answer in (None, None, True, None, False, False):
        tone = estimator.next_stimulus()
        estimator.observe(tone.frequency_hz, tone.level_db_hl, answer)
    assert np.all(estimator.doubts[[0, 1, 3]] < 0.5)


def test_answers_there_lessen_the_doubt() -> None:
    estimator = _after(20, **TOLD)
    level_db_hl = round(float(estimator.threshold([1000.0])[0][0])) + 6.0
    estimator.observe(1000.0, level_db_hl, False)
    doubts = [estimator.doubts[20]]
    assert estimator.ambiguous
    for _ in range(6):
        estimator.observe(1000.0, level_db_hl, True)
        doubts.append(estimator.doubts[20])
    assert np.all(np.diff(doubts[1:]) < 0.0)
    assert doubts[-1] < 0.65 * doubts[0]


def test_what_it_says_changes_nothing() -> None:
    estimator = _after(15)
    before = [*estimator.threshold([500.0, 4000.0])], estimator.answer_probabilities
    assert (estimator.doubts >= AMBIGUOUS).any() == estimator.ambiguous
    after = [*estimator.threshold([500.0, 4000.0])], estimator.answer_probabilities
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_array_equal(before[1], after[1])


def test_the_second_ear_begins_with_the_listener_of_the_first() -> None:
    first, second = ThresholdEstimator(max_trials=60), ThresholdEstimator(max_trials=60)
    usual = second.listener_shares
    for _ in session(first, listener("N3", 3, noise_db=8.0), 40):
        pass
    second.expect_listener(first)
    expected = KEPT_OF_THE_USUAL * usual + (1.0 - KEPT_OF_THE_USUAL) * first.listener_shares
    np.testing.assert_allclose(second.listener_shares, expected)
    believed_db = [e.hyperparameters.response_noise_db for e in (first, second)]
    assert believed_db[1] > ThresholdEstimator().hyperparameters.response_noise_db
    assert believed_db[0] > believed_db[1]
    second.observe(1000.0, 40.0, True)
    second.reset()
    np.testing.assert_allclose(second.listener_shares, expected)


def test_a_listener_is_expected_before_the_first_answer_and_of_the_same_kinds() -> None:
    first, second = _after(3), _after(2)
    with pytest.raises(ValueError, match=r"of 9 kinds after 2 answers; allowed is .* 9 kinds"):
        second.expect_listener(first)
    told = ThresholdEstimator(**TOLD)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"of 9 kinds after 0 answers; allowed is .* of 1 kinds"):
        told.expect_listener(first)


@pytest.mark.parametrize("profile", LAPLACE_PROFILES)
def test_a_profile_that_knows_no_accidents_says_so(profile: str) -> None:
    estimator = ThresholdEstimator(profile)
    estimator.observe(1000.0, 40.0, True)
    assert np.isnan(estimator.answer_probabilities).all()
    assert not estimator.ambiguous
    other = ThresholdEstimator(profile)
    other.expect_listener(estimator)
    np.testing.assert_array_equal(other.listener_shares, [1.0])
