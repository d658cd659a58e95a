"""Expectation propagation for a Gaussian process whose answers are heard or not.

C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning" (2006), algorithms
3.5 and 3.6. Each answer has a site, a Gaussian in the place of its likelihood; a sweep replaces one
after the other by that with the same effect on mean and variance, until none changes any more.
"""

import math
from typing import Final

import numpy as np

from firmware_py.inference.elementary import log, normal_cdf
from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_CONVERGED,
    Array,
    Cube,
    Matrix,
    Vector,
    entry,
    kernel,
)
from firmware_py.inference.likelihood import log_normal_cdf, ratio
from firmware_py.inference.linear_algebra import cholesky, inverse, multiply, solve_lower
from host_tools.research.methods.interface import Task


def probability_heard(z: Array, task: Task) -> Array:
    """Return the chance that a tone z SDs above threshold is answered, lapses included.

    P = a + (1 - a - b) Phi(z), with a the false alarm rate and b the lapse rate.
    """
    p = np.empty(z.shape)
    _write_probabilities(
        z.size, np.ascontiguousarray(z).ravel(), task.false_alarm_rate, task.lapse_rate, p.ravel()
    )
    return p


@entry
def _write_probabilities(
    n: int, z: Vector, false_alarm_rate: float, lapse_rate: float, p: Vector
) -> int:
    """Write a + (1 - a - b) Phi(z) of n numbers."""
    for i in range(n):
        p[i] = false_alarm_rate + (1.0 - false_alarm_rate - lapse_rate) * normal_cdf(z[i])
    return CONVERGED


@kernel
def answer_moments(
    sign: float, mean: float, variance: float, guess: float, honest: float, out: Array
) -> int:
    """Write log Z, its derivative by the mean, and that squared less twice that by the variance.

    Z = g + q Phi(y mean/s), s^2 = variance, the noise in it: y is the sign, g a guess, q honest.
    With r = phi/Phi at z = y mean/s, and p the part of q Phi in Z, the derivatives are y r p/s and
    r p (r p + z)/s^2.
    """
    s = math.sqrt(variance)
    z = sign * mean / s
    out[0] = log_normal_cdf(z) + log(honest)
    part = 1.0
    if guess > 0.0:
        p = honest * normal_cdf(z)
        out[0] = log(guess + p)
        part = p / (guess + p)
    rp = part * ratio(z)
    out[1] = sign * rp / s
    out[2] = rp * (rp + z) / (s * s)
    return CONVERGED


SWEEPS_MAX: Final = 100  # 3 to 10 are usual, 30 with lapses
TOLERANCE: Final = 1e-8  # of the sites' mean and precision, relative to 1 + their size

# Rows of what `propagate` takes and gives.
SIGN, OFFSET, GUESS, HONEST = range(4)
TAU, NU = range(2)
FACTOR, SCRATCH, SIGMA, INVERSE = range(4)


@kernel
def _moments(answer: Array, mean: float, variance: float, out: Array) -> int:
    """Write `answer_moments` of `answer` = (y, c, g, q) over f ~ N(mean, variance)."""
    shift = answer[OFFSET] + mean
    return answer_moments(answer[SIGN], shift, 1.0 + variance, answer[GUESS], answer[HONEST], out)


@kernel
def _posterior(k: Array, sites: Array, matrices: Array, mu: Array) -> int:
    """Write the posterior N(mu, Sigma) under the sites: Sigma = K - V^T V, V = U^-T S^1/2 K.

    U^T U = I + S^1/2 K S^1/2 is factored in `matrices[FACTOR]`, and mu = Sigma nu.
    """
    n = len(mu)
    tau = sites[TAU]
    u, v, sigma = matrices[FACTOR], matrices[SCRATCH], matrices[SIGMA]
    for i in range(n):
        for j in range(n):
            v[i, j] = math.sqrt(tau[i]) * k[i, j]
            u[i, j] = v[i, j] * math.sqrt(tau[j])
            sigma[i, j] = k[i, j]
        u[i, i] += 1.0
    status = cholesky(n, u)
    if status != CONVERGED:
        return status
    solve_lower(n, n, u, v)
    for m in range(n):
        for i in range(n):
            c = v[m, i]
            for j in range(n):
                sigma[i, j] -= c * v[m, j]
    multiply(n, sigma, sites[NU], mu)
    return CONVERGED


@kernel
def _cavity(i: int, sites: Array, sigma: Array, mu: Array, cavity: Array) -> float:
    """Write mean and variance of the posterior without site i; return its precision."""
    precision: float = 1.0 / sigma[i, i] - sites[TAU, i]
    cavity[1] = 1.0 / precision
    cavity[0] = cavity[1] * (mu[i] / sigma[i, i] - sites[NU, i])
    return precision


@kernel
def _replace_site(
    i: int, tau: float, nu: float, sites: Array, sigma: Array, mu: Array, column: Array
) -> int:
    """Put a site in the place of site i, and bring the posterior up to date (rank one)."""
    change = tau - sites[TAU, i]
    scale = 1.0 / (1.0 + change * sigma[i, i])
    push = scale * (nu - sites[NU, i] - change * mu[i])
    for j in range(len(mu)):
        column[j] = sigma[i, j]
    for j in range(len(mu)):
        mu[j] += push * column[j]
        c = scale * change * column[j]
        for m in range(len(mu)):
            sigma[j, m] -= c * column[m]
    sites[TAU, i] = tau
    sites[NU, i] = nu
    return CONVERGED


@kernel
def _sweep(answers: Array, sites: Array, matrices: Array, mu: Array, result: Array) -> float:
    """Update every site once, and the posterior with it; return the largest relative change."""
    sigma, column = matrices[SIGMA], matrices[SCRATCH, 0]
    largest = 0.0
    for i in range(len(mu)):
        if not _cavity(i, sites, sigma, mu, result) > 0.0:
            continue  # rounding; the posterior is computed afresh after the sweep
        mean, variance = result[0], result[1]
        _moments(answers[:, i], mean, variance, result)
        # Without a bend (a lapse: the answer says less than nothing) a site has no precision.
        curvature = max(result[2], 0.0)
        share = 1.0 - variance * curvature
        tau = curvature / share
        nu = (result[1] + mean * curvature) / share
        largest = max(largest, abs(tau - sites[TAU, i]) / (1.0 + tau))
        largest = max(largest, abs(nu - sites[NU, i]) / (1.0 + abs(nu)))
        _replace_site(i, tau, nu, sites, sigma, mu, column)
    return largest


@kernel
def _log_evidence(answers: Array, sites: Array, matrices: Array, mu: Array, result: Array) -> float:
    """Return the log evidence (Rasmussen & Williams, equation 3.65) at the fixed point."""
    evidence = 0.0
    for i in range(len(mu)):
        tau, nu = sites[TAU, i], sites[NU, i]
        precision = _cavity(i, sites, matrices[SIGMA], mu, result)
        mean, variance = result[0], result[1]
        _moments(answers[:, i], mean, variance, result)
        total = precision + tau
        evidence += result[0] + 0.5 * log(1.0 + tau * variance) - log(matrices[FACTOR, i, i])
        evidence += 0.5 * nu * mu[i] - 0.5 * nu * nu / total
        evidence += 0.5 * mean * precision * (tau * mean - 2.0 * nu) / total
    return evidence


@entry
def propagate(
    k: Matrix, answers: Matrix, sites: Matrix, matrices: Cube, mu: Vector, result: Vector
) -> int:
    """Approximate the posterior of f - c under n answers by expectation propagation.

    Parameters
    ----------
    k : (n, n)
        Prior covariance of f - c at the answers.
    answers : (4, n)
        Rows `SIGN`, `OFFSET`, `GUESS`, `HONEST`: y, c, g and q in g + q Phi(y (c + f)).
    sites : (2, n)
        Rows `TAU`, `NU`: precision, and that times the mean; in: where to start, out: the result.
    matrices : (4, n, n)
        Out: `SIGMA` the posterior covariance, `INVERSE` (K + S^-1)^-1 with S the precisions; the
        others are scratch.
    mu : (n,)
        Out: the posterior mean.
    result : (3,)
        Out, in its first: log evidence in nats.

    Returns
    -------
    int
        `CONVERGED`, `NOT_CONVERGED` or `NOT_POSITIVE_DEFINITE`.
    """
    n = len(mu)
    status = _posterior(k, sites, matrices, mu)
    change = math.inf
    for _ in range(SWEEPS_MAX):
        if status != CONVERGED or change < TOLERANCE:
            break
        change = _sweep(answers, sites, matrices, mu, result)
        status = _posterior(k, sites, matrices, mu)
    if status != CONVERGED:
        return status
    result[0] = _log_evidence(answers, sites, matrices, mu, result)
    r = matrices[INVERSE]
    inverse(n, matrices[FACTOR], matrices[SCRATCH], r)
    for i in range(n):
        for j in range(i + 1):
            r[i, j] = math.sqrt(sites[TAU, i]) * r[i, j] * math.sqrt(sites[TAU, j])
            r[j, i] = r[i, j]
    return CONVERGED if change < TOLERANCE else NOT_CONVERGED
