"""Reference for profile "default", in NumPy and SciPy, from the equations and not from the code.

The threshold at the knots is sum_k pi_k N(m_k, C_k). Between two knots it is linear over log2
frequency plus a bend: sqrt(4 u (1 - u)) s_j z_j at the fraction u of the interval j; an octave
beyond the outermost knots it is that of the knot plus sqrt(150) z. All z are N(0, 1), one for each
interval and each side, and stand behind the knots in w: a tone i at the level h_i sees g_i = b_i w.
A listener (sigma, lambda, gamma, d) answers as an ordinal probit with a dead zone of half width d:

P(heard | g) = gamma + c Phi((h - d - g)/sigma),   P(silent | g) = lambda + c Phi((g - h - d)/sigma)

P(unsure | g) the rest, c = 1 - lambda - gamma (- gamma again, with a dead zone). One who wanders
attends, misses whatever is played, or presses whatever is played: a Markov chain over the answers.
Who misses all is silent with probability 0.8, who presses all with 0.2; the rest is shared equally
by the buttons.

Here are that likelihood, expectation propagation with dense matrices and moments by quadrature, and
a way to the exact posterior: importance sampling.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, ndtr

from tests.reference import FloatArray

SWEEPS_MAX = 3000
QUADRATURE_POINTS = 4001
QUADRATURE_REACH_SDS = 14.0

HEARD, UNSURE, SILENT = 1, 0, -1

# States of attention: attending, missing all, pressing all.
ATTENDING, MISSING, PRESSING = range(3)
WANDERS_OFF, RETURNS, AWAY_AT_THE_START = 0.01, 0.2, 0.02
STATE_AT_THE_START = np.array([1.0 - AWAY_AT_THE_START, *[0.5 * AWAY_AT_THE_START] * 2])
# From a row to a column; nobody goes from missing to pressing without attending in between.
STATE_TO_STATE = np.array([
    [1.0 - WANDERS_OFF, 0.5 * WANDERS_OFF, 0.5 * WANDERS_OFF],
    [RETURNS, 1.0 - RETURNS, 0.0],
    [RETURNS, 0.0, 1.0 - RETURNS],
])  # fmt: skip
SILENT_WHILE_MISSING, SILENT_WHILE_PRESSING = 0.8, 0.2

OUTSIDE_DB2_PER_OCTAVE = 150.0


class Listener(NamedTuple):
    """A kind of listener, and how likely it is beforehand."""

    noise_db: float
    lapse_rate: float
    false_alarm_rate: float
    share: float = 1.0
    half_width_db: float = 0.0


@dataclass
class Data:
    """Answers, seen from a mixture prior over the unknowns: D knots, perhaps D + 1 bends."""

    weight: FloatArray  # (K,)
    mean_db_hl: FloatArray  # (K, D) or (K, 2 D + 1)
    covariance_db2: FloatArray  # of the same
    knots_hz: FloatArray  # (D,)
    # (D - 1,), s_j; None: the bends are not among the unknowns, and nothing may be asked off knots
    between_sd_db: FloatArray | None
    listeners: list[Listener]
    wanders: bool = False
    rows: list[FloatArray] = field(default_factory=list)  # b_i
    level_db_hl: list[float] = field(default_factory=list)
    noise_factor: list[float] = field(default_factory=list)
    answer: list[int] = field(default_factory=list)

    def add(
        self, frequency_hz: float, level_db_hl: float, answer: int, noise_factor: float = 1.0
    ) -> None:
        self.rows.append(self.row(frequency_hz))
        self.level_db_hl.append(level_db_hl)
        self.noise_factor.append(noise_factor)
        self.answer.append(answer)

    def row(self, frequency_hz: float) -> FloatArray:
        """Return b, the threshold at a frequency as a sum of the unknowns."""
        knots = row_of(frequency_hz, self.knots_hz)
        if self.between_sd_db is None:
            assert frequency_hz in self.knots_hz
            return knots
        return np.r_[knots, bows_of(frequency_hz, self.knots_hz, self.between_sd_db)]

    def log_likelihood(self, w: FloatArray) -> FloatArray:
        """Return log p(answers | w), the listeners summed out; w is (N, D)."""
        if not self.answer:
            return np.zeros(len(w))
        g = w @ np.array(self.rows).T
        total = []
        for listener in self.listeners:
            noise_db = self.noise_of(listener)
            p = [
                probability(a, h, g[:, i], noise_db[i], listener, listener.half_width_db)
                for i, (a, h) in enumerate(zip(self.answer, self.level_db_hl, strict=True))
            ]
            log_p = (
                log_of_wanderer(p, self.answer, listener.half_width_db)
                if self.wanders
                else np.log(p).sum(axis=0)
            )
            total.append(np.log(listener.share) + log_p)
        return np.asarray(logsumexp(total, axis=0))

    def noise_of(self, listener: Listener) -> FloatArray:
        return np.asarray(listener.noise_db * np.array(self.noise_factor))

    def log_prior(self, w: FloatArray) -> FloatArray:
        return log_mixture(w, self.weight, self.mean_db_hl, self.covariance_db2)


def row_of(frequency_hz: float, knots_hz: FloatArray) -> FloatArray:
    """Return b: linear interpolation over log2 frequency, constant beyond the knots."""
    return np.array([np.interp(np.log2(frequency_hz), np.log2(knots_hz), e)
                     for e in np.eye(len(knots_hz))])  # fmt: skip


def bows_of(frequency_hz: float, knots_hz: FloatArray, between_sd_db: FloatArray) -> FloatArray:
    """Return what the bends are multiplied by: above each of the D knots in turn, below the first.

    At most one of the D + 1 is not 0; all are 0 at a knot.
    """
    at, knots = np.log2(frequency_hz), np.log2(knots_hz)
    bows_db = np.zeros(len(knots) + 1)
    if at < knots[0]:
        bows_db[-1] = np.sqrt(OUTSIDE_DB2_PER_OCTAVE * (knots[0] - at))
    elif at > knots[-1]:
        bows_db[-2] = np.sqrt(OUTSIDE_DB2_PER_OCTAVE * (at - knots[-1]))
    elif frequency_hz not in knots_hz:
        j = int(np.searchsorted(knots, at)) - 1
        u = (at - knots[j]) / (knots[j + 1] - knots[j])
        bows_db[j] = np.sqrt(4.0 * u * (1.0 - u)) * between_sd_db[j]
    return bows_db


def with_bends(mean: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means (K, 2 D + 1) and covariances of knots and bends from those of the D knots.

    The bends are standard normal, and independent of each other and of the knots.
    """
    components, knots = mean.shape
    wide = np.tile(np.eye(2 * knots + 1), (components, 1, 1))
    wide[:, :knots, :knots] = covariance
    return np.c_[mean, np.zeros((components, knots + 1))], wide


def probability(
    answer: int, level_db_hl: float, g: FloatArray, noise_db: float, listener: Listener, d: float
) -> FloatArray:
    rate = listener.false_alarm_rate
    c = 1.0 - listener.lapse_rate - rate * (2.0 if d > 0.0 else 1.0)
    if answer == HEARD:
        return np.asarray(rate + c * ndtr((level_db_hl - d - g) / noise_db))
    if answer == SILENT:
        return np.asarray(listener.lapse_rate + c * ndtr((g - level_db_hl - d) / noise_db))
    inside = ndtr((level_db_hl + d - g) / noise_db) - ndtr((level_db_hl - d - g) / noise_db)
    return np.asarray(rate + c * inside)


def while_away(answer: int, half_width_db: float) -> tuple[float, float]:
    """Return p(answer) of one who misses all, and of one who presses all."""
    if answer == SILENT:
        return SILENT_WHILE_MISSING, SILENT_WHILE_PRESSING
    buttons = 2.0 if half_width_db > 0.0 else 1.0
    return (1.0 - SILENT_WHILE_MISSING) / buttons, (1.0 - SILENT_WHILE_PRESSING) / buttons


def log_of_wanderer(
    p_attending: list[FloatArray], answers: list[int], half_width_db: float
) -> FloatArray:
    """Return the log probability of all answers, summed over the ways of wandering."""
    state = np.tile(STATE_AT_THE_START, (len(p_attending[0]), 1))
    log_p = np.zeros(len(state))
    for p, answer in zip(p_attending, answers, strict=True):
        given = np.empty_like(state)
        given[:, ATTENDING] = p
        given[:, MISSING:] = while_away(answer, half_width_db)
        state = state * given
        total = state.sum(axis=1)
        log_p += np.log(total)
        state = (state / total[:, np.newaxis]) @ STATE_TO_STATE
    return log_p


def log_normal(w: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    factor = np.linalg.cholesky(covariance)
    z = np.linalg.solve(factor, (w - mean).T)
    log_det = np.sum(np.log(np.diag(factor)))
    return np.asarray(-0.5 * np.sum(z**2, axis=0) - log_det - 0.5 * len(mean) * np.log(2 * np.pi))


def log_mixture(
    w: FloatArray, weight: FloatArray, mean: FloatArray, covariance: FloatArray
) -> FloatArray:
    parts = zip(weight, mean, covariance, strict=True)
    return np.asarray(logsumexp([np.log(p) + log_normal(w, m, c) for p, m, c in parts], axis=0))


# --- expectation propagation ---------------------------------------------------------------------


class Gaussian(NamedTuple):
    """What expectation propagation finds for one component and one listener."""

    mean_db_hl: FloatArray
    covariance_db2: FloatArray
    log_evidence: float
    converged: bool


def tilted_moments(
    answer: int, level_db_hl: float, noise_db: float, listener: Listener, d: float,
    mean: float, variance: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return log Z, mean and variance of p(answer | g) N(g; mean, variance), by quadrature."""
    sd = np.sqrt(variance)
    u = np.linspace(-QUADRATURE_REACH_SDS, QUADRATURE_REACH_SDS, QUADRATURE_POINTS)
    p = probability(answer, level_db_hl, mean + sd * u, noise_db, listener, d)
    p = p * np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi) * (u[1] - u[0])
    z = np.sum(p)
    first = np.sum(p * u) / z
    second = np.sum(p * (u - first) ** 2) / z
    return float(np.log(z)), float(mean + sd * first), float(variance * second)


def expectation_propagation(
    data: Data, component: int, listener: Listener, tolerance: float = 1e-12
) -> Gaussian:
    """Sweep over the answers until no stand-in exp(nu g - tau g**2/2) moves; tau >= 0.

    The moments of a tilted distribution are matched where tau may be; else its mean.
    """
    prior_mean = data.mean_db_hl[component]
    precision_0 = np.linalg.inv(data.covariance_db2[component])
    b = np.array(data.rows)
    n = len(b)
    noise_db = data.noise_of(listener)
    tau, nu = np.zeros(n), np.zeros(n)
    covariance, mean = data.covariance_db2[component], prior_mean
    log_z, log_cavity = np.zeros(n), np.zeros(n)

    def posterior() -> tuple[FloatArray, FloatArray]:
        c = np.asarray(np.linalg.inv(precision_0 + b.T @ np.diag(tau) @ b), np.float64)
        return c, np.asarray(c @ (precision_0 @ prior_mean + b.T @ nu), np.float64)

    converged = False
    for k in range(SWEEPS_MAX):
        moved = 0.0
        for i in range(n):
            m, v = b[i] @ mean, b[i] @ covariance @ b[i]
            cavity_precision, cavity_nu = 1.0 / v - tau[i], m / v - nu[i]
            cavity_mean, cavity_variance = cavity_nu / cavity_precision, 1.0 / cavity_precision
            log_z[i], new_mean, new_variance = tilted_moments(
                data.answer[i], data.level_db_hl[i], noise_db[i], listener, listener.half_width_db,
                cavity_mean, cavity_variance,
            )  # fmt: skip
            new_tau = max(1.0 / new_variance - cavity_precision, 0.0)
            new_nu = new_mean * (cavity_precision + new_tau) - cavity_nu
            damping = 1.0 if k < 8 else 0.5
            d_tau, d_nu = damping * (new_tau - tau[i]), damping * (new_nu - nu[i])
            moved = max(moved, abs(d_tau) * v, abs(d_nu - d_tau * m) * np.sqrt(v))
            tau[i] += d_tau
            nu[i] += d_nu
            log_cavity[i] = log_partition(cavity_precision, cavity_nu)
            covariance, mean = posterior()
        if moved <= tolerance:
            converged = True
            break
    # log Z = log of the integral of the prior times the scaled stand-ins.
    log_evidence = 0.0
    for i in range(n):
        m, v = b[i] @ mean, b[i] @ covariance @ b[i]
        log_evidence += log_z[i] + log_cavity[i] - log_partition(1.0 / v, m / v)
    natural = np.linalg.solve(covariance, mean)
    log_evidence += 0.5 * (natural @ mean + np.linalg.slogdet(covariance)[1])
    log_evidence -= 0.5 * (
        prior_mean @ precision_0 @ prior_mean - np.linalg.slogdet(precision_0)[1]
    )
    return Gaussian(mean, covariance, float(log_evidence), converged)


def log_partition(precision: float, nu: float) -> float:
    """Return the log of the integral of exp(nu g - precision g**2/2), less log(2 pi)/2."""
    return float(0.5 * (nu * nu / precision - np.log(precision)))


# --- the exact posterior, by sampling ------------------------------------------------------------


class Sampled(NamedTuple):
    """Mean and SD of the unknowns, log evidence, and how many samples all are worth."""

    mean_db_hl: FloatArray
    sd_db: FloatArray
    log_evidence: float
    effective_size: float


def importance_sampling(
    data: Data, weight: FloatArray, mean: FloatArray, covariance: FloatArray,
    particles: int, rng: np.random.Generator,
) -> Sampled:  # fmt: skip
    """Sample from a mixture of ever wider Gaussians about an approximation, and from the prior.

    The approximation (a mixture: weight, mean, covariance) decides only how many samples are needed
    and not what they say: the target is prior times likelihood, components and listeners summed
    out. A quarter of the particles comes from the prior: no weight exceeds four likelihoods.
    """
    q_weight = np.concatenate([0.3 * weight, 0.25 * weight, 0.2 * weight, 0.25 * data.weight])
    q_mean = np.concatenate([mean, mean, mean, data.mean_db_hl])
    q_covariance = np.concatenate(
        [1.3 * covariance, 3.0 * covariance, 9.0 * covariance, data.covariance_db2]
    )
    kept = q_weight > 1e-6
    q_weight, q_mean, q_covariance = q_weight[kept], q_mean[kept], q_covariance[kept]
    w = sample_mixture(q_weight / q_weight.sum(), q_mean, q_covariance, particles, rng)
    log_q = log_mixture(w, q_weight / q_weight.sum(), q_mean, q_covariance)
    log_w = data.log_prior(w) + data.log_likelihood(w) - log_q
    return weigh(w, log_w)


def weigh(w: FloatArray, log_w: FloatArray) -> Sampled:
    """Return the moments of samples with these log weights."""
    share = np.exp(log_w - logsumexp(log_w))
    mean = share @ w
    sd = np.sqrt(share @ (w - mean) ** 2)
    log_evidence = float(logsumexp(log_w) - np.log(len(w)))
    return Sampled(mean, sd, log_evidence, float(1.0 / np.sum(share**2)))


def sample_mixture(
    weight: FloatArray, mean: FloatArray, covariance: FloatArray, count: int,
    rng: np.random.Generator,
) -> FloatArray:  # fmt: skip
    of = rng.choice(len(weight), count, p=weight)
    z = rng.standard_normal((count, mean.shape[1]))
    factor = np.linalg.cholesky(covariance)
    return np.asarray(mean[of] + np.einsum("nij,nj->ni", factor[of], z))
