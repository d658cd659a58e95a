"""Answers from hell: whatever a listener does, there is a posterior and a next tone."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py import ThresholdEstimator
from firmware_py.inference import hyperparameters as search
from tests.inference.listeners import ADVERSARIES, session
from tests.reference import AUDIOGRAM_FREQUENCIES_HZ

EVALUATIONS_MAX = 60  # of the evidence in one trial
SD_DB_MAX = math.hypot(80.0, 28.0)  # that of the prior, with the SD at its upper bound


def _assert_sane(estimator: ThresholdEstimator) -> None:
    mean_db_hl, sd_db = estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)
    tone = estimator.next_stimulus()
    assert np.all(np.isfinite(mean_db_hl))
    assert np.all((sd_db > 0.0) & (sd_db <= SD_DB_MAX * (1.0 + 1e-12)))
    assert -10.0 <= tone.level_db_hl <= 120.0
    assert 125.0 <= tone.frequency_hz <= 8000.0
    assert 0.0 <= estimator.information_bits <= 1.0
    assert -math.inf < estimator.log_evidence <= 1e-9
    assert 0.0 <= estimator.probability_heard(1000.0, 40.0) <= 1.0
    assert estimator._workspace.search[search.EVALUATIONS] <= EVALUATIONS_MAX


@pytest.mark.parametrize("response_noise_db", [0.1, 2.0, 30.0])
@pytest.mark.parametrize("profile", ["default", "gp-pta-2015"])
@pytest.mark.parametrize("name", ADVERSARIES)
def test_128_trials(name: str, profile: str, response_noise_db: float) -> None:
    scale = "log2" if response_noise_db == 30.0 else "bark"
    estimator = ThresholdEstimator(profile, response_noise_db=response_noise_db, scale=scale)
    for trial in range(128):
        estimator.observe(*ADVERSARIES[name](estimator, trial))
        if trial < 16 or trial % 8 == 7:
            _assert_sane(estimator)
    assert estimator.trial_count == 128


answers = st.tuples(st.floats(125.0, 8000.0), st.floats(-10.0, 120.0), st.booleans())
few_places = st.tuples(
    st.sampled_from([125.0, 1000.0, 1000.0000001, 8000.0]),
    st.sampled_from([-10.0, 40.0, 40.0000001, 120.0]),
    st.booleans(),
)


@settings(max_examples=60)
@given(
    st.sampled_from(["default", "gp-pta-2015"]),
    st.sampled_from([0.1, 2.0, 30.0]),
    st.lists(answers | few_places, min_size=1, max_size=24),
)
def test_any_answers(
    profile: str, response_noise_db: float, asked: list[tuple[float, float, bool]]
) -> None:
    estimator = ThresholdEstimator(profile, max_trials=24, response_noise_db=response_noise_db)
    for answer in asked:
        estimator.observe(*answer)
        _assert_sane(estimator)


def test_hearing_everything_and_nothing_ends_beyond_the_limits() -> None:
    """So that the procedure can tell a silent ear and a floor from a threshold."""
    for heard in (True, False):
        estimator = ThresholdEstimator()
        for _ in session(estimator, lambda *_, heard=heard: heard, 20):
            pass
        mean_db_hl, _ = estimator.threshold(AUDIOGRAM_FREQUENCIES_HZ)
        assert np.all(mean_db_hl < 0.0) if heard else np.all(mean_db_hl > 110.0)
