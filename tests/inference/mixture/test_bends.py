"""Tones off the knots: one deviation for each interval, that answers tell of like of a knot.

Where all tones are at one frequency or two, the answers see one or two sums of the unknowns. Their
posterior is exact by quadrature, listeners and ways of wandering summed out, and needs no bends:
only the mean and variance that the prior has at those frequencies.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from firmware_py import ThresholdEstimator
from tests.budget import quick
from tests.inference.mixture.mixture_state import (
    LISTENERS,
    Answer,
    data_of,
    told_listener,
    twin,
    unknowns_of,
)
from tests.inference.mixture.population import KNOTS_HZ, POPULATION
from tests.inference.models import mixture_of
from tests.reference import FloatArray
from tests.reference_mixture import Data, Listener

SEED = 20261122
SHARP, USUAL = told_listener(1.7, 0.01, 0.01), told_listener(3.0, 0.03, 0.03)
WIDE: dict[str, Any] = {"frequency_range_hz": (50.0, 16000.0)}


class Exact(NamedTuple):
    """Means, SDs and correlation at the frequencies asked, and the log evidence, by quadrature."""

    mean_db_hl: FloatArray
    sd_db: FloatArray
    correlation: float
    log_evidence: float


def exact(data: Data, frequencies_hz: list[float], points: int) -> Exact:
    """Integrate over the thresholds at one frequency or two, of which all answers are."""
    rows = np.array([data.row(f) for f in frequencies_hz])
    means = data.mean_db_hl @ rows.T
    covariances = rows @ data.covariance_db2 @ rows.T
    reach_db = 8.0 * np.sqrt(np.max(np.diagonal(covariances, axis1=1, axis2=2)))
    axes = [np.linspace(m.min() - reach_db, m.max() + reach_db, points) for m in means.T]
    g = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(rows))
    seen = Data(
        data.weight, means, covariances, np.array(frequencies_hz), None, data.listeners,
        data.wanders,
    )  # fmt: skip
    for row in data.rows:
        (at,) = np.flatnonzero(np.all(rows == row, axis=1))
        seen.rows.append(np.eye(len(rows))[at])
    seen.level_db_hl, seen.answer, seen.noise_factor = (
        data.level_db_hl, data.answer, data.noise_factor,
    )  # fmt: skip
    log_p = seen.log_prior(g) + seen.log_likelihood(g)
    total = float(logsumexp(log_p))
    share = np.exp(log_p - total)
    mean = share @ g
    second = (g - mean).T @ (share[:, np.newaxis] * (g - mean))
    sd = np.sqrt(np.diag(second))
    step = np.prod([axis[1] - axis[0] for axis in axes])
    return Exact(mean, sd, float(second[0, -1] / sd[0] / sd[-1]), total + float(np.log(step)))


def _answers(
    frequencies_hz: list[float], threshold_db_hl: float, listener: Listener, count: int, seed: int
) -> list[Answer]:
    """Return answers to levels about a threshold, at the frequencies in turn."""
    rng = np.random.default_rng([SEED, seed])
    answers: list[Answer] = []
    for n in range(count):
        level_db_hl = float(np.clip(np.round(rng.normal(threshold_db_hl, 6.0)), -10.0, 120.0))
        heard = bool(level_db_hl + listener.noise_db * rng.standard_normal() > threshold_db_hl)
        answers.append((frequencies_hz[n % len(frequencies_hz)], level_db_hl, heard))
    return answers


# Frequencies, answers, listener that is told (None: nothing), and the errors that are allowed: of
# means in SDs, and of SDs relative to the exact ones.
CASES: dict[str, tuple[list[float], int, Listener | None, float, float]] = {
    "40 at 1225 Hz": ([1225.0], 40, USUAL, 0.03, 0.05),
    "40 at 1225 Hz, sharp": ([1225.0], 40, SHARP, 0.03, 0.05),
    "40 at 1225 Hz, nothing told": ([1225.0], 40, None, 0.15, 0.25),
    "40 at 1200 and 1700 Hz": ([1200.0, 1700.0], 40, USUAL, 0.03, 0.05),
    "40 at 1700 and 2400 Hz, two intervals": ([1700.0, 2400.0], 40, USUAL, 0.03, 0.05),
    "40 at 80 Hz": ([80.0], 40, USUAL, 0.03, 0.05),
    "40 at 60 and 100 Hz": ([60.0, 100.0], 40, USUAL, 0.03, 0.05),
    "40 at 10 and 14 kHz": ([10000.0, 14000.0], 40, USUAL, 0.03, 0.05),
    "30 at 1000 and 1225 Hz": ([1000.0, 1225.0], 30, USUAL, 0.03, 0.05),
}  # fmt: skip


# Of one frequency: the quadrature over two takes a hundred times as long.
QUICK = {name for name, (frequencies_hz, *_) in CASES.items() if len(frequencies_hz) == 1}


@pytest.mark.parametrize("name", quick(CASES, *QUICK))
def test_answers_off_the_knots_leave_what_the_exact_posterior_has(name: str) -> None:
    frequencies_hz, count, listener, mean_allowed, sd_allowed = CASES[name]
    answers = _answers(frequencies_hz, 25.0, listener or USUAL, count, len(name))
    estimator, data = twin(answers, listener, **WIDE)
    expected = exact(data, frequencies_hz, 8001 if len(frequencies_hz) == 1 else 801)
    mean_db_hl, sd_db = estimator.threshold(frequencies_hz)
    off_sd = float(np.max(np.abs(mean_db_hl - expected.mean_db_hl) / expected.sd_db))
    wider = float(np.max(np.abs(sd_db / expected.sd_db - 1.0)))
    share, means_db_hl, covariances_db2 = estimator.joint_threshold(frequencies_hz)
    off = means_db_hl - share @ means_db_hl
    joint_db2 = np.einsum("k,kij->ij", share, covariances_db2) + (share * off.T) @ off
    correlation = joint_db2[0, -1] / np.sqrt(joint_db2[0, 0] * joint_db2[-1, -1])
    print(f"\n{name}: SD {expected.sd_db} dB; mean off by {off_sd:.3f} SD, SD by {wider:.1%}, "
          f"correlation {correlation:.3f}, exact {expected.correlation:.3f}, evidence "
          f"{estimator.log_evidence - expected.log_evidence:+.4f}")  # fmt: skip
    assert np.all(expected.sd_db < 2.0)
    assert off_sd <= mean_allowed
    assert wider <= sd_allowed
    if listener is not None:
        assert correlation == pytest.approx(expected.correlation, abs=0.03)
        assert estimator.log_evidence == pytest.approx(expected.log_evidence, abs=0.02)


# --- when the bends are taken in -----------------------------------------------------------------


def _on_then_off(off_hz: float) -> list[Answer]:
    on = _answers([500.0, 1000.0, 2000.0, 4000.0], 30.0, USUAL, 16, 6)
    return [*on, *_answers([off_hz, 1000.0], 32.0, USUAL, 6, 7)]


def _with_bends_from_the_start(answers: list[Answer], **options: Any) -> ThresholdEstimator:
    """A candidate off the knots makes room for the bends before the first answer."""
    estimator = ThresholdEstimator(prior=POPULATION, candidates=20, **WIDE, **options)
    assert unknowns_of(estimator) == 2 * len(KNOTS_HZ) + 1
    for answer in answers:
        estimator.observe(*answer)
    return estimator


@pytest.mark.parametrize("off_hz", [60.0, 1225.0, 13000.0])
@pytest.mark.parametrize(
    "told", [{}, {"response_noise_db": 3.0, "lapse_rate": 0.03, "false_alarm_rate": 0.03}],
    ids=["nothing told", "told"],
)  # fmt: skip
def test_bends_taken_in_late_end_where_those_from_the_start_do(
    off_hz: float, told: dict[str, Any]
) -> None:
    """Silences were observed in between: they count once."""
    answers = _on_then_off(off_hz)
    asked_hz = [50.0, off_hz, *KNOTS_HZ, 1100.0, 5000.0, 16000.0]
    for count in (17, 22):
        late = ThresholdEstimator(prior=POPULATION, **WIDE, **told)
        early = _with_bends_from_the_start([], **told)
        for n, answer in enumerate(answers[:count]):
            for estimator in (late, early):
                if n in (3, 10):
                    estimator.observe_silence(n == 3)
                estimator.observe(*answer)
            if n == 15:  # no tone off the knots yet
                assert unknowns_of(late) == len(KNOTS_HZ)
        assert unknowns_of(late) == 2 * len(KNOTS_HZ) + 1
        found, expected = (np.array(e.threshold(asked_hz)) for e in (late, early))
        print(f"\n{count}: off by {np.max(np.abs(found - expected) / expected[1]):.1e} SD")
        assert np.all(np.abs(found - expected) <= 5e-3 * expected[1])
        assert late.log_evidence == pytest.approx(early.log_evidence, abs=5e-3)
        assert_allclose(late.attended, early.attended, atol=5e-3)
        assert late.converged
        for name in ("response_noise_db", "lapse_rate", "false_alarm_rate"):
            of_late, of_early = (getattr(e.hyperparameters, name) for e in (late, early))
            assert of_late == pytest.approx(of_early, rel=5e-3)


def test_on_the_knots_the_bends_change_nothing_that_is_said() -> None:
    """Room for them or not: no answer tells of them."""
    answers = _answers([500.0, 1000.0, 2000.0, 4000.0], 30.0, USUAL, 16, 8)
    asked_hz = [50.0, *KNOTS_HZ, 1100.0, 5000.0, 16000.0]
    without = ThresholdEstimator(prior=POPULATION, **WIDE)
    for answer in answers:
        without.observe(*answer)
    with_them = _with_bends_from_the_start(answers)
    assert unknowns_of(without) == len(KNOTS_HZ)
    for call in ("threshold", "threshold_band"):
        found, expected = (np.array(getattr(e, call)(asked_hz)) for e in (with_them, without))
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert with_them.log_evidence == pytest.approx(without.log_evidence, abs=1e-9)
    assert with_them.probability_heard(1225.0, 30.0) == pytest.approx(
        without.probability_heard(1225.0, 30.0), rel=1e-9
    )
    for found, expected in zip(
        with_them.joint_threshold(asked_hz), without.joint_threshold(asked_hz), strict=True
    ):
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_reset_forgets_the_bends() -> None:
    """The room for them stays; what is said is what a new one says."""
    used, new = (ThresholdEstimator(prior=POPULATION, **WIDE) for _ in range(2))
    for answer in _on_then_off(1225.0):
        used.observe(*answer)
    room_bytes = used.memory_bytes
    used.reset()
    assert used.memory_bytes == room_bytes > new.memory_bytes
    for answer in _answers([1000.0, 2000.0], 30.0, USUAL, 8, 9):
        for estimator in (used, new):
            estimator.observe(*answer)
    asked_hz = [80.0, *KNOTS_HZ, 1225.0, 10000.0]
    assert_allclose(used.threshold(asked_hz), new.threshold(asked_hz), rtol=1e-9)
    assert used.next_stimulus() == new.next_stimulus()


def test_the_room_for_bends_is_made_once() -> None:
    estimator = ThresholdEstimator(prior=POPULATION, max_trials=12)
    estimator.observe(1000.0, 40.0, True)
    before_bytes = estimator.memory_bytes
    estimator.observe(1225.0, 40.0, True)
    bytes_then = estimator.memory_bytes
    places = [v.ctypes.data for v in mixture_of(estimator).workspace.arrays()]
    for frequency_hz in (1300.0, 2000.0, 300.0, 7000.0):
        estimator.observe(frequency_hz, 30.0, False)
    estimator.reset()
    estimator.observe(700.0, 30.0, False)
    assert before_bytes < bytes_then == estimator.memory_bytes
    assert [v.ctypes.data for v in mixture_of(estimator).workspace.arrays()] == places


# --- the joint posterior -------------------------------------------------------------------------

JOINT_HZ = [60.0, 100.0, 125.0, 180.0, 200.0, 1000.0, 1100.0, 1900.0, 2000.0, 2100.0, 9000.0, 12e3]


def _later(off: bool) -> ThresholdEstimator:
    answers = _on_then_off(1225.0)
    return twin(answers if off else answers[:16], None, **WIDE).estimator


@pytest.mark.parametrize("off", [False, True], ids=["bends as they were", "bends taken in"])
def test_joint_posterior_is_that_of_knots_and_bends(off: bool) -> None:
    """By dense algebra, with the bends the prior's where none of them was asked."""
    estimator = _later(off)
    mixture = mixture_of(estimator).workspace.mixture
    data = data_of(POPULATION, True, LISTENERS, wanders=True)
    rows = np.array([data.row(f) for f in JOINT_HZ])
    told = slice(unknowns_of(estimator))
    mean, covariance = mixture.mean_db_hl[:, told], mixture.covariance[:, told, told]
    if not off:
        wide = data.covariance_db2.copy()
        knots = len(KNOTS_HZ)
        wide[:, :knots, :knots] = covariance
        mean, covariance = np.c_[mean, np.zeros((len(mean), knots + 1))], wide
    _, found_mean, found_covariance = estimator.joint_threshold(JOINT_HZ)
    assert_allclose(found_mean, mean @ rows.T, rtol=1e-11)
    expected = rows @ covariance @ rows.T
    assert_allclose(found_covariance, expected, rtol=1e-9, atol=1e-9)
