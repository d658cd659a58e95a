"""Expectation propagation for one Gaussian over the knots (Minka 2001; R&W section 3.6).

Every answer i sees the threshold through one projection g = b_i^T w + e of the deviations w of the
knots from their prior mean, b_i with two entries that are not 0 (the straight line between two
knots). Its likelihood is stood in for by exp(nu_i g - tau_i g**2 / 2), chosen so that the posterior
with the stand-in has the mean and variance of g that the posterior with the likelihood in its place
would have. tau_i is kept at 0 or above: a likelihood with lapses is not log-concave, and an answer
that contradicts the others widens the posterior; its stand-in then moves the mean only, and the
posterior stays a proper one whatever the answers.

All stand-ins are renewed at once, from the same posterior; that is then computed anew from them. So
the cost is in loops over the answers, one function at a time, which are vectorised. Where that does
not settle, because answers contradict each other, they go less far, and then are renewed one after
the other.

The log evidence is Seeger's: with A(tau, nu) = (nu**2 / tau - log tau) / 2 the log partition
function of a Gaussian in natural parameters, log Z = A(posterior) - A(prior)
+ sum_i [log Z_i + A(cavity_i) - A(marginal_i)]. A sweep finds that of the stand-ins it begins with;
near the end, what they lack changes it in second order only.
"""

import math
from typing import Final

from firmware_py.inference.answers import (
    HEARD,
    UNSURE,
    attention,
    expected_answer,
    normal_from,
)
from firmware_py.inference.elementary import INV_SQRT_2PI, SQRT_HALF, erfcx, exp, log
from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Array,
    Indices,
    kernel,
)
from firmware_py.inference.linear_algebra import PRODUCT_MAX, PRODUCT_MIN, invert

SWEEPS_MAX: Final = 50
# All at once, at first whole, and less far each time that one moves more than the one before.
SWEEPS_AT_ONCE: Final = 16
DAMPING_AT_ONCE: Final = 0.7
SHARE_AT_ONCE_MIN: Final = 0.3
UNDAMPED_SWEEPS: Final = 8  # in turn; then by half: two that contradict each other can take turns
DAMPING: Final = 0.5
# Largest move of a marginal by one answer, in its own SDs, that ends the sweeps; and the one at
# which the result is still one when they have been used up (contradictions converge slowly).
TOLERANCE_SD: Final = 1e-3
TOLERANCE_AT_THE_END_SD: Final = 0.05
# A hypothesis of weight w may move more, by this over w: what is said is the mean of all of them,
# and the last move of this one is then no more than this in it.
TOLERANCE_BY_WEIGHT_SD: Final = 1e-5

# Rows of the scratch matrix of a hypothesis are as long as there are knots.
COLUMN: Final = 0  # row: C b
NATURAL: Final = 1  # row: sum of nu b
SCRATCH_ROWS: Final = 2

# Rows of the scratch matrix of the sites are as long as there are answers. Of the marginal of g, of
# its cavity, of the answer expected there, and of the stand-in that comes of it.
MEAN, VARIANCE, WIDENING, CAVITY_MEAN, CAVITY_VARIANCE = range(5)
PER_SD, EDGE, TAIL, BELL, SLOPE, CURVATURE = range(5, 11)
GRADIENT, SECOND, NEW_TAU, NEW_NU, MOVE, FACTOR = range(11, 17)
SITE_ROWS: Final = 17


@kernel
def tolerance_of(weight: float) -> float:
    """Return the largest move, in SDs, that ends the sweeps over a hypothesis of this weight."""
    return min(max(TOLERANCE_BY_WEIGHT_SD / weight, TOLERANCE_SD), TOLERANCE_AT_THE_END_SD)


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
def tau_of(second: float, cavity_variance: float) -> float:
    """Return the tau that gives the cavity the variance that the answer does.

    second : d2 log p / d mean**2, p the probability of the answer.
    """
    shrinking = 1.0 + cavity_variance * second  # the variance with the answer over that without
    return max(-second / shrinking, 0.0) if shrinking > 0.0 else 0.0


@kernel
def nu_of(gradient: float, cavity_mean: float, cavity_variance: float, tau: float) -> float:
    """Return the nu that then gives the cavity the mean; gradient : d log p / d mean."""
    return gradient + (cavity_mean + cavity_variance * gradient) * tau


@kernel
def move_of(d_tau: float, d_nu: float, mean: float, variance: float) -> float:
    """Return by how much a marginal moves with its stand-in, in SDs."""
    step = (d_nu - d_tau * mean) / (1.0 + d_tau * variance)
    return abs(step) * math.sqrt(variance) + 0.5 * abs(d_tau) * variance


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
) -> tuple[float, float, float]:
    """Return tau and nu of an answer, and its probability.

    Parameters
    ----------
    answer : what was answered.
    margin_db : level minus prior mean at the frequency of the tone.
    noise_variance : sigma**2, and the variance between the knots there.
    lapse_rate, false_alarm_rate, unsure_half_width_db : of the listener.
    variance, mean : of the cavity.
    """
    p, slope, curvature = expected_answer(
        answer,
        margin_db - mean,
        math.sqrt(variance + noise_variance),
        lapse_rate,
        false_alarm_rate,
        unsure_half_width_db,
    )
    gradient = slope / p
    tau = tau_of(curvature / p - gradient * gradient, variance)
    return tau, nu_of(gradient, mean, variance, tau), p


@kernel
def renew(
    i: int,
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
) -> tuple[float, float]:
    """Renew one stand-in, and mean and covariance by it.

    Returns
    -------
    move, p : of its marginal, in SDs; the probability of the answer given the others.
    """
    m, v = project(knots, left[i], fraction[i], mean, covariance, column)
    kept = 1.0 - tau[i] * v
    new_tau, new_nu, p = stand_in(
        answer[i], margin_db[i], noise_variance[i], lapse_rate[i], false_alarm_rate[i],
        unsure_half_width_db, v / kept, (m - nu[i] * v) / kept,
    )  # fmt: skip
    d_tau, d_nu = damping * (new_tau - tau[i]), damping * (new_nu - nu[i])
    gain = d_tau / (1.0 + d_tau * v)
    step = d_nu - gain * (m + v * d_nu)
    for a in range(knots):
        mean[a] += step * column[a]
        c = gain * column[a]
        for b in range(knots):
            covariance[a, b] -= c * column[b]
    tau[i] += d_tau
    nu[i] += d_nu
    return move_of(d_tau, d_nu, m, v), p


# The loops below have one result each, and nothing in them depends on the turn before: so they are
# vectorised, and that changes no bit.


@kernel
def leave_out(
    n: int,
    left: Indices,
    fraction: Array,
    mean: Array,
    covariance: Array,
    tau: Array,
    nu: Array,
    sites: Array,
) -> int:
    """Write the marginal of every g_i, and its cavity: the marginal without its own stand-in."""
    m, variance, widening = sites[MEAN], sites[VARIANCE], sites[WIDENING]
    cavity_mean, cavity_variance = sites[CAVITY_MEAN], sites[CAVITY_VARIANCE]
    for i in range(n):
        j, u, v = left[i], fraction[i], 1.0 - fraction[i]
        m[i], variance[i] = mean[j], covariance[j, j]
        if u > 0.0:
            m[i] = v * m[i] + u * mean[j + 1]
            variance[i] = (
                v * v * variance[i]
                + 2.0 * u * v * covariance[j, j + 1]
                + u * u * covariance[j + 1, j + 1]
            )
    for i in range(n):
        widening[i] = 1.0 / (1.0 - tau[i] * variance[i])
    for i in range(n):
        cavity_variance[i] = variance[i] * widening[i]
    for i in range(n):
        cavity_mean[i] = (m[i] - nu[i] * variance[i]) * widening[i]
    return CONVERGED


@kernel
def expect(
    n: int,
    margin_db: Array,
    noise_variance: Array,
    answer: Indices,
    lapse_rate: Array,
    false_alarm_rate: Array,
    unsure_half_width_db: float,
    sites: Array,
    probability: Array,
) -> int:
    """Write what `expected_answer` says of every answer in its cavity."""
    cavity_mean, cavity_variance = sites[CAVITY_MEAN], sites[CAVITY_VARIANCE]
    per_sd, edge, tail, bell = sites[PER_SD], sites[EDGE], sites[TAIL], sites[BELL]
    slope, curvature = sites[SLOPE], sites[CURVATURE]
    dead_db = unsure_half_width_db
    for i in range(n):
        per_sd[i] = 1.0 / math.sqrt(cavity_variance[i] + noise_variance[i])
    for i in range(n):
        edge[i] = (answer[i] * (margin_db[i] - cavity_mean[i]) - dead_db) * per_sd[i]
    for i in range(n):
        tail[i] = erfcx(abs(edge[i]) * SQRT_HALF)
    for i in range(n):
        bell[i] = exp(-0.5 * edge[i] * edge[i])
    for i in range(n):
        below, _ = normal_from(edge[i], tail[i], bell[i])
        rate = false_alarm_rate[i] if answer[i] == HEARD else lapse_rate[i]
        probability[i] = rate + attention(lapse_rate[i], false_alarm_rate[i], dead_db) * below
    for i in range(n):
        c = attention(lapse_rate[i], false_alarm_rate[i], dead_db)
        slope[i] = -answer[i] * c * (INV_SQRT_2PI * bell[i]) * per_sd[i]
    for i in range(n):
        curvature[i] = answer[i] * slope[i] * edge[i] * per_sd[i]
    if dead_db > 0.0:
        for i in range(n):
            if answer[i] == UNSURE:
                probability[i], slope[i], curvature[i] = expected_answer(
                    UNSURE, margin_db[i] - cavity_mean[i], 1.0 / per_sd[i], lapse_rate[i],
                    false_alarm_rate[i], dead_db,
                )  # fmt: skip
    return CONVERGED


@kernel
def match(n: int, tau: Array, nu: Array, probability: Array, sites: Array) -> int:
    """Write every stand-in anew, how far its marginal moves by it, and its part of the evidence."""
    m, variance = sites[MEAN], sites[VARIANCE]
    cavity_mean, cavity_variance = sites[CAVITY_MEAN], sites[CAVITY_VARIANCE]
    slope, curvature = sites[SLOPE], sites[CURVATURE]
    gradient, second = sites[GRADIENT], sites[SECOND]
    new_tau, new_nu, move, factor = sites[NEW_TAU], sites[NEW_NU], sites[MOVE], sites[FACTOR]
    for i in range(n):
        gradient[i] = slope[i] / probability[i]
    for i in range(n):
        second[i] = curvature[i] / probability[i] - gradient[i] * gradient[i]
    for i in range(n):
        new_tau[i] = tau_of(second[i], cavity_variance[i])
    for i in range(n):
        new_nu[i] = nu_of(gradient[i], cavity_mean[i], cavity_variance[i], new_tau[i])
    for i in range(n):
        move[i] = move_of(new_tau[i] - tau[i], new_nu[i] - nu[i], m[i], variance[i])
    for i in range(n):  # A is (nu**2 / tau - log tau) / 2: the logarithms are taken of a product
        factor[i] = 0.5 * (
            cavity_mean[i] * cavity_mean[i] / cavity_variance[i] - m[i] * m[i] / variance[i]
        )
    return CONVERGED


@kernel
def sweep(
    n: int,
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
    mean: Array,
    covariance: Array,
    sites: Array,
    probability: Array,
) -> tuple[float, float]:
    """Write every stand-in anew to `sites`, and the probability of every answer.

    Returns
    -------
    move, log_factors : the largest move of a marginal by its new stand-in, in SDs; and
        sum_i [log Z_i + A(cavity_i) - A(marginal_i)] of the present ones.
    """
    leave_out(n, left, fraction, mean, covariance, tau, nu, sites)
    expect(
        n, margin_db, noise_variance, answer, lapse_rate, false_alarm_rate, unsure_half_width_db,
        sites, probability,
    )  # fmt: skip
    match(n, tau, nu, probability, sites)
    largest, log_factors, product = 0.0, 0.0, 1.0
    for i in range(n):
        largest = max(largest, sites[MOVE, i])
        log_factors += sites[FACTOR, i]
        product *= probability[i] * probability[i] * sites[WIDENING, i]
        if not PRODUCT_MIN < product < PRODUCT_MAX:
            log_factors += 0.5 * log(product)
            product = 1.0
    return largest, log_factors + 0.5 * log(product)


@kernel
def sweep_in_turn(
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
    """Renew all stand-ins one after the other; return the largest move, in SDs."""
    largest = 0.0
    for i in range(n):
        move, _ = renew(
            i, knots, damping, left, fraction, margin_db, noise_variance, answer, lapse_rate,
            false_alarm_rate, unsure_half_width_db, tau, nu, column, mean, covariance,
        )  # fmt: skip
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
    tolerance_sd: float,
    prior_precision: Array,
    prior_log_partition: float,
    factor: Array,
    inverse_factor: Array,
    natural: Array,
    sites: Array,
    tau: Array,
    nu: Array,
    mean: Array,
    covariance: Array,
    probability: Array,
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
    tolerance_sd : largest move of a marginal that ends the sweeps, in SDs.
    prior_precision, prior_log_partition : P, and A of the prior.
    factor, inverse_factor, natural, sites : scratch.
    tau, nu : (n,) stand-ins, in and out.
    mean, covariance : out, of the deviations of the knots from their prior mean.
    probability : (n,) out, of each answer given the others.

    Returns
    -------
    log_evidence, status : NOT_CONVERGED: the last sweep still moved a marginal noticeably.
    """
    log_partition = posterior(
        n, knots, left, fraction, prior_precision, tau, nu, factor, inverse_factor, natural,
        mean, covariance,
    )  # fmt: skip
    move, log_evidence, at_once, in_turn, share = math.inf, 0.0, True, 0, 1.0
    for k in range(SWEEPS_MAX):
        if at_once:
            move_before = move
            move, log_factors = sweep(
                n, left, fraction, margin_db, noise_variance, answer, lapse_rate,
                false_alarm_rate, unsure_half_width_db, tau, nu, mean, covariance, sites,
                probability,
            )  # fmt: skip
            log_evidence = log_partition - prior_log_partition + log_factors
            for i in range(n):
                tau[i] += share * (sites[NEW_TAU, i] - tau[i])
                nu[i] += share * (sites[NEW_NU, i] - nu[i])
            log_partition = posterior(
                n, knots, left, fraction, prior_precision, tau, nu, factor, inverse_factor, natural,
                mean, covariance,
            )  # fmt: skip
            if move >= move_before:
                share *= DAMPING_AT_ONCE
            at_once = k + 1 < SWEEPS_AT_ONCE and share >= SHARE_AT_ONCE_MIN
        else:
            move = sweep_in_turn(
                n, knots, 1.0 if in_turn < UNDAMPED_SWEEPS else DAMPING, left, fraction, margin_db,
                noise_variance, answer, lapse_rate, false_alarm_rate, unsure_half_width_db, tau,
                nu, natural, mean, covariance,
            )  # fmt: skip
            in_turn += 1
        if move <= tolerance_sd:
            break
    if in_turn > 0:
        log_partition = posterior(
            n, knots, left, fraction, prior_precision, tau, nu, factor, inverse_factor, natural,
            mean, covariance,
        )  # fmt: skip
        _, log_factors = sweep(
            n, left, fraction, margin_db, noise_variance, answer, lapse_rate, false_alarm_rate,
            unsure_half_width_db, tau, nu, mean, covariance, sites, probability,
        )  # fmt: skip
        log_evidence = log_partition - prior_log_partition + log_factors
    if math.isnan(log_evidence) or math.isnan(log_partition):
        return math.nan, NOT_POSITIVE_DEFINITE
    return log_evidence, CONVERGED if move <= TOLERANCE_AT_THE_END_SD else NOT_CONVERGED
