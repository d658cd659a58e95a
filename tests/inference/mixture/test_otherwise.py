"""Answers that may have been otherwise, against an inference anew, and against one Gaussian."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from firmware_py import ThresholdEstimator
from tests.inference.mixture.population import POPULATION
from tests.inference.models import mixture_of
from tests.reference import FloatArray

SEED = 20261129
TONES = 24
FREQUENCIES_HZ = (250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0)
NEAR_NATS = 0.05  # hypotheses that do not count
TOLD = {"response_noise_db": 3.0, "lapse_rate": 0.02, "false_alarm_rate": 0.02}


def answers(softer_db: FloatArray) -> list[tuple[float, float, bool]]:
    """Return tones about a flat loss of 30 dB, each so much softer in the ear than played."""
    rng = np.random.default_rng(SEED)
    found = []
    for k in range(TONES):
        level_db_hl = float(rng.integers(15, 45))
        above_db = level_db_hl - softer_db[k] - 30.0
        found.append((FREQUENCIES_HZ[k % 6], level_db_hl, bool(rng.normal() * 3.0 < above_db)))
    return found


def after(tones: list[tuple[float, float, bool]], **told: float) -> ThresholdEstimator:
    estimator = ThresholdEstimator(prior=POPULATION, **(TOLD | told))  # type: ignore[arg-type]
    for frequency_hz, level_db_hl, heard in tones:
        estimator.observe(frequency_hz, level_db_hl, heard)
    return estimator


def since(k: int, by_db: float) -> FloatArray:
    return np.where(np.arange(TONES) >= k, by_db, 0.0)


@pytest.mark.parametrize("by_db", [-9.0, -3.0, 8.0, 15.0])
def test_the_evidence_of_softer_tones_is_that_of_the_levels_in_the_ear(by_db: float) -> None:
    tones, softer_db = answers(since(12, 12.0)), since(12, by_db)
    in_ear = [(f, level - s, heard) for (f, level, heard), s in zip(tones, softer_db, strict=True)]
    estimator, anew = after(tones), after(in_ear)

    found = estimator.log_ratio_otherwise(softer_db, np.zeros(TONES))

    assert found == pytest.approx(anew.log_evidence - estimator.log_evidence, abs=NEAR_NATS)
    moved_db_hl = estimator.threshold_otherwise(softer_db, np.zeros(TONES), FREQUENCIES_HZ)
    assert_allclose(moved_db_hl, anew.threshold(FREQUENCIES_HZ)[0], atol=1.0)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_a_share_of_unheard_tones_that_is_pressed_is_a_listener_of_other_rates(
    share: float,
) -> None:
    """P + (1 - P) r is a probit with more false alarms and fewer lapses."""
    tones = answers(np.zeros(TONES))
    estimator = after(tones)
    rates = {"false_alarm_rate": 0.02 + 0.98 * share, "lapse_rate": 0.02 * (1.0 - share)}

    found = estimator.log_ratio_otherwise(np.zeros(TONES), np.full(TONES, share))

    wanted = after(tones, **rates).log_evidence - estimator.log_evidence
    assert found == pytest.approx(wanted, abs=NEAR_NATS)


def test_what_is_pressed_unheard_is_no_unsure_answer() -> None:
    """P(unsure) <- (1 - r) P(unsure), whatever the threshold."""
    shares = np.array([0.3, 0.0, 0.6])
    estimator = after([], unsure_half_width_db=3.0)
    for frequency_hz, level_db_hl in ((1000.0, 31.0), (2000.0, 28.0), (4000.0, 33.0)):
        estimator.observe(frequency_hz, level_db_hl, None)
    usual = estimator.log_ratio_otherwise(np.zeros(3), np.zeros(3))

    found = estimator.log_ratio_otherwise(np.zeros(3), shares)

    assert found - usual == pytest.approx(float(np.log1p(-shares).sum()), abs=1e-12)


@pytest.mark.parametrize("dropped", [0, 7, TONES - 1])
def test_an_answer_to_a_tone_far_away_is_none(dropped: int) -> None:
    tones = answers(np.zeros(TONES))
    estimator = after(tones)
    softer_db = np.zeros(TONES)
    softer_db[dropped] = -100.0 if tones[dropped][2] else 100.0

    found_db_hl = estimator.threshold_otherwise(softer_db, np.zeros(TONES), [250.0, 700.0, 8000.0])

    anew = after([each for k, each in enumerate(tones) if k != dropped])
    assert_allclose(found_db_hl, anew.threshold([250.0, 700.0, 8000.0])[0], atol=1.0)


def test_nothing_that_is_believed_changes() -> None:
    estimator = after(answers(np.zeros(TONES)))
    other = after(answers(np.zeros(TONES)))
    other.log_ratio_otherwise(since(5, 15.0), np.full(TONES, 0.3))

    for each in (estimator, other):
        each.observe(3000.0, 30.0, True)
    assert_allclose(
        other.threshold(FREQUENCIES_HZ), estimator.threshold(FREQUENCIES_HZ), rtol=0.0, atol=0.0
    )
    assert other.log_evidence == estimator.log_evidence


def test_the_gain_of_a_shift_is_that_of_one_gaussian() -> None:
    """The sites are observations of g + s d, with a variance of 1 / tau."""
    sd_db, tones = 10.0, answers(since(12, 12.0))
    estimator = after(tones)
    among = np.array([np.ones(TONES), [float(f <= 1000.0) for f, _, _ in tones]])

    gain, shift_db = estimator.gain_by_shifts(among, sd_db)

    w, components = mixture_of(estimator).workspace, len(POPULATION.components)
    best = int(np.argmax(w.hypotheses.weight))
    place = w.tones.left[:TONES]
    covariance = w.prior.covariance[best % components][np.ix_(place, place)]
    sites = w.hypotheses.tau[best, :TONES], w.hypotheses.nu[best, :TONES]
    usual, _ = _log_evidence(covariance, *sites)
    for row in range(2):
        for k in (0, 5, 12, 20):
            d = among[row] * (np.arange(TONES) >= k)
            log_evidence, mean = _log_evidence(covariance + sd_db**2 * np.outer(d, d), *sites)
            assert gain[row, k] == pytest.approx(log_evidence - usual, abs=1e-6)
            wanted_db = sd_db**2 * d @ (sites[1] - sites[0] * mean)
            assert shift_db[row, k] == pytest.approx(wanted_db, abs=1e-6)


def _log_evidence(
    covariance: FloatArray, tau: FloatArray, nu: FloatArray
) -> tuple[float, FloatArray]:
    """Return log E exp(nu f - tau f^2 / 2) over f of N(0, covariance), and the mean of f then."""
    both = np.eye(len(tau)) + covariance * tau
    mean: FloatArray = np.linalg.solve(both, covariance @ nu).astype(float)
    return 0.5 * float(nu @ mean) - 0.5 * float(np.linalg.slogdet(both)[1]), mean


def test_the_paper_s_model_knows_nothing_else() -> None:
    estimator = ThresholdEstimator("gp-pta-2015")
    estimator.observe(1000.0, 40.0, True)

    assert estimator.log_ratio_otherwise(np.array([20.0]), np.zeros(1)) == 0.0
    gain, shift_db = estimator.gain_by_shifts(np.ones((1, 1)), 10.0)
    assert not gain.any()
    assert not shift_db.any()
    believed, _ = estimator.threshold([1000.0])
    assert_allclose(estimator.threshold_otherwise([20.0], [0.0], [1000.0]), believed)
