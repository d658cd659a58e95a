"""The search for the hyperparameters, against L-BFGS-B on the reference's objective."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize

from firmware_py import ThresholdEstimator
from firmware_py.inference.laplace import arrays
from firmware_py.inference.laplace import hyperparameters as search
from tests import reference
from tests.budget import quick
from tests.inference.listeners import ADVERSARIES, AUDIOGRAMS, Answer, listener, session
from tests.inference.models import PAPER, evaluations_of, length_and_sd_of
from tests.reference import FloatArray, Scale

OBJECTIVE_NATS = 1e-6
GRADIENT_MAX = 3e-3  # a gradient g is worth about g^2/8 nats
EVALUATIONS_MAX = 60  # of the evidence in one trial; 3 to 6 are usual


class Judge:
    """The reference's objective for the answers so far."""

    def __init__(self, scale: Scale = "bark") -> None:
        lengths = [reference.length_in_units_of(scale, b) for b in reference.LENGTH_BOUNDS_BARK]
        self.bounds = np.log([lengths, reference.SD_BOUNDS_DB])
        self._scale, self._answers, self._weights_db = scale, list[Answer](), np.zeros(0)

    def take(self, answer: Answer) -> None:
        self._answers.append(answer)

    def objective(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return it and its gradient; it begins where the last one ended."""
        frequency_hz, level_db_hl, heard = zip(*self._answers, strict=True)
        intercept_db_hl, slope_db = reference.prior_mean_line(self._scale)
        length, sd_db = np.exp(theta).tolist()
        found = reference.laplace(
            reference.warp(frequency_hz, self._scale), level_db_hl, np.array(heard),
            lambda x: intercept_db_hl + slope_db * x, length, sd_db,
            reference.RESPONSE_NOISE_DB,
            np.pad(self._weights_db, (0, len(heard) - len(self._weights_db))),
        )  # fmt: skip
        self._weights_db = found.weights_db
        return found.log_evidence, found.gradient

    def gain_from(self, theta: FloatArray) -> float:
        """Return how much higher L-BFGS-B, as tight as it gets, climbs from theta."""

        def negative(at: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = self.objective(at)
            return -value, -gradient

        start = np.clip(theta, *self.bounds.T)
        found = optimize.minimize(
            negative, start, jac=True, method="L-BFGS-B", bounds=self.bounds,
            options={"ftol": 1e-16, "gtol": 1e-10},
        )  # fmt: skip
        return float(-found.fun - self.objective(start)[0])

    def gradient_inward(self, theta: FloatArray) -> float:
        """Return the largest gradient that does not point out of the bounds."""
        low, high = self.bounds.T
        gradient = self.objective(theta)[1]
        return float(np.max(np.abs(np.clip(theta + gradient, low, high) - theta)))


def _theta(estimator: ThresholdEstimator) -> FloatArray:
    return np.log(length_and_sd_of(estimator))


@pytest.mark.parametrize("audiogram", ["N2", "N5", "S1"])
def test_whole_session_stays_at_the_optimum(audiogram: str) -> None:
    lapse_rate = 0.05 if audiogram == "N5" else 0.0
    estimator, judge = ThresholdEstimator(PAPER), Judge()
    hears = listener(audiogram, seed=1, lapse_rate=lapse_rate)
    for trial, answer in enumerate(session(estimator, hears, 32), 1):
        judge.take(answer)
        theta = _theta(estimator)
        log_evidence, _ = judge.objective(theta)
        assert estimator.log_evidence == pytest.approx(log_evidence, rel=1e-8, abs=1e-9), trial
        assert judge.gradient_inward(theta) <= GRADIENT_MAX, trial
        if trial <= 6 or trial % 4 == 0:
            assert judge.gain_from(theta) <= OBJECTIVE_NATS, trial


@pytest.mark.parametrize("scale", ["traunmuller", "mel", "log2"])
def test_so_it_does_on_other_scales(scale: Scale) -> None:
    estimator, judge = ThresholdEstimator(PAPER, scale=scale), Judge(scale)
    for trial, answer in enumerate(session(estimator, listener("S2", seed=2), 12), 1):
        judge.take(answer)
        if trial % 3 == 0:
            assert judge.gain_from(_theta(estimator)) <= OBJECTIVE_NATS, trial


@pytest.mark.parametrize("name", quick(ADVERSARIES, *[*ADVERSARIES][::3]))
def test_so_it_does_with_answers_from_hell(name: str) -> None:
    """On plateaus and at the bounds; there the paper's evidence alone has its optimum."""
    estimator, judge = ThresholdEstimator(PAPER), Judge()
    for trial in range(17):
        answer = ADVERSARIES[name](estimator, trial)
        estimator.observe(*answer)
        judge.take(answer)
        assert evaluations_of(estimator) <= EVALUATIONS_MAX
        if trial in (0, 1, 2, 4, 7, 11, 16):
            theta = _theta(estimator)
            allowed = max(OBJECTIVE_NATS, 1e-13 * abs(judge.objective(theta)[0]))
            assert judge.gain_from(theta) <= allowed, trial


def test_evaluations_of_a_trial_are_few() -> None:
    evaluations = []
    for audiogram in AUDIOGRAMS:
        estimator = ThresholdEstimator(PAPER)
        for _ in session(estimator, listener(audiogram, seed=3), 40):
            evaluations.append(evaluations_of(estimator))
    assert max(evaluations) <= EVALUATIONS_MAX
    assert np.mean(evaluations) <= 8.0


def test_steps_are_bounded() -> None:
    state, direction = np.zeros(arrays.SEARCH_ENTRIES), np.zeros(2)
    state[arrays.CURVATURE : arrays.CURVATURE + 3] = 100.0, 0.0, 100.0
    box = np.array([[-2.0, -2.0], [2.0, 2.0], [0.0, 0.0]])
    search.ascent_direction(np.zeros(2), np.array([3.0, -9.0]), box, state, direction)
    assert_allclose(direction, [search.STEP_MAX / 3.0, -search.STEP_MAX])
