"""Response times as evidence: known Gaussian factors, and a slope that is not there."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, special, stats

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.mixture.arrays import (
    TIMED_LISTENER_ENTRIES,
    Gaussian,
    Likelihood,
    Sites,
    Tones,
)
from firmware_py.inference.mixture.expectation_propagation import posterior_of, take_in_time
from firmware_py.inference.mixture.response_times import (
    FLAT_FROM_SDS,
    INTERCEPT_SD,
    TYPICAL_S,
    hinge,
    linearise,
    log_of_times,
)
from firmware_py.inference.profiles import MixtureProfile, profile_named
from firmware_py.inference.psychometric import HEARD
from tests.inference.listeners import listener
from tests.inference.mixture.mixture_state import scratch_for
from tests.inference.mixture.population import POPULATION
from tests.inference.models import PROFILES, mixture_of
from tests.reference import FloatArray

SEED = 20261122
TOLD = {"response_noise_db": 3.0, "lapse_rate": 0.01, "false_alarm_rate": 0.01}
TIMED = profile_named("response-times")
assert isinstance(TIMED, MixtureProfile)
TIMES = [each for each in TIMED.response_times if each is not None]
SLOPES = np.array([each.slope for each in TIMES])
LOG_SDS = np.array([each.log_sd for each in TIMES])
SHARES = np.array([each.share for each in TIMES])


# --- the bend ---


@pytest.mark.parametrize("mean", [-6.0, 0.0, 2.0, 3.0, 4.5, 12.0])
@pytest.mark.parametrize("sd", [0.2, 1.0, 4.0])
def test_the_hinge_is_regressed_on_where_the_tone_was(mean: float, sd: float) -> None:
    def of(power: int, times_u: int) -> float:
        def part(u: float) -> float:
            density = float(stats.norm.pdf(u, mean, sd))
            return min(u, FLAT_FROM_SDS) ** power * (u - mean) ** times_u * density

        ends = mean - 10.0 * sd, mean + 10.0 * sd
        points = [FLAT_FROM_SDS] if ends[0] < FLAT_FROM_SDS < ends[1] else None
        return float(integrate.quad(part, *ends, points=points, epsabs=1e-12)[0])

    expected, slope = of(1, 0), of(1, 1) / sd**2
    rest = of(2, 0) - expected**2 - slope**2 * sd**2
    assert_allclose(hinge(mean, sd), (expected, slope, rest), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("mean_db", "slope"), [(-40.0, 0.0), (40.0, 1.0)])
def test_far_from_the_bend_the_factor_is_exact(mean_db: float, slope: float) -> None:
    """Far above the threshold a time tells of the intercept alone; far below it, it is a line."""
    beta, log_time = 0.08, 0.2
    one = np.array([0.0, 0.0, 0.0, 0.0, beta, 0.25])
    assert len(one) == TIMED_LISTENER_ENTRIES
    tones = Tones(*np.zeros((3, 1), np.int64), *np.zeros((4, 1)), *np.full((1, 1), log_time))
    likelihood = Likelihood(np.full(1, 5.0), np.full(1, 4.0), *np.zeros((9, 1)))
    linearise(0, tones, one, mean_db, 9.0, likelihood)
    assert likelihood.time_scale[0] == pytest.approx(slope * beta / 2.0, abs=1e-12)
    assert likelihood.time_precision[0] == pytest.approx(16.0, rel=1e-9)
    straight = log_time + beta / 2.0 * 5.0
    flat = log_time + beta * FLAT_FROM_SDS
    assert likelihood.time[0] == pytest.approx(straight if slope else flat, rel=1e-9)


# --- the factors ---------------------------------------------------------------------------------


class Times:
    """Random times of tones at and between knots, and what they see of the unknowns."""

    def __init__(self, rng: np.random.Generator) -> None:
        knots, n = 4, 9
        self.n, self.unknowns = n, 2 * knots + 2  # knots, bends, the intercept
        a = rng.normal(size=(self.unknowns, self.unknowns))
        self.prior_db2 = a @ a.T + 0.3 * np.eye(self.unknowns)
        self.precision: FloatArray = np.asarray(np.linalg.inv(self.prior_db2), np.float64)
        left = rng.integers(0, knots - 1, n)
        fraction = rng.choice([0.0, 0.3, 0.8], n)
        bow_db = np.where(fraction > 0.0, rng.uniform(1.0, 6.0, n), 0.0)
        bend = knots + left
        log_time = np.where(rng.random(n) < 0.7, rng.normal(0.0, 0.3, n), math.nan)
        self.tones = Tones(
            left, bend, np.full(n, HEARD), fraction, bow_db, np.ones(n), np.zeros(n), log_time
        )
        margin_db, noise_db = rng.normal(0.0, 6.0, n), rng.uniform(1.0, 4.0, n)
        self.likelihood = Likelihood(margin_db, noise_db**2, *np.zeros((6, n)), *np.zeros((3, n)))
        self.told = ~np.isnan(log_time)
        self.likelihood.time[:] = np.where(self.told, log_time + 0.08 / noise_db * margin_db, 0.0)
        self.likelihood.time_scale[:] = 0.08 / noise_db
        self.likelihood.time_precision[:] = np.where(self.told, 1.0 / 0.25**2, 0.0)
        x = np.zeros((n, self.unknowns))
        at = np.arange(n)
        x[at, left] += 1.0 - fraction
        x[at, left + 1] += fraction
        x[at, bend] += bow_db
        x *= (0.08 / noise_db)[:, np.newaxis]
        x[:, -1] = 1.0
        y = log_time + 0.08 / noise_db * margin_db
        self.x, self.y, self.s2 = x[self.told], y[self.told], 0.25**2

    def exact(self) -> tuple[FloatArray, FloatArray, float]:
        """Return mean, covariance and log evidence of the linear regression."""
        precision = self.precision + self.x.T @ self.x / self.s2
        covariance: FloatArray = np.asarray(np.linalg.inv(precision), np.float64)
        spread = self.x @ self.prior_db2 @ self.x.T + self.s2 * np.eye(len(self.y))
        evidence = stats.multivariate_normal(np.zeros(len(self.y)), spread).logpdf(self.y)
        return covariance @ self.x.T @ self.y / self.s2, covariance, float(evidence)


@pytest.mark.parametrize("seed", range(5))
def test_times_are_linear_regression_all_at_once(seed: int) -> None:
    times = Times(np.random.default_rng([SEED, seed]))
    mean, covariance, evidence = times.exact()
    square = (times.unknowns, times.unknowns)
    posterior = Gaussian(np.zeros(times.unknowns), np.zeros(square))
    log_partition = posterior_of(
        times.n, times.unknowns, times.tones, times.likelihood, times.precision,
        Sites(*np.zeros((3, times.n))), posterior, scratch_for(times.unknowns, times.n),
    )  # fmt: skip
    log_prior = 0.5 * np.linalg.slogdet(times.prior_db2)[1]

    assert_allclose(posterior.mean, mean, rtol=1e-9, atol=1e-9)
    assert_allclose(posterior.covariance, covariance, rtol=1e-9, atol=1e-9)
    found = log_partition - log_prior + log_of_times(times.n, times.likelihood)
    assert found == pytest.approx(evidence, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_and_one_after_the_other(seed: int) -> None:
    times = Times(np.random.default_rng([SEED, seed]))
    mean, covariance, evidence = times.exact()
    posterior = Gaussian(np.zeros(times.unknowns), times.prior_db2.copy())
    column = np.zeros(times.unknowns)
    found = sum(
        take_in_time(i, times.tones, times.likelihood, posterior, column) for i in range(times.n)
    )
    assert_allclose(posterior.mean, mean, rtol=1e-9, atol=1e-9)
    assert_allclose(posterior.covariance, covariance, rtol=1e-9, atol=1e-9)
    assert found == pytest.approx(evidence, abs=1e-9)


# --- through the estimator -----------------------------------------------------------------------

Timed = tuple[float, bool, float | None]  # level, heard, response time


def exact(answers: list[Timed]) -> tuple[float, float, FloatArray]:
    """Return mean and SD of the threshold at 1 kHz, and the posterior of the kinds of times.

    On a grid; the intercept is integrated out. The bend is in it as it is.
    """
    k = POPULATION.knots_hz.index(1000.0)
    g = np.linspace(-60.0, 140.0, 4001)
    prior = sum(
        c.weight * stats.norm.pdf(g, c.mean_db_hl[k], math.sqrt(c.covariance_db2[k][k]))
        for c in POPULATION.components
    )
    log_p = np.log(np.asarray(prior))
    for level_db_hl, heard, _ in answers:
        p = 0.01 + 0.98 * special.ndtr((level_db_hl - g) / 3.0)
        log_p += np.log(p if heard else 1.0 - p)
    timed = [(level, t) for level, heard, t in answers if heard and t is not None]
    levels_db_hl = np.array([level for level, _ in timed])
    log_t = np.log(np.array([t for _, t in timed]) / TYPICAL_S)
    n, log_joint = len(timed), []
    for slope, log_sd, share in zip(SLOPES, LOG_SDS, SHARES, strict=True):
        above = np.minimum((levels_db_hl[:, np.newaxis] - g) / 3.0, FLAT_FROM_SDS)
        y = log_t[:, np.newaxis] + slope * above
        spread = log_sd**2 * np.eye(n) + INTERCEPT_SD**2
        of_times = stats.multivariate_normal(np.zeros(n), spread).logpdf(y.T) if n else 0.0
        log_joint.append(math.log(share) + log_p + of_times)
    joint = np.exp(np.array(log_joint) - np.max(log_joint))
    joint /= joint.sum()
    weight = joint.sum(axis=0)
    mean = float(weight @ g)
    return mean, math.sqrt(weight @ (g - mean) ** 2), joint.sum(axis=1)


def a_session(seed: int, count: int, slope: float) -> list[Timed]:
    """Return answers at 1 kHz of a listener with a threshold of 20 dB, and their times."""
    rng = np.random.default_rng([SEED, 7, seed])
    answers: list[Timed] = []
    for _ in range(count):
        level_db_hl = float(np.round(rng.normal(21.0, 4.0)))
        heard = bool(rng.random() < special.ndtr((level_db_hl - 20.0) / 3.0))
        above = min((level_db_hl - 20.0) / 3.0, FLAT_FROM_SDS)
        time_s = 0.45 * math.exp(rng.normal(-slope * above, 0.24))
        answers.append((level_db_hl, heard, time_s if heard else None))
    return answers


def after(answers: list[Timed], timed: bool = True, hz: float = 1000.0) -> ThresholdEstimator:
    """Return an estimator that was given these answers."""
    profile = "response-times" if timed else "default"
    estimator = ThresholdEstimator(profile, prior=POPULATION, **TOLD)  # type: ignore[arg-type]
    for level_db_hl, heard, time_s in answers:
        estimator.observe(hz, level_db_hl, heard, time_s)
    return estimator


@pytest.mark.parametrize("slope", [0.0, 0.08, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_the_posterior_is_that_of_a_grid(seed: int, slope: float) -> None:
    """As near as regression comes to the bend, and expectation propagation to the answers."""
    answers = a_session(seed, 25, slope)
    mean, sd, share = exact(answers)
    estimator = after(answers)
    (found_mean,), (found_sd,) = estimator.threshold([1000.0])
    print(
        f"\nslope {slope}: mean {found_mean:.2f} for {mean:.2f} dB, SD {found_sd:.2f} for {sd:.2f}"
    )
    assert abs(found_mean - mean) <= 0.1 * sd
    assert found_sd == pytest.approx(sd, rel=0.05)
    assert_allclose(mixture_of(estimator).listener_shares(), share, atol=0.04)


def test_times_that_were_not_asked_for_change_no_bit() -> None:
    answers = a_session(2, 25, 0.08)
    without: list[Timed] = [(level, heard, None) for level, heard, _ in answers]
    asked_hz = [250.0, 1000.0, 3170.0]
    found = [after(each, timed=False).threshold(asked_hz) for each in (answers, without)]
    assert np.array(found[0]).tobytes() == np.array(found[1]).tobytes()


def test_times_of_tones_that_were_not_heard_count_for_nothing() -> None:
    answers = a_session(3, 20, 0.08)
    without, with_it = (after([*answers, (15.0, False, time_s)]) for time_s in (None, 0.9))
    found = [np.array(each.threshold([250.0, 1000.0])) for each in (without, with_it)]
    assert found[0].tobytes() == found[1].tobytes()


def test_the_first_tone_off_the_knots_keeps_the_times_there_are() -> None:
    answers = a_session(4, 20, 0.08)
    anew = ThresholdEstimator("response-times", prior=POPULATION, candidates=20, **TOLD)  # type: ignore[arg-type]
    straight = after(answers)
    for level_db_hl, heard, time_s in answers:
        anew.observe(1000.0, level_db_hl, heard, time_s)
    for estimator in (anew, straight):
        estimator.observe(1300.0, 24.0, True, 0.6)
    asked_hz = [250.0, 1000.0, 1300.0]
    assert_allclose(anew.threshold(asked_hz), straight.threshold(asked_hz), atol=0.01)
    assert anew.log_evidence == pytest.approx(straight.log_evidence, abs=0.01)


def test_begun_again_nothing_is_left_of_the_times() -> None:
    answers = a_session(5, 20, 0.08)
    used, new = after(answers), after([])
    used.reset()
    for estimator in (used, new):
        for level_db_hl, heard, time_s in answers[:7]:
            estimator.observe(1000.0, level_db_hl, heard, time_s)
    assert (
        np.array(used.threshold([1000.0])).tobytes() == np.array(new.threshold([1000.0])).tobytes()
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_times_are_no_evidence_to_the_other_profiles(profile: str) -> None:
    estimator, untimed = ThresholdEstimator(profile), ThresholdEstimator(profile)
    estimator.observe(1000.0, 30.0, True, 0.4)
    untimed.observe(1000.0, 30.0, True)
    assert_allclose(estimator.threshold([1000.0]), untimed.threshold([1000.0]), rtol=0.0)


def test_whole_sessions_end_with_honest_numbers() -> None:
    """Also where every time is the shortest or the longest that can be given."""
    for extreme_s in (0.05, 10.0):
        hears = listener("N3", seed=5)
        estimator = ThresholdEstimator("response-times", prior=POPULATION)
        for number in range(25):
            tone = BITS.choose(estimator)
            heard = hears(tone.frequency_hz, tone.level_db_hl)
            time_s = extreme_s if number % 2 else 0.5
            estimator.observe(tone.frequency_hz, tone.level_db_hl, heard, time_s)
        mean_db_hl, sd_db = estimator.threshold(estimator.candidate_frequencies_hz)
        assert np.isfinite(mean_db_hl).all()
        assert np.all((sd_db > 0.0) & (sd_db < 60.0))
