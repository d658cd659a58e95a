"""Expectation propagation for one Gaussian over the knots (Minka 2001; R&W section 3.6).

Every answer i sees the threshold through one projection g = b_i^T w + e of the deviations w of the
knots from their prior mean, b_i with two entries that are not 0 (the straight line between two
knots). Its likelihood is stood in for by exp(nu_i g - tau_i g**2 / 2), chosen so that the posterior
with the stand-in has the mean and variance of g that the posterior with the likelihood in its place
would have. tau_i is kept at 0 or above: a likelihood with lapses is not log-concave, and an answer
that contradicts the others widens the posterior; its stand-in then moves the mean only, and the
posterior stays a proper one whatever the answers.

The log evidence is Seeger's: with A(tau, nu) = (nu**2 / tau - log tau) / 2 the log partition
function of a Gaussian in natural parameters, log Z = A(posterior) - A(prior)
+ sum_i [log Z_i + A(cavity_i) - A(marginal_i)].
"""

import math
from typing import Final

from firmware_py.inference.answers import expected_answer
from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Array,
    Indices,
    kernel,
)
from firmware_py.inference.linear_algebra import invert

SWEEPS_MAX: Final = 40
UNDAMPED_SWEEPS: Final = 8  # then by half: two answers that contradict each other can take turns
DAMPING: Final = 0.5
# Largest move of a marginal by one answer, in its own SDs, that ends the sweeps; and the one at
# which the result is still one when they have been used up (contradictions converge slowly).
TOLERANCE_SD: Final = 3e-3
TOLERANCE_AT_THE_END_SD: Final = 0.05

# Rows of the scratch matrix of a hypothesis are as long as there are knots.
COLUMN: Final = 0  # row: C b
NATURAL: Final = 1  # row: sum of nu b
SCRATCH_ROWS: Final = 2


@kernel
def project(
    knots: int, left: int, fraction: float, mean: Array, covariance: Array, column: Array
) -> tuple[float, float]:
    """Return mean and variance of the straight line at `fraction` from knot `left` to the next.

    Writes C b, the covariance of the line there with the knots.
    """
    if fraction == 0.0:
        for a in range(knots):
            column[a] = covariance[left, a]
        return mean[left], column[left]
    for a in range(knots):
        column[a] = (1.0 - fraction) * covariance[left, a] + fraction * covariance[left + 1, a]
    return (
        (1.0 - fraction) * mean[left] + fraction * mean[left + 1],
        (1.0 - fraction) * column[left] + fraction * column[left + 1],
    )


@kernel
def posterior(
    n: int,
    knots: int,
    left: Indices,
    fraction: Array,
    prior_precision: Array,
    tau: Array,
    nu: Array,
    factor: Array,
    inverse_factor: Array,
    natural: Array,
    mean: Array,
    covariance: Array,
) -> float:
    """Compute mean and covariance from the stand-ins; return A(posterior), NaN where there is none.

    C = (P + sum tau b b^T)^-1 and m = C sum nu b.
    """
    for a in range(knots):
        natural[a] = 0.0
        for b in range(knots):
            factor[a, b] = prior_precision[a, b]
    for i in range(n):
        j, u, v = left[i], fraction[i], 1.0 - fraction[i]
        natural[j] += v * nu[i]
        factor[j, j] += v * v * tau[i]
        if u > 0.0:
            natural[j + 1] += u * nu[i]
            factor[j, j + 1] += u * v * tau[i]
            factor[j + 1, j + 1] += u * u * tau[i]
    half_log_determinant = invert(knots, factor, inverse_factor, covariance)
    if math.isnan(half_log_determinant):
        return math.nan
    square = 0.0
    for a in range(knots):
        total = 0.0
        for b in range(knots):
            total += covariance[a, b] * natural[b]
        mean[a] = total
        square += total * natural[a]
    return 0.5 * square - half_log_determinant


@kernel
def stand_in(
    answer: int,
    margin_db: float,
    noise_variance: float,
    lapse_rate: float,
    false_alarm_rate: float,
    unsure_half_width_db: float,
    variance: float,
    mean: float,
    tau: float,
    nu: float,
) -> tuple[float, float, float, float]:
    """Return the new tau and nu of an answer, log Z_i, and A(cavity) - A(marginal).

    Parameters
    ----------
    answer : what was answered.
    margin_db : level minus prior mean at the frequency of the tone.
    noise_variance : sigma**2, and the variance between the knots there.
    lapse_rate, false_alarm_rate, unsure_half_width_db : of the listener.
    variance, mean : of the marginal of g, with the present stand-in.
    tau, nu : the present stand-in.
    """
    cavity_precision = 1.0 / variance - tau
    cavity_nu = mean / variance - nu
    cavity_variance = 1.0 / cavity_precision
    cavity_mean = cavity_nu * cavity_variance
    p, slope, curvature = expected_answer(
        answer,
        margin_db - cavity_mean,
        math.sqrt(cavity_variance + noise_variance),
        lapse_rate,
        false_alarm_rate,
        unsure_half_width_db,
    )
    gradient = slope / p
    second = curvature / p - gradient * gradient  # d2 log p / d mean**2
    shrinking = 1.0 + cavity_variance * second  # the variance with the answer over that without
    new_tau = max(-second / shrinking, 0.0) if shrinking > 0.0 else 0.0
    new_nu = (cavity_mean + cavity_variance * gradient) * (cavity_precision + new_tau) - cavity_nu
    balance = 0.5 * (
        cavity_nu * cavity_mean + log(cavity_variance) - mean * mean / variance - log(variance)
    )
    return new_tau, new_nu, log(p), balance


@kernel
def replace_stand_in(
    knots: int,
    new_tau: float,
    new_nu: float,
    tau: float,
    nu: float,
    variance: float,
    marginal_mean: float,
    column: Array,
    mean: Array,
    covariance: Array,
) -> float:
    """Update mean and covariance by one changed stand-in; return its marginal's move, in SDs."""
    d_tau = new_tau - tau
    d_nu = new_nu - nu
    gain = d_tau / (1.0 + d_tau * variance)
    step = d_nu - gain * (marginal_mean + variance * d_nu)
    for a in range(knots):
        mean[a] += step * column[a]
        c = gain * column[a]
        for b in range(knots):
            covariance[a, b] -= c * column[b]
    sd = math.sqrt(variance)
    return abs(step) * sd + 0.5 * abs(d_tau) * variance


@kernel
def sweep(
    first: int,
    n: int,
    knots: int,
    damping: float,
    left: Indices,
    fraction: Array,
    margin_db: Array,
    noise_variance: Array,
    answer: Indices,
    lapse_rate: Array,
    false_alarm_rate: Array,
    unsure_half_width_db: float,
    tau: Array,
    nu: Array,
    column: Array,
    mean: Array,
    covariance: Array,
) -> float:
    """Renew the stand-ins of the answers first ... n - 1; return the largest move, in SDs."""
    largest = 0.0
    for i in range(first, n):
        m, v = project(knots, left[i], fraction[i], mean, covariance, column)
        new_tau, new_nu, _, _ = stand_in(
            answer[i], margin_db[i], noise_variance[i], lapse_rate[i], false_alarm_rate[i],
            unsure_half_width_db, v, m, tau[i], nu[i],
        )  # fmt: skip
        new_tau = tau[i] + damping * (new_tau - tau[i])
        new_nu = nu[i] + damping * (new_nu - nu[i])
        move = replace_stand_in(
            knots, new_tau, new_nu, tau[i], nu[i], v, m, column, mean, covariance
        )
        tau[i] = new_tau
        nu[i] = new_nu
        largest = max(largest, move)
    return largest


@kernel
def propagate(
    n: int,
    knots: int,
    left: Indices,
    fraction: Array,
    margin_db: Array,
    noise_variance: Array,
    answer: Indices,
    lapse_rate: Array,
    false_alarm_rate: Array,
    unsure_half_width_db: float,
    prior_precision: Array,
    prior_log_partition: float,
    factor: Array,
    inverse_factor: Array,
    rows: Array,
    tau: Array,
    nu: Array,
    mean: Array,
    covariance: Array,
    log_probability: Array,
) -> tuple[float, int]:
    """Sweep until nothing moves, from the stand-ins there are; return log evidence and status.

    Parameters
    ----------
    n, knots : answers and knots.
    left, fraction : (n,) where each tone lies between the knots.
    margin_db : (n,) level minus prior mean there.
    noise_variance : (n,) of the response, and between the knots.
    answer : (n,) HEARD, UNSURE or SILENT.
    lapse_rate, false_alarm_rate : (n,) of each answer.
    unsure_half_width_db : of the listener.
    prior_precision, prior_log_partition : P, and A of the prior.
    factor, inverse_factor, rows : scratch.
    tau, nu : (n,) stand-ins, in and out; 0 for a new answer.
    mean, covariance : out, of the deviations of the knots from their prior mean.
    log_probability : (n,) out, of each answer given the others.

    Returns
    -------
    log_evidence, status : NOT_CONVERGED: the last sweep still moved a marginal noticeably.
    """
    column, natural = rows[COLUMN], rows[NATURAL]
    log_partition = posterior(
        n, knots, left, fraction, prior_precision, tau, nu, factor, inverse_factor, natural,
        mean, covariance,
    )  # fmt: skip
    move = math.inf
    for k in range(SWEEPS_MAX):
        move = sweep(
            0, n, knots, 1.0 if k < UNDAMPED_SWEEPS else DAMPING, left, fraction, margin_db,
            noise_variance, answer, lapse_rate, false_alarm_rate, unsure_half_width_db, tau, nu,
            column, mean, covariance,
        )  # fmt: skip
        # Anew from the stand-ins: rounding of the many small updates does not add up.
        log_partition = posterior(
            n, knots, left, fraction, prior_precision, tau, nu, factor, inverse_factor, natural,
            mean, covariance,
        )  # fmt: skip
        if move <= TOLERANCE_SD:
            break
    log_evidence = log_partition - prior_log_partition
    for i in range(n):
        m, v = project(knots, left[i], fraction[i], mean, covariance, column)
        _, _, log_p, balance = stand_in(
            answer[i], margin_db[i], noise_variance[i], lapse_rate[i], false_alarm_rate[i],
            unsure_half_width_db, v, m, tau[i], nu[i],
        )  # fmt: skip
        log_evidence += log_p + balance
        log_probability[i] = log_p
    if math.isnan(log_evidence):
        return log_evidence, NOT_POSITIVE_DEFINITE
    return log_evidence, CONVERGED if move <= TOLERANCE_AT_THE_END_SD else NOT_CONVERGED
