"""What an estimator says of the answers and of the listener."""

import numpy as np
import pytest

from firmware_py import ThresholdEstimator
from firmware_py.inference.diagnostics import KEPT_OF_THE_USUAL
from tests.inference.listeners import listener, session
from tests.inference.models import PAPER

TOLD = {"response_noise_db": 2.0, "lapse_rate": 0.05, "false_alarm_rate": 0.01}


def _after(tones: int, **options: float) -> ThresholdEstimator:
    estimator = ThresholdEstimator(max_trials=tones + 9, **options)  # type: ignore[arg-type]
    for _ in session(estimator, listener("N3", 3), tones):
        pass
    return estimator


def test_a_miss_is_the_less_probable_the_louder_the_tone_down_to_that_of_an_accident() -> None:
    probabilities = []
    for above_db in (0.0, 3.0, 6.0, 9.0, 25.0):
        estimator = _after(20, **TOLD)
        threshold_db_hl = float(estimator.threshold([1000.0])[0][0])
        estimator.observe(1000.0, round(threshold_db_hl) + above_db, False)
        probabilities.append(estimator.answer_probabilities[20])
    assert np.all(np.diff(probabilities) < 0.0)
    assert probabilities[-1] == pytest.approx(TOLD["lapse_rate"], rel=0.1)


def test_the_probability_of_an_answer_is_what_was_predicted_from_the_others() -> None:
    """The last answer is left out of nothing but its own prediction: told, with one component."""
    estimator = _after(20, **TOLD)
    threshold_db_hl = round(float(estimator.threshold([2000.0])[0][0]))
    predicted = estimator.probability_heard(2000.0, threshold_db_hl + 1.0)
    estimator.observe(2000.0, threshold_db_hl + 1.0, True)
    assert estimator.answer_probabilities[20] == pytest.approx(predicted, abs=0.02)


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


def test_a_profile_that_knows_no_accidents_says_so() -> None:
    estimator = ThresholdEstimator(PAPER)
    estimator.observe(1000.0, 40.0, True)
    assert np.isnan(estimator.answer_probabilities).all()
    other = ThresholdEstimator(PAPER)
    other.expect_listener(estimator)
    np.testing.assert_array_equal(other.listener_shares, [1.0])
