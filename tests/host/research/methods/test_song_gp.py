"""The classifier of Song and Barbour: posterior, evidence, search and tones against references."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats
from scipy.stats import qmc

from firmware_py.inference.kernel import NOT_CONVERGED, NOT_POSITIVE_DEFINITE
from host_tools.research.methods import song_gp
from host_tools.research.methods.interface import Array, Task
from host_tools.research.methods.song_gp import (
    BARBOUR,
    BOUNDS,
    INITIAL_TONES,
    SCHLITTENLACHER,
    SLOPE_SHARPNESS,
    Answers,
    Fit,
    FitError,
    SongGp,
    Variant,
    maximise_evidence,
)
from tests.budget import quick
from tests.host.research.methods.listening import Listener, measure

TASK = Task(level_limits_db_hl=(-10.0, 110.0), frequency_range_hz=(250.0, 8000.0))
MIDDLE_DB_HL = 50.0
LAPSES = replace(BARBOUR, lapse_rate=0.02, false_alarm_rate=0.05)
HYPERPARAMETERS = np.array([0.7, np.log(1.5), np.log(2.0), np.log(1.2)])  # c, log s1, s2, l
SLOPING = Listener([250.0, 1000.0, 4000.0, 8000.0], [20.0, 30.0, 60.0, 70.0], 2.0, 0.01, 0.01)

# Octaves, 10 dB from the middle, heard: three places, and one answer that fits badly.
ANSWERS = [
    (9.0, -3.0, False),
    (9.0, -1.0, True),
    (10.0, -2.0, False),
    (10.0, 2.0, True),
    (12.0, 1.0, False),
    (12.0, 3.0, True),
    (12.0, 1.5, True),
    (10.0, 1.0, False),
]


def answers(variant: Variant = BARBOUR, count: int = len(ANSWERS)) -> Answers:
    given = Answers(variant)
    for octaves, h, heard in ANSWERS[:count]:
        given.add(octaves, h, heard)
    return given


def make_fit(given: Answers, hyperparameters: Array = HYPERPARAMETERS) -> Fit:
    return given.fit(hyperparameters, np.zeros((2, len(given))))


class Exact:
    """The posterior by importance: very many slopes and curves of the prior, weighed by answers."""

    def __init__(self, variant: Variant, hyperparameters: Array, n: int = 800_000) -> None:
        random = np.random.default_rng(17)
        c, (s1, s2, length) = hyperparameters[0], np.exp(hyperparameters[1:])
        self.octaves = np.array([9.0, 10.0, 11.0, 12.0])
        distance = (self.octaves[:, None] - self.octaves) / length
        covariance = s2**2 * np.exp(-0.5 * distance**2)
        self.slope = s1 * random.normal(size=n)
        self.curve = c + random.multivariate_normal(np.zeros(4), covariance, n)
        weight = special.ndtr(SLOPE_SHARPNESS * self.slope)
        honest = 1.0 - variant.lapse_rate - variant.false_alarm_rate
        for octaves, h, heard in ANSWERS:
            f = self.curve[:, int(octaves - 9.0)] + self.slope * h
            p = variant.false_alarm_rate + honest * special.ndtr(f)
            weight = weight * (p if heard else 1.0 - p)
        self.log_evidence = float(np.log(weight.mean()))
        self.weight = weight / weight.sum()

    def moments(self, values: Array) -> tuple[float, float]:
        mean = float(self.weight @ values)
        return mean, float(np.sqrt(self.weight @ (values - mean) ** 2))


def predict(method: SongGp, octaves: float) -> tuple[Array, Array]:
    """Mean (c + u, w) and covariance of them at one place, by dense algebra from the sites."""
    fit, given = method._fit, method._answers
    c, (s1, s2, length) = fit.hyperparameters[0], np.exp(fit.hyperparameters[1:])
    h, tone = given.h, given.is_tone

    def smooth(a: Array, b: Array) -> Array:
        return s2**2 * np.exp(-0.5 * ((a[:, None] - b) / length) ** 2)

    k = s1**2 * np.outer(h, h) + smooth(given.octaves, given.octaves) * np.outer(tone, tone)
    cross = np.array([smooth(np.array([octaves]), given.octaves)[0] * tone, s1**2 * h])
    tau, nu = np.maximum(fit.sites[0], 1e-12), fit.sites[1]
    inverse = np.linalg.inv(k + np.diag(1.0 / tau))
    mean = np.array([c, 0.0]) + cross @ inverse @ (nu / tau)
    covariance = np.diag([s2**2, s1**2]) - cross @ inverse @ cross.T
    return mean, covariance


# --- The posterior -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "tolerance"), [(BARBOUR, 0.07), (LAPSES, 0.2)], ids=["probit", "lapses"]
)
def test_the_posterior_and_the_evidence_are_close_to_the_exact_ones(
    variant: Variant, tolerance: float
) -> None:
    """Expectation propagation against 800 thousand draws; the tolerance is in SDs, and of them."""
    method = SongGp(TASK, variant)
    method._answers = answers(variant)
    method._fit = make_fit(method._answers)
    exact = Exact(variant, HYPERPARAMETERS)

    for place, octaves in enumerate(exact.octaves):
        intercept, covariance = method._predict(np.array([2.0**octaves]))
        for mean, variance, values in (
            (intercept[0], covariance[0, 0], exact.curve[:, place]),
            (intercept[1], covariance[0, 2], exact.slope),
        ):
            exact_mean, exact_sd = exact.moments(values)
            assert mean == pytest.approx(exact_mean, abs=tolerance * exact_sd)
            assert np.sqrt(variance) == pytest.approx(exact_sd, rel=tolerance)
        level_mean, level_sd = exact.moments(exact.curve[:, place] + 2.5 * exact.slope)
        variance = covariance[0] @ [1.0, 2.0 * 2.5, 2.5**2]
        assert intercept @ [1.0, 2.5] == pytest.approx(level_mean, abs=tolerance * level_sd)
        assert np.sqrt(variance) == pytest.approx(level_sd, rel=tolerance)
    assert method._fit.log_evidence == pytest.approx(exact.log_evidence, abs=0.6 * tolerance)


@pytest.mark.parametrize("variant", [BARBOUR, LAPSES], ids=["probit", "lapses"])
def test_the_gradient_of_the_evidence_is_its_finite_difference(variant: Variant) -> None:
    given = answers(variant)
    gradient = make_fit(given).gradient
    for i in range(4):
        step = 1e-4 * np.eye(4)[i]
        up, down = (make_fit(given, HYPERPARAMETERS + sign * step) for sign in (1, -1))
        difference = (up.log_evidence - down.log_evidence) / 2e-4
        assert gradient[i] == pytest.approx(difference, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("status", [NOT_CONVERGED, NOT_POSITIVE_DEFINITE])
def test_propagation_that_fails_is_said_and_the_last_posterior_kept(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    method = SongGp(TASK)
    measure(method, SLOPING, 6)
    before = method.threshold([1000.0])
    monkeypatch.setattr(song_gp, "propagate", lambda *_: status)

    with pytest.raises(FitError, match="did not converge in 100 sweeps over 7 answers"):
        method.observe(1000.0, 40.0, True)
    with pytest.raises(FitError, match="did not converge in 100 sweeps over 7 answers"):
        method.observe(1000.0, 40.0, True)

    np.testing.assert_array_equal(method.threshold([1000.0]), before)


# --- Maximum evidence ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", quick([1, 2, 3], 2))
def test_the_evidence_found_is_no_less_than_what_scipy_finds_from_the_same_start(seed: int) -> None:
    method = SongGp(TASK)
    measure(method, replace(SLOPING, random=np.random.default_rng(seed)), 25)
    given = method._answers
    start = np.array([0.0, np.log(3.0), np.log(3.0), 0.0])
    low, high = np.array(BOUNDS).T
    box = [(low[0], high[0]), *zip(np.log(low[1:]), np.log(high[1:]), strict=True)]
    reference = optimize.minimize(
        lambda theta: -make_fit(given, theta).log_evidence,
        start,
        jac=lambda theta: -make_fit(given, theta).gradient,
        method="L-BFGS-B",
        bounds=box,
    )

    found = maximise_evidence(given, make_fit(given, start), np.ones(4))

    assert found.log_evidence > -reference.fun - 0.02
    assert np.all(found.hyperparameters >= np.array(box)[:, 0] - 1e-12)
    assert np.all(found.hyperparameters <= np.array(box)[:, 1] + 1e-12)
    assert method._fit.log_evidence >= found.log_evidence - 0.02


def test_schlittenlacher_learns_the_mean_only() -> None:
    method = SongGp(TASK, SCHLITTENLACHER)
    measure(method, SLOPING, 20)
    offset, *logarithms = method._fit.hyperparameters

    assert np.exp(logarithms) == pytest.approx([3.0, 3.0, 0.5])
    best = method._fit.log_evidence
    for step in (-0.5, -0.05, 0.05, 0.5):
        other = np.array([offset + step, *np.log([3.0, 3.0, 0.5])])
        assert make_fit(method._answers, other).log_evidence < best + 1e-6


# --- The next tone -------------------------------------------------------------------------------


def test_the_first_tones_are_a_halton_sequence() -> None:
    method = SongGp(TASK)
    tones = [measure(method, SLOPING, 1)[0] for _ in range(INITIAL_TONES)]

    expected = qmc.Halton(2, scramble=False).random(INITIAL_TONES + 1)[1:]
    found = [(np.log2(t.frequency_hz / 250.0) / 5.0, (t.level_db_hl + 10.0) / 120.0) for t in tones]
    assert np.array(found) == pytest.approx(expected)


@pytest.mark.parametrize("tones", [5, 9, 18])
@pytest.mark.parametrize("variant", [BARBOUR, SCHLITTENLACHER], ids=["barbour", "schlittenlacher"])
def test_the_next_tone_is_the_most_informative_of_all(variant: Variant, tones: int) -> None:
    """Mutual information by quadrature over f, from dense algebra; BALD is within 0.003 bit."""
    method = SongGp(TASK, variant)
    measure(method, replace(SLOPING, random=np.random.default_rng(3)), tones)
    stimulus = method.next_stimulus()
    x, weight = np.polynomial.hermite_e.hermegauss(60)

    def bits(octaves: float, h: Array) -> Array:
        mean, covariance = predict(method, octaves)
        place = np.array([np.ones_like(h), h])
        f_mean = mean @ place
        f_sd = np.sqrt(np.einsum("ij,ik,kj->j", place, covariance, place))
        total = special.ndtr(f_mean / np.hypot(1.0, f_sd))
        if f_sd.max() < 2.5:
            f = f_mean[:, None] + f_sd[:, None] * x
            known = entropy_bits(special.ndtr(f)) @ weight / np.sqrt(2.0 * np.pi)
        else:
            grid = np.linspace(-10.0, 10.0, 2001)
            density = stats.norm.pdf(grid, f_mean[:, None], f_sd[:, None])
            known = integrate.trapezoid(density * entropy_bits(special.ndtr(grid)), grid)
        return np.asarray(entropy_bits(total) - known)

    h = (np.arange(-10.0, 111.0, 2.0) - MIDDLE_DB_HL) / 10.0
    best = max(bits(octaves, h).max() for octaves in np.log2(250.0) + np.arange(0.0, 5.01, 1 / 3))
    chosen = bits(
        np.log2(stimulus.frequency_hz), np.array([(stimulus.level_db_hl - MIDDLE_DB_HL) / 10.0])
    )
    assert 250.0 <= stimulus.frequency_hz <= 8000.0
    assert -10.0 <= stimulus.level_db_hl <= 110.0
    assert chosen[0] > best - 0.01
    assert method.next_stimulus() == stimulus


def entropy_bits(p: Array) -> Array:
    return np.asarray((special.entr(p) + special.entr(1.0 - p)) / np.log(2.0))


@pytest.mark.parametrize(("threshold_db_hl", "end_db_hl"), [(500.0, 110.0), (-500.0, -10.0)])
def test_who_hears_nothing_or_everything_is_put_at_the_limit(
    threshold_db_hl: float, end_db_hl: float
) -> None:
    method = SongGp(TASK)
    measure(method, Listener([1000.0], [threshold_db_hl]), 20)

    mean_db_hl, sd_db = method.threshold([500.0, 1000.0, 4000.0])
    assert mean_db_hl == pytest.approx(end_db_hl, abs=15.0)
    assert np.all(np.isfinite(sd_db) & (sd_db > 0.0))


# --- The threshold -------------------------------------------------------------------------------


def contrary(method: SongGp) -> SongGp:
    """A listener who hears what is soft and not what is loud."""
    for frequency_hz in (300.0, 600.0, 1200.0, 2400.0, 4800.0):
        for level_db_hl in (-10.0, 110.0):
            method.observe(frequency_hz, level_db_hl, level_db_hl < 0.0)
    return method


def test_contrary_answers_do_not_turn_the_slope_round() -> None:
    method = contrary(SongGp(TASK))
    mean_db_hl, sd_db = method.threshold([250.0, 1000.0, 8000.0])

    assert np.all((mean_db_hl >= -10.0) & (mean_db_hl <= 110.0))
    assert np.all(np.isfinite(sd_db) & (sd_db > 30.0))
    assert np.isfinite(method._fit.log_evidence)
    assert method.next_stimulus() is not None


# --- Convergence ---------------------------------------------------------------------------------
