"""Expectation propagation of one hypothesis, against dense matrices, quadrature and exactness."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate
from scipy.special import ndtr

from firmware_py.inference.kernel import CONVERGED, NOT_CONVERGED, NOT_POSITIVE_DEFINITE
from firmware_py.inference.mixture import arrays
from firmware_py.inference.mixture.arrays import Likelihood, Sites, Tones
from firmware_py.inference.mixture.expectation_propagation import (
    SWEEPS_MAX,
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
from tests.inference.mixture.population import KNOTS_HZ, POPULATION
from tests.inference.models import mixture_of
from tests.reference import FloatArray
from tests.reference_mixture import (
    Listener,
    expectation_propagation,
    probability,
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


def _alone(level_db_hl: float, answer: bool | None, frequency_hz: float) -> Twin:
    one = POPULATION.components[1]
    prior = type(POPULATION)(KNOTS_HZ, POPULATION.between_knots_sd_db, (one,), {})
    return twin([(frequency_hz, level_db_hl, answer)], USUAL, prior=prior, unsure_half_width_db=2.0)


@pytest.mark.parametrize("answer", [True, False, None])
@pytest.mark.parametrize("level_db_hl", [0.0, 20.0, 70.0])
def test_one_answer_is_exact_in_one_dimension(level_db_hl: float, answer: bool | None) -> None:
    """At a knot, by quadrature over the threshold there; unless the variance had to grow."""
    estimator, data = _alone(level_db_hl, answer, 2000.0)
    (prior_mean,), (prior_covariance,) = data.mean_db_hl, data.covariance_db2
    j = KNOTS_HZ.index(2000.0)
    m, v = prior_mean[j], prior_covariance[j, j]
    g = np.linspace(m - 12.0 * np.sqrt(v), m + 12.0 * np.sqrt(v), 20001)
    p = np.exp(-0.5 * (g - m) ** 2 / v) / np.sqrt(2.0 * np.pi * v)
    p *= probability(data.answer[0], level_db_hl, g, USUAL.noise_db, USUAL, 2.0)
    z = integrate.trapezoid(p, g)
    mean_at = integrate.trapezoid(p * g, g) / z
    variance_at = integrate.trapezoid(p * (g - mean_at) ** 2, g) / z
    # All knots follow from the one that was asked about.
    slope = prior_covariance[j] / v
    rest = prior_covariance - np.outer(slope, slope) * v
    mean_db_hl, sd_db = estimator.threshold(KNOTS_HZ)

    assert estimator.log_evidence == pytest.approx(math.log(z), abs=1e-9)
    assert_allclose(mean_db_hl, prior_mean + slope * (mean_at - m), rtol=1e-8)
    expected = np.diag(rest) + slope**2 * min(variance_at, v)
    assert_allclose(sd_db**2, expected, rtol=1e-7)


@pytest.mark.parametrize("answer", [True, False, None])
def test_one_answer_between_knots_is_exact_in_three_dimensions(answer: bool | None) -> None:
    """Quadrature over both neighbours and the bend between them."""
    estimator, data = _alone(30.0, answer, 1500.0)
    j = KNOTS_HZ.index(1000.0)
    bend = len(KNOTS_HZ) + j
    three = [j, j + 1, bend]
    mean, covariance = data.mean_db_hl[0][three], data.covariance_db2[0][np.ix_(three, three)]
    factor = np.linalg.cholesky(covariance)
    u = np.linspace(-8.0, 8.0, 129)
    z = np.stack(np.meshgrid(u, u, u, indexing="ij"), axis=-1).reshape(-1, 3)
    w = mean + z @ factor.T
    p = np.exp(-0.5 * np.sum(z**2, axis=1)) / (2.0 * np.pi) ** 1.5 * (u[1] - u[0]) ** 3
    row = data.rows[0][three]
    p *= probability(data.answer[0], 30.0, w @ row, USUAL.noise_db, USUAL, 2.0)
    total = np.sum(p)
    expected = p @ w / total
    sd = np.sqrt(p @ (w - expected) ** 2 / total)
    at = w @ row
    mean_db_hl, sd_db = estimator.threshold([*KNOTS_HZ[j : j + 2], 1500.0])
    of = mixture_of(estimator).workspace.hypotheses

    assert estimator.log_evidence == pytest.approx(math.log(total), abs=1e-9)
    assert_allclose(mean_db_hl, [*expected[:2], p @ at / total], rtol=1e-8)
    assert_allclose(sd_db, [*sd[:2], math.sqrt(p @ (at - p @ at / total) ** 2 / total)], rtol=1e-8)
    assert of.mean[0, bend] == pytest.approx(expected[2], abs=1e-9)
    assert of.covariance[0, bend, bend] == pytest.approx(sd[2] ** 2, rel=1e-8)


# --- the end of the sweeps -----------------------------------------------------------------------


def _run(
    answers: list[int], margin_db: list[float], rate: float, noise_db: float = 1.0,
    precision: float = 1e-3, calls: int = 1,
) -> tuple[float, int, FloatArray]:  # fmt: skip
    """Run the kernel on one knot; return log evidence, status, and mean and variance."""
    n = len(answers)
    at_the_knot = np.zeros(n, np.int64), np.full(n, -1)
    tones = Tones(*at_the_knot, np.array(answers, np.int64), *np.zeros((4, n)))
    likelihood = Likelihood(
        np.array(margin_db), np.full(n, noise_db**2), np.zeros(n), np.full(n, rate),
        np.full(n, rate), np.array(answers, np.float64), np.full(n, rate),
        np.full(n, 1.0 - 2.0 * rate),
    )  # fmt: skip
    sites, posterior = Sites(*np.zeros((3, n))), arrays.Gaussian(np.zeros(1), np.zeros((1, 1)))
    scratch = scratch_for(1, n)
    for _ in range(calls):
        log_evidence, status = propagate(
            n, 1, tones, likelihood, TOLERANCE_SD, np.full((1, 1), precision),
            -0.5 * math.log(precision), sites, posterior, scratch,
        )  # fmt: skip
    return log_evidence, status, np.array([posterior.mean[0], posterior.covariance[0, 0]])


def _exact(answers: list[int], margin_db: list[float], rate: float) -> FloatArray:
    """Return mean and variance of the posterior that `_run` approximates, on a grid."""
    g = np.linspace(-400.0, 400.0, 80_001)
    log_p = -0.5 * g**2 * 1e-3
    for answer, margin in zip(answers, margin_db, strict=True):
        log_p += np.log(rate + (1.0 - 2.0 * rate) * ndtr(answer * (margin - g)))
    p = np.exp(log_p - np.max(log_p))
    mean = np.average(g, weights=p)
    return np.array([mean, np.average((g - mean) ** 2, weights=p)])


@pytest.mark.parametrize("sessions", [60, pytest.param(300, marks=pytest.mark.thorough)])
def test_sweeps_end_and_say_whether_they_settled(sessions: int) -> None:
    """Of sessions of guesses at one knot, nearly all settle, and are where they say they are.

    Without lapses guesses contradict each other beyond measure, and rarely the sweeps pass by a
    place where they hardly move. With lapses it is nearer to the exact posterior than where they
    would go, should they leave it when run on.
    """
    rng = np.random.default_rng(20260202)
    settled = unsettled = moved = left = 0
    worst_after_sd = 0.0  # with lapses, of those that stay
    for _ in range(sessions):
        n = int(rng.integers(1, 12))
        answers = rng.choice([HEARD, SILENT], n).tolist()
        margin_db = rng.normal(0.0, 40.0, n).tolist()
        rate = float(rng.choice([1e-4, 0.01, 0.06, 0.15, 0.3]))
        log_evidence, status, found = _run(answers, margin_db, rate)
        assert status in (CONVERGED, NOT_CONVERGED)
        assert np.all(np.isfinite([log_evidence, *found]))
        assert 0.0 < found[1] <= 1e3 * (1.0 + 1e-12)
        if status == NOT_CONVERGED:
            unsettled += 1
            continue
        settled += 1
        # What is said to have settled hardly moves when it is run on.
        _, _, later = _run(answers, margin_db, rate, calls=30)
        after_sd = abs(later[0] - found[0]) / math.sqrt(later[1])
        moved += after_sd > TOLERANCE_AT_THE_END_SD
        if rate >= 0.01 and after_sd > 0.2:
            left += 1
            exact = _exact(answers, margin_db, rate)
            assert abs(found[0] - exact[0]) < abs(later[0] - exact[0])
            assert abs(math.log(found[1] / exact[1])) < abs(math.log(later[1] / exact[1]))
        elif rate >= 0.01:
            worst_after_sd = max(worst_after_sd, after_sd)
    print(f"\nsettled {settled}, not {unsettled}; when run on {moved} moved by more than "
          f"{TOLERANCE_AT_THE_END_SD} SD, with lapses {left} left, the others moved by at most "
          f"{worst_after_sd:.3f} SD")  # fmt: skip
    assert settled >= 0.95 * sessions
    assert moved <= sessions // 60
    assert left <= 1
    assert worst_after_sd <= 0.2
    assert TOLERANCE_SD < TOLERANCE_AT_THE_END_SD < 0.1
    assert SWEEPS_MAX <= 64


def test_what_is_no_covariance_is_a_status() -> None:
    """NaN in, status out; nothing raises and nothing loops for ever."""
    with np.errstate(invalid="ignore"):  # as in a compiled kernel, if it runs as plain Python here
        _, status, _ = _run([HEARD], [math.nan], 0.01)
        assert status == NOT_POSITIVE_DEFINITE
        _, status, _ = _run([HEARD], [0.0], 0.01, precision=math.nan)
        assert status == NOT_POSITIVE_DEFINITE
