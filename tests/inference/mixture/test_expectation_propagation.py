"""Expectation propagation of one hypothesis, against dense matrices, quadrature and exactness."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from firmware_py.inference.kernel import NOT_POSITIVE_DEFINITE
from firmware_py.inference.mixture import arrays
from firmware_py.inference.mixture.arrays import Likelihood, Sites, Tones
from firmware_py.inference.mixture.expectation_propagation import (
    TOLERANCE_AT_THE_END_SD,
    TOLERANCE_BY_WEIGHT_SD,
    TOLERANCE_SD,
    propagate,
    tolerance_of,
)
from firmware_py.inference.mixture.population_prior import shipped_prior
from firmware_py.inference.mixture.posterior import ASLEEP_BELOW, AWAKE_ANSWERS
from firmware_py.inference.mixture.sites import site_of
from firmware_py.inference.psychometric import HEARD, SILENT, UNSURE, expected_answer
from tests.budget import either, quick
from tests.inference.mixture.mixture_state import (
    Answer,
    SimulatedEar,
    Twin,
    hypotheses_of,
    scratch_for,
    session_with,
    settle,
    told_listener,
    twin,
)
from tests.inference.mixture.population import KNOTS_HZ
from tests.inference.models import mixture_of
from tests.reference_mixture import (
    Listener,
    expectation_propagation,
    sample_mixture,
    tilted_moments,
    weigh,
)

SHARP, USUAL, DULL = (
    told_listener(1.7, 0.01, 0.01), told_listener(3.0, 0.06, 0.02), told_listener(6.0, 0.15, 0.15)
)  # fmt: skip


def _random_answers(rng: np.random.Generator, trials: int, unsure: bool) -> list[Answer]:
    """Return answers anywhere, near a curve more often than not, at knots and between them."""
    ear = SimulatedEar(rng, USUAL, 3.0 if unsure else 0.0)
    answers: list[Answer] = []
    for _ in range(trials):
        frequency_hz = float(rng.choice(KNOTS_HZ))
        if rng.random() < 0.5:
            frequency_hz = float(np.exp(rng.uniform(np.log(125.0), np.log(8000.0))))
        level_db_hl = float(np.clip(rng.normal(30.0, 25.0), -10.0, 120.0))
        answers.append((frequency_hz, level_db_hl, ear(frequency_hz, level_db_hl)))
    return answers


def _sessions() -> dict[str, Twin]:
    rng = np.random.default_rng(20260201)  # of all that follows, in this order
    return {
        "adaptive, sharp": twin(
            session_with(SimulatedEar(rng, SHARP), 12, response_noise_db=1.7), SHARP
        ),
        "adaptive, dull": twin(
            session_with(SimulatedEar(rng, DULL), 15, response_noise_db=6.0), DULL
        ),
        "anywhere": twin(_random_answers(rng, 20, unsure=False), USUAL),
        "anywhere, unsure": twin(
            _random_answers(rng, 14, unsure=True), USUAL, unsure_half_width_db=3.0
        ),
        "beyond the knots": twin(
            [(100.0, 30.0, True), (60.0, 25.0, False), (12e3, 50.0, True), (9e3, 35.0, False)],
            USUAL, frequency_range_hz=(50.0, 16000.0),
        ),
        "noise over frequency": twin(
            _random_answers(rng, 12, unsure=False), Listener(1.0, 0.02, 0.02),
            noise_curve=[(250.0, 1.5), (1000.0, 3.0), (6000.0, 8.0)],
        ),
    }  # fmt: skip


SESSIONS = _sessions()


@pytest.mark.parametrize(
    "name", quick(SESSIONS, "anywhere, unsure", "beyond the knots", "noise over frequency")
)
def test_agrees_with_the_dense_reference(name: str) -> None:
    """As it stands within its tolerance, which is wider the less one weighs; run on, to 1e-9."""
    estimator, data = SESSIONS[name]
    w = mixture_of(estimator).workspace
    (listener,), components = data.listeners, range(len(data.mean_db_hl))
    expected = [expectation_propagation(data, k, listener) for k in components]
    weight, mean, covariance = hypotheses_of(estimator)
    log_evidence = w.hypotheses.log_evidence.copy()
    worst_sd, worst_nats = 0.0, 0.0
    for k, e in enumerate(expected):
        if weight[k] < ASLEEP_BELOW:  # asleep, or as good as
            continue
        share = min(weight[k] / 0.01, 1.0)
        sd = np.sqrt(np.diag(e.covariance_db2))
        off_sd = np.abs(mean[k] - e.mean_db_hl) / sd
        wider = np.abs(np.sqrt(np.diag(covariance[k])) / sd - 1.0)
        worst_sd = max(worst_sd, share * float(np.max([off_sd, wider])))
        worst_nats = max(worst_nats, share * abs(log_evidence[k] - e.log_evidence))
    print(f"\n{name}: within {worst_sd:.1e} SD and {worst_nats:.1e} nats as it stands")
    assert worst_sd <= 4e-3
    assert worst_nats <= 1e-3

    settle(estimator)
    weight, mean, covariance = hypotheses_of(estimator)
    for k, e in enumerate(expected):
        assert e.converged
        assert_allclose(mean[k], e.mean_db_hl, rtol=1e-9, atol=1e-8)
        assert_allclose(covariance[k], e.covariance_db2, rtol=1e-8, atol=1e-7)
        assert w.hypotheses.log_evidence[k] == pytest.approx(e.log_evidence, abs=1e-8)
    logs = np.log(data.weight) + [e.log_evidence for e in expected]
    assert estimator.log_evidence == pytest.approx(float(np.logaddexp.reduce(logs)), abs=1e-8)
    assert_allclose(weight, np.exp(logs - np.logaddexp.reduce(logs)), rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("trials", quick((8, 16, 32), 8))
def test_light_hypotheses_left_early_hardly_move_what_is_said(trials: int) -> None:
    """Thresholds and their SDs, of many hypotheses, as they stand and when all are run on."""
    told: dict[str, Any] = {"lapse_rate": 0.06, "false_alarm_rate": 0.02}  # as USUAL does
    worst_db = 0.0
    for seed in range(either(2, 4)):
        rng = np.random.default_rng([20260203, trials, seed])
        answers = session_with(SimulatedEar(rng, USUAL), trials, **told)
        estimator, _ = twin(answers, **told)
        weight = hypotheses_of(estimator)[0]
        assert np.any(weight < TOLERANCE_BY_WEIGHT_SD / TOLERANCE_SD)
        as_it_stands = np.array(estimator.threshold(KNOTS_HZ))
        settle(estimator)
        run_on = mixture_of(estimator).predict(np.array(KNOTS_HZ))  # the estimator keeps its own
        moved_db = np.abs(as_it_stands - np.array(run_on))
        worst_db = max(worst_db, float(np.max(moved_db)))
    print(f"\n{trials} answers: within {worst_db:.1e} dB as it stands")
    assert 0.0 < worst_db <= 0.04


def test_light_hypotheses_have_their_evidence_while_answers_are_few() -> None:
    """Each against importance sampling from its own prior; nothing was heard by a deaf ear."""
    answers: list[Answer] = [
        (2000.0, 45.0, False), (500.0, 50.0, False), (8000.0, 90.0, False), (1000.0, 78.0, False)
    ]  # fmt: skip
    assert len(answers) <= AWAKE_ANSWERS
    estimator, data = twin(answers, prior=shipped_prior())
    light = hypotheses_of(estimator)[0] < ASLEEP_BELOW
    found = mixture_of(estimator).workspace.hypotheses.log_evidence
    rng = np.random.default_rng(20261126)
    worst_nats, components = 0.0, len(data.weight)
    for h in np.flatnonzero(light):
        of, k = data.listeners[h // components], h % components
        alone = replace(data, listeners=[of._replace(share=1.0)])
        w = sample_mixture(
            np.ones(1), data.mean_db_hl[k : k + 1], data.covariance_db2[k : k + 1], 20000, rng
        )
        worst_nats = max(worst_nats, abs(found[h] - weigh(w, alone.log_likelihood(w)).log_evidence))
    print(f"\n{light.sum()} of {len(light)} light hypotheses: within {worst_nats:.2f} nats")
    assert light.sum() >= 5
    assert worst_nats <= 1.5  # asleep: 8.6


def test_tolerance_is_a_share_of_what_is_said() -> None:
    """From a hypothesis that hardly counts to one that is certain."""
    for weight in np.geomspace(ASLEEP_BELOW, 1.0, 50):
        tolerance_sd = tolerance_of(weight)
        assert TOLERANCE_SD <= tolerance_sd <= TOLERANCE_AT_THE_END_SD
        if tolerance_sd > TOLERANCE_SD:
            assert weight * tolerance_sd <= TOLERANCE_BY_WEIGHT_SD * (1.0 + 1e-12)
    assert tolerance_of(1.0) == TOLERANCE_SD
    assert tolerance_of(0.5 * ASLEEP_BELOW) == TOLERANCE_AT_THE_END_SD


@pytest.mark.parametrize("answer", [HEARD, UNSURE, SILENT])
@pytest.mark.parametrize("listener", [SHARP, DULL])
@pytest.mark.parametrize("margin_db", [-40.0, -5.0, 0.0, 12.0, 60.0])
def test_a_site_has_the_moments_of_the_answer(
    answer: int, listener: Listener, margin_db: float
) -> None:
    """Where tau is not cut off; where it is, the mean alone."""
    mean, variance, d = 1.5, 90.0, 4.0
    rates = listener.lapse_rate, listener.false_alarm_rate
    tau, nu = site_of(answer, margin_db, listener.noise_db**2, *rates, d, variance, mean)
    sd_db = math.sqrt(variance + listener.noise_db**2)
    p, _, _ = expected_answer(answer, margin_db - mean, sd_db, *rates, d)
    log_z, new_mean, new_variance = tilted_moments(
        answer, margin_db, listener.noise_db, listener, d, mean, variance
    )
    found_variance = 1.0 / (1.0 / variance + tau)

    assert math.log(p) == pytest.approx(log_z, abs=1e-10)
    assert (mean / variance + nu) * found_variance == pytest.approx(new_mean, abs=1e-8)
    assert found_variance == pytest.approx(min(new_variance, variance), rel=1e-8)
    assert (tau == 0.0) == (new_variance >= variance)


# --- the end of the sweeps -----------------------------------------------------------------------


@pytest.mark.parametrize(("margin_db", "precision"), [(math.nan, 1e-3), (0.0, math.nan)])
def test_what_is_no_covariance_is_a_status(margin_db: float, precision: float) -> None:
    """NaN in, status out, of one answer at one knot; nothing raises and nothing loops for ever."""
    place, one = (np.zeros(1, np.int64), np.full(1, -1), np.full(1, HEARD)), np.ones(1)
    likelihood = Likelihood(
        margin_db * one, one, 0.0 * one, 0.01 * one, 0.01 * one, one, 0.01 * one, 0.98 * one
    )
    posterior = arrays.Gaussian(np.zeros(1), np.zeros((1, 1)))
    with np.errstate(invalid="ignore"):  # as in a compiled kernel, if it runs as plain Python here
        _, status = propagate(
            1, 1, Tones(*place, *np.zeros((4, 1))), likelihood, TOLERANCE_SD,
            np.full((1, 1), precision), -0.5 * math.log(precision), Sites(*np.zeros((3, 1))),
            posterior, scratch_for(1, 1),
        )  # fmt: skip
    assert status == NOT_POSITIVE_DEFINITE
